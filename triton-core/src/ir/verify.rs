//! Checks that a function is what the IR's page says. Runs after every pass.
//!
//! Checked:
//! - every operand is defined, before its use in the same block, exactly once;
//! - the type of a result is what [`crate::ops::infer`] says;
//! - the number of warps is a power of two from 1 to 32;
//! - stage 0: no value has a layout, and there is no barrier;
//! - stage 1: every tile has a layout, no scalar has one; the layout has as many warp bits as the function, no zero column
//!   among its registers, and reaches every element; operands of an elementwise operation, of an access, and their result
//!   share one layout.
//!
//! Not checked: that addresses are in bounds, that masks hide what they should, that a division succeeds. The interpreter
//! finds those.

use super::{Function, Inst, Stage, Value};
use crate::ir::types::Shape;
use crate::layout::Layout;
use crate::ops::{self, Op};
use std::collections::HashSet;

/// A rule that is broken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VerifyError {
    /// Where, if at an instruction.
    pub inst: Option<Inst>,
    /// Which rule, and by what.
    pub message: String,
}

/// Checks every rule.
///
/// # Errors
/// All that are broken.
pub fn verify(func: &Function) -> Result<(), Vec<VerifyError>> {
    let mut errors = Vec::new();
    let mut report = |inst: Option<Inst>, message: String| errors.push(VerifyError { inst, message });
    if !func.num_warps.is_power_of_two() || func.num_warps > 32 {
        report(None, format!("{} is no number of warps: 1, 2, 4, 8, 16 or 32", func.num_warps));
    }
    let mut defined: HashSet<Value> = func.params.iter().map(|p| p.value).collect();
    for (inst, data) in func.body() {
        let mut known = true;
        data.op.for_each_operand(|v| {
            if !defined.contains(&v) {
                report(Some(inst), format!("{v} is not defined before this line"));
                known = false;
            }
        });
        if known {
            match ops::infer(&data.op, &|v| func.ty(v)) {
                Err(message) => report(Some(inst), message),
                Ok(ty) => {
                    let found: Vec<_> = data.results.iter().map(|&v| func.ty(v)).collect();
                    if ty.into_iter().collect::<Vec<_>>() != found {
                        report(Some(inst), format!("`{}` does not yield {found:?}", data.op.mnemonic()));
                    }
                }
            }
        }
        for &result in &data.results {
            if !defined.insert(result) {
                report(Some(inst), format!("{result} is defined twice"));
            }
        }
        if known && let Err(message) = check_layouts(func, &data.op, &data.results) {
            report(Some(inst), message);
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

fn check_layouts(func: &Function, op: &Op, results: &[Value]) -> Result<(), String> {
    for &value in results {
        let is_tile = func.ty(value).shape != Shape::SCALAR;
        match (func.stage, is_tile, func.layout(value)) {
            (Stage::Tile, _, None) | (Stage::Laid, false, None) => {}
            (Stage::Laid, true, Some(layout)) => check_layout(func, func.ty(value).shape, layout)?,
            (Stage::Tile, _, Some(_)) => return Err(format!("{value} has a layout at stage 0")),
            (Stage::Laid, true, None) => return Err(format!("{value} has no layout")),
            (Stage::Laid, false, Some(_)) => return Err(format!("{value} is a scalar and has a layout")),
        }
    }
    let moves_elements = match op {
        Op::Const { .. }
        | Op::ProgramId { .. }
        | Op::NumPrograms { .. }
        | Op::Arange { .. }
        | Op::Splat { .. }
        | Op::Broadcast { .. }
        | Op::Barrier {} => true,
        Op::Cast { .. }
        | Op::Select { .. }
        | Op::Offset { .. }
        | Op::Load { .. }
        | Op::Store { .. }
        | Op::Unary { .. }
        | Op::Binary { .. }
        | Op::Compare { .. }
        | Op::Ternary { .. } => false,
    };
    if func.stage == Stage::Tile && *op == (Op::Barrier {}) {
        return Err("a barrier at stage 0, where no thread is known".into());
    }
    if func.stage == Stage::Tile || moves_elements {
        return Ok(());
    }
    let mut operands = results.to_vec();
    op.for_each_operand(|v| operands.push(v));
    let first = func.layout_of[operands[0]];
    match operands.iter().find(|&&v| func.layout_of[v] != first) {
        Some(other) => Err(format!("{other} and {} meet in `{}` with different layouts", operands[0], op.mnemonic())),
        None => Ok(()),
    }
}

fn check_layout(func: &Function, shape: Shape, layout: &Layout) -> Result<(), String> {
    if layout.warp.len() as u32 != func.num_warps.trailing_zeros() {
        return Err(format!("a layout with {} warp bits in a kernel of {} warps", layout.warp.len(), func.num_warps));
    }
    if layout.reg.contains(&0) {
        return Err("a layout whose registers hold an element twice".into());
    }
    let mut basis: Vec<u32> = Vec::new();
    for &column in layout.reg.iter().chain(&layout.lane).chain(&layout.warp) {
        if u64::from(column) >= shape.elements() {
            return Err(format!("a layout with a column {column} for {} elements", shape.elements()));
        }
        let rest = basis.iter().fold(column, |c, &b| c.min(c ^ b));
        if rest != 0 {
            basis.push(rest);
        }
    }
    if 1u64 << basis.len() != shape.elements() {
        return Err(format!("a layout that reaches {} of {} elements", 1u64 << basis.len(), shape.elements()));
    }
    Ok(())
}
