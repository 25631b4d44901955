//! Specialization, at stage 0: the numbers that a [`Specialization`](crate::metadata::Specialization) promises.
//!
//! *Before:* the stride of a view's last axis, or an integer that is a stride, is a parameter. *After:* it is the constant 1, and
//! the passes of stage 0 have removed the multiplications by it.

use crate::entity::SideTable;
use crate::ir::{Function, Param, Value};
use crate::metadata::Promise;
use crate::ops::Op;
use crate::passes::Env;
use crate::span::Span;
use crate::types::{Constant, Elem};

/// See the [module's page](self).
///
/// # Errors
/// A bug in this pass, or in one that runs after it.
pub fn specialise(func: &mut Function, env: &Env) -> Result<(), String> {
    let is_one = |p: &&Param| p.promised.under(env.specialization, func.ty(p.value).elem) == Promise::One;
    let units: Vec<Value> = func.params.iter().filter(is_one).map(|p| p.value).collect();
    if units.is_empty() {
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
    crate::passes::each(crate::passes::OPTIMISE, func, env, &mut |_| {})
}
