//! The cost of executing a variable under a label, in cycles of one multiprocessor for all warps
//! ([`crate::layout::cost`]).

use super::accessed;
use super::candidates::Label;
use super::graph::{Graph, Role, Use, Var, VarKind};
use super::products::is_permuted;
use crate::analysis::axis::AxisInfo;
use crate::entity::SideTable;
use crate::ir::folds::of_totals;
use crate::ir::{Function, Inst, Layouts, Value};
use crate::layout::access::{self, global};
use crate::layout::cost::{self, ISSUE, REGISTER, SECTOR, SECTOR_REPEATED, SHUFFLE, WAVEFRONT};
use crate::layout::{Atom, LANES, Layout, Tiling, estimate, products};
use crate::metadata::TargetInfo;
use crate::ops::{DotKind, Effect, FoldKind, Op};
use crate::passes::Env;
use crate::types::Shape;

/// What executing variables costs.
pub(super) struct Costs<'a> {
    pub func: &'a Function,
    pub graph: &'a Graph,
    pub facts: &'a SideTable<Value, AxisInfo>,
    warps: f64,
    /// One register of one warp.
    register: f64,
    target: &'static TargetInfo,
}

impl<'a> Costs<'a> {
    pub fn new(func: &'a Function, env: &Env, graph: &'a Graph, facts: &'a SideTable<Value, AxisInfo>) -> Costs<'a> {
        let (warps, register) = (f64::from(func.num_warps), REGISTER * f64::from(env.register_price));
        Costs { func, graph, facts, warps, register, target: env.target.info() }
    }

    /// Cycles of a variable over all executions, including what is rematerialised for it.
    pub fn of(&self, var: usize, label: Label, layouts: &Layouts) -> f64 {
        let Var { kind, shape, bits, weight, fastest, freq, ref insts, .. } = self.graph.vars[var];
        let layout = &layouts[label.needs(Role::Domain)];
        let (base, copies) = (shape.base(), shape.num_copies() as f64);
        let registers = layout.registers() as f64;
        let once = match kind {
            VarKind::Elementwise => registers * copies * self.warps * ISSUE * weight,
            VarKind::Access => self.access(insts[0], base, fastest, layout) * copies,
            VarKind::Fold => self.fold(insts[0], base, weight, layout, bits) * copies,
            VarKind::Dot => self.dot(insts[0], label, layouts),
            VarKind::Carried(_) => 0.0,
        };
        let words = f64::from(bits.div_ceil(32));
        let held =
            self.graph.result_layout(self.func, var, layout).map_or(registers, |l| l.registers() as f64) * copies;
        let free = |i: &usize| self.rematerialised(&self.graph.uses[*i], label, layouts);
        let rematerialised: f64 = self.graph.operands[var].iter().map(free).sum();
        (once + held * words * self.warps * self.register) * freq + rematerialised
    }

    /// Free operands are computed in the layout in which they are needed.
    fn rematerialised(&self, used: &Use, label: Label, layouts: &Layouts) -> f64 {
        if used.from.is_some() {
            return 0.0;
        }
        let registers = (layouts[label.needs(used.role)].registers() * self.func.copies(used.value)) as f64;
        registers * self.warps * ISSUE * cost::FREE * used.freq
    }

    fn access(&self, inst: Inst, shape: Shape, fastest: usize, layout: &Layout) -> f64 {
        let op = self.func.insts[inst].op;
        let accessed = accessed(self.func, self.graph, self.facts, self.target, inst);
        let Some((pointee, widest)) = accessed.and_then(|(at, widest)| Some((self.func.pointee(at)?, widest))) else {
            return layout.registers() as f64 * self.warps * ISSUE;
        };
        let bytes = pointee.bytes();
        let mut bits = shape.dims().iter().map(|extent| extent.trailing_zeros());
        let run = bits.nth(fastest).unwrap_or(0);
        let touched = global(layout, bits.sum(), run, widest as u32, bytes);
        let (sectors, lines) = (f64::from(touched.sectors), f64::from(touched.lines));
        let instructions = layout.registers() as f64 / f64::from(touched.vector);
        let moved = LANES as f64 * f64::from(touched.vector * bytes) / 128.0;
        let pipe = moved.max(sectors / cost::SECTORS).max(lines / cost::LINES).max(1.0);
        let issue = instructions * self.warps * (pipe + cost::ADDRESS_SLOTS * ISSUE);
        let asked = instructions * sectors * self.warps;
        if op.effect() == Effect::Write {
            // Of warps that hold the same elements one writes; nothing merges what different instructions write.
            let (_, idle) = layout.replicated();
            return issue + asked / f64::from(1u32 << idle.count_ones()) * SECTOR;
        }
        let once = (shape.elements() as f64 * f64::from(bytes) / 32.0).max(1.0).min(asked);
        issue + once * SECTOR + (asked - once) * SECTOR_REPEATED
    }

    fn fold(&self, inst: Inst, shape: Shape, weight: f64, layout: &Layout, bits: u32) -> f64 {
        let data = &self.func.insts[inst];
        let (Op::Fold { kind, axis, .. }, values) = (data.op, data.args.len() as f64) else { return 0.0 };
        match kind {
            FoldKind::Reduce => self.reduce(shape, axis as usize, [weight, values], layout, bits),
            FoldKind::Scan | FoldKind::ScanReverse => self.scan(shape, axis as usize, [weight, values], layout, bits),
        }
    }

    /// In registers, then between lanes; what warps share is exchanged and reduced in registers again
    /// ([`crate::passes::layouts::split`]).
    fn reduce(&self, shape: Shape, axis: usize, [weight, values]: [f64; 2], layout: &Layout, bits: u32) -> f64 {
        let inner: u32 = shape.dims()[axis + 1..].iter().product();
        let field = (shape.dims()[axis] - 1) * inner;
        let of_axis = |columns: &[u32]| columns.iter().map(|&c| (c & field) / inner).fold(0, |all, c| all | c);
        let (lanes, far) = (of_axis(&layout.lane), of_axis(&layout.warp));
        let Some(result) = layout.slice_axis(shape, axis) else { return f64::INFINITY };
        let (all, left) = (layout.registers() as f64 * self.warps, result.registers() as f64 * self.warps);
        let shuffle = values * f64::from(bits.div_ceil(32)) * SHUFFLE + weight * ISSUE;
        let near = (all - left) * weight * ISSUE + f64::from(lanes.count_ones()) * left * shuffle;
        if far == 0 {
            return near;
        }
        let parts = 1 << far.count_ones();
        let exchange = || {
            let of_parts = layout.fold_axis(shape, axis, !far & (shape.dims()[axis] - 1))?;
            let together = result.insert_axis(shape.without(axis)?, axis, parts)?;
            Some(estimate::cycles(&of_parts, &together, bits, self.target.stmatrix))
        };
        near + exchange().map_or(f64::INFINITY, |cycles| values * cycles) + f64::from(parts - 1) * left * weight * ISSUE
    }

    /// Every element is combined once for each bit that a thread's index has, and every second one for a register's. Totals of the
    /// blocks that warps divide are exchanged, and combined by every thread ([`crate::passes::layouts::split`]).
    fn scan(&self, shape: Shape, axis: usize, [weight, values]: [f64; 2], layout: &Layout, bits: u32) -> f64 {
        let (extent, inner) = (shape.dims()[axis], shape.dims()[axis + 1..].iter().product::<u32>());
        let (words, registers) = (values * f64::from(bits.div_ceil(32)), layout.registers() as f64);
        let held = |columns: &[u32], bit: u32| columns.contains(&(inner << bit));
        let block = (0..extent.trailing_zeros()).find(|&bit| held(&layout.warp, bit));
        // Of a lane all registers read the same one of a block that registers hold.
        let (mut issued, mut shuffles, mut readers, mut lanes) = (0.0, 0.0, registers, false);
        for bit in 0..extent.trailing_zeros() {
            let (of_register, within) = (held(&layout.reg, bit), block.is_none_or(|block| bit < block));
            lanes |= held(&layout.lane, bit);
            issued += if of_register { weight * registers / 2.0 } else { (weight + words) * registers };
            readers = if of_register { readers / 2.0 } else { readers };
            shuffles += if within && lanes { readers * words } else { 0.0 };
        }
        let once = |issued: f64| self.warps * ISSUE * issued;
        let near = once(issued) + self.warps * SHUFFLE * shuffles;
        let Some(block) = block else { return near };
        let exchange = || {
            let of_blocks = layout.fold_axis(shape, axis, (1 << block) - 1)?;
            let together = of_totals(layout, shape, axis, extent >> block)?;
            if together.registers() as f64 * words > f64::from(cost::TILE_REGISTERS) {
                return None;
            }
            let cycles = values * estimate::cycles(&of_blocks, &together, bits, self.target.stmatrix);
            // Where warps hold the lowest bit, every thread scans all elements.
            let steps = if block == 0 { f64::from(extent.trailing_zeros()) } else { 1.0 };
            Some(cycles + once(steps * (weight + words) * together.registers() as f64))
        };
        // What no thread has registers for is planned only if there is nothing else.
        near + exchange().unwrap_or(cost::UNFIT)
    }

    fn dot(&self, inst: Inst, label: Label, layouts: &Layouts) -> f64 {
        let (Op::Dot { a, b, acc, .. }, Label::Product { kind, left, right, sum }) = (self.func.insts[inst].op, label)
        else {
            return f64::INFINITY;
        };
        let Some((_, [_, depth])) = self.func.ty(a).shape.matrices() else { return f64::INFINITY };
        let (depth, elements) = (f64::from(depth), self.func.ty(acc).shape.elements());
        let of = |id, tile| (layouts[id].registers() * self.func.copies(tile)) as f64;
        let operands = (of(left, a) + of(right, b)) * self.warps * self.register;
        let words = f64::from(self.func.ty(acc).elem.bits().div_ceil(32));
        match kind {
            DotKind::Mma | DotKind::MmaM8 => {
                2.0 * elements as f64 * depth / cost::mma_flops(self.func.ty(a).elem.num()) + operands
            }
            DotKind::Wgmma => self.wgmma(a, acc, &layouts[sum]),
            DotKind::Fma | DotKind::Any | DotKind::Tf32 => {
                let reads = self.reads(a, &layouts[left]) + self.reads(b, &layouts[right]);
                of(sum, acc) * depth * self.warps * ISSUE * words + reads + operands
            }
        }
    }

    /// Every instruction reads 64 rows of the left operand and all of its columns of the right one from shared memory, 128 bytes a cycle,
    /// while it multiplies.
    fn wgmma(&self, a: Value, acc: Value, sum: &Layout) -> f64 {
        let (ty, shape) = (self.func.ty(a), self.func.ty(acc).shape);
        let Some(Tiling { atom: Atom::Wgmma { n }, .. }) = products::wgmma_tiling_of(sum, shape) else {
            return f64::INFINITY;
        };
        let Some((_, [_, depth])) = ty.shape.matrices() else { return f64::INFINITY };
        let n = f64::from(n);
        let speed = cost::wgmma_flops(ty.elem.num());
        let instructions = shape.elements() as f64 / (64.0 * n) * f64::from(depth * ty.elem.bits() / 256);
        let multiplied = 2.0 * shape.elements() as f64 * f64::from(depth) / speed;
        multiplied.max(instructions * (64.0 + n) * 32.0 / 128.0)
    }

    /// Loads of an operand from shared memory, by vectors of what a thread has of neighbours in memory: along the last dimension, or along
    /// the one before of a tile that was transposed.
    fn reads(&self, operand: Value, layout: &Layout) -> f64 {
        let ty = self.func.ty(operand);
        let along = ty.shape.rank() - if is_permuted(self.func, operand) { 2 } else { 1 };
        let unit: u32 = ty.shape.base().dims()[along + 1..].iter().product();
        let most = (access::WIDEST * 8 / ty.elem.bits()).ilog2();
        let neighbours = (0..most).take_while(|&bit| layout.reg.contains(&(unit << bit))).count();
        let bytes = (ty.elem.bits() / 8) << neighbours;
        // Many lanes read the same: 16 bytes take two wavefronts, less takes one.
        let wavefronts = if bytes == access::WIDEST { 2.0 } else { 1.0 };
        let loads = (layout.registers() >> neighbours) * self.func.copies(operand);
        loads as f64 * self.warps * wavefronts * WAVEFRONT
    }
}
