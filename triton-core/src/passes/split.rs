//! Reductions between warps, at stage 1: two reductions, and a conversion between them.
//!
//! *Before:* a `reduce` along bits of an index that registers, lanes and warps hold. *After:* no `reduce` is over a bit
//! that warps hold. One reduces within each warp and leaves as many elements along the axis as warps have a part in it;
//! a `convert` gives all of them to every thread that needs the result; and another `reduce` combines them there.
//!
//! The order of the combinations is unchanged. So no bit of any result changes.

use crate::ir::{Block, Function, Inst, InstData, Value};
use crate::ops::{BitOrder, Op};

/// See the [module's page](self).
///
/// # Errors
/// A reduction without an order or a layout, which layout assignment has left out.
pub fn split(func: &mut Function) -> Result<(), String> {
    block(func, func.body)
}

fn block(func: &mut Function, id: Block) -> Result<(), String> {
    let mut insts = Vec::new();
    for inst in func.blocks[id].insts.clone() {
        let data = func.insts[inst].clone();
        if let Op::Reduce { axis, order } = data.op {
            if let Some((before, args, order)) = parts(func, &data, axis as usize, order)? {
                insts.extend(before);
                func.insts[inst].op = Op::Reduce { axis, order };
                func.insts[inst].args = args;
            }
        } else {
            data.regions.into_iter().try_for_each(|region| block(func, region))?;
        }
        insts.push(inst);
    }
    func.blocks[id].insts = insts;
    Ok(())
}

type Before = (Vec<Inst>, Vec<Value>, BitOrder);

/// What has to come before a reduction, its arguments after that, and the order in which it combines them. `None` if it
/// stays within warps.
fn parts(func: &mut Function, data: &InstData, axis: usize, order: BitOrder) -> Result<Option<Before>, String> {
    let shape = func.ty(data.args[0]).shape;
    let layout = func.layout(data.args[0]).ok_or("a reduction of a tile without a layout")?.clone();
    let inner: u32 = shape.dims()[axis + 1..].iter().product();
    let bits = order.bits(shape.dims()[axis].trailing_zeros());
    let of_warps = |bit: &u8| layout.warp.iter().any(|&c| c & inner << bit != 0);
    // What comes after the first bit that warps hold is reduced after the conversion, too.
    let Some(first) = bits.iter().position(of_warps) else { return Ok(None) };
    let (near, far) = bits.split_at(first);
    let near_order = BitOrder::new(near).ok_or("too many bits")?;
    let folded = near.iter().fold(0, |mask, &bit| mask | 1 << bit);
    let mut before = Vec::new();
    let mut args = data.args.clone();
    if !near.is_empty() {
        let shape_of_parts = near_order.fold(shape, axis).ok_or("an order of bits that the axis does not have")?;
        let of_parts = layout.fold_axis(shape, axis, folded).ok_or("a reduction along no axis")?;
        let types: Vec<_> = args.iter().map(|&v| func.ty(v).with_shape(shape_of_parts)).collect();
        let region = func.copy_block(data.regions[0]);
        let results: Vec<_> = types.into_iter().map(|ty| func.types.push(ty)).collect();
        results.iter().for_each(|&v| func.set_layout(v, of_parts.clone()));
        let op = Op::Reduce { axis: axis as i32, order: near_order };
        let inst = InstData { op, args, regions: vec![region], results: results.clone(), span: data.span };
        before.push(func.insts.push(inst));
        args = results;
    }
    // Every thread that holds a result is given all parts of it.
    let parts = func.ty(args[0]).shape;
    let rest = parts.without(axis).ok_or("a reduction along no axis")?;
    let sliced = layout.slice_axis(shape, axis).and_then(|l| l.insert_axis(rest, axis, parts.dims()[axis]));
    let together = sliced.ok_or("a reduction along no axis")?;
    for arg in &mut args {
        let inst = func.make(Op::Convert { x: *arg }, data.span)?;
        *arg = func.insts[inst].results[0];
        func.set_layout(*arg, together.clone());
        before.push(inst);
    }
    // What is left of the axis is renumbered from 0.
    let number = |bit: &u8| far.iter().filter(|other| *other < bit).count() as u8;
    let order = BitOrder::new(&far.iter().map(number).collect::<Vec<_>>()).ok_or("too many bits")?;
    Ok(Some((before, args, order)))
}
