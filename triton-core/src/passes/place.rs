//! Layout placement, stage 0 → 1: which thread's register holds which element.
//!
//! *Before:* tiles without layouts. *After:* every tile has one; equal layouts meet in every elementwise operation; where a
//! value arrives in another layout than is needed, a `convert` stands; the order in which reductions fold is written down.
//! Memory is accessed by neighbouring lanes at neighbouring addresses, up to 16 bytes a thread at once.
//!
//! The labelling, in the order of the program:
//! - *Accesses* are the anchors: all accesses of one shape use one layout, with the widest vector that any of
//!   them allows. An access allows as many elements as its addresses are contiguous and aligned for, and 16 bytes hold
//!   ([`vector`]), but no more than leave every thread one. Where a shape is reduced along its last axis and has a row for
//!   every warp, a warp keeps to its rows, so that the reduction stays in it.
//! - *Free values* (constants, ranges, splats, and what elementwise operations and broadcasts make of only those: all index
//!   arithmetic and masks) have no layout of their own. They are computed anew in whichever layout a user needs, where the
//!   original stood.
//! - Everything else takes the layout in which its operands arrive: an elementwise operation that of its first operand, a
//!   reduction the slice of it, a permutation the permuted one. What a loop carries has the layout of what it yields.
//!
//! A conversion, like a copy of a free value, stands where the value is defined, outside of the loops that use it.

use crate::analysis::axis::{self, Axis};
use crate::entity::SideTable;
use crate::ir::types::{Elem, Shape};
use crate::ir::{Block, Function, Inst, InstData, Stage, Value};
use crate::layout::Layout;
use crate::ops::{BitOrder, DotKind, Op};
use crate::passes::products::Products;
use crate::record::Promise;
use crate::span::Span;
use std::collections::{BTreeMap, HashMap};

/// Bytes of the widest access of a thread.
const WIDEST: u64 = 16;

/// See the [module's page](self).
///
/// # Errors
/// A reduction that no layout allows: a mistake of this pass.
pub fn place(func: &mut Function, promise: Promise) -> Result<(), String> {
    let facts = axis::analyse(func, promise);
    let anchors = Anchors::of(func, &facts);
    let free = free_values(func);
    func.stage = Stage::Laid;
    let mut source = SideTable::new(None);
    for inst in func.walk() {
        func.insts[inst].results.iter().for_each(|&result| source[result] = Some(inst));
    }
    let mut placer = Placer {
        anchors,
        products: Products { num_warps: func.num_warps },
        source,
        func,
        free,
        open: Vec::new(),
        made: HashMap::new(),
        definition: SideTable::new(None),
    };
    let body = placer.func.body;
    placer.block(body)
}

/// The layout of each shape's accesses.
struct Anchors {
    vectors: BTreeMap<Shape, u32>,
    rows_apart: Vec<Shape>,
    num_warps: u32,
}

impl Anchors {
    fn of(func: &Function, facts: &SideTable<Value, Axis>) -> Anchors {
        let mut anchors = Anchors { vectors: BTreeMap::new(), rows_apart: Vec::new(), num_warps: func.num_warps };
        for inst in func.walk() {
            let data = &func.insts[inst];
            if let Some((ptr, _)) = access(&data.op) {
                let best = anchors.vectors.entry(func.ty(ptr).shape).or_insert(1);
                *best = (*best).max(vector(func, facts, ptr) as u32);
            }
            if let Op::Reduce { axis, .. } = data.op {
                let shape = func.ty(data.args[0]).shape;
                let rows = shape.elements() / u64::from(shape.dims().last().copied().unwrap_or(1));
                if axis as usize + 1 == shape.rank() && rows >= u64::from(func.num_warps) {
                    anchors.rows_apart.push(shape);
                }
            }
        }
        anchors
    }

    fn layout(&self, shape: Shape) -> Layout {
        let elements = shape.elements() as u32;
        // Idle threads would cost more than narrower accesses do.
        let share = (elements / (32 * self.num_warps)).max(1);
        let vector = self.vectors.get(&shape).map_or(1, |&v| share.min(v));
        if !self.rows_apart.contains(&shape) {
            return Layout::coalesced(elements, vector, self.num_warps);
        }
        let fastest_last: Vec<usize> = (0..shape.rank()).rev().collect();
        let warps_along: Vec<usize> = (0..shape.rank()).rev().skip(1).collect();
        Layout::blocked(shape, &fastest_last, vector, self.num_warps, &warps_along)
    }
}

