//! Logic, shifts and bit fields (PTX ISA 9.7.1 and 9.7.8), and additions with carry (9.7.2).

use super::integer::{Integer, in_table};
use super::{Int, Scalar};

/// An instruction on bits, of up to three operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names of PTX")]
pub enum BitOp {
    And,
    Or,
    Xor,
    Not,
    /// 1 if the operand is 0, else 0.
    Cnot,
    /// The amount is the low 32 bits; from the width on, every bit is shifted out.
    Shl,
    /// As `Shl`; signed types shift in copies of the sign.
    Shr,
    /// Of the register pair `b:a`; the result is its upper half shifted left by `c`, at most 32.
    ShfLeftClamp,
    /// The same by `c` modulo 32.
    ShfLeftWrap,
    /// Of the register pair `b:a`; the result is its lower half shifted right by `c`, at most 32.
    ShfRightClamp,
    /// The same by `c` modulo 32.
    ShfRightWrap,
    Popc,
    Clz,
    Brev,
    /// The field of `a` from bit `b`, of `c` bits; of both the low 8 bits count (see `amount`).
    Bfe,
    /// The index of the highest bit that differs from the sign (of unsigned types: that is 1), or all ones.
    Bfind,
    /// The same as the amount of the left shift that normalises.
    BfindShiftamt,
    /// The number in the low `b` bits of `a`; all of `a` if `b` is 32 or more.
    SzextClamp,
    /// The same with `b` modulo 32.
    SzextWrap,
    /// Ones in `b` bits from bit `a` on.
    BmskClamp,
    /// The same with both modulo 32.
    BmskWrap,
    /// The index of the set bit of `a` that is number `c` from bit `b` on, downwards if `c` is negative; or all ones.
    Fns,
}

/// The function of an instruction on operands of a type; `None` where PTX has no such form. Untyped operands are of the
/// unsigned type. The results of `popc`, `clz` and `bfind` are `u32`.
pub fn bit_op(op: BitOp, ty: Int) -> Option<Scalar> {
    match ty {
        Int::U8 | Int::S8 => None,
        Int::U16 => untyped::<u16>(op),
        Int::U32 => untyped::<u32>(op)
            .or_else(|| fields::<u32>(op))
            .or_else(|| counts::<u32>(op))
            .or_else(|| extend::<u32>(op))
            .or_else(|| funnel(op))
            .or_else(|| masks(op)),
        Int::U64 => untyped::<u64>(op).or_else(|| fields::<u64>(op)).or_else(|| counts::<u64>(op)),
        Int::S16 => in_table(op, &[(BitOp::Shr, shift_right::<i16>)]),
        Int::S32 => in_table(op, &[(BitOp::Shr, shift_right::<i32>)])
            .or_else(|| fields::<i32>(op))
            .or_else(|| extend::<i32>(op)),
        Int::S64 => in_table(op, &[(BitOp::Shr, shift_right::<i64>)]).or_else(|| fields::<i64>(op)),
    }
}

fn untyped<T: Integer>(op: BitOp) -> Option<Scalar> {
    in_table(
        op,
        &[
            (BitOp::And, |a, b, _| a & b),
            (BitOp::Or, |a, b, _| a | b),
            (BitOp::Xor, |a, b, _| a ^ b),
            (BitOp::Not, |a, _, _| T::of(!a).bits()),
            (BitOp::Cnot, |a, _, _| u64::from(T::of(a).bits() == 0)),
            (BitOp::Shl, |a, b, _| if b as u32 >= T::BITS { 0 } else { T::of(a << (b as u32)).bits() }),
            (BitOp::Shr, shift_right::<T>),
        ],
    )
}

fn counts<T: Integer>(op: BitOp) -> Option<Scalar> {
    in_table(
        op,
        &[
            (BitOp::Popc, |a, _, _| T::of(a).bits().count_ones().into()),
            (BitOp::Clz, |a, _, _| u64::from(T::of(a).bits().leading_zeros() + T::BITS - 64)),
            (BitOp::Brev, |a, _, _| a.reverse_bits() >> (64 - T::BITS)),
        ],
    )
}

