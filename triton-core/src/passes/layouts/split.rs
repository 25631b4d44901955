//! Folds between warps, at stage 1: two of them, and a conversion between them.
//!
//! *Before:* a `reduce` or a `scan` along bits of an index that registers, lanes and warps hold. *After:* none combines the elements
//! of different warps.
//!
//! - One reduction is within each warp and leaves as many elements along the axis as warps have a part in it; a `convert` gives all
//!   of them to every thread that needs the result; and another `reduce` combines them there.
//! - One scan is along the bits below the first that warps hold, and yields the total of each block, too; a `convert` gives the totals
//!   to every thread; and a scan along the other bits combines them with the elements. Where warps hold the lowest bit, a
//!   `convert` gives all elements to every thread, one scan is within each, and another `convert` takes back what the thread needs.
//!
//! The order of the combinations is unchanged. So no bit of any result changes.

use crate::ir::folds::of_totals;
use crate::ir::{Block, Function, Inst, InstData, Value};
use crate::layout::Layout;
use crate::ops::{BitOrder, FoldKind, Op};
use crate::span::Span;
use crate::types::{Shape, Type};

/// See the [module's page](self).
///
/// # Errors
/// A fold without an order or a layout, which layout assignment has left out.
pub fn split(func: &mut Function) -> Result<(), String> {
    block(func, func.body)
}

fn block(func: &mut Function, id: Block) -> Result<(), String> {
    let mut insts = Vec::new();
    for inst in func.blocks[id].insts.clone() {
        let data = func.insts[inst].clone();
        if let Op::Fold { kind, axis, order } = data.op {
            insts.extend(match kind {
                FoldKind::Reduce => reduction(func, inst, axis as usize, order)?,
                FoldKind::Scan | FoldKind::ScanReverse => scan(func, inst, kind, axis as usize)?,
            });
        } else {
            data.regions.into_iter().try_for_each(|region| block(func, region))?;
            insts.push(inst);
        }
    }
    func.blocks[id].insts = insts;
    Ok(())
}

/// A reduction as the instructions that do it.
fn reduction(func: &mut Function, inst: Inst, axis: usize, order: BitOrder) -> Result<Vec<Inst>, String> {
    let data = func.insts[inst].clone();
    let shape = func.ty(data.args[0]).shape;
    let layout = func.layout(data.args[0]).ok_or("a reduction of a tile without a layout")?.clone();
    let base = shape.base().dims()[axis];
    let bits = order.bits(base.trailing_zeros());
    // What comes after the first bit that warps hold is reduced after the conversion, too.
    let Some(first) = bits.iter().position(|&bit| of_warps(&layout, shape, axis, bit)) else { return Ok(vec![inst]) };
    let (near, far) = bits.split_at(first);
    let near_order = BitOrder::new(near).ok_or("too many bits")?;
    let mut insts = Vec::new();
    let mut args = data.args.clone();
    // A digit is combined before all bits.
    if !near.is_empty() || shape.dims()[axis] > base {
        let shape_of_parts = near_order.fold(shape, axis).ok_or("an order of bits that the axis does not have")?;
        let of_parts = layout.fold_axis(shape, axis, near_order.mask(0)).ok_or("a reduction along no axis")?;
        let types: Vec<_> = args.iter().map(|&v| func.ty(v).with_shape(shape_of_parts)).collect();
        let region = func.copy_block(data.regions[0]);
        let results: Vec<_> = types.into_iter().map(|ty| func.types.push(ty)).collect();
        results.iter().for_each(|&v| func.set_layout(v, of_parts.clone()));
        let op = Op::Fold { kind: FoldKind::Reduce, axis: axis as i32, order: near_order };
        let near = InstData { op, args, regions: vec![region], results: results.clone(), span: data.span };
        insts.push(func.insts.push(near));
        args = results;
    }
    // Every thread that holds a result is given all parts of it.
    let parts = func.ty(args[0]).shape;
    let rest = parts.without(axis).ok_or("a reduction along no axis")?;
    let sliced = layout.slice_axis(shape, axis).and_then(|l| l.insert_axis(rest, axis, parts.dims()[axis]));
    let together = sliced.ok_or("a reduction along no axis")?;
    for arg in &mut args {
        *arg = converted(func, *arg, &together, data.span, &mut insts)?;
    }
    // What is left of the axis is renumbered from 0.
    let number = |bit: &u8| far.iter().filter(|other| *other < bit).count() as u8;
    let order = BitOrder::new(&far.iter().map(number).collect::<Vec<_>>()).ok_or("too many bits")?;
    func.insts[inst].op = Op::Fold { kind: FoldKind::Reduce, axis: axis as i32, order };
    func.insts[inst].args = args;
    insts.push(inst);
    Ok(insts)
}

