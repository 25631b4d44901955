//! The graph to label: variables, their uses of one another, and how often each part of a function runs.
//!
//! A *variable* is an operation that makes or uses tiles of data: an access, a fold along an axis, a product, what a loop or a branch
//! carries, or a chain of elementwise operations, each the only user of the one before, on equally many bits. Such a chain is
//! best cut at one of its ends, as its cost is a sum over its operations and a cut costs the same everywhere; so one label
//! serves it. A cast to another width begins a variable of its own.
//!
//! No variables are
//! - *free values*: constants, ranges, splats, and what elementwise operations and changes of shape make of only those (all
//!   index arithmetic and masks). They are rematerialised in whichever layout a user needs.
//! - *reshaped data*: changes of shape. They move no data, so what a user needs of one is needed, in the layout that
//!   follows from it, of the data itself ([`Graph::origin`]): before a broadcast there is less to convert.

use crate::analysis::defs::Defs;
use crate::analysis::stride::{self, Strides};
use crate::entity::SideTable;
use crate::ir::{Block, Function, Inst, LayoutId, Layouts, Value};
use crate::layout::{Layout, cost};
use crate::ops::kinds::{BinaryKind, UnaryKind};
use crate::ops::{Access, BitOrder, Effect, FoldKind, LayoutRule, Memory, Op};
use crate::types::Shape;
use std::borrow::Cow;
use std::collections::HashSet;

/// How a tile comes to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// It is none: a scalar.
    Scalar,
    /// Rematerialised for each layout.
    Free,
    /// Data in another shape.
    Reshaped,
    /// By a variable.
    Var(usize),
}

/// What a variable does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum VarKind {
    /// A chain of elementwise operations; or a join or a split, which renames registers, or an exchange between blocks, which work in the
    /// layout of their operands.
    Elementwise,
    /// A load, store or any other access through pointers.
    Access,
    /// A fold along an axis.
    Fold,
    /// A matrix product.
    Dot,
    /// What a loop or a branch carries at this position.
    Carried(usize),
}

/// See the [module's page](self).
#[derive(Clone, Debug)]
pub(super) struct Var {
    pub kind: VarKind,
    /// The operations; of what is carried, the one that carries it.
    pub insts: Vec<Inst>,
    /// The shape of the layout that is its label: that of its operands for a fold, of the result otherwise.
    pub shape: Shape,
    /// The type of what it yields, or stores.
    pub bits: u32,
    /// Instructions that one element takes.
    pub weight: f64,
    /// The dimension along which elements are neighbours in memory.
    pub fastest: usize,
    /// How often it runs.
    pub freq: f64,
    /// The data that a chain is computed from, if that is one tile of fewer bits than the chain's: where the result is to be
    /// converted, it can be converted instead, and the chain computed again.
    pub narrow: Option<Value>,
    pub block: Block,
}

/// Which layout of its label a variable needs an operand in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Role {
    /// The one that all share.
    Domain,
    /// That of the left operand of a product.
    Left,
    /// That of its right operand.
    Right,
}

/// A tile that a variable is given.
#[derive(Clone, Debug)]
pub(super) struct Use {
    /// The variable that uses.
    pub var: usize,
    /// The operand.
    pub value: Value,
    pub role: Role,
    /// The variable that the data comes from, and its value; `None` if it is free.
    pub from: Option<(usize, Value)>,
    /// How often it has to be converted, if it is.
    pub freq: f64,
    /// Where a conversion stands.
    pub block: Block,
}

/// See the [module's page](self).
pub(super) struct Graph {
    pub vars: Vec<Var>,
    pub uses: Vec<Use>,
    /// Of each variable, its uses of others.
    pub operands: Vec<Vec<usize>>,
    /// Of each variable, the uses that others make of it.
    pub users: Vec<Vec<usize>>,
    pub source: SideTable<Value, Source>,
    /// The variable of each operation.
    pub var_of: SideTable<Inst, Option<usize>>,
    /// Definitions and uses at stage 0.
    defs: Defs,
    parent: SideTable<Block, Option<Block>>,
    freq: SideTable<Block, f64>,
    /// Uses that are listed already.
    known: HashSet<(usize, Value, Role, Block)>,
    strides: SideTable<Value, Strides>,
}

