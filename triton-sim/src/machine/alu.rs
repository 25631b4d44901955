//! Arithmetic, comparisons, moves and conversions: functions of one lane each.

use super::warp::{Lanes, lanes};
use super::{Cx, Stop};
use crate::code::{Bool, Reg, Scalar, Src};
use crate::faults::Fault;
use crate::num;

/// A signed number of this many bytes, in a register of that many.
pub(super) fn sign_extend(value: u64, from: u8, to: u8) -> u64 {
    let unused = 64 - 8 * u32::from(from);
    ((value << unused) as i64 >> unused) as u64 & (u64::MAX >> (64 - 8 * u32::from(to)))
}

impl Bool {
    fn of(self, a: bool, b: bool) -> bool {
        match self {
            Bool::And => a & b,
            Bool::Or => a | b,
            Bool::Xor => a ^ b,
        }
    }
}

impl Cx<'_, '_> {
    #[inline]
    fn each(&self, f: impl Fn(usize) -> u64) -> Lanes {
        let mut out = [0; 32];
        if self.mask == u32::MAX {
            for (lane, value) in out.iter_mut().enumerate() {
                *value = f(lane);
            }
        } else {
            for lane in lanes(self.mask) {
                out[lane] = f(lane);
            }
        }
        out
    }

    pub(super) fn alu(&mut self, f: Scalar, dst: Reg, [a, b, c]: [Src; 3]) -> Result<(), Stop> {
        let (a, b, c) = (self.read(a)?, self.read(b)?, self.read(c)?);
        let out = self.each(|i| f(a[i], b[i], c[i]));
        self.write(dst, &out)
    }

    pub(super) fn extend(&mut self, f: Scalar, dst: Reg, [a, b, c]: [Src; 3], from: u8, to: u8) -> Result<(), Stop> {
        let (a, b, c) = (self.read(a)?, self.read(b)?, self.read(c)?);
        let out = self.each(|i| sign_extend(f(a[i], b[i], c[i]), from, to));
        self.write(dst, &out)
    }

    pub(super) fn test(&mut self, f: fn(u64) -> bool, dst: Reg, src: Src) -> Result<(), Stop> {
        let values = self.read(src)?;
        let out = self.each(|i| u64::from(f(values[i])));
        self.write(dst, &out)
    }

    pub(super) fn alu4(
        &mut self,
        f: fn(u64, u64, u64, u64) -> u64,
        dst: Reg,
        [a, b, c, d]: [Src; 4],
    ) -> Result<(), Stop> {
        let (a, b, c, d) = (self.read(a)?, self.read(b)?, self.read(c)?, self.read(d)?);
        let out = self.each(|i| f(a[i], b[i], c[i], d[i]));
        self.write(dst, &out)
    }

    pub(super) fn divide(
        &mut self,
        f: Scalar,
        defined: fn(u64, u64) -> bool,
        dst: Reg,
        [a, b]: [Src; 2],
    ) -> Result<(), Stop> {
        let (a, b) = (self.read(a)?, self.read(b)?);
        if let Some(lane) = lanes(self.mask).find(|&i| !defined(a[i], b[i])) {
            let why = if b[lane] == 0 { "division by zero" } else { "the quotient of MIN and -1 does not fit" };
            let problem = format!("{why}: the operands are {:#x} and {:#x}", a[lane], b[lane]);
            self.report(lane, Fault::Operand { problem })?;
        }
        let out = self.each(|i| f(a[i], b[i], 0));
        self.write(dst, &out)
    }

    pub(super) fn carry(
        &mut self,
        f: fn(u64, u64, u64, u64) -> (u64, u64),
        dst: Reg,
        [a, b, c]: [Src; 3],
        sets: bool,
    ) -> Result<(), Stop> {
        let (a, b, c) = (self.read(a)?, self.read(b)?, self.read(c)?);
        // The flag is the last register. Nothing defines it before the first `.cc`, and that one does not read it.
        let flag = (self.warp.registers.len() - 1) as Reg;
        let carry = self.warp.registers[flag as usize];
        let out = self.each(|i| f(a[i], b[i], c[i], carry[i]).0);
        let carried = self.each(|i| f(a[i], b[i], c[i], carry[i]).1);
        self.write(dst, &out)?;
        if sets { self.write(flag, &carried) } else { Ok(()) }
    }

