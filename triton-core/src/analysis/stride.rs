//! Strides: the difference between neighbours along each dimension of a tile.
//!
//! Where pointers differ by one element along a dimension, lanes along it access neighbours in memory. [`super::axis`] says more
//! (runs, alignment), but of the last dimension alone; a column of a matrix runs along another one.
//!
//! A loop-carried value has the strides of its initial value, if it keeps them. A missing stride is one that is not
//! known, or that is not the same everywhere.

use crate::entity::SideTable;
use crate::ir::{Block, Function, InstData, Param, Promised, Value};
use crate::ops::Op;
use crate::ops::kinds::BinaryKind;
use crate::types::{DType, Elem, Shape};

/// Dimensions of a tile at most.
const RANK: usize = 5;

/// The difference between neighbours along each dimension; for pointers in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strides([Option<i64>; RANK]);

impl Strides {
    const UNKNOWN: Strides = Strides([None; RANK]);
    const SAME: Strides = Strides([Some(0); RANK]);

    /// How much more each number is than the one before it along a dimension; modulo the width of its type.
    pub fn along(self, dimension: usize) -> Option<i64> {
        self.0.get(dimension).copied().flatten()
    }

    /// The dimension along which neighbours are one apart, the last one of several; `None` if none is known to be.
    pub fn contiguous(self, shape: Shape) -> Option<usize> {
        let dims = shape.dims();
        (0..dims.len()).rev().find(|&d| dims[d] > 1 && self.0[d] == Some(1))
    }

    fn both(self, other: Strides, f: impl Fn(i64, i64) -> Option<i64>) -> Strides {
        Strides(std::array::from_fn(|d| f(self.0[d]?, other.0[d]?)))
    }

    fn join(self, other: Strides) -> Strides {
        self.both(other, |a, b| (a == b).then_some(a))
    }
}

/// The strides of every value.
pub fn analyse(func: &Function) -> SideTable<Value, Strides> {
    assuming_one(func, None)
}

/// The strides of every value if this parameter is 1.
fn assuming_one(func: &Function, one: Option<Value>) -> SideTable<Value, Strides> {
    let mut analysis = Analysis { func, strides: SideTable::new(Strides::SAME), constants: SideTable::new(None) };
    if let Some(param) = one {
        analysis.constants[param] = Some(1);
    }
    analysis.block(func.body);
    analysis.strides
}

/// The integer parameters that are strides along the last axis of pointers: if they are 1, that axis runs along memory.
pub fn unit_candidates(func: &Function) -> Vec<Value> {
    let is_int = |param: &&Param| {
        param.promised == Promised::Divisible && func.ty(param.value).elem.num().is_some_and(DType::is_int)
    };
    let pointers = || {
        let results = func.walk().into_iter().flat_map(|inst| func.insts[inst].results.iter().copied());
        results.filter(|&v| matches!(func.ty(v).elem, Elem::Ptr { .. }) && func.ty(v).shape != Shape::SCALAR)
    };
    let along_last = |strides: &SideTable<Value, Strides>, v: Value| {
        let shape = func.ty(v).shape;
        shape.dims().last() > Some(&1) && strides[v].along(shape.rank() - 1) == Some(1)
    };
    let params: Vec<Value> = func.params.iter().filter(is_int).map(|param| param.value).collect();
    if params.is_empty() || pointers().next().is_none() {
        return Vec::new();
    }
    let known = analyse(func);
    let decides = |&param: &Value| {
        let strides = assuming_one(func, Some(param));
        pointers().any(|v| along_last(&strides, v) && !along_last(&known, v))
    };
    params.into_iter().filter(decides).collect()
}

struct Analysis<'a> {
    func: &'a Function,
    strides: SideTable<Value, Strides>,
    /// A uniform value.
    constants: SideTable<Value, Option<i64>>,
}

