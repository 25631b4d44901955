//! Prints the choice and its cost.

use super::accessed;
use super::emit::Written;
use super::graph::{Graph, VarKind, is_tile, weight};
use super::labelling::Choice;
use crate::analysis::axis::{self, AxisInfo};
use crate::analysis::scalars::Scalars;
use crate::entity::SideTable;
use crate::ir::print::Places;
use crate::ir::{Block, Function, Inst, InstData, LayoutId, Value};
use crate::layout::access::{Access, Form};
use crate::layout::convert::{self, Plan};
use crate::layout::cost;
use crate::metadata::{Arg, TargetInfo};
use crate::ops::{Control, DotKind, Op};
use crate::passes::Env;
use std::collections::BTreeSet;
use std::fmt::Write;

/// The lines of a placed function; `func` is what [`super::emit`] has written. Of a launch the arguments say how often loops run.
pub(super) fn explain(func: &Function, env: &Env, written: &Written, args: Option<&[Arg]>) -> String {
    let Written { graph, chosen, recomputed } = written;
    let mut ratio = SideTable::new(1.0);
    if let Some(args) = args {
        ratios(func, graph, &mut Scalars::new(func, args, None), func.body, &mut ratio);
    }
    let facts = axis::analyse(func, env.specialization);
    let mut lines = Lines {
        func,
        target: env.target.info(),
        facts,
        graph,
        chosen,
        recomputed,
        out: String::new(),
        places: Places::of(func),
        used: BTreeSet::new(),
        ratio,
        converts: 0,
        own: 0.0,
        moved: 0.0,
    };
    lines.block(func.body);
    // Without arguments every operation runs as often as was assumed.
    let own: f64 = if args.is_some() { lines.own } else { chosen.iter().map(|choice| choice.cost).sum() };
    let mut out = String::new();
    for (name, layout) in lines.used {
        let _ = writeln!(out, "layout {name} = {}", func.layouts[layout]);
    }
    out.push_str(&lines.out);
    let _ = writeln!(
        out,
        "{:.1} cycles: {own:.1} of operations, {:.1} of {} conversions",
        own + lines.moved,
        lines.moved,
        lines.converts
    );
    out
}

struct Lines<'a> {
    func: &'a Function,
    target: &'static TargetInfo,
    facts: SideTable<Value, AxisInfo>,
    graph: &'a Graph,
    chosen: &'a [Choice],
    /// Operations that were recomputed.
    recomputed: &'a [Inst],
    out: String,
    places: Places,
    /// Layouts that are named, by their name in the text of the function.
    used: BTreeSet<(LayoutId, LayoutId)>,
    /// How often a block runs, over how often layout assignment assumes that it does.
    ratio: SideTable<Block, f64>,
    converts: usize,
    own: f64,
    moved: f64,
}

/// Compares how often blocks run with what was assumed.
fn ratios(func: &Function, graph: &Graph, scalars: &mut Scalars<'_>, block: Block, ratio: &mut SideTable<Block, f64>) {
    for (inst, data) in func.block(block) {
        if data.regions.is_empty() {
            scalars.define(inst, data);
        }
        for (number, &region) in data.regions.iter().enumerate() {
            let assumed = graph.runs(region) / graph.runs(block);
            let runs = match data.op.control() {
                Some(Control::For(bounds)) => scalars.trips(bounds),
                Some(Control::If(cond)) => {
                    scalars.value(cond).map(|holds| f64::from(u8::from((holds != 0) == (number == 0))))
                }
                Some(Control::While | Control::Yield) | None => None,
            };
            ratio[region] = ratio[block] * runs.map_or(1.0, |runs| runs / assumed);
            ratios(func, graph, scalars, region, ratio);
        }
    }
}

