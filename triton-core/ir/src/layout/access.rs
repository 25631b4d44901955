//! Instruction selection for accesses to shared memory: layouts divided by those of instructions.
//!
//! Compose the address map with the layout: its columns then say how far each bit of a position moves the address. An
//! instruction is such a table, too, a small one. It fits if the layout's columns contain the instruction's (*divide* by
//! them) and no other column touches the address bits that the instruction itself walks over. Names of registers are free,
//! so "contain" for registers means: some combination of register bits has that column.
//!
//! | instruction | walks over (bytes) | by | free |
//! |---|---|---|---|
//! | `ld.shared.vN`, `st.shared.vN` | 1 … N elements | registers | all lanes |
//! | `ldmatrix`, `stmatrix` | 16: within 4; 4, 8 | registers; lane bits 0, 1 | lane bits 2 to 4 choose one of 8 rows |
//! | the same `.trans`, 16-bit elements | 16: 2, 4, 8 | lane bits 2, 3, 4 | a register and lane bits 0, 1 choose the row |
//!
//! # Bank conflicts
//! Shared memory serves 128 bytes at once, a *wavefront*, if no two of its 32 four-byte banks' words are asked for in one
//! bank. The addresses of lanes served together are linear, so they request 2^rank different words, which lie in
//! 2^(rank of the bank bits alone) banks; each bank gets equally many. The quotient is the number of *ways*, the times
//! slower than without conflicts, and 1 is a proof that there are none.

use super::linear::{self, Basis, apply, independent, units};
use super::ops::field;
use super::{Layout, Mem, Swizzle};
use crate::types::Shape;

/// Bytes of the widest access of a thread.
pub const WIDEST: u32 = 16;

/// Bytes of the narrowest copy of a thread from global to shared memory.
pub const NARROWEST_COPY: u32 = 4;

/// The instruction of an [`Access`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `ld.shared` and `st.shared`, of [`Access::elements`] elements.
    Vector,
    /// `ldmatrix` and `stmatrix`, `.x1`, `.x2` or `.x4`.
    Matrix {
        /// Whether `.trans`.
        trans: bool,
        /// How many 8×16-byte matrices: 1, 2 or 4.
        count: u32,
        /// How far each of the three bits of a row's number moves the address, in elements. Row `r` of matrix `m` is at the
        /// address that lane `8·m + r` gives.
        rows: [u32; 3],
    },
}

/// How all threads of the program move one tile to or from shared memory, each by the same instructions.
///
/// A *step* is a number: its lowest log2(`elements`) bits walk within one instruction, the others over instructions. A step
/// moves register `apply(order, step)`; addresses are counted in elements and linear in step, lane and warp:
/// - Where the memory holds one part of the tile at a time, all of this is for part 0; part `p` is moved by the same addresses
///   from registers `apply(parts, p)` further.
/// - [`Form::Vector`]: instruction `i` moves steps `i·elements ..` to consecutive addresses beginning at
///   `apply(reg, i·elements) ⊕ apply(lane, l) ⊕ apply(warp, w)`;
/// - [`Form::Matrix`]: each thread moves one 32-bit register of each matrix. Lane `8·m + r` gives the address
///   `apply(reg, i·elements | m·(elements / count)) ⊕ apply(rows, r) ⊕ apply(warp, w)`.
///
/// [`Access::base`] is either address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// The instruction.
    pub form: Form,
    /// Elements that a thread moves by one instruction.
    pub elements: u32,
    /// A basis of the numbers of registers, less those of `parts`.
    pub order: Vec<u32>,
    /// What each bit of the part adds to the number of a register, by xor.
    pub parts: Vec<u32>,
    /// How far each vector of `order` moves the address.
    pub reg: Vec<u32>,
    /// How far each lane bit moves the address.
    pub lane: [u32; 5],
    /// How far each warp bit moves the address.
    pub warp: Vec<u32>,
    /// The slowdown by bank conflicts; 1 is a proof that there are none.
    pub ways: u32,
    /// Wavefronts that one warp needs for the tile.
    pub wavefronts: u32,
}

