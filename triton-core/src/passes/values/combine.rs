//! Block peepholes, at stage 0: an operation on the result of another one is replaced by one that does both (Tillet
//! 2020, §5.3.1).
//!
//! | before | after |
//! |---|---|
//! | a permutation of a permutation, a reshape of a reshape, a broadcast of a broadcast, a bitcast of a bitcast | one, or nothing if it is the identity |
//! | any of these, or an elementwise operation, on tiles of one number each | a tile of that one number, computed once |
//! | the same reduction along one axis and then along one beside it | one reduction, over the two axes as one |
//! | `if` with a condition that is known | the branch |
//! | `if a { b } else { false }`, `if a { true } else { b }`, where a few scalar operations that cannot fail compute `b` | `a & b`, `a \| b` |
//! | an address by an index that was widened from 32 bits | the same by the index itself: addresses widen it |
//! | a `select` of a masked load, used nowhere else, or of a number where the mask does not hold | a load with other padding |
//! | `select` of twice the same, `not` of `not`, a cast to the type it has, an address 0 further | the operand |
//!
//! The reduction is re-associated: at stage 0 the order of a float sum is unspecified. Explicit orders stay.
//! Requires stage 0; guarantees nothing about what became unused ([`crate::passes::values::dce`] removes it).

use crate::analysis::defs::Defs;
use crate::entity::SideTable;
use crate::hash::WordMap;
use crate::ir::{Block, Function, Inst, Value};
use crate::ops::kinds::{BinaryKind, CompareKind, UnaryKind};
use crate::ops::{BitOrder, Effect, FoldKind, LayoutRule, Location, Op};
use crate::span::Span;
use crate::types::{Constant, DType, Elem, Shape, Type};

/// The most operations of a branch that are speculated, its end included.
const SPECULATED: usize = 8;

/// See the [module's page](self).
///
/// # Errors
/// A bug in this pass.
pub fn combine(func: &mut Function) -> Result<(), String> {
    let (defs, body) = (Defs::of(func), func.body);
    Combine { func, defs, same: SideTable::new(None) }.block(body)
}

struct Combine<'a> {
    func: &'a mut Function,
    /// Definitions, with those of what is made here; uses as they were at first.
    defs: Defs,
    /// What replaces a value.
    same: SideTable<Value, Option<Value>>,
}

/// The elements that an access leaves out and a condition does not hold for.
enum LeftOut {
    /// All that it leaves out.
    All,
    /// Those for which this mask does not hold.
    Mask(Value),
    /// Those that are out of bounds along an axis.
    Axis { axis: usize, start: Value, extent: Value },
}

