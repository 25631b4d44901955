//! Rematerialisation: whether values can be computed again at another place, and by which instructions (Briggs, Cooper and Torczon,
//! "Rematerialization", PLDI 1992).
//!
//! The answer is a backward slice: the instructions from what the place has to the values, each once and after those that it uses. What the
//! place has, the caller says of each value ([`Supply`]); which operations may run there, the fields of [`Remat`] say:
//!
//! | pass | the place | what it has | what may run there |
//! |---|---|---|---|
//! | `schedule` | a later iteration, which may never run | its counter, values from outside the loop | what cannot fail, on tiles too; repeatable reads |
//! | `stage_rows` | an earlier instruction of the block | what is defined before it | operations on scalars but divisions |
//! | `persist` | the same instruction, for another program | its indices, what all programs share | operations on scalars |
//! | `multicast` | the same instruction, in a neighbour | the arguments, the loop's counter | operations on scalars |
//!
//! `multicast` computes nothing again: what a slice computes from equal values is equal.
//!
//! `map_programs` asks another question: on which axes of the grid a value depends, be it through a load, a branch or what a loop carries,
//! where a slice ends. So it has a data-flow analysis of its own. `place` rematerialises what is free in any layout, where it stood.

use crate::analysis::defs::Defs;
use crate::analysis::read_only::ReadOnly;
use crate::hash::WordMap;
use crate::ir::{Function, Inst, InstData, Value};
use crate::ops::{Effect, LayoutRule, Op};
use crate::span::Span;
use crate::types::Shape;

/// What the place has of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Supply {
    /// The value, or another one that takes its place.
    Available,
    /// Nothing: it is computed again there, if it can be.
    Recomputed,
    /// Nothing, and it may not be computed again.
    Unavailable,
}

/// Integer divisions that may run at the place: one by 0 fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Divisions {
    /// All.
    Any,
    /// Those by a constant with which they cannot fail.
    ByConstants,
    /// None.
    None,
}

/// See the [module's page](self).
pub struct Remat<'a> {
    /// The function.
    pub func: &'a Function,
    /// Its definitions.
    pub defs: &'a Defs,
    /// Whether tiles in registers may be computed again, and not only scalars.
    pub tiles: bool,
    /// The integer divisions that may be.
    pub divisions: Divisions,
    /// The reads that may be repeated; `None` if no read may be.
    pub reads: Option<&'a ReadOnly>,
}

impl Remat<'_> {
    /// The instructions that compute values again, in order; `None` if one of the values can be neither had nor computed.
    pub fn slice(
        &self,
        values: impl IntoIterator<Item = Value>,
        supply: impl Fn(Value) -> Supply,
    ) -> Option<Vec<Inst>> {
        let mut slice = Vec::new();
        values.into_iter().all(|value| self.extend(value, &supply, &mut slice)).then_some(slice)
    }

    fn extend(&self, value: Value, supply: &dyn Fn(Value) -> Supply, slice: &mut Vec<Inst>) -> bool {
        match supply(value) {
            Supply::Available => return true,
            Supply::Unavailable => return false,
            Supply::Recomputed => {}
        }
        let Some(inst) = self.defs.definition(value) else { return false };
        if slice.contains(&inst) {
            return true;
        }
        let data = &self.func.insts[inst];
        let mut known = self.may_run(data, value);
        data.op.for_each_operand(|v| known = known && self.extend(v, supply, slice));
        slice.push(inst);
        known
    }

    /// Whether the place may run an instruction for this result of it.
    fn may_run(&self, data: &InstData, result: Value) -> bool {
        let op = &data.op;
        if let Op::Load { from, .. } = *op {
            return self.reads.is_some_and(|reads| reads.contains(self.func, from));
        }
        let computes = match op.layout_rule() {
            LayoutRule::Unconstrained | LayoutRule::Elementwise => true,
            LayoutRule::ShapeChange | LayoutRule::Own => self.tiles,
            LayoutRule::Carried => false,
        };
        // What a region computes, and from what, its operation does not say.
        let pure = op.effect() == Effect::Pure && data.regions.is_empty();
        let fits =
            if self.tiles { self.func.mem(result).is_none() } else { self.func.ty(result).shape == Shape::SCALAR };
        let divides = match self.divisions {
            Divisions::Any => true,
            Divisions::ByConstants => op.cannot_fail(|v| self.defs.constant(self.func, v)),
            Divisions::None => op.cannot_fail(|_| None),
        };
        computes && pure && fits && divides
    }
}

/// Computes the instructions of a slice again, after those of `insts`. `renamed` has what stands for available values. What it has of the
/// slice is not computed twice, and what is computed is added to it.
///
/// # Errors
/// None for a slice of a function that the verifier accepts.
pub fn repeat(
    func: &mut Function,
    slice: &[Inst],
    renamed: &mut WordMap<Value, Value>,
    span: Span,
    insts: &mut Vec<Inst>,
) -> Result<(), String> {
    for &inst in slice {
        let InstData { mut op, ref results, .. } = func.insts[inst];
        let &[result] = &results[..] else { return Err(format!("`{}` in a slice", op.mnemonic())) };
        if renamed.contains_key(&result) {
            continue;
        }
        op.map_operands(|v| renamed.get(&v).copied().unwrap_or(v));
        let again = func.compute(op, span, insts)?;
        func.place_of[again] = func.place_of[result];
        renamed.insert(result, again);
    }
    Ok(())
}
