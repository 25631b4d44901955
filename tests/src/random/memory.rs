//! Random accesses: addresses of every pattern, masks, memory that is read and written, atomic updates.

use super::program::{Buffer, Gen, Region, Tile, dims, elements, reshapes, ty};
use triton_core::types::{Class, DType};

/// Elements of a region beyond those of the largest tile.
const SLACK: u32 = 32;

/// Where elements lie, in elements after a pointer.
struct Index {
    id: usize,
    dtype: DType,
    /// What is beyond the largest.
    end: u32,
    /// How far it goes in one program, in one iteration of the loops around.
    extent: u32,
}

impl Gen<'_> {
    /// An element type.
    pub fn any_type(&mut self) -> DType {
        use DType::*;
        self.random.pick(&[I8, I16, I32, I32, I64, U8, U16, U32, U64, F16, F16, BF16, F32, F32, F32, F64, Bool])
    }

    /// A parameter.
    pub fn buffer(&mut self, dtype: DType, mutable: bool, small: bool) -> usize {
        let id = self.id();
        let skip = if self.aligned || self.random.once_in(3) { 0 } else { self.random.pick(&[1, 2, 3, 4, 8]) };
        self.buffers.push(Buffer { id, dtype, mutable, small, len: 0, skip });
        self.buffers.len() - 1
    }

    /// Strides of a tile; with `holes`, elements may lie apart, or alias.
    fn strides(&mut self, shape: &[u32], holes: bool, injective: bool) -> Vec<u32> {
        let mut order: Vec<usize> = (0..shape.len()).rev().collect();
        if self.random.once_in(2) {
            self.random.shuffle(&mut order);
        }
        let mut strides = vec![0; shape.len()];
        let holes = holes && self.random.once_in(2);
        let mut stride = if holes && self.random.once_in(6) { self.random.pick(&[2, 3, 16]) } else { 1 };
        for axis in order {
            if !injective && holes && self.random.once_in(6) {
                continue;
            }
            strides[axis] = stride;
            stride *= shape[axis];
            if holes && self.random.once_in(3) {
                stride = if self.divisible {
                    stride.next_multiple_of(16)
                } else {
                    stride + self.random.pick(&[1, 4, 7, 16])
                };
            }
        }
        strides
    }

    /// Σ index · stride, in one of the ways to write it.
    fn sum(&mut self, shape: &[u32], strides: &[u32], dtype: DType) -> usize {
        let contiguous = (0..shape.len()).all(|k| strides[k] == elements(&shape[k + 1..]));
        if contiguous && reshapes(&[elements(shape)], shape) && self.random.once_in(2) {
            let n = elements(shape);
            let line = self.op(&format!("arange 0, {n}"), DType::I32, &[n]);
            let tile = if shape.len() == 1 {
                line
            } else {
                self.op(&format!("reshape v{line}, {}", dims(shape)), DType::I32, shape)
            };
            return if dtype == DType::I32 { tile } else { self.op(&format!("cast v{tile}, {dtype}"), dtype, shape) };
        }
        let mut sum = None;
        for (axis, (&extent, &stride)) in shape.iter().zip(strides).enumerate() {
            let mut line: Vec<u32> = vec![1; shape.len()];
            line[axis] = extent;
            let mut x = self.op(&format!("arange 0, {extent}"), DType::I32, &[extent]);
            if shape.len() > 1 {
                x = self.op(&format!("reshape v{x}, {}", dims(&line)), DType::I32, &line);
            }
            if dtype != DType::I32 {
                x = self.op(&format!("cast v{x}, {dtype}"), dtype, &line);
            }
            if stride != 1 || self.random.once_in(8) {
                let number = self.number(stride, dtype);
                let factor = self.op(&format!("splat v{number}, {}", dims(&line)), dtype, &line);
                x = self.op(&format!("mul v{x}, v{factor}"), dtype, &line);
            }
            if line != shape {
                x = self.op(&format!("broadcast v{x}, {}", dims(shape)), dtype, shape);
            }
            sum = Some(sum.map_or(x, |sum| self.op(&format!("add v{sum}, v{x}"), dtype, shape)));
        }
        sum.unwrap_or(0)
    }

    /// Elements of this shape; from one program to the next the `pitch`, or what keeps them apart. Nothing lies beyond `room`.
    fn index(&mut self, shape: &[u32], injective: bool, region: Option<(u32, u32)>) -> Index {
        let dtype = if self.random.once_in(3) { DType::I64 } else { DType::I32 };
        let (holes, pitch) = (region.is_none(), region.map(|r| r.0));
        let strides = self.strides(shape, holes, injective);
        let mut extent = 1 + shape.iter().zip(&strides).map(|(d, s)| (d - 1) * s).sum::<u32>();
        let mut slack = region.map_or(SLACK, |r| r.1);
        let mut id = self.sum(shape, &strides, dtype);
        let mut bases = Vec::new();
        // Loops around move it on.
        for (counter, most) in self.counters.clone() {
            let step = self.random.pick(&[0, 1, 2, 16]);
            if step > 0 && step * most <= slack {
                slack -= step * most;
                extent += step * most;
                bases.push(self.scaled(counter, step, dtype));
            }
        }
        if slack > 0 && self.random.once_in(2) {
            let shift = self.random.pick(&[1, 2, 3, 4, 8, 16, 16, 16]).min(slack);
            extent += shift;
            bases.push(self.number(shift, dtype));
        }
        let pitch = pitch.unwrap_or_else(|| if self.random.once_in(3) { extent } else { extent.next_multiple_of(16) });
        if self.programs > 1 || self.random.once_in(2) {
            bases.push(self.scaled(self.program, pitch, dtype));
        }
        for base in bases {
            let base = self.op(&format!("splat v{base}, {}", dims(shape)), dtype, shape);
            id = self.op(&format!("add v{id}, v{base}"), dtype, shape);
        }
        Index { id, dtype, end: (self.programs - 1) * pitch + extent, extent }
    }

    /// A scalar `i32` times a number, as this type.
    pub fn scaled(&mut self, scalar: usize, by: u32, dtype: DType) -> usize {
        let scalar =
            if dtype == DType::I32 { scalar } else { self.op(&format!("cast v{scalar}, {dtype}"), dtype, &[]) };
        let by = self.number(by, dtype);
        self.op(&format!("mul v{scalar}, v{by}"), dtype, &[])
    }

    fn pointers(&mut self, buffer: usize, index: usize, shape: &[u32]) -> usize {
        let Buffer { id, dtype, mutable, .. } = self.buffers[buffer];
        let kind = if mutable { "mut " } else { "" };
        let of = |shape: &[u32]| ty(dtype, shape).replacen(dtype.name(), &format!("ptr<{kind}{dtype}>"), 1);
        let splat = self.typed(&format!("splat v{id}, {}", dims(shape)), &of(shape));
        self.typed(&format!("offset v{splat}, v{index}"), &of(shape))
    }

    /// A mask or none, and what is beyond the largest index then.
    fn mask(&mut self, index: &Index, shape: &[u32]) -> (Option<usize>, u32) {
        match self.random.below(6) {
            // The end of a buffer.
            0..2 => {
                let short = self.random.below(index.extent as usize);
                let short = self.random.below(short + 1) as u32;
                let end =
                    if self.random.once_in(2) { index.end - short } else { (index.end - short).next_multiple_of(16) };
                let number = self.number(end, index.dtype);
                let number = self.op(&format!("splat v{number}, {}", dims(shape)), index.dtype, shape);
                let mask = self.op(&format!("lt v{}, v{number}", index.id), DType::Bool, shape);
                (Some(mask), end.min(index.end))
            }
            // The end of an axis.
            2 => {
                let axis = self.random.below(shape.len());
                let mut line: Vec<u32> = vec![1; shape.len()];
                line[axis] = shape[axis];
                let x = self.op(&format!("arange 0, {}", shape[axis]), DType::I32, &[shape[axis]]);
                let x = self.op(&format!("reshape v{x}, {}", dims(&line)), DType::I32, &line);
                let most = self.random.below(shape[axis] as usize + 1) as u32;
                let number = self.number(most, DType::I32);
                let number = self.op(&format!("splat v{number}, {}", dims(&line)), DType::I32, &line);
                let mask = self.op(&format!("lt v{x}, v{number}"), DType::Bool, &line);
                (Some(self.op(&format!("broadcast v{mask}, {}", dims(shape)), DType::Bool, shape)), index.end)
            }
            // Whatever there is.
            3 => {
                let found = self.tiles.iter().rev().find(|t| t.dtype == DType::Bool && t.shape == shape);
                (found.map(|t| t.id), index.end)
            }
            _ => (None, index.end),
        }
    }

    fn scalar_load(&mut self, dtype: DType, small: bool) -> Tile {
        let buffer = self.buffer(dtype, false, small);
        self.buffers[buffer].len = self.programs as usize;
        let of = format!("ptr<{dtype}>");
        let ptr = self.typed(&format!("offset v{}, v{}", self.buffers[buffer].id, self.program), &of);
        let id = self.op(&format!("load v{ptr}, -, -"), dtype, &[]);
        let bound = small.then_some(super::SMALL);
        self.keep(id, dtype, &[], bound)
    }

    /// A tile from memory that nothing writes.
    pub fn load(&mut self, dtype: DType, shape: &[u32], small: bool) -> Tile {
        if shape.is_empty() {
            return self.scalar_load(dtype, small);
        }
        let there = self.buffers.iter().position(|b| b.dtype == dtype && !b.mutable && b.small == small);
        let there = there.filter(|_| self.random.once_in(2));
        let buffer = there.unwrap_or_else(|| self.buffer(dtype, false, small));
        let gathered = self.tiles.iter().rev().find(|t| t.dtype == DType::I32 && t.shape == shape).cloned();
        let index = match gathered.filter(|_| self.random.once_in(4)) {
            Some(tile) => {
                let all = self.constant("63", DType::I32, shape);
                let id = self.op(&format!("and v{}, v{all}", tile.id), DType::I32, shape);
                Index { id, dtype: DType::I32, end: 64, extent: 64 }
            }
            None => self.index(shape, false, None),
        };
        let ptr = self.pointers(buffer, index.id, shape);
        let (mask, end) = self.mask(&index, shape);
        let id = self.load_through(ptr, mask, dtype, shape);
        let buffer = &mut self.buffers[buffer];
        buffer.len = buffer.len.max(end as usize);
        self.keep(id, dtype, shape, small.then_some(super::SMALL))
    }

    /// A loop that carries its pointers, and a tile of what it reads through them.
    pub fn walk(&mut self) {
        let (dtype, shape) = (self.random.pick(&[DType::I32, DType::I64, DType::U8, DType::U32]), self.shape());
        if shape.is_empty() {
            return;
        }
        let (turns, step) = (self.random.below(4) as u32, self.random.pick(&[1, 2, 3, 16]));
        let buffer = self.buffer(dtype, false, false);
        let index = self.index(&shape, false, None);
        let first = self.pointers(buffer, index.id, &shape);
        let sum = self.constant("0", dtype, &shape);
        let bounds = [0, turns, 1].map(|n| self.number(n, DType::I32));
        let step_id = self.constant(&step.to_string(), DType::I32, &shape);
        let [last, total, counter, ptr, carried] = [(); 5].map(|()| self.id());
        let pointers = format!("ptr<{dtype}>{}", dims(&shape));
        let types = format!("{pointers}, {}", ty(dtype, &shape));
        let [lo, hi, by] = bounds;
        self.put(&format!("v{last}, v{total} = for v{lo}, v{hi}, v{by} with v{first}, v{sum} : {types} {{ |v{counter}: i32, v{ptr}: {pointers}, v{carried}: {}|", ty(dtype, &shape)));
        self.depth += 1;
        let read = self.op(&format!("load v{ptr}, -, -"), dtype, &shape);
        let word = self.random.pick(&["add", "xor", "max"]);
        let next = self.op(&format!("{word} v{carried}, v{read}"), dtype, &shape);
        let moved = self.typed(&format!("offset v{ptr}, v{step_id}"), &pointers);
        self.put(&format!("yield with v{moved}, v{next}"));
        self.depth -= 1;
        self.put("}");
        self.buffers[buffer].len = (index.end + step * turns.saturating_sub(1)) as usize;
        self.keep(total, dtype, &shape, None);
        if self.random.once_in(2) && turns > 0 {
            // The element after those of the last iteration.
            self.buffers[buffer].len += step as usize;
            let id = self.op(&format!("load v{last}, -, -"), dtype, &shape);
            self.keep(id, dtype, &shape, None);
        }
    }

    fn load_through(&mut self, ptr: usize, mask: Option<usize>, dtype: DType, shape: &[u32]) -> usize {
        let other = mask.filter(|_| self.random.once_in(2)).map(|_| {
            let one = match dtype.class() {
                Class::Bool => "true",
                Class::Signed | Class::Unsigned => "1",
                Class::Float => "1.0",
            };
            self.constant(one, dtype, shape)
        });
        let word = |v: Option<usize>| v.map_or("-".into(), |v| format!("v{v}"));
        self.op(&format!("load v{ptr}, {}, {}", word(mask), word(other)), dtype, shape)
    }

    /// The tile goes to a buffer of its own.
    pub fn store(&mut self, tile: &Tile) {
        let one = Tile { shape: vec![1], ..tile.clone() };
        let tile = if tile.shape.is_empty() {
            let id = self.op(&format!("splat v{}, [1]", tile.id), tile.dtype, &[1]);
            Tile { id, ..one }
        } else {
            tile.clone()
        };
        let buffer = self.buffer(tile.dtype, true, true);
        let index = self.index(&tile.shape, true, None);
        let ptr = self.pointers(buffer, index.id, &tile.shape);
        let (mask, end) = self.mask(&index, &tile.shape);
        self.put(&format!("store v{ptr}, {}, v{}", mask.map_or("-".into(), |m| format!("v{m}")), tile.id));
        self.buffers[buffer].len = end as usize;
    }

    /// Reads, writes or updates memory that other steps read and write too.
    pub fn in_place(&mut self) {
        let region = match self.region {
            Some(region) => region,
            None => {
                use DType::*;
                let dtype = self.random.pick(&[I32, I32, I64, U32, U64, F32, F16, F64, I8, BF16]);
                let size = self.shapes.iter().map(|s| elements(s)).max().unwrap_or(1) + SLACK;
                let size = size.next_multiple_of(16);
                let buffer = self.buffer(dtype, true, false);
                self.buffers[buffer].len = (size * self.programs) as usize;
                *self.region.insert(Region { buffer, size })
            }
        };
        let (dtype, shape) = (self.buffers[region.buffer].dtype, self.shape());
        // A read, writes, updates of elements apart, updates that meet.
        let once = !self.float_updates && self.counters.is_empty();
        let updates = match dtype {
            dtype if dtype.is_float() && !once => 0,
            dtype if dtype.bits() < 32 && !dtype.is_float() => 0,
            dtype => 2 + usize::from(dtype.is_int()),
        };
        let what = self.random.below(3 + updates);
        self.float_updates |= what > 2 && dtype.is_float();
        let room = Some((region.size, SLACK));
        let shared = what == 5;
        let value = (what > 0).then(|| self.operand(dtype, &shape));
        let mut index = self.index(&shape, what > 0, room);
        let (mask, _) = self.mask(&index, &shape);
        let word = mask.map_or("-".into(), |m| format!("v{m}"));
        if shared {
            // Several elements at one address.
            let (by, kind) = (self.random.pick(&["3", "15"]), index.dtype);
            let bits = self.constant(by, kind, &shape);
            let low = self.op(&format!("and v{}, v{bits}", index.id), kind, &shape);
            let base = self.scaled(self.program, region.size, kind);
            let base = self.op(&format!("splat v{base}, {}", dims(&shape)), kind, &shape);
            index.id = self.op(&format!("add v{low}, v{base}"), kind, &shape);
        }
        let ptr = self.pointers(region.buffer, index.id, &shape);
        match (what, value) {
            (3.., Some(value)) => {
                let kinds: &[&str] = if shared {
                    &["add", "min", "max", "and", "or", "xor"]
                } else if dtype.is_int() {
                    &["add", "min", "xchg", "max", "xor", "cas"]
                } else if dtype == DType::F32 {
                    // A GPU flushes subnormal numbers to 0 when it adds atomically.
                    &["xchg", "min", "max"]
                } else {
                    &["add", "xchg", "min", "max"]
                };
                let order = self.order();
                let update = match self.random.pick(kinds) {
                    // Whether it is there: what some step has computed may be.
                    "cas" => format!("atomic_cas {order}, v{ptr}, {word}, v{}", self.operand(dtype, &shape).id),
                    kind => format!("atomic {kind}, {order}, v{ptr}, {word}"),
                };
                let old = self.op(&format!("{update}, v{}", value.id), dtype, &shape);
                if !shared {
                    let old = self.keep(old, dtype, &shape, None);
                    if self.random.once_in(2) {
                        self.store(&old);
                    }
                }
            }
            (_, Some(value)) => self.put(&format!("store v{ptr}, {word}, v{}", value.id)),
            (_, None) => {
                let id = self.load_through(ptr, mask, dtype, &shape);
                self.keep(id, dtype, &shape, None);
            }
        }
    }

    /// Counters that all programs update.
    pub fn count(&mut self) {
        use DType::*;
        let dtype = self.random.pick(&[I32, I64, U32, U64]);
        let (tile, shape) = (self.tile(), self.shape());
        let value = self.fit(&tile, &shape).map(|t| self.cast(&t, dtype));
        let value = value.unwrap_or_else(|| self.load(dtype, &shape, false));
        let buffer = self.buffer(dtype, true, true);
        let index = self.operand(I32, &shape);
        let bits = self.constant("31", I32, &shape);
        let index = self.op(&format!("and v{}, v{bits}", index.id), I32, &shape);
        let ptr = self.pointers(buffer, index, &shape);
        let kind = self.random.pick(&["add", "min", "max", "and", "or", "xor"]);
        let order = self.order();
        self.op(&format!("atomic {kind}, {order}, v{ptr}, -, v{}", value.id), dtype, &shape);
        self.buffers[buffer].len = 32;
    }

    /// The order of an update.
    pub fn order(&mut self) -> &'static str {
        self.random.pick(&["relaxed", "relaxed", "acquire", "release", "acq_rel"])
    }
}
