//! Register pressure: an estimate of the registers that a thread needs at least, for requesting a higher occupancy.
//!
//! What is live at a point of the program is counted in registers of 32 bits. Indices and masks are computed where they are
//! needed and not counted, pointers of an access once for each instruction; parameters and constants are in no register. The
//! maximum over all points, and a few more for the thread's own work, is what the assembler manages with.

use crate::analysis::axis::{self, AxisInfo};
use crate::analysis::liveness::{self, LiveInterval};
use crate::analysis::stepped;
use crate::entity::SideTable;
use crate::ir::{Function, InstData, Value};
use crate::layout::{Layout, access, products};
use crate::metadata::Target;
use crate::ops::kinds::UnaryKind;
use crate::ops::{Access, AccessEffect, DotKind, Effect, FoldKind, LayoutRule, Location, Memory, Op};
use crate::span::Span;
use crate::types::{DType, Elem, Shape};

/// Registers for the thread's index and intermediate results.
const WORKING: u32 = 10;

/// Registers of elements that are reduced together with others, such as their numbers: those that are compared, and those that are kept.
/// The four largest of 1024 spill 48 bytes without them.
const COMPARED: u32 = 16;

/// Registers of a sine or cosine while it is computed, four elements at a time.
const SINE: u32 = 24;

/// Registers of an access whose mask may cut a vector, on the path on which elements go one by one: more masks than there are
/// predicates.
const CUT: u32 = 12;

/// Addresses of a view that are live together: the assembler computes some of them again.
const ADDRESSES: u32 = 32;

/// Registers of what is folded as it arrives, sixteen bytes at a time.
pub(super) const FOLDED: u32 = 4;

/// Bytes along K of a row or a column that a product has loaded at a time: two atoms of tensor cores.
const AHEAD: u32 = 64;

/// Registers of the descriptors of operands in shared memory, and of what the assembler keeps beside the sums of products in flight. *Measured:*
/// of 43 images with products by `wgmma`, drawn at random, 20 need 2 to 18 registers fewer than is estimated, and 23 need 21 to 165 fewer.
const DESCRIPTORS: u32 = 20;

/// Registers beside them where each thread copies a part of the operands: 12 fewer, and a gathered product spills 92 bytes.
const ADDRESSES_OF_COPIES: u32 = 12;

/// Registers of the rank of a block in its cluster, of what follows from it, and of addresses of mailboxes. *Measured:*
/// without them softmaxes of 64 elements a thread spill 16 to 144 bytes.
const MESSAGES: u32 = 12;

/// Registers below which no occupancy is requested: it is high enough.
const MIN_REGISTERS: u32 = 20;

/// The occupancy in blocks that is requested from the assembler for a function at stage 2 with this much shared memory, and these
/// [`registers`] of a thread; `None` where that is not needed.
pub fn resident_blocks(func: &Function, mut registers: u32, target: Target, shared_bytes: u32) -> Option<u32> {
    let threads = func.block_threads();
    if func.contains(
        func.body,
        |op| matches!(*op, Op::Dot { kind: DotKind::Mma, a, .. } if func.ty(a).elem == Elem::Num(DType::F64)),
    ) {
        registers = registers.max(products::F64_REGISTERS);
    }
    // One block alone stalls at its own barriers.
    let enough = (target.info().enough_threads / threads).max(2);
    // Shared memory alone has room for one: the assembler need not save registers for more, and would spill for them.
    if target.resident_blocks(threads, 0, shared_bytes) == 1 && shared_bytes > 0 {
        return Some(1);
    }
    let resident = target.resident_blocks(threads, registers, shared_bytes).min(enough);
    Some(resident).filter(|&blocks| registers >= MIN_REGISTERS && blocks > 1)
}

/// How many blocks of a multiprocessor hide the latency of one: all that it has threads for. Products hide it by themselves, in
/// registers; but one block alone stalls at its own barriers.
pub fn wanted_blocks(func: &Function, target: Target) -> u32 {
    let multiplies = func.contains(func.body, |op| matches!(op, Op::Dot { .. }));
    if multiplies { 2 } else { target.info().threads / func.threads() }
}

/// Registers of a thread, estimated at stage 2. Of 46 images of softmax, layer norm and products, the assembler needs
/// between 20 fewer and 22 more to avoid spills.
pub fn registers(func: &Function, facts: &SideTable<Value, AxisInfo>) -> u32 {
    let temporaries = |data: &InstData| temporaries(func, facts, data) + addresses(func, facts, data);
    let messages = if func.cluster > 1 { MESSAGES } else { 0 };
    peak(func, &words(func, facts), temporaries).0 + WORKING + messages + stepped_addresses(func)
}