fn shift_right<T: Integer>(a: u64, amount: u64, _: u64) -> u64 {
    T::wrap(T::of(a).wide() >> (amount as u32).min(T::BITS)).bits()
}

fn fields<T: Integer>(op: BitOp) -> Option<Scalar> {
    in_table(
        op,
        &[
            (BitOp::Bfe, extract::<T>),
            (BitOp::Bfind, |a, _, _| find::<T>(a).map_or(0xffff_ffff, u64::from)),
            (BitOp::BfindShiftamt, |a, _, _| find::<T>(a).map_or(0xffff_ffff, |at| (T::BITS - 1 - at).into())),
        ],
    )
}

/// A start or a length of a field of a number of this many bits: the low 8 bits of the operand. Of 64-bit numbers more
/// than 255 counts as 255, which the ISA does not say (measured on an H200).
fn amount(bits: u32, operand: u64) -> u32 {
    if bits == 64 { (operand & 0xffff_ffff).min(255) as u32 } else { u32::from(operand as u8) }
}

/// `bfe`: what lies beyond the operand is its sign.
fn extract<T: Integer>(a: u64, start: u64, len: u64) -> u64 {
    let (start, len) = (amount(T::BITS, start), amount(T::BITS, len).min(T::BITS));
    if len == 0 {
        return 0;
    }
    let field = (T::of(a).wide() >> start.min(127)) & ((1 << len) - 1);
    let unused = 128 - len;
    // The sign is the last bit of the field, or that of the operand if the field ends beyond.
    let field = if T::SIGNED { field << unused >> unused } else { field };
    T::wrap(field).bits()
}

fn extend<T: Integer>(op: BitOp) -> Option<Scalar> {
    in_table(
        op,
        &[
            (BitOp::SzextClamp, |a, b, _| extract::<T>(a, 0, b.min(32))),
            (BitOp::SzextWrap, |a, b, _| extract::<T>(a, 0, b & 31)),
        ],
    )
}

fn masks(op: BitOp) -> Option<Scalar> {
    fn mask(start: u64, length: u64) -> u64 {
        ((1 << length) - 1) << start & 0xffff_ffff
    }
    in_table(
        op,
        &[
            (BitOp::BmskClamp, |a, b, _| mask(a.min(32), b.min(32))),
            (BitOp::BmskWrap, |a, b, _| mask(a & 31, b & 31)),
            (BitOp::Fns, |a, b, c| nth_set(a, b, c as i32)),
        ],
    )
}

/// `fns`: number 0 is the bit at the start itself, 1 the first set bit from there on.
fn nth_set(bits: u64, start: u64, number: i32) -> u64 {
    let set = |place: &u64| bits >> place & 1 != 0;
    let index = number.unsigned_abs().saturating_sub(1) as usize;
    let found = match number {
        _ if start > 31 => None,
        0 => Some(start).filter(set),
        1.. => (start..32).filter(set).nth(index),
        ..0 => (0..=start).rev().filter(set).nth(index),
    };
    found.unwrap_or(0xffff_ffff)
}

fn find<T: Integer>(a: u64) -> Option<u32> {
    let x = T::of(a).wide();
    (if x < 0 { !x } else { x }).checked_ilog2()
}

fn funnel(op: BitOp) -> Option<Scalar> {
    fn pair(low: u64, high: u64) -> u64 {
        high << 32 | low & 0xffff_ffff
    }
    in_table(
        op,
        &[
            (BitOp::ShfLeftClamp, |a, b, c| (u128::from(pair(a, b)) << (c as u32).min(32) >> 32) as u32 as u64),
            (BitOp::ShfLeftWrap, |a, b, c| pair(a, b) << (c & 31) >> 32),
            (BitOp::ShfRightClamp, |a, b, c| (pair(a, b) >> (c as u32).min(32)) & 0xffff_ffff),
            (BitOp::ShfRightWrap, |a, b, c| (pair(a, b) >> (c & 31)) & 0xffff_ffff),
        ],
    )
}

