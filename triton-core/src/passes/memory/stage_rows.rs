//! Copies of rows to shared memory ahead of reductions, at stage 2.
//!
//! *Before:* a row is loaded and reduced, and then meets other operands that are loaded after the reduction, such as the weight and the
//! bias of a layer norm. The row's registers are live across the reduction, and the latency of the other loads follows
//! it. *After:* all of them are copied by `cp.async`, the row by one item of a ring with one slot, then the others by
//! one of another ring, which is in flight while the row is reduced and is waited for after it. Each thread copies what
//! it holds, so that what it reads there needs no barrier; what several threads hold, one of them copies, and `sync`
//! writes the barrier. Where the row is used after a reduction, it is read again: nothing of it is live across. What is
//! computed from it by few cheap operations is rematerialised (Briggs, Cooper and Torczon, PLDI 1992).
//!
//! It is done in the kernel's own block, for loads from views that nothing writes, in whole vectors of 16 bytes, with padding that is a
//! compile-time constant, and 0 where an extent may cut a vector; if
//! three blocks still fit a multiprocessor; and not for a short row alone, since the registers of one tile are cheaper than its way through
//! memory. `num_stages = 1` switches it off.

use crate::analysis::axis::{self, AxisInfo};
use crate::analysis::defs::Defs;
use crate::analysis::read_only::ReadOnly;
use crate::analysis::remat::{Divisions, Remat, Supply};
use crate::entity::SideTable;
use crate::hash::WordMap;
use crate::ir::{Fill, Function, Inst, InstData, LayoutId, Ring, RingBuffer, RingId, Value};
use crate::layout::{Layout, Mem, access, cost};
use crate::ops::kinds::{BinaryKind, UnaryKind};
use crate::ops::{Effect, LayoutRule, Location, Op};
use crate::passes::Env;
use crate::span::Span;
use crate::types::{Constant, DType, REGISTERS};
use std::ops::Range;

/// Registers of a thread that a tile may have and stay live across a reduction.
const MAX_LIVE_REGISTERS: u64 = 16;
/// Elements of a row that a thread has from which on they are read again from shared memory, though nothing else is copied.
const LONG_ELEMENTS: usize = 64;
/// Registers of a thread beside a long row.
const RESERVED_REGISTERS: u32 = 32;
/// 32-bit registers of a thread that loads may have which are moved before a reduction.
const MAX_HOISTED_REGISTERS: u64 = 32;
/// Registers of what broadcasts, such as a row's mean.
const BROADCAST_REGISTERS: usize = 4;
/// Elementwise operations by which a tile may be rematerialised.
const MAX_REMAT_OPS: u32 = 6;
/// The same of a long one: an exponential and a few more.
const MAX_REMAT_OPS_LONG: u32 = 18;