/// Registers of the addresses, and of the products for addresses, that the loop with most of them steps.
fn stepped_addresses(func: &Function) -> u32 {
    let loops = func.walk().into_iter().filter(|&inst| matches!(func.insts[inst].op, Op::For { .. }));
    let addresses = loops.map(|inst| {
        let region = func.insts[inst].regions[0];
        stepped::stepped(func, region).len() + stepped::products(func, region).len()
    });
    2 * addresses.max().unwrap_or(0) as u32
}

/// The most registers that are live at one point, where values and temporary registers take as many as is said, and the operation
/// there.
pub(super) fn peak(
    func: &Function,
    words: &SideTable<Value, u32>,
    temporaries: impl Fn(&InstData) -> u32,
) -> (u32, Span) {
    let reshaped = reshaped(func);
    let liveness = liveness::analyse(func, &reshaped);
    // What becomes live before each instruction, less what no longer is.
    let mut live = vec![0i64; liveness.last as usize + 2];
    for value in func.types.keys() {
        let LiveInterval { start, last } = liveness.intervals[value];
        live[start as usize + 1] += i64::from(words[value]);
        live[last as usize + 1] -= i64::from(words[value]);
    }
    for &(value, LiveInterval { start, last }) in &liveness.holes {
        live[start as usize + 1] -= i64::from(words[value]);
        live[last as usize + 1] += i64::from(words[value]);
    }
    for number in 1..live.len() {
        live[number] += live[number - 1];
    }
    let (mut most, mut span) = (0, Span::NONE);
    let mut open = vec![func.body];
    while let Some(block) = open.pop() {
        for (inst, data) in func.block(block) {
            // The combination of a reduction has no tiles; a change of shape takes nothing.
            if data.op.layout_rule() == LayoutRule::Carried {
                open.extend(&data.regions);
            }
            let all = live[liveness.numbers[inst].0 as usize] + i64::from(temporaries(data));
            if data.results.first().is_none_or(|&v| reshaped[v].is_none()) && all >= most {
                (most, span) = (all, data.span);
            }
        }
    }
    (most as u32, span)
}

/// Temporary registers of an instruction, without those of addresses.
pub(super) fn temporaries(func: &Function, facts: &SideTable<Value, AxisInfo>, data: &InstData) -> u32 {
    if let Op::Dot { .. } = data.op {
        return fragments(func, &data.op);
    }
    if let (Op::Fold { kind: FoldKind::Reduce, .. }, [_, _, ..]) = (data.op, &data.results[..]) {
        return data.args.iter().map(|&v| func.registers(v) as u32).sum::<u32>().min(COMPARED);
    }
    if matches!(data.op, Op::Unary { kind: UnaryKind::Sin | UnaryKind::Cos, .. }) {
        return SINE;
    }
    let Some(at) = vectors(data) else { return 0 };
    if axis::is_cut(func, facts, at, axis::vector_width(func, facts, at)) { CUT } else { 0 }
}

/// Registers of the addresses of a view; those of pointers are values, and counted.
fn addresses(func: &Function, facts: &SideTable<Value, AxisInfo>, data: &InstData) -> u32 {
    let Some(at @ Location::View { .. }) = vectors(data) else { return 0 };
    let registers = data.accessed_tile().map_or(1, |tile| func.registers(tile)) as u32;
    let width = axis::vector_width(func, facts, at) as u32;
    // Where elements are accessed one by one, each has its own mask, too.
    (if width == 1 { 3 } else { 2 }) * (registers / width).clamp(1, ADDRESSES)
}

/// Registers of the fragments that a product loads from shared memory: of each row and column [`AHEAD`] bytes along K, or without tensor
/// cores those of a load, and the next one. `wgmma` loads none, and takes [`DESCRIPTORS`].
fn fragments(func: &Function, op: &Op) -> u32 {
    let Op::Dot { kind, a, .. } = *op else { return 0 };
    if kind == DotKind::Wgmma {
        return DESCRIPTORS + if is_filled_by_one(func) { 0 } else { ADDRESSES_OF_COPIES };
    }
    let words = |(operand, layout): (Value, Layout)| {
        let ty = func.ty(operand);
        let axis = ty.shape.rank().saturating_sub(if operand == a { 1 } else { 2 });
        // Copies along K are multiplied one after the other.
        let (depth, bytes) = (ty.shape.base().dims()[axis], ty.elem.bits().div_ceil(8));
        let copies = ty.shape.num_copies() as u32 / ty.shape.copies().dims()[axis];
        let access = func.mem(operand).and_then(|mem| access::shared(&layout, mem, true));
        let loaded = access.filter(|_| kind == DotKind::Fma);
        let loaded = loaded.and_then(|access| access::steps(&layout, &access, ty.shape.base(), axis));
        let ahead = loaded.map_or(AHEAD / bytes, |steps| 2 * steps).min(depth);
        (layout.registers() as u32 * copies * bytes / 4).div_ceil(depth / ahead.max(1))
    };
    func.shared_operands(op).into_iter().map(words).sum()
}