impl Graph {
    /// The variables of a function at stage 0.
    ///
    /// # Errors
    /// An operation that layout assignment does not know.
    pub fn of(func: &Function) -> Result<Graph, String> {
        let mut graph = Graph {
            vars: Vec::new(),
            uses: Vec::new(),
            operands: Vec::new(),
            users: Vec::new(),
            source: SideTable::new(Source::Scalar),
            var_of: SideTable::new(None),
            defs: Defs::of(func),
            parent: SideTable::new(None),
            freq: SideTable::new(1.0),
            known: HashSet::new(),
            strides: stride::analyse(func),
        };
        graph.block(func, func.body)?;
        graph.users = vec![Vec::new(); graph.vars.len()];
        graph.operands = vec![Vec::new(); graph.vars.len()];
        for (i, used) in graph.uses.iter().enumerate() {
            graph.operands[used.var].push(i);
            if let Some((from, _)) = used.from {
                graph.users[from].push(i);
            }
        }
        Ok(graph)
    }

    /// Whether any operation has this operand.
    pub fn is_used(&self, value: Value) -> bool {
        self.defs.uses(value) > 0
    }

    fn block(&mut self, func: &Function, block: Block) -> Result<(), String> {
        for (inst, data) in func.block(block) {
            match data.op.layout_rule() {
                LayoutRule::Carried => self.control(func, block, inst)?,
                LayoutRule::Own => self.constrained(func, block, inst)?,
                LayoutRule::ShapeChange => {
                    let (x, _) = data.op.shape_change().ok_or("a change of shape of no tile")?;
                    let moved = is_tile(func, x) && self.source[x] != Source::Free;
                    let result = data.results.iter().filter(|&&v| is_tile(func, v));
                    result.for_each(|&v| self.source[v] = if moved { Source::Reshaped } else { Source::Free });
                }
                LayoutRule::Unconstrained => {
                    let tiles = data.results.iter().filter(|&&v| is_tile(func, v));
                    tiles.for_each(|&v| self.source[v] = Source::Free);
                }
                LayoutRule::Elementwise => self.elementwise(func, block, inst, &data.op),
            }
        }
        Ok(())
    }

    /// An operation with a rule of its own for the layouts of its operands and its result.
    fn constrained(&mut self, func: &Function, block: Block, inst: Inst) -> Result<(), String> {
        let data = &func.insts[inst];
        if let Op::Fold { .. } = data.op {
            let var = self.add(func, block, inst, VarKind::Fold, data.args[0]);
            self.vars[var].weight = func.block(data.regions[0]).map(|(_, inst)| weight(func, &inst.op)).sum();
            data.args.iter().for_each(|&arg| self.add_use(func, var, arg, Role::Domain, block));
            return Ok(());
        }
        if let Op::Join { a: like, .. } | Op::Split { x: like, .. } = data.op {
            let var = self.add(func, block, inst, VarKind::Elementwise, like);
            self.vars[var].weight = 0.0;
            data.for_each_operand(|x| self.add_use(func, var, x, Role::Domain, block));
            return Ok(());
        }
        if let Op::ClusterGather { x, .. } | Op::ClusterScatter { x, .. } = data.op {
            let var = self.add(func, block, inst, VarKind::Elementwise, x);
            self.vars[var].weight = 0.0;
            self.add_use(func, var, x, Role::Domain, block);
            return Ok(());
        }
        let Op::Dot { a, b, acc, .. } = data.op else {
            return Err(format!("`{}` has no layouts to choose from", data.op.mnemonic()));
        };
        let var = self.add(func, block, inst, VarKind::Dot, acc);
        for (value, role) in [(acc, Role::Domain), (a, Role::Left), (b, Role::Right)] {
            self.add_use(func, var, value, role, block);
        }
        Ok(())
    }