struct Placer<'a> {
    func: &'a mut Function,
    anchors: Anchors,
    products: Products,
    /// The instruction that yields each value.
    source: SideTable<Value, Option<Inst>>,
    free: SideTable<Value, bool>,
    /// The blocks around the walk, outermost first, with the instructions they have so far.
    open: Vec<(Block, Vec<Inst>)>,
    /// Values in a layout: copies of free values, and conversions. They stand where the original does, so they hold
    /// wherever it does.
    made: HashMap<(Value, Layout), Value>,
    /// The instruction that defines a free value, and how many blocks were open there.
    definition: SideTable<Value, Option<(Inst, usize)>>,
}

impl Placer<'_> {
    fn block(&mut self, block: Block) -> Result<(), String> {
        self.block_then(block, |_| Ok(()))
    }

    /// A block, with something more at its end.
    fn block_then(&mut self, block: Block, end: impl FnOnce(&mut Self) -> Result<(), String>) -> Result<(), String> {
        let insts = std::mem::take(&mut self.func.blocks[block].insts);
        self.open.push((block, Vec::new()));
        for inst in insts {
            let depth = self.open.len() - 1;
            let results = self.func.insts[inst].results.clone();
            if results.first().is_some_and(|&v| self.free[v] && self.is_tile(v)) {
                self.definition[results[0]] = Some((inst, depth));
                continue;
            }
            self.instruction(inst)?;
            for &result in &results {
                self.definition[result] = Some((inst, depth));
            }
            self.push(inst);
        }
        end(self)?;
        if let Some((block, insts)) = self.open.pop() {
            self.func.blocks[block].insts = insts;
        }
        Ok(())
    }

    fn push(&mut self, inst: Inst) {
        if let Some((_, insts)) = self.open.last_mut() {
            insts.push(inst);
        }
    }

    fn is_tile(&self, value: Value) -> bool {
        self.func.ty(value).shape != Shape::SCALAR
    }

    fn default(&self, value: Value) -> Layout {
        self.anchors.layout(self.func.ty(value).shape)
    }

    /// The layout a value has, or the one it is given if it is free.
    fn own(&self, value: Value) -> Layout {
        self.func.layout(value).cloned().unwrap_or_else(|| self.default(value))
    }

    /// The layout in which operands of one shape meet: that of the first that is not free.
    fn meeting(&self, operands: &[Value]) -> Option<Layout> {
        let tiles = || operands.iter().copied().filter(|&v| self.is_tile(v));
        tiles().find(|&v| !self.free[v]).or(tiles().next()).map(|v| self.own(v))
    }

    /// A tile with no more elements than there are threads has nothing to gain from wide accesses: it is stored from
    /// where it is.
    fn store_layout(&self, ptr: Value, value: Value) -> Layout {
        let small = self.func.ty(ptr).shape.elements() <= u64::from(32 * self.func.num_warps);
        if small && !self.free[value] { self.own(value) } else { self.default(ptr) }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "the table says how layouts meet in what is left")]
    fn instruction(&mut self, inst: Inst) -> Result<(), String> {
        let data = self.func.insts[inst].clone();
        match data.op {
            Op::For { .. } | Op::While {} | Op::If { .. } => return self.control(inst, &data),
            Op::Reduce { axis, .. } => return self.reduce(inst, &data, axis as usize),
            Op::Dot { a, b, acc, .. } => return self.dot(inst, [a, b, acc]),
            // The operation around the block says in which layouts.
            Op::Yield {} => return Ok(()),
            _ => {}
        }
        let mut operands = Vec::new();
        data.op.for_each_operand(|v| operands.push(v));
        let result = data.results.first().copied();
        let layout = match data.op {
            Op::Store { ptr, value, .. } if self.is_tile(ptr) => Some(self.store_layout(ptr, value)),
            Op::Load { ptr, .. } if self.is_tile(ptr) => Some(self.default(ptr)),
            // Each element in one thread, if there are as many as threads.
            Op::Atomic { ptr, .. } | Op::AtomicCas { ptr, .. } if self.is_tile(ptr) => Some(self.default(ptr)),
            Op::Load { .. } | Op::Store { .. } | Op::Atomic { .. } | Op::AtomicCas { .. } => None,
            Op::Reshape { x, .. } if self.is_tile(x) => Some(self.own(x)),
            Op::Permute { x, order } => {
                let perm: Vec<usize> = order.dims().iter().map(|&d| d as usize).collect();
                self.own(x).trans(self.func.ty(x).shape, &perm)
            }
            Op::Broadcast { .. } | Op::Splat { .. } | Op::Reshape { .. } => result.map(|v| self.default(v)),
            _ => self.meeting(&operands),
        };
        let Some(layout) = layout else { return Ok(()) };
        if let Some(result) = result.filter(|&v| self.is_tile(v)) {
            self.func.set_layout(result, layout.clone());
        }
        self.demand(inst, &layout)
    }

    /// Replaces the operands of an instruction by themselves in the layouts that its result (or the access) needs.
    fn demand(&mut self, inst: Inst, layout: &Layout) -> Result<(), String> {
        let data = self.func.insts[inst].clone();
        let mut needed = Vec::new();
        data.op.for_each_operand(|v| needed.push((v, self.needed(&data, v, layout))));
        let mut replaced = HashMap::new();
        for (value, layout) in needed {
            if let Some(layout) = layout {
                replaced.insert(value, self.get(value, &layout)?);
            }
        }
        self.func.insts[inst].op.map_operands(|v| replaced.get(&v).copied().unwrap_or(v));
        Ok(())
    }

    /// The layout in which an operand has to arrive for a result in `layout`; `None` for scalars.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the table says how layouts meet in what is left")]
    fn needed(&self, data: &InstData, operand: Value, layout: &Layout) -> Option<Layout> {
        if !self.is_tile(operand) {
            return None;
        }
        let from = self.func.ty(operand).shape;
        match data.op {
            Op::Broadcast { shape, .. } => slice(layout, from, shape),
            Op::Permute { order, .. } => {
                let mut inverse = vec![0; order.rank()];
                order.dims().iter().enumerate().for_each(|(i, &axis)| inverse[axis as usize] = i);
                layout.trans(from.permute(order)?, &inverse)
            }
            _ => Some(layout.clone()),
        }
    }

    /// A value in a layout.
    fn get(&mut self, value: Value, layout: &Layout) -> Result<Value, String> {
        if !self.is_tile(value) || self.func.layout(value) == Some(layout) {
            return Ok(value);
        }
        if let Some(&made) = self.made.get(&(value, layout.clone())) {
            return Ok(made);
        }
        let (definition, depth) = match self.definition[value] {
            Some((inst, depth)) => (Some(inst), depth),
            None => (None, self.open.len() - 1),
        };
        let span = definition.map_or(Span::NONE, |inst| self.func.insts[inst].span);
        let made = match definition.filter(|_| self.free[value]) {
            Some(original) => {
                let copy = self.func.insts[original].clone();
                let result = self.func.types.push(self.func.ty(value));
                let inst = self.func.insts.push(InstData { results: vec![result], ..copy });
                self.func.set_layout(result, layout.clone());
                self.demand(inst, layout)?;
                self.open[depth].1.push(inst);
                result
            }
            None => {
                let inst = self.func.make(Op::Convert { x: value }, span)?;
                let result = self.func.insts[inst].results[0];
                self.func.set_layout(result, layout.clone());
                self.open[depth].1.push(inst);
                result
            }
        };
        self.made.insert((value, layout.clone()), made);
        Ok(made)
    }

    /// Tiles among the arguments of an instruction, in the given layouts.
    fn arguments(&mut self, inst: Inst, layouts: &[Option<Layout>]) -> Result<(), String> {
        for (i, layout) in layouts.iter().enumerate() {
            if let Some(layout) = layout {
                let value = self.func.insts[inst].args[i];
                let value = self.get(value, layout)?;
                self.func.insts[inst].args[i] = value;
            }
        }
        Ok(())
    }

    fn dot(&mut self, inst: Inst, [a, b, acc]: [Value; 3]) -> Result<(), String> {
        let product = self.products.of(self.func, a, acc);
        let [left, right, sum] = product.layouts(self.func, [a, b, acc], || self.own(acc))?;
        let (a, b, acc) = (self.get(a, &left)?, self.get(b, &right)?, self.get(acc, &sum)?);
        self.func.insts[inst].op = Op::Dot { kind: product.kind(), a, b, acc };
        let result = self.func.insts[inst].results[0];
        self.func.set_layout(result, sum);
        Ok(())
    }

    /// The layout that a value will have because a matrix product ends there; what is computed from a sum keeps its layout.
    #[expect(clippy::wildcard_enum_match_arm, reason = "nothing else is computed from a sum element by element")]
    fn sum_layout(&self, value: Value, depth: usize) -> Option<Layout> {
        let data = &self.func.insts[self.source[value].filter(|_| depth < 8)?];
        match data.op {
            Op::Dot { a, acc, b, .. } => {
                let product = self.products.of(self.func, a, acc);
                if product.kind() == DotKind::Fma {
                    return None;
                }
                product.layouts(self.func, [a, b, acc], || self.default(acc)).ok().map(|[_, _, sum]| sum)
            }
            Op::Unary { x, .. } | Op::Cast { x, .. } => self.sum_layout(x, depth + 1),
            Op::Binary { a, b, .. } => self.sum_layout(a, depth + 1).or_else(|| self.sum_layout(b, depth + 1)),
            Op::Ternary { a, b, c, .. } => [a, b, c].into_iter().find_map(|v| self.sum_layout(v, depth + 1)),
            Op::Select { a, b, .. } => self.sum_layout(a, depth + 1).or_else(|| self.sum_layout(b, depth + 1)),
            Op::For { .. } | Op::While {} | Op::If { .. } => {
                let index = data.results.iter().position(|&v| v == value)?;
                let last = *data.regions.last()?;
                self.sum_layout(*self.func.yielded(last).get(index)?, depth + 1)
            }
            _ => None,
        }
    }

    fn reduce(&mut self, inst: Inst, data: &InstData, axis: usize) -> Result<(), String> {
        let shape = self.func.ty(data.args[0]).shape;
        let mut layout = self.meeting(&data.args).ok_or("a reduction of scalars")?;
        let order = match fold_order(&layout, shape, axis) {
            Some(order) => order,
            None => {
                layout = self.anchors.layout(shape);
                fold_order(&layout, shape, axis).ok_or("no order for a reduction")?
            }
        };
        self.arguments(inst, &vec![Some(layout.clone()); data.args.len()])?;
        self.func.insts[inst].op = Op::Reduce { axis: axis as i32, order };
        let sliced = layout.slice_axis(shape, axis).ok_or("a reduction along no axis")?;
        for &result in &data.results {
            if self.is_tile(result) {
                self.func.set_layout(result, sliced.clone());
            }
        }
        Ok(())
    }

    /// Loops and branches: what is carried has one layout from beginning to end.
    fn control(&mut self, inst: Inst, data: &InstData) -> Result<(), String> {
        let scalars = matches!(data.op, Op::If { .. });
        let layouts: Vec<Option<Layout>> = (0..data.results.len())
            .map(|i| {
                let result = data.results[i];
                let init = data.args.get(i).copied().filter(|&v| !scalars && !self.free[v]);
                let other = || init.map_or_else(|| self.default(result), |v| self.own(v));
                self.is_tile(result).then(|| self.sum_layout(result, 0).unwrap_or_else(other))
            })
            .collect();
        self.arguments(inst, &layouts[..data.args.len()])?;
        for (&result, layout) in data.results.iter().zip(&layouts) {
            if let Some(layout) = layout {
                self.func.set_layout(result, layout.clone());
            }
        }
        for (k, &region) in data.regions.iter().enumerate() {
            let params = self.func.blocks[region].params.clone();
            let own = params.len() - data.args.len();
            for (&param, layout) in params[own..].iter().zip(&layouts) {
                if let Some(layout) = layout {
                    self.func.set_layout(param, layout.clone());
                }
            }
            // Parameters are defined inside.
            let depth = self.open.len();
            for &param in &params {
                self.definition[param] = Some((inst, depth));
            }
            let is_condition = data.op == (Op::While {}) && k == 0;
            self.region(region, if is_condition { &[] } else { &layouts })?;
        }
        Ok(())
    }

    /// A block that yields values in these layouts.
    fn region(&mut self, block: Block, layouts: &[Option<Layout>]) -> Result<(), String> {
        let insts = self.func.blocks[block].insts.clone();
        let Some((&last, before)) = insts.split_last() else { return Ok(()) };
        self.func.blocks[block].insts = before.to_vec();
        self.block_then(block, |placer| {
            placer.arguments(last, layouts)?;
            placer.push(last);
            Ok(())
        })
    }
}

