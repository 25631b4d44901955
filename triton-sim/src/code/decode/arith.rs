//! Arithmetic: integers, bits, floats, carries.

use super::words::{Ty, Words};
use super::{Decoded, Decoder};
use crate::code::{Bool, Op, Scalar, Src, dec, inc};
use crate::num::{self, BitOp, Float, FloatOp, Int, IntOp, Num, Permute};
use crate::parse::ast::Operand;

/// Integer instructions by their words.
const INTS: &[(&str, &str, IntOp)] = &[
    ("add", "", IntOp::Add),
    ("sub", "", IntOp::Sub),
    ("add", "sat", IntOp::AddSat),
    ("sub", "sat", IntOp::SubSat),
    ("mul", "lo", IntOp::MulLo),
    ("mul", "hi", IntOp::MulHi),
    ("mul", "wide", IntOp::MulWide),
    ("mad", "lo", IntOp::MadLo),
    ("mad", "hi", IntOp::MadHi),
    ("mad", "hi.sat", IntOp::MadHiSat),
    ("mad", "wide", IntOp::MadWide),
    ("mul24", "lo", IntOp::Mul24Lo),
    ("mul24", "hi", IntOp::Mul24Hi),
    ("mad24", "lo", IntOp::Mad24Lo),
    ("mad24", "hi", IntOp::Mad24Hi),
    ("mad24", "hi.sat", IntOp::Mad24HiSat),
    ("sad", "", IntOp::Sad),
    ("div", "", IntOp::Div),
    ("rem", "", IntOp::Rem),
    ("abs", "", IntOp::Abs),
    ("neg", "", IntOp::Neg),
    ("min", "", IntOp::Min),
    ("max", "", IntOp::Max),
    ("min", "relu", IntOp::MinRelu),
    ("max", "relu", IntOp::MaxRelu),
];

/// Instructions on bits by their words.
const BITS: &[(&str, &str, BitOp)] = &[
    ("and", "", BitOp::And),
    ("or", "", BitOp::Or),
    ("xor", "", BitOp::Xor),
    ("not", "", BitOp::Not),
    ("cnot", "", BitOp::Cnot),
    ("shl", "", BitOp::Shl),
    ("shr", "", BitOp::Shr),
    ("shf", "l.clamp", BitOp::ShfLeftClamp),
    ("shf", "l.wrap", BitOp::ShfLeftWrap),
    ("shf", "r.clamp", BitOp::ShfRightClamp),
    ("shf", "r.wrap", BitOp::ShfRightWrap),
    ("popc", "", BitOp::Popc),
    ("clz", "", BitOp::Clz),
    ("brev", "", BitOp::Brev),
    ("bfe", "", BitOp::Bfe),
    ("bfind", "", BitOp::Bfind),
    ("bfind", "shiftamt", BitOp::BfindShiftamt),
    ("szext", "clamp", BitOp::SzextClamp),
    ("szext", "wrap", BitOp::SzextWrap),
    ("bmsk", "clamp", BitOp::BmskClamp),
    ("bmsk", "wrap", BitOp::BmskWrap),
    ("fns", "", BitOp::Fns),
];

/// Instructions on floats by their first word.
const FLOATS: &[(&str, FloatOp)] = &[
    ("add", FloatOp::Add),
    ("sub", FloatOp::Sub),
    ("mul", FloatOp::Mul),
    ("fma", FloatOp::Fma),
    ("mad", FloatOp::Fma),
    ("div", FloatOp::Div),
    ("sqrt", FloatOp::Sqrt),
    ("rcp", FloatOp::Rcp),
    ("rsqrt", FloatOp::Rsqrt),
    ("neg", FloatOp::Neg),
    ("abs", FloatOp::Abs),
    ("min", FloatOp::Min),
    ("max", FloatOp::Max),
    ("copysign", FloatOp::Copysign),
    ("ex2", FloatOp::Ex2),
    ("lg2", FloatOp::Lg2),
    ("sin", FloatOp::Sin),
    ("cos", FloatOp::Cos),
    ("tanh", FloatOp::Tanh),
];

