//! Axis facts: how the elements of a tile vary along its last dimension.
//!
//! For every value three powers of two and, if known, the one number it is everywhere:
//! - *contiguity*: runs of that many neighbours count up by one, modulo 2³² or the width of a narrower type (a run may pass the
//!   end of its integer type, but only at a number that every power of two divides: one that is aligned to its length does not);
//! - *divisibility*: the first number of every such run is divisible by this (for pointers: the address in bytes);
//! - *constancy*: aligned runs of that many neighbours are equal;
//! - *prefix* (of a mask): in aligned runs of that many neighbours none that is false comes before one that is true.
//!
//! They are seeded by the specialization of the parameters and justify vector width and the cost of masks. The lattice
//! is Triton's `AxisInfo` (Tillet 2020, §5.2.1 calls it alignment analysis), kept for the fastest dimension, which is
//! the one that vectors run along. A missing fact is 1: the analysis is conservative.

use super::forward::{Analysis, forward};
use super::interval;
use crate::entity::SideTable;
use crate::ir::{Function, InstData, Value, View};
use crate::metadata::{Promise, Specialization, TargetInfo};
use crate::ops::kinds::{AtomicKind, BinaryKind, CompareKind, HintKind};
use crate::ops::{Location, MemoryOrder, Op};
use crate::types::{Constant, DType, Elem, Shape, Type};

/// The largest divisibility that is tracked; 0 is divisible by it.
const MAX_DIVISIBILITY: u64 = 1 << 40;

/// Bytes of the widest access of a thread.
const WIDEST: u64 = 16;

/// Facts about one value. See the [module's page](self).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AxisInfo {
    /// Length of the runs that count up by one.
    pub contiguity: u64,
    /// Divides the first number of every such run.
    pub divisibility: u64,
    /// Length of the runs of equal numbers.
    pub constancy: u64,
    /// Length of the runs in which what is true comes first.
    pub prefix: u64,
    /// The integer that every element is.
    pub constant: Option<i128>,
}

impl AxisInfo {
    /// Nothing is known.
    pub const UNKNOWN: AxisInfo = AxisInfo { contiguity: 1, divisibility: 1, constancy: 1, prefix: 1, constant: None };

    /// The join: what holds of a value that is one of two.
    fn join(self, other: AxisInfo) -> AxisInfo {
        let length = self.contiguity.min(other.contiguity);
        AxisInfo {
            contiguity: length,
            divisibility: self.cut(length).divisibility.min(other.cut(length).divisibility),
            constancy: self.constancy.min(other.constancy),
            prefix: self.prefixes().min(other.prefixes()),
            constant: self.constant.filter(|c| other.constant == Some(*c)),
        }
    }

    /// Runs no longer than this.
    fn cut(self, length: u64) -> AxisInfo {
        let contiguity = self.contiguity.min(length);
        // A run that is cut starts within an old one.
        let divisibility =
            if self.contiguity > contiguity { self.divisibility.min(contiguity) } else { self.divisibility };
        let (constancy, prefix) = (self.constancy.min(length), self.prefix.min(length));
        AxisInfo { contiguity, divisibility, constancy, prefix, constant: self.constant }
    }

    /// Equal neighbours are a prefix, too: all of them, or none.
    pub fn prefixes(self) -> u64 {
        self.prefix.max(self.constancy)
    }

    fn scalar(divisibility: u64, constant: Option<i128>) -> AxisInfo {
        AxisInfo { divisibility, constant, ..AxisInfo::UNKNOWN }
    }
}

/// The facts of every value of a function, under a specialization beside the parameters' own `multiple_of`.
pub fn analyse(func: &Function, promise: Specialization) -> SideTable<Value, AxisInfo> {
    let mut facts = SideTable::new(AxisInfo::UNKNOWN);
    for param in &func.params {
        let elem = func.ty(param.value).elem;
        let natural = match elem {
            Elem::Ptr { pointee, .. } => pointee.bytes(),
            Elem::Num(_) => 1,
        };
        let known = |multiple: u32| pow2_of(multiple.into());
        facts[param.value] = match param.promised.under(promise, elem) {
            Promise::One => AxisInfo::scalar(1, Some(1)),
            Promise::Multiple(n) => AxisInfo::scalar(known(param.multiple_of).max(known(natural)).max(known(n)), None),
        };
    }
    forward(func, &Axes { func, assumes: assumes(promise) }, facts)
}

