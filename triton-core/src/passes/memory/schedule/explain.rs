//! What is loaded ahead in scheduled code, and why what is not is not.

use super::roles;
use crate::analysis::axis::{self, AxisInfo};
use crate::analysis::defs::Defs;
use crate::analysis::read_only::ReadOnly;
use crate::analysis::remat::{Divisions, Remat, Supply};
use crate::entity::SideTable;
use crate::ir::{Block, Function, Inst, RingBuffer, RingId, Value};
use crate::layout::{Mem, access};
use crate::ops::{Location, Op};
use crate::passes::Env;
use crate::types::Shape;

/// The rings of a scheduled function, a line each: how many stages, and what each of them holds; and who fills them. Then the other loads of each loop: those that are
/// ahead in registers, and those of the turn itself, with the reason. Loads of one line of the source are told once.
pub(crate) fn explain(func: &Function, env: &Env) -> String {
    let rings = func.rings.keys().map(|id| ring(func, id)).collect::<String>();
    let facts = axis::analyse(func, env.specialization);
    let (defs, read_only) = (Defs::of(func), ReadOnly::of(func));
    let loads = Loads { func, facts: &facts, defs: &defs, read_only: &read_only };
    let is_loop = |&inst: &Inst| matches!(func.insts[inst].op, Op::For { .. } | Op::While {});
    let mut lines: Vec<String> = Vec::new();
    for line in func.walk().into_iter().filter(is_loop).flat_map(|around| loads.of_loop(around)) {
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    rings + &roles::explain(func) + &lines.concat()
}

fn ring(func: &Function, id: RingId) -> String {
    let ring = &func.rings[id];
    let tile =
        |of: &RingBuffer| format!("{} of {} bytes", func.ty(of.buffer), func.mem(of.buffer).map_or(0, Mem::bytes));
    let tiles: Vec<String> = ring.buffers.iter().map(tile).collect();
    match ring.slots {
        slots if func.is_of_results(id) => format!("results in {slots} slots of {}, by TMA\n", tiles.join(", ")),
        1 => format!("copied ahead of reductions: {}\n", tiles.join(", ")),
        slots if func.is_stored(id) => format!("{slots} slots of {}, stored by threads\n", tiles.join(", ")),
        slots => {
            format!("{slots} stages of {}{}\n", tiles.join(", "), if ring.fill.is_bulk() { ", by TMA" } else { "" })
        }
    }
}

/// What a turn of a loop does.
#[derive(Default)]
struct Turn {
    /// Its loads, and whether a condition decides on each.
    loads: Vec<(Inst, bool)>,
    /// Whether it has a product.
    multiplies: bool,
}

struct Loads<'a> {
    func: &'a Function,
    facts: &'a SideTable<Value, AxisInfo>,
    defs: &'a Defs,
    read_only: &'a ReadOnly,
}

impl Loads<'_> {
    fn of_loop(&self, around: Inst) -> Vec<String> {
        let mut turn = Turn::default();
        for &region in &self.func.insts[around].regions {
            self.collect(region, false, &mut turn);
        }
        turn.loads.iter().filter_map(|&(inst, asked)| self.of_load(around, turn.multiplies, inst, asked)).collect()
    }

    /// What a turn does outside loops in it.
    fn collect(&self, block: Block, asked: bool, turn: &mut Turn) {
        for (inst, data) in self.func.block(block) {
            if let Op::Load { .. } = data.op {
                turn.loads.push((inst, asked));
            }
            if let Op::If { .. } = data.op {
                data.regions.iter().for_each(|&region| self.collect(region, true, turn));
            }
            turn.multiplies |= matches!(data.op, Op::Dot { .. });
        }
    }

    fn of_load(&self, around: Inst, multiplies: bool, inst: Inst, asked: bool) -> Option<String> {
        let (data, sources) = (&self.func.insts[inst], &self.func.sources);
        let (Op::Load { from, other }, &[tile]) = (data.op, &data.results[..]) else { return None };
        let ty = self.func.ty(tile);
        if ty.shape == Shape::SCALAR {
            return None;
        }
        let at = sources.describe(data.span).map_or(String::new(), |at| format!(" @{at}"));
        let regions = &self.func.insts[around].regions;
        if regions.iter().any(|&region| self.func.yielded(region).contains(&tile)) {
            return Some(format!("ahead, in registers: {ty}{at}\n"));
        }
        let why = if !multiplies {
            "no product reads it"
        } else if matches!(self.func.insts[around].op, Op::While {}) {
            "the turns of a `while` are not counted"
        } else if asked {
            "it is loaded if a condition holds"
        } else {
            self.why(around, regions[0], from, other)
        };
        Some(format!("in its own turn: {ty}{at}, as {why}\n"))
    }

    /// Why a ring does not take a load.
    fn why(&self, around: Inst, region: Block, from: Location, other: Option<Value>) -> &'static str {
        let func = self.func;
        let mut operands = Vec::new();
        Op::Load { from, other: None }.for_each_operand(|v| operands.push(v));
        let (counter, inside) = (func.blocks[region].params[0], func.defined_in(&[region]));
        let supply = |v: Value| if v == counter || !inside[v] { Supply::Available } else { Supply::Recomputed };
        let (divisions, reads) = (Divisions::ByConstants, Some(self.read_only));
        let remat = Remat { func, defs: self.defs, tiles: true, divisions, reads };
        let width = axis::vector_width(func, self.facts, from);
        let bytes = width * func.pointee(from).map_or(0, |dtype| u64::from(dtype.bytes()));
        if func.stages(around) < 2 {
            "the loop has one stage"
        } else if other.is_some() {
            "a ring pads with 0 alone"
        } else if !self.read_only.is_constant(func, from) {
            "its memory may be written"
        } else if remat.slice(operands, supply).is_none() {
            "its address depends on what the turn computes"
        } else if matches!(from, Location::Pointers { .. }) && axis::is_cut(func, self.facts, from, width) {
            "its mask may cut a vector"
        } else if bytes < access::NARROWEST_COPY.into() {
            "a thread copies 4 bytes or more"
        } else {
            "no product reads it as it was copied, or there is no room"
        }
    }
}
