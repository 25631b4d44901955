//! Operands of `wgmma`, stage 1 → 2: each is stored to shared memory, in a swizzled pattern that the instruction reads.
//!
//! *Before:* the operands of a product are in registers, converted from the layout they were made in. *After:* what was converted is stored
//! as it was made, and the product reads the buffer, or an alias of it with its axes in the other order. A left operand whose conversion
//! moves nothing between threads stays in registers. Each product is waited for at once
//! ([`Op::DotWait`]), and what took its sum takes what the wait yields.
//!
//! The pattern runs along the dimension in which the threads that store have neighbours, so that they store 16 bytes at once, and copies
//! can replace them. Operands of 16 bits are read along either dimension; of others, along K alone. (PTX ISA, "Shared
//! memory matrix layout".)

use crate::analysis::defs::Defs;
use crate::hash::WordMap;
use crate::ir::{Function, Inst, Value, in_flight};
use crate::layout::convert::PlanKind;
use crate::layout::{Atom, Mem, Tiling, hopper, products};
use crate::ops::kinds::UnaryKind;
use crate::ops::{DotKind, Op};
use crate::passes::Env;
use crate::passes::values::dce;
use crate::span::Span;
use crate::types::Shape;

/// See the [module's page](self).
///
/// # Errors
/// An operand of which no pattern can be read: a bug in layout assignment.
pub(crate) fn stage_operands(func: &mut Function, env: &Env) -> Result<(), String> {
    let products: Vec<Inst> =
        func.walk().into_iter().filter(|&inst| in_flight::is_product(&func.insts[inst].op)).collect();
    if products.is_empty() {
        return Ok(());
    }
    // The table of the start stays true: what is added stores operands and waits, and only products use it.
    let defs = Defs::of(func);
    let (mut staged, mut waited): (Vec<(OperandSource, Mem, Value)>, _) = (Vec::new(), WordMap::default());
    for inst in products {
        let Op::Dot { kind, a, b, acc } = func.insts[inst].op else { continue };
        let tiling = func.layout(acc).and_then(|sum| products::wgmma_tiling_of(sum, func.ty(acc).shape));
        let Some(tiling @ Tiling { atom: Atom::Wgmma { n }, .. }) = tiling else {
            return Err("a product of warpgroups in another layout".into());
        };
        let alternates = tiling.alternates(func.ty(acc).shape);
        let mut operands = [a, b];
        for (operand, (k, extent)) in operands.iter_mut().zip([(1, products::ROWS), (0, n)]) {
            let source = OperandSource::of(func, &defs, *operand);
            if k == 1 && source.is_in_registers(func, env) {
                continue;
            }
            let mem = source.mem(func, k, extent, k == 0 && alternates)?;
            // What is stored before a product may be in a block that the next one is not in.
            let known = staged.iter().find(|(other, at, _)| *other == source && *at == mem && other.first.is_some());
            let known = known.map(|&(.., value)| value);
            *operand = match known {
                Some(value) => value,
                None => source.stage(func, &defs, mem.clone(), inst)?,
            };
            staged.push((source, mem, *operand));
        }
        let [a, b] = operands;
        func.insts[inst].op = Op::Dot { kind, a, b, acc };
        // Until a schedule says otherwise, nothing goes on before the product is done.
        let &[sum] = &func.insts[inst].results[..] else { return Err("a product without a sum".into()) };
        let mut wait = Vec::new();
        let done = func.compute(Op::DotWait { sum }, func.insts[inst].span, &mut wait)?;
        func.place_of[done] = func.place_of[sum];
        let block = defs.block_of(inst).ok_or("a product in no block")?;
        let position = func.blocks[block].insts.iter().position(|&i| i == inst).ok_or("a product in no block")?;
        func.blocks[block].insts.splice(position + 1..position + 1, wait);
        waited.insert(sum, done);
    }
    func.replace_uses(&waited);
    dce::dce(func);
    Ok(())
}

/// The tile that an operand is made of by conversions, permutations of its axes, and a reshape that leaves out axes of
/// extent 1 before them.
#[derive(Clone, Copy, PartialEq)]
struct OperandSource {
    tile: Value,
    /// Which axis of the tile, as a matrix, each axis of the operand is.
    axes: [usize; 2],
    /// The first of these instructions.
    first: Option<Inst>,
    /// The conversion, if there is one, and nothing else.
    conversion: Option<Value>,
}

