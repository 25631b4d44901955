//! Single steps of arithmetic as instructions, for functions that are written over [`Steps`].

use crate::ops::steps::{Steps, WideSteps};
use crate::ptx::code::emitter::class_type;
use crate::ptx::lower::Lower;
use crate::ptx::{Class, Cmp, Op, Opcode, Operand, Reg, Round, Ty};

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
    fn scaled(&mut self, high: Reg, low: Reg, unit: f64) -> Reg {
        let int = self.pair(Class::B64, low, high);
        let wide = self.cvt(Round::Rn, Ty::F64, Ty::S64, int);
        let unit = self.mov(Ty::B64, unit.to_bits() as i64);
        let product = self.arith(Opcode::MulRn, Ty::F64, &[wide.into(), unit.into()]);
        self.cvt(Round::Rn, Ty::F32, Ty::F64, product)
    }
    fn int_add(&mut self, a: Reg, b: Reg) -> Reg {
        self.arith(Opcode::Add, Ty::S32, &[a.into(), b.into()])
    }
    fn int_sub(&mut self, a: Reg, b: Reg) -> Reg {
        self.arith(Opcode::Sub, Ty::S32, &[a.into(), b.into()])
    }
    fn int_fma(&mut self, a: Reg, b: Reg, c: Reg) -> Reg {
        self.arith(Opcode::MadLo, Ty::S32, &[a.into(), b.into(), c.into()])
    }
    fn int_fma_wide(&mut self, a: Reg, b: Reg, c: Reg) -> (Reg, Reg) {
        let zero = self.word(0);
        let c = self.pair(Class::B64, c, zero);
        let src = self.arith(Opcode::MadWide, Ty::U32, &[a.into(), b.into(), c.into()]);
        let [lo, hi] = self.unpair(src);
        (hi, lo)
    }
    fn and(&mut self, a: Reg, mask: u32) -> Reg {
        self.arith(Opcode::And, Ty::B32, &[a.into(), i64::from(mask).into()])
    }
    fn or(&mut self, a: Reg, bits: u32) -> Reg {
        self.arith(Opcode::Or, Ty::B32, &[a.into(), i64::from(bits).into()])
    }
    fn xor(&mut self, a: Reg, b: Reg) -> Reg {
        self.arith(Opcode::Xor, Ty::B32, &[a.into(), b.into()])
    }
    fn shl(&mut self, a: Reg, by: u32) -> Reg {
        self.arith(Opcode::Shl, Ty::B32, &[a.into(), i64::from(by).into()])
    }
    fn shr(&mut self, a: Reg, by: u32) -> Reg {
        self.arith(Opcode::Shr, Ty::U32, &[a.into(), i64::from(by).into()])
    }
    fn funnel(&mut self, high: Reg, low: Reg, by: Reg) -> Reg {
        self.arith(Opcode::ShfL, Ty::B32, &[low, high, by].map(Operand::Reg))
    }
    fn has(&mut self, a: Reg, mask: u32) -> Reg {
        let bits = self.and(a, mask);
        self.setp(Cmp::Ne, Ty::U32, bits, 0)
    }
    fn either(&mut self, a: Reg, b: Reg) -> Reg {
        self.arith(Opcode::Or, Ty::Pred, &[a.into(), b.into()])
    }
    fn choose(&mut self, cond: Reg, a: Reg, b: Reg) -> Reg {
        self.selp(Ty::B32, a, b, cond)
    }
    fn rare_branch<const M: usize, const N: usize>(
        &mut self,
        cond: Reg,
        usual: [[Reg; M]; N],
        other: impl FnOnce(&mut Self) -> [[Reg; M]; N],
    ) -> [[Reg; M]; N] {
        let done = self.rare(cond);
        let others = other(self);
        self.moved(usual.as_flattened(), others.as_flattened());
        self.emit(Op::Label { label: done });
        usual
    }
}

