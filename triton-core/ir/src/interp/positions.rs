//! Which thread accesses which element of a tile, by layout: enumerated once in a run.

use crate::ir::{Function, LayoutId, MemId};
use crate::layout::{LANES, Layout, Mem, access};
use crate::types::Shape;
use std::collections::HashMap;
use std::rc::Rc;

/// A thread and an element that one of its registers holds.
#[derive(Clone, Copy)]
pub(super) struct Position {
    pub(super) thread: u32,
    /// The element of the tile, and of which copy of the base tile it is which one.
    pub(super) element: u32,
    pub(super) copy: usize,
    pub(super) of_base: u32,
    /// In shared memory, which part of the tile the element is in, and how many elements are before it there.
    pub(super) part: u32,
    pub(super) offset: u32,
}

/// Which threads access an element.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum By {
    /// All that hold it.
    All,
    /// One of those that hold it.
    One,
    /// Those that read it from shared memory for all that hold it.
    Readers,
}

/// A tile that is accessed: its shape, its layout, unless it is a scalar, and that of the shared memory it is in.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Tile {
    pub(super) shape: Shape,
    pub(super) layout: Option<LayoutId>,
    pub(super) mem: Option<MemId>,
    pub(super) by: By,
}

/// The enumerations so far.
#[derive(Default)]
pub(super) struct Positions {
    of: HashMap<Tile, Rc<[Position]>>,
    of_operands: HashMap<(Shape, Layout, MemId), Rc<[Position]>>,
}

impl Positions {
    /// All accesses, thread by thread.
    pub(super) fn of(&mut self, func: &Function, tile: Tile) -> Rc<[Position]> {
        let Tile { shape, layout, mem, by } = tile;
        let (layout, mem) = (layout.map(|id| &func.layouts[id]), mem.map(|id| &func.mems[id]));
        self.of.entry(tile).or_insert_with(|| enumerate(func, shape, layout, mem, by)).clone()
    }

    /// The same of an operand that a product reads from shared memory.
    pub(super) fn of_operand(&mut self, func: &Function, shape: Shape, layout: &Layout, mem: MemId) -> Rc<[Position]> {
        let positions = || enumerate(func, shape, Some(layout), Some(&func.mems[mem]), By::Readers);
        self.of_operands.entry((shape, layout.clone(), mem)).or_insert_with(positions).clone()
    }
}

fn enumerate(func: &Function, shape: Shape, layout: Option<&Layout>, mem: Option<&Mem>, by: By) -> Rc<[Position]> {
    let readers = layout.zip(mem).filter(|_| by == By::Readers);
    let readers = readers.map(|(layout, mem)| access::readers(layout, mem));
    let position = |copy: usize, (thread, of_base): (u32, u32)| {
        let (offset, part) = mem.map_or((0, 0), |mem| mem.place(copy, of_base));
        Position { thread, element: shape.index(copy, of_base) as u32, copy, of_base, part, offset }
    };
    let of_base = elements(readers.as_ref().or(layout), func.num_warps, by == By::One);
    (0..shape.num_copies()).flat_map(|copy| of_base.iter().map(move |&of| position(copy, of))).collect()
}

/// The threads and registers of a program in a layout: `(thread, element of the base tile)`. If `once`, only one of those that hold the same
/// element.
fn elements(layout: Option<&Layout>, warps: u32, once: bool) -> Vec<(u32, u32)> {
    let Some(layout) = layout else {
        // All threads hold a scalar.
        return (0..if once { 1 } else { warps * LANES as u32 }).map(|thread| (thread, 0)).collect();
    };
    let (lanes, of_warps) = layout.replicated();
    let replicated = lanes | of_warps << LANES.ilog2();
    let threads = (0..warps * LANES as u32).filter(|thread| !once || thread & replicated == 0);
    let of = |thread: u32| {
        let (lane, warp) = (thread as usize % LANES, thread as usize / LANES);
        (0..layout.registers()).map(move |register| (thread, layout.element(register, lane, warp)))
    };
    threads.flat_map(of).collect()
}