/// Whether code for a specialization takes for granted that no dividend of a remainder of tiles is negative. A launch proves it from its
/// arguments and its grid ([`interval::keeps_dividends`]), or takes other code.
fn assumes(promise: Specialization) -> bool {
    promise > Specialization::Generic
}

/// Whether code of a function for a specialization depends on that: runs survive a remainder of signed integers.
pub fn assumes_dividends(func: &Function, promise: Specialization) -> bool {
    let remainders = || func.walk().into_iter().map(|inst| &func.insts[inst]);
    let mut remainders = remainders().filter(|data| interval::signed_remainder(func, data).is_some()).peekable();
    if !assumes(promise) || remainders.peek().is_none() {
        return false;
    }
    let facts = analyse(func, promise);
    remainders.any(|data| data.results.iter().any(|&v| facts[v].contiguity > 1))
}

struct Axes<'a> {
    func: &'a Function,
    /// As of [`assumes`].
    assumes: bool,
}

impl Analysis for Axes<'_> {
    type Fact = AxisInfo;

    fn join(a: AxisInfo, b: AxisInfo) -> AxisInfo {
        a.join(b)
    }

    /// `start + k · step`: whatever divides both.
    fn counter(&self, start: AxisInfo, _: AxisInfo, step: AxisInfo) -> AxisInfo {
        AxisInfo::scalar(start.divisibility.min(step.divisibility), None)
    }

    fn transfer(&self, inst: &InstData, result: Value, facts: &SideTable<Value, AxisInfo>) -> AxisInfo {
        let ty = self.func.ty(result);
        let mut fact = self.of(&inst.op, ty, facts);
        if let (Some(constant), Elem::Num(dtype)) = (fact.constant, ty.elem) {
            fact.constant = Constant::int(dtype, constant).as_int();
        }
        fact
    }
}

/// Consecutive elements that one access through these pointers may cover: contiguous and aligned to their joint size.
pub fn access_width(axis: AxisInfo, pointee_bytes: u64) -> u64 {
    // Facts about pointers count neighbours in elements and divisibility in bytes.
    axis.contiguity.min((axis.divisibility / pointee_bytes).max(1))
}

/// Elements at a location that one access of a thread may cover: contiguous, and aligned to their joint size. The mask and the
/// extents do not count ([`is_cut`]).
pub fn vector_width(func: &Function, facts: &SideTable<Value, AxisInfo>, at: Location) -> u64 {
    let Some(pointee) = func.pointee(at) else { return 1 };
    let bytes = u64::from(pointee.bytes());
    let axis = match at {
        Location::Pointers { ptr, .. } => facts[ptr],
        Location::View { base, at, shape } => {
            let Some(View { strides, .. }) = func.view(base) else { return 1 };
            let last = shape.rank() - 1;
            if facts[strides[last]].constant != Some(1) {
                return 1;
            }
            let step = |axis: usize| match shape.dims()[axis] {
                _ if axis == last => facts[at.as_slice()[axis]].divisibility,
                1 => facts[at.as_slice()[axis]].divisibility.saturating_mul(facts[strides[axis]].divisibility),
                _ => facts[strides[axis]].divisibility,
            };
            let divisibility =
                (0..=last).map(|axis| step(axis).saturating_mul(bytes)).fold(facts[base].divisibility, u64::min);
            AxisInfo { contiguity: shape.base().dims()[last].into(), divisibility, ..AxisInfo::UNKNOWN }
        }
    };
    access_width(axis, bytes).min(widest(pointee))
}

/// Elements of the widest access of a thread.
pub fn widest(pointee: DType) -> u64 {
    WIDEST / u64::from(pointee.bytes())
}

/// Whether a vector of this many elements at a location may be accessed in part: its mask, or the end of the view, may be inside it.
pub fn is_cut(func: &Function, facts: &SideTable<Value, AxisInfo>, at: Location, width: u64) -> bool {
    match at {
        Location::Pointers { mask, .. } => mask.is_some_and(|mask| facts[mask].constancy < width),
        // It begins at a multiple of its length, so that it is before or behind 0.
        Location::View { base, at, .. } => {
            let extent = func.view(base).and_then(|view| view.extents.last());
            let divisible = |v: Option<&Value>| v.is_some_and(|&v| facts[v].divisibility >= width);
            width > 1 && !(divisible(extent) && divisible(at.as_slice().last()))
        }
    }
}