impl Lower<'_> {
    /// Branches over what comes before a label unless a condition holds.
    fn rare(&mut self, cond: Reg) -> u32 {
        let done = self.label();
        self.emit(Op::Bra { label: done, pred: Some(cond), unless: true, uniform: false });
        done
    }

    /// Writes registers into others.
    fn moved(&mut self, to: &[Reg], from: &[Reg]) {
        for (&dst, &src) in to.iter().zip(from) {
            self.emit(Op::Mov { ty: class_type(dst.class), dst, src: src.into() });
        }
    }
}

impl WideSteps for Lower<'_> {
    type Wide = Reg;
    fn wide(&mut self, x: f64) -> Reg {
        self.mov(Ty::B64, x.to_bits() as i64)
    }
    fn whole(&mut self, high: Reg, low: Reg) -> Reg {
        self.pair(Class::B64, low, high)
    }
    fn halves(&mut self, a: Reg) -> (Reg, Reg) {
        let [low, high] = self.unpair(a);
        (high, low)
    }
    fn wide_add(&mut self, a: Reg, b: Reg) -> Reg {
        self.arith(Opcode::AddRn, Ty::F64, &[a.into(), b.into()])
    }
    fn wide_mul(&mut self, a: Reg, b: Reg) -> Reg {
        self.arith(Opcode::MulRn, Ty::F64, &[a.into(), b.into()])
    }
    fn wide_fma(&mut self, a: Reg, b: Reg, c: Reg) -> Reg {
        self.arith(Opcode::FmaRn, Ty::F64, &[a.into(), b.into(), c.into()])
    }
    fn wide_div(&mut self, a: Reg, b: Reg) -> Reg {
        self.arith(Opcode::DivRn, Ty::F64, &[a.into(), b.into()])
    }
    fn wide_less(&mut self, a: Reg, b: Reg) -> Reg {
        self.setp(Cmp::Lt, Ty::F64, a, b)
    }
    fn wide_equal(&mut self, a: Reg, b: Reg) -> Reg {
        self.setp(Cmp::Eq, Ty::F64, a, b)
    }
    fn int_to_wide(&mut self, a: Reg) -> Reg {
        self.cvt(Round::Rn, Ty::F64, Ty::S32, a)
    }
    fn word_to_wide(&mut self, a: Reg) -> Reg {
        self.cvt(Round::Rn, Ty::F64, Ty::U32, a)
    }
    fn wide_int_add(&mut self, a: Reg, b: Reg) -> Reg {
        self.arith(Opcode::Add, Ty::U64, &[a.into(), b.into()])
    }
    fn wide_int_mul(&mut self, a: Reg, b: Reg) -> Reg {
        self.arith(Opcode::MulLo, Ty::U64, &[a.into(), b.into()])
    }
    fn wide_int_mul_high(&mut self, a: Reg, b: Reg) -> Reg {
        self.arith(Opcode::MulHi, Ty::U64, &[a.into(), b.into()])
    }
    fn wide_int_less(&mut self, a: Reg, b: Reg) -> Reg {
        self.setp(Cmp::Lt, Ty::U64, a, b)
    }
    fn wide_choose(&mut self, cond: Reg, a: Reg, b: Reg) -> Reg {
        self.selp(Ty::B64, a, b, cond)
    }
    fn rare_wide_branch<const M: usize, const N: usize>(
        &mut self,
        cond: Reg,
        usual: [(Reg, [Reg; M]); N],
        other: impl FnOnce(&mut Self) -> [(Reg, [Reg; M]); N],
    ) -> [(Reg, [Reg; M]); N] {
        let done = self.rare(cond);
        let others = other(self);
        for ((word, wide), (other, others)) in usual.iter().zip(&others) {
            self.moved(&[*word], &[*other]);
            self.moved(wide, others);
        }
        self.emit(Op::Label { label: done });
        usual
    }
}
