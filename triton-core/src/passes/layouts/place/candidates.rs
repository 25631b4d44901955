//! Candidate labels: found breadth first from the operations that have a preference.
//!
//! | operation | prefers |
//! |---|---|
//! | access | neighbouring lanes at neighbouring addresses, the widest vector or half of it, warps along rows or across them; of narrow elements that are transposed, several rows a thread; of a result of `wgmma`, the rows that a warp has of it |
//! | product | each arrangement of the warps that tensor cores allow; without them, sums as for an access |
//! | split | each pair in two registers of a thread |
//! | reduction | warps across what is reduced, so that they need not exchange data |
//! | scan | the same; else warps along the highest bits of the index, so that they exchange few totals |
//!
//! A layout that a variable may yield is one in which its users may work; one in which it may need an operand, one in which
//! the variable under it may. The lists depend on the order of the program alone, and those near a preference come
//! first: so a limit per variable drops the far ones.

use super::graph::{Graph, Role, Var, VarKind};
use super::{
    accessed, fold_order,
    products::{is_permuted, mma, tilings, warpgroup_tilings, wgmma},
};
use crate::analysis::axis::AxisInfo;
use crate::entity::SideTable;
use crate::ir::{Function, LayoutId, Layouts, Value};
use crate::layout::{Layout, cost, products};
use crate::ops::{DotKind, FoldKind, Op};
use crate::passes::Env;
use crate::types::Shape;
use std::collections::VecDeque;

/// Labels of a variable.
const MAX_LABELS: usize = 16;

/// Labels of a product.
const MAX_PRODUCT_LABELS: usize = 64;

/// What a variable can be labelled with: the layouts of its operands follow from it, and that of its result. (Of operands in
/// registers; an operand that stays in shared memory will be one more form.)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Label {
    /// One layout for all.
    Tile(LayoutId),
    /// The instructions of a product, and the layouts of its operands and its sum.
    Product { kind: DotKind, left: LayoutId, right: LayoutId, sum: LayoutId },
}

impl Label {
    /// The layout in which an operand is needed.
    pub fn needs(self, role: Role) -> LayoutId {
        match (self, role) {
            (Label::Tile(id), _) | (Label::Product { sum: id, .. }, Role::Domain) => id,
            (Label::Product { left, .. }, Role::Left) => left,
            (Label::Product { right, .. }, Role::Right) => right,
        }
    }
}

/// The labels of each variable; see the [module's page](self).
pub(super) fn find(
    func: &Function,
    graph: &Graph,
    facts: &SideTable<Value, AxisInfo>,
    env: &Env,
    layouts: Layouts,
) -> (Layouts, Vec<Vec<Label>>) {
    let labels = vec![Vec::new(); graph.vars.len()];
    let permutes = func.contains(func.body, |op| matches!(op, Op::Permute { .. }));
    let queue = VecDeque::new();
    let wgmma = env.target.info().wgmma && func.contains(func.body, |op| matches!(op, Op::Dot { .. }));
    let mut search = Search { func, graph, env, layouts, labels, permutes, wgmma, queue };
    search.all(facts);
    (search.layouts, search.labels)
}

struct Search<'a> {
    func: &'a Function,
    graph: &'a Graph,
    env: &'a Env,
    layouts: Layouts,
    labels: Vec<Vec<Label>>,
    /// Whether a tile is permuted anywhere.
    permutes: bool,
    /// Whether warpgroups may multiply anything.
    wgmma: bool,
    /// Labels whose neighbours are not asked yet.
    queue: VecDeque<(usize, Label)>,
}