impl Analysis<'_> {
    #[expect(clippy::wildcard_enum_match_arm, reason = "what owns no blocks has a transfer function")]
    fn block(&mut self, block: Block) {
        let func = self.func;
        for (_, inst) in func.block(block) {
            match inst.op {
                Op::For { .. } => self.carry(inst, &[Strides::SAME]),
                Op::While {} => self.carry(inst, &[]),
                Op::If { .. } => {
                    inst.regions.iter().for_each(|&region| self.block(region));
                    for (i, &result) in inst.results.iter().enumerate() {
                        let branches = inst.regions.iter().filter_map(|&r| func.yielded(r).get(i));
                        let joined = branches.map(|&v| self.strides[v]).reduce(Strides::join);
                        self.strides[result] = joined.unwrap_or(Strides::UNKNOWN);
                    }
                }
                op => {
                    let strides = self.transfer(&op);
                    for &result in inst.results.iter().filter(|&&v| func.ty(v).shape != Shape::SCALAR) {
                        self.strides[result] = strides;
                    }
                    self.constant(inst);
                }
            }
        }
    }

    fn carry(&mut self, inst: &InstData, own: &[Strides]) {
        let func = self.func;
        let mut carried: Vec<Strides> = inst.args.iter().map(|&v| self.strides[v]).collect();
        loop {
            for &region in &inst.regions {
                let given = own.iter().chain(&carried);
                let params = func.blocks[region].params.iter().zip(given);
                params.for_each(|(&param, &strides)| self.strides[param] = strides);
                self.block(region);
            }
            let last = inst.regions.last().map_or(&[][..], |&region| func.yielded(region));
            let next: Vec<Strides> = carried.iter().zip(last).map(|(s, &v)| s.join(self.strides[v])).collect();
            if next == carried {
                break;
            }
            carried = next;
        }
        inst.results.iter().zip(carried).for_each(|(&result, strides)| self.strides[result] = strides);
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "other numbers are not constant, or folded before")]
    fn constant(&mut self, inst: &InstData) {
        let constant = match inst.op {
            Op::Const { value } => value.as_int().and_then(|int| i64::try_from(int).ok()),
            Op::Splat { x, .. } | Op::Broadcast { x, .. } | Op::Reshape { x, .. } | Op::Cast { x, .. } => {
                self.constants[x]
            }
            _ => None,
        };
        inst.results.iter().for_each(|&result| self.constants[result] = constant);
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "of what is not computed from indices, nothing is known")]
    fn transfer(&self, op: &Op) -> Strides {
        let of = |v: Value| self.strides[v];
        match *op {
            Op::Arange { .. } => Strides([Some(1), None, None, None, None]),
            Op::Splat { .. } => Strides::SAME,
            Op::Cast { x, .. } => of(x),
            Op::Broadcast { x, shape } => {
                let from = self.func.ty(x).shape;
                let missing = shape.rank() - from.rank();
                let stride = |d: usize| match d.checked_sub(missing) {
                    Some(own) if from.dims().get(own).is_some_and(|&extent| extent > 1) => of(x).0[own],
                    Some(_) | None => Some(0),
                };
                Strides(std::array::from_fn(stride))
            }
            // Axes of one element come and go.
            Op::Reshape { x, shape } => {
                let long = |shape: Shape| (0..shape.rank()).filter(move |&d| shape.dims()[d] > 1).collect::<Vec<_>>();
                let extents = |shape: Shape| shape.dims().iter().copied().filter(|&n| n > 1).collect::<Vec<_>>();
                let from = self.func.ty(x).shape;
                if extents(from) != extents(shape) {
                    return if of(x) == Strides::SAME { Strides::SAME } else { Strides::UNKNOWN };
                }
                let mut strides = Strides::SAME;
                long(from).into_iter().zip(long(shape)).for_each(|(old, new)| strides.0[new] = of(x).0[old]);
                strides
            }
            Op::Permute { x, order } => {
                let axis = |d: usize| order.dims().get(d).map_or(d, |&axis| axis as usize);
                Strides(std::array::from_fn(|d| of(x).0[axis(d)]))
            }
            Op::Offset { ptr: a, index: b } | Op::Binary { kind: BinaryKind::Add, a, b } => {
                of(a).both(of(b), i64::checked_add)
            }
            Op::Binary { kind: BinaryKind::Sub, a, b } => of(a).both(of(b), i64::checked_sub),
            Op::Binary { kind: BinaryKind::Mul, a, b } => match (self.constants[a], self.constants[b]) {
                (Some(c), _) => of(b).both(of(b), |s, _| s.checked_mul(c)),
                (_, Some(c)) => of(a).both(of(a), |s, _| s.checked_mul(c)),
                // Along a dimension in which neither changes.
                (None, None) => of(a).both(of(b), |s, t| (s == 0 && t == 0).then_some(0)),
            },
            Op::Binary { a, b, .. } | Op::Compare { a, b, .. } => {
                of(a).both(of(b), |s, t| (s == 0 && t == 0).then_some(0))
            }
            _ => Strides::UNKNOWN,
        }
    }
}