    fn elementwise(&mut self, func: &Function, block: Block, inst: Inst, op: &Op) {
        let mut operands = Vec::new();
        op.for_each_operand(|v| {
            if is_tile(func, v) {
                operands.push(v);
            }
        });
        let result = func.insts[inst].results.first().copied().filter(|&v| is_tile(func, v));
        if op.effect() != Effect::Pure {
            let Some(first) = operands.first().copied().or(result) else { return };
            let var = self.add(func, block, inst, VarKind::Access, first);
            if let Some(Access { memory: Memory::Global(at), .. }) = op.access()
                && let Some(pointee) = func.pointee(at)
            {
                self.vars[var].bits = pointee.bits();
                let contiguous = stride::of_location(func, &self.strides, at).contiguous(func.ty(first).shape);
                self.vars[var].fastest = contiguous.unwrap_or(self.vars[var].fastest);
            }
            operands.iter().for_each(|&v| self.add_use(func, var, v, Role::Domain, block));
            return;
        }
        let Some(result) = result else { return };
        let given: Vec<Value> = operands.iter().copied().filter(|&v| self.source[v] != Source::Free).collect();
        let Some(&first) = given.first() else {
            self.source[result] = Source::Free;
            return;
        };
        let Some(var) = self.chain(func, block, first, result, &given) else {
            let var = self.add(func, block, inst, VarKind::Elementwise, result);
            self.vars[var].weight = weight(func, op);
            let narrower = func.ty(first).elem.bits() < func.ty(result).elem.bits();
            self.vars[var].narrow = given.iter().all(|&v| v == first && narrower).then_some(first);
            operands.iter().for_each(|&v| self.add_use(func, var, v, Role::Domain, block));
            return;
        };
        self.source[result] = Source::Var(var);
        self.var_of[inst] = Some(var);
        self.vars[var].insts.push(inst);
        self.vars[var].weight += weight(func, op);
        for &v in operands.iter().filter(|&&v| v != first) {
            self.add_use(func, var, v, Role::Domain, block);
        }
    }

    /// The chain that an operation continues.
    fn chain(&self, func: &Function, block: Block, first: Value, result: Value, given: &[Value]) -> Option<usize> {
        let Source::Var(var) = self.source[first] else { return None };
        let chain = &self.vars[var];
        let only = given.iter().all(|&v| v == first) && self.defs.uses(first) as usize == given.len();
        let elementwise = func.insts[chain.insts[0]].op.layout_rule() == LayoutRule::Elementwise;
        let continues = chain.kind == VarKind::Elementwise && elementwise && chain.block == block;
        (only && continues && func.ty(first).elem.bits() == func.ty(result).elem.bits()).then_some(var)
    }

    /// A variable whose label is a layout of the shape of `like`.
    fn add(&mut self, func: &Function, block: Block, inst: Inst, kind: VarKind, like: Value) -> usize {
        let (shape, bits) = (func.ty(like).shape, func.ty(like).elem.bits());
        let freq = self.freq[block];
        // Where nothing is known, it is the last one.
        let fastest = shape.rank().saturating_sub(1);
        self.vars.push(Var { kind, insts: vec![inst], shape, bits, weight: 1.0, fastest, freq, narrow: None, block });
        let var = self.vars.len() - 1;
        if !matches!(kind, VarKind::Carried(_)) {
            self.var_of[inst] = Some(var);
            for &result in func.insts[inst].results.iter().filter(|&&v| is_tile(func, v)) {
                self.source[result] = Source::Var(var);
                self.vars[var].bits = func.ty(result).elem.bits();
            }
        }
        var
    }

    fn control(&mut self, func: &Function, block: Block, inst: Inst) -> Result<(), String> {
        let data = &func.insts[inst];
        if data.regions.is_empty() {
            return Ok(());
        }
        let freq = self.freq[block] * self.turns(func, inst);
        let mut carried = Vec::new();
        for (i, position) in func.carried(data).enumerate().filter(|(_, c)| is_tile(func, c.result)) {
            let var = self.add(func, block, inst, VarKind::Carried(i), position.result);
            self.vars[var].freq = freq;
            self.source[position.result] = Source::Var(var);
            position.params.iter().flatten().for_each(|&param| self.source[param] = Source::Var(var));
            carried.push((var, position));
            if let Some(init) = position.init {
                self.add_use(func, var, init, Role::Domain, block);
            }
        }
        for (k, &region) in data.regions.iter().enumerate() {
            self.parent[region] = Some(block);
            self.freq[region] = freq;
            self.block(func, region)?;
            for (var, position) in &carried {
                if let Some(yielded) = position.yields[k] {
                    self.add_use(func, *var, yielded, Role::Domain, region);
                }
            }
        }
        Ok(())
    }

