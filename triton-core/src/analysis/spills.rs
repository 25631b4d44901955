//! Tiles that do not fit the registers of a thread: the assembler spills some of them to local memory.
//!
//! [`pressure`] estimates all registers of a thread at least as high as they are, pointers and intermediate results among them. A
//! warning has to be true, so that here only data of tiles counts, and of that what no order of the instructions avoids: the
//! assembler reorders them within a block as dependences allow. So these are never whole in registers:
//!
//! - what is loaded and used by one operation, or by products: it is loaded as that operation takes it,
//! - what is computed, or comes from other threads, for a reduction or a product alone, in the same way,
//! - what is only moved between global and shared memory,
//! - the parts of a tile that goes through shared memory in several: each takes the registers of one that was stored before.

use super::axis::AxisInfo;
use super::pressure::{self, FOLDED};
use crate::entity::SideTable;
use crate::ir::{Block, Function, InstData, Value};
use crate::layout::Mem;
use crate::metadata::Target;
use crate::ops::{Effect, FoldKind, LayoutRule, Op};
use crate::span::Span;
use crate::types::Shape;

/// Registers of 32 bits that an instruction can name, without the one that is always zero.
const NAMED: u32 = 255;

/// Registers of an address, without which no tile comes from or goes to memory.
const ADDRESS: u32 = 2;

/// The program point with the most live tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spills {
    /// Registers of 32 bits that a thread needs for their data.
    pub needed: u32,
    /// Registers that a thread can have.
    pub limit: u32,
    /// Whether more warps would leave it as many.
    pub more_warps: bool,
    /// The operation at which they are live.
    pub span: Span,
}

/// Where the tiles of a function at stage 2 need more registers than a thread can have.
pub fn spills(func: &Function, facts: &SideTable<Value, AxisInfo>, target: Target) -> Option<Spills> {
    let (needed, span) = pressure::peak(func, &words(func, facts), |data| pressure::temporaries(func, facts, data));
    let asked = func.max_registers.unwrap_or(NAMED);
    let (limit, more_warps) = (of_function(func, target).min(asked), limit(target, 2 * func.threads()) == NAMED);
    (needed + ADDRESS > limit).then_some(Spills { needed, limit, more_warps, span })
}

/// Registers that a thread of a function can have: of a consumer, if a producer gives it its own.
pub fn of_function(func: &Function, target: Target) -> u32 {
    let given = func.registers_by_role(target.info().registers);
    given.map_or(limit(target, func.block_threads()), |[_, most]| most)
}

/// Registers that a thread can have in a block of this many: they are allocated in units of 8, by each of four schedulers to its warps.
pub fn limit(target: Target, threads: u32) -> u32 {
    (target.info().registers / threads.next_multiple_of(128) / 8 * 8).min(NAMED)
}

/// Registers of 32 bits that the data of each tile takes where it is live.
fn words(func: &Function, facts: &SideTable<Value, AxisInfo>) -> SideTable<Value, u32> {
    let mut words = pressure::words(func, facts);
    for value in func.types.keys() {
        let ty = func.ty(value);
        if ty.elem.num().is_none() || ty.shape == Shape::SCALAR {
            words[value] = 0;
        }
    }
    let uses = Uses::of(func);
    for inst in func.walk() {
        let data = &func.insts[inst];
        let &[result] = &data.results[..] else { continue };
        if uses.is_folded(func, data, result) {
            words[result] = words[result].min(FOLDED);
        }
        if let Op::SharedLoad { rest: Some(rest), buffer, .. } = data.op
            && let Some(source) = uses.stored[buffer]
        {
            words[rest] = words[rest].saturating_sub(words[source]);
        }
    }
    words
}

/// What a value is used for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    Nothing,
    /// Reductions, or operands of products, in the block that defines it.
    Consumed,
    /// One elementwise operation there.
    Elementwise,
    /// One store to shared memory there, of all parts.
    ToShared,
    /// One store to global memory there.
    ToGlobal,
    /// Something that may need all of it.
    Whole,
}

/// The uses of each value.
struct Uses {
    of: SideTable<Value, Use>,
    /// What is stored to a buffer.
    stored: SideTable<Value, Option<Value>>,
}

impl Uses {
    fn of(func: &Function) -> Uses {
        let mut uses = Uses { of: SideTable::new(Use::Nothing), stored: SideTable::new(None) };
        uses.block(func, func.body, &pressure::reshaped(func));
        uses
    }

    fn block(&mut self, func: &Function, id: Block, reshaped: &SideTable<Value, Option<Value>>) {
        let mut defined = SideTable::new(false);
        for (_, data) in func.block(id) {
            data.results.iter().for_each(|&v| defined[v] = true);
            // The uses of a changed shape are uses of what it shows.
            if data.results.first().is_none_or(|&v| reshaped[v].is_none()) {
                data.for_each_operand(|v| {
                    let (source, used) = (reshaped[v].unwrap_or(v), Use::by(func, data, v));
                    let used = if defined[source] { used } else { Use::Whole };
                    let consumed = (self.of[source], used) == (Use::Consumed, Use::Consumed);
                    let first = self.of[source] == Use::Nothing;
                    self.of[source] = if first || consumed { used } else { Use::Whole };
                });
            }
            if let Op::SharedStore { buffer, value, .. } = data.op {
                self.stored[buffer] = Some(reshaped[value].unwrap_or(value));
            }
            data.regions.iter().for_each(|&region| self.block(func, region, reshaped));
        }
    }

    /// Whether a result is made as it is used.
    fn is_folded(&self, func: &Function, data: &InstData, result: Value) -> bool {
        let global = matches!(data.op, Op::Load { .. });
        let shared =
            matches!(data.op, Op::SharedLoad { buffer, .. } | Op::SharedSlice { buffer, .. } if is_whole(func, buffer));
        match self.of[result] {
            Use::Nothing | Use::Whole => false,
            Use::Consumed => {
                shared || data.op.layout_rule() == LayoutRule::Elementwise || matches!(data.op, Op::Convert { .. })
            }
            Use::Elementwise => shared || global,
            Use::ToShared => global,
            Use::ToGlobal => shared,
        }
    }
}

impl Use {
    /// What an instruction uses an operand for.
    fn by(func: &Function, data: &InstData, operand: Value) -> Use {
        let stores = |stored: Value| stored == operand;
        if matches!(data.op, Op::SharedStore { buffer, value, .. } if stores(value) && is_whole(func, buffer)) {
            Use::ToShared
        } else if matches!(data.op, Op::Store { value, .. } if stores(value)) {
            Use::ToGlobal
        } else if matches!(data.op, Op::Fold { kind: FoldKind::Reduce, .. })
            || matches!(data.op, Op::Dot { acc, .. } if acc != operand)
        {
            Use::Consumed
        } else if data.op.layout_rule() == LayoutRule::Elementwise && data.op.effect() == Effect::Pure {
            Use::Elementwise
        } else {
            Use::Whole
        }
    }
}

/// Whether a buffer holds all of its tile at once.
fn is_whole(func: &Function, buffer: Value) -> bool {
    func.mem(buffer).is_some_and(|mem: &Mem| mem.is_whole(func.copies(buffer)))
}