/// `bfi`: `b` with `len` bits from `start` replaced by the low bits of `a`; of `start` and `len` the low 8 bits count (of 64-bit
/// operands, more than 255 counts as 255, as measured on an H200). Of 32-bit operands if not `wide`, else of 64-bit ones.
pub fn bfi(wide: bool, a: u64, b: u64, start: u64, len: u64) -> u64 {
    let width = if wide { u64::MAX } else { 0xffff_ffff };
    let bits = if wide { 64 } else { 32 };
    let (start, len) = (amount(bits, start), amount(bits, len));
    let ones = u64::MAX.checked_shl(len).map_or(u64::MAX, |above| !above);
    let mask = ones.checked_shl(start).unwrap_or(0) & width;
    (b & width & !mask) | (a.checked_shl(start).unwrap_or(0) & mask)
}

/// `lop3`: bit `4a + 2b + c` of `table`, for each bit of the operands.
pub fn lop3(a: u64, b: u64, c: u64, table: u8) -> u64 {
    (0..8).filter(|row| table >> row & 1 != 0).fold(0, |result, row| {
        let select = |x: u64, bit: u32| if row >> bit & 1 != 0 { x } else { !x };
        result | (select(a, 2) & select(b, 1) & select(c, 0) & 0xffff_ffff)
    })
}

/// The modes of `prmt`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names of PTX")]
pub enum Permute {
    /// Four selectors of four bits each: the byte, and whether its sign is replicated.
    Index,
    F4e,
    B4e,
    Rc8,
    Ecl,
    Ecr,
    Rc16,
}

/// The function of `prmt`: four bytes of the register pair `b:a`, chosen by `c` (PTX ISA 9.7.9.7).
pub fn prmt(mode: Permute) -> Scalar {
    /// The bytes that each of four selectors takes, the lowest byte in the lowest digit.
    fn by_table(a: u64, b: u64, c: u64, table: [u64; 4]) -> u64 {
        select(a, b, table[c as usize & 3])
    }
    match mode {
        Permute::Index => select,
        Permute::F4e => |a, b, c| by_table(a, b, c, [0x3210, 0x4321, 0x5432, 0x6543]),
        Permute::B4e => |a, b, c| by_table(a, b, c, [0x5670, 0x6701, 0x7012, 0x0123]),
        Permute::Rc8 => |a, b, c| by_table(a, b, c, [0x0000, 0x1111, 0x2222, 0x3333]),
        Permute::Ecl => |a, b, c| by_table(a, b, c, [0x3210, 0x3211, 0x3222, 0x3333]),
        Permute::Ecr => |a, b, c| by_table(a, b, c, [0x0000, 0x1110, 0x2210, 0x3210]),
        Permute::Rc16 => |a, b, c| by_table(a, b, c, [0x1010, 0x3232, 0x1010, 0x3232]),
    }
}

fn select(a: u64, b: u64, selectors: u64) -> u64 {
    let bytes = b << 32 | a & 0xffff_ffff;
    (0..4).fold(0, |result, i| {
        let selector = selectors >> (4 * i);
        let byte = bytes >> (8 * (selector & 7)) & 0xff;
        let byte = if selector & 8 == 0 { byte } else { (byte >> 7) * 0xff };
        result | byte << (8 * i)
    })
}

/// A sum of 32- or 64-bit operands (`wide`) with a carry in, and the carry out.
pub fn add_carry(wide: bool, a: u64, b: u64, carry: bool) -> (u64, bool) {
    let width = if wide { 64 } else { 32 };
    let sum = u128::from(a) + u128::from(b) + u128::from(carry);
    ((sum & ((1 << width) - 1)) as u64, sum >> width != 0)
}

/// A difference of 32- or 64-bit operands (`wide`) with a borrow in, and the borrow out.
pub fn sub_borrow(wide: bool, a: u64, b: u64, borrow: bool) -> (u64, bool) {
    let width = if wide { 64 } else { 32 };
    let difference = i128::from(a) - i128::from(b) - i128::from(borrow);
    ((difference & ((1 << width) - 1)) as u64, difference < 0)
}
