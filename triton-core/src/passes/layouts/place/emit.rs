//! Materialises a layout assignment.
//!
//! Operations are walked in their order. What an operation needs in another layout than it has is made just before it is
//! first needed: a free value or a change of shape is rematerialised where the original stood; a conversion goes to the outermost
//! block that runs as rarely as value and user together, so outside the loops that use it, and inside the branch that
//! does. Instead of a wide value, its narrower source may be converted, and the value recomputed.

use super::fold_order;
use super::graph::{Graph, Role, Source, is_tile};
use super::labelling::{Assignment, Choice};
use crate::entity::SideTable;
use crate::hash::WordMap;
use crate::ir::{Block, Carried, Function, Inst, InstData, LayoutId, Layouts, Place, Stage, Value};
use crate::layout::Layout;
use crate::ops::kinds::UnaryKind;
use crate::ops::{BitOrder, DotKind, LayoutRule, Op};
use crate::passes::Env;
use crate::span::Span;

/// What was written.
pub(super) struct Written {
    pub graph: Graph,
    pub chosen: Vec<Choice>,
    /// Operations on data that were recomputed.
    pub recomputed: Vec<Inst>,
}

/// See the [module's page](self).
///
/// # Errors
/// A layout that an operation cannot have: a bug in layout assignment.
pub(super) fn emit(func: &mut Function, env: &Env, assignment: Assignment) -> Result<Written, String> {
    let Assignment { graph, chosen, layouts } = assignment;
    func.stage = Stage::LaidOut;
    func.layouts = layouts;
    let available = wanted(func, env, &graph, &chosen)?;
    let definition = SideTable::new(None);
    let (open, recomputed) = (Vec::new(), Vec::new());
    let (made, before) = (WordMap::default(), WordMap::default());
    let (graph_of, chosen_of) = (&graph, &chosen[..]);
    let mut writer =
        Writer { env, graph: graph_of, chosen: chosen_of, available, func, open, made, definition, recomputed, before };
    let body = writer.func.body;
    writer.block(body, &[])?;
    let recomputed = writer.recomputed;
    Ok(Written { graph, chosen, recomputed })
}

/// A value in a layout.
type Tile = (Value, LayoutId);

/// The blocks in which values are needed in a layout.
fn wanted(
    func: &mut Function,
    env: &Env,
    graph: &Graph,
    chosen: &[Choice],
) -> Result<WordMap<Tile, Vec<Block>>, String> {
    let mut available: WordMap<Tile, Vec<Block>> = WordMap::default();
    let mut layouts = std::mem::take(&mut func.layouts);
    for used in &graph.uses {
        let Some((from, origin)) = used.from else { continue };
        let layout = graph.origin(func, &mut layouts, used.value, operand(&chosen[used.var], used.role));
        let layout = layout.ok_or("a change of shape without a layout")?;
        if let Some(narrow) = recomputed_from(func, &mut layouts, env, graph, chosen, from, layout)
            && let Source::Var(_) = graph.source[narrow]
        {
            let chain = graph.vars[from].insts.iter().flat_map(|&inst| func.insts[inst].results.iter().copied());
            for value in chain.chain([narrow]) {
                available.entry((value, layout)).or_default().push(used.block);
            }
        }
        available.entry((origin, layout)).or_default().push(used.block);
    }
    func.layouts = layouts;
    Ok(available)
}

/// What is converted in place of a variable's result that is needed in this layout.
fn recomputed_from(
    func: &Function,
    layouts: &mut Layouts,
    env: &Env,
    graph: &Graph,
    chosen: &[Choice],
    var: usize,
    id: LayoutId,
) -> Option<Value> {
    let narrow = graph.vars[var].narrow?;
    // What `wgmma` reads from shared memory no thread has.
    let in_memory = graph.users[var].iter().map(|&used| &graph.uses[used]).any(|used| match chosen[used.var].product {
        Some((DotKind::Wgmma, [_, right])) if used.role == Role::Right => {
            graph.origin(func, layouts, used.value, right) == Some(id)
        }
        Some(_) | None => false,
    });
    let registers = Some(layouts[id].registers()).filter(|_| !in_memory);
    let cycles = |bits| layouts.estimate(chosen[var].domain, id, bits, env.target.info().stmatrix);
    graph.moved(func, var, registers, cycles).1.then_some(narrow)
}

/// The layout in which a variable needs an operand.
fn operand(choice: &Choice, role: Role) -> LayoutId {
    match (role, choice.product) {
        (Role::Left, Some((_, [left, _]))) => left,
        (Role::Right, Some((_, [_, right]))) => right,
        (Role::Domain | Role::Left | Role::Right, _) => choice.domain,
    }
}

