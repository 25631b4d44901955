//! Random programs of every kind whose result is exactly one: what they consist of, and how a case is put together.
//!
//! A program is built as text. Every number that an address is made of is known, so that every access is within its buffer
//! or masked. Stores and atomic updates never leave open what memory holds: elements of one store have different addresses,
//! programs write to different addresses, and where addresses meet in an atomic update its old value is unused.

use super::Random;
use std::fmt::Write;
use triton_core::types::{DType, Shape};

/// A program with buffers and arguments, as the text of a `run` case.
pub struct Case {
    /// The text.
    pub text: String,
    /// Whether rounding depends on the order of a reduction, which is unspecified at stage 0.
    pub rounds: bool,
}

/// A value: a tile, or a scalar if it has no dimensions.
#[derive(Clone, Debug)]
pub(super) struct Tile {
    pub id: usize,
    pub dtype: DType,
    pub shape: Vec<u32>,
    /// If the elements are known to be whole numbers: how large they are at most.
    pub bound: Option<u32>,
}

/// A pointer parameter.
#[derive(Clone, Copy)]
pub(super) struct Buffer {
    pub id: usize,
    pub dtype: DType,
    pub mutable: bool,
    pub small: bool,
    /// Elements that are accessed.
    pub len: usize,
    /// Where the argument points to, in elements.
    pub skip: usize,
}

/// Private memory of a program, which it reads and writes repeatedly.
#[derive(Clone, Copy)]
pub(super) struct Region {
    pub buffer: usize,
    pub size: u32,
}

pub(super) struct Gen<'a> {
    pub random: &'a mut Random,
    pub text: String,
    pub next: usize,
    pub depth: usize,
    pub tiles: Vec<Tile>,
    pub buffers: Vec<Buffer>,
    /// Integer parameters: number, type, value.
    pub numbers: Vec<(usize, DType, u32)>,
    /// The extents and strides of views as parameters, their numbers, and the views.
    pub axes: Vec<String>,
    pub axis_args: Vec<u32>,
    pub views: Vec<String>,
    /// Counters of the loops around, `i32`, with their largest value.
    pub counters: Vec<(usize, u32)>,
    /// Programs, and the one that runs.
    pub programs: u32,
    pub program: usize,
    /// Memory that is read and written.
    pub region: Option<Region>,
    /// Whether all pointers are aligned to 16 bytes, and all integers divisible by 16.
    pub aligned: bool,
    pub divisible: bool,
    pub rounds: bool,
    /// Whether floats are added in memory: of two such updates the order decides how they are rounded.
    pub float_updates: bool,
    /// Whether it has an assertion.
    pub asserts: bool,
    /// The program's own few shapes, so that tiles meet.
    pub shapes: Vec<Vec<u32>>,
}

/// As the text form has it.
pub(super) fn ty(dtype: DType, shape: &[u32]) -> String {
    if shape.is_empty() { dtype.to_string() } else { format!("{dtype}{}", dims(shape)) }
}

/// As the text form has it.
pub(super) fn dims(shape: &[u32]) -> String {
    let words: Vec<String> = shape.iter().map(u32::to_string).collect();
    format!("[{}]", words.join(","))
}

pub(super) fn elements(shape: &[u32]) -> u32 {
    shape.iter().product()
}

/// Whether a tile can be reshaped so: as many elements, each in its copy of the base tile.
pub(super) fn reshapes(from: &[u32], to: &[u32]) -> bool {
    let (Some(of), Some(other)) = (Shape::new(from), Shape::new(to)) else { return false };
    of.elements() == other.elements() && of.has_digits_of(other)
}

