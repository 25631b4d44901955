//! Strides: the difference between neighbours along each dimension of a tile.
//!
//! Where pointers differ by one element along a dimension, lanes along it access neighbours in memory. [`super::axis`] says more
//! (runs, alignment), but of the last dimension alone; a column of a matrix runs along another one.
//!
//! A loop-carried value has the strides of its initial value, if it keeps them. A missing stride is one that is not
//! known, or that is not the same everywhere; but an index that wraps around keeps those which it has elsewhere. Strides say what is
//! likely and worth asking for, not what is true of every pair of neighbours: that is for [`super::axis`].

use super::defs::Defs;
use super::forward::{Analysis, forward};
use crate::entity::SideTable;
use crate::ir::{Function, Inst, InstData, Param, Value};
use crate::metadata::Promised;
use crate::ops::kinds::{BinaryKind, HintKind};
use crate::ops::{LayoutRule, Location, Op};
use crate::types::{DType, Elem, Shape};

/// Dimensions of a tile at most.
const RANK: usize = 5;

/// The difference between neighbours along each dimension; for pointers in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strides {
    along: [Option<i64>; RANK],
    /// The integer that every element is.
    constant: Option<i64>,
}

impl Strides {
    const UNKNOWN: Strides = Strides::of([None; RANK]);
    const UNIFORM: Strides = Strides::of([Some(0); RANK]);

    const fn of(along: [Option<i64>; RANK]) -> Strides {
        Strides { along, constant: None }
    }

    /// How much more each number is than the one before it along a dimension; modulo the width of its type.
    pub fn along(self, dimension: usize) -> Option<i64> {
        self.along.get(dimension).copied().flatten()
    }

    /// The dimension along which neighbours are one apart, the last one of several; `None` if none is known to be.
    pub fn contiguous(self, shape: Shape) -> Option<usize> {
        let dims = shape.dims();
        (0..dims.len()).rev().find(|&d| dims[d] > 1 && self.along[d] == Some(1))
    }

    fn both(self, other: Strides, f: impl Fn(i64, i64) -> Option<i64>) -> Strides {
        Strides::of(std::array::from_fn(|d| f(self.along[d]?, other.along[d]?)))
    }
}

/// The strides of the elements at a location: those of its pointers; of a view, 1 along its last axis if that may be promised.
pub fn of_location(func: &Function, strides: &SideTable<Value, Strides>, at: Location) -> Strides {
    match at {
        Location::Pointers { ptr, .. } => strides[ptr],
        Location::View { base, shape, .. } => {
            let unit = |stride: &Value| {
                func.params.iter().any(|param| param.value == *stride && param.promised == Promised::Unit)
            };
            let mut found = Strides::UNKNOWN;
            if func.view(base).and_then(|view| view.strides.last()).is_some_and(unit) {
                found.along[shape.rank() - 1] = Some(1);
            }
            found
        }
    }
}

/// The strides of every value.
pub fn analyse(func: &Function) -> SideTable<Value, Strides> {
    assuming_one(func, None)
}

/// The strides of every value if this parameter is 1.
fn assuming_one(func: &Function, one: Option<Value>) -> SideTable<Value, Strides> {
    let mut parameters = SideTable::new(Strides::UNIFORM);
    if let Some(param) = one {
        parameters[param] = Strides { constant: Some(1), ..Strides::UNIFORM };
    }
    forward(func, &Analyser { func }, parameters)
}

/// The integer parameters of which something may be promised.
fn integers(func: &Function) -> Vec<Value> {
    let is_int = |param: &&Param| {
        param.promised == Promised::Divisible && func.ty(param.value).elem.num().is_some_and(DType::is_int)
    };
    func.params.iter().filter(is_int).map(|param| param.value).collect()
}

