//! Lowering of casts.
//!
//! Without [`bf16_arithmetic`](crate::metadata::TargetInfo::bf16_arithmetic) only `f32` is converted to `bf16`. Longer numbers go
//! there through an `f32` rounded to odd: truncated, with the last bit set if anything was lost, so that the second rounding sees on
//! which side of a tie the number lies.

use crate::ptx::arithmetic::elementwise::arith_type;
use crate::ptx::code::emitter::bits_type;
use crate::ptx::lower::Lower;
use crate::ptx::{Class as RegClass, Cmp, Op, Opcode, Reg, Round, Ty};
use crate::types::{Class, Constant, DType};

impl Lower<'_> {
    /// One element in another type.
    pub fn cast(&mut self, from: DType, to: DType, x: Reg) -> Reg {
        if from == to {
            return x;
        }
        match (from.class(), to.class()) {
            (Class::Bool, _) => {
                let one = if to.is_float() { float_one(to) } else { Constant::int(to, 1) };
                let (one, zero) = (self.constant(one), self.constant(Constant { dtype: to, bits: 0 }));
                self.selp(bits_type(to), one, zero, x)
            }
            (Class::Float, Class::Float) => self.float_to_float(from, to, x),
            (Class::Float, _) => self.float_to_int(from, to, x),
            (_, Class::Float) => self.int_to_float(from, to, x),
            (_, Class::Bool) => self.setp(Cmp::Ne, arith_type(from), x, 0),
            (_, _) => self.int_to_int(from, to, x),
        }
    }

    /// Integers of 8 bits as `f16`. Two of a word are converted at once by arithmetic, of which a multiprocessor does more than of `cvt`: the
    /// lower byte of an `f16` from 1024 to 2047 counts ones.
    pub fn bytes_to_f16(&mut self, from: DType, xs: &[Reg]) -> Vec<Reg> {
        // 1024 in both halves, with an empty byte; of signed numbers 1152, whose byte makes 128 more of the number.
        let zero = if from == DType::I8 { 0x6480_6480 } else { 0x6400_6400 };
        let mut results = Vec::with_capacity(xs.len());
        let mut rest = xs;
        while let [lo, after @ ..] = rest {
            rest = after;
            let Some((word, others)) =
                after.split_first().and_then(|(&hi, others)| Some((self.code.word(*lo, hi)?, others)))
            else {
                results.push(self.cast(from, DType::F16, *lo));
                continue;
            };
            rest = others;
            let bytes = self.arith(Opcode::And, Ty::B32, &[word.into(), 0x00ff_00ff.into()]);
            let above = self.arith(Opcode::Xor, Ty::B32, &[bytes.into(), zero.into()]);
            let zero = self.mov(Ty::B32, zero);
            let both = self.arith(Opcode::SubRn, Ty::F16x2, &[above.into(), zero.into()]);
            results.extend(self.unpair(both));
        }
        results
    }

    fn int_to_int(&mut self, from: DType, to: DType, x: Reg) -> Reg {
        // The source alone says how a wider integer is extended. `ptxas` miscompiles types that differ in sign: see `elementwise`.
        let to_ty = match (from.is_signed(), bits_type(to)) {
            (true, Ty::B64) => Ty::S64,
            (true, Ty::B32) => Ty::S32,
            (true, _) => Ty::S16,
            (false, Ty::B64) => Ty::U64,
            (false, Ty::B32) => Ty::U32,
            (false, _) => Ty::U16,
        };
        let same_width = bits_type(from) == bits_type(to);
        let moved = if same_width { x } else { self.cvt(Round::None, to_ty, arith_type(from), x) };
        self.narrow(to, moved)
    }

    fn int_to_float(&mut self, from: DType, to: DType, x: Reg) -> Reg {
        let from_ty = arith_type(from);
        if to != DType::BF16 || self.target.info().bf16_arithmetic {
            return self.cvt(Round::Rn, arith_type(to), from_ty, x);
        }
        let truncated = self.cvt(Round::Rz, Ty::F32, from_ty, x);
        if from.bits() <= 16 {
            return self.cvt(Round::Rn, Ty::BF16, Ty::F32, truncated);
        }
        let back = self.cvt(Round::Rzi, from_ty, Ty::F32, truncated);
        let inexact = self.setp(Cmp::Ne, from_ty, back, x);
        self.odd_to_bf16(truncated, inexact)
    }

    fn float_to_float(&mut self, from: DType, to: DType, x: Reg) -> Reg {
        let native = self.target.info().bf16_arithmetic;
        match (from, to) {
            (DType::BF16, DType::F32) => {
                // bf16 is the upper half of an f32.
                let (zero, dst) = (self.mov(Ty::B16, 0), self.reg(RegClass::B32));
                self.emit(Op::Pack { dst, lo: zero, hi: x });
                dst
            }
            (DType::BF16, _) => {
                let wide = self.float_to_float(from, DType::F32, x);
                self.float_to_float(DType::F32, to, wide)
            }
            (DType::F16, DType::BF16) if !native => {
                let wide = self.cvt(Round::None, Ty::F32, Ty::F16, x);
                self.cvt(Round::Rn, Ty::BF16, Ty::F32, wide)
            }
            (DType::F64, DType::BF16) if !native => {
                let truncated = self.cvt(Round::Rz, Ty::F32, Ty::F64, x);
                let back = self.cvt(Round::None, Ty::F64, Ty::F32, truncated);
                let inexact = self.setp(Cmp::Ne, Ty::F64, back, x);
                self.odd_to_bf16(truncated, inexact)
            }
            _ => {
                let round = if to.bits() > from.bits() { Round::None } else { Round::Rn };
                self.cvt(round, arith_type(to), arith_type(from), x)
            }
        }
    }

    fn odd_to_bf16(&mut self, truncated: Reg, inexact: Reg) -> Reg {
        let odd = self.arith(Opcode::Or, Ty::B32, &[truncated.into(), 1.into()]);
        let rounded = self.selp(Ty::B32, odd, truncated, inexact);
        self.cvt(Round::Rn, Ty::BF16, Ty::F32, rounded)
    }

    /// Truncates and saturates; NaN gives 0.
    fn float_to_int(&mut self, from: DType, to: DType, x: Reg) -> Reg {
        let half = from.bits() == 16;
        let (from, x) = if half { (DType::F32, self.cast(from, DType::F32, x)) } else { (from, x) };
        let from_ty = arith_type(from);
        // PTX saturates to the type it converts to; narrow types are reached through 32 bits of their own sign.
        let wide = match (to.class(), to.bits()) {
            (_, 32 | 64) => to,
            (Class::Signed, _) => DType::I32,
            (Class::Bool | Class::Unsigned | Class::Float, _) => DType::U32,
        };
        let mut int = self.cvt(Round::Rzi, arith_type(wide), from_ty, x);
        // PTX gives 0 for NaN only between types of 32 bits.
        if from == DType::F64 || wide.bits() == 64 {
            let nan = self.setp(Cmp::Nan, from_ty, x, x);
            int = self.selp(bits_type(wide), 0, int, nan);
        }
        if wide == to {
            return int;
        }
        let (least, most) = if to.is_signed() {
            (-(1i64 << (to.bits() - 1)), (1i64 << (to.bits() - 1)) - 1)
        } else {
            (0, (1i64 << to.bits()) - 1)
        };
        let ty = arith_type(wide);
        let int = self.arith(Opcode::Min, ty, &[int.into(), most.into()]);
        let int = if to.is_signed() { self.arith(Opcode::Max, ty, &[int.into(), least.into()]) } else { int };
        self.int_to_int(wide, to, int)
    }
}

fn float_one(dtype: DType) -> Constant {
    Constant::parse_float(dtype, "1").unwrap_or(Constant { dtype, bits: 0 })
}
