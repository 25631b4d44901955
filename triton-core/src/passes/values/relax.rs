//! What a kernel with `fast_math` means: float arithmetic with other roundings, which costs less. `ex2.approx` without `.ftz`
//! is three instructions more. At stage 0, before all other passes.
//!
//! | before | after | difference |
//! |---|---|---|
//! | `a · b + c`, `a · b − c`, `c − a · b` in one block, if nothing else uses the product | `fma` of these, with an operand negated, or the fewer elements that it is made of | rounded once, and not twice |
//! | `a / b` in `f32` and `f64`, if elements of `b` are replicas of fewer: of one number, or along an axis | `a · (1 / b)`, with a division for each of the fewer | within 2 ulp of the quotient, where `1 / b` is a normal number |
//! | `exp2(x)` in `f32` | `exp2.ftz(x)` | a result below 2⁻¹²⁶ is 0 |
//!
//! In `f32` a quotient is not if |b| is above 2¹²⁶, where the quotient is less exact, or at most 2⁻¹²⁸, where it is
//! infinite, and NaN for an `a` of 0. The half types keep their divisions, since so few of their numbers have a
//! reciprocal that is normal. Nothing else is changed: other functions have the bounds that they have without, there
//! are NaN, infinities and zeros with a sign, and sums keep their order.
//!
//! This is the one pass that changes results. It is not an optimisation, but what the option says: it runs once, on what the
//! checker made, and what comes out is embedded, run by the CPU device and compiled. So all devices still agree, bit for bit.
//! Run again, it finds nothing more. Requires stage 0.

use crate::analysis::defs::Defs;
use crate::entity::SideTable;
use crate::ir::{Block, Function, Inst, Value};
use crate::ops::Op;
use crate::ops::kinds::{BinaryKind, TernaryKind, UnaryKind};
use crate::span::Span;
use crate::types::{Constant, DType, Elem, Shape};

/// See the [module's page](self).
///
/// # Errors
/// A bug in this pass.
pub fn relax(func: &mut Function) -> Result<(), String> {
    if !func.fast_math {
        return Ok(());
    }
    let (defs, body) = (Defs::of(func), func.body);
    Relax { func, defs, fused: SideTable::new(false), insts: Vec::new() }.block(body)
}

struct Relax<'a> {
    func: &'a mut Function,
    /// Definitions and uses as they were at first.
    defs: Defs,
    /// Products that are part of another operation.
    fused: SideTable<Inst, bool>,
    /// The block, as far as it is done.
    insts: Vec<Inst>,
}

impl Relax<'_> {
    fn block(&mut self, id: Block) -> Result<(), String> {
        let outer = std::mem::take(&mut self.insts);
        for inst in self.func.blocks[id].insts.clone() {
            self.func.insts[inst].regions.clone().into_iter().try_for_each(|region| self.block(region))?;
            if let Some(op) = self.relaxed(id, inst)? {
                self.func.insts[inst].op = op;
            }
            self.insts.push(inst);
        }
        let mut insts = std::mem::replace(&mut self.insts, outer);
        insts.retain(|&inst| !self.fused[inst]);
        self.func.blocks[id].insts = insts;
        Ok(())
    }

    /// What an instruction becomes; what that needs is written before it.
    fn relaxed(&mut self, block: Block, inst: Inst) -> Result<Option<Op>, String> {
        let (span, op) = (self.func.insts[inst].span, self.func.insts[inst].op);
        if let Op::Unary { kind: UnaryKind::Exp2, x } = op {
            let single = self.func.ty(x).elem == Elem::Num(DType::F32);
            return Ok(single.then_some(Op::Unary { kind: UnaryKind::Exp2Ftz, x }));
        }
        let Op::Binary { kind, a, b } = op else { return Ok(None) };
        let Some(dtype) = self.func.ty(a).elem.num().filter(|dtype| dtype.is_float()) else { return Ok(None) };
        if kind == BinaryKind::Div {
            return self.by_reciprocal(dtype, [a, b], span);
        }
        if !matches!(kind, BinaryKind::Add | BinaryKind::Sub) {
            return Ok(None);
        }
        let subtracts = kind == BinaryKind::Sub;
        let (product, [mut x, y], mut c) = match (self.product(block, a), self.product(block, b)) {
            (Some((product, factors)), _) => (product, factors, b),
            (None, Some((product, factors))) => (product, factors, a),
            (None, None) => return Ok(None),
        };
        self.fused[product] = true;
        if subtracts {
            let negated = if c == b { &mut c } else { &mut x };
            let (x, changes) = self.fewest(*negated).unwrap_or((*negated, Vec::new()));
            let negative = self.func.compute(Op::Unary { kind: UnaryKind::Neg, x }, span, &mut self.insts)?;
            *negated = self.changed(negative, &changes, span)?;
        }
        Ok(Some(Op::Ternary { kind: TernaryKind::Fma, a: x, b: y, c }))
    }

    /// The factors of a product that is used once, in this block, which computes it.
    fn product(&self, block: Block, value: Value) -> Option<(Inst, [Value; 2])> {
        let inst = self.defs.definition_in(value, block).filter(|_| self.defs.is_used_once(value))?;
        let Op::Binary { kind: BinaryKind::Mul, a, b } = self.func.insts[inst].op else { return None };
        Some((inst, [a, b]))
    }

    /// `a / b` by the reciprocals of the numbers that `b` is made of, if these are fewer than its elements.
    fn by_reciprocal(&mut self, dtype: DType, [a, b]: [Value; 2], span: Span) -> Result<Option<Op>, String> {
        if !matches!(dtype, DType::F32 | DType::F64) {
            return Ok(None);
        }
        let Some((divisor, changes)) = self.fewest(b) else { return Ok(None) };
        let one = Constant::parse_float(dtype, "1.0").ok_or("a type without 1")?;
        let mut one = self.func.compute(Op::Const { value: one }, span, &mut self.insts)?;
        let shape = self.func.ty(divisor).shape;
        if shape != Shape::SCALAR {
            one = self.func.compute(Op::Splat { x: one, shape }, span, &mut self.insts)?;
        }
        let reciprocal =
            self.func.compute(Op::Binary { kind: BinaryKind::Div, a: one, b: divisor }, span, &mut self.insts)?;
        Ok(Some(Op::Binary { kind: BinaryKind::Mul, a, b: self.changed(reciprocal, &changes, span)? }))
    }

    /// The numbers that a tile is made of, if these are fewer than its elements, and by which changes of shape, the last one first.
    fn fewest(&self, tile: Value) -> Option<(Value, Vec<Op>)> {
        let (mut changes, mut fewer, mut at) = (Vec::new(), None, tile);
        while let Some(op) = self.defs.op(self.func, at) {
            let x = if let Op::Splat { x, .. } = op { Some(x) } else { op.shape_change().map(|(x, _)| x) };
            let Some(x) = x else { break };
            changes.push(op);
            if self.func.ty(x).shape.elements() < self.func.ty(at).shape.elements() {
                fewer = Some((x, changes.len()));
            }
            at = x;
        }
        let (x, depth) = fewer?;
        changes.truncate(depth);
        Some((x, changes))
    }

    /// The same changes of shape of other numbers.
    fn changed(&mut self, mut value: Value, changes: &[Op], span: Span) -> Result<Value, String> {
        for mut change in changes.iter().rev().copied() {
            change.map_operands(|_| value);
            value = self.func.compute(change, span, &mut self.insts)?;
        }
        Ok(value)
    }
}
