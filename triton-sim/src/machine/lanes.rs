//! Reading and writing registers: of the lanes of an instruction at once, with the checks that each access needs.

use super::warp::{Lanes, lanes};
use super::{Cx, Stop};
use crate::code::{Reg, Special, Src};
use crate::faults::Fault;

/// Multiprocessors of an H200.
const MULTIPROCESSORS: u32 = 132;

impl Cx<'_, '_> {
    /// The lanes of the warp in which a predicate is set, of those that run.
    pub(super) fn predicate(&mut self, register: Reg) -> Result<u32, Stop> {
        let values = self.read(Src::Reg(register))?;
        let mut set = 0;
        for (lane, value) in values.iter().enumerate() {
            set |= u32::from(*value != 0) << lane;
        }
        Ok(set & self.mask)
    }

    /// The lanes in which an operand is not 0.
    pub(super) fn truth(&mut self, src: Src) -> Result<u32, Stop> {
        let values = self.read(src)?;
        Ok(lanes(self.mask).filter(|&lane| values[lane] != 0).fold(0, |set, lane| set | 1 << lane))
    }

    /// An operand in every lane; in lanes that do not run, anything.
    #[inline]
    pub(super) fn read(&mut self, src: Src) -> Result<Lanes, Stop> {
        match src {
            Src::Reg(register) => {
                self.check_read(register)?;
                Ok(self.warp.registers[register as usize])
            }
            Src::Not(register) => {
                self.check_read(register)?;
                Ok(self.warp.registers[register as usize].map(|v| u64::from(v == 0)))
            }
            Src::Imm(value) => Ok([value; 32]),
            Src::Shared(address) => Ok([self.own_shared(address); 32]),
            Src::Variable(index, offset) => Ok([self.run.variables[index as usize].wrapping_add_signed(offset); 32]),
            Src::Special(special) => {
                if matches!(special, Special::Clock | Special::ClockLow | Special::ClockHigh) {
                    self.reset_watch();
                }
                Ok(self.special(special))
            }
        }
    }

    /// Reports a register that a lane reads too early.
    #[inline]
    pub(super) fn check_read(&mut self, register: Reg) -> Result<(), Stop> {
        let r = register as usize;
        if self.warp.locked[r] & 0xffff != 0 {
            let register = self.run.kernel.registers[r].clone();
            return self.report(0, Fault::RegisterInFlight { register });
        }
        let missing = self.mask & !self.warp.defined[r];
        if missing != 0 {
            self.warp.defined[r] |= missing;
            let register = self.run.kernel.registers[r].clone();
            self.report(missing.trailing_zeros() as usize, Fault::UninitializedRegister { register })?;
        }
        Ok(())
    }

    /// Writes a register in the lanes that run.
    #[inline]
    pub(super) fn write(&mut self, register: Reg, values: &Lanes) -> Result<(), Stop> {
        let r = register as usize;
        if self.warp.locked[r] != 0 {
            let register = self.run.kernel.registers[r].clone();
            self.report(0, Fault::RegisterInFlight { register })?;
        }
        let old = &mut self.warp.registers[r];
        if self.mask == u32::MAX {
            *old = *values;
        } else {
            for lane in lanes(self.mask) {
                old[lane] = values[lane];
            }
        }
        self.warp.defined[r] |= self.mask;
        self.warp.written[r] = self.warp.time;
        Ok(())
    }

    /// The value of an operand that must be the same in every lane that runs.
    pub(super) fn uniform(&mut self, src: Src, what: &str) -> Result<u64, Stop> {
        let values = self.read(src)?;
        let first = values[self.mask.trailing_zeros() as usize];
        match lanes(self.mask).find(|&lane| values[lane] != first) {
            None => Ok(first),
            Some(lane) => {
                let problem = format!(
                    "{what} must be the same in every lane, but is {first:#x} in lane {} and {:#x} in lane {lane}",
                    self.mask.trailing_zeros(),
                    values[lane]
                );
                Err(self.fatal_in(lane, Fault::Operand { problem }))
            }
        }
    }

    fn special(&self, special: Special) -> Lanes {
        let run = &*self.run;
        let [nx, ny, _] = run.threads;
        let block = self.block();
        let every = |value: u32| [u64::from(value); 32];
        let cluster = run.cluster;
        let lane = |f: fn(u32) -> u32| std::array::from_fn(|i| u64::from(f(i as u32)));
        match special {
            Special::Tid(axis) => std::array::from_fn(|i| {
                let linear = self.warp.index * 32 + i as u32;
                u64::from([linear % nx, linear / nx % ny, linear / (nx * ny)][usize::from(axis)])
            }),
            Special::Ntid(axis) => every(run.threads[usize::from(axis)]),
            Special::Ctaid(axis) => every(block.id[usize::from(axis)]),
            Special::Nctaid(axis) => every(run.grid[usize::from(axis)]),
            Special::Clusterid(axis) => every(block.id[usize::from(axis)] / cluster[usize::from(axis)]),
            Special::Nclusterid(axis) => every(run.grid[usize::from(axis)] / cluster[usize::from(axis)]),
            Special::ClusterCtaid(axis) => every(block.id[usize::from(axis)] % cluster[usize::from(axis)]),
            Special::ClusterNctaid(axis) => every(cluster[usize::from(axis)]),
            Special::ClusterCtarank => every(self.b as u32),
            Special::ClusterNctarank => every(cluster.iter().product()),
            Special::IsExplicitCluster => every(u32::from(run.clustered)),
            Special::Laneid => lane(|i| i),
            Special::Warpid => every(self.warp.index),
            Special::Nwarpid => every(block.warps.len() as u32),
            Special::LanemaskEq => lane(|i| 1 << i),
            Special::LanemaskLt => lane(|i| (1 << i) - 1),
            Special::LanemaskLe => lane(|i| u32::MAX >> (31 - i)),
            Special::LanemaskGt => lane(|i| !(u32::MAX >> (31 - i))),
            Special::LanemaskGe => lane(|i| u32::MAX << i),
            Special::Smid => every(self.cluster.index % MULTIPROCESSORS),
            Special::Nsmid => every(MULTIPROCESSORS),
            Special::Gridid => every(1),
            Special::Clock => [run.executed; 32],
            Special::ClockLow => every(run.executed as u32),
            Special::ClockHigh => every((run.executed >> 32) as u32),
            Special::DynamicSmemSize => every(run.dynamic),
            Special::TotalSmemSize => every(block.shared.len() as u32),
        }
    }
}
