//! Lowering of the elementwise operations, one register at a time.
//!
//! 8-bit integers are computed in 16 bits and brought back to their range ([`Lower::narrow`]). What the target lacks for
//! `f16` and `bf16` is computed in `f32` and rounded once more, which changes nothing for + − · / √ (24 ≥ 2·11 + 2 bits).
//!
//! `ptxas` 13.0 miscompiles four forms (found on an H200; `-O0` is right), which are avoided here and in
//! [`cast`](crate::ptx::arithmetic::cast):
//! - `neg.s16`, `abs.s16` and `sub.s16` from 0 are assumed not to overflow, so that −32768 is widened to +32768.
//! - `or.pred` and `and.pred` of the same operands are merged into one `PLOP3` with two results. Where the conjunction is found
//!   dead later, the disjunction takes its place. De Morgan's form is not merged.
//! - A `cvt.s64.u32` before `shl.b64` is merged into a signed multiplication.

use crate::ops::kinds::{BinaryKind, CompareKind, TernaryKind, UnaryKind};
use crate::ops::{double, log, trig};
use crate::ptx::code::emitter::bits_type;
use crate::ptx::lower::Lower;
use crate::ptx::{Cmp, Op, Opcode, Operand, Reg, Round, Ty};
use crate::types::{Class, DType, Elem};

/// The PTX type in which an element is computed.
pub(crate) fn arith_type(dtype: DType) -> Ty {
    match dtype {
        DType::Bool => Ty::Pred,
        DType::I8 | DType::I16 => Ty::S16,
        DType::U8 | DType::U16 => Ty::U16,
        DType::I32 => Ty::S32,
        DType::U32 => Ty::U32,
        DType::I64 => Ty::S64,
        DType::U64 => Ty::U64,
        DType::F16 => Ty::F16,
        DType::BF16 => Ty::BF16,
        DType::F32 => Ty::F32,
        DType::F64 => Ty::F64,
    }
}

fn is_half(dtype: DType) -> bool {
    matches!(dtype, DType::F16 | DType::BF16)
}