struct Writer<'a> {
    func: &'a mut Function,
    env: &'a Env,
    graph: &'a Graph,
    chosen: &'a [Choice],
    /// Blocks in which a value is wanted in a layout.
    available: WordMap<Tile, Vec<Block>>,
    /// The blocks around the walk, outermost first, with the instructions they have so far.
    open: Vec<(Block, Vec<Inst>)>,
    /// Values in a layout, and the blocks in which they are known.
    made: WordMap<Tile, Vec<(Block, Value)>>,
    /// The instruction that defines a value, and how many blocks were open there.
    definition: SideTable<Value, Option<(Inst, usize)>>,
    /// Operations on data that were recomputed.
    recomputed: Vec<Inst>,
    /// As they were at stage 0, those that may be.
    before: WordMap<Inst, Op>,
}

impl Writer<'_> {
    /// A block, which yields values in these layouts.
    fn block(&mut self, block: Block, yields: &[Option<LayoutId>]) -> Result<(), String> {
        let insts = std::mem::take(&mut self.func.blocks[block].insts);
        self.open.push((block, Vec::new()));
        for inst in insts {
            let depth = self.open.len() - 1;
            let results = self.func.insts[inst].results.clone();
            results.iter().for_each(|&result| self.definition[result] = Some((inst, depth)));
            let rematerialised = |v: Value| matches!(self.graph.source[v], Source::Free | Source::Reshaped);
            if results.first().is_some_and(|&v| rematerialised(v)) {
                continue;
            }
            if self.func.insts[inst].op == (Op::Yield {}) {
                self.arguments(inst, yields)?;
            } else {
                self.instruction(inst)?;
            }
            if let Some((_, insts)) = self.open.last_mut() {
                insts.push(inst);
            }
        }
        if let Some((block, insts)) = self.open.pop() {
            self.func.blocks[block].insts = insts;
        }
        Ok(())
    }

    fn instruction(&mut self, inst: Inst) -> Result<(), String> {
        let data = self.func.insts[inst].clone();
        if data.op.layout_rule() == LayoutRule::Carried {
            return self.control(inst, &data);
        }
        let Some(var) = self.graph.var_of[inst] else {
            // A scalar may be the one element of a tile, which every thread has in any layout.
            let one = self.func.layouts.intern(Layout::coalesced(1, 1, self.func.num_warps));
            return self.operands(inst, one);
        };
        if self.graph.vars[var].narrow.is_some() {
            self.before.insert(inst, data.op);
        }
        let Choice { domain, product, .. } = self.chosen[var];
        match (data.op, product) {
            (Op::Fold { kind, axis, order }, _) => {
                let (shape, layout) = (self.func.ty(data.args[0]).shape, &self.func.layouts[domain]);
                let own = fold_order(layout, shape, axis as usize).ok_or("no order for a fold")?;
                let order = if order == BitOrder::Any { kind.order(own) } else { order };
                self.operands(inst, domain)?;
                self.func.insts[inst].op = Op::Fold { kind, axis, order };
            }
            (Op::Dot { kind: from, a, b, acc }, Some((kind, [left, right]))) => {
                let (mut a, mut b, acc) = (self.get(a, left)?, self.get(b, right)?, self.get(acc, domain)?);
                if from == DotKind::Tf32 && kind == DotKind::Fma {
                    (a, b) = (self.rounded(a, left, data.span)?, self.rounded(b, right, data.span)?);
                }
                self.func.insts[inst].op = Op::Dot { kind, a, b, acc };
            }
            _ => self.operands(inst, domain)?,
        }
        let mut layouts = std::mem::take(&mut self.func.layouts);
        let result = self.graph.yields(self.func, &mut layouts, var, domain);
        self.func.layouts = layouts;
        let result = result.ok_or("an operation in a layout that it cannot have")?;
        for value in data.results.into_iter().filter(|&v| is_tile(self.func, v)).collect::<Vec<_>>() {
            self.set(value, result);
        }
        Ok(())
    }

    /// An operand rounded to tf32, which tensor cores would do.
    fn rounded(&mut self, x: Value, layout: LayoutId, span: Span) -> Result<Value, String> {
        let inst = self.func.make(Op::Unary { kind: UnaryKind::Tf32, x }, span)?;
        let result = self.func.insts[inst].results[0];
        self.set(result, layout);
        self.open.last_mut().ok_or("an operation in no block")?.1.push(inst);
        Ok(result)
    }

    fn set(&mut self, value: Value, layout: LayoutId) {
        self.func.place_of[value] = Some(Place::Registers(layout));
    }

    /// Replaces the tiles among the operands of an instruction by themselves in the layout that it needs.
    fn operands(&mut self, inst: Inst, layout: LayoutId) -> Result<(), String> {
        let mut replaced = Vec::new();
        self.func.insts[inst].for_each_operand(|v| replaced.push((v, v)));
        for (value, new) in &mut replaced {
            if is_tile(self.func, *value) {
                *new = self.get(*value, layout)?;
            }
        }
        let new = |v: Value| replaced.iter().find(|(old, _)| *old == v).map_or(v, |&(_, new)| new);
        self.func.insts[inst].map_operands(new);
        Ok(())
    }

    /// A value in a layout.
    fn get(&mut self, value: Value, layout: LayoutId) -> Result<Value, String> {
        if !is_tile(self.func, value) || self.func.layout_id(value) == Some(layout) {
            return Ok(value);
        }
        let key = (value, layout);
        let is_open = |block: Block| self.open.iter().any(|&(open, _)| open == block);
        let known = self.made.get(&key).and_then(|all| all.iter().find(|&&(block, _)| is_open(block)));
        if let Some(&(_, made)) = known {
            return Ok(made);
        }
        let (original, home) = self.definition[value].ok_or_else(|| format!("{value} has no layout"))?;
        let copy = self.func.insts[original].clone();
        let (inst, depth) = match self.graph.source[value] {
            Source::Free | Source::Reshaped => {
                let result = self.func.types.push(self.func.ty(value));
                let op = copy.op;
                let inst = self.func.insts.push(InstData { results: vec![result], ..copy });
                let needed = match op.shape_change() {
                    Some((x, change)) => {
                        let under = change.operand_layout(self.func.ty(x).shape, &self.func.layouts[layout]);
                        self.func.layouts.intern(under.ok_or("a change of shape without a layout")?)
                    }
                    None => layout,
                };
                self.operands(inst, needed)?;
                (inst, home)
            }
            Source::Var(_) | Source::Scalar => {
                let wanted = self.available.get(&key).map_or(&[][..], |blocks| blocks);
                let outermost = (home..self.open.len()).find(|&i| wanted.contains(&self.open[i].0)).unwrap_or(home);
                match self.graph.var_of[original] {
                    Some(var) if self.recomputes(var, layout) => {
                        let result = self.func.types.push(self.func.ty(value));
                        let op = self.before.get(&original).copied().unwrap_or(copy.op);
                        let inst = self.func.insts.push(InstData { op, results: vec![result], ..copy });
                        self.operands(inst, layout)?;
                        self.recomputed.push(inst);
                        (inst, outermost)
                    }
                    Some(_) | None => (self.func.make(Op::Convert { x: value }, copy.span)?, outermost),
                }
            }
        };
        let result = self.func.insts[inst].results[0];
        self.set(result, layout);
        let (block, insts) = &mut self.open[depth];
        insts.push(inst);
        self.made.entry(key).or_default().push((*block, result));
        Ok(result)
    }

    /// Whether a variable's result is computed again where it is needed in this layout.
    fn recomputes(&mut self, var: usize, layout: LayoutId) -> bool {
        let mut layouts = std::mem::take(&mut self.func.layouts);
        let narrow = recomputed_from(self.func, &mut layouts, self.env, self.graph, self.chosen, var, layout);
        self.func.layouts = layouts;
        narrow.is_some()
    }

    /// Loops and branches: what is carried has one layout from beginning to end.
    fn control(&mut self, inst: Inst, data: &InstData) -> Result<(), String> {
        let layout = |v: Value| match self.graph.source[v] {
            Source::Var(var) => Some(self.chosen[var].domain),
            Source::Scalar | Source::Free | Source::Reshaped => None,
        };
        let layouts: Vec<Option<LayoutId>> = data.results.iter().map(|&v| layout(v)).collect();
        self.arguments(inst, &layouts)?;
        let carried: Vec<Carried> = self.func.carried(data).collect();
        for (position, layout) in carried.iter().zip(&layouts) {
            let Some(layout) = *layout else { continue };
            for value in [Some(position.result)].into_iter().chain(position.params).flatten() {
                self.set(value, layout);
            }
        }
        // Parameters are defined inside.
        let depth = self.open.len();
        for (k, &region) in data.regions.iter().enumerate() {
            let params = self.func.blocks[region].params.clone();
            params.iter().for_each(|&param| self.definition[param] = Some((inst, depth)));
            let yields = carried.iter().zip(&layouts).map(|(c, layout)| c.yields[k].and(*layout));
            self.block(region, &yields.collect::<Vec<_>>())?;
        }
        Ok(())
    }

    /// Tiles among the arguments of an instruction, in the given layouts.
    fn arguments(&mut self, inst: Inst, layouts: &[Option<LayoutId>]) -> Result<(), String> {
        for i in 0..self.func.insts[inst].args.len() {
            if let Some(&Some(layout)) = layouts.get(i) {
                let value = self.func.insts[inst].args[i];
                self.func.insts[inst].args[i] = self.get(value, layout)?;
            }
        }
        Ok(())
    }
}
