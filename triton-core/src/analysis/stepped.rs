//! Accesses that a loop steps from row to row: to a view, at the loop's counter along an axis but the last, or at the
//! sum of it and of what the loop does not change, and elsewhere at that alone. The address of a thread's first element
//! then grows by the same number of bytes in every turn, and no index is multiplied by a stride. Along the last axis,
//! whose stride is mostly 1, an address of its own would take registers and save nothing, unless the tile is copied to
//! shared memory, which takes no other registers.
//!
//! Of pointers that a ring is filled through, a loop steps what moves all of them, the product of the counter and a stride, in bytes.
//! Multiplied in each turn, an assembler multiplies for each address, and does so before the products of that turn: in registers that copies
//! of the turn before still read, so that the products wait for these.

use crate::analysis::defs::Defs;
use crate::entity::SideTable;
use crate::ir::{Block, Function, InstData, LayoutId, Value};
use crate::ops::kinds::BinaryKind;
use crate::ops::{Location, Memory, Op};
use crate::types::{DType, Elem, Type};

/// A tile of a view that a loop steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stepped {
    /// Where it is.
    pub at: Location,
    /// Which threads access which elements.
    pub layout: LayoutId,
}

/// The tiles that a loop over a region steps, each once; its first parameter is the counter.
pub fn stepped(func: &Function, region: Block) -> Vec<Stepped> {
    let Some(&counter) = func.blocks[region].params.first() else { return Vec::new() };
    let inside = func.defined_in(&[region]);
    let ahead = ahead(func, region);
    let (mut order, mut all) = (Vec::new(), Vec::new());
    func.blocks[region].insts.iter().for_each(|&inst| func.walk_inst(inst, &mut order));
    for inst in order {
        let data = &func.insts[inst];
        let Some(Memory::Global(at @ Location::View { at: starts, .. })) = data.op.access().map(|a| a.memory) else {
            continue;
        };
        let is_stepped = |v: Value| v == counter || !inside[v] || ahead[v].is_some();
        let starts = starts.as_slice();
        let layout = func.access_layout(data);
        // What is copied has no registers but those of its address.
        let last = usize::from(!matches!(data.op, Op::RingFill { .. }));
        let rows = starts.iter().rev().skip(last).any(|&v| v == counter || ahead[v].is_some());
        let Some(layout) = layout.filter(|_| rows && starts.iter().all(|&v| is_stepped(v))) else { continue };
        if !all.contains(&Stepped { at, layout }) {
            all.push(Stepped { at, layout });
        }
    }
    all
}

/// The number of elements by which a loop moves pointers that a ring is filled through: a scalar of 64 bits, the product of the counter, or of the
/// sum of it and of what the loop does not change, and of a factor that the loop does not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Product {
    /// The product.
    pub result: Value,
    /// The counter or the sum, before it is extended.
    pub index: Value,
    /// The factor.
    pub by: Value,
    /// The bytes of an element.
    pub size: u32,
}

/// The products that a loop over a region steps: those that do nothing but move the pointers of fills. A fill whose index wraps is not made, so that
/// a sum need not wrap where the index does.
pub fn products(func: &Function, region: Block) -> Vec<Product> {
    let fills = |data: &InstData| matches!(data.op, Op::RingFill { from: Location::Pointers { .. }, .. });
    if !func.block(region).any(|(_, data)| fills(data)) {
        return Vec::new();
    }
    let (defs, inside, ahead) = (Defs::of(func), func.defined_in(&[region]), ahead(func, region));
    let counter = func.blocks[region].params[0];
    let index = |v: Value| match defs.op(func, v) {
        Some(Op::Cast { x, to: DType::I64 }) if func.ty(x).elem == Elem::Num(DType::I32) => x,
        Some(_) | None => v,
    };
    let is_stepped = |v: Value| v == counter || ahead[v].is_some();
    let product = |data: &InstData| {
        let Op::Binary { kind: BinaryKind::Mul, a, b } = data.op else { return None };
        let &result = data.results.first().filter(|&&v| func.ty(v) == Type::scalar(DType::I64))?;
        let (index, by) =
            [(a, b), (b, a)].map(|(a, b)| (index(a), b)).into_iter().find(|&(a, by)| is_stepped(a) && !inside[by])?;
        Some(Product { result, index, by, size: moved(func, &defs, result)? })
    };
    func.block(region).filter_map(|(_, data)| product(data)).collect()
}

/// The bytes of each element that pointers of fills point to, which a number moves; `None` if it does anything else, or nothing.
fn moved(func: &Function, defs: &Defs, number: Value) -> Option<u32> {
    let mut sizes = Vec::new();
    for splat in defs.users(number) {
        let (Op::Splat { .. }, &[tile]) = (func.insts[splat].op, &func.insts[splat].results[..]) else { return None };
        for user in defs.users(tile) {
            let Op::Offset { ptr, index } = func.insts[user].op else { return None };
            let Elem::Ptr { pointee, .. } = func.ty(ptr).elem else { return None };
            let is_filled_from = index == tile && fills_through(func, defs, func.insts[user].results[0]);
            sizes.push(is_filled_from.then_some(pointee.bytes())?);
        }
    }
    sizes.first().copied().filter(|size| sizes.iter().all(|other| other == size))
}

/// Whether pointers are used by fills alone.
fn fills_through(func: &Function, defs: &Defs, pointers: Value) -> bool {
    defs.users(pointers).all(|user| {
        let data = &func.insts[user];
        let goes_on = matches!(data.op, Op::Offset { .. } | Op::Hint { .. }) || data.op.shape_change().is_some();
        matches!(data.op, Op::RingFill { .. }) || goes_on && data.results.iter().all(|&v| fills_through(func, defs, v))
    })
}

/// The sums of a loop's counter and of a value that the loop does not change: that value.
pub fn ahead(func: &Function, region: Block) -> SideTable<Value, Option<Value>> {
    let mut ahead = SideTable::new(None);
    let Some(&counter) = func.blocks[region].params.first() else { return ahead };
    let inside = func.defined_in(&[region]);
    for (_, data) in func.block(region) {
        if let Op::Binary { kind: BinaryKind::Add, a, b } = data.op
            && a == counter
            && !inside[b]
        {
            ahead[data.results[0]] = Some(b);
        }
    }
    ahead
}