/// Elements that one instruction of an atomic update may cover, of which each is updated by itself: neighbours, as by [`vector_width`],
/// where they are all updated or none. Only additions that nothing orders and whose old values are not asked for take several.
pub fn update_width(
    func: &Function,
    facts: &SideTable<Value, AxisInfo>,
    target: &TargetInfo,
    (op, is_used): (&Op, bool),
) -> u64 {
    let &Op::Atomic { kind: AtomicKind::Add, order: MemoryOrder::Relaxed, to, .. } = op else { return 1 };
    let Some(dtype) = func.pointee(to).filter(|_| !is_used) else { return 1 };
    let has_vectors = target.vector_updates && matches!(dtype, DType::F16 | DType::BF16 | DType::F32);
    let most = if has_vectors { WIDEST / u64::from(dtype.bytes()) } else { 1 + u64::from(dtype == DType::F16) };
    let mut width = vector_width(func, facts, to).min(most);
    while is_cut(func, facts, to, width) {
        width /= 2;
    }
    width
}

impl Axes<'_> {
    #[expect(clippy::wildcard_enum_match_arm, reason = "of what is not computed from facts, nothing is known")]
    fn of(&self, op: &Op, ty: Type, facts: &SideTable<Value, AxisInfo>) -> AxisInfo {
        let func = self.func;
        // Runs are of powers of two.
        let along = |shape: Shape| u64::from(shape.base().dims().last().copied().unwrap_or(1));
        let extent = along(ty.shape);
        match *op {
            Op::Const { value } => constant(value),
            Op::Arange { start, .. } => {
                let single = ty.shape.num_copies() == 1;
                let divisibility = pow2_of(start.into()).min(if single { MAX_DIVISIBILITY } else { extent });
                AxisInfo { contiguity: extent, divisibility, ..AxisInfo::UNKNOWN }
            }
            Op::Splat { x, .. } => AxisInfo { constancy: extent, ..facts[x] },
            Op::Broadcast { x, .. } => {
                let from = func.ty(x).shape;
                let replicated = from.dims().last() == Some(&1) || from == Shape::SCALAR;
                if replicated { AxisInfo { contiguity: 1, constancy: extent, prefix: 1, ..facts[x] } } else { facts[x] }
            }
            Op::Reshape { x, .. } => {
                let old = along(func.ty(x).shape);
                facts[x].cut(if extent >= old { old } else { extent })
            }
            Op::Permute { x, order } => {
                let last = order.dims().last().copied().unwrap_or(0) as usize;
                if last + 1 == order.rank() { facts[x] } else { facts[x].cut(1) }
            }
            // Peers are of both operands, or were two apart.
            Op::Join { a, b } => facts[a].cut(1).join(facts[b].cut(1)),
            Op::Split { x, .. } => facts[x].cut(1),
            Op::Convert { x } => facts[x],
            Op::Cast { x, to } => match func.ty(x).elem.num() {
                // A wider integer is the same number, one of another sign the same modulo 2³²; a narrower one wraps.
                Some(from) if from.is_int() && to.is_int() && to.bits() >= from.bits() => facts[x],
                Some(_) | None => AxisInfo { contiguity: 1, divisibility: 1, constant: None, ..facts[x] },
            },
            Op::Offset { ptr, index } => {
                let Elem::Ptr { pointee, .. } = ty.elem else { return AxisInfo::UNKNOWN };
                add(facts[ptr], facts[index], u64::from(pointee.bytes()))
            }
            Op::Binary { kind, a, b } if ty.elem.num().is_some_and(|d| d.is_int()) => {
                let is_signed = ty.elem.num().is_some_and(|d| d.is_signed());
                // Below zero a remainder is that of another rule; a launch may promise that there is none.
                let is_signed = is_signed && !(kind == BinaryKind::Rem && self.assumes);
                binary(kind, is_signed, facts[a], facts[b])
            }
            Op::Compare { kind, a, b } if func.ty(a).elem.num().is_some_and(|d| d.is_int()) => {
                let (constancy, prefix) = compare(kind, facts[a], facts[b]);
                AxisInfo { constancy, prefix, ..AxisInfo::UNKNOWN }
            }
            Op::Binary { kind, a, b } => {
                // Of two prefixes, one is within the other.
                let prefix = match kind {
                    BinaryKind::And | BinaryKind::Or => facts[a].prefixes().min(facts[b].prefixes()),
                    BinaryKind::Add
                    | BinaryKind::Sub
                    | BinaryKind::Mul
                    | BinaryKind::MulHi
                    | BinaryKind::Div
                    | BinaryKind::Rem
                    | BinaryKind::Min
                    | BinaryKind::Max
                    | BinaryKind::Xor
                    | BinaryKind::Shl
                    | BinaryKind::Shr => 1,
                };
                AxisInfo { constancy: both_constant(facts[a], facts[b]), prefix, ..AxisInfo::UNKNOWN }
            }
            Op::Compare { a, b, .. } => AxisInfo { constancy: both_constant(facts[a], facts[b]), ..AxisInfo::UNKNOWN },
            Op::Select { cond, a, b } => {
                let constancy = both_constant(facts[a], facts[b]).min(facts[cond].constancy);
                AxisInfo { constancy, ..AxisInfo::UNKNOWN }
            }
            Op::Hint { kind, x, along } => {
                let promised = along.dims().last().map_or(1, |&promised| pow2_of(promised.into()));
                hint(kind, promised, (kind.unit(ty.elem).into(), extent), facts[x])
            }
            Op::Unary { x, .. } | Op::Bitcast { x, .. } => {
                AxisInfo { constancy: facts[x].constancy, ..AxisInfo::UNKNOWN }
            }
            _ => AxisInfo::UNKNOWN,
        }
    }
}

