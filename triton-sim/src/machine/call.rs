//! Calls of functions: a frame for each, since none calls itself, and a register with the return address.

use super::access::number;
use super::schedule::Flow;
use super::warp::{Lanes, lanes};
use super::{Cx, Stop};
use crate::code::{Call, CallOperand, Instr, Op, Reg, Src};

impl Cx<'_, '_> {
    /// Goes to a function, with its parameters; nothing else of its frame has a value.
    pub(super) fn call(&mut self, call: &Call) -> Result<Flow, Stop> {
        for register in call.registers.clone() {
            self.warp.defined[register as usize] &= !self.mask;
        }
        for lane in lanes(self.mask) {
            for &(at, bytes) in &call.memory {
                self.local(lane).1[at as usize..][..bytes as usize].fill(false);
            }
        }
        for (from, to) in &call.arguments {
            self.transfer(from, to)?;
        }
        self.write(call.return_address, &[u64::from(self.pc); 32])?;
        Ok(Flow::Jump(call.target))
    }

    /// Returns to the instruction after the call, with the results. Lanes from different calls go one after the other.
    pub(super) fn call_return(&mut self, return_address: Reg) -> Result<Flow, Stop> {
        let calls = self.read(Src::Reg(return_address))?;
        let first = calls[self.mask.trailing_zeros() as usize % 32];
        let same = lanes(self.mask).filter(|&lane| calls[lane] == first).fold(0, |set, lane| set | 1 << lane);
        if same != self.mask {
            return Ok(Flow::Split(same));
        }
        let kernel = self.run.kernel;
        let Some(Instr { op: Op::Call(call), .. }) = kernel.instructions.get(first as usize) else {
            return Ok(Flow::Exit);
        };
        for (from, to) in &call.results {
            self.transfer(from, to)?;
        }
        Ok(Flow::Jump(first as u32 + 1))
    }

    /// Copies a parameter or a result. What was not written stays so.
    fn transfer(&mut self, from: &CallOperand, to: &CallOperand) -> Result<(), Stop> {
        match (from, to) {
            (&CallOperand::Memory(from, bytes), &CallOperand::Memory(to, _)) => {
                let (from, to, bytes) = (from as usize, to as usize, bytes as usize);
                for lane in lanes(self.mask) {
                    let (data, written) = self.local(lane);
                    data.copy_within(from..from + bytes, to);
                    written.copy_within(from..from + bytes, to);
                }
                Ok(())
            }
            (from, to) => {
                let values = self.read_call_operand(from)?;
                self.write_call_operand(to, &values)
            }
        }
    }

    /// The value of a parameter of at most 8 bytes.
    pub(super) fn read_call_operand(&mut self, operand: &CallOperand) -> Result<Lanes, Stop> {
        let (at, bytes) = match operand {
            CallOperand::Value(src) => return self.read(*src),
            CallOperand::Memory(at, bytes) => (*at, (*bytes).min(8)),
        };
        let mut values = [0; 32];
        for lane in lanes(self.mask) {
            self.check_local(lane, at, bytes)?;
            values[lane] = number(&self.local(lane).0[at as usize..][..bytes as usize]);
        }
        Ok(values)
    }

    /// Writes a result of at most 8 bytes.
    pub(super) fn write_call_operand(&mut self, operand: &CallOperand, values: &Lanes) -> Result<(), Stop> {
        match operand {
            CallOperand::Value(Src::Reg(register)) => self.write(*register, values),
            CallOperand::Value(Src::Not(_) | Src::Imm(_) | Src::Shared(_) | Src::Variable(..) | Src::Special(_)) => {
                Ok(())
            }
            CallOperand::Memory(at, bytes) => {
                let (at, bytes) = (*at as usize, (*bytes).min(8) as usize);
                for lane in lanes(self.mask) {
                    let (data, written) = self.local(lane);
                    data[at..][..bytes].copy_from_slice(&values[lane].to_le_bytes()[..bytes]);
                    written[at..][..bytes].fill(true);
                }
                Ok(())
            }
        }
    }
}