impl Gen<'_> {
    pub fn id(&mut self) -> usize {
        self.next += 1;
        self.next - 1
    }

    /// A line of text, indented.
    pub fn put(&mut self, line: &str) {
        let _ = writeln!(self.text, "{:1$}{line}", "", 2 + 2 * self.depth);
    }

    /// An operation of this type in full.
    pub fn typed(&mut self, what: &str, ty: &str) -> usize {
        let id = self.id();
        self.put(&format!("v{id} = {what} : {ty}"));
        id
    }

    /// An operation that yields numbers.
    pub fn op(&mut self, what: &str, dtype: DType, shape: &[u32]) -> usize {
        self.typed(what, &ty(dtype, shape))
    }

    /// A value that later steps may take.
    pub fn keep(&mut self, id: usize, dtype: DType, shape: &[u32], bound: Option<u32>) -> Tile {
        let tile = Tile { id, dtype, shape: shape.to_vec(), bound };
        self.tiles.push(tile.clone());
        tile
    }

    /// A constant in every element.
    pub fn constant(&mut self, value: &str, dtype: DType, shape: &[u32]) -> usize {
        let scalar = self.op(&format!("const {dtype} {value}"), dtype, &[]);
        if shape.is_empty() { scalar } else { self.op(&format!("splat v{scalar}, {}", dims(shape)), dtype, shape) }
    }

    /// A number as a scalar of this type: a constant, or a parameter.
    pub fn number(&mut self, value: u32, dtype: DType) -> usize {
        let fits = !self.divisible || value.is_multiple_of(16);
        if let Some(&(id, _, _)) = self.numbers.iter().find(|n| n.1 == dtype && n.2 == value) {
            return id;
        }
        if fits && self.numbers.len() < 4 && self.random.once_in(2) {
            let id = self.id();
            self.numbers.push((id, dtype, value));
            return id;
        }
        self.constant(&value.to_string(), dtype, &[])
    }

    /// One of the program's shapes.
    pub fn shape(&mut self) -> Vec<u32> {
        let at = self.random.below(self.shapes.len());
        self.shapes[at].clone()
    }

    /// A tile that is there already, rather one of the last.
    pub fn tile(&mut self) -> Tile {
        let n = self.tiles.len();
        let at = if self.random.once_in(3) { self.random.below(n) } else { n - 1 - self.random.below(n.min(4)) };
        self.tiles[at].clone()
    }

    /// Something of this type and shape that is there already, is made from that, or is loaded.
    pub fn operand(&mut self, dtype: DType, shape: &[u32]) -> Tile {
        for _ in 0..4 {
            let tile = self.tile();
            // The comparison of a number with what it is not: there is no cast to `bool`.
            if tile.dtype != dtype && dtype == DType::Bool {
                continue;
            }
            if let Some(tile) = self.fit(&tile, shape) {
                return self.cast(&tile, dtype);
            }
        }
        if self.random.once_in(6) && dtype.is_int() {
            let id = self.constant("3", dtype, shape);
            return self.keep(id, dtype, shape, Some(3));
        }
        let small = self.random.once_in(2);
        self.load(dtype, shape, small)
    }

    /// The tile in this shape, if it can be brought into it.
    pub fn fit(&mut self, tile: &Tile, shape: &[u32]) -> Option<Tile> {
        let Tile { id, dtype, bound, .. } = *tile;
        if tile.shape == shape {
            return Some(tile.clone());
        }
        if tile.shape.is_empty() {
            let id = self.op(&format!("splat v{id}, {}", dims(shape)), dtype, shape);
            return Some(self.keep(id, dtype, shape, bound));
        }
        if shape.is_empty() {
            return None;
        }
        if reshapes(&tile.shape, shape) {
            let id = self.op(&format!("reshape v{id}, {}", dims(shape)), dtype, shape);
            return Some(self.keep(id, dtype, shape, bound));
        }
        // A line along one of the axes, or what broadcasts as it is.
        let axis = (0..shape.len()).find(|&k| elements(&tile.shape) == shape[k])?;
        let line: Vec<u32> = (0..shape.len()).map(|k| if k == axis { shape[k] } else { 1 }).collect();
        if !reshapes(&tile.shape, &line) {
            return None;
        }
        let line_id =
            if line == tile.shape { id } else { self.op(&format!("reshape v{id}, {}", dims(&line)), dtype, &line) };
        let id = self.op(&format!("broadcast v{line_id}, {}", dims(shape)), dtype, shape);
        Some(self.keep(id, dtype, shape, bound))
    }

    /// The tile as this type.
    pub fn cast(&mut self, tile: &Tile, dtype: DType) -> Tile {
        if tile.dtype == dtype {
            return tile.clone();
        }
        let id = self.op(&format!("cast v{}, {dtype}", tile.id), dtype, &tile.shape);
        let bound = tile.bound.filter(|&b| b <= 127 && (dtype.is_signed() || dtype.is_float()));
        self.keep(id, dtype, &tile.shape, bound)
    }
}

/// The program of this number.
pub fn case(seed: u64) -> Case {
    let mut random = Random::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5bd1_e995);
    for _ in 0..4 {
        random.below(2);
    }
    let warps = 1 << random.below(4);
    let programs = 1 + random.below(3) as u32;
    let aligned = !random.once_in(3);
    let divisible = aligned && !random.once_in(3);
    let shapes = shapes(&mut random);
    let mut g = Gen {
        random: &mut random,
        text: String::new(),
        next: 0,
        depth: 0,
        tiles: Vec::new(),
        buffers: Vec::new(),
        numbers: Vec::new(),
        axes: Vec::new(),
        axis_args: Vec::new(),
        views: Vec::new(),
        counters: Vec::new(),
        programs,
        program: 0,
        region: None,
        aligned,
        divisible,
        rounds: false,
        float_updates: false,
        asserts: false,
        shapes,
    };
    let grid = g.grid();
    let (dtype, shape) = (g.any_type(), g.shape());
    g.load(dtype, &shape, false);
    for _ in 0..3 + g.random.below(8) {
        g.step();
    }
    for _ in 0..1 + g.random.below(2) {
        let tile = g.tile();
        g.store(&tile);
    }
    let last = g.tiles[g.tiles.len() - 1].clone();
    g.store(&last);
    g.finish(warps, grid)
}

/// Elements of a tile.
const MOST_ELEMENTS: u32 = 1 << 12;

