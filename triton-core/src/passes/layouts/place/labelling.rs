//! The labels of minimal total cost.

use super::candidates::{self, Label};
use super::cost::Costs;
use super::graph::{Graph, Role, Use, Var, VarKind};
use crate::analysis::axis::{self, AxisInfo};
use crate::analysis::read_only::ReadOnly;
use crate::entity::SideTable;
use crate::ir::{Block, Function, LayoutId, Layouts, Value};
use crate::layout::{Mem, Swizzle, access, cost};
use crate::ops::{DotKind, Location, Op};
use crate::passes::Env;
use crate::passes::layouts::pbqp::Problem;

/// What was chosen for a variable.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    /// The layout it works in.
    pub domain: LayoutId,
    /// Of a product, the instructions, and the layouts of its left and its right operand.
    pub product: Option<(DotKind, [LayoutId; 2])>,
    /// Its own cycles, over all executions.
    pub cost: f64,
}

/// What was chosen for a function.
pub(super) struct Assignment {
    pub graph: Graph,
    /// For each variable.
    pub chosen: Vec<Choice>,
    /// Every layout considered.
    pub layouts: Layouts,
}

/// The labelling of a function at stage 0 for a target and a specialization: variables, the labels of each, and what a choice
/// costs.
pub struct Labelling<'a> {
    func: &'a Function,
    env: Env,
    graph: Graph,
    facts: SideTable<Value, AxisInfo>,
    layouts: Layouts,
    labels: Vec<Vec<Label>>,
}

