//! Intervals: the range that every element of a tile lies in, as far as constants and `arange` tell; of pointers, which
//! bytes from a parameter on they address.
//!
//! An interval holds in every iteration of a loop: what is carried, and what is computed from `program_id`, has none.
//! Numbers are at least 0 and at most those of `i32`, and their types have 32 bits or more: nothing wraps.

use crate::entity::SideTable;
use crate::ir::{Function, Value};
use crate::ops::Op;
use crate::ops::kinds::BinaryKind;
use crate::types::Elem;

/// See the [module's page](self).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// The parameter that a pointer is made from; `None` of a number.
    base: Option<Value>,
    /// The first number, or the first byte as an offset from the parameter.
    first: u64,
    /// The last number, or the last element's first byte.
    last: u64,
}

impl Interval {
    fn number(first: i128, last: i128) -> Option<Interval> {
        let fits = (0..=i128::from(i32::MAX)).contains(&first) && (first..=i128::from(i32::MAX)).contains(&last);
        fits.then_some(Interval { base: None, first: first as u64, last: last as u64 })
    }

    /// Whether accesses of this many bytes each, through pointers of these intervals, have no byte in common.
    pub fn disjoint(self, bytes: u32, other: Interval, others: u32) -> bool {
        let (a, b) = (self.last + u64::from(bytes), other.last + u64::from(others));
        self.base.is_some() && self.base == other.base && (a <= other.first || b <= self.first)
    }
}

/// The interval of every value of a function that has one.
#[expect(clippy::wildcard_enum_match_arm, reason = "of what other operations make, nothing is known")]
pub fn analyse(func: &Function) -> SideTable<Value, Option<Interval>> {
    let mut intervals = SideTable::new(None);
    for param in &func.params {
        if let Elem::Ptr { .. } = func.ty(param.value).elem {
            intervals[param.value] = Some(Interval { base: Some(param.value), first: 0, last: 0 });
        }
    }
    for inst in func.walk() {
        let data = &func.insts[inst];
        let &[result] = &data.results[..] else { continue };
        intervals[result] = match data.op {
            Op::Const { value } => value.as_int().and_then(|int| Interval::number(int, int)),
            Op::Arange { start, end } => Interval::number(start.into(), i128::from(end) - 1),
            Op::Splat { x, .. }
            | Op::Broadcast { x, .. }
            | Op::Reshape { x, .. }
            | Op::Permute { x, .. }
            | Op::Convert { x } => intervals[x],
            Op::Offset { ptr, index } => {
                let Elem::Ptr { pointee, .. } = func.ty(ptr).elem else { continue };
                let scale = u64::from(pointee.bytes());
                intervals[ptr].zip(intervals[index]).and_then(|(ptr, index)| {
                    let last = ptr.last.checked_add(index.last * scale).filter(|last| *last <= i64::MAX as u64)?;
                    Some(Interval { first: ptr.first + index.first * scale, last, ..ptr })
                })
            }
            Op::Binary { kind, a, b } => intervals[a].zip(intervals[b]).and_then(|(a, b)| binary(kind, a, b)),
            _ => None,
        };
        // Narrower numbers may wrap.
        if let Elem::Num(dtype) = func.ty(result).elem
            && dtype.bits() < 32
        {
            intervals[result] = None;
        }
    }
    intervals
}

#[expect(clippy::wildcard_enum_match_arm, reason = "of what other operations make, nothing is known")]
fn binary(kind: BinaryKind, a: Interval, b: Interval) -> Option<Interval> {
    match kind {
        BinaryKind::Add => Interval::number(i128::from(a.first + b.first), i128::from(a.last + b.last)),
        BinaryKind::And => Interval::number(0, i128::from(a.last.min(b.last))),
        _ => None,
    }
}