impl Access {
    /// The registers that an instruction moves.
    pub fn registers(&self, instruction: u32, part: u32) -> impl Iterator<Item = u32> + '_ {
        let first = instruction * self.elements;
        let shift = apply(&self.parts, part);
        (first..first + self.elements).map(move |step| apply(&self.order, step) ^ shift)
    }

    /// Instructions of each thread, for one part.
    pub fn instructions(&self) -> u32 {
        (1 << self.order.len()) / self.elements
    }

    /// How far each lane bit moves the address that the lane gives.
    pub fn lanes(&self) -> [u32; 5] {
        match self.form {
            Form::Vector => self.lane,
            Form::Matrix { count, rows: [a, b, c], .. } => {
                let packed = (self.elements / count).ilog2() as usize;
                let matrix = |bit: usize| if 1 << bit < count { self.reg[packed + bit] } else { 0 };
                [a, b, c, matrix(0), matrix(1)]
            }
        }
    }

    /// The address, in elements, that a lane gives to an instruction.
    pub fn base(&self, instruction: u32, lane: u32, warp: u32) -> u32 {
        let first = apply(&self.reg, instruction * self.elements) ^ apply(&self.warp, warp);
        first ^ apply(&self.lanes(), lane)
    }
}

/// A layout divided by a memory, for one part of the tile.
struct Quotient {
    reg: Vec<u32>,
    /// The register of each bit of `reg`.
    names: Vec<u32>,
    /// The register of each bit of the part.
    parts: Vec<u32>,
    lane: [u32; 5],
    warp: Vec<u32>,
    /// log2 of the bytes of an element.
    size: u32,
}

impl Quotient {
    /// `None` if registers repeat elements, the memory has other elements than the layout, or a thread's registers do not
    /// tell its parts apart.
    fn new(layout: &Layout, mem: &Mem) -> Option<Quotient> {
        if layout.bits() > mem.off().len() || linear::rank(layout.reg.iter().copied()) != layout.reg.len() {
            return None;
        }
        let Layout { reg, lane, warp } = layout.compose(mem.inv());
        let size = (mem.bits() / 8).ilog2();
        if mem.parts() == 0 {
            return Some(Quotient { names: units(reg.len()).collect(), parts: Vec::new(), reg, lane, warp, size });
        }
        let part = |c: u32| c >> mem.address_bits();
        if lane.iter().chain(&warp).any(|&c| part(c) != 0) {
            return None;
        }
        let registers = Basis::of(reg.iter().copied());
        let of_part = |i: u32| registers.solve(1 << i << mem.address_bits()).map(|r| r as u32);
        let parts = (0..mem.parts()).map(of_part).collect::<Option<Vec<u32>>>()?;
        let clear = |r: u32| r ^ apply(&parts, part(apply(&reg, r)));
        let names: Vec<u32> = independent(units(reg.len()), &parts).into_iter().map(clear).collect();
        let reg = names.iter().map(|&r| apply(&reg, r)).collect();
        Some(Quotient { reg, names, parts, lane, warp, size })
    }

    /// A basis of register numbers that begins with `first`; the others are unit vectors where that is possible, with the
    /// address bits of `within` cleared by those of `first`, whose addresses are those bits.
    fn order(&self, first: Vec<u32>, within: u32) -> Vec<u32> {
        let walk: Vec<u32> = first.iter().map(|&r| apply(&self.reg, r)).collect();
        let rest = independent(units(self.reg.len()), &first);
        let clear = |r: u32| {
            let bits = walk.iter().zip(&first).filter(|&(&address, _)| address & within & apply(&self.reg, r) != 0);
            bits.fold(r, |r, (_, &vector)| r ^ vector)
        };
        let rest: Vec<u32> = rest.into_iter().map(clear).collect();
        first.into_iter().chain(rest).collect()
    }