impl<'a> Labelling<'a> {
    /// The labelling of a function.
    ///
    /// # Errors
    /// An operation that layout assignment does not know.
    pub fn of(func: &'a Function, env: &Env) -> Result<Labelling<'a>, String> {
        Labelling::with(func, env, Layouts::default())
    }

    /// The same, with layouts and conversions that are known.
    pub(super) fn with(func: &'a Function, env: &Env, layouts: Layouts) -> Result<Labelling<'a>, String> {
        let facts = axis::analyse(func, env.specialization);
        let graph = Graph::of(func)?;
        let (layouts, labels) = candidates::find(func, &graph, &facts, env, layouts);
        Ok(Labelling { func, env: *env, graph, facts, layouts, labels })
    }

    /// Labels of each variable.
    pub fn counts(&self) -> Vec<usize> {
        self.labels.iter().map(Vec::len).collect()
    }

    /// Cycles that the choice of a label for each variable costs: their sum over variables and uses, without any shortcut.
    ///
    /// # Errors
    /// A label without a layout for an operand: a bug in layout assignment.
    pub fn cost(&mut self, choice: &[usize]) -> Result<f64, String> {
        let costs = Costs::new(self.func, &self.env, &self.graph, &self.facts);
        let label = |var: usize| self.labels[var][choice[var]];
        let mut total: f64 = (0..choice.len()).map(|var| costs.of(var, label(var), &self.layouts)).sum();
        let mut moves = Moves::new(self.func, &self.env, &self.graph, &self.facts, (&mut self.layouts, &self.labels));
        for used in &self.graph.uses {
            if let Some((from, value)) = used.from {
                let src = moves.yields(from, &[label(from)])?;
                let dst = moves.needs(used, &[label(used.var)])?;
                total += used.freq * moves.of_use(used, src[0], dst[0], (from, value));
            }
        }
        Ok(total)
    }

    /// The labels of minimal total cost.
    ///
    /// # Errors
    /// As [`Labelling::cost`].
    pub fn least(&mut self) -> Result<Vec<usize>, String> {
        let mut best = vec![0; self.labels.len()];
        // What can be labelled in one way only takes no part.
        let open: Vec<usize> = (0..best.len()).filter(|&var| self.labels[var].len() > 1).collect();
        if !open.is_empty() {
            let solution = self.pose(&open)?.solve().ok_or("a variable without a label")?;
            for (&var, label) in open.iter().zip(solution.labels) {
                best[var] = label;
            }
        }
        Ok(best)
    }

    /// The problem of the variables that have a choice.
    fn pose(&mut self, open: &[usize]) -> Result<Problem, String> {
        let labels = &self.labels;
        let mut node = vec![None; labels.len()];
        open.iter().enumerate().for_each(|(i, &var)| node[var] = Some(i));
        let costs = Costs::new(self.func, &self.env, &self.graph, &self.facts);
        let of = |&var: &usize| labels[var].iter().map(|&label| costs.of(var, label, &self.layouts)).collect();
        let mut own: Vec<Vec<f64>> = open.iter().map(of).collect();
        let mut moves = Moves::new(self.func, &self.env, &self.graph, &self.facts, (&mut self.layouts, &self.labels));
        let mut pairs = Vec::new();
        for used in &self.graph.uses {
            let Some((from, value)) = used.from else { continue };
            let nodes = (node[from], node[used.var]);
            if nodes == (None, None) {
                continue;
            }
            let (yields, needs) = (moves.yields(from, &labels[from])?, moves.needs(used, &labels[used.var])?);
            let mut matrix = Vec::with_capacity(yields.len() * needs.len());
            for &src in &yields {
                matrix.extend(needs.iter().map(|&dst| used.freq * moves.of_use(used, src, dst, (from, value))));
            }
            match nodes {
                (Some(a), Some(b)) => pairs.push((a, b, needs.len(), matrix)),
                (Some(only), None) | (None, Some(only)) => {
                    own[only].iter_mut().zip(matrix).for_each(|(own, cost)| *own += cost);
                }
                (None, None) => {}
            }
        }
        let mut problem = Problem::default();
        for costs in own {
            problem.add_node(costs);
        }
        for (a, b, columns, matrix) in pairs {
            problem.add_edge(a, b, |i, j| matrix[i * columns + j]);
        }
        Ok(problem)
    }

    /// What is chosen, and what writes it down.
    pub(super) fn choose(self, choice: &[usize]) -> Assignment {
        let costs = Costs::new(self.func, &self.env, &self.graph, &self.facts);
        let chosen = |(var, &label): (usize, &usize)| {
            let label = self.labels[var][label];
            let (domain, product) = match label {
                Label::Tile(id) => (id, None),
                Label::Product { kind, left, right, sum } => (sum, Some((kind, [left, right]))),
            };
            Choice { domain, product, cost: costs.of(var, label, &self.layouts) }
        };
        let chosen = choice.iter().enumerate().map(chosen).collect();
        Assignment { graph: self.graph, chosen, layouts: self.layouts }
    }
}

/// What conversions cost.
struct Moves<'a> {
    func: &'a Function,
    graph: &'a Graph,
    facts: &'a SideTable<Value, AxisInfo>,
    read_only: ReadOnly,
    layouts: &'a mut Layouts,
    stmatrix: bool,
    /// The most slots of the rings of the `for` that a block is the body of; 0 of another block.
    stages: SideTable<Block, u32>,
    /// Layouts of right operands that `wgmma` reads from shared memory, and of what is reshaped to them.
    in_memory: Vec<LayoutId>,
}

impl<'a> Moves<'a> {
    fn new(
        func: &'a Function,
        env: &Env,
        graph: &'a Graph,
        facts: &'a SideTable<Value, AxisInfo>,
        (layouts, labels): (&'a mut Layouts, &[Vec<Label>]),
    ) -> Moves<'a> {
        let mut in_memory = Vec::new();
        for used in graph.uses.iter().filter(|used| used.role == Role::Right) {
            for label in &labels[used.var] {
                if let Label::Product { kind: DotKind::Wgmma, right, .. } = *label {
                    in_memory.extend(graph.origin(func, layouts, used.value, right));
                }
            }
        }
        let mut stages = SideTable::new(0);
        for inst in func.walk() {
            if let (Op::For { .. }, &[body]) = (func.insts[inst].op, &func.insts[inst].regions[..]) {
                stages[body] = func.stages(inst);
            }
        }
        let read_only = ReadOnly::of(func);
        Moves { func, graph, facts, read_only, layouts, stmatrix: env.target.info().stmatrix, stages, in_memory }
    }