/// See the [module's page](self).
///
/// # Errors
/// None for a function that the verifier accepts.
pub fn stage_rows(func: &mut Function, env: &Env) -> Result<(), String> {
    let insts = func.blocks[func.body].insts.clone();
    let Some(reduction) = insts.iter().position(|&inst| reduces(func, inst)) else { return Ok(()) };
    if func.num_stages < 2 || !func.rings.is_empty() {
        return Ok(());
    }
    let facts = axis::analyse(func, env.specialization);
    let read_only = ReadOnly::of(func);
    let phases = Phases::of(func, &insts);
    let copies = insts.iter().enumerate().filter_map(|(index, &inst)| {
        let copy = phases.copy(func, &facts, index, inst)?;
        read_only.contains(func, copy.from).then_some(copy)
    });
    let (mut copies, rest): (Vec<Copy>, Vec<Copy>) = copies.partition(|copy| copy.index < reduction);
    let used_after = phases.used_after(func, &insts, &copies);
    copies.retain(|copy| used_after[copy.result]);
    let at = copies.iter().map(|copy| copy.index).min().unwrap_or(reduction);
    let known = |copy: &Copy| match copy.from {
        Location::View { at: indices, .. } => phases.are_known(func, indices.as_slice(), at),
        Location::Pointers { .. } => false,
    };
    let mut bytes: u64 = func.buffers().iter().map(|&(_, buffer)| func.buffer_bytes(buffer)).sum();
    bytes += copies.iter().map(|copy| copy.mem.bytes()).sum::<u64>();
    let rows = copies.len();
    let most = u64::from(env.target.info().copied_row_bytes);
    if bytes > most || !copies.iter().all(known) {
        return Ok(());
    }
    // What does not fit is loaded early, to registers, if it has few.
    let (mut early, mut words) = (Vec::new(), 0);
    for copy in rest.into_iter().filter(known) {
        let registers = func.registers(copy.result) as u64 * u64::from(copy.mem.bits()) / 32;
        if bytes + copy.mem.bytes() <= most {
            bytes += copy.mem.bytes();
            copies.push(copy);
        } else if words + registers <= MAX_HOISTED_REGISTERS {
            words += registers;
            early.push(copy.index);
        }
    }
    // A long row alone stays in registers where it fits a thread's, and they have room for three blocks of it.
    let crowds = |copy: &Copy| {
        let elements = func.registers(copy.result);
        let registers = elements as u32 + RESERVED_REGISTERS;
        let fits = registers <= func.max_registers.unwrap_or(*REGISTERS.end());
        elements >= LONG_ELEMENTS && !(fits && env.target.resident_blocks(func.threads(), registers, 0) >= 3)
    };
    if copies.len() == rows && early.is_empty() && !copies.iter().any(crowds) {
        return Ok(());
    }
    let slots = vec![None; copies.len()];
    let known = WordMap::default();
    Writer { func, phases, copies, rows, early, at, span: Span::NONE, insts: Vec::new(), slots, known }.write(&insts)
}

/// A load of the kernel's own block that is copied.
struct Copy {
    index: usize,
    from: Location,
    result: Value,
    layout: LayoutId,
    mem: Mem,
    /// See [`RingBuffer::padding`].
    padding: u64,
}

/// Whether an instruction combines elements along an axis.
fn reduces(func: &Function, inst: Inst) -> bool {
    let mut inside = Vec::new();
    func.walk_inst(inst, &mut inside);
    inside.iter().any(|&inst| matches!(func.insts[inst].op, Op::Fold { .. }))
}

/// What an instruction uses, and those inside it.
fn operands(func: &Function, inst: Inst) -> Vec<Value> {
    let (mut inside, mut all) = (Vec::new(), Vec::new());
    func.walk_inst(inst, &mut inside);
    inside.iter().for_each(|&inst| func.insts[inst].for_each_operand(|v| all.push(v)));
    all
}

/// The kernel's own block, cut by its reductions.
struct Phases {
    /// Where values of the block are defined: the index of the instruction, and how many reductions are before it.
    defined: SideTable<Value, Option<(usize, u32)>>,
    defs: Defs,
    /// The number of reductions before each instruction.
    of: Vec<u32>,
}

impl Phases {
    fn of(func: &Function, insts: &[Inst]) -> Phases {
        let mut phases = Phases { defined: SideTable::new(None), defs: Defs::of(func), of: Vec::new() };
        let mut before = 0;
        for (index, &inst) in insts.iter().enumerate() {
            phases.of.push(before);
            before += u32::from(reduces(func, inst));
            func.insts[inst].results.iter().for_each(|&result| phases.defined[result] = Some((index, before)));
        }
        phases
    }

    /// A load as a copy, if threads can copy what they hold by whole vectors.
    fn copy(&self, func: &Function, facts: &SideTable<Value, AxisInfo>, index: usize, inst: Inst) -> Option<Copy> {
        let InstData { op: Op::Load { from, other }, ref results, .. } = func.insts[inst] else { return None };
        let (result, ty) = (results[0], func.ty(results[0]));
        let layout = func.layout_id(result)?;
        let mem = Mem::row_major(ty.shape, ty.elem.bits()).filter(|mem| mem.bits() >= 8)?;
        let width = axis::vector_width(func, facts, from);
        let whole = width * u64::from(mem.bits() / 8) >= access::WIDEST.into();
        let padding = other.map_or(Some(0), |other| self.constant(func, other))?;
        let pads = padding == 0 || !axis::is_cut(func, facts, from, width);
        let copies = whole && pads && access::takes_whole_copies(&func.layouts[layout], &mem);
        copies.then_some(Copy { index, from, result, layout, mem, padding })
    }

