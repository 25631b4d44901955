//! Intervals: the range that every element of a tile lies in, as far as constants and `arange` tell, and for a [`Launch`] its
//! arguments and its grid; of pointers, which parameter they are made from, and which bytes from it on they address.
//!
//! An interval holds in every iteration of a loop: what a loop carries has none. Numbers are at least 0 and at most those of
//! `i32`, and their types have 32 bits or more: nothing wraps.

use crate::entity::SideTable;
use crate::forward::{Analysis, forward};
use crate::ir::{Function, InstData, Value};
use crate::metadata::Arg;
use crate::ops::kinds::BinaryKind;
use crate::ops::{GridAxis, Op};
use crate::types::{Constant, DType, Elem, Shape};

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

/// What a launch knows beside the code.
#[derive(Clone, Copy, Debug)]
pub struct Launch<'a> {
    /// The values of the parameters, in their order.
    pub args: &'a [Arg],
    /// The programs along each axis.
    pub programs: [u32; 3],
}

/// The interval of every value of a function, whatever its arguments.
pub fn analyse(func: &Function) -> SideTable<Value, Interval> {
    analyse_launch(func, None)
}

/// The interval of every value of a function in all programs of a launch.
fn analyse_launch(func: &Function, launch: Option<Launch<'_>>) -> SideTable<Value, Interval> {
    let mut intervals = SideTable::new(Interval::UNKNOWN);
    for (index, param) in func.params.iter().enumerate() {
        match func.ty(param.value).elem {
            Elem::Ptr { .. } => {
                intervals[param.value] = Interval { base: Some(param.value), range: Some((0, 0)) };
            }
            Elem::Num(dtype) => {
                let bits = launch.and_then(|launch| launch.args.get(index)).map(|arg| arg.bits());
                let number = bits.and_then(|bits| Constant { dtype, bits }.as_int());
                let number = number.filter(|_| is_wide(dtype));
                intervals[param.value] = number.map_or(Interval::UNKNOWN, |n| Interval::number(n, n));
            }
        }
    }
    forward(func, &Intervals { func, launch }, intervals)
}

/// Whether no signed remainder of tiles that a launch computes has a negative dividend: what code with
/// [`Image::assumes_dividends`](crate::metadata::Image::assumes_dividends) takes for granted.
pub fn keeps_dividends(func: &Function, launch: Launch<'_>) -> bool {
    let intervals = analyse_launch(func, Some(launch));
    func.walk().into_iter().all(|inst| match signed_remainder(func, &func.insts[inst]) {
        Some(dividend) => intervals[dividend].range.is_some(),
        None => true,
    })
}

/// The dividend of an operation that is a remainder of tiles of signed integers.
pub fn signed_remainder(func: &Function, data: &InstData) -> Option<Value> {
    let Op::Binary { kind: BinaryKind::Rem, a, .. } = data.op else { return None };
    let is_signed = func.ty(a).elem.num().is_some_and(DType::is_signed);
    (is_signed && func.ty(a).shape != Shape::SCALAR).then_some(a)
}

/// Whether numbers of a type have 32 bits or more.
fn is_wide(dtype: DType) -> bool {
    dtype.is_int() && dtype.bits() >= 32
}

struct Intervals<'a> {
    func: &'a Function,
    launch: Option<Launch<'a>>,
}

impl Analysis for Intervals<'_> {
    type Fact = Interval;

    fn join(a: Interval, b: Interval) -> Interval {
        Interval { base: a.base.filter(|_| a.base == b.base), range: a.range.filter(|_| a.range == b.range) }
    }

    fn counter(&self, start: Interval, end: Interval, _: Interval) -> Interval {
        // A loop without iterations: any interval holds.
        let counted = |start: (u64, u64), end: (u64, u64)| {
            Interval::number(start.0.into(), i128::from(end.1.max(start.0 + 1)) - 1)
        };
        if self.launch.is_some() { both(start, end, counted) } else { Interval::UNKNOWN }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "of what other operations make, nothing is known")]
    fn transfer(&self, inst: &InstData, result: Value, intervals: &SideTable<Value, Interval>) -> Interval {
        let interval = match inst.op {
            Op::Const { value } => value.as_int().map_or(Interval::UNKNOWN, |int| Interval::number(int, int)),
            Op::ProgramId { axis } => {
                self.programs(axis).map_or(Interval::UNKNOWN, |n| Interval::number(0, i128::from(n.max(1)) - 1))
            }
            Op::NumPrograms { axis } => {
                self.programs(axis).map_or(Interval::UNKNOWN, |n| Interval::number(n.into(), n.into()))
            }
            Op::ClusterRank {} => Interval::number(0, i128::from(self.func.cluster) - 1),
            Op::Arange { start, end } => Interval::number(start.into(), i128::from(end) - 1),
            Op::Splat { x, .. }
            | Op::Broadcast { x, .. }
            | Op::Reshape { x, .. }
            | Op::Permute { x, .. }
            | Op::Split { x, .. }
            | Op::Hint { x, .. }
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
            Op::Binary { kind: BinaryKind::Sub, a, b } => both(intervals[a], intervals[b], |a, b| {
                Interval::number(i128::from(a.0) - i128::from(b.1), i128::from(a.1) - i128::from(b.0))
            }),
            Op::Binary { kind: BinaryKind::Div, a, b } => both(intervals[a], intervals[b], |a, b| match b.0 {
                0 => Interval::number(0, a.1.into()),
                least => Interval::number((a.0 / b.1).into(), (a.1 / least).into()),
            }),
            // A remainder has the sign of its dividend, and is no larger.
            Op::Binary { kind: BinaryKind::Rem, a, b } => match (intervals[a].range, intervals[b].range) {
                (Some(a), Some((_, most))) if most > 0 => Interval::number(0, a.1.min(most - 1).into()),
                (Some(a), _) => Interval::number(0, a.1.into()),
                (None, _) => Interval::UNKNOWN,
            },
            Op::Binary { kind: BinaryKind::Min, a, b } => {
                both(intervals[a], intervals[b], |a, b| Interval::number(a.0.min(b.0).into(), a.1.min(b.1).into()))
            }
            Op::Binary { kind: BinaryKind::Max, a, b } => {
                both(intervals[a], intervals[b], |a, b| Interval::number(a.0.max(b.0).into(), a.1.max(b.1).into()))
            }
            Op::Cast { x, .. } if self.func.ty(x).elem.num().is_some_and(is_wide) => intervals[x],
            Op::Binary { kind: BinaryKind::And, a, b } => {
                both(intervals[a], intervals[b], |a, b| Interval::number(0, i128::from(a.1.min(b.1))))
            }
            _ => Interval::UNKNOWN,
        };
        // Narrower numbers may wrap.
        match self.func.ty(result).elem {
            Elem::Num(dtype) if !is_wide(dtype) => Interval::UNKNOWN,
            Elem::Num(_) | Elem::Ptr { .. } => interval,
        }
    }
}

impl Intervals<'_> {
    /// The programs of the launch along an axis.
    fn programs(&self, axis: GridAxis) -> Option<u32> {
        self.launch?.programs.get(usize::from(axis.0)).copied()
    }
}

fn both(a: Interval, b: Interval, f: impl Fn((u64, u64), (u64, u64)) -> Interval) -> Interval {
    a.range.zip(b.range).map_or(Interval::UNKNOWN, |(a, b)| f(a, b))
}
