//! Single steps of arithmetic as instructions, for functions that are written over [`Steps`].

use super::lower::Lower;
use super::{Cmp, Opcode, Reg, Round, Ty};
use crate::ops::steps::Steps;

impl Steps for Lower<'_> {
    type Reg = Reg;
    type Pred = Reg;
    fn word(&mut self, bits: u32) -> Reg {
        self.mov(Ty::B32, i64::from(bits))
    }
    fn mul(&mut self, a: Reg, b: Reg) -> Reg {
        self.arith(Opcode::MulRn, Ty::F32, &[a.into(), b.into()])
    }
    fn fma(&mut self, a: Reg, b: Reg, c: Reg) -> Reg {
        self.arith(Opcode::FmaRn, Ty::F32, &[a.into(), b.into(), c.into()])
    }
    fn less(&mut self, a: Reg, b: Reg) -> Reg {
        self.setp(Cmp::Lt, Ty::F32, a, b)
    }
    fn equal(&mut self, a: Reg, b: Reg) -> Reg {
        self.setp(Cmp::Eq, Ty::F32, a, b)
    }
    fn int_to_number(&mut self, a: Reg) -> Reg {
        self.cvt(Round::Rn, Ty::F32, Ty::S32, a)
    }
    fn int_sub(&mut self, a: Reg, b: Reg) -> Reg {
        self.arith(Opcode::Sub, Ty::S32, &[a.into(), b.into()])
    }
    fn and(&mut self, a: Reg, mask: u32) -> Reg {
        self.arith(Opcode::And, Ty::B32, &[a.into(), i64::from(mask).into()])
    }
    fn choose(&mut self, cond: Reg, a: Reg, b: Reg) -> Reg {
        self.selp(Ty::B32, a, b, cond)
    }
}