fn constant(value: Constant) -> AxisInfo {
    match value.as_int() {
        Some(int) => AxisInfo::scalar(pow2_of(int), Some(int)),
        None => AxisInfo::UNKNOWN,
    }
}

/// What holds of a value beside its own facts if a user's promise does, along a last axis of this extent.
fn hint(kind: HintKind, promised: u64, (unit, extent): (u64, u64), x: AxisInfo) -> AxisInfo {
    match kind {
        // It speaks of groups that count up or are equal.
        HintKind::MultipleOf if (promised / unit).max(1).min(extent) <= x.contiguity.max(x.constancy) => {
            AxisInfo { divisibility: x.divisibility.max(promised), ..x }
        }
        HintKind::MultipleOf => x,
        HintKind::MaxContiguous => {
            let contiguity = x.contiguity.max(promised.min(extent));
            AxisInfo { contiguity, ..x }
        }
        HintKind::MaxConstancy => AxisInfo { constancy: x.constancy.max(promised.min(extent)), ..x },
    }
}

fn both_constant(a: AxisInfo, b: AxisInfo) -> u64 {
    a.constancy.min(b.constancy)
}

/// a + b · scale, where the facts of `a` count its steps in units of `scale`.
fn add(a: AxisInfo, b: AxisInfo, scale: u64) -> AxisInfo {
    // A run survives where the other side is constant.
    let contiguity = a.contiguity.min(b.constancy).max(a.constancy.min(b.contiguity));
    let constancy = both_constant(a, b);
    // The first number of a run is the sum of two numbers, each within a run of its own: it starts one of `a`'s and one
    // of `b`'s runs only if those are no longer than the common one.
    let first = |x: AxisInfo, unit: u64| {
        if x.contiguity > contiguity { x.divisibility.min(contiguity * unit) } else { x.divisibility }
    };
    let divisibility = first(a, scale).min(first(b, 1).saturating_mul(scale)).min(MAX_DIVISIBILITY);
    let constant = a.constant.zip(b.constant).map(|(a, b)| a.wrapping_add(b.wrapping_mul(scale.into())));
    AxisInfo { contiguity, divisibility, constancy, prefix: 1, constant }
}

