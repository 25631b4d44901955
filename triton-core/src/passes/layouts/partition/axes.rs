//! Which values have an axis that is divided among blocks.

use crate::analysis::interval;
use crate::entity::SideTable;
use crate::ir::{Block, Function, Inst, InstData, Value};
use crate::ops::{AccessEffect, FoldKind, LayoutRule, Location, Memory, MemoryOrder, Op, ShapeChange};
use crate::ops::{ring_ops, shared_ops, synchronizes};
use crate::types::{DType, Shape};

/// The axis, as far as each value has it.
pub(super) struct Axes {
    /// Its extent.
    pub extent: u32,
    /// Of each value, which of its axes it is.
    pub of: SideTable<Value, Option<usize>>,
}

/// An axis of a value.
type Along = (Value, usize);

impl Axes {
    /// Of the longest axis that is reduced; `None` if there is none, or an operation needs elements along it that are not one block's.
    pub fn of_rows(func: &Function) -> Option<Axes> {
        let reduced = |(_, data): (Inst, &InstData)| {
            let Op::Fold { kind: FoldKind::Reduce, axis, .. } = data.op else { return None };
            let along = (*data.args.first()?, axis as usize);
            Some((*func.ty(along.0).shape.dims().get(along.1)?, along))
        };
        let reduced: Vec<(u32, Along)> = func.block(func.body).filter_map(reduced).collect();
        let extent = reduced.iter().map(|&(extent, _)| extent).max()?;
        // Every other reduction along as long an axis is of rows, too.
        let seeds: Vec<Along> =
            reduced.into_iter().filter(|&(other, _)| other == extent).map(|(_, along)| along).collect();
        Axes::spread(func, func.body, &seeds, None)
    }

    /// From some values on, in one block of the function; `around` is the one instruction of it that may have regions.
    pub fn spread(func: &Function, block: Block, seeds: &[Along], around: Option<Inst>) -> Option<Axes> {
        let &(value, axis) = seeds.first()?;
        let mut axes = Axes { extent: *func.ty(value).shape.dims().get(axis)?, of: SideTable::new(None) };
        seeds.iter().try_for_each(|&along| axes.mark(along))?;
        loop {
            let mut changed = false;
            for (_, data) in func.block(block) {
                for group in links(func, data) {
                    if group.iter().any(|&(v, axis)| axes.of[v] == Some(axis)) {
                        for along in group {
                            changed |= axes.of[along.0].is_none();
                            axes.mark(along)?;
                        }
                    }
                }
            }
            if !changed {
                break;
            }
        }
        func.block(block).all(|(inst, data)| Some(inst) == around || axes.divides(func, data)).then_some(axes)
    }

    /// `None` if the value has the axis twice.
    fn mark(&mut self, (value, axis): Along) -> Option<()> {
        match self.of[value].replace(axis) {
            Some(other) if other != axis => None,
            Some(_) | None => Some(()),
        }
    }

    /// Whether an instruction is one that blocks can do, each on its segment.
    fn divides(&self, func: &Function, data: &InstData) -> bool {
        let mut along = data.results.iter().any(|&v| self.of[v].is_some());
        data.for_each_operand(|v| along |= self.of[v].is_some());
        match data.op {
            Op::Fold { kind, axis, .. } => {
                let combined = data.args.iter().any(|&v| self.of[v] == Some(axis as usize));
                // A message is of 32 bits or more.
                let wide = |&v: &Value| func.ty(v).elem.num().is_some_and(|d| d != DType::Bool && d.bits() >= 32);
                !combined || kind == FoldKind::Reduce && data.results.iter().all(wide)
            }
            // Other blocks would do it once more; and what it orders are the accesses of its own block.
            Op::Atomic { order, .. } | Op::AtomicCas { order, .. } => along && order == MemoryOrder::Relaxed,
            Op::Fence {} => false,
            Op::Print { .. } => false,
            Op::Reshape { .. } | Op::Broadcast { .. } | Op::Permute { .. } => !along || !self.is_cut(func, data),
            // Its sum is of the block's part along K.
            Op::Dot { a, b, acc, .. } => {
                let last = func.ty(a).shape.rank().saturating_sub(1);
                self.of[a] == Some(last) && self.of[b] == last.checked_sub(1) && self.of[acc].is_none()
            }
            Op::For { .. } | Op::While {} | Op::If { .. } => false,
            Op::Join { .. } | Op::Split { .. } => !along,
            // Of each element by itself.
            Op::Const { .. }
            | Op::Outer { .. }
            | Op::ProgramId { .. }
            | Op::NumPrograms { .. }
            | Op::Arange { .. }
            | Op::Splat { .. }
            | Op::Cast { .. }
            | Op::Bitcast { .. }
            | Op::Select { .. }
            | Op::Offset { .. }
            | Op::Load { .. }
            | Op::Store { .. }
            | Op::Assert { .. }
            | Op::Yield { .. }
            | Op::Unary { .. }
            | Op::Binary { .. }
            | Op::Compare { .. }
            | Op::Ternary { .. }
            | Op::Hint { .. } => true,
            // Not at stage 0, or of a cluster already.
            Op::ClusterRank { .. }
            | Op::ClusterGather { .. }
            | Op::ClusterScatter { .. }
            | Op::Convert { .. }
            | Op::BlockId { .. }
            | Op::NumBlocks { .. }
            | shared_ops!()
            | synchronizes!()
            | ring_ops!() => false,
        }
    }