impl Combine<'_> {
    fn block(&mut self, id: Block) -> Result<(), String> {
        let mut insts = Vec::new();
        for inst in self.func.blocks[id].insts.clone() {
            let same = &self.same;
            self.func.insts[inst].map_operands(|v| same[v].unwrap_or(v));
            self.instruction(inst, &mut insts)?;
            let regions = self.func.insts[inst].regions.clone();
            if let Some(taken) = self.taken(inst) {
                self.block(taken)?;
                let yielded = self.func.yielded(taken).to_vec();
                let results = self.func.insts[inst].results.clone();
                results.into_iter().zip(yielded).for_each(|(result, value)| self.same[result] = Some(value));
                let branch = std::mem::take(&mut self.func.blocks[taken].insts);
                insts.extend(branch.into_iter().filter(|&inst| self.func.insts[inst].op != Op::Yield {}));
                continue;
            }
            regions.into_iter().try_for_each(|region| self.block(region))?;
            if let Some((op, speculated)) = self.logical(inst) {
                let computed = std::mem::take(&mut self.func.blocks[speculated].insts);
                insts.extend(computed.into_iter().filter(|&inst| self.func.insts[inst].op != Op::Yield {}));
                let data = &mut self.func.insts[inst];
                data.op = op;
                data.regions.clear();
            }
            insts.push(inst);
        }
        self.func.blocks[id].insts = insts;
        Ok(())
    }

    /// The branch of an `if` whose condition is known.
    fn taken(&self, inst: Inst) -> Option<Block> {
        let data = &self.func.insts[inst];
        let Op::If { cond } = data.op else { return None };
        let cond = self.number(cond)?;
        data.regions.get(usize::from(cond.bits == 0)).copied()
    }

    /// An `if` that joins two conditions as one operation on them, and the branch that it speculates.
    fn logical(&self, inst: Inst) -> Option<(Op, Block)> {
        let data = &self.func.insts[inst];
        let (Op::If { cond: a }, &[yes, no], &[result]) = (data.op, &data.regions[..], &data.results[..]) else {
            return None;
        };
        if self.func.ty(result) != Type::scalar(DType::Bool) {
            return None;
        }
        let (&[when], &[otherwise]) = (self.func.yielded(yes), self.func.yielded(no)) else { return None };
        let bit = |v: Value| self.number(v).map(|number| number.bits != 0);
        let (kind, b, branch) = match (bit(when), bit(otherwise)) {
            (_, Some(false)) => (BinaryKind::And, when, yes),
            (Some(true), _) => (BinaryKind::Or, otherwise, no),
            (_, _) => return None,
        };
        let speculative = |block: Block| {
            let insts = &self.func.blocks[block].insts;
            insts.len() <= SPECULATED && insts.iter().all(|&inst| self.speculative(inst))
        };
        Some((Op::Binary { kind, a, b }, branch)).filter(|_| speculative(yes) && speculative(no))
    }

    /// Whether an operation is cheap and free of side effects, so that it may be speculated.
    fn speculative(&self, inst: Inst) -> bool {
        let data = &self.func.insts[inst];
        let scalar = data.results.iter().all(|&v| self.func.ty(v).shape == Shape::SCALAR);
        let pure = data.op.effect() == Effect::Pure && data.op.cannot_fail(|v| self.number(v));
        data.op == Op::Yield {} || scalar && pure && data.regions.is_empty()
    }

    /// The operation that yields a value.
    fn op(&self, value: Value) -> Option<Op> {
        self.defs.op(self.func, value)
    }

    /// Simplifies one instruction; what it needs in addition goes before it.
    fn instruction(&mut self, inst: Inst, before: &mut Vec<Inst>) -> Result<(), String> {
        if let Op::Fold { kind: FoldKind::Reduce, axis, order } = self.func.insts[inst].op {
            return self.reduction(inst, axis as usize, order, before);
        }
        let op = self.func.insts[inst].op;
        let &[result] = &self.func.insts[inst].results[..] else { return Ok(()) };
        if let Op::Load { from, other: None } = op {
            return self.padding(inst, from, before);
        }
        if let Op::Offset { ptr, index } = op
            && let Some(index) = self.narrow(index, before)?
        {
            self.func.insts[inst].op = Op::Offset { ptr, index };
        } else if let Some(operand) = self.identity(&op) {
            self.same[result] = Some(operand);
        } else if let Some(op) = self.composed(&op) {
            self.func.insts[inst].op = op;
            self.same[result] = self.identity(&op);
        } else if let Some(splat) = self.of_one_number(&op, result, inst, before)? {
            self.func.insts[inst].op = splat;
        }
        Ok(())
    }

    /// The result of an operation that is put before the one at hand.
    fn make(&mut self, op: Op, span: Span, before: &mut Vec<Inst>) -> Result<Value, String> {
        let result = self.func.compute(op, span, before)?;
        before.last().into_iter().for_each(|&inst| self.defs.define(result, inst));
        Ok(result)
    }

    /// A load of which a `select` replaces some elements by a number, all of them masked off or out of bounds: it is the load's padding.
    /// Of other elements that are, padding is 0 as before.
    fn padding(&mut self, inst: Inst, from: Location, before: &mut Vec<Inst>) -> Result<(), String> {
        let loaded = self.func.insts[inst].results[0];
        let Some(select) = self.defs.only_user(loaded) else { return Ok(()) };
        let data = &self.func.insts[select];
        let (span, shape) = (data.span, self.func.ty(loaded).shape);
        let Op::Select { cond, a, b } = data.op else { return Ok(()) };
        let (true, Some(number), Some(left_out)) = (a == loaded, self.number(b), self.left_out(from, cond)) else {
            return Ok(());
        };
        let mut make = |cx: &mut Self, op: Op| cx.make(op, span, before);
        let mut other = make(self, Op::Const { value: number })?;
        if shape != Shape::SCALAR {
            other = make(self, Op::Splat { x: other, shape })?;
        }
        let inside = match left_out {
            LeftOut::All => None,
            LeftOut::Mask(cond) => Some(cond),
            LeftOut::Axis { axis, start, extent } => {
                // The condition may stand behind the load.
                let long = shape.dims()[axis];
                let line = Shape::new(&[long]).ok_or("an axis of no tile")?;
                let mut dims = vec![1; shape.rank()];
                dims[axis] = long;
                let range = make(self, Op::Arange { start: 0, end: long as i32 })?;
                let first = make(self, Op::Splat { x: start, shape: line })?;
                let index = make(self, Op::Binary { kind: BinaryKind::Add, a: first, b: range })?;
                let bound = make(self, Op::Splat { x: extent, shape: line })?;
                let below = make(self, Op::Compare { kind: CompareKind::Lt, a: index, b: bound })?;
                let among = Shape::new(&dims).ok_or("an axis of no tile")?;
                let x = make(self, Op::Reshape { x: below, shape: among })?;
                Some(make(self, Op::Broadcast { x, shape })?)
            }
        };
        if let Some(cond) = inside {
            let mut zero = make(self, Op::Const { value: Constant { bits: 0, ..number } })?;
            if shape != Shape::SCALAR {
                zero = make(self, Op::Splat { x: zero, shape })?;
            }
            other = make(self, Op::Select { cond, a: zero, b: other })?;
        }
        self.func.insts[inst].op = Op::Load { from, other: Some(other) };
        let result = self.func.insts[select].results[0];
        self.same[result] = Some(loaded);
        Ok(())
    }

    /// Where an access leaves elements out, of which a condition leaves out no others; `None` if it does, as far as is known.
    fn left_out(&self, at: Location, cond: Value) -> Option<LeftOut> {
        match at {
            Location::Pointers { mask, .. } => {
                let mask = mask.filter(|&mask| self.requires(mask, cond))?;
                Some(if mask == cond { LeftOut::All } else { LeftOut::Mask(cond) })
            }
            Location::View { base, at, shape } => {
                let (below, axis) = self.along_axis(cond)?;
                let Op::Compare { kind: CompareKind::Lt, a: index, b: bound } = self.op(below)? else { return None };
                let extent = self.func.view(base)?.extents.get(axis).copied()?;
                let start = at.as_slice()[axis];
                let bounded = matches!(self.op(bound)?, Op::Splat { x, .. } if x == extent);
                // A negative index is out of bounds, and the condition holds for it.
                let positive = self.number(start).and_then(Constant::as_int).is_some_and(|start| start >= 0);
                let all =
                    if shape.rank() == 1 && positive { LeftOut::All } else { LeftOut::Axis { axis, start, extent } };
                let narrow = self.func.ty(start) == Type::scalar(DType::I32);
                (bounded && narrow && self.counts_from(index, start)).then_some(all)
            }
        }
    }

    /// Whether a mask holds only where a condition does: it is the condition, or a conjunction with it.
    fn requires(&self, mask: Value, cond: Value) -> bool {
        mask == cond
            || matches!(self.op(mask), Some(Op::Binary { kind: BinaryKind::And, a, b })
                if self.requires(a, cond) || self.requires(b, cond))
    }

    /// A tile that is long along one axis alone, as it was before changes of shape, and that axis.
    fn along_axis(&self, value: Value) -> Option<(Value, usize)> {
        let shape = |v: Value| self.func.ty(v).shape;
        let long = |v: Value| {
            let mut long = (0..shape(v).rank()).filter(|&d| shape(v).dims()[d] > 1);
            long.next().filter(|_| long.next().is_none())
        };
        if let Op::Broadcast { x, .. } = self.op(value)? {
            let (tile, axis) = self.along_axis(x)?;
            return Some((tile, axis + shape(value).rank() - shape(x).rank()));
        }
        if let Op::Reshape { x, .. } = self.op(value)? {
            return long(x).and(long(value)).map(|axis| (x, axis));
        }
        long(value).map(|axis| (value, axis))
    }

    /// Whether a tile is this number and those after it.
    fn counts_from(&self, index: Value, start: Value) -> bool {
        let range = |v: Value| matches!(self.op(v), Some(Op::Arange { start: 0, .. }));
        let first = |v: Value| matches!(self.op(v), Some(Op::Splat { x, .. }) if x == start);
        match self.op(index) {
            Some(Op::Binary { kind: BinaryKind::Add, a, b }) => first(a) && range(b) || range(a) && first(b),
            _ => range(index) && self.number(start).and_then(Constant::as_int) == Some(0),
        }
    }

    /// The operand that an operation yields unchanged.
    #[expect(clippy::wildcard_enum_match_arm, reason = "other operations are not identities")]
    fn identity(&self, op: &Op) -> Option<Value> {
        let ty = |v: Value| self.func.ty(v);
        match *op {
            Op::Reshape { x, shape } | Op::Broadcast { x, shape } if ty(x).shape == shape => Some(x),
            Op::Permute { x, order } if (0..).zip(order.dims()).all(|(i, &axis)| i == axis) => Some(x),
            Op::Cast { x, to } | Op::Bitcast { x, to } if ty(x).elem == Elem::Num(to) => Some(x),
            Op::Select { a, b, .. } if a == b => Some(a),
            Op::Offset { ptr, index } if self.number(index).and_then(Constant::as_int) == Some(0) => Some(ptr),
            Op::Unary { kind: UnaryKind::Not, x } => match self.op(x)? {
                Op::Unary { kind: UnaryKind::Not, x } => Some(x),
                _ => None,
            },
            _ => None,
        }
    }

    /// Two operations of one kind merged into one.
    fn composed(&self, op: &Op) -> Option<Op> {
        match (*op, self.op(self.first_operand(op)?)?) {
            (Op::Reshape { shape, .. }, Op::Reshape { x, .. }) => Some(Op::Reshape { x, shape }),
            (Op::Broadcast { shape, .. }, Op::Broadcast { x, .. }) => Some(Op::Broadcast { x, shape }),
            // Axis i of the result is axis order[i] of what has axis inner[order[i]] of x there.
            (Op::Permute { order, .. }, Op::Permute { x, order: inner }) => {
                Some(Op::Permute { x, order: inner.permute(order)? })
            }
            (Op::Bitcast { to, .. }, Op::Bitcast { x, .. }) => Some(Op::Bitcast { x, to }),
            _ => None,
        }
    }

    fn first_operand(&self, op: &Op) -> Option<Value> {
        let mut first = None;
        op.for_each_operand(|v| first = first.or(Some(v)));
        first
    }

    /// The constant that all elements of a value are.
    fn number(&self, value: Value) -> Option<Constant> {
        let op = self.op(value)?;
        if let Op::Const { value } = op {
            return Some(value);
        }
        if let Op::Splat { x, .. } = op { self.number(x) } else { None }
    }

    /// An index of 64 bits as the one of 32 bits that it was made of, which addresses extend by themselves.
    fn narrow(&mut self, index: Value, before: &mut Vec<Inst>) -> Result<Option<Value>, String> {
        let Some(op) = self.op(index) else { return Ok(None) };
        let elem = |v: Value| self.func.ty(v).elem;
        if let Op::Cast { x, .. } = op {
            let widened = elem(x) == Elem::Num(DType::I32) && elem(index) == Elem::Num(DType::I64);
            return Ok(Some(x).filter(|_| widened));
        }
        let (Op::Reshape { x, .. } | Op::Broadcast { x, .. }) = op else { return Ok(None) };
        let Some(narrow) = self.narrow(x, before)? else { return Ok(None) };
        let mut shown = op;
        shown.map_operands(|_| narrow);
        let span = self.defs.definition(index).map_or(Span::NONE, |inst| self.func.insts[inst].span);
        self.make(shown, span, before).map(Some)
    }

    /// A pure operation on tiles of one number each, as a tile of what it makes of those numbers.
    fn of_one_number(
        &mut self,
        op: &Op,
        result: Value,
        inst: Inst,
        before: &mut Vec<Inst>,
    ) -> Result<Option<Op>, String> {
        let shape = self.func.ty(result).shape;
        let moves = matches!(op, Op::Reshape { .. } | Op::Broadcast { .. } | Op::Permute { .. });
        let elementwise = op.effect() == Effect::Pure && op.layout_rule() == LayoutRule::Elementwise;
        if shape == Shape::SCALAR || !(moves || elementwise) {
            return Ok(None);
        }
        let mut scalars = WordMap::default();
        let mut all = true;
        op.for_each_operand(|v| match self.op(v) {
            Some(Op::Splat { x, .. }) => _ = scalars.insert(v, x),
            _ => all = false,
        });
        if !all {
            return Ok(None);
        }
        if moves {
            let x = scalars.into_values().next();
            return Ok(x.map(|x| Op::Splat { x, shape }));
        }
        // What is promised of a tile is promised along its axes.
        let mut scalar = *op;
        if let Op::Hint { .. } = scalar {
            return Ok(None);
        }
        scalar.map_operands(|v| scalars.get(&v).copied().unwrap_or(v));
        let x = self.make(scalar, self.func.insts[inst].span, before)?;
        Ok(Some(Op::Splat { x, shape }))
    }

    /// A reduction along an axis, of one along the axis beside it.
    fn reduction(&mut self, inst: Inst, axis: usize, order: BitOrder, before: &mut Vec<Inst>) -> Result<(), String> {
        let outer = self.func.insts[inst].clone();
        let Some(first) = outer.args.first().and_then(|&v| self.defs.definition(v)) else { return Ok(()) };
        let inner = self.func.insts[first].clone();
        let Op::Fold { kind: FoldKind::Reduce, axis: inner_axis, order: BitOrder::Any } = inner.op else {
            return Ok(());
        };
        // Another use keeps the inner one.
        let used_again = inner.results.iter().any(|&v| self.defs.uses(v) > 1);
        if order != BitOrder::Any
            || used_again
            || inner.results != outer.args
            || !self.equal(inner.regions[0], outer.regions[0])
        {
            return Ok(());
        }
        // The axes as they are before the inner reduction.
        let inner_axis = inner_axis as usize;
        let outer_axis = if axis >= inner_axis { axis + 1 } else { axis };
        if inner_axis.abs_diff(outer_axis) != 1 {
            return Ok(());
        }
        let axis = inner_axis.min(outer_axis);
        let mut dims = self.func.ty(inner.args[0]).shape.dims().to_vec();
        dims[axis] *= dims[axis + 1];
        dims.remove(axis + 1);
        let shape = Shape::new(&dims).ok_or("a reduction of too many axes")?;
        if !shape.has_digits_of(self.func.ty(inner.args[0]).shape) {
            return Ok(());
        }
        let mut args = inner.args.clone();
        for arg in &mut args {
            let reshape = self.func.make(Op::Reshape { x: *arg, shape }, outer.span)?;
            let reshaped = self.func.insts[reshape].results[0];
            self.defs.define(reshaped, reshape);
            self.instruction(reshape, before)?;
            before.push(reshape);
            *arg = self.same[reshaped].unwrap_or(reshaped);
        }
        self.func.insts[inst].args = args;
        self.func.insts[inst].op = Op::Fold { kind: FoldKind::Reduce, axis: axis as i32, order };
        Ok(())
    }

    /// Whether two regions of elementwise operations do the same.
    fn equal(&self, a: Block, b: Block) -> bool {
        let (a, b) = (&self.func.blocks[a], &self.func.blocks[b]);
        let mut names: WordMap<Value, Value> = b.params.iter().copied().zip(a.params.iter().copied()).collect();
        a.insts.len() == b.insts.len()
            && a.insts.iter().zip(&b.insts).all(|(&x, &y)| {
                let (x, mut y) = (&self.func.insts[x], self.func.insts[y].clone());
                y.map_operands(|v| names.get(&v).copied().unwrap_or(v));
                names.extend(y.results.iter().copied().zip(x.results.iter().copied()));
                x.op == y.op && x.args == y.args && x.regions.is_empty() && y.regions.is_empty()
            })
    }
}
