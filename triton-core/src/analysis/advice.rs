//! Performance advice: accesses that are not coalesced or not known to be, and masks that are always true.
//!
//! Requires stage 0. Nothing is compiled differently. Where speed is lost silently (a stride that is 1 but not known to
//! be, an index that wraps around) the warning is on by default; the rest is for `warnings = true`.

use crate::analysis::axis::{self, AxisInfo};
use crate::analysis::defs::Defs;
use crate::analysis::stride::{self, Strides};
use crate::diag::{Code, Diagnostic};
use crate::entity::SideTable;
use crate::interp::evaluate;
use crate::ir::{Function, Value};
use crate::metadata::{Specialization, Target};
use crate::ops::kinds::BinaryKind;
use crate::ops::{Effect, LayoutRule, Location, Op};
use crate::span::Span;
use crate::types::{DType, Shape};

/// Accesses of fewer elements are too small to report.
const MIN_ELEMENTS: u64 = 32;

/// All advice, in the order of the program.
pub fn advice(func: &Function) -> Vec<Diagnostic> {
    let (strides, known, defs) = (stride::analyse(func), known(func), Defs::of(func));
    let facts = axis::analyse(func, Specialization::Divisible16);
    let mut found = Vec::new();
    for inst in func.walk() {
        let data = &func.insts[inst];
        let (Op::Load { from: location, .. } | Op::Store { to: location, .. } | Op::Atomic { to: location, .. }) =
            data.op
        else {
            continue;
        };
        let at = |p: Diagnostic| if p.span == Span::NONE { Diagnostic { span: data.span, ..p } } else { p };
        let mut say = |problem: Option<Diagnostic>| found.extend(problem.map(at));
        let along = stride::of_location(func, &strides, location);
        let (ptr, mask, shape) = match location {
            Location::Pointers { ptr, mask } => (Some(ptr), mask, func.ty(ptr).shape),
            // An unknown last stride is the launch's choice.
            Location::View { shape, .. } => (None, None, shape),
        };
        let written = ptr.and_then(|ptr| cause(func, &defs, ptr, (along, facts[ptr])));
        say(written.or_else(|| apart(func.pointee(location)?, shape, along)));
        let everywhere =
            mask.and_then(|mask| known[mask].as_ref()).is_some_and(|mask| mask.iter().all(|&bit| bit != 0));
        say(everywhere.then(|| {
            let problem = Diagnostic::new(Code::W0002, data.span, "the mask is always true");
            problem.help("write `true`, which selects every element")
        }));
    }
    found
}

/// Why the neighbours of an access are not known to be contiguous.
fn cause(func: &Function, defs: &Defs, ptr: Value, (strides, facts): (Strides, AxisInfo)) -> Option<Diagnostic> {
    let shape = func.ty(ptr).shape;
    let mut axes = (0..shape.rank()).filter(|&axis| shape.dims()[axis] > 1);
    let has_no_stride = !axes.any(|axis| strides.along(axis).is_some());
    // Of the strides that are known, only one of an index that wraps around does not hold of all neighbours.
    let is_broken = strides.contiguous(shape) == shape.rank().checked_sub(1) && facts.contiguity == 1;
    if shape.elements() < MIN_ELEMENTS || !(has_no_stride || is_broken) {
        return None;
    }
    let op = |v: Value| defs.op(func, v);
    let uniform = |v: Value| func.ty(v).shape == Shape::SCALAR || matches!(op(v), Some(Op::Splat { .. }));
    let known = |v: Value| {
        let scalar = if let Some(Op::Splat { x, .. }) = op(v) { x } else { v };
        defs.constant(func, scalar).is_some()
    };
    let variable = |v: Value| uniform(v) && !known(v);
    let (mut open, mut seen) = (vec![ptr], Vec::new());
    let (mut scaled, mut wrapped) = (None, None);
    while let Some(value) = open.pop() {
        let Some(inst) = defs.definition(value).filter(|inst| !seen.contains(inst)) else { continue };
        seen.push(inst);
        let data = &func.insts[inst];
        // Loaded indices are a gather.
        if let Op::Load { .. } = data.op {
            return None;
        }
        // A constant is known.
        if let Op::Binary { kind: BinaryKind::Mul, a, b } = data.op
            && (variable(a) && !uniform(b) || variable(b) && !uniform(a))
        {
            scaled = Some(data.span);
        }
        if let Op::Binary { kind: BinaryKind::Rem, a, b } = data.op
            && variable(b)
            && !uniform(a)
        {
            wrapped = Some(data.span);
        }
        if data.op.effect() == Effect::Pure && data.op.layout_rule() != LayoutRule::Carried {
            data.for_each_operand(|v| open.push(v));
        }
    }
    if let (Some(span), true) = (wrapped, is_broken) {
        let message = "an index that wraps around is not known to be contiguous, so this access is not vectorized";
        let note = "it is where the divisor is a multiple of 16, as an integer argument without `#[no_specialize]` may be, \
                    and the index begins at one";
        let help = "mask off what is past the end, as in `load(x + i, i < n)`, or load from a view";
        return Some(Diagnostic::new(Code::W0004, span, message).note(note).help(help));
    }
    let message = "no stride of this access is known to be 1, so it is not vectorized";
    let help = "leave out the stride that is 1, or load from a view, whose last axis is contiguous";
    let span = scaled.filter(|_| has_no_stride)?;
    Some(Diagnostic::new(Code::W0003, span, message).help(help))
}

/// An access whose neighbours are not contiguous along any axis.
fn apart(pointee: DType, shape: Shape, strides: Strides) -> Option<Diagnostic> {
    let axes = (0..shape.rank()).filter(|&axis| shape.dims()[axis] > 1);
    let steps: Vec<Option<u64>> = axes.map(|axis| strides.along(axis).map(i64::unsigned_abs)).collect();
    // One axis with equal or contiguous addresses is enough.
    if shape.elements() < MIN_ELEMENTS || steps.iter().any(|step| step.is_some_and(|step| step <= 1)) {
        return None;
    }
    let bytes = u64::from(pointee.bytes());
    let nearest = steps.iter().flatten().min();
    let what = match nearest {
        Some(step) => format!("neighbouring elements of this access are {} bytes apart in memory", bytes * step),
        None => "no neighbouring elements of this access are known to be contiguous in memory".to_owned(),
    };
    let sector = u64::from(Target::LEAST.info().sector_bytes);
    let moved = nearest.map_or(sector, |step| (bytes * step).min(sector));
    let note =
        format!("uncoalesced: each of {} elements moves up to {moved} bytes for its own {bytes}", shape.elements());
    let help = "load with one axis contiguous in memory; if the tile is needed transposed, apply `.transpose()`";
    Some(Diagnostic::new(Code::W0001, Span::NONE, what).note(note).help(help))
}

/// The elements of a value that is computed from constants and ranges only.
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