const PERMUTES: [(&str, Permute); 6] = [
    ("f4e", Permute::F4e),
    ("b4e", Permute::B4e),
    ("rc8", Permute::Rc8),
    ("ecl", Permute::Ecl),
    ("ecr", Permute::Ecr),
    ("rc16", Permute::Rc16),
];

/// A function of three values and a carry: value and carry.
type Carrying = fn(u64, u64, u64, u64) -> (u64, u64);

/// Instructions with carry of 32 bits by their words, `u32` and `s32` (`mad.hi` alone differs), then of 64.
const CARRIES: &[(&str, &str, [Carrying; 2])] = &[
    ("add", "", [|a, b, _, _| add::<false>(a, b, 0), |a, b, _, _| add::<true>(a, b, 0)]),
    ("addc", "", [|a, b, _, c| add::<false>(a, b, c), |a, b, _, c| add::<true>(a, b, c)]),
    ("sub", "", [|a, b, _, _| sub::<false>(a, b, 1), |a, b, _, _| sub::<true>(a, b, 1)]),
    ("subc", "", [|a, b, _, c| sub::<false>(a, b, c), |a, b, _, c| sub::<true>(a, b, c)]),
    (
        "mad",
        "lo",
        [|a, b, c, _| add::<false>(low::<false>(a, b), c, 0), |a, b, c, _| add::<true>(low::<true>(a, b), c, 0)],
    ),
    (
        "madc",
        "lo",
        [|a, b, c, f| add::<false>(low::<false>(a, b), c, f), |a, b, c, f| add::<true>(low::<true>(a, b), c, f)],
    ),
    (
        "mad",
        "hi",
        [|a, b, c, _| add::<false>(high::<false>(a, b), c, 0), |a, b, c, _| add::<true>(high::<true>(a, b), c, 0)],
    ),
    (
        "madc",
        "hi",
        [|a, b, c, f| add::<false>(high::<false>(a, b), c, f), |a, b, c, f| add::<true>(high::<true>(a, b), c, f)],
    ),
];

/// The signed forms of the last two.
const SIGNED_CARRIES: [[Carrying; 2]; 2] = [
    [
        |a, b, c, _| add::<false>(signed_high::<false>(a, b), c, 0),
        |a, b, c, _| add::<true>(signed_high::<true>(a, b), c, 0),
    ],
    [
        |a, b, c, f| add::<false>(signed_high::<false>(a, b), c, f),
        |a, b, c, f| add::<true>(signed_high::<true>(a, b), c, f),
    ],
];

fn add<const WIDE: bool>(a: u64, b: u64, carry: u64) -> (u64, u64) {
    let (sum, out) = num::add_carry(WIDE, a, b, carry != 0);
    (sum, u64::from(out))
}

/// As hardware does it, a + ~b + carry: the flag is the carry of that sum, set where nothing is borrowed. So `addc` reads it
/// after `sub.cc`, and `subc` after `add.cc`.
fn sub<const WIDE: bool>(a: u64, b: u64, carry: u64) -> (u64, u64) {
    let (difference, borrow) = num::sub_borrow(WIDE, a, b, carry == 0);
    (difference, u64::from(!borrow))
}

fn low<const WIDE: bool>(a: u64, b: u64) -> u64 {
    if WIDE { a.wrapping_mul(b) } else { a.wrapping_mul(b) & 0xffff_ffff }
}

fn high<const WIDE: bool>(a: u64, b: u64) -> u64 {
    if WIDE { ((u128::from(a) * u128::from(b)) >> 64) as u64 } else { a.wrapping_mul(b) >> 32 }
}

fn signed_high<const WIDE: bool>(a: u64, b: u64) -> u64 {
    if WIDE {
        ((i128::from(a as i64) * i128::from(b as i64)) >> 64) as u64
    } else {
        ((i64::from(a as i32) * i64::from(b as i32)) >> 32) as u64 & 0xffff_ffff
    }
}

