//! Constant folding.
//!
//! *Before:* a scalar operation whose operands are constants; adding 0, multiplying by 1, on integers and tiles of them.
//! *After:* the constant; the other operand.
//!
//! Requires stage 0. The numbers come from the interpreter's own [`evaluate`], so folding cannot disagree with running.
//! Floats are folded only where the operation is computed in full (`x + 0.0` stays: it turns −0 into +0). An integer
//! division by zero stays where it is, for the program that runs it to report.

use crate::entity::SideTable;
use crate::interp::evaluate;
use crate::ir::{Function, Value};
use crate::ops::kinds::BinaryKind;
use crate::ops::{Effect, Op};
use crate::types::{Constant, Elem, Shape};

/// See the [module's page](self).
pub fn fold(func: &mut Function) {
    let mut constants: SideTable<Value, Option<Constant>> = SideTable::new(None);
    let mut same: SideTable<Value, Option<Value>> = SideTable::new(None);
    // A definition is walked before its uses, in regions as well.
    for inst in func.walk() {
        func.insts[inst].map_operands(|v| same[v].unwrap_or(v));
        let op = func.insts[inst].op;
        let &[result] = &func.insts[inst].results[..] else { continue };
        if let Some(value) = fold_one(func, &op, result, &constants) {
            func.insts[inst].op = Op::Const { value };
            constants[result] = Some(value);
        } else if let Some(operand) = identity(&op, &constants) {
            same[result] = Some(operand);
        } else if let Op::Splat { x, .. } = op {
            // For identities only: a tile of one number stays a tile.
            constants[result] = constants[x];
        }
    }
}

fn fold_one(
    func: &Function,
    op: &Op,
    result: Value,
    constants: &SideTable<Value, Option<Constant>>,
) -> Option<Constant> {
    let ty = func.ty(result);
    let (Elem::Num(dtype), Shape::SCALAR, Effect::Pure) = (ty.elem, ty.shape, op.effect()) else { return None };
    let bits = evaluate(func, op, Some(result), &|v| Some(vec![constants[v]?.bits].into()))?.ok()?;
    Some(Constant { dtype, bits: *bits.first()? })
}

fn identity(op: &Op, constants: &SideTable<Value, Option<Constant>>) -> Option<Value> {
    let Op::Binary { kind, a, b } = *op else { return None };
    let int = |v: Value| constants[v].and_then(Constant::as_int);
    match (kind, int(a), int(b)) {
        (BinaryKind::Add, Some(0), _) | (BinaryKind::Mul, Some(1), _) => Some(b),
        (BinaryKind::Add | BinaryKind::Sub, _, Some(0)) | (BinaryKind::Mul | BinaryKind::Div, _, Some(1)) => Some(a),
        _ => None,
    }
}