/// The integer parameters that are strides along the last axis of pointers: if they are 1, that axis runs along memory.
pub fn unit_candidates(func: &Function) -> Vec<Value> {
    let pointers = || {
        let results = func.walk().into_iter().flat_map(|inst| func.insts[inst].results.iter().copied());
        results.filter(|&v| matches!(func.ty(v).elem, Elem::Ptr { .. }) && func.ty(v).shape != Shape::SCALAR)
    };
    let along_last = |strides: &SideTable<Value, Strides>, v: Value| {
        let shape = func.ty(v).shape;
        shape.dims().last() > Some(&1) && strides[v].along(shape.rank() - 1) == Some(1)
    };
    let params = integers(func);
    if params.is_empty() || pointers().next().is_none() {
        return Vec::new();
    }
    let known = analyse(func);
    let decides = |&param: &Value| {
        let strides = assuming_one(func, Some(param));
        // What runs along memory along another axis is turned.
        let is_open = |v: Value| known[v].contiguous(func.ty(v).shape).is_none();
        pointers().any(|v| along_last(&strides, v) && is_open(v))
    };
    params.into_iter().filter(decides).collect()
}

/// Of operands of products that are loaded through pointers, the parameter that is the stride along the last axis, one of `units`, and the one
/// along another axis: that is 1 where the operand is in column-major order.
pub fn column_major(func: &Function, units: &[Value]) -> Vec<[Value; 2]> {
    let operands = pointers_of_operands(func);
    if operands.is_empty() || units.is_empty() {
        return Vec::new();
    }
    let if_one: Vec<_> = integers(func).into_iter().map(|param| (param, assuming_one(func, Some(param)))).collect();
    let known = analyse(func);
    let is_open = |&ptr: &Value| known[ptr].contiguous(func.ty(ptr).shape).is_none();
    let mut found: Vec<[Value; 2]> = Vec::new();
    for ptr in operands.into_iter().filter(is_open) {
        let shape = func.ty(ptr).shape;
        let runs_along = |axis: usize| {
            move |(_, strides): &&(Value, SideTable<Value, Strides>)| {
                shape.dims()[axis] > 1 && strides[ptr].along(axis) == Some(1)
            }
        };
        let Some(last) = shape.rank().checked_sub(1) else { continue };
        let row = if_one.iter().filter(|(param, _)| units.contains(param)).find(runs_along(last));
        let others = || if_one.iter().filter(|(param, _)| !units.contains(param));
        let column = (0..last).find_map(|axis| others().find(runs_along(axis)));
        if let (Some(&(row, _)), Some(&(column, _))) = (row, column)
            && !found.iter().flatten().any(|&of| of == row || of == column)
        {
            found.push([row, column]);
        }
    }
    found
}

/// The pointers that operands of products are loaded through, be they converted, scaled or turned before they are multiplied.
fn pointers_of_operands(func: &Function) -> Vec<Value> {
    let defs = Defs::of(func);
    let operands = |inst: Inst| {
        let Op::Dot { a, b, .. } = func.insts[inst].op else { return [None; 2] };
        [Some(a), Some(b)]
    };
    let mut open: Vec<Value> = func.walk().into_iter().flat_map(operands).flatten().collect();
    let (mut seen, mut found) = (SideTable::new(false), Vec::new());
    while let Some(value) = open.pop() {
        if std::mem::replace(&mut seen[value], true) {
            continue;
        }
        let Some(op) = defs.op(func, value) else { continue };
        if let Op::Load { from: Location::Pointers { ptr, .. }, .. } = op {
            found.push(ptr);
        } else if op.layout_rule() == LayoutRule::Elementwise || op.shape_change().is_some() {
            op.for_each_operand(|operand| open.push(operand));
        }
    }
    found
}

struct Analyser<'a> {
    func: &'a Function,
}

impl Analysis for Analyser<'_> {
    type Fact = Strides;

    fn join(a: Strides, b: Strides) -> Strides {
        let constant = a.constant.filter(|_| a.constant == b.constant);
        Strides { constant, ..a.both(b, |a, b| (a == b).then_some(a)) }
    }

    fn counter(&self, _: Strides, _: Strides, _: Strides) -> Strides {
        Strides::UNIFORM
    }

    fn transfer(&self, inst: &InstData, result: Value, facts: &SideTable<Value, Strides>) -> Strides {
        let tile = self.func.ty(result).shape != Shape::SCALAR;
        let strides = if tile { self.strides(&inst.op, facts) } else { Strides::UNIFORM };
        Strides { constant: constant(&inst.op, facts), ..strides }
    }
}