    /// The bits of every element, if they are known.
    fn constant(&self, func: &Function, value: Value) -> Option<u64> {
        let op = self.defs.op(func, value)?;
        if let Op::Const { value } = op {
            return Some(value.bits);
        }
        let (Op::Splat { x, .. } | Op::Broadcast { x, .. }) = op else { return None };
        self.constant(func, x)
    }

    /// Of each row, whether it, or what is rematerialised from it, is used after a reduction that follows it.
    fn used_after(&self, func: &Function, insts: &[Inst], rows: &[Copy]) -> SideTable<Value, bool> {
        let mut used = SideTable::new(false);
        for (&inst, &phase) in insts.iter().zip(&self.of) {
            for operand in operands(func, inst) {
                if self.is_before(operand, phase) {
                    let mut from = Vec::new();
                    // A tile that is not rematerialised stays in registers, whatever it was made from.
                    if self.cost(func, rows, operand, &mut from).is_some() {
                        from.into_iter().for_each(|v| used[v] = true);
                    }
                }
            }
        }
        used
    }

    fn is_before(&self, value: Value, phase: u32) -> bool {
        self.defined[value].is_some_and(|(_, defined)| defined < phase)
    }

    /// Whether scalars are known before this instruction, or can be computed there.
    fn are_known(&self, func: &Function, values: &[Value], at: usize) -> bool {
        let supply = |v: Value| {
            let later = self.defined[v].is_some_and(|(index, _)| index >= at);
            if later { Supply::Recomputed } else { Supply::Available }
        };
        let remat = Remat { func, defs: &self.defs, tiles: false, divisions: Divisions::None, reads: None };
        remat.slice(values.iter().copied(), supply).is_some()
    }

    /// How many operations rematerialise a tile, and from which rows; `None` if some are dear, or too many.
    fn cost(&self, func: &Function, rows: &[Copy], value: Value, from: &mut Vec<Value>) -> Option<u32> {
        if rows.iter().any(|row| row.result == value) {
            from.push(value);
            return Some(0);
        }
        if func.registers(value) <= BROADCAST_REGISTERS {
            return Some(0);
        }
        let op = self.defs.op(func, value)?;
        let long = func.registers(value) >= LONG_ELEMENTS;
        // Others move nothing.
        let exponential =
            long && matches!(op, Op::Unary { kind: UnaryKind::Exp | UnaryKind::Exp2 | UnaryKind::Exp2Ftz, .. });
        let (mut cost, mut known) = if exponential {
            (cost::EXPONENTIAL as u32, true)
        } else {
            (u32::from(op.layout_rule() == LayoutRule::Elementwise), is_cheap(&op))
        };
        op.for_each_operand(|v| match self.cost(func, rows, v, from) {
            Some(more) => cost += more,
            None => known = false,
        });
        (known && cost <= if long { MAX_REMAT_OPS_LONG } else { MAX_REMAT_OPS }).then_some(cost)
    }
}

/// Whether an operation takes an instruction or two for an element.
fn is_cheap(op: &Op) -> bool {
    match op.layout_rule() {
        LayoutRule::Unconstrained | LayoutRule::ShapeChange => op.effect() == Effect::Pure,
        LayoutRule::Elementwise => {
            let function = matches!(op, Op::Unary { kind, .. } if ![UnaryKind::Neg, UnaryKind::Not, UnaryKind::Abs].contains(kind));
            let division = matches!(op, Op::Binary { kind: BinaryKind::Div | BinaryKind::Rem, .. });
            op.effect() == Effect::Pure && !function && !division
        }
        LayoutRule::Carried | LayoutRule::Own => false,
    }
}