impl Lines<'_> {
    fn block(&mut self, block: Block) {
        for (inst, data) in self.func.block(block) {
            if let Op::Convert { x } = data.op {
                self.convert(block, data, x);
            } else if let Some(var) = self.graph.var_of[inst]
                && self.graph.vars[var].insts[0] == inst
            {
                self.operation(block, var, data);
            } else if self.recomputed.contains(&inst) {
                let registers = self.func.registers(data.results[0]) as f64;
                let once = registers * f64::from(self.func.num_warps) * weight(self.func, &data.op) * cost::ISSUE;
                let what = format!("{} again {}", data.op.mnemonic(), self.tile(data.results[0]));
                let runs = self.runs(block);
                self.moved += runs * once;
                self.line(data, runs, &what, runs * once);
            } else {
                self.carried(inst, data);
            }
            data.regions.iter().for_each(|&region| self.block(region));
        }
    }

    fn line(&mut self, data: &InstData, freq: f64, what: &str, cost: f64) {
        let at = self.func.sources.describe(data.span).map_or(String::new(), |at| format!(" @{at}"));
        let _ = writeln!(self.out, "{cost:>10.1}  x{freq:<5} {what}{at}");
    }

    /// How often a block runs.
    fn runs(&self, block: Block) -> f64 {
        self.graph.runs(block) * self.ratio[block]
    }

    /// The line of a variable that runs with a block.
    fn variable(&mut self, block: Block, var: usize, data: &InstData, what: &str) {
        let (ratio, cost) = (self.ratio[block], self.chosen[var].cost);
        self.own += cost * ratio;
        self.line(data, self.graph.vars[var].freq * ratio, what, cost * ratio);
    }

    fn operation(&mut self, block: Block, var: usize, data: &InstData) {
        let (func, variable) = (self.func, &self.graph.vars[var]);
        let names: Vec<&str> = variable.insts.iter().map(|&inst| func.insts[inst].op.mnemonic()).collect();
        let last = variable.insts.last().map_or(data, |&inst| &func.insts[inst]);
        let results = self.results(&last.results);
        let mut what = names.join(" ");
        match (variable.kind, data.op) {
            (VarKind::Dot, Op::Dot { kind, a, b, .. }) => {
                let how = match kind {
                    DotKind::Wgmma => "wgmma",
                    DotKind::Mma | DotKind::MmaM8 => "mma",
                    DotKind::Any | DotKind::Tf32 | DotKind::Fma => "fma",
                };
                let _ = write!(what, " {how} of {} and {} to {results}", self.tile(a), self.tile(b));
            }
            (VarKind::Fold, _) => {
                let _ = write!(what, " of {} to {results}", self.tile(data.args[0]));
            }
            (VarKind::Access, op) => {
                let stored =
                    if let Op::Store { value, .. } | Op::Atomic { value, .. } | Op::AtomicCas { value, .. } = op {
                        Some(value)
                    } else {
                        None
                    };
                let moved = if results.is_empty() { stored.map_or(String::new(), |v| self.tile(v)) } else { results };
                let _ = write!(what, " {moved}");
                let tile = data.accessed_tile();
                let layout = tile.and_then(|tile| Some((func.layout(tile)?, func.registers(tile))));
                let accessed = accessed(func, self.graph, &self.facts, self.target, variable.insts[0]);
                if let Some(((layout, registers), (_, width))) = layout.zip(accessed) {
                    let width = width.min(layout.vector().into());
                    let _ = write!(what, ", {} of {width} elements", registers as u64 / width);
                }
            }
            _ => {
                let _ = write!(what, " {results}");
            }
        }
        self.variable(block, var, data, &what);
    }

    /// `v7: f32[16,16] #0`, for each tile among these values: those that have their number since stage 0.
    fn results(&mut self, values: &[Value]) -> String {
        let tiles: Vec<Value> = values.iter().copied().filter(|&v| is_tile(self.func, v)).collect();
        tiles.into_iter().map(|v| format!("{v}: {}", self.tile(v))).collect::<Vec<_>>().join(", ")
    }

    /// Loop-carried values, and results of branches.
    fn carried(&mut self, inst: Inst, data: &InstData) {
        for (var, variable) in self.graph.vars.iter().enumerate() {
            if let VarKind::Carried(i) = variable.kind
                && variable.insts[0] == inst
            {
                let value = data.results[i];
                let what = format!("{} carries {}", data.op.mnemonic(), self.results(&[value]));
                let region = data.regions.first().copied().unwrap_or(self.func.body);
                self.variable(region, var, data, &what);
            }
        }
    }

    fn convert(&mut self, block: Block, data: &InstData, x: Value) {
        let (func, result) = (self.func, data.results[0]);
        let (Some(src), Some(dst)) = (func.layout_id(x), func.layout_id(result)) else { return };
        let Some(plan) = func.layouts.planned(src, dst, func.ty(x).elem.bits(), self.target.stmatrix) else { return };
        let (freq, copies) = (self.runs(block), func.copies(x));
        let what = if self.is_staged(result, &plan) {
            format!("store {} to shared memory, from which `wgmma` reads it", self.results(&[x]))
        } else {
            let to = self.name(result).map_or(String::new(), |name| name.to_string());
            let each = if copies > 1 { format!("{copies} copies, each ") } else { String::new() };
            format!("convert {} to {to}: {each}{}", self.results(&[x]), means(&plan))
        };
        let cost = freq * plan.cost * copies as f64;
        self.converts += 1;
        self.moved += cost;
        self.line(data, freq, &what, cost);
    }

    /// Whether a conversion is for a product that reads shared memory itself; see `warpgroup`.
    fn is_staged(&self, result: Value, plan: &Plan) -> bool {
        let moves = match plan.kind {
            convert::PlanKind::None | convert::PlanKind::Rename { .. } => false,
            convert::PlanKind::Select(_) | convert::PlanKind::Shuffle(_) | convert::PlanKind::Shared(_) => true,
        };
        let reads = |op: &Op| matches!(*op, Op::Dot { kind: DotKind::Wgmma, a, b, .. } if a == result || b == result);
        moves && self.func.contains(self.func.body, reads)
    }

    /// `f32[16,16] #0`.
    fn tile(&mut self, value: Value) -> String {
        let layout = self.name(value).map_or(String::new(), |name| format!(" {name}"));
        format!("{}{layout}", self.func.ty(value))
    }

    /// The name of a tile's layout.
    fn name(&mut self, value: Value) -> Option<LayoutId> {
        let layout = self.func.layout_id(value)?;
        let name = self.places.layout(layout);
        self.used.insert((name, layout));
        Some(name)
    }
}

/// How a conversion is done, by each thread.
fn means(plan: &Plan) -> String {
    let access = |access: &Access| {
        let form = match access.form {
            Form::Vector => format!("{} elements", access.elements),
            Form::Matrix { trans: false, count, .. } => format!("{count} matrices"),
            Form::Matrix { trans: true, count, .. } => format!("{count} matrices transposed"),
        };
        let (count, waves, ways) = (access.instructions(), access.wavefronts, access.ways);
        format!("{count} of {form}, {waves} wavefronts, {ways}-way")
    };
    match &plan.kind {
        convert::PlanKind::None => "nothing to do".into(),
        convert::PlanKind::Rename { .. } => "other names".into(),
        convert::PlanKind::Select(select) => format!("{} selects", select.selects()),
        convert::PlanKind::Shuffle(shuffle) => {
            format!("{} shuffles, {} selects", shuffle.shuffles(), shuffle.selects())
        }
        convert::PlanKind::Shared(shared) => {
            let near = if shared.warp_local { " within warps" } else { "" };
            let bytes = shared.bytes() << shared.mem.parts();
            format!("{bytes} bytes shared{near}: store {}; load {}", access(&shared.store), access(&shared.load))
        }
    }
}