impl Decoder<'_> {
    pub(super) fn arithmetic(&self, words: &mut Words<'_>) -> Decoded {
        let name = words.first();
        if matches!(name, "addc" | "subc" | "madc") || words.left().contains(&"cc") {
            return self.with_carry(words);
        }
        match name {
            "lop3" => return self.lop3(words),
            "prmt" => return self.permute(words),
            "bfi" => return self.insert(words),
            "dp4a" | "dp2a" => return self.dot_product(words),
            "fma" | "sqrt" | "rcp" | "rsqrt" | "ex2" | "lg2" | "sin" | "cos" | "tanh" | "copysign" => {
                return self.float(words);
            }
            _ => {}
        }
        if let Some(half) = words.one_of(&[("u16x2", Int::U16), ("s16x2", Int::S16)]) {
            return self.halves_of_integers(half, words);
        }
        match words.left().last().and_then(|w| Ty::of(w)) {
            Some(Ty::Num(Num::Float(_)) | Ty::Packed(_)) => self.float(words),
            Some(Ty::Num(Num::Int(_)) | Ty::Bits(_)) => self.integer(words),
            Some(Ty::Pred) => self.logic(words),
            None => self.error(format!("`{}` needs a type", self.inst.opcode.join("."))),
        }
    }

    /// Up to three sources of one type; missing ones are 0.
    fn sources(&self, ty: Ty) -> Result<[Src; 3], crate::ParseError> {
        let mut out = [Src::Imm(0); 3];
        for (i, slot) in out.iter_mut().enumerate().take(self.count(2..=4)? - 1) {
            *slot = self.src(i + 1, ty)?;
        }
        Ok(out)
    }

    fn float(&self, words: &mut Words<'_>) -> Decoded {
        let name = words.first();
        let oob = name == "fma" && words.take("oob");
        let Some((_, op)) = FLOATS.iter().find(|(n, _)| *n == name) else {
            return self.error(format!("`{name}` is not known for floats"));
        };
        let op = if oob { FloatOp::FmaOob } else { *op };
        let ty = words.ty();
        let flags = words.flags();
        let (function, ty) = match ty {
            Some(ty @ Ty::Num(Num::Float(float))) => (num::float_op(op, float, flags), ty),
            Some(ty @ Ty::Packed(float)) => (num::packed_op(op, float, flags), ty),
            Some(Ty::Num(Num::Int(_)) | Ty::Bits(_) | Ty::Pred) | None => (None, Ty::Bits(4)),
        };
        match function {
            Some(function) => Ok(Op::Alu(function, self.dst(0)?, self.sources(ty)?)),
            None => self.unknown(),
        }
    }

    /// An instruction that PTX does not have, or the simulator does not know.
    pub(super) fn unknown(&self) -> Decoded {
        self.error(format!("the instruction `{}` is not known", self.inst.opcode.join(".")))
    }

    fn integer(&self, words: &mut Words<'_>) -> Decoded {
        let name = words.first();
        let ty = words.ty().unwrap_or(Ty::Bits(4));
        let rest = words.take_rest().join(".");
        let Some(int) = ty.int() else { return self.unknown() };
        let op = INTS.iter().find(|(n, r, _)| (*n, *r) == (name, rest.as_str())).map(|(.., op)| *op);
        if let Some(op) = op
            && let Some(function) = num::int_op(op, int)
        {
            let dst = self.dst(0)?;
            let src = self.sources(ty)?;
            // The third operand of a wide form has twice the width; numbers of the text were cut to the width.
            let src = match (op, self.inst.operands.get(3)) {
                (IntOp::MadWide, Some(operand)) => [src[0], src[1], self.value_of(operand, Ty::Bits(8))?],
                _ => src,
            };
            return Ok(if matches!(op, IntOp::Div | IntOp::Rem) {
                Op::Divide { function, defined: division(int), dst, src: [src[0], src[1]] }
            } else {
                Op::Alu(function, dst, src)
            });
        }
        let op = BITS.iter().find(|(n, r, _)| (*n, *r) == (name, rest.as_str())).map(|(.., op)| *op);
        let Some(function) = op.and_then(|op| num::bit_op(op, int)) else { return self.unknown() };
        let dst = self.dst(0)?;
        let mut src = [Src::Imm(0); 3];
        let count = self.count(2..=4)?;
        for (i, slot) in src.iter_mut().enumerate().take(count - 1) {
            // Shifts and fields count in words.
            let counts = i > 0 && matches!(name, "shl" | "shr" | "bfe") || i == 2;
            *slot = self.src(i + 1, if counts { Ty::Bits(4) } else { ty })?;
        }
        Ok(Op::Alu(function, dst, src))
    }

    fn halves_of_integers(&self, half: Int, words: &mut Words<'_>) -> Decoded {
        let rest = words.take_rest().join(".");
        let op = INTS.iter().find(|(n, r, _)| (*n, *r) == (words.first(), rest.as_str())).map(|(.., op)| *op);
        match op.and_then(|op| num::packed_int_op(op, half)) {
            Some(function) => Ok(Op::Alu(function, self.dst(0)?, self.sources(Ty::Bits(4))?)),
            None => self.unknown(),
        }
    }

    /// `and`, `or`, `xor`, `not` of predicates.
    fn logic(&self, words: &mut Words<'_>) -> Decoded {
        words.ty();
        let function: Scalar = match words.first() {
            "and" => |a, b, _| a & b,
            "or" => |a, b, _| a | b,
            "xor" => |a, b, _| a ^ b,
            "not" | "cnot" => |a, _, _| a ^ 1,
            _ => return self.unknown(),
        };
        Ok(Op::Alu(function, self.dst(0)?, self.sources(Ty::Pred)?))
    }

    fn with_carry(&self, words: &mut Words<'_>) -> Decoded {
        let sets_carry = words.take("cc");
        let ty = words.ty().unwrap_or(Ty::Bits(4));
        let rest = words.take_rest().join(".");
        let key = (words.first(), rest.as_str());
        let Some(row) = CARRIES.iter().position(|(n, r, _)| (*n, *r) == key) else { return self.unknown() };
        let wide = usize::from(ty.bytes() == 8);
        let function = match (row.checked_sub(6), ty.signed()) {
            (Some(index), true) => SIGNED_CARRIES[index][wide],
            (Some(_) | None, _) => CARRIES[row].2[wide],
        };
        Ok(Op::Carry { function, dst: self.dst(0)?, src: self.sources(ty)?, sets_carry })
    }

    fn lop3(&self, words: &mut Words<'_>) -> Decoded {
        let combine = words.one_of(&[("or", Bool::Or), ("and", Bool::And)]);
        if words.take_rest() != ["b32"] {
            return self.unknown();
        }
        let word = Ty::Bits(4);
        if let Some(combine) = combine {
            self.count(6..=6)?;
            let Operand::Pair(dst, holds) = self.operand(0)? else { return self.unknown() };
            return Ok(Op::Lop3 {
                table: self.immediate_in(4, 0..=255)? as u8,
                dst: self.sink(dst)?,
                holds: self.sink(holds)?,
                src: [self.src(1, word)?, self.src(2, word)?, self.src(3, word)?],
                combine: (combine, self.pred(5)?),
            });
        }
        self.count(5..=5)?;
        let src = [
            self.src(1, word)?,
            self.src(2, word)?,
            self.src(3, word)?,
            Src::Imm(u64::from(self.immediate_in(4, 0..=255)?)),
        ];
        Ok(Op::Alu4(|a, b, c, table| num::lop3(a, b, c, table as u8), self.dst(0)?, src))
    }

    fn permute(&self, words: &mut Words<'_>) -> Decoded {
        self.count(4..=4)?;
        words.take("b32");
        let mode = words.one_of(&PERMUTES).unwrap_or(Permute::Index);
        Ok(Op::Alu(num::prmt(mode), self.dst(0)?, self.sources(Ty::Bits(4))?))
    }

    fn insert(&self, words: &mut Words<'_>) -> Decoded {
        self.count(5..=5)?;
        let ty = words.ty().unwrap_or(Ty::Bits(4));
        let src = [self.src(1, ty)?, self.src(2, ty)?, self.word(3)?, self.word(4)?];
        let function: fn(u64, u64, u64, u64) -> u64 = match ty.bytes() {
            8 => |a, b, start, len| num::bfi(true, a, b, start, len),
            _ => |a, b, start, len| num::bfi(false, a, b, start, len),
        };
        Ok(Op::Alu4(function, self.dst(0)?, src))
    }

    fn dot_product(&self, words: &mut Words<'_>) -> Decoded {
        self.count(4..=4)?;
        let high = words.take("hi");
        words.take("lo");
        let [a, b] = words.take_rest()[..] else { return self.unknown() };
        let signed = |word: &str| word == "s32";
        let function = match words.first() {
            "dp4a" => num::dp4a(signed(a), signed(b)),
            _ => num::dp2a(high, signed(a), signed(b)),
        };
        Ok(Op::Alu(function, self.dst(0)?, self.sources(Ty::Bits(4))?))
    }
}