impl Search<'_> {
    fn all(&mut self, facts: &SideTable<Value, AxisInfo>) {
        let graph = self.graph;
        let mut order: Vec<usize> = (0..graph.vars.len()).collect();
        let rank = |var: &Var| match var.kind {
            VarKind::Dot => 0,
            VarKind::Access => 1,
            VarKind::Fold => 2,
            VarKind::Elementwise | VarKind::Carried(_) => 3,
        };
        order.sort_by(|&a, &b| {
            let (x, y) = (&graph.vars[a], &graph.vars[b]);
            y.freq.total_cmp(&x.freq).then(rank(x).cmp(&rank(y))).then(a.cmp(&b))
        });
        for &var in &order {
            self.seed(var, facts);
        }
        self.spread();
        for var in order {
            if self.labels[var].is_empty() {
                let layout = self.coalesced(var, [1, 1], false);
                self.propose(var, layout, true);
                self.spread();
            }
        }
    }

    /// Neighbouring lanes hold neighbours in memory; warps follow along the rows, or have rows of their own.
    fn coalesced(&self, var: usize, block: [u32; 2], rows_apart: bool) -> Layout {
        let Var { shape, fastest, .. } = self.graph.vars[var];
        let others = (0..shape.rank()).rev().filter(|&d| d != fastest);
        let order: Vec<usize> = (0..shape.rank()).filter(|&d| d == fastest).chain(others).collect();
        let mut warps_along = order.clone();
        if rows_apart {
            warps_along.rotate_left(1);
        }
        // Of a batch of products, groups of warps have matrices of their own: none of them reads what another one does.
        let batch = if self.graph.vars[var].kind == VarKind::Dot { shape.rank().saturating_sub(2) } else { 0 };
        warps_along.sort_by_key(|&d| d >= batch);
        Layout::blocked(shape, &order, block, self.func.num_warps, &warps_along)
    }

    fn seed(&mut self, var: usize, facts: &SideTable<Value, AxisInfo>) {
        let func = self.func;
        let Var { kind, shape, ref insts, .. } = self.graph.vars[var];
        let op = func.insts[insts[0]].op;
        // Idle threads would cost more than narrower accesses do.
        let share = (shape.base().elements() / u64::from(32 * func.num_warps)).max(1) as u32;
        match kind {
            VarKind::Access => {
                let widest = accessed(func, self.graph, facts, self.env.target.info(), insts[0])
                    .map_or(1, |(_, widest)| widest as u32);
                self.seed_coalesced(var, widest.min(share), share);
                // A warp of a warpgroup has neighbouring rows of the sum: if it stores them, no other warp waits for it.
                if let Op::Store { .. } = op
                    && self.wgmma
                    && let Some(slowest) = shape.rank().checked_sub(2)
                {
                    let layout = self.coalesced(var, [widest.min(share), 1], true);
                    let layout = layout.with_warps_last(shape, slowest);
                    layout.into_iter().for_each(|layout| self.propose(var, layout, false));
                }
            }
            VarKind::Dot => {
                let Op::Dot { kind, a, b, acc } = op else { return };
                let of_groups = warpgroup_tilings(func, kind, [a, b, acc], self.env);
                let of_groups = of_groups.into_iter().filter_map(|t| Some((DotKind::Wgmma, wgmma(func, [a, acc], t)?)));
                let mut products: Vec<_> = of_groups.collect();
                if products.is_empty() {
                    let of_warps = tilings(func, kind, [a, acc], self.env);
                    products.extend(of_warps.into_iter().filter_map(|(kind, t)| Some((kind, mma(func, [a, acc], t)?))));
                }
                let tensor = !products.is_empty();
                for (kind, layouts) in products {
                    let [left, right, sum] = layouts.map(|layout| self.layouts.intern(layout));
                    self.add(var, Label::Product { kind, left, right, sum });
                }
                if !tensor {
                    if let Some(layout) =
                        square(shape, func.num_warps, is_permuted(func, a) || share >= cost::MANY_SUMS)
                    {
                        self.propose(var, layout, false);
                    }
                    self.seed_coalesced(var, share.min(4), share);
                }
            }
            VarKind::Fold => {
                let Op::Fold { axis, .. } = op else { return };
                let order: Vec<usize> = (0..shape.rank()).rev().collect();
                let mut warps: Vec<usize> = order.iter().copied().filter(|&d| d != axis as usize).collect();
                warps.push(axis as usize);
                let layout = Layout::blocked(shape, &order, [1, 1], func.num_warps, &warps);
                self.propose(var, layout, false);
            }
            VarKind::Elementwise => {
                // Whatever else is found, each pair may be in two registers of a thread.
                if let Op::Split { .. } = op {
                    let order: Vec<usize> = (0..shape.rank()).rev().collect();
                    let layout = Layout::blocked(shape, &order, [2, 1], func.num_warps, &order);
                    self.propose(var, layout, true);
                }
                // Nor need threads have parts of several blocks.
                if let Some((exchange, axis)) = func.exchange(&func.insts[insts[0]])
                    && let Some(layout) = exchange.tile_layout(shape, axis, func.num_warps)
                {
                    self.propose(var, layout, true);
                }
            }
            VarKind::Carried(_) => {}
        }
    }

    fn seed_coalesced(&mut self, var: usize, widest: u32, share: u32) {
        let Var { shape, bits, .. } = self.graph.vars[var];
        for vector in [widest, widest / 2] {
            for rows_apart in [false, true] {
                if vector > 0 && (shape.rank() > 1 || !rows_apart) {
                    let layout = self.coalesced(var, [vector, 1], rows_apart);
                    self.propose(var, layout, false);
                }
            }
        }
        // Rows of a narrow tile that is transposed: several elements of a column make a word, and a vector, of shared memory.
        if self.permutes && bits <= 16 && widest > 1 {
            for rows in [32 / bits, 128 / bits] {
                let layout = self.coalesced(var, [widest, rows.min(share / widest).max(1)], false);
                self.propose(var, layout, false);
            }
        }
    }

    fn propose(&mut self, var: usize, layout: Layout, needed: bool) {
        let id = self.layouts.intern(layout);
        self.add_any(var, id, needed);
    }

    /// Adds the label of a variable of which a layout is known.
    fn add_any(&mut self, var: usize, id: LayoutId, needed: bool) {
        let Var { kind, shape, bits, ref insts, .. } = self.graph.vars[var];
        if self.labels[var].iter().any(|label| label.needs(Role::Domain) == id) {
            return;
        }
        let layout = &self.layouts[id];
        // A tile may be larger than that by itself, but not because threads hold the same.
        let share = (shape.base().elements() / u64::from(32 * self.func.num_warps)).max(1);
        let words = bits.div_ceil(32).max(1) * shape.num_copies() as u32;
        let most = share.max(u64::from(cost::TILE_REGISTERS / words));
        if !needed && layout.registers() as u64 > most {
            return;
        }
        let op = self.func.insts[insts[0]].op;
        if let (VarKind::Fold, Op::Fold { axis, .. }) = (kind, op)
            && fold_order(layout, shape, axis as usize).is_none()
        {
            return;
        }
        if let Op::Split { .. } = op
            && layout.split().is_none()
        {
            return;
        }
        if let Some((exchange, axis)) = self.func.exchange(&self.func.insts[insts[0]])
            && exchange.part_layout(layout, shape, axis).is_none()
        {
            return;
        }
        let (VarKind::Dot, Op::Dot { a, acc, .. }) = (kind, op) else {
            let mut few_totals = None;
            if let Op::Fold { kind: FoldKind::Scan | FoldKind::ScanReverse, axis, .. } = op {
                few_totals = layout.with_warps_last(shape, axis as usize);
            }
            self.add(var, Label::Tile(id));
            return few_totals.into_iter().for_each(|layout| self.propose(var, layout, needed));
        };
        let tensor = |l: &Label| matches!(l, Label::Product { kind, .. } if kind.is_of_tensor_cores());
        let tensor = self.labels[var].iter().any(tensor);
        let Some((_, [_, depth])) = self.func.ty(a).shape.base().matrices().filter(|_| !tensor) else { return };
        let Some([left, right]) = products::fma(layout, self.func.ty(acc).shape, depth) else { return };
        let small = |l: &Layout| l.registers() as u32 <= cost::TILE_REGISTERS;
        if needed || self.labels[var].len() < MAX_LABELS && small(&left) && small(&right) {
            let [left, right] = [left, right].map(|layout| self.layouts.intern(layout));
            self.add(var, Label::Product { kind: DotKind::Fma, left, right, sum: id });
        }
    }

    fn add(&mut self, var: usize, label: Label) {
        let most = if self.graph.vars[var].kind == VarKind::Dot { MAX_PRODUCT_LABELS } else { MAX_LABELS };
        let labels = &mut self.labels[var];
        if labels.len() < most && !labels.contains(&label) {
            labels.push(label);
            self.queue.push_back((var, label));
        }
    }

    fn spread(&mut self) {
        let (func, graph) = (self.func, self.graph);
        while let Some((var, label)) = self.queue.pop_front() {
            if let Some(result) = graph.yields(func, &mut self.layouts, var, label.needs(Role::Domain)) {
                for &i in &graph.users[var] {
                    let used = &graph.uses[i];
                    if used.role == Role::Domain
                        && let Some(layout) = graph.derived(func, &mut self.layouts, used.value, result)
                    {
                        self.add_any(used.var, layout, false);
                    }
                }
            }
            for &i in &graph.operands[var] {
                let used = &graph.uses[i];
                let Some((from, _)) = used.from else { continue };
                // Many threads need the same elements of an operand: one loads them for all.
                if used.role != Role::Domain
                    && matches!(label, Label::Product { kind: DotKind::Fma, .. })
                    && self.layouts[label.needs(used.role)].replicated() != (0, 0)
                {
                    continue;
                }
                // It is read from shared memory: no thread has it, and none converts it there.
                if used.role == Role::Right
                    && matches!(label, Label::Product { kind: DotKind::Wgmma, .. })
                    && graph.vars[from].kind == VarKind::Elementwise
                {
                    continue;
                }
                if let Some(layout) = graph.origin(func, &mut self.layouts, used.value, label.needs(used.role))
                    && let Some(layout) = graph.works_in(func, &mut self.layouts, from, layout)
                {
                    self.add_any(from, layout, false);
                }
            }
        }
    }
}