/// One to five dimensions, of up to [`MOST_ELEMENTS`].
fn shapes(random: &mut Random) -> Vec<Vec<u32>> {
    let bits = random.pick(&[3, 5, 6, 7, 8, 8, 9, 9, 10, 10, 11, 12]);
    (0..3)
        .map(|_| {
            let bits = if random.once_in(3) { random.below(bits + 1) } else { bits };
            let rank = random.pick(&[1, 1, 2, 2, 2, 3, 3, 4, 5]);
            let mut shape = vec![1; rank];
            for _ in 0..bits {
                shape[random.below(rank)] *= 2;
            }
            if random.once_in(3) {
                // One long axis.
                let (long, short) = (random.below(rank), shape.iter().product::<u32>());
                shape.fill(1);
                shape[long] = short;
            }
            // Copies of a base tile, along one axis or two, of no more elements than tiles have without them: one warp may have all of them.
            for _ in 0..random.pick(&[0, 0, 0, 0, 1, 1, 2]) {
                let (axis, copies) = (random.below(rank), random.pick(&[3, 3, 5, 7]));
                if shape[axis].is_power_of_two() && elements(&shape) * copies <= MOST_ELEMENTS {
                    shape[axis] *= copies;
                }
            }
            shape
        })
        .collect()
}

impl Gen<'_> {
    /// A grid of one or two axes, and the number of the running program in it.
    fn grid(&mut self) -> [u32; 3] {
        let mut grid = [1, 1, 1];
        let axis = self.random.below(3);
        grid[axis] = self.programs;
        self.program = self.op(&format!("program_id {axis}"), DType::I32, &[]);
        if self.random.once_in(3) {
            let (other, count) = ((axis + 1 + self.random.below(2)) % 3, 2);
            grid[other] = count;
            self.programs *= count;
            let inner = self.op(&format!("program_id {other}"), DType::I32, &[]);
            let row = if self.random.once_in(2) {
                self.op(&format!("num_programs {other}"), DType::I32, &[])
            } else {
                self.constant(&count.to_string(), DType::I32, &[])
            };
            let outer = self.op(&format!("mul v{}, v{row}", self.program), DType::I32, &[]);
            self.program = self.op(&format!("add v{outer}, v{inner}"), DType::I32, &[]);
        }
        grid
    }

    /// Two parameters that are only read, as one buffer under two names.
    fn alias(&mut self, args: &mut [String]) {
        let Gen { random, buffers, .. } = self;
        let alike = |a: &Buffer, b: &Buffer| {
            !a.mutable && !b.mutable && a.dtype == b.dtype && a.len <= b.len && (b.small || !a.small)
        };
        let pairs = (0..buffers.len()).flat_map(|i| (0..buffers.len()).map(move |j| (i, j)));
        let pairs: Vec<_> = pairs.filter(|&(i, j)| i != j && alike(&buffers[i], &buffers[j])).collect();
        if !pairs.is_empty() && random.once_in(3) {
            let (i, j) = random.pick(&pairs);
            // A precondition on one parameter alone holds for the other's argument, too.
            if buffers[i].skip == buffers[j].skip {
                args[i] = args[j].clone();
            }
        }
    }

    /// The program with its parameters and everything around it.
    fn finish(mut self, warps: u32, grid: [u32; 3]) -> Case {
        let (mut params, mut buffers, mut args) = (Vec::new(), String::new(), Vec::new());
        for i in 0..self.buffers.len() {
            let Buffer { id, dtype, mutable, small, len, skip } = self.buffers[i];
            let kind = if mutable { "mut " } else { "" };
            let bytes = skip * dtype.bytes() as usize;
            let specialization = if bytes == 0 && self.random.once_in(6) {
                " multiple_of 16"
            } else if self.random.once_in(12) {
                " general"
            } else {
                ""
            };
            params.push(format!("v{id} b{i}: ptr<{kind}{dtype}>{specialization}"));
            let fill = if small { "small" } else { "any" };
            let _ = writeln!(buffers, "; buffer b{i} {dtype} {fill} {} {}", i + 1, len + skip);
            args.push(if bytes == 0 { format!("b{i}") } else { format!("b{i}+{bytes}") });
        }
        self.alias(&mut args);
        for &(id, dtype, value) in &self.numbers {
            params.push(format!("v{id} n{id}: {dtype}"));
            args.push(value.to_string());
        }
        params.append(&mut self.axes);
        args.extend(self.axis_args.iter().map(u32::to_string));
        let views: String = self.views.iter().map(|view| format!("{view}\n")).collect();
        let [x, y, z] = grid;
        let said = if self.asserts { "text \"below 64\"\n" } else { "" };
        let (params, args) = (params.join(", "), args.join(" "));
        let text = format!(
            "; test run\n; grid {x} {y} {z}\n{buffers}; args {args}\n{said}kernel k({params}) warps {warps} {{\n{views}{}}}\n",
            self.text
        );
        Case { text, rounds: self.rounds }
    }
}