/// The slice of a layout of `to` in which a value of shape `from` is broadcast without moving.
fn slice(layout: &Layout, from: Shape, to: Shape) -> Option<Layout> {
    let (mut layout, mut shape) = (layout.clone(), to);
    let missing = to.rank() - from.rank();
    for axis in (0..to.rank()).rev() {
        let replicated = axis < missing || from.dims()[axis - missing] == 1;
        if replicated {
            layout = layout.slice_axis(shape, axis)?;
            shape = shape.without(axis)?;
        }
    }
    Some(layout)
}

/// In which order a layout folds the bits of an index: first those within a thread, then those between lanes, then those
/// between warps. `None` if a bit of the hardware stands for more than one bit of the index, or for another axis as well.
fn fold_order(layout: &Layout, shape: Shape, axis: usize) -> Option<BitOrder> {
    let inner: u32 = shape.dims()[axis + 1..].iter().product();
    let extent = shape.dims()[axis];
    let field = (extent - 1) * inner;
    let mut bits = Vec::new();
    for column in layout.columns().filter(|c| c & field != 0) {
        if !column.is_power_of_two() {
            return None;
        }
        bits.push((column / inner).trailing_zeros() as u8);
    }
    BitOrder::new(&bits).filter(|_| bits.len() as u32 == extent.trailing_zeros())
}