/// A sum without tensor cores in which a thread has about as many rows as columns, as each element of an operand is then multiplied most
/// often: vectors of four columns, eight of them and four rows to a warp. A thread's rows are apart, so that a warp reads neighbouring ones
/// at a time, or together, so that a thread reads several at a time, which are neighbours in memory if the left operand was transposed.
/// Of a batch, groups of warps have matrices of their own, and a thread those that are left. `None` of a tile that is too small.
fn square(shape: Shape, num_warps: u32, rows_together: bool) -> Option<Layout> {
    let (count, [m, n]) = shape.base().matrices()?;
    let groups = count.min(num_warps);
    let (rows, columns, warps) = (m.trailing_zeros(), n.trailing_zeros(), (num_warps / groups).trailing_zeros());
    let registers = (rows + columns).checked_sub(5 + warps)?;
    // Of the registers, two bits of a column first, then what makes the thread's part square.
    let of_columns = registers.div_ceil(2).max(2).min(columns.checked_sub(3)?);
    let of_rows = registers.checked_sub(of_columns)?;
    let warps_n = columns.checked_sub(3 + of_columns)?;
    let warps_m = rows.checked_sub(2 + of_rows)?;
    if of_columns < 2 || warps_n + warps_m != warps {
        return None;
    }
    let column = |first: u32, count: u32| (first..first + count).map(|bit| 1 << bit);
    let row = |first: u32, count: u32| column(columns + first, count);
    let (of_lanes, of_registers) = if rows_together { (of_rows, 0) } else { (0, 2) };
    let (columns_of, rows_of): (Vec<u32>, Vec<u32>) = (column(2, 3).collect(), row(of_lanes, 2).collect());
    let lanes = [columns_of[0], rows_of[0], columns_of[1], columns_of[2], rows_of[1]];
    // A matrix is what comes after the last row.
    let (of_warps, matrices) = (groups.trailing_zeros(), count.trailing_zeros());
    let (own, left) = (row(rows, of_warps), row(rows + of_warps, matrices - of_warps));
    let reg = column(0, 2).chain(column(5, of_columns - 2)).chain(row(of_registers, of_rows)).chain(left).collect();
    let warp = column(3 + of_columns, warps_n).chain(row(2 + of_rows, warps_m)).chain(own).collect();
    Some(Layout { reg, lane: lanes, warp })
}
