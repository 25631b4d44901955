//! Specialization, at stage 0: the facts of [`Specialization::Divisible16`].
//!
//! *Before:* the stride of a view's last axis is a parameter. *After:* it is the constant 1, and the passes of stage 0 have
//! removed the multiplications by it. (Where the axis has at most one element, any stride will do, and
//! the only index in bounds is 0.)

use crate::entity::SideTable;
use crate::ir::{Function, Value};
use crate::metadata::Specialization;
use crate::ops::Op;
use crate::span::Span;
use crate::types::{Constant, Elem};

/// See the [module's page](self).
///
/// # Errors
/// A bug in this pass, or in one that runs after it.
pub fn specialise(func: &mut Function, promise: Specialization) -> Result<(), String> {
    let units: Vec<Value> = func.params.iter().filter(|p| p.unit && !p.general).map(|p| p.value).collect();
    if promise < Specialization::Divisible16 || units.is_empty() {
        return Ok(());
    }
    let mut ones: SideTable<Value, Option<Value>> = SideTable::new(None);
    let mut first = Vec::new();
    for unit in units {
        let Elem::Num(dtype) = func.ty(unit).elem else { continue };
        let inst = func.make(Op::Const { value: Constant::int(dtype, 1) }, Span::NONE)?;
        ones[unit] = func.insts[inst].results.first().copied();
        first.push(inst);
    }
    for inst in func.walk() {
        func.insts[inst].map_operands(|v| ones[v].unwrap_or(v));
    }
    let body = func.body;
    func.blocks[body].insts.splice(0..0, first);
    super::run(super::OPTIMISE, func, promise)
}