    fn access(&self, form: Form, elements: u32, order: Vec<u32>, ways: u32) -> Access {
        let reg: Vec<u32> = order.iter().map(|&r| apply(&self.reg, r)).collect();
        let bytes = elements << self.size;
        let each = match form {
            Form::Vector => bytes.div_ceil(4),
            Form::Matrix { count, .. } => count,
        };
        let wavefronts = ((1 << order.len()) / elements) * each * ways;
        let order = order.iter().map(|&r| apply(&self.names, r)).collect();
        let (parts, warp) = (self.parts.clone(), self.warp.clone());
        Access { form, elements, order, parts, reg, lane: self.lane, warp, ways, wavefronts }
    }
}

/// 2^(dimensions of the lines that these moves reach, less those of the banks), for moves in bytes; a bank is `unit` bytes.
fn conflicts(moves: impl Iterator<Item = u32> + Clone, unit: u32) -> u32 {
    let banks = 128 / unit - 1;
    let shift = unit.ilog2();
    let lines = linear::rank(moves.clone().map(|byte| byte >> shift));
    1 << (lines - linear::rank(moves.map(|byte| byte >> shift & banks)))
}

/// Ways of accesses of `elements` elements at a time: lanes are served together while they ask for at most 128 bytes.
fn vector_conflicts(lane: &[u32; 5], size: u32, elements: u32) -> u32 {
    let together = 5 - (elements << size >> 2).max(1).ilog2().min(5) as usize;
    conflicts(lane[..together].iter().map(|&c| c << size), 4)
}

/// Times slower than without bank conflicts when threads access this memory by vectors of `elements` elements.
pub fn vector_ways(layout: &Layout, mem: &Mem, elements: u32) -> u32 {
    let lane = layout.lane.map(|c| mem.offset(c));
    vector_conflicts(&lane, (mem.bits() / 8).ilog2(), elements.max(1))
}

/// How threads copy a tile from elsewhere to memory by vectors of `elements` elements, or of the most below that for which the
/// registers of a vector are neighbours in memory. `None` if the memory has other elements than the layout, or holds it in parts.
pub fn copies(layout: &Layout, mem: &Mem, elements: u32) -> Option<Access> {
    let q = Quotient::new(layout, mem).filter(|_| mem.parts() == 0)?;
    let neighbours = q.reg.iter().zip(0..).take_while(|&(&column, bit)| column == 1 << bit).count() as u32;
    let within = |bits: u32| (1 << bits) - 1;
    let others = |bits: u32| q.reg.iter().skip(bits as usize).chain(&q.lane).chain(&q.warp).fold(0, |all, c| all | c);
    let most = (0..=neighbours.min(elements.ilog2())).rev().find(|&bits| others(bits) & within(bits) == 0)?;
    let order = units(q.reg.len()).collect();
    let ways = vector_conflicts(&q.lane, q.size, 1 << most);
    Some(q.access(Form::Vector, 1 << most, order, ways))
}

/// The widest `ld.shared` or `st.shared`, up to [`WIDEST`] bytes. `None` if the memory has other elements than the layout.
pub fn vector(layout: &Layout, mem: &Mem) -> Option<Access> {
    let q = Quotient::new(layout, mem)?;
    let registers = Basis::of(q.reg.iter().copied());
    let most = WIDEST.ilog2().saturating_sub(q.size);
    let mut first: Vec<u32> = (0..most).map_while(|i| registers.solve(1 << i)).map(|r| r as u32).collect();
    // Threads must begin at a multiple of the vector.
    let threads = q.lane.iter().chain(&q.warp).fold(0, |all, c| all | c);
    first.truncate(first.len().min(threads.trailing_zeros() as usize));
    let elements = 1 << first.len();
    let order = q.order(first, elements - 1);
    let ways = vector_conflicts(&q.lane, q.size, elements);
    Some(q.access(Form::Vector, elements, order, ways))
}