/// A scan as the instructions that do it.
fn scan(func: &mut Function, inst: Inst, kind: FoldKind, axis: usize) -> Result<Vec<Inst>, String> {
    let data = func.insts[inst].clone();
    let shape = func.ty(data.args[0]).shape;
    let layout = func.layout(data.args[0]).ok_or("a scan of a tile without a layout")?.clone();
    let bits: Vec<u8> = (0..shape.dims()[axis].trailing_zeros() as u8).collect();
    let Some(first) = bits.iter().position(|&bit| of_warps(&layout, shape, axis, bit)) else { return Ok(vec![inst]) };
    let (within, across) = bits.split_at(first);
    let mut insts = Vec::new();
    let made = |func: &mut Function, order, args, types: Vec<(Type, Layout)>| -> Result<InstData, String> {
        let order = BitOrder::new(order).ok_or("too many bits")?;
        let results: Vec<Value> = types.iter().map(|&(ty, _)| func.types.push(ty)).collect();
        results.iter().zip(types).for_each(|(&v, (_, layout))| func.set_layout(v, layout));
        let regions = vec![func.copy_block(data.regions[0])];
        Ok(InstData { op: Op::Fold { kind, axis: axis as i32, order }, args, regions, results, span: data.span })
    };
    let mut args = data.args.clone();
    let tiles: Vec<Type> = args.iter().map(|&v| func.ty(v)).collect();
    if within.is_empty() {
        let together = of_totals(&layout, shape, axis, shape.dims()[axis]).ok_or("a scan along no axis")?;
        for arg in &mut args {
            *arg = converted(func, *arg, &together, data.span, &mut insts)?;
        }
        let scanned = made(func, across, args, tiles.into_iter().map(|ty| (ty, together.clone())).collect())?;
        let results = scanned.results.clone();
        insts.push(func.insts.push(scanned));
        for (x, &result) in results.into_iter().zip(&data.results) {
            let back = func.insts.push(InstData {
                op: Op::Convert { x },
                args: Vec::new(),
                regions: Vec::new(),
                results: vec![result],
                span: data.span,
            });
            insts.push(back);
        }
        return Ok(insts);
    }
    let order = BitOrder::new(within).ok_or("too many bits")?;
    let blocks = order.fold(shape, axis).ok_or("an order of bits that the axis does not have")?;
    let of_blocks = layout.fold_axis(shape, axis, order.mask(0)).ok_or("a scan along no axis")?;
    let totals = tiles.iter().map(|ty| (ty.with_shape(blocks), of_blocks.clone()));
    let types = tiles.iter().map(|&ty| (ty, layout.clone())).chain(totals).collect();
    let near = made(func, within, args, types)?;
    args = near.results.clone();
    insts.push(func.insts.push(near));
    let together = of_totals(&layout, shape, axis, blocks.dims()[axis]).ok_or("a scan along no axis")?;
    for total in &mut args[tiles.len()..] {
        *total = converted(func, *total, &together, data.span, &mut insts)?;
    }
    let order = BitOrder::new(across).ok_or("too many bits")?;
    func.insts[inst].op = Op::Fold { kind, axis: axis as i32, order };
    func.insts[inst].args = args;
    insts.push(inst);
    Ok(insts)
}

/// Whether warps hold a bit of an index along an axis.
fn of_warps(layout: &Layout, shape: Shape, axis: usize, bit: u8) -> bool {
    let inner: u32 = shape.base().dims()[axis + 1..].iter().product();
    layout.warp.iter().any(|&c| c & inner << bit != 0)
}

/// A tile in another layout.
fn converted(func: &mut Function, x: Value, to: &Layout, span: Span, insts: &mut Vec<Inst>) -> Result<Value, String> {
    let inst = func.make(Op::Convert { x }, span)?;
    let result = func.insts[inst].results[0];
    func.set_layout(result, to.clone());
    insts.push(inst);
    Ok(result)
}
