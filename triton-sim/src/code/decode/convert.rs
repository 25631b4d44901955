//! Moves, conversions, comparisons and selections.

use super::words::{Ty, Words};
use super::{Decoded, Decoder};
use crate::code::{Bool, Op, Scalar, Src};
use crate::num::{self, Compare, Float, Int, Num, Test};
use crate::parse::ast::Operand;

/// Comparisons by their words: of numbers, and for unsigned ones `lo` and the like.
const COMPARES: [(&str, Compare); 18] = [
    ("eq", Compare::Eq),
    ("ne", Compare::Ne),
    ("lt", Compare::Lt),
    ("le", Compare::Le),
    ("gt", Compare::Gt),
    ("ge", Compare::Ge),
    ("lo", Compare::Lt),
    ("ls", Compare::Le),
    ("hi", Compare::Gt),
    ("hs", Compare::Ge),
    ("equ", Compare::Equ),
    ("neu", Compare::Neu),
    ("ltu", Compare::Ltu),
    ("leu", Compare::Leu),
    ("gtu", Compare::Gtu),
    ("geu", Compare::Geu),
    ("num", Compare::Num),
    ("nan", Compare::Nan),
];

const BOOLS: [(&str, Bool); 3] = [("and", Bool::And), ("or", Bool::Or), ("xor", Bool::Xor)];

/// A comparison as an instruction says it.
struct Comparison {
    compare: fn(u64, u64) -> bool,
    packed: bool,
    src: [Src; 2],
    combine: Option<(Bool, Src)>,
}

