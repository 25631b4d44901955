//! Partition of programs among the blocks of a cluster, at stage 0, before layouts are assigned.
//!
//! *Before:* one block runs a program, whose rows may be longer than it can keep. *After*, where a row is: a cluster of blocks runs it
//! ([`Function::cluster`]), each on a segment of the axis along which rows are reduced. Tiles along that axis have the extent of a
//! segment; their indices begin at the block's rank times that. A reduction along the axis is one of the block's segment, then
//! `cluster.gather`, which gives every block the results of all, and another reduction of those. So everything after this pass is about the
//! tiles of one block: registers, layouts, shared memory and barriers are its own, as before. (Partition of an array program by
//! annotated axes: Xu et al., "GSPMD", arXiv 2105.04663.)
//!
//! A product is partitioned along K among as many blocks as the kernel asks for (`product`, [`Function::cluster_k`]):
//! each block multiplies its part of every tile in a loop, and after the loop the blocks exchange their sums. By
//! `cluster.scatter` each is given what all have of its columns, which it adds in their order, and goes on with: so the
//! result is the same each time, by one launch and without a workspace.
//!
//! Which values have the axis follows from the reductions, forward and backward through elementwise operations and changes of shape
//! (`axes`). If an operation would need elements of two blocks, nothing is partitioned. What has no such axis is computed by every block,
//! and stored by the first.
//!
//! How many blocks have a row is a rule of its bytes ([`blocks`]), found by measurement on an H200; there is no model
//! of it. It only depends on the function and the target. A target without clusters has everything in one block.

mod axes;
mod product;
mod rewrite;

use crate::ir::{Function, InstData};
use crate::layout::access;
use crate::metadata::Target;
use crate::ops::Op;
use crate::ops::cluster::Exchange;
use crate::passes::Env;
use crate::types::{Type, Value};
use axes::Axes;
use product::Product;

/// See the [module's page](self).
///
/// # Errors
/// None for a function that the verifier accepts.
pub fn partition(func: &mut Function, env: &Env) -> Result<(), String> {
    match decide(func, env.target) {
        Some(Plan::Rows(axes, blocks)) => rewrite::rows(func, &axes, blocks),
        Some(Plan::Product(product, blocks)) => rewrite::product(func, &product, blocks),
        None => Ok(()),
    }
}

/// How many blocks run a program of a function at stage 0 on a target: 1 if it is not partitioned.
pub fn blocks(func: &Function, target: Target) -> u32 {
    decide(func, target).map_or(1, |plan| match plan {
        Plan::Rows(_, blocks) | Plan::Product(_, blocks) => blocks,
    })
}

/// What was decided, in a line; nothing where one block runs a program, unless the kernel asks for more: then why. As a layout does for
/// registers, lanes and warps, it gives the element along the axis that each bit of a block's rank stands for.
pub(crate) fn explain(func: &Function, target: Target) -> String {
    match decide(func, target) {
        Some(Plan::Rows(axes, blocks)) => divided(&axes, blocks, "of a row") + &unused(func, target),
        Some(Plan::Product(product, blocks)) => divided(&product.depth, blocks, "along K"),
        None => unused(func, target),
    }
}

/// Why no blocks share the K of a product, though the kernel asks for it.
fn unused(func: &Function, target: Target) -> String {
    let reason = if func.cluster_k > 1 { product(func, target).err() } else { None };
    reason.map_or(String::new(), |reason| format!("`cluster_k = {}` has no effect: {reason}\n", func.cluster_k))
}

fn divided(axes: &Axes, blocks: u32, what: &str) -> String {
    let (segment, extent) = (axes.extent / blocks, axes.extent);
    let columns: Vec<String> = (0..blocks.ilog2()).map(|bit| (segment << bit).to_string()).collect();
    let columns = columns.join(",");
    format!("cluster of {blocks} blocks: each has {segment} of {extent} elements {what}, block [{columns}]\n")
}

/// What is divided among how many blocks.
enum Plan {
    /// Rows.
    Rows(Axes, u32),
    /// A product along K.
    Product(Product, u32),
}

fn decide(func: &Function, target: Target) -> Option<Plan> {
    if func.cluster > 1 {
        return None;
    }
    let product = || {
        let asked = Some(func.cluster_k).filter(|&blocks| blocks > 1)?;
        Some(Plan::Product(product(func, target).ok()?, asked))
    };
    rows(func, target).or_else(product)
}

/// The product whose K blocks share as the kernel asks, or why they do not.
fn product(func: &Function, target: Target) -> Result<Product, String> {
    if !target.info().clusters {
        return Err(format!("{} has no clusters of blocks", target.name()));
    }
    if axes::reads_what_it_writes(func) {
        return Err("the kernel may load what another block has stored".into());
    }
    let product = Product::of(func)?;
    product.check(func, func.cluster_k)?;
    Ok(product)
}

fn rows(func: &Function, target: Target) -> Option<Plan> {
    if !target.info().clusters || axes::reads_what_it_writes(func) {
        return None;
    }
    let segments = &target.info().segments;
    let axes = Axes::of_rows(func)?;
    let loaded = |(_, data): (_, &InstData)| match (data.op, &data.results[..]) {
        (Op::Load { .. }, &[result]) => Some(func.ty(result)).filter(|_| axes.of[result].is_some()),
        _ => None,
    };
    let rows: Vec<Type> = func.block(func.body).filter_map(loaded).collect();
    let largest = rows.iter().max_by_key(|ty| ty.shape.elements())?;
    // Blocks exchange base tiles: what a reduction of the rows leaves has no copies of one.
    let is_base = |value: Value| {
        let copies = func.ty(value).shape.copies();
        axes.of[value].is_none_or(|axis| copies.without(axis).is_none_or(|rest| rest.elements() == 1))
    };
    if !func.types.keys().all(is_base) {
        return None;
    }
    let (bytes, extent) = (u64::from(largest.elem.bits() / 8), u64::from(axes.extent));
    let row = extent * bytes;
    let most = match &rows[..] {
        [_] if bytes > 2 => segments.alone_wide,
        [_] => segments.alone_narrow,
        _ if row <= u64::from(segments.short_row) => segments.of_short_row,
        _ => segments.with_operands,
    };
    // Every thread has a vector.
    let threads = u64::from(func.num_warps * 32);
    let full = largest.shape.base().elements() * bytes / (threads * u64::from(access::WIDEST));
    let blocks =
        row.div_ceil(most.into()).next_power_of_two().min(u64::from(Exchange::MOST_BLOCKS)).min(full.max(1)) as u32;
    (blocks > 1).then_some(Plan::Rows(axes, blocks))
}