    /// How often a block runs for each time that the operation does that owns it.
    fn turns(&self, func: &Function, inst: Inst) -> f64 {
        let data = &func.insts[inst];
        let outer = data.regions.iter().any(|&r| func.contains(r, |op| matches!(op, Op::For { .. } | Op::While {})));
        let unknown = if outer { cost::OUTER_TRIPS } else { cost::INNER_TRIPS };
        if let Op::If { .. } = data.op {
            return cost::BRANCH;
        }
        let Op::For { start, end, step } = data.op else { return unknown };
        let number = |v: Value| self.defs.constant(func, v)?.as_int();
        match (number(start), number(end), number(step)) {
            (Some(start), Some(end), Some(step)) if step > 0 => (((end - start) as f64) / step as f64).ceil().max(1.0),
            _ => unknown,
        }
    }

    fn add_use(&mut self, func: &Function, var: usize, value: Value, role: Role, block: Block) {
        // A change of shape is made where it stood; what it needs, it needs there.
        let (mut origin, mut at) = (value, block);
        while self.source[origin] == Source::Reshaped {
            let Some((x, home)) = self.reshaped(func, origin) else { break };
            (origin, at) = (x, home);
        }
        let from = match self.source[origin] {
            Source::Var(from) => Some((from, origin)),
            Source::Scalar | Source::Free | Source::Reshaped => None,
        };
        let (freq, at) = match from {
            Some(_) => self.cheapest(self.defs.home(origin).unwrap_or(func.body), at),
            None => {
                let home = self.defs.home(origin).unwrap_or(func.body);
                (self.freq[home], home)
            }
        };
        // What is there once serves several operations of a chain, or both operands of one.
        if self.known.insert((var, value, role, at)) {
            self.uses.push(Use { var, value, role, from, freq, block: at });
        }
    }

    /// The operand of a change of shape, and where it stands.
    fn reshaped(&self, func: &Function, result: Value) -> Option<(Value, Block)> {
        let (x, _) = self.defs.op(func, result)?.shape_change()?;
        Some((x, self.defs.home(result)?))
    }

    /// The outermost of the blocks around `inner`, from `outer` on, that run least often.
    fn cheapest(&self, outer: Block, inner: Block) -> (f64, Block) {
        let mut best = (self.freq[inner], inner);
        let mut block = inner;
        while block != outer {
            let Some(parent) = self.parent[block] else { break };
            block = parent;
            if self.freq[block] <= best.0 {
                best = (self.freq[block], block);
            }
        }
        best
    }

    /// The layout of a variable's result, if it works in this one.
    pub fn yields(&self, func: &Function, layouts: &mut Layouts, var: usize, id: LayoutId) -> Option<LayoutId> {
        match self.result_layout(func, var, &layouts[id])? {
            Cow::Borrowed(_) => Some(id),
            Cow::Owned(layout) => Some(layouts.intern(layout)),
        }
    }