/// `ldmatrix` (or `stmatrix`: the map is the same), plain or `.trans`, if it divides; with as many matrices as there are.
pub fn matrix(layout: &Layout, mem: &Mem, trans: bool) -> Option<Access> {
    let q = Quotient::new(layout, mem)?;
    // Address bits of the 16 bytes of a row; a register has 4 of them.
    let row_bits = 4u32.checked_sub(q.size).filter(|&bits| bits >= 2)?;
    let row = (1 << row_bits) - 1;
    let (first, rows) = if trans {
        if q.size != 1 || q.lane[2..] != [1, 2, 4] || q.reg.is_empty() {
            return None;
        }
        (vec![1], [q.reg[0], q.lane[0], q.lane[1]])
    } else {
        let word = row_bits - 2;
        if q.lane[..2] != [1 << word, 2 << word] {
            return None;
        }
        let registers = Basis::of(q.reg.iter().copied());
        let first = (0..word).map(|i| registers.solve(1 << i).map(|r| r as u32)).collect::<Option<Vec<u32>>>()?;
        (first, [q.lane[2], q.lane[3], q.lane[4]])
    };
    let packed = first.len();
    let order = q.order(first, if trans { 0 } else { row });
    let others = order[packed..].iter().map(|&r| apply(&q.reg, r));
    if rows.into_iter().chain(q.warp.iter().copied()).chain(others).any(|c| c & row != 0) {
        return None;
    }
    let matrices = (order.len() - packed).min(2);
    let ways = conflicts(rows.iter().map(|&c| c << q.size), 16);
    let form = Form::Matrix { trans, count: 1 << matrices, rows };
    Some(q.access(form, 1 << (packed + matrices), order, ways))
}

/// The cheapest access to shared memory: `ldmatrix` or `stmatrix` where `matrices` allows them, they divide, and they have
/// no bank conflicts; otherwise [`vector`].
pub fn shared(layout: &Layout, mem: &Mem, matrices: bool) -> Option<Access> {
    let forms = [false, true].into_iter().filter(|_| matrices).filter_map(|trans| matrix(layout, mem, trans));
    forms.into_iter().find(|access| access.ways == 1).or_else(|| vector(layout, mem))
}

/// The memory for an operand of a product that stays there: one of the swizzled patterns of the hardware, into which threads write
/// whole 16 bytes, and from which matrices are read, both without bank conflicts. `None` if none of them is that for these layouts.
pub fn operand(from: &Layout, to: &Layout, shape: Shape, bits: u32) -> Option<Mem> {
    patterns(shape, bits).find(|mem| {
        let matrices = |access: Access| matches!(access.form, Form::Matrix { .. }) && access.ways == 1;
        takes_whole_copies(from, mem) && shared(to, mem, true).is_some_and(matrices)
    })
}

/// The same where no matrices are read: the pattern that is read fastest, if that takes no more than twice the time of another memory.
/// Copies of 16 bytes are worth that: others are of one element, so that there are 2 (`f64`) to 8 times as many.
pub fn copied(from: &Layout, to: &Layout, shape: Shape, other: &Mem) -> Option<Mem> {
    let wavefronts = |mem: &Mem| shared(to, mem, true).map(|access| access.wavefronts);
    let whole = patterns(shape, other.bits()).chain(Mem::row_major(shape, other.bits()));
    let whole = whole.filter(|mem| takes_whole_copies(from, mem)).filter_map(|mem| Some((wavefronts(&mem)?, mem)));
    let (time, mem) = whole.min_by_key(|&(time, _)| time)?;
    (time <= 2 * wavefronts(other)?).then_some(mem)
}

/// The memory for an operand that threads multiply step by step along dimension `k`: where a vector of `other` has elements of several
/// steps, so that a thread holds all of them, one whose vectors are of one step, if that takes no longer to read, and threads write it
/// element by element without bank conflicts.
pub fn step_by_step(from: &Layout, to: &Layout, shape: Shape, k: usize, other: &Mem) -> Option<Mem> {
    let mem = Mem::rows_along(shape, other.bits(), k)?;
    let (before, after) = (shared(to, other, true)?, shared(to, &mem, true)?);
    let one_step = steps(to, &before, shape, k)? > 1 && steps(to, &after, shape, k)? == 1;
    (one_step && after.wavefronts <= before.wavefronts && copies(from, &mem, 1)?.ways == 1).then_some(mem)
}

