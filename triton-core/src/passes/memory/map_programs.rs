//! The order in which blocks run programs, before loads become fills: grouped raster.
//!
//! *Before:* block (x, y, z) runs program (x, y, z). *After*, where loops load tiles of which some depend on the program's index along the
//! first axis and others on that along the second, as the operands of a product do: blocks walk the grid in bands of some programs along
//! the first axis ([`Function::raster`]). Programs that run together then load a few rows and a few columns of tiles, and find in the L2
//! cache what others loaded; along the first axis alone they load a row's tiles once, and the others as often as there are programs.
//!
//! A program's index is virtual: no result depends on which block runs it, unless a program waits for another one. So a function with
//! an atomic operation in a `while` keeps its order.
//!
//! The width of a band is what Triton's matrix product calls `GROUP_SIZE_M` (Tillet, "Triton tutorials: Matrix Multiplication"). A wave of
//! `P` programs in bands of `g` loads `g · b₀ + P / g · b₁` bytes a turn, `b₀` and `b₁` of them for a program: least at
//! `g = √(P · b₁ / b₀)`.

use crate::analysis::forward::{Analysis, forward};
use crate::entity::SideTable;
use crate::ir::{Function, Inst, InstData, Value};
use crate::ops::{AccessEffect, Control, GridAxis, Location, Op};
use crate::passes::Env;
use crate::types::Type;

/// The widest band.
const MAX_BAND_PROGRAMS: u64 = 16;

/// See the [module's page](self).
pub fn map_programs(func: &mut Function, env: &Env) {
    let walk = func.walk();
    let reads = |axis: u8| walk.iter().any(|&inst| func.insts[inst].op == Op::ProgramId { axis: GridAxis(axis) });
    if func.blocks_of_cluster() > 1 || !reads(0) || !reads(1) || walk.iter().any(|&inst| waits(func, inst)) {
        return;
    }
    let axes = forward(func, &Dependence, SideTable::new(Axes(0)));
    let mut bytes = [0; 2];
    for (from, ty) in walk.iter().flat_map(|&inst| loaded_by_turns(func, inst)) {
        let along = [1, 2].map(|axis| from.any(|v| axes[v].0 & axis != 0));
        if let Some(axis) = [[true, false], [false, true]].iter().position(|&only| only == along) {
            bytes[axis] += ty.shape.elements() * u64::from(ty.elem.bits()) / 8;
        }
    }
    let [first, second] = bytes;
    if first > 0 && second > 0 {
        // One program runs on each multiprocessor.
        let wave = u64::from(env.target.info().multiprocessors);
        let band = (wave * second / first).isqrt().min(MAX_BAND_PROGRAMS);
        func.raster = band.checked_ilog2().filter(|&bits| bits > 0).map(|bits| 1 << bits);
    }
}

/// The order of programs, in a line; nothing of the grid's own.
pub(crate) fn explain(func: &Function) -> String {
    func.raster.map_or(String::new(), |band| format!("programs in bands of {band} along the first axis\n"))
}

/// Whether an instruction may wait until another program has done something.
pub(crate) fn waits(func: &Function, inst: Inst) -> bool {
    let mut inside = Vec::new();
    if func.insts[inst].op.control().is_some_and(Control::may_wait) {
        func.walk_inst(inst, &mut inside);
    }
    let updates = |&inst: &Inst| func.insts[inst].op.access().is_some_and(|of| of.effect == AccessEffect::Update);
    inside.iter().any(updates)
}

/// What each turn of a loop loads, and the type of its tiles.
fn loaded_by_turns(func: &Function, inst: Inst) -> Vec<(Location, Type)> {
    let mut inside = Vec::new();
    if func.insts[inst].op.control().is_some_and(Control::repeats) {
        func.walk_inst(inst, &mut inside);
    }
    let load = |inst: Inst| match (func.insts[inst].op, &func.insts[inst].results[..]) {
        (Op::Load { from, .. }, &[result]) => Some((from, func.ty(result))),
        (Op::RingFill { from, buffer, .. }, _) => Some((from, func.ty(buffer))),
        _ => None,
    };
    inside.into_iter().filter_map(load).collect()
}

/// The axes of the grid along which the program's index decides a value: a bit for each of the first two. The number of programs is the
/// same for all, and the third axis lies outside the bands.
#[derive(Clone, Copy, PartialEq)]
struct Axes(u8);

struct Dependence;

impl Analysis for Dependence {
    type Fact = Axes;

    fn join(a: Axes, b: Axes) -> Axes {
        Axes(a.0 | b.0)
    }

    fn counter(&self, start: Axes, _: Axes, step: Axes) -> Axes {
        Dependence::join(start, step)
    }

    fn transfer(&self, inst: &InstData, _: Value, facts: &SideTable<Value, Axes>) -> Axes {
        let mut all = if let Op::ProgramId { axis } = inst.op { Axes(1 << axis.0 & 3) } else { Axes(0) };
        inst.for_each_operand(|v| all = Dependence::join(all, facts[v]));
        all
    }
}
