//! Which registers of each value anything reads: the others are never emitted.
//!
//! A mask that is uniform on a vector is read once for it, a pointer at the vector's first element; what the backward slice of index
//! arithmetic before them computes for the other elements is not read. Where a value's facts say that neighbours in
//! registers are equal ([`axis`](crate::analysis::axis), *constancy*), the first of them stands for all.
//!
//! One backward walk: a use comes after the definition, but for what a loop yields, of which all registers are read.

use crate::analysis::axis::AxisInfo;
use crate::analysis::defs::Defs;
use crate::entity::SideTable;
use crate::ir::{Block, Function, Inst, InstData, Value};
use crate::layout::Layout;
use crate::layout::linear::{Basis, apply, units};
use crate::ops::{Effect, LayoutRule, Location, Op, ShapeChange};
use crate::ptx::lower::run::{MaskForm, Padding, Run, copies};
use crate::types::Shape;

/// The registers that are read, and the table of what defines and uses values.
pub(crate) struct Demand {
    read: SideTable<Value, Vec<bool>>,
    defs: Defs,
    /// How many neighbours in registers are equal: aligned runs of that many.
    runs: SideTable<Value, usize>,
    /// Values that only accesses of many addresses read: their registers are computed one by one, just before the access.
    deferred: SideTable<Value, bool>,
}

/// Addresses of one access from which on they are not all computed before it: they would take more registers than the data.
const MANY: usize = 32;

impl Demand {
    /// Whether this register of a value is read.
    pub fn reads(&self, value: Value, register: usize) -> bool {
        self.read[value].get(register).copied().unwrap_or(false)
    }

    /// Of the registers that hold equal neighbours, the first.
    pub fn representative(&self, value: Value, register: usize) -> usize {
        register & !(self.runs[value] - 1)
    }

    /// Whether the registers of a value are computed where they are read, and not before.
    pub fn is_deferred(&self, value: Value) -> bool {
        self.deferred[value]
    }

    /// Definitions and uses of the function.
    pub fn defs(&self) -> &Defs {
        &self.defs
    }
}

/// What a function at stage 2 reads.
pub(crate) fn analyse(func: &Function, facts: &SideTable<Value, AxisInfo>) -> Demand {
    let (read, defs) = (SideTable::new(Vec::new()), Defs::of(func));
    let mut demand = Demand { read, defs, runs: SideTable::new(1), deferred: SideTable::new(false) };
    for value in func.types.keys() {
        if let Some(layout) = func.layout(value) {
            demand.runs[value] = u64::from(layout.vector()).min(facts[value].constancy) as usize;
        }
    }
    let mut walk = Walk { func, facts, demand };
    walk.block(func.body);
    let mut demand = walk.demand;
    defer(func, &mut demand);
    demand
}

/// Finds what only accesses of many addresses read, in the block of the access: a loop computes nothing anew that is computed before it.
fn defer(func: &Function, demand: &mut Demand) {
    for inst in func.walk().into_iter().rev() {
        let data = &func.insts[inst];
        let &[result] = &data.results[..] else { continue };
        let cheap =
            is_elementwise(&data.op) || data.op.shape_change().is_some() || matches!(data.op, Op::Arange { .. });
        let defers = |reader: Inst| {
            let op = &func.insts[reader].op;
            let many = |ptr: Value| demand.read[ptr].iter().filter(|&&read| read).count() >= MANY;
            let access = |ptr: Value, mask: Option<Value>, data: Option<Value>| {
                many(ptr) && data != Some(result) && (ptr == result || mask == Some(result))
            };
            let address = if let Op::Load { from: Location::Pointers { ptr, mask }, other } = *op {
                access(ptr, mask, other)
            } else if let Op::Store { to: Location::Pointers { ptr, mask }, value } = *op {
                access(ptr, mask, Some(value))
            } else {
                func.insts[reader].results.first().is_some_and(|&v| demand.deferred[v])
            };
            address && demand.defs.block_of(reader) == demand.defs.block_of(inst)
        };
        let is_tile = func.ty(result).shape != Shape::SCALAR;
        if cheap && is_tile && demand.defs.uses(result) > 0 && demand.defs.users(result).all(defers) {
            demand.deferred[result] = true;
        }
    }
}

/// The register of a tile that each register of its result in another shape is.
pub(crate) fn operand_registers(
    func: &Function,
    result: Value,
    x: Value,
    change: ShapeChange,
) -> Result<Vec<usize>, String> {
    let (from, to) = (func.layout(x).map_or(1, Layout::registers), func.layout(result).map_or(1, Layout::registers));
    let map = match change {
        ShapeChange::Reshape(_) | ShapeChange::Permute(_) => units(to.trailing_zeros() as usize).collect(),
        ShapeChange::Broadcast(_) => broadcast(func, x, result)?,
    };
    let copies = change.operand_copies(func.ty(x).shape, func.ty(result).shape);
    let of_copy = |copy: usize| (0..to as u32).map(move |r| (copy, r));
    Ok(copies.into_iter().flat_map(of_copy).map(|(copy, r)| copy * from + apply(&map, r) as usize).collect())
}

/// The register of a base tile that each register of its broadcast is, if none is in another thread: a linear map, by its columns.
fn broadcast(func: &Function, x: Value, result: Value) -> Result<Vec<u32>, String> {
    let (from, to) = (func.ty(x).shape.base(), func.ty(result).shape.base());
    let (Some(src), Some(dst)) = (func.layout(x), func.layout(result)) else {
        return Err("a tile without a layout".into());
    };
    let needed = |&element: &u32| from.broadcast_index(to, element.into()) as u32;
    let registers = Basis::of(src.reg.iter().copied());
    let map = dst.reg.iter().map(|column| registers.solve(needed(column)).map(|register| register as u32));
    let mut threads = src.lane.iter().zip(&dst.lane).chain(src.warp.iter().zip(&dst.warp));
    let stays = threads.all(|(&has, wants)| has == needed(wants));
    map.collect::<Option<Vec<u32>>>()
        .filter(|_| stays)
        .ok_or_else(|| format!("a broadcast from {from} to {to} that moves elements between threads"))
}