    /// The same, of a layout; borrowed if it is the very same.
    pub fn result_layout<'a>(&self, func: &Function, var: usize, layout: &'a Layout) -> Option<Cow<'a, Layout>> {
        let Var { kind, shape, ref insts, .. } = self.vars[var];
        if let (VarKind::Fold, Op::Fold { kind, axis, .. }) = (kind, func.insts[insts[0]].op) {
            // All of the axis: the bits are divided between warps afterwards.
            let results = kind.result_layouts(layout, shape, axis as usize, BitOrder::Any)?;
            return results.into_iter().next().map(Cow::Owned);
        }
        if let Op::Join { .. } = func.insts[insts[0]].op {
            return Some(Cow::Owned(layout.join()));
        }
        if let Op::Split { .. } = func.insts[insts[0]].op {
            return layout.split().map(Cow::Owned);
        }
        if let Some((exchange, axis)) = func.exchange(&func.insts[insts[0]]) {
            return exchange.result_layout(layout, shape, axis).map(Cow::Owned);
        }
        Some(Cow::Borrowed(layout))
    }

    /// The layout that a variable works in, if its result has this one; `None` if the result does not tell: a reduction's operand has
    /// a dimension more.
    pub fn works_in(&self, func: &Function, layouts: &mut Layouts, var: usize, id: LayoutId) -> Option<LayoutId> {
        let op = &func.insts[self.vars[var].insts[0]].op;
        if let Op::Join { .. } = op {
            return layouts[id].split().map(|layout| layouts.intern(layout));
        }
        if let Op::Split { .. } = op {
            let joined = layouts[id].join();
            return Some(layouts.intern(joined));
        }
        let tells = !matches!(
            op,
            Op::Fold { kind: FoldKind::Reduce, .. } | Op::ClusterGather { .. } | Op::ClusterScatter { .. }
        );
        tells.then_some(id)
    }

    /// Cycles to have a variable's result in another layout, of this many registers (`None` if no thread has it there: it is read from
    /// shared memory), and whether by computing it again from what is narrower; `cycles` says what converting elements of this many bits
    /// costs.
    pub fn moved(
        &self,
        func: &Function,
        var: usize,
        registers: Option<usize>,
        mut cycles: impl FnMut(u32) -> f64,
    ) -> (f64, bool) {
        let Var { bits, weight, narrow, .. } = self.vars[var];
        let whole = cycles(bits);
        let (Some(narrow), Some(registers)) = (narrow.filter(|_| whole > 0.0), registers) else {
            return (whole, false);
        };
        let computed = f64::from(func.num_warps) * registers as f64 * weight * cost::ISSUE;
        let recomputed = cycles(func.ty(narrow).elem.bits()) + computed;
        (recomputed.min(whole), recomputed < whole)
    }

    /// How often a block runs.
    pub fn runs(&self, block: Block) -> f64 {
        self.freq[block]
    }

    /// The layout that data must have for its change of shape to have this one.
    pub fn origin(&self, func: &Function, layouts: &mut Layouts, value: Value, id: LayoutId) -> Option<LayoutId> {
        if self.source[value] != Source::Reshaped {
            return Some(id);
        }
        let (x, change) = self.defs.op(func, value)?.shape_change()?;
        let under = change.operand_layout(func.ty(x).shape, &layouts[id])?;
        let under = layouts.intern(under);
        self.origin(func, layouts, x, under)
    }

    /// The layout that a change of shape has if its data has this one; `None` for a broadcast, which leaves it open.
    pub fn derived(&self, func: &Function, layouts: &mut Layouts, value: Value, id: LayoutId) -> Option<LayoutId> {
        if self.source[value] != Source::Reshaped {
            return Some(id);
        }
        let (x, change) = self.defs.op(func, value)?.shape_change()?;
        let under = self.derived(func, layouts, x, id)?;
        let layout = change.result_layout(func.ty(x).shape, &layouts[under])?;
        Some(layouts.intern(layout))
    }
}

/// Whether a value is a tile.
pub(super) fn is_tile(func: &Function, value: Value) -> bool {
    func.ty(value).shape != Shape::SCALAR
}

/// Instructions that an operation takes for each element.
#[expect(clippy::wildcard_enum_match_arm, reason = "one instruction, if nothing else is known")]
pub(super) fn weight(func: &Function, op: &Op) -> f64 {
    let mut wide = 1.0;
    op.for_each_operand(|v| {
        if func.ty(v).elem.bits() > 32 {
            wide = 2.0;
        }
    });
    let int = |v: Value| func.ty(v).elem.num().is_some_and(|d| d.is_int());
    let one = match *op {
        Op::Unary { kind: UnaryKind::Exp | UnaryKind::Exp2 | UnaryKind::Exp2Ftz, .. } => cost::EXPONENTIAL,
        Op::Unary { kind: UnaryKind::Sin | UnaryKind::Cos, .. } => cost::SINE,
        Op::Unary { kind: UnaryKind::Sqrt | UnaryKind::Rsqrt, .. } => cost::DIVISION,
        Op::Binary { kind: BinaryKind::Div | BinaryKind::Rem, a, .. } => {
            if int(a) {
                2.0 * cost::DIVISION
            } else {
                cost::DIVISION
            }
        }
        Op::Yield {} => 0.0,
        _ => 1.0,
    };
    one * wide
}