/// Of how many indices along dimension `k` one load of an access has elements.
pub fn steps(layout: &Layout, access: &Access, shape: Shape, k: usize) -> Option<u32> {
    let (first, bits) = field(shape, k)?;
    let step = |register: u32| layout.register_element(register as usize) >> first & ((1 << bits) - 1);
    Some(1 << linear::rank(access.order[..access.elements.ilog2() as usize].iter().map(|&register| step(register))))
}

/// The swizzled patterns of the hardware, along each of the axes.
fn patterns(shape: Shape, bits: u32) -> impl Iterator<Item = Mem> {
    let all = (0..shape.rank()).rev().flat_map(|major| Swizzle::ALL.map(|swizzle| (major, swizzle)));
    all.filter_map(move |(major, swizzle)| Mem::swizzled(shape, bits, swizzle, major))
}

/// Whether threads that hold a tile in a layout copy it to a memory by whole 16 bytes, without bank conflicts and by
/// whole sectors: `cp.async` reads a sector of 32 bytes twice, and writes the 16 bytes of each lane by themselves,
/// unless both halves of it stay together.
pub fn takes_whole_copies(from: &Layout, mem: &Mem) -> bool {
    let elements = WIDEST * 8 / mem.bits();
    let whole = |access: Access| {
        let together = from.lane[0] != elements || access.lane[0] == elements;
        access.elements == elements && access.ways == 1 && together
    };
    copies(from, mem, elements).is_some_and(whole)
}

/// The layout by which threads read a tile from shared memory. A thread that reads an element is not always the one that
/// receives it: the rows of a matrix instruction are read by the lanes that give their addresses (`Form::Matrix`). Where there
/// are fewer than four matrices, the lanes whose addresses are ignored repeat those of others.
pub fn readers(layout: &Layout, mem: &Mem) -> Layout {
    let Some(access) = shared(layout, mem, true) else { return layout.clone() };
    let Form::Matrix { count, .. } = access.form else { return layout.clone() };
    let element = |address: u32| apply(mem.off(), address);
    let matrices = count.ilog2() as usize;
    let packed = access.elements.ilog2() as usize - matrices;
    let row = (0..(WIDEST * 8 / mem.bits()).ilog2()).map(|bit| 1 << bit);
    let parts = (mem.address_bits()..mem.off().len()).map(|bit| 1 << bit);
    let reg = row.chain(access.reg[packed + matrices..].iter().copied()).chain(parts).map(element).collect();
    let warp = access.warp.iter().map(|&address| element(address)).collect();
    Layout { reg, lane: access.lanes().map(element), warp }
}

/// The sectors and lines of global memory that one instruction of one warp accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Touched {
    /// Elements that a thread accesses at once.
    pub vector: u32,
    /// Sectors of 32 bytes.
    pub sectors: u32,
    /// Lines of 128 bytes.
    pub lines: u32,
}

/// A global access of up to `vector` elements of `bytes` bytes each, along a dimension that is contiguous in memory. That
/// dimension owns bits `first` to `first + run` of an element; what else moves an address goes to other lines.
pub fn global(layout: &Layout, first: u32, run: u32, vector: u32, bytes: u32) -> Touched {
    let bytes = bytes.max(1);
    let vector = layout.vector_along(first).min(vector).min(1 << run).min((WIDEST / bytes).max(1)).max(1);
    let along = |log: u32| (first..first + log.min(run)).map(|i| 1u32 << i);
    let moved = layout.lane.into_iter().chain(along(vector.ilog2()));
    let blocks = |block: u32| {
        let within = along((block / bytes).max(1).ilog2());
        1 << (linear::rank(within.clone().chain(moved.clone())) - linear::rank(within))
    };
    Touched { vector, sectors: blocks(32), lines: blocks(128) }
}