fn binary(kind: BinaryKind, signed: bool, a: AxisInfo, b: AxisInfo) -> AxisInfo {
    let constancy = both_constant(a, b);
    let known = AxisInfo { constancy, ..AxisInfo::UNKNOWN };
    // A number inside a run is `first + k`, so only where runs have length 1 does divisibility speak of every element.
    let every = |x: AxisInfo| if x.contiguity == 1 { x.divisibility } else { 1 };
    match kind {
        BinaryKind::Add => add(a, b, 1),
        BinaryKind::Sub => {
            let sum = add(a, b, 1);
            // x − b counts down where b counts up.
            let contiguity = a.contiguity.min(b.constancy);
            let divisibility = if contiguity == sum.contiguity { sum.divisibility } else { every(a).min(every(b)) };
            AxisInfo { contiguity, divisibility, constant: a.constant.zip(b.constant).map(|(a, b)| a - b), ..sum }
        }
        BinaryKind::Mul => match (a.constant, b.constant) {
            (_, Some(1)) => a,
            (Some(1), _) => b,
            (x, y) => AxisInfo {
                divisibility: every(a).saturating_mul(every(b)).min(MAX_DIVISIBILITY),
                constant: x.zip(y).and_then(|(x, y)| x.checked_mul(y)),
                ..known
            },
        },
        // The low bits that are 0 on one side are 0 in the result.
        BinaryKind::And => AxisInfo { divisibility: every(a).max(every(b)), ..known },
        BinaryKind::Or | BinaryKind::Xor => AxisInfo { divisibility: every(a).min(every(b)), ..known },
        BinaryKind::Min | BinaryKind::Max => AxisInfo { divisibility: every(a).min(every(b)), ..known },
        BinaryKind::Shl => match b.constant {
            Some(k @ 0..=40) => {
                AxisInfo { divisibility: every(a).saturating_mul(1 << k).min(MAX_DIVISIBILITY), ..known }
            }
            Some(_) | None => AxisInfo { divisibility: every(a), ..known },
        },
        BinaryKind::Div => match b.constant {
            // Peers of an aligned run share a quotient as long as the run does not pass a multiple of the divisor.
            // Below zero the quotient is rounded up, and -4 / 4 has no neighbour.
            Some(d) if d > 0 && !signed => {
                AxisInfo { constancy: constancy.max(a.contiguity.min(a.divisibility).min(pow2_of(d))), ..known }
            }
            Some(_) | None => known,
        },
        // Peers of an aligned run keep their distance as long as the run does not pass a multiple of the divisor.
        BinaryKind::Rem if !signed => {
            let run = a.contiguity.min(a.divisibility).min(every(b)).min(b.constancy);
            AxisInfo { contiguity: run, divisibility: a.cut(run).divisibility.min(every(b)), ..known }
        }
        // Below zero -8 % 8 is 0, and its neighbour -7.
        BinaryKind::Rem => AxisInfo { divisibility: every(a).min(every(b)), ..known },
        BinaryKind::MulHi | BinaryKind::Shr => known,
    }
}

/// How long neighbours agree on the comparison of two integers, and how long those for which it holds come first.
fn compare(kind: CompareKind, a: AxisInfo, b: AxisInfo) -> (u64, u64) {
    let constancy = both_constant(a, b);
    // A run that starts at a multiple of its length neither wraps nor passes 0: what is below `n` comes first.
    let ascending =
        |counting: AxisInfo, still: AxisInfo| counting.contiguity.min(still.constancy).min(counting.divisibility);
    // `i < n`: nor does it cross an `n` that is divisible by its length.
    let run = |counting: AxisInfo, still: AxisInfo| {
        counting.contiguity.min(still.constancy).min(counting.divisibility).min(still.divisibility)
    };
    match kind {
        CompareKind::Lt => (constancy.max(run(a, b)), ascending(a, b)),
        CompareKind::Le => (constancy.max(run(b, a)), ascending(a, b)),
        CompareKind::Gt => (constancy.max(run(b, a)), ascending(b, a)),
        CompareKind::Ge => (constancy.max(run(a, b)), ascending(b, a)),
        CompareKind::Eq | CompareKind::Ne => (constancy, 1),
    }
}

/// The largest power of two that divides `x`.
fn pow2_of(x: i128) -> u64 {
    if x == 0 { MAX_DIVISIBILITY } else { MAX_DIVISIBILITY.min(1 << x.trailing_zeros().min(40)) }
}
