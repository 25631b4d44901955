//! What works and could be better: accesses whose neighbours lie apart in memory, and masks that leave nothing out.
//!
//! Requires stage 0. Asked for by `warnings = true`; nothing is compiled differently.

use crate::analysis::stride::{self, Strides};
use crate::diag::{Code, Diagnostic};
use crate::entity::SideTable;
use crate::interp::evaluate;
use crate::ir::types::Elem;
use crate::ir::{Function, Value};
use crate::ops::Op;

/// Bytes that memory moves at once.
const SECTOR: u64 = 32;

/// Elements below which an access is too small to speak of.
const FEW: u64 = 32;

/// Everything that is worth saying, in the order of the program.
pub fn advice(func: &Function) -> Vec<Diagnostic> {
    let (strides, known) = (stride::analyse(func), known(func));
    let mut found = Vec::new();
    for inst in func.walk() {
        let data = &func.insts[inst];
        let (Op::Load { ptr, mask, .. } | Op::Store { ptr, mask, .. } | Op::Atomic { ptr, mask, .. }) = data.op else {
            continue;
        };
        let mut say = |problem: Option<Diagnostic>| found.extend(problem.map(|p| Diagnostic { span: data.span, ..p }));
        say(apart(func, ptr, strides[ptr]));
        let everywhere =
            mask.and_then(|mask| known[mask].as_ref()).is_some_and(|mask| mask.iter().all(|&bit| bit != 0));
        say(everywhere.then(|| {
            let problem = Diagnostic::new(Code::W0002, data.span, "the mask is always true");
            problem.help("write `true`, which takes every element")
        }));
    }
    found
}

/// An access whose neighbours are not next to each other along any axis.
fn apart(func: &Function, ptr: Value, strides: Strides) -> Option<Diagnostic> {
    let shape = func.ty(ptr).shape;
    let Elem::Ptr { pointee, .. } = func.ty(ptr).elem else { return None };
    let axes = (0..shape.rank()).filter(|&axis| shape.dims()[axis] > 1);
    let steps: Vec<Option<u64>> = axes.map(|axis| strides.along(axis).map(i64::unsigned_abs)).collect();
    // One axis of one address, or of neighbours, serves all the others.
    if shape.elements() < FEW || steps.iter().any(|step| step.is_some_and(|step| step <= 1)) {
        return None;
    }
    let bytes = u64::from(pointee.bytes());
    let nearest = steps.iter().flatten().min();
    let what = match nearest {
        Some(step) => format!("neighbours of this access are {} bytes apart in memory", bytes * step),
        None => "no neighbours of this access are known to be next to each other in memory".to_owned(),
    };
    let moved = nearest.map_or(SECTOR, |step| (bytes * step).min(SECTOR));
    let note = format!("each of {} elements moves up to {moved} bytes for the {bytes} that it has", shape.elements());
    let help =
        "let one axis of the tile run along memory; a tile that is needed the other way round is turned by `.trans()`";
    Some(Diagnostic::new(Code::W0001, crate::span::Span::NONE, what).note(note).help(help))
}

/// The elements of what is made of constants and ranges alone.
fn known(func: &Function) -> SideTable<Value, Option<Vec<u64>>> {
    let mut known: SideTable<Value, Option<Vec<u64>>> = SideTable::new(None);
    for inst in func.walk() {
        let data = &func.insts[inst];
        let &[result] = &data.results[..] else { continue };
        let operand = |v: Value| known[v].as_deref().map(Into::into);
        known[result] = evaluate(func, &data.op, Some(result), &operand).and_then(Result::ok);
    }
    known
}