/// Tiles that are cheap enough to be computed in every layout that is asked for.
#[expect(clippy::wildcard_enum_match_arm, reason = "nothing else is cheap")]
fn free_values(func: &Function) -> SideTable<Value, bool> {
    let mut free = SideTable::new(false);
    for inst in func.walk() {
        let data = &func.insts[inst];
        let is_free = match data.op {
            Op::Arange { .. } | Op::Splat { .. } => true,
            Op::Broadcast { .. }
            | Op::Permute { .. }
            | Op::Cast { .. }
            | Op::Select { .. }
            | Op::Offset { .. }
            | Op::Unary { .. }
            | Op::Binary { .. }
            | Op::Compare { .. }
            | Op::Ternary { .. } => {
                let mut all = true;
                data.op.for_each_operand(|v| all &= free[v] || func.ty(v).shape == Shape::SCALAR);
                all && data.results.iter().any(|&v| func.ty(v).shape != Shape::SCALAR)
            }
            // A scalar would have to find its one element.
            Op::Reshape { x, shape } => free[x] && shape != Shape::SCALAR,
            _ => false,
        };
        data.results.iter().for_each(|&result| free[result] = is_free);
    }
    free
}

/// Pointers and mask of an access to memory.
pub fn access(op: &Op) -> Option<(Value, Option<Value>)> {
    if let Op::Load { ptr, mask, .. } | Op::Store { ptr, mask, .. } = *op { Some((ptr, mask)) } else { None }
}

/// Elements that one access of a thread may cover. The mask does not count: where it does not agree on all of them, they
/// are accessed one by one.
pub fn vector(func: &Function, facts: &SideTable<Value, Axis>, ptr: Value) -> u64 {
    let Elem::Ptr { pointee, .. } = func.ty(ptr).elem else { return 1 };
    let bytes = u64::from(pointee.bytes());
    axis::access_width(facts[ptr], bytes).min(WIDEST / bytes)
}