/// Where an instruction accesses global memory by vectors.
fn vectors(data: &InstData) -> Option<Location> {
    let Access { memory: Memory::Global(at), effect, .. } = data.op.access()? else { return None };
    match effect {
        AccessEffect::Read | AccessEffect::Write => Some(at),
        AccessEffect::Update => None,
    }
}

/// Whether one thread fills the rings of a function, all of them.
fn is_filled_by_one(func: &Function) -> bool {
    let mut filled = func.rings.keys().filter(|&ring| !func.is_of_results(ring)).peekable();
    filled.peek().is_some() && filled.all(|ring| func.rings[ring].fill.is_bulk())
}

/// Registers of 32 bits that each value takes.
pub(super) fn words(func: &Function, facts: &SideTable<Value, AxisInfo>) -> SideTable<Value, u32> {
    let (cheap, folded) = (cheap(func), folded(func));
    // No address of the other threads follows from the indices of the loop then: they are in uniform registers.
    let uniform = is_filled_by_one(func);
    // What a reduction combines by is of each thread's own elements.
    let combines = func.walk().into_iter().filter(|&inst| func.insts[inst].op.layout_rule() != LayoutRule::Carried);
    let combined = func.defined_in(&combines.flat_map(|inst| func.insts[inst].regions.clone()).collect::<Vec<_>>());
    let mut words = SideTable::new(0);
    for value in func.types.keys() {
        let (ty, registers) = (func.ty(value), func.registers(value) as u32);
        words[value] = match ty.elem {
            _ if func.mem(value).is_some() => 0,
            Elem::Ptr { pointee, .. } if ty.shape != Shape::SCALAR => {
                // Where elements are accessed one by one, each has its own mask, too.
                let width = axis::access_width(facts[value], pointee.bytes().into()).max(1) as u32;
                (if width == 1 { 3 } else { 2 }) * (registers / width).max(1)
            }
            Elem::Num(DType::Bool) => 0,
            _ if cheap[value] => 0,
            Elem::Ptr { .. } => 2,
            Elem::Num(dtype) if uniform && ty.shape == Shape::SCALAR && !dtype.is_float() && !combined[value] => 0,
            Elem::Num(_) if folded[value] => registers.min(FOLDED),
            Elem::Num(dtype) => (registers * dtype.bits()).div_ceil(32),
        };
    }
    func.params.iter().for_each(|param| words[param.value] = 0);
    words
}

/// What is loaded from shared memory and reduced, and nothing else; and what is cast for one elementwise operation.
fn folded(func: &Function) -> SideTable<Value, bool> {
    let (mut folded, mut cast) = (SideTable::new(false), SideTable::new(false));
    for inst in func.walk() {
        let data = &func.insts[inst];
        let folds = matches!(data.op, Op::Fold { kind: FoldKind::Reduce, .. });
        let elementwise = data.op.layout_rule() == LayoutRule::Elementwise && data.op.effect() == Effect::Pure;
        data.for_each_operand(|v| {
            folded[v] &= folds || cast[v] && elementwise;
            // A second use is one too many.
            cast[v] = false;
        });
        if let (Op::SharedLoad { .. } | Op::Cast { .. }, &[result]) = (data.op, &data.results[..]) {
            folded[result] = true;
            cast[result] = matches!(data.op, Op::Cast { .. });
        }
    }
    folded
}

/// Of a tile whose registers are those of another one, that one: changes of shape move nothing, and neither do waits for sums.
pub(super) fn reshaped(func: &Function) -> SideTable<Value, Option<Value>> {
    let mut reshaped = SideTable::new(None);
    for inst in func.walk() {
        let data = &func.insts[inst];
        if let (
            Op::Broadcast { x, .. }
            | Op::Reshape { x, .. }
            | Op::Permute { x, .. }
            | Op::Splat { x, .. }
            | Op::DotWait { sum: x },
            &[result],
        ) = (data.op, &data.results[..])
        {
            reshaped[result] = Some(reshaped[x].unwrap_or(x));
        }
    }
    reshaped
}

/// What is computed from constants, ranges and scalars only.
fn cheap(func: &Function) -> SideTable<Value, bool> {
    let mut cheap = SideTable::new(false);
    for inst in func.walk() {
        let data = &func.insts[inst];
        let made = match data.op.layout_rule() {
            LayoutRule::Unconstrained => !matches!(data.op, Op::SharedAlloc { .. }),
            LayoutRule::Elementwise | LayoutRule::ShapeChange | LayoutRule::Own => {
                data.op.effect() == Effect::Pure && data.regions.is_empty()
            }
            LayoutRule::Carried => false,
        };
        let mut all = made;
        data.for_each_operand(|v| all &= cheap[v] || func.ty(v).shape == Shape::SCALAR);
        data.results.iter().for_each(|&v| {
            cheap[v] = all && (func.ty(v).shape != Shape::SCALAR || data.op.layout_rule() == LayoutRule::Unconstrained)
        });
    }
    cheap
}