/// The integer that every element of a result is.
fn constant(op: &Op, facts: &SideTable<Value, Strides>) -> Option<i64> {
    if let Op::Const { value } = *op {
        return value.as_int().and_then(|int| i64::try_from(int).ok());
    }
    // Other operations on constants are folded before.
    let (Op::Splat { x, .. }
    | Op::Broadcast { x, .. }
    | Op::Reshape { x, .. }
    | Op::Split { x, .. }
    | Op::Cast { x, .. }) = *op
    else {
        return None;
    };
    facts[x].constant
}

impl Analyser<'_> {
    #[expect(clippy::wildcard_enum_match_arm, reason = "of what is not computed from indices, nothing is known")]
    fn strides(&self, op: &Op, facts: &SideTable<Value, Strides>) -> Strides {
        let of = |v: Value| facts[v];
        match *op {
            Op::Arange { .. } => Strides::of([Some(1), None, None, None, None]),
            Op::Splat { .. } => Strides::UNIFORM,
            Op::Cast { x, .. } => of(x),
            Op::Broadcast { x, shape } => {
                let from = self.func.ty(x).shape;
                let missing = shape.rank() - from.rank();
                let stride = |d: usize| match d.checked_sub(missing) {
                    Some(own) if from.dims().get(own).is_some_and(|&extent| extent > 1) => of(x).along[own],
                    Some(_) | None => Some(0),
                };
                Strides::of(std::array::from_fn(stride))
            }
            // Axes of one element come and go.
            Op::Reshape { x, shape } => {
                let long = |shape: Shape| (0..shape.rank()).filter(move |&d| shape.dims()[d] > 1).collect::<Vec<_>>();
                let extents = |shape: Shape| shape.dims().iter().copied().filter(|&n| n > 1).collect::<Vec<_>>();
                let from = self.func.ty(x).shape;
                if extents(from) != extents(shape) {
                    return if of(x).along == Strides::UNIFORM.along { Strides::UNIFORM } else { Strides::UNKNOWN };
                }
                let mut strides = Strides::UNIFORM;
                long(from).into_iter().zip(long(shape)).for_each(|(old, new)| strides.along[new] = of(x).along[old]);
                strides
            }
            Op::Permute { x, order } => {
                let axis = |d: usize| order.dims().get(d).map_or(d, |&axis| axis as usize);
                Strides::of(std::array::from_fn(|d| of(x).along[axis(d)]))
            }
            // The axis that pairs are along comes last: of a split nothing asks for it.
            Op::Join { a, b } => {
                let mut strides = of(a).both(of(b), |s, t| (s == t).then_some(s));
                let apart = of(a).constant.zip(of(b).constant).and_then(|(a, b)| b.checked_sub(a));
                strides.along[self.func.ty(a).shape.rank()] = apart;
                strides
            }
            Op::Split { x, .. } => Strides::of(of(x).along),
            Op::Offset { ptr: a, index: b } | Op::Binary { kind: BinaryKind::Add, a, b } => {
                of(a).both(of(b), i64::checked_add)
            }
            Op::Binary { kind: BinaryKind::Sub, a, b } => of(a).both(of(b), i64::checked_sub),
            Op::Binary { kind: BinaryKind::Mul, a, b } => match (of(a).constant, of(b).constant) {
                (Some(c), _) => of(b).both(of(b), |s, _| s.checked_mul(c)),
                (_, Some(c)) => of(a).both(of(a), |s, _| s.checked_mul(c)),
                // Along a dimension in which neither changes.
                (None, None) => of(a).both(of(b), |s, t| (s == 0 && t == 0).then_some(0)),
            },
            Op::Binary { kind: BinaryKind::Rem, a, b } if of(b).along == Strides::UNIFORM.along => {
                Strides::of(of(a).along)
            }
            Op::Hint { kind, x, along } => {
                let promised = match kind {
                    HintKind::MultipleOf => return Strides::of(of(x).along),
                    HintKind::MaxContiguous => 1,
                    HintKind::MaxConstancy => 0,
                };
                let is_promised = |d: usize| along.dims().get(d).is_some_and(|&run| run > 1);
                Strides::of(std::array::from_fn(|d| if is_promised(d) { Some(promised) } else { of(x).along[d] }))
            }
            Op::Binary { a, b, .. } | Op::Compare { a, b, .. } => {
                of(a).both(of(b), |s, t| (s == 0 && t == 0).then_some(0))
            }
            _ => Strides::UNKNOWN,
        }
    }
}
