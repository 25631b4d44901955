//! Lowering of accesses to views.
//!
//! Along each axis a thread's index is the first one of the tile, what depends on the thread, and a constant for each of its registers.
//! So a thread has one address, from which constants lead to its other vectors, and along each axis a number of elements that remain
//! up to the extent, with which constants are compared. An element is accessed only if its index did not wrap, so that the address
//! of the thread's first element, which may be out of bounds, and a constant in 64 bits make the address of any that is accessed.
//!
//! A vector is accessed if all of it is in bounds. Where the extent may cut one, which is so of one vector at most in a row of a
//! thread, a branch accesses the elements that are left of it: the vector is found by its constant, so that its loads wait for no other.

use crate::analysis::axis;
use crate::analysis::stepped::Stepped;
use crate::hash::WordMap;
use crate::ir::{LayoutId, Value, View};
use crate::layout::Layout;
use crate::ops::Location;
use crate::ptx::code::emitter::bits_type;
use crate::ptx::lower::Lower;
use crate::ptx::memory::global::words as words_of;
use crate::ptx::{Address, Cmp, Op, Opcode, Operand, Reg, Round, Ty};
use crate::types::{DType, Elem, Shape};

/// Constants along an axis from which on they are compared with what remains, instead of the index with the extent.
const MANY: usize = 3;

/// Which index of a thread along an axis: where registers and threads share bits of the index, each has its own.
pub(crate) type Variant = u32;

/// What a thread accesses of a view.
pub(crate) struct Tile<'a> {
    at: Location,
    view: &'a View,
    starts: Vec<Value>,
    id: LayoutId,
    layout: Layout,
    shape: Shape,
    /// Of each axis, what an index in the base tile is shifted by in the number of an element, and its bits.
    pub(crate) fields: Vec<(u32, u32)>,
    pub dtype: DType,
    /// Elements of a vector.
    pub width: usize,
    /// Whether an extent may be inside a vector.
    pub is_cut: bool,
    /// Holds in the one thread that accesses what several hold.
    once: Option<Reg>,
    /// Of each axis, whether constants are compared with what remains.
    by_remaining: Vec<bool>,
    pub(crate) known: Known,
}

/// What the access has computed so far.
#[derive(Clone, Default)]
pub(crate) struct Known {
    index: WordMap<(usize, Variant), Reg>,
    remaining: WordMap<(usize, Variant), Reg>,
    bound: WordMap<(usize, u32), Reg>,
    inside: WordMap<(usize, Variant, u32), Reg>,
    row: WordMap<Vec<(Variant, u32)>, Option<Reg>>,
    remaining_of_row: WordMap<Vec<(Variant, u32)>, Reg>,
    address: WordMap<Vec<(Variant, u32)>, Reg>,
    step: WordMap<(usize, u32), Reg>,
    bytes: WordMap<(Variant, u32), Reg>,
}