impl OperandSource {
    fn of(func: &Function, defs: &Defs, operand: Value) -> OperandSource {
        let mut source = OperandSource { tile: operand, axes: [0, 1], first: None, conversion: None };
        while let Some(inst) = defs.definition(source.tile) {
            let (x, axes) = if let Op::Convert { x } = func.insts[inst].op {
                (x, [0, 1])
            } else if let Op::Reshape { x, shape } = func.insts[inst].op
                && func.ty(x).shape.as_matrix() == Some(shape)
            {
                source = OperandSource { tile: x, first: Some(inst), conversion: None, ..source };
                continue;
            } else if let Op::Permute { x, order } = func.insts[inst].op
                && let [first, second] = *order.dims()
            {
                (x, [first as usize, second as usize])
            } else {
                break;
            };
            let conversion = Some(source.tile).filter(|_| source.first.is_none() && axes == [0, 1]);
            let axes = source.axes.map(|axis| axes[axis]);
            source = OperandSource { tile: x, axes, first: Some(inst), conversion };
        }
        source
    }

    /// The tile's extents as a matrix.
    fn shape(&self, func: &Function) -> Result<Shape, String> {
        let shape = func.ty(self.tile).shape;
        shape.as_matrix().ok_or_else(|| format!("an operand of extents {shape} is not a matrix"))
    }

    /// Whether a thread has its fragments of the operand, or gets them without another thread.
    fn is_in_registers(&self, func: &mut Function, env: &Env) -> bool {
        let Some(result) = self.conversion else { return self.first.is_none() };
        let (Some(src), Some(dst)) = (func.layout_id(self.tile), func.layout_id(result)) else { return false };
        let bits = func.ty(self.tile).elem.bits();
        let plan = func.layouts.plan(src, dst, bits, env.target.info().stmatrix);
        plan.is_some_and(|plan| match plan.kind {
            PlanKind::None | PlanKind::Rename { .. } => true,
            PlanKind::Select(_) | PlanKind::Shuffle(_) | PlanKind::Shared(_) => false,
        })
    }

    /// The memory of the tile, for an operand with K along dimension `k` of which an instruction spans `extent` elements of the other one;
    /// contiguous along K if `along_k`.
    fn mem(&self, func: &Function, k: usize, extent: u32, along_k: bool) -> Result<Mem, String> {
        let (ty, shape) = (func.ty(self.tile), self.shape(func)?);
        // Where the nearest register or lane has a neighbour.
        let row = shape.dims()[1];
        let columns = func.layout(self.tile).into_iter().flat_map(|layout| layout.reg.iter().chain(&layout.lane));
        let along = usize::from(columns.copied().find(|&column| column == 1 || column == row) != Some(row));
        let mem = |along| hopper::wgmma_mem(shape, ty.elem.bits(), self.axes[k], along, extent);
        let unreadable = || format!("an operand of {ty} that `wgmma` cannot read");
        if along_k {
            return mem(self.axes[k]).ok_or_else(unreadable);
        }
        mem(along).or_else(|| mem(1 - along)).ok_or_else(unreadable)
    }

    /// Stores the tile where it was converted, or else before the product, and yields the operand in shared memory.
    fn stage(&self, func: &mut Function, defs: &Defs, mem: Mem, product: Inst) -> Result<Value, String> {
        let at = self.first.unwrap_or(product);
        let span = func.insts[at].span;
        let mut insts = Vec::new();
        let ty = func.ty(self.tile);
        let buffer = func.compute(Op::SharedAlloc { ty, at: None }, span, &mut insts)?;
        func.set_mem(buffer, mem);
        let mut value = self.tile;
        // The instruction takes the bits that it needs from shared memory: it rounds nothing.
        if ty.elem.num().is_some_and(|dtype| DotKind::Wgmma.rounds(dtype)) {
            value = func.compute(Op::Unary { kind: UnaryKind::Tf32, x: value }, span, &mut insts)?;
            func.place_of[value] = func.place_of[self.tile];
        }
        insts.push(func.make(Op::SharedStore { buffer, part: 0, value }, span)?);
        let mut operand = buffer;
        let shape = self.shape(func)?;
        if shape != ty.shape {
            operand = alias(func, Op::Reshape { x: operand, shape }, span, &mut insts)?;
        }
        if self.axes != [0, 1] {
            let order = Shape::new(&self.axes.map(|axis| axis as u32)).ok_or("a permutation of two axes")?;
            operand = alias(func, Op::Permute { x: operand, order }, span, &mut insts)?;
        }
        let block = defs.block_of(at).ok_or("an instruction that is in no block")?;
        let position = func.blocks[block].insts.iter().position(|&inst| inst == at);
        let position = position.ok_or("an instruction that is not in its block")?;
        func.blocks[block].insts.splice(position..position, insts);
        Ok(operand)
    }
}

/// Sees shared memory in another shape.
fn alias(func: &mut Function, change: Op, span: Span, insts: &mut Vec<Inst>) -> Result<Value, String> {
    let alias = func.compute(change, span, insts)?;
    let data = &func.insts[insts[insts.len() - 1]];
    let mem = func.aliased(data).and_then(|(x, change)| change.result_mem(func.ty(x).shape, func.mem(x)?));
    func.set_mem(alias, mem.ok_or("memory that has no such shape")?);
    Ok(alias)
}