/// Whether an operation computes each register of its result from the same one of its operands.
pub(crate) fn is_elementwise(op: &Op) -> bool {
    op.layout_rule() == LayoutRule::Elementwise && op.effect() == Effect::Pure
}

struct Walk<'a> {
    func: &'a Function,
    facts: &'a SideTable<Value, AxisInfo>,
    demand: Demand,
}

impl Walk<'_> {
    fn block(&mut self, id: Block) {
        let func = self.func;
        for &inst in func.blocks[id].insts.iter().rev() {
            self.instruction(&func.insts[inst]);
        }
    }

    /// What has no rule here reads all registers of its operands.
    fn instruction(&mut self, data: &InstData) {
        if let Op::Load { from: Location::Pointers { ptr, mask }, other } = data.op {
            return self.access(ptr, mask, other);
        }
        if let Op::Store { to: Location::Pointers { ptr, mask }, value } = data.op {
            self.access(ptr, mask, None);
            return self.all(value);
        }
        if let Op::RingFill { buffer, from: Location::Pointers { ptr, mask }, item, when } = data.op {
            // Each copy has its address and its mask, and may be of fewer elements than are contiguous.
            let widest = Run::of(self.func, self.facts, ptr, mask).map(|run| run.width);
            let width = widest.and_then(|widest| copies(self.func, buffer, widest)).map_or(1, |of| of.elements);
            for first in (0..self.registers(ptr)).step_by(width as usize) {
                [Some(ptr), mask].into_iter().flatten().for_each(|v| self.one(v, first));
            }
            return [item, when].into_iter().for_each(|v| self.all(v));
        }
        if let Some((x, change)) = data.op.shape_change() {
            if self.func.mem(x).is_some() {
                return;
            }
            return match operand_registers(self.func, data.results[0], x, change) {
                Ok(registers) => self.through(data, |walk, r| walk.one(x, registers[r])),
                Err(_) => self.all(x),
            };
        }
        if let Op::Select { cond, a, b } = data.op
            && let Some(ends) = Run::ends_of_selection(self.func, self.facts, cond, data.results[0])
        {
            ends.into_iter().for_each(|r| self.one(cond, r));
            return [a, b].into_iter().for_each(|v| self.all(v));
        }
        if is_elementwise(&data.op) {
            return self.through(data, |walk, r| data.op.for_each_operand(|v| walk.one(v, r)));
        }
        data.for_each_operand(|v| self.all(v));
        data.regions.iter().for_each(|&region| self.block(region));
    }

    /// Addresses are read at the first element of a vector; of masks and padding what their forms need on the path that most warps
    /// take.
    fn access(&mut self, ptr: Value, mask: Option<Value>, other: Option<Value>) {
        let Ok(mut run) = Run::of(self.func, self.facts, ptr, mask) else { return };
        if let Some(other) = other {
            let made = self.demand.defs.op(self.func, other);
            run = run.with_padding(self.facts, other, made);
        }
        let registers = self.registers(ptr);
        let firsts = || (0..registers).step_by(run.width);
        firsts().for_each(|first| self.one(ptr, first));
        let Some(mask) = mask else { return };
        let padded = |walk: &mut Self| match (other, run.padding) {
            (Some(other), Padding::Any) => (0..registers).for_each(|r| walk.one(other, r)),
            (Some(other), Padding::Uniform(_)) => firsts().for_each(|first| walk.one(other, first)),
            (None, _) => {}
        };
        let ends = run.ends(self.func, self.facts, mask, 0..registers);
        match (run.mask, ends) {
            (_, Some(ends)) => {
                ends.into_iter().for_each(|r| self.one(mask, r));
                // Padding that is one number a run is computed on the other paths.
                if run.padding == Padding::Any {
                    padded(self);
                }
                return;
            }
            (MaskForm::Uniform, None) => firsts().for_each(|first| self.one(mask, first)),
            (MaskForm::Prefix, None) => {
                self.both_ends(run, mask, registers);
                let cond = if let Padding::Uniform(cond) = run.padding { cond } else { None };
                cond.into_iter().for_each(|cond| self.both_ends(run, cond, registers));
            }
            (MaskForm::Any, None) => (0..registers).for_each(|r| self.one(mask, r)),
        }
        padded(self);
    }

    fn both_ends(&mut self, run: Run, mask: Value, registers: usize) {
        for first in (0..registers).step_by(run.width) {
            [first, first + run.width - 1].into_iter().for_each(|r| self.one(mask, r));
        }
    }

    /// What the registers of the result read.
    fn through(&mut self, data: &InstData, mut reads: impl FnMut(&mut Self, usize)) {
        let Some(&result) = data.results.first() else { return };
        for r in 0..self.registers(result) {
            if self.demand.reads(result, r) {
                reads(self, r);
            }
        }
    }

    fn all(&mut self, value: Value) {
        (0..self.registers(value)).for_each(|r| self.one(value, r));
    }

    fn one(&mut self, value: Value, register: usize) {
        let registers = self.registers(value);
        let register = self.demand.representative(value, register);
        let read = &mut self.demand.read[value];
        read.resize(registers, false);
        read[register] = true;
    }

    fn registers(&self, value: Value) -> usize {
        let tile = self.func.ty(value).shape != Shape::SCALAR;
        if tile { self.func.registers(value) } else { 1 }
    }
}