impl<'a> Tile<'a> {
    /// The tile at a location, in a layout: by vectors of this many elements at most.
    pub fn new(cx: &Lower<'a>, at: Location, id: LayoutId, most: usize, once: Option<Reg>) -> Result<Tile<'a>, String> {
        let Location::View { base, at: starts, shape } = at else { return Err("pointers are not a view".into()) };
        let func = cx.func;
        let layout = &func.layouts[id];
        let view = func.view(base).ok_or_else(|| format!("{base} is not a view"))?;
        let dtype = func.pointee(at).ok_or_else(|| format!("{base} is not a pointer"))?;
        let width = axis::vector_width(func, &cx.analyses.facts, at).min(layout.vector().into()) as usize;
        let width = width.min(most);
        let mut tile = Tile {
            at,
            view,
            starts: starts.as_slice().to_vec(),
            id,
            layout: layout.clone(),
            shape,
            fields: fields(shape.base()),
            dtype,
            width,
            is_cut: axis::is_cut(func, &cx.analyses.facts, at, width as u64),
            once,
            by_remaining: Vec::new(),
            known: Known::default(),
        };
        for axis in 0..shape.rank() {
            let mut constants: Vec<u32> = tile.runs().map(|r| tile.constant(axis, r).1).collect();
            constants.sort_unstable();
            constants.dedup();
            // Where the first index is negative, so are all others.
            let aligned = cx.analyses.facts[tile.starts[axis]].divisibility >= shape.dims()[axis].into();
            tile.by_remaining.push(aligned && constants.len() >= MANY);
        }
        Ok(tile)
    }

    /// The first register of each vector.
    pub fn runs(&self) -> impl Iterator<Item = usize> + use<> {
        (0..self.layout.registers() * self.shape.num_copies()).step_by(self.width)
    }

    pub(crate) fn last(&self) -> usize {
        self.fields.len() - 1
    }

    /// What a register adds to the thread's index along an axis.
    pub(crate) fn constant(&self, axis: usize, register: usize) -> (Variant, u32) {
        let (shift, mask) = self.fields[axis];
        let own = self.layout.register_element(self.layout.copy_of(register).1) >> shift & mask;
        let origin = self.origin_of(axis, register);
        let of = |columns: &[u32]| columns.iter().fold(0, |all, column| all | column >> shift & mask);
        let thread = of(&self.layout.lane) | of(&self.layout.warp);
        // Xor is addition where no bit meets another.
        if thread & of(&self.layout.reg) == 0 { (0, own + origin) } else { (own, origin) }
    }

    /// The index along an axis at which the copy of the base tile begins that a register belongs to.
    pub(crate) fn origin_of(&self, axis: usize, register: usize) -> u32 {
        self.shape.origin(self.layout.copy_of(register).0, axis)
    }

    /// The constants of a register along all axes but the last: those of its row.
    pub(crate) fn row_of(&self, register: usize) -> Vec<(Variant, u32)> {
        (0..self.last()).map(|axis| self.constant(axis, register)).collect()
    }

    fn is_wide(&self, cx: &Lower<'_>, axis: usize) -> bool {
        cx.func.ty(self.starts[axis]).elem == Elem::Num(DType::I64)
    }

    /// The index of the thread's first element along an axis, in the type of the start.
    fn index(&mut self, cx: &mut Lower<'_>, axis: usize, variant: Variant) -> Reg {
        if let Some(&index) = self.known.index.get(&(axis, variant)) {
            return index;
        }
        let (shift, mask) = self.fields[axis];
        let mut thread = cx.thread_index(&self.layout, shift, mask);
        if variant != 0 {
            let zero = || cx.mov(Ty::U32, 0);
            let own = thread.unwrap_or_else(zero);
            thread = Some(cx.arith(Opcode::Xor, Ty::B32, &[own.into(), i64::from(variant).into()]));
        }
        let start = cx.regs(self.starts[axis])[0];
        let at_zero = cx.analyses.facts[self.starts[axis]].constant == Some(0);
        let index = match (thread, self.is_wide(cx, axis)) {
            (None, _) => start,
            (Some(thread), false) if at_zero => thread,
            (Some(thread), false) => cx.arith(Opcode::Add, Ty::S32, &[start.into(), thread.into()]),
            (Some(thread), true) => {
                let thread = cx.cvt(Round::None, Ty::U64, Ty::U32, thread);
                cx.arith(Opcode::Add, Ty::S64, &[start.into(), thread.into()])
            }
        };
        self.known.index.insert((axis, variant), index);
        index
    }

    /// The extent of an axis, in the type of the start.
    fn extent(&self, cx: &mut Lower<'_>, axis: usize) -> Reg {
        let extent = cx.regs(self.view.extents[axis])[0];
        if self.is_wide(cx, axis) { cx.cvt(Round::None, Ty::S64, Ty::S32, extent) } else { extent }
    }

    /// How many elements are between the thread's first one along an axis and the extent, in 32 bits: 0 behind the extent. Where
    /// constants are compared with the index instead, a number that wraps there.
    pub(crate) fn remaining(&mut self, cx: &mut Lower<'_>, axis: usize, variant: Variant) -> Reg {
        if let Some(&remaining) = self.known.remaining.get(&(axis, variant)) {
            return remaining;
        }
        let index = self.index(cx, axis, variant);
        let remaining = self.remaining_after(cx, axis, index, self.by_remaining[axis]);
        self.known.remaining.insert((axis, variant), remaining);
        remaining
    }

    /// The same from an index on.
    fn remaining_after(&self, cx: &mut Lower<'_>, axis: usize, index: Reg, saturated: bool) -> Reg {
        let (extent, wide) = (self.extent(cx, axis), self.is_wide(cx, axis));
        let (unsigned, signed) = if wide { (Ty::U64, Ty::S64) } else { (Ty::U32, Ty::S32) };
        let end = if saturated { cx.arith(Opcode::Max, unsigned, &[extent.into(), index.into()]) } else { extent };
        let remaining = cx.arith(Opcode::Sub, signed, &[end.into(), index.into()]);
        if !wide {
            return remaining;
        }
        let most = cx.arith(Opcode::Min, Ty::U64, &[remaining.into(), i64::from(i32::MAX).into()]);
        cx.cvt(Round::None, Ty::U32, Ty::U64, most)
    }

    /// Whether this many elements along an axis, from a constant on, are in bounds.
    fn inside(&mut self, cx: &mut Lower<'_>, axis: usize, (variant, constant): (Variant, u32), count: u32) -> Reg {
        if let Some(&inside) = self.known.inside.get(&(axis, variant, constant)) {
            return inside;
        }
        let inside = if self.by_remaining[axis] {
            let remaining = self.remaining(cx, axis, variant);
            cx.setp(Cmp::Ge, Ty::U32, remaining, i64::from(constant + count))
        } else {
            let (unsigned, signed) = if self.is_wide(cx, axis) { (Ty::U64, Ty::S64) } else { (Ty::U32, Ty::S32) };
            let mut index = self.index(cx, axis, variant);
            if constant != 0 {
                index = cx.arith(Opcode::Add, signed, &[index.into(), i64::from(constant).into()]);
            }
            let bound = match self.known.bound.get(&(axis, count)) {
                Some(&bound) => bound,
                None => {
                    let mut bound = self.extent(cx, axis);
                    if count > 1 {
                        let less = i64::from(count) - 1;
                        bound = cx.arith(Opcode::Sub, signed, &[bound.into(), less.into()]);
                        bound = cx.arith(Opcode::Max, signed, &[bound.into(), 0.into()]);
                    }
                    self.known.bound.insert((axis, count), bound);
                    bound
                }
            };
            cx.setp(Cmp::Lt, unsigned, index, bound)
        };
        self.known.inside.insert((axis, variant, constant), inside);
        inside
    }

    /// Whether the row of a register is in bounds, in the thread that accesses it; `None` if it always is.
    pub(crate) fn row(&mut self, cx: &mut Lower<'_>, register: usize) -> Option<Reg> {
        let key = self.row_of(register);
        if let Some(&row) = self.known.row.get(&key) {
            return row;
        }
        let mut all: Vec<Reg> = Vec::new();
        for (axis, &constant) in key.iter().enumerate() {
            all.push(self.inside(cx, axis, constant, 1));
        }
        all.extend(self.once);
        let row = (!all.is_empty()).then(|| cx.conjunction(&all));
        self.known.row.insert(key, row);
        row
    }

    /// Whether all of the vector that begins at a register is in bounds.
    pub fn guard(&mut self, cx: &mut Lower<'_>, register: usize) -> Reg {
        let last = self.last();
        let (variant, constant) = self.constant(last, register);
        // Of a vector that no extent cuts, all elements are in bounds if the first one is.
        let width = if self.is_cut { self.width as u32 } else { 1 };
        let Some(row) = self.row(cx, register) else { return self.inside(cx, last, (variant, constant), width) };
        if !self.by_remaining[last] {
            let inside = self.inside(cx, last, (variant, constant), width);
            return cx.conjunction(&[row, inside]);
        }
        let mut key = self.row_of(register);
        key.push((variant, 0));
        let remaining = match self.known.remaining_of_row.get(&key) {
            Some(&remaining) => remaining,
            None => {
                let remaining = self.remaining(cx, last, variant);
                let remaining = cx.selp(Ty::B32, remaining, 0, row);
                self.known.remaining_of_row.insert(key, remaining);
                remaining
            }
        };
        cx.setp(Cmp::Ge, Ty::U32, remaining, i64::from(constant + width))
    }

    /// How many bytes of the vector that begins at a register are in bounds.
    pub fn bytes_in_bounds(&mut self, cx: &mut Lower<'_>, register: usize) -> Reg {
        let (last, bytes) = (self.last(), self.dtype.bytes());
        if !self.is_cut {
            let guard = self.guard(cx, register);
            return cx.selp(Ty::B32, (self.width as i64) * i64::from(bytes), 0, guard);
        }
        let (variant, constant) = self.constant(last, register);
        let bytes = match self.known.bytes.get(&(variant, constant)) {
            Some(&bytes) => bytes,
            None => {
                let bytes = self.bytes_of_vector(cx, variant, constant);
                self.known.bytes.insert((variant, constant), bytes);
                bytes
            }
        };
        match self.row(cx, register) {
            Some(row) => cx.selp(Ty::B32, bytes, 0, row),
            None => bytes,
        }
    }

    /// How many bytes of a vector of a row are before the extent, whatever the row.
    fn bytes_of_vector(&mut self, cx: &mut Lower<'_>, variant: Variant, constant: u32) -> Reg {
        let last = self.last();
        let left = if self.by_remaining[last] {
            let remaining = self.remaining(cx, last, variant);
            let end = cx.arith(Opcode::Max, Ty::U32, &[remaining.into(), i64::from(constant).into()]);
            cx.arith(Opcode::Sub, Ty::S32, &[end.into(), i64::from(constant).into()])
        } else {
            let ty = if self.is_wide(cx, last) { Ty::S64 } else { Ty::S32 };
            let index = self.index(cx, last, variant);
            let index = cx.arith(Opcode::Add, ty, &[index.into(), i64::from(constant).into()]);
            self.remaining_after(cx, last, index, true)
        };
        let elements = cx.arith(Opcode::Min, Ty::U32, &[left.into(), (self.width as i64).into()]);
        match self.dtype.bytes().ilog2() {
            0 => elements,
            shift => cx.arith(Opcode::Shl, Ty::B32, &[elements.into(), i64::from(shift).into()]),
        }
    }

    /// The address of a register's element.
    pub fn address(&mut self, cx: &mut Lower<'_>, register: usize) -> Address {
        let constants: Vec<(Variant, u32)> = (0..=self.last()).map(|axis| self.constant(axis, register)).collect();
        self.address_of(cx, constants)
    }

    pub(crate) fn address_of(&mut self, cx: &mut Lower<'_>, mut constants: Vec<(Variant, u32)>) -> Address {
        let last = self.last();
        let mut offset = 0;
        if self.is_unit(cx, last) {
            offset = (constants[last].1 * self.dtype.bytes()) as i32;
            constants[last].1 = 0;
        }
        Address { base: self.base(cx, constants), offset }
    }

    /// The address of the elements with these constants: another one, of which one has a bit less, and a step.
    fn base(&mut self, cx: &mut Lower<'_>, constants: Vec<(Variant, u32)>) -> Reg {
        if let Some(&address) = self.known.address.get(&constants) {
            return address;
        }
        let address = match constants.iter().position(|&(_, constant)| constant != 0) {
            None => self.origin(cx, &constants),
            Some(axis) => {
                let bit = constants[axis].1.ilog2();
                let mut before = constants.clone();
                before[axis].1 &= !(1 << bit);
                let before = self.base(cx, before);
                let step = self.step(cx, axis, bit);
                cx.arith(Opcode::Add, Ty::S64, &[before.into(), step.into()])
            }
        };
        self.known.address.insert(constants, address);
        address
    }

    /// The bytes between elements whose indices along an axis differ by a power of two.
    fn step(&mut self, cx: &mut Lower<'_>, axis: usize, bit: u32) -> Reg {
        if let Some(&step) = self.known.step.get(&(axis, bit)) {
            return step;
        }
        let (stride, shift) = (cx.regs(self.view.strides[axis])[0], bit + self.dtype.bytes().ilog2());
        let step =
            if shift == 0 { stride } else { cx.arith(Opcode::Shl, Ty::B64, &[stride.into(), i64::from(shift).into()]) };
        self.known.step.insert((axis, bit), step);
        step
    }

    /// The address of the thread's first element.
    fn origin(&mut self, cx: &mut Lower<'_>, variants: &[(Variant, u32)]) -> Reg {
        if let Some(address) = cx.loops.stepped(Stepped { at: self.at, layout: self.id })
            && variants.iter().all(|&(variant, _)| variant == 0)
        {
            return address;
        }
        let size = i64::from(self.dtype.bytes());
        let mut address = cx.regs(self.view.base)[0];
        for (axis, &(variant, _)) in variants.iter().enumerate() {
            if cx.analyses.facts[self.starts[axis]].constant == Some(0)
                && cx.thread_index_is_zero(&self.layout, self.fields[axis], variant)
            {
                continue;
            }
            let (index, wide) = (self.index(cx, axis, variant), self.is_wide(cx, axis));
            if self.is_unit(cx, axis) {
                let dtype = if wide { DType::I64 } else { DType::I32 };
                address = cx.offset(address, index, dtype, self.dtype);
                continue;
            }
            let stride = cx.regs(self.view.strides[axis])[0];
            let index = if wide { index } else { cx.cvt(Round::None, Ty::S64, Ty::S32, index) };
            let offset = cx.arith(Opcode::MulLo, Ty::S64, &[index.into(), stride.into()]);
            address = cx.arith(Opcode::MadLo, Ty::S64, &[offset.into(), size.into(), address.into()]);
        }
        address
    }

    /// The address of the thread's first element; `None` where some registers have another first element.
    pub fn thread_origin(&mut self, cx: &mut Lower<'_>) -> Option<Reg> {
        let none = vec![(0, 0); self.last() + 1];
        let alike = self.runs().all(|r| (0..=self.last()).all(|axis| self.constant(axis, r).0 == 0));
        alike.then(|| self.origin(cx, &none))
    }

    /// The stride of an axis, in elements and 64 bits.
    pub fn stride(&self, cx: &Lower<'_>, axis: usize) -> Reg {
        cx.regs(self.view.strides[axis])[0]
    }

    pub fn is_unit(&self, cx: &Lower<'_>, axis: usize) -> bool {
        cx.analyses.facts[self.view.strides[axis]].constant == Some(1)
    }
}

/// The position of each axis in the number of an element, in row-major order, and the bits of its index.
fn fields(shape: Shape) -> Vec<(u32, u32)> {
    let dims = shape.dims();
    let shift = |axis: usize| dims[axis + 1..].iter().product::<u32>().trailing_zeros();
    (0..dims.len()).map(|axis| (shift(axis), dims[axis] - 1)).collect()
}

impl<'a> Lower<'a> {
    /// What the thread adds to every index along an axis; `None` if that is 0 in all threads.
    fn thread_index(&mut self, layout: &Layout, shift: u32, mask: u32) -> Option<Reg> {
        let field = |c: u32| c >> shift & mask;
        let warp: Vec<u32> = layout.warp.iter().map(|&c| field(c)).collect();
        let along = Layout { reg: Vec::new(), lane: layout.lane.map(field), warp };
        let moves = along.lane.iter().chain(&along.warp).any(|&c| c != 0);
        moves.then(|| self.thread_element(&along))
    }