    /// The layouts of a variable's result.
    fn yields(&mut self, var: usize, labels: &[Label]) -> Result<Vec<LayoutId>, String> {
        let of = |label: &Label| self.graph.yields(self.func, self.layouts, var, label.needs(Role::Domain));
        labels.iter().map(of).collect::<Option<_>>().ok_or_else(|| "a label without a result".into())
    }

    /// The layouts in which the data under an operand is needed.
    fn needs(&mut self, used: &Use, labels: &[Label]) -> Result<Vec<LayoutId>, String> {
        let of = |label: &Label| self.graph.origin(self.func, self.layouts, used.value, label.needs(used.role));
        labels.iter().map(of).collect::<Option<_>>().ok_or_else(|| "a label without an operand".into())
    }

    /// What it costs to have a value of a variable, which is in layout `src`, in layout `dst` for a use. A loop can load an operand of a
    /// product ahead if it goes through shared memory, and only then: nothing waits for its round trip, and else everything for the load.
    fn of_use(&mut self, used: &Use, src: LayoutId, dst: LayoutId, from: (usize, Value)) -> f64 {
        let Var { block, kind, ref insts, .. } = self.graph.vars[from.0];
        let mut cycles = self.cycles(src, dst, from);
        if kind == VarKind::Elementwise && self.in_memory.contains(&dst) {
            cycles += self.conflicts(src, from.1);
        }
        let op = self.func.insts[insts[0]].op;
        let copied = |at: Location| {
            let width = axis::vector_width(self.func, self.facts, at);
            let gathered = || self.read_only.contains(self.func, at) && !axis::is_cut(self.func, self.facts, at, width);
            (matches!(at, Location::View { .. }) || gathered())
                && width * u64::from(self.graph.vars[from.0].bits / 8) >= access::NARROWEST_COPY.into()
        };
        let copied = matches!(op, Op::Load { from: at, other: None } if copied(at));
        if used.role == Role::Domain || !copied || self.stages[block] < 2 {
            return cycles;
        }
        if src == dst { cycles + cost::EXPOSED_LOAD } else { (cycles - cost::ROUND_TRIP).max(0.0) }
    }

    /// What conflicts of banks add where threads store what they converted as `wgmma` reads it: along the axis in which they have neighbours.
    fn conflicts(&self, src: LayoutId, value: Value) -> f64 {
        let (layout, ty) = (&self.layouts[src], self.func.ty(value));
        let along = (ty.shape.rank() - 1).saturating_sub(usize::from(layout.vector() == 1));
        let mut mems = Swizzle::ALL.into_iter().filter_map(|of| Mem::swizzled(ty.shape, ty.elem.bits(), of, along));
        let Some(stores) = mems.next().and_then(|mem| access::vector(layout, &mem)) else { return 0.0 };
        let conflicts = stores.wavefronts - stores.wavefronts / stores.ways;
        f64::from(conflicts << layout.warp.len()) * cost::WAVEFRONT
    }

    /// What it costs to have a value of a variable, which is in layout `src`, in layout `dst`.
    fn cycles(&mut self, src: LayoutId, dst: LayoutId, (var, value): (usize, Value)) -> f64 {
        let registers = Some(self.layouts[dst].registers()).filter(|_| !self.in_memory.contains(&dst));
        let of_bits = |bits: u32| self.layouts.estimate(src, dst, bits, self.stmatrix);
        let of_copy = match self.graph.vars[var].narrow {
            None => self.layouts.estimate(src, dst, self.func.ty(value).elem.bits(), self.stmatrix),
            Some(_) => self.graph.moved(self.func, var, registers, of_bits).0,
        };
        of_copy * self.func.copies(value) as f64
    }
}