impl Lower<'_> {
    /// An 8-bit integer that 16-bit arithmetic may have taken out of its range, wrapped back into it.
    pub fn narrow(&mut self, dtype: DType, reg: Reg) -> Reg {
        let (to, from) = match dtype {
            DType::I8 => (Ty::S16, Ty::S8),
            DType::U8 => (Ty::U16, Ty::U8),
            DType::Bool
            | DType::I16
            | DType::I32
            | DType::I64
            | DType::U16
            | DType::U32
            | DType::U64
            | DType::F16
            | DType::BF16
            | DType::F32
            | DType::F64 => return reg,
        };
        self.cvt(Round::None, to, from, reg)
    }

    /// A function of each of the numbers.
    pub fn unary(&mut self, kind: UnaryKind, dtype: DType, x: &[Reg]) -> Vec<Reg> {
        match (kind, x) {
            // Some at once, which share a branch.
            (UnaryKind::Sin | UnaryKind::Cos, &[a, b, ref rest @ ..]) if dtype == DType::F64 => {
                let mut results = self.wide_trig(kind, [a, b]).to_vec();
                results.extend(self.unary(kind, dtype, rest));
                results
            }
            (UnaryKind::Sin | UnaryKind::Cos, &[a, b, c, d, ref rest @ ..]) => {
                let mut results = self.trig(kind, dtype, [a, b, c, d]).to_vec();
                results.extend(self.unary(kind, dtype, rest));
                results
            }
            (_, x) => x.iter().map(|&x| self.unary_of(kind, dtype, x)).collect(),
        }
    }

    fn unary_of(&mut self, kind: UnaryKind, dtype: DType, x: Reg) -> Reg {
        let op = match kind {
            UnaryKind::Neg if dtype == DType::I16 => {
                return self.arith(Opcode::Sub, Ty::U16, &[Operand::Int(0), x.into()]);
            }
            UnaryKind::Neg => Opcode::Neg,
            UnaryKind::Abs if dtype == DType::I16 => {
                let wide = self.cvt(Round::None, Ty::S32, Ty::S16, x);
                let magnitude = self.arith(Opcode::Abs, Ty::S32, &[wide.into()]);
                return self.cvt(Round::None, Ty::U16, Ty::U32, magnitude);
            }
            UnaryKind::Abs => Opcode::Abs,
            UnaryKind::Not => {
                let inverted = self.arith(Opcode::Not, bits_type(dtype), &[x.into()]);
                return self.narrow(dtype, inverted);
            }
            UnaryKind::Floor => return self.integral(Round::Rmi, dtype, x),
            UnaryKind::Ceil => return self.integral(Round::Rpi, dtype, x),
            UnaryKind::Trunc => return self.integral(Round::Rzi, dtype, x),
            UnaryKind::Exp if dtype == DType::F64 => return double::exp::exp(self, x),
            UnaryKind::Exp2 if dtype == DType::F64 => return double::exp::exp2(self, x),
            UnaryKind::Log if dtype == DType::F64 => return double::log::log(self, x),
            UnaryKind::Log2 if dtype == DType::F64 => return double::log::log2(self, x),
            UnaryKind::Sin | UnaryKind::Cos if dtype == DType::F64 => return self.wide_trig(kind, [x])[0],
            UnaryKind::Exp => return self.in_f32(dtype, x, Self::exp),
            UnaryKind::Exp2 => return self.in_f32(dtype, x, |cx, x| cx.arith(Opcode::Ex2, Ty::F32, &[x.into()])),
            UnaryKind::Exp2Ftz => return self.arith(Opcode::Ex2Ftz, Ty::F32, &[x.into()]),
            UnaryKind::TanhApprox => return self.arith(Opcode::TanhApprox, Ty::F32, &[x.into()]),
            UnaryKind::Log => return self.in_f32(dtype, x, log::log),
            UnaryKind::Log2 => return self.in_f32(dtype, x, log::log2),
            UnaryKind::Sin | UnaryKind::Cos => return self.trig(kind, dtype, [x])[0],
            // The target's own approximation of `f64` has 20 bits. Here the root's half ulp becomes one at most, and another half
            // is added.
            UnaryKind::Rsqrt if dtype == DType::F64 => {
                let root = self.arith(Opcode::SqrtRn, Ty::F64, &[x.into()]);
                return self.arith(Opcode::RcpRn, Ty::F64, &[root.into()]);
            }
            UnaryKind::Rsqrt => {
                return self.in_f32(dtype, x, |cx, x| cx.arith(Opcode::Rsqrt, Ty::F32, &[x.into()]));
            }
            UnaryKind::Sqrt if is_half(dtype) => {
                return self.in_f32(dtype, x, |cx, x| cx.arith(Opcode::SqrtRn, Ty::F32, &[x.into()]));
            }
            UnaryKind::Sqrt => Opcode::SqrtRn,
            UnaryKind::Tf32 => return self.tf32(x),
        };
        let result = self.arith(op, arith_type(dtype), &[x.into()]);
        self.narrow(dtype, result)
    }

    /// `f32` rounded to tf32.
    pub fn tf32(&mut self, x: Reg) -> Reg {
        if self.target.info().cvt_rn_tf32 {
            return self.arith(Opcode::CvtRnTf32, Ty::F32, &[x.into()]);
        }
        let last = self.arith(Opcode::Shr, Ty::U32, &[x.into(), 13.into()]);
        let last = self.arith(Opcode::And, Ty::B32, &[last.into(), 1.into()]);
        let sum = self.arith(Opcode::Add, Ty::S32, &[x.into(), last.into()]);
        let sum = self.arith(Opcode::Add, Ty::S32, &[sum.into(), 0xfff.into()]);
        let rounded = self.arith(Opcode::And, Ty::B32, &[sum.into(), i64::from(!0x1fff_i32).into()]);
        // The sum carries a NaN over into the sign.
        let is_nan = self.setp(Cmp::Nan, Ty::F32, x, x);
        self.selp(Ty::B32, 0x7fff_e000, rounded, is_nan)
    }

    /// A function of `f32` on another type.
    fn in_f32(&mut self, dtype: DType, x: Reg, f: impl FnOnce(&mut Self, Reg) -> Reg) -> Reg {
        let wide = self.cast(dtype, DType::F32, x);
        let result = f(self, wide);
        self.cast(DType::F32, dtype, result)
    }

    /// Sines or cosines. Every finite `f16` is small.
    fn trig<const N: usize>(&mut self, kind: UnaryKind, dtype: DType, x: [Reg; N]) -> [Reg; N] {
        let (wide, small) = (x.map(|x| self.cast(dtype, DType::F32, x)), dtype == DType::F16);
        let results = if kind == UnaryKind::Sin { trig::sin(self, wide, small) } else { trig::cos(self, wide, small) };
        results.map(|result| self.cast(DType::F32, dtype, result))
    }

    /// Sines or cosines of `f64`.
    fn wide_trig<const N: usize>(&mut self, kind: UnaryKind, x: [Reg; N]) -> [Reg; N] {
        if kind == UnaryKind::Sin { double::trig::sin(self, x) } else { double::trig::cos(self, x) }
    }

    /// An integer next to it, as a number of the same type.
    fn integral(&mut self, round: Round, dtype: DType, x: Reg) -> Reg {
        if dtype == DType::BF16 && !self.target.info().bf16_arithmetic {
            return self.in_f32(dtype, x, |cx, x| cx.cvt(round, Ty::F32, Ty::F32, x));
        }
        let ty = arith_type(dtype);
        self.cvt(round, ty, ty, x)
    }

    /// eˣ = 2ⁿ · 2ʳ, where n is ⌊x · log₂e⌋ between -126 and 126 and n + r is x · log₂e to about 48 bits. That n is made by one
    /// saturating `fma`, which keeps it in its range and takes NaN to its least, and one that rounds down at the place of the units:
    /// its low bits are n plus the bias of an exponent. Beyond the range r is what does not fit, and 2ʳ is 0 or ∞; NaN stays.
    /// Over all 2³² operands the largest error is 1.93 ulp on an H200.
    fn exp(&mut self, x: Reg) -> Reg {
        const STEPS: f32 = 252.0;
        const LOG2_E: f64 = std::f64::consts::LOG2_E;
        // The last bit of a number of this size is 1; 1 more, so that the low bits of the least are the exponent 1.
        const UNITS: f32 = 12_582_912.0 + 1.0;
        let rest = LOG2_E - f64::from(LOG2_E as f32);
        let constants =
            [(LOG2_E / f64::from(STEPS)) as f32, 0.5, STEPS, UNITS, -(UNITS + STEPS / 2.0), LOG2_E as f32, rest as f32];
        let constants = constants.map(|x| Operand::Reg(self.mov(Ty::B32, i64::from(x.to_bits()))));
        let [scale, half, steps, units, zero, log2e, rest] = constants;
        let fraction = self.arith(Opcode::FmaRnSat, Ty::F32, &[x.into(), scale, half]);
        let shifted = self.arith(Opcode::FmaRm, Ty::F32, &[fraction.into(), steps, units]);
        let n = self.arith(Opcode::AddRn, Ty::F32, &[shifted.into(), zero]);
        let minus = self.arith(Opcode::Neg, Ty::F32, &[n.into()]);
        let high = self.arith(Opcode::FmaRn, Ty::F32, &[x.into(), log2e, minus.into()]);
        let r = self.arith(Opcode::FmaRn, Ty::F32, &[x.into(), rest, high.into()]);
        let power = self.arith(Opcode::Ex2Ftz, Ty::F32, &[r.into()]);
        let scale = self.arith(Opcode::Shl, Ty::B32, &[shifted.into(), Operand::Int(23)]);
        self.arith(Opcode::MulRn, Ty::F32, &[power.into(), scale.into()])
    }

    pub fn binary(&mut self, kind: BinaryKind, dtype: DType, a: Reg, b: Reg) -> Reg {
        let float = dtype.is_float();
        let pick = |of_float: Opcode, of_int: Opcode| if float { of_float } else { of_int };
        let op = match kind {
            BinaryKind::Add => pick(Opcode::AddRn, Opcode::Add),
            BinaryKind::Sub if dtype == DType::I16 => return self.arith(Opcode::Sub, Ty::U16, &[a.into(), b.into()]),
            BinaryKind::Sub => pick(Opcode::SubRn, Opcode::Sub),
            BinaryKind::Mul => pick(Opcode::MulRn, Opcode::MulLo),
            // The whole product of bytes is in 16 bits.
            BinaryKind::MulHi if dtype.bits() == 8 => {
                let product = self.arith(Opcode::MulLo, arith_type(dtype), &[a.into(), b.into()]);
                return self.arith(Opcode::Shr, arith_type(dtype), &[product.into(), 8.into()]);
            }
            BinaryKind::MulHi => Opcode::MulHi,
            BinaryKind::Div => pick(Opcode::DivRn, Opcode::Div),
            BinaryKind::Rem => Opcode::Rem,
            BinaryKind::Min => Opcode::Min,
            BinaryKind::Max => Opcode::Max,
            BinaryKind::And => return self.arith(Opcode::And, bits_type(dtype), &[a.into(), b.into()]),
            BinaryKind::Or if dtype == DType::Bool => {
                let [a, b] = [a, b].map(|x| self.arith(Opcode::Not, Ty::Pred, &[x.into()]));
                let neither = self.arith(Opcode::And, Ty::Pred, &[a.into(), b.into()]);
                return self.arith(Opcode::Not, Ty::Pred, &[neither.into()]);
            }
            BinaryKind::Or => return self.arith(Opcode::Or, bits_type(dtype), &[a.into(), b.into()]),
            BinaryKind::Xor => return self.arith(Opcode::Xor, bits_type(dtype), &[a.into(), b.into()]),
            BinaryKind::Shl => {
                let amount = self.shift_amount(dtype, b);
                let result = self.arith(Opcode::Shl, bits_type(dtype), &[a.into(), amount.into()]);
                return self.narrow(dtype, result);
            }
            BinaryKind::Shr => {
                let amount = self.shift_amount(dtype, b);
                return self.arith(Opcode::Shr, arith_type(dtype), &[a.into(), amount.into()]);
            }
        };
        // Every target has the minimum and the maximum, none the division.
        let adds = dtype == DType::F16 || self.target.info().bf16_arithmetic;
        let native =
            !is_half(dtype) || matches!(kind, BinaryKind::Min | BinaryKind::Max) || adds && kind != BinaryKind::Div;
        if !native {
            let (a, b) = (self.cast(dtype, DType::F32, a), self.cast(dtype, DType::F32, b));
            let wide = self.arith(op, Ty::F32, &[a.into(), b.into()]);
            return self.cast(DType::F32, dtype, wide);
        }
        if dtype == DType::I8 && matches!(kind, BinaryKind::Div | BinaryKind::Rem) {
            // A witness: nothing reads it, so that assemblers remove it, and the simulator reports where the quotient
            // does not fit. In 16 bits that of the bytes does.
            let high = self.arith(Opcode::Shl, Ty::B16, &[a.into(), 8.into()]);
            self.arith(Opcode::Div, Ty::S16, &[high.into(), b.into()]);
        }
        let result = self.arith(op, arith_type(dtype), &[a.into(), b.into()]);
        self.narrow(dtype, result)
    }

    /// The amount of a shift as the 32 bits that PTX wants; everything from the width on shifts all bits out.
    fn shift_amount(&mut self, dtype: DType, b: Reg) -> Reg {
        match dtype.bits() {
            64 => {
                let capped = self.arith(Opcode::Min, Ty::U64, &[b.into(), 64.into()]);
                self.cvt(Round::None, Ty::U32, Ty::U64, capped)
            }
            32 => b,
            _ => self.cvt(Round::None, Ty::U32, Ty::U16, b),
        }
    }

    pub fn compare(&mut self, kind: CompareKind, dtype: DType, a: Reg, b: Reg) -> Reg {
        let cmp = match kind {
            CompareKind::Eq => Cmp::Eq,
            CompareKind::Ne if dtype.is_float() => Cmp::Neu,
            CompareKind::Ne => Cmp::Ne,
            CompareKind::Lt => Cmp::Lt,
            CompareKind::Le => Cmp::Le,
            CompareKind::Gt => Cmp::Gt,
            CompareKind::Ge => Cmp::Ge,
        };
        match dtype.class() {
            Class::Bool => {
                let differ = self.arith(Opcode::Xor, Ty::Pred, &[a.into(), b.into()]);
                if kind == CompareKind::Ne { differ } else { self.arith(Opcode::Not, Ty::Pred, &[differ.into()]) }
            }
            Class::Float if dtype == DType::BF16 && !self.target.info().bf16_arithmetic => {
                let (a, b) = (self.cast(dtype, DType::F32, a), self.cast(dtype, DType::F32, b));
                self.setp(cmp, Ty::F32, a, b)
            }
            Class::Signed | Class::Unsigned | Class::Float => self.setp(cmp, arith_type(dtype), a, b),
        }
    }

    pub fn ternary(&mut self, kind: TernaryKind, dtype: DType, abc: [Reg; 3]) -> Reg {
        let TernaryKind::Fma = kind;
        self.arith(Opcode::FmaRn, arith_type(dtype), &abc.map(Operand::Reg))
    }

    pub fn select(&mut self, elem: Elem, cond: Reg, a: Reg, b: Reg) -> Reg {
        let ty = match elem {
            Elem::Num(DType::Bool) => {
                // Predicates cannot be selected: (cond & a) | (!cond & b).
                let yes = self.arith(Opcode::And, Ty::Pred, &[cond.into(), a.into()]);
                let not = self.arith(Opcode::Not, Ty::Pred, &[cond.into()]);
                let no = self.arith(Opcode::And, Ty::Pred, &[not.into(), b.into()]);
                return self.arith(Opcode::Or, Ty::Pred, &[yes.into(), no.into()]);
            }
            Elem::Num(dtype) => bits_type(dtype),
            Elem::Ptr { .. } => Ty::B64,
        };
        self.selp(ty, a, b, cond)
    }

    pub fn cvt(&mut self, round: Round, to: Ty, from: Ty, src: Reg) -> Reg {
        let dst = self.reg(crate::ptx::code::emitter::class_of(to));
        self.emit(Op::Cvt { round, to, from, dst, src });
        dst
    }
}