/// The one item of a ring.
struct Item {
    ring: RingId,
    item: Value,
    /// The numbers of what it copies.
    copies: Range<usize>,
    /// The phase that reads it first.
    phase: u32,
}

struct Writer<'a> {
    func: &'a mut Function,
    phases: Phases,
    copies: Vec<Copy>,
    /// How many of them, the first ones, are of rows.
    rows: usize,
    /// The loads to registers that are moved there, too.
    early: Vec<usize>,
    /// Before which instruction the copies begin.
    at: usize,
    span: Span,
    /// What is written so far.
    insts: Vec<Inst>,
    /// Where the copies have arrived, of those that have been waited for.
    slots: Vec<Option<Value>>,
    /// What is read or rematerialised, by phase.
    known: WordMap<(Value, u32), Value>,
}

impl Writer<'_> {
    fn write(mut self, insts: &[Inst]) -> Result<(), String> {
        let (mut items, mut renames) = (Vec::new(), Vec::new());
        for (index, &inst) in insts.iter().enumerate() {
            if index == self.at {
                let (rows, all) = (self.rows, self.copies.len());
                for copies in [0..rows, rows..all].into_iter().filter(|copies| !copies.is_empty()) {
                    // The copies of a row leave in flight what is copied after it.
                    let lead = if copies.end < all { 2 } else { 1 };
                    items.push(self.fills(insts, copies, lead)?);
                }
                for early in self.early.clone() {
                    self.span = self.func.insts[insts[early]].span;
                    let op = self.with_known(self.func.insts[insts[early]].op)?;
                    self.func.insts[insts[early]].op = op;
                    self.insts.push(insts[early]);
                }
            }
            if self.early.contains(&index) {
                continue;
            }
            if self.copies.iter().any(|copy| copy.index == index) {
                continue;
            }
            let phase = self.phases.of[index];
            self.span = self.func.insts[inst].span;
            let mut renamed: WordMap<Value, Value> = WordMap::default();
            for operand in operands(self.func, inst) {
                let copied = self.copies.iter().any(|copy| copy.result == operand);
                if copied || self.is_rematerialised(operand, phase) {
                    // All that the phase reads, so that its loads may be in any order.
                    items.iter().filter(|item| item.phase <= phase).try_for_each(|item| self.wait(item))?;
                    renamed.insert(operand, self.in_phase(operand, phase)?);
                }
            }
            self.insts.push(inst);
            renames.push((inst, renamed));
        }
        // Until here instructions are those of the table of definitions.
        for (inst, renamed) in renames {
            let mut inside = Vec::new();
            self.func.walk_inst(inst, &mut inside);
            for inst in inside {
                self.func.insts[inst].map_operands(|v| renamed.get(&v).copied().unwrap_or(v));
            }
        }
        for Item { ring, item, .. } in items {
            self.insert(Op::RingRelease { ring, item, first: None })?;
        }
        self.func.blocks[self.func.body].insts = self.insts;
        Ok(())
    }

    /// Some copies as the one item of a ring.
    fn fills(&mut self, insts: &[Inst], copies: Range<usize>, lead: u32) -> Result<Item, String> {
        self.span = self.func.insts[insts[self.copies[copies.start].index]].span;
        let item = self.op(Op::Const { value: Constant::int(DType::I32, 0) })?;
        let when = self.op(Op::Const { value: Constant { dtype: DType::Bool, bits: 1 } })?;
        let mut buffers = Vec::new();
        for k in copies.clone() {
            let Copy { result, layout, ref mem, padding, .. } = self.copies[k];
            let mem = mem.clone();
            let buffer = self.op(Op::SharedAlloc { ty: self.func.ty(result), at: None })?;
            self.func.set_mem(buffer, mem);
            buffers.push(RingBuffer { buffer, layout, tf32: false, padding, shared: false });
        }
        let ring = self.func.rings.push(Ring { slots: 1, fill: Fill::CpAsync { lead }, buffers: buffers.clone() });
        let mut fills = Vec::new();
        for (k, of) in copies.clone().zip(buffers) {
            let Copy { from, index, .. } = self.copies[k];
            let fill = self.with_known(Op::RingFill { buffer: of.buffer, item, from, when })?;
            fills.push((fill, self.func.insts[insts[index]].span));
        }
        for (fill, span) in fills {
            self.span = span;
            self.insert(fill)?;
        }
        let reads = |v: &Value| self.copies[copies.clone()].iter().any(|copy| copy.result == *v);
        let reader = insts.iter().position(|&inst| operands(self.func, inst).iter().any(reads));
        let phase = reader.map_or(u32::MAX, |index| self.phases.of[index]);
        Ok(Item { ring, item, copies, phase })
    }

    /// A scalar where the copies begin, computed for each operand by itself.
    fn scalar(&mut self, value: Value) -> Result<Value, String> {
        let later = self.phases.defined[value].is_some_and(|(index, _)| index >= self.at);
        let Some(op) = self.phases.defs.op(self.func, value).filter(|_| later) else { return Ok(value) };
        let op = self.with_known(op)?;
        self.op(op)
    }

    /// An operation on scalars that are known where the copies begin.
    fn with_known(&mut self, mut op: Op) -> Result<Op, String> {
        op.try_map_operands(|v| self.scalar(v))?;
        Ok(op)
    }

    /// Waits for an item, whose slots are read from then on.
    fn wait(&mut self, of: &Item) -> Result<(), String> {
        let Item { ring, item, ref copies, .. } = *of;
        if self.slots[copies.start].is_some() {
            return Ok(());
        }
        self.insert(Op::RingWait { ring, item })?;
        for (copy, RingBuffer { buffer, .. }) in copies.clone().zip(self.func.rings[ring].buffers.clone()) {
            let slot = self.op(Op::RingSlot { buffer, item })?;
            self.func.place_of[slot] = self.func.place_of[buffer];
            self.slots[copy] = Some(slot);
        }
        Ok(())
    }

    /// Whether a tile is of an earlier phase, has many registers, and can be rematerialised from rows.
    fn is_rematerialised(&self, value: Value, phase: u32) -> bool {
        let words =
            self.func.layout(value).map_or(0, Layout::registers) as u64 * u64::from(self.func.ty(value).elem.bits());
        let mut from = Vec::new();
        words > 32 * MAX_LIVE_REGISTERS
            && self.phases.is_before(value, phase)
            && self.phases.cost(self.func, &self.copies, value, &mut from).is_some()
            && !from.is_empty()
    }

    /// A tile in this phase, from what is in shared memory.
    fn in_phase(&mut self, value: Value, phase: u32) -> Result<Value, String> {
        if let Some(&known) = self.known.get(&(value, phase)) {
            return Ok(known);
        }
        let place = self.func.place_of[value];
        let copied = self.copies.iter().position(|copy| copy.result == value);
        let slot = |copy: usize| self.slots[copy].ok_or("a row that is read before it is waited for");
        let op = match (copied, self.phases.defs.op(self.func, value)) {
            (Some(copy), _) => Op::SharedLoad { buffer: slot(copy)?, part: 0, rest: None },
            (None, Some(mut op)) if self.phases.is_before(value, phase) && self.is_large(value) => {
                op.try_map_operands(|v| self.in_phase(v, phase))?;
                op
            }
            (None, _) => return Ok(value),
        };
        let known = self.op(op)?;
        self.func.place_of[known] = place;
        self.known.insert((value, phase), known);
        Ok(known)
    }

    fn is_large(&self, value: Value) -> bool {
        self.func.registers(value) > BROADCAST_REGISTERS
    }

    fn op(&mut self, op: Op) -> Result<Value, String> {
        self.func.compute(op, self.span, &mut self.insts)
    }

    /// An operation that yields nothing.
    fn insert(&mut self, op: Op) -> Result<(), String> {
        self.insts.push(self.func.make(op, self.span)?);
        Ok(())
    }
}
