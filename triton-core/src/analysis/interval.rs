//! Intervals: the range that every element of a tile lies in, as far as constants and `arange` tell; of pointers, which
//! parameter they are made from, and which bytes from it on they address.
//!
//! An interval holds in every iteration of a loop: what changes in one, and what is computed from `program_id`, has none.
//! Numbers are at least 0 and at most those of `i32`, and their types have 32 bits or more: nothing wraps.

use super::forward::{Analysis, forward};
use crate::entity::SideTable;
use crate::ir::{Function, InstData, Value};
use crate::ops::Op;
use crate::ops::kinds::BinaryKind;
use crate::types::Elem;

/// See the [module's page](self).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// The parameter that a pointer is made from; `None` of a number, and of a pointer that may come from several.
    base: Option<Value>,
    /// The first and the last number; of pointers the first byte, as an offset from the parameter, and the last element's.
    range: Option<(u64, u64)>,
}

impl Interval {
    /// Nothing is known.
    const UNKNOWN: Interval = Interval { base: None, range: None };

    fn number(first: i128, last: i128) -> Interval {
        let fits = (0..=i128::from(i32::MAX)).contains(&first) && (first..=i128::from(i32::MAX)).contains(&last);
        Interval { base: None, range: fits.then_some((first as u64, last as u64)) }
    }

    /// The parameter that a pointer is made from, if it is known.
    pub fn base(self) -> Option<Value> {
        self.base
    }

    /// The first and the last number; of pointers an offset in bytes.
    pub fn numbers(self) -> Option<(u64, u64)> {
        self.range
    }

    /// Whether accesses of this many bytes each, through pointers of these intervals, may have a byte in common. Pointers made from
    /// different parameters do not alias.
    pub fn may_alias(self, bytes: u32, other: Interval, others: u32) -> bool {
        let (Some(base), Some(other_base)) = (self.base, other.base) else { return true };
        let meet = |((first, last), (start, end)): ((u64, u64), (u64, u64))| {
            last + u64::from(bytes) > start && end + u64::from(others) > first
        };
        base == other_base && self.range.zip(other.range).is_none_or(meet)
    }
}

/// The interval of every value of a function.
pub fn analyse(func: &Function) -> SideTable<Value, Interval> {
    let mut intervals = SideTable::new(Interval::UNKNOWN);
    for param in &func.params {
        if let Elem::Ptr { .. } = func.ty(param.value).elem {
            intervals[param.value] = Interval { base: Some(param.value), range: Some((0, 0)) };
        }
    }
    forward(func, &Intervals { func }, intervals)
}

struct Intervals<'a> {
    func: &'a Function,
}

impl Analysis for Intervals<'_> {
    type Fact = Interval;

    fn join(a: Interval, b: Interval) -> Interval {
        Interval { base: a.base.filter(|_| a.base == b.base), range: a.range.filter(|_| a.range == b.range) }
    }

    fn counter(&self, _: Interval, _: Interval) -> Interval {
        Interval::UNKNOWN
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "of what other operations make, nothing is known")]
    fn transfer(&self, inst: &InstData, result: Value, intervals: &SideTable<Value, Interval>) -> Interval {
        let interval = match inst.op {
            Op::Const { value } => value.as_int().map_or(Interval::UNKNOWN, |int| Interval::number(int, int)),
            Op::ClusterRank {} => Interval::number(0, i128::from(self.func.cluster) - 1),
            Op::Arange { start, end } => Interval::number(start.into(), i128::from(end) - 1),
            Op::Splat { x, .. }
            | Op::Broadcast { x, .. }
            | Op::Reshape { x, .. }
            | Op::Permute { x, .. }
            | Op::Split { x, .. }
            | Op::Convert { x } => intervals[x],
            Op::Join { a, b } if intervals[a].base == intervals[b].base => {
                let range = intervals[a].range.zip(intervals[b].range).map(|(a, b)| (a.0.min(b.0), a.1.max(b.1)));
                Interval { range, ..intervals[a] }
            }
            Op::Offset { ptr, index } => {
                let Elem::Ptr { pointee, .. } = self.func.ty(ptr).elem else { return Interval::UNKNOWN };
                let scale = u64::from(pointee.bytes());
                let range = intervals[ptr].range.zip(intervals[index].range).and_then(|(ptr, index)| {
                    let last = ptr.1.checked_add(index.1 * scale).filter(|last| *last <= i64::MAX as u64)?;
                    Some((ptr.0 + index.0 * scale, last))
                });
                Interval { base: intervals[ptr].base, range }
            }
            Op::Binary { kind: BinaryKind::Add, a, b } => {
                both(intervals[a], intervals[b], |a, b| Interval::number(i128::from(a.0 + b.0), i128::from(a.1 + b.1)))
            }
            Op::Binary { kind: BinaryKind::Mul, a, b } => {
                both(intervals[a], intervals[b], |a, b| Interval::number(i128::from(a.0 * b.0), i128::from(a.1 * b.1)))
            }
            Op::Binary { kind: BinaryKind::And, a, b } => {
                both(intervals[a], intervals[b], |a, b| Interval::number(0, i128::from(a.1.min(b.1))))
            }
            _ => Interval::UNKNOWN,
        };
        // Narrower numbers may wrap.
        match self.func.ty(result).elem {
            Elem::Num(dtype) if dtype.bits() < 32 => Interval::UNKNOWN,
            Elem::Num(_) | Elem::Ptr { .. } => interval,
        }
    }
}

fn both(a: Interval, b: Interval, f: impl Fn((u64, u64), (u64, u64)) -> Interval) -> Interval {
    a.range.zip(b.range).map_or(Interval::UNKNOWN, |(a, b)| f(a, b))
}
