//! Products of 64 bits whose factors have 32: one instruction gives them whole, where the product of two words of 64 bits takes three and more.
//! Those of scalars stay as they are: there are few, and assemblers may compute them once for a warp.

use crate::analysis::defs::Defs;
use crate::ir::{Function, Value};
use crate::ops::Op;
use crate::ops::kinds::BinaryKind;
use crate::ptx::lower::Lower;
use crate::ptx::{Opcode, Operand, Reg, Ty};
use crate::types::{Constant, DType, Elem, Shape};

/// A factor, before it was extended.
#[derive(Clone, Copy, Debug)]
enum Factor {
    /// A value of 32 bits.
    Value(Value),
    /// A number that 32 bits hold.
    Number(i64),
}

/// Factors that are extended by the sign, or by zeros.
#[derive(Clone, Copy, Debug)]
struct Factors {
    of: [Factor; 2],
    signed: bool,
}

/// The factors of a product of 64 bits that are extended alike; `None` of another operation.
fn factors(func: &Function, defs: &Defs, op: &Op) -> Option<Factors> {
    let Op::Binary { kind: BinaryKind::Mul, a, b } = *op else { return None };
    if func.ty(a).shape == Shape::SCALAR || !matches!(func.ty(a).elem, Elem::Num(DType::I64 | DType::U64)) {
        return None;
    }
    let scalar = |v: Value| if let Some(Op::Splat { x, .. }) = defs.op(func, v) { x } else { v };
    let extended = |v: Value| {
        let Some(Op::Cast { x, .. }) = defs.op(func, scalar(v)) else { return None };
        let dtype = func.ty(x).elem.num().filter(|dtype| matches!(dtype, DType::I32 | DType::U32))?;
        Some((x, dtype == DType::I32))
    };
    let signed = [a, b].into_iter().find_map(extended)?.1;
    let factor = |v: Value| {
        if let Some((x, is_signed)) = extended(v) {
            return (is_signed == signed).then_some(Factor::Value(x));
        }
        let number = defs.constant(func, scalar(v)).and_then(Constant::as_int)?;
        let fits = if signed { i32::try_from(number).is_ok() } else { u32::try_from(number).is_ok() };
        fits.then_some(Factor::Number(number as i64))
    };
    Some(Factors { of: [factor(a)?, factor(b)?], signed })
}

impl Lower<'_> {
    /// A register of such a product; `None` of another operation.
    pub(crate) fn product_of_widened(&mut self, op: &Op, r: usize) -> Result<Option<Reg>, String> {
        let Some(Factors { of, signed }) = factors(self.func, self.analyses.demand.defs(), op) else { return Ok(None) };
        let mut operands = Vec::new();
        for factor in of {
            operands.push(match factor {
                Factor::Value(x) if self.func.ty(x).shape == Shape::SCALAR => self.element(x, 0)?.into(),
                Factor::Value(x) => self.element(x, r)?.into(),
                Factor::Number(number) => Operand::Int(number),
            });
        }
        operands.push(Operand::Int(0));
        Ok(Some(self.arith(Opcode::MadWide, if signed { Ty::S32 } else { Ty::U32 }, &operands)))
    }
}