    fn thread_index_is_zero(&self, layout: &Layout, (shift, mask): (u32, u32), variant: Variant) -> bool {
        variant == 0 && layout.lane.iter().chain(&layout.warp).all(|&c| c >> shift & mask == 0)
    }

    /// Loads a tile of a view.
    pub fn load_view(&mut self, from: Location, other: Option<Value>, result: Value) -> Result<Vec<Reg>, String> {
        let layout = self.func.layout_id(result).ok_or("a tile without a layout")?;
        let mut tile = Tile::new(self, from, layout, usize::MAX, None)?;
        let (dtype, width) = (tile.dtype, tile.width);
        let mut words: WordMap<usize, Vec<Reg>> = WordMap::default();
        for run in tile.runs() {
            let padding = other.map(|other| self.regs(other)[run..run + width].to_vec());
            let (guard, at) = (tile.guard(self, run), tile.address(self, run));
            words.insert(run, self.load_words(dtype, at, width, Some(guard), padding.as_deref(), None));
        }
        if tile.is_cut {
            self.where_cut(&mut tile, |cx, tile, row, cut| cx.load_cut(tile, row, cut, &words, other))?;
        }
        Ok(tile.runs().flat_map(|run| self.unpack(dtype, width, &words[&run])).collect())
    }

    /// Stores a tile to a view.
    pub fn store_view(&mut self, to: Location, value: Value) -> Result<(), String> {
        let layout = self.func.layout_id(value).ok_or("a tile without a layout")?;
        let once = self.store_guard(value);
        let mut tile = Tile::new(self, to, layout, usize::MAX, once)?;
        let (dtype, width) = (tile.dtype, tile.width);
        let elements = self.regs(value).to_vec();
        let mut words: WordMap<usize, Vec<Reg>> = WordMap::default();
        for run in tile.runs() {
            let (guard, address) = (tile.guard(self, run), tile.address(self, run));
            let srcs = self.pack(dtype, &elements[run..run + width]);
            self.emit_if(Some(guard), Op::St { ty: words_of(dtype, width).0, srcs: srcs.clone(), address });
            words.insert(run, srcs);
        }
        if tile.is_cut {
            self.where_cut(&mut tile, |cx, tile, row, cut| cx.store_cut(tile, row, cut, &words))?;
        }
        Ok(())
    }

    /// A register with 0.
    pub(crate) fn zero(&mut self, dtype: DType) -> Reg {
        let ty = bits_type(dtype);
        if ty == Ty::Pred {
            let zero = self.mov(Ty::B16, 0);
            return self.setp(Cmp::Ne, Ty::U16, zero, Operand::Int(0));
        }
        self.mov(ty, 0)
    }
}