    /// The lanes in which a comparison holds; of packed operands, in which it holds for both halves each.
    fn compared(
        &mut self,
        compare: fn(u64, u64) -> bool,
        packed: bool,
        [a, b]: [Src; 2],
        combine: Option<(Bool, Src)>,
    ) -> Result<([u32; 2], [u32; 2]), Stop> {
        let (a, b) = (self.read(a)?, self.read(b)?);
        let other = match combine {
            Some((op, src)) => Some((op, self.truth(src)?)),
            None => None,
        };
        let mut yes = [0; 2];
        let mut no = [0; 2];
        for lane in lanes(self.mask) {
            let with = |value: bool| match other {
                Some((op, set)) => op.of(value, set >> lane & 1 == 1),
                None => value,
            };
            for half in 0..=usize::from(packed) {
                let part = |v: u64| if packed { v >> (16 * half) & 0xffff } else { v };
                let value = compare(part(a[lane]), part(b[lane]));
                yes[half] |= u32::from(with(value)) << lane;
                no[half] |= u32::from(with(!value)) << lane;
            }
        }
        Ok((yes, no))
    }

    pub(super) fn setp(
        &mut self,
        compare: fn(u64, u64) -> bool,
        packed: bool,
        [dst, negated]: [Option<Reg>; 2],
        src: [Src; 2],
        combine: Option<(Bool, Src)>,
    ) -> Result<(), Stop> {
        let (yes, no) = self.compared(compare, packed, src, combine)?;
        let second = if packed { yes[1] } else { no[0] };
        for (register, set) in [(dst, yes[0]), (negated, second)] {
            if let Some(register) = register {
                self.write_mask(register, set)?;
            }
        }
        Ok(())
    }

    pub(super) fn set(
        &mut self,
        compare: fn(u64, u64) -> bool,
        packed: bool,
        number: u64,
        dst: Reg,
        src: [Src; 2],
        combine: Option<(Bool, Src)>,
    ) -> Result<(), Stop> {
        let (yes, _) = self.compared(compare, packed, src, combine)?;
        let bit = |set: u32, lane: usize| if set >> lane & 1 == 1 { number } else { 0 };
        let out = self.each(|i| if packed { bit(yes[0], i) | bit(yes[1], i) << 16 } else { bit(yes[0], i) });
        self.write(dst, &out)
    }

    /// Writes a predicate.
    pub(super) fn write_mask(&mut self, register: Reg, set: u32) -> Result<(), Stop> {
        let out = self.each(|i| u64::from(set >> i & 1));
        self.write(register, &out)
    }

    /// All values are read before a register is written.
    pub(super) fn move_all(&mut self, dst: &[Option<Reg>], src: &[Src]) -> Result<(), Stop> {
        let values = src.iter().map(|&value| self.read(value)).collect::<Result<Vec<_>, _>>()?;
        for (register, value) in dst.iter().zip(&values) {
            if let Some(register) = register {
                self.write(*register, value)?;
            }
        }
        Ok(())
    }

    pub(super) fn lop3(
        &mut self,
        table: u8,
        [dst, holds]: [Option<Reg>; 2],
        [a, b, c]: [Src; 3],
        (op, other): (Bool, Src),
    ) -> Result<(), Stop> {
        let (a, b, c, other) = (self.read(a)?, self.read(b)?, self.read(c)?, self.truth(other)?);
        let out = self.each(|i| num::lop3(a[i], b[i], c[i], table));
        if let Some(dst) = dst {
            self.write(dst, &out)?;
        }
        let set = lanes(self.mask).filter(|&i| op.of(out[i] != 0, other >> i & 1 == 1));
        match holds {
            Some(holds) => self.write_mask(holds, set.fold(0, |set, lane| set | 1 << lane)),
            None => Ok(()),
        }
    }

    pub(super) fn pack(&mut self, dst: Reg, src: &[Src], bits: u8) -> Result<(), Stop> {
        let mut out = [0; 32];
        for (i, &part) in src.iter().enumerate() {
            let values = self.read(part)?;
            let mask = u64::MAX >> (64 - u32::from(bits));
            for lane in 0..32 {
                out[lane] |= (values[lane] & mask) << (i as u32 * u32::from(bits));
            }
        }
        self.write(dst, &out)
    }

    pub(super) fn unpack(&mut self, dst: &[Option<Reg>], src: Src, bits: u8) -> Result<(), Stop> {
        let values = self.read(src)?;
        let mask = u64::MAX >> (64 - u32::from(bits));
        for (i, register) in dst.iter().enumerate() {
            if let Some(register) = register {
                self.write(*register, &values.map(|v| v >> (i as u32 * u32::from(bits)) & mask))?;
            }
        }
        Ok(())
    }
}