impl Decoder<'_> {
    pub(super) fn value(&self, words: &mut Words<'_>) -> Decoded {
        match words.first() {
            "mov" => self.mov(words),
            "cvt" => self.cvt(words),
            "setp" => self.setp(words),
            "set" => self.set(words),
            "testp" => self.testp(words),
            _ => self.select(words),
        }
    }

    fn mov(&self, words: &mut Words<'_>) -> Decoded {
        self.count(2..=2)?;
        if words.take("b128") {
            let Some(src) = self.halves(1)?.iter().map(|half| half.map(Src::Reg)).collect() else {
                return self.error("operand 2 must be registers without `_`");
            };
            return Ok(Op::Move(self.halves(0)?, src));
        }
        let elements = self.vector(words);
        let Some(ty) = words.ty() else { return self.unknown() };
        if elements > 1 {
            let (dst, src) = (self.regs(0)?, self.srcs(1, ty)?);
            if [dst.len(), src.len()] != [elements; 2] {
                let found = if dst.len() == elements { src.len() } else { dst.len() };
                return self.error(format!("vectors of {elements} were expected, found {found}"));
            }
            return Ok(Op::Move(dst, src));
        }
        match (self.operand(0)?, self.operand(1)?) {
            (Operand::Vector(list), _) => {
                let part = self.part(list, ty)?;
                Ok(Op::Unpack { dst: self.regs(0)?, src: self.src(1, ty)?, bits: 8 * part })
            }
            (_, Operand::Vector(list)) => {
                let part = self.part(list, ty)?;
                Ok(Op::Pack { dst: self.dst(0)?, src: self.srcs(1, Ty::Bits(part))?, bits: 8 * part })
            }
            _ => Ok(Op::Alu(|a, _, _| a, self.dst(0)?, [self.src(1, ty)?, Src::Imm(0), Src::Imm(0)])),
        }
    }

    /// Bytes of each part of a vector that is moved as one value of this type.
    fn part(&self, list: &[Operand], ty: Ty) -> Result<u8, crate::ParseError> {
        let part = match (ty, list.len()) {
            (Ty::Bits(bytes @ (2 | 4 | 8)), 2) => bytes / 2,
            (Ty::Bits(bytes @ (4 | 8)), 4) => bytes / 4,
            (_, found) => {
                let opcode = self.inst.opcode.join(".");
                return self.error(format!("`{opcode}` moves no vector of {found}: `.b16` has 2 parts, others 2 or 4"));
            }
        };
        let misfit = |o: &&Operand| matches!(o, Operand::Register(r) if self.register_bytes(*r) != part);
        match list.iter().find(misfit) {
            None => Ok(part),
            Some(_) => self.error(format!("each part of the vector must have {} bits", 8 * u32::from(part))),
        }
    }

    fn select(&self, words: &mut Words<'_>) -> Decoded {
        self.count(4..=4)?;
        let types = words.take_rest();
        let dst = self.dst(0)?;
        match (words.first(), &types[..]) {
            ("selp", [ty]) => {
                let Some(ty) = Ty::of(ty) else { return self.unknown() };
                Ok(Op::Alu(
                    |a, b, p| if p != 0 { a } else { b },
                    dst,
                    [self.src(1, ty)?, self.src(2, ty)?, self.pred(3)?],
                ))
            }
            ("slct", [flags @ .., ty, by]) => {
                let (Some(ty), Some(by)) = (Ty::of(ty), Ty::of(by)) else { return self.unknown() };
                let ftz = match flags {
                    [] => false,
                    ["ftz"] => true,
                    _ => return self.unknown(),
                };
                let function: Scalar = match (by, ftz) {
                    (Ty::Num(Num::Int(Int::S32)), false) => |a, b, c| if c as i32 >= 0 { a } else { b },
                    // A NaN is not at least 0; subnormals become 0 with their sign, and -0 is.
                    (Ty::Num(Num::Float(Float::F32)), false) => {
                        |a, b, c| if f32::from_bits(c as u32) >= 0.0 { a } else { b }
                    }
                    (Ty::Num(Num::Float(Float::F32)), true) => {
                        |a, b, c| if f32::from_bits(c as u32) > -f32::MIN_POSITIVE { a } else { b }
                    }
                    _ => return self.unknown(),
                };
                Ok(Op::Alu(function, dst, [self.src(1, ty)?, self.src(2, ty)?, self.src(3, by)?]))
            }
            _ => self.unknown(),
        }
    }

    fn comparison(&self, words: &mut Words<'_>, ty: Ty, sources: usize) -> Result<Comparison, crate::ParseError> {
        let ftz = words.take("ftz");
        let Some(compare) = words.one_of(&COMPARES) else {
            return self.error(format!("`{}` needs a comparison", self.inst.opcode.join(".")));
        };
        let combine = words.one_of(&BOOLS);
        let (num, packed) = match ty {
            Ty::Packed(float) => (Some(Num::Float(float)), true),
            Ty::Pred | Ty::Bits(_) | Ty::Num(_) => (ty.num(), false),
        };
        let Some(compare) = num.and_then(|num| num::compare(compare, num, ftz)) else {
            return self.error(format!("the comparison `{}` is not known", self.inst.opcode.join(".")));
        };
        let src = [self.src(sources, ty)?, self.src(sources + 1, ty)?];
        let combine = match combine {
            Some(op) => Some((op, self.pred(sources + 2)?)),
            None => None,
        };
        self.count(sources + 2 + usize::from(combine.is_some())..=sources + 2 + usize::from(combine.is_some()))?;
        Ok(Comparison { compare, packed, src, combine })
    }

    fn setp(&self, words: &mut Words<'_>) -> Decoded {
        let Some(ty) = words.ty() else { return self.unknown() };
        let [dst, negated] = self.pair(0)?;
        let Comparison { compare, packed, src, combine } = self.comparison(words, ty, 1)?;
        Ok(Op::Setp { compare, packed, dst, negated, src, combine })
    }

    fn set(&self, words: &mut Words<'_>) -> Decoded {
        let Some(ty) = words.ty() else { return self.unknown() };
        let yes = match words.ty() {
            Some(Ty::Num(Num::Float(Float::F32))) => 0x3f80_0000,
            Some(Ty::Num(Num::Float(Float::F16)) | Ty::Packed(Float::F16)) => 0x3c00,
            Some(Ty::Num(Num::Float(Float::Bf16)) | Ty::Packed(Float::Bf16)) => 0x3f80,
            Some(Ty::Num(Num::Int(Int::U32 | Int::S32))) => 0xffff_ffff,
            Some(Ty::Num(Num::Int(Int::U16 | Int::S16))) => 0xffff,
            _ => return self.unknown(),
        };
        let Comparison { compare, packed, src, combine } = self.comparison(words, ty, 1)?;
        // A pair of halves in a word of 32 bits has ones in both.
        let yes = if packed && yes == 0xffff_ffff { 0xffff } else { yes };
        Ok(Op::Set { compare, packed, yes, dst: self.dst(0)?, src, combine })
    }

    fn testp(&self, words: &mut Words<'_>) -> Decoded {
        self.count(2..=2)?;
        let Some(ty @ Ty::Num(Num::Float(float))) = words.ty() else { return self.unknown() };
        let Some(test) = words.one_of(&[
            ("finite", Test::Finite),
            ("infinite", Test::Infinite),
            ("number", Test::Number),
            ("notanumber", Test::NotANumber),
            ("normal", Test::Normal),
            ("subnormal", Test::Subnormal),
        ]) else {
            return self.unknown();
        };
        let Some(function) = num::testp(test, float) else { return self.unknown() };
        let dst = self.dst(0)?;
        Ok(Op::Test(function, dst, self.src(1, ty)?))
    }

    fn cvt(&self, words: &mut Words<'_>) -> Decoded {
        let dst = self.dst(0)?;
        if words.take("pack") {
            words.take("sat");
            let types = words.take_rest();
            let (to, third) = match &types[..] {
                [to, "s32"] => (*to, false),
                [to, "s32", "b32"] => (*to, true),
                _ => return self.unknown(),
            };
            self.count(3 + usize::from(third)..=3 + usize::from(third))?;
            let bits = to.get(1..).and_then(|b| b.parse().ok()).unwrap_or(0);
            let Some(function) = num::cvt_pack(bits, to.starts_with('s')) else { return self.unknown() };
            let last = if third { self.word(3)? } else { Src::Imm(0) };
            return Ok(Op::Alu(function, dst, [self.word(1)?, self.word(2)?, last]));
        }
        let (Some(from), Some(to)) = (words.ty(), words.ty()) else { return self.unknown() };
        let flags = words.flags();
        let count = self.count(2..=3)?;
        let none = Src::Imm(0);
        match (to, from) {
            (Ty::Packed(to), Ty::Num(Num::Float(Float::F32))) if count == 3 => match num::convert_pair(to, flags) {
                Some(function) => Ok(Op::Alu(function, dst, [self.src(1, from)?, self.src(2, from)?, none])),
                None => self.unknown(),
            },
            (Ty::Packed(to), Ty::Packed(half)) => match num::convert_packed(to, half, flags) {
                Some(function) => Ok(Op::Alu(function, dst, [self.src(1, from)?, none, none])),
                None => self.unknown(),
            },
            (Ty::Num(_) | Ty::Bits(_), Ty::Num(_) | Ty::Bits(_)) if count == 2 => {
                let (Some(to_num), Some(from_num)) = (to.num(), from.num()) else { return self.unknown() };
                let Some(function) = num::convert(to_num, from_num, flags) else { return self.unknown() };
                let src = [self.src(1, from)?, none, none];
                // A narrow integer fills a wider register.
                let register = self.register_bytes(dst);
                if to.signed() && register > to.bytes() {
                    return Ok(Op::Extend { function, dst, src, from_bytes: to.bytes(), to_bytes: register });
                }
                Ok(Op::Alu(function, dst, src))
            }
            _ => self.unknown(),
        }
    }
}