    /// Whether a change of shape takes the axis apart, so that its operand has it and its result has not.
    fn is_cut(&self, func: &Function, data: &InstData) -> bool {
        let (Some((x, change)), &[result]) = (data.op.shape_change(), &data.results[..]) else { return true };
        let broadcast = matches!(change, ShapeChange::Broadcast(_)) && self.of[x].is_none();
        !broadcast
            && !links(func, data)
                .iter()
                .any(|group| group.iter().all(|&(v, axis)| self.of[v] == Some(axis)) && group.len() == 2)
            && (self.of[x].is_some() || self.of[result].is_some())
    }
}

/// Axes of values that an instruction makes the same.
fn links(func: &Function, data: &InstData) -> Vec<Vec<Along>> {
    let dims = |v: Value| func.ty(v).shape;
    if let Op::Fold { kind, axis, .. } = data.op {
        let axis = axis as usize;
        let rank = data.args.first().map_or(0, |&v| dims(v).rank());
        let of = |d: usize| {
            let args = data.args.iter().map(|&v| (v, d));
            let results = data.results.iter().filter_map(|&v| match kind {
                FoldKind::Reduce if d == axis => None,
                FoldKind::Reduce => Some((v, d - usize::from(d > axis))),
                FoldKind::Scan | FoldKind::ScanReverse => Some((v, d)),
            });
            args.chain(results).collect()
        };
        return (0..rank).map(of).collect();
    }
    let Some(&result) = data.results.first().or(data.accessed_tile().as_ref()) else { return Vec::new() };
    let shape = dims(result);
    if let Some((x, change)) = data.op.shape_change() {
        let pairs: Vec<(usize, usize)> = match change {
            ShapeChange::Permute(order) => {
                order.dims().iter().enumerate().map(|(to, &from)| (from as usize, to)).collect()
            }
            ShapeChange::Broadcast(to) => {
                let missing = to.rank().saturating_sub(dims(x).rank());
                let kept = |from: &usize| dims(x).dims()[*from] == to.dims()[from + missing];
                (0..dims(x).rank()).filter(kept).map(|from| (from, from + missing)).collect()
            }
            ShapeChange::Reshape(to) => unit_axes(dims(x), to),
        };
        return pairs.into_iter().map(|(from, to)| vec![(x, from), (result, to)]).collect();
    }
    match data.op.layout_rule() {
        LayoutRule::Elementwise => {
            let mut tiles: Vec<Value> = data.results.clone();
            data.for_each_operand(|v| tiles.push(v));
            tiles.retain(|&v| dims(v) == shape && shape != Shape::SCALAR);
            (0..shape.rank()).map(|axis| tiles.iter().map(|&v| (v, axis)).collect()).collect()
        }
        LayoutRule::Unconstrained | LayoutRule::ShapeChange | LayoutRule::Own | LayoutRule::Carried => Vec::new(),
    }
}

/// The axes of two shapes that differ by axes of one element.
fn unit_axes(from: Shape, to: Shape) -> Vec<(usize, usize)> {
    let long = |shape: Shape| -> Vec<(usize, u32)> {
        shape.dims().iter().copied().enumerate().filter(|&(_, extent)| extent > 1).collect()
    };
    let (from, to) = (long(from), long(to));
    let same = from.iter().map(|&(_, extent)| extent).eq(to.iter().map(|&(_, extent)| extent));
    if same { from.into_iter().zip(to).map(|((from, _), (to, _))| (from, to)).collect() } else { Vec::new() }
}

/// Whether a program may load what it has stored, which may be another block's.
pub(super) fn reads_what_it_writes(func: &Function) -> bool {
    let intervals = interval::analyse(func);
    let base = |at: Location| match at {
        Location::View { base, .. } => Some(base),
        Location::Pointers { ptr, .. } => intervals[ptr].base(),
    };
    let accesses: Vec<_> = func.walk().iter().filter_map(|&inst| func.insts[inst].op.access()).collect();
    let of = |is_read: bool| {
        let accesses = accesses.iter().filter(move |access| (access.effect == AccessEffect::Read) == is_read);
        accesses.filter_map(|access| match access.memory {
            Memory::Global(at) => Some(base(at)),
            Memory::Shared(_) => None,
        })
    };
    of(true).any(|read| of(false).any(|written| read.is_none() || written.is_none() || read == written))
}