/// Whether a division is defined, by type.
fn division(int: Int) -> fn(u64, u64) -> bool {
    match int {
        Int::U8 => |a, b| !num::undefined_division(Int::U8, a, b),
        Int::S8 => |a, b| !num::undefined_division(Int::S8, a, b),
        Int::U16 => |a, b| !num::undefined_division(Int::U16, a, b),
        Int::S16 => |a, b| !num::undefined_division(Int::S16, a, b),
        Int::U32 => |a, b| !num::undefined_division(Int::U32, a, b),
        Int::S32 => |a, b| !num::undefined_division(Int::S32, a, b),
        Int::U64 => |a, b| !num::undefined_division(Int::U64, a, b),
        Int::S64 => |a, b| !num::undefined_division(Int::S64, a, b),
    }
}

/// The function that an atomic update or a reduction combines with. Sums of `f32` in global memory treat subnormal numbers
/// as zeros (PTX ISA, `atom`).
pub(super) fn combining(name: &str, ty: Ty, in_global: bool) -> Option<Scalar> {
    let ints = [("add", IntOp::Add), ("min", IntOp::Min), ("max", IntOp::Max)];
    let bits = [("and", BitOp::And), ("or", BitOp::Or), ("xor", BitOp::Xor)];
    let floats = [("add", FloatOp::Add), ("min", FloatOp::Min), ("max", FloatOp::Max)];
    fn of<T: Copy>(table: &[(&str, T)], name: &str) -> Option<T> {
        table.iter().find(|(n, _)| *n == name).map(|(_, op)| *op)
    }
    match ty {
        Ty::Packed(float) => num::packed_op(of(&floats, name)?, float, num::Flags::default()),
        Ty::Num(Num::Float(float @ (Float::F16 | Float::Bf16 | Float::F32 | Float::F64))) => {
            let ftz = in_global && name == "add" && float == Float::F32;
            num::float_op(of(&floats, name)?, float, num::Flags { ftz, ..num::Flags::default() })
        }
        Ty::Num(Num::Float(_)) | Ty::Pred => None,
        Ty::Num(Num::Int(_)) | Ty::Bits(_) => {
            let int = ty.int()?;
            match name {
                "inc" if int == Int::U32 => Some(inc),
                "dec" if int == Int::U32 => Some(dec),
                _ => match of(&ints, name) {
                    Some(op) => num::int_op(op, int),
                    None => num::bit_op(of(&bits, name)?, int),
                },
            }
        }
    }
}
