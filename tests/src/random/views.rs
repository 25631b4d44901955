//! Random accesses to views: extents that cut tiles, pitches, strides, indices of either type that may be negative.

use super::program::{Gen, Tile, dims, ty};
use triton_core::types::DType;

/// The most axes of a view: each is two parameters.
const MOST_AXES: usize = 3;

/// A view of a buffer of its own.
#[derive(Clone)]
struct Viewed {
    buffer: usize,
    dtype: DType,
    shape: Vec<u32>,
    /// Indices of the first axis that a program has to itself.
    block: u32,
}

impl Gen<'_> {
    /// A view that is loaded, or one that is loaded, stored and updated in turn.
    pub fn view(&mut self) {
        let shape = self.shape();
        if shape.is_empty() || shape.len() > MOST_AXES {
            return;
        }
        if self.random.once_in(3) {
            let dtype = self.any_type();
            let view = self.viewed(dtype, &shape, false);
            self.view_load(&view);
            return;
        }
        use DType::*;
        let dtype = self.random.pick(&[I8, I32, I64, U16, U32, F16, BF16, F32, F64, Bool]);
        let view = self.viewed(dtype, &shape, true);
        for _ in 0..1 + self.random.below(4) {
            let at = self.location(&view);
            match self.random.below(3) {
                0 => self.view_load(&view),
                1 if matches!(dtype, I32 | U32 | I64) => {
                    let value = self.operand(dtype, &shape);
                    let kind = self.random.pick(&["add", "max", "and", "xchg"]);
                    let order = self.order();
                    let old = self.op(&format!("atomic {kind}, {order}, {at}, v{}", value.id), dtype, &shape);
                    if self.random.once_in(2) {
                        self.keep(old, dtype, &shape, None);
                    }
                }
                _ => {
                    let value = self.operand(dtype, &shape);
                    self.put(&format!("store {at}, v{}", value.id));
                }
            }
        }
    }

    /// The parameters of a view for tiles of this shape.
    fn viewed(&mut self, dtype: DType, shape: &[u32], mutable: bool) -> Viewed {
        let buffer = self.buffer(dtype, mutable, false);
        let block = shape[0] * self.random.pick(&[1, 1, 2]);
        let mut extents: Vec<u32> = shape.iter().map(|&d| d * self.random.pick(&[1, 1, 2])).collect();
        extents[0] = block * self.programs;
        for extent in &mut extents {
            *extent = match self.random.below(9) {
                0 => *extent + self.random.pick(&[1, 5, 8, 16]),
                1..7 => extent.saturating_sub(self.random.pick(&[1, 1, 2, 3, 4, 5, 7, 8, 16])),
                7 => self.random.below(*extent as usize + 1) as u32,
                _ => *extent,
            };
        }
        let (rank, lanes) = (shape.len(), 16 / dtype.bytes());
        let mut strides = vec![0; rank];
        let mut stride = if self.random.once_in(8) { self.random.pick(&[2, 3]) } else { 1 };
        let mut order: Vec<usize> = (0..rank).rev().collect();
        if self.random.once_in(8) {
            self.random.shuffle(&mut order);
        }
        for axis in order {
            strides[axis] = stride;
            stride *= extents[axis].max(1);
            stride = match self.random.below(6) {
                0 => stride + self.random.pick(&[0, 1, 3]),
                _ => stride.next_multiple_of(lanes),
            };
        }
        let reached = extents.iter().zip(&strides).map(|(&extent, stride)| extent.saturating_sub(1) * stride);
        self.buffers[buffer].len = 1 + reached.sum::<u32>() as usize;
        let general = self.random.once_in(10);
        let mut params = |numbers: &[u32], dtype: DType, last: &str, others: &str| {
            let mut names = Vec::new();
            for (axis, &number) in numbers.iter().enumerate() {
                let promise = if general {
                    "general"
                } else if axis + 1 == rank {
                    last
                } else {
                    others
                };
                let id = self.id();
                self.axes.push(format!("v{id} a{id}: {dtype} {promise}"));
                self.axis_args.push(number);
                names.push(format!("v{id}"));
            }
            names.join(",")
        };
        let extents = params(&extents, DType::I32, &format!("extent {lanes}"), "general");
        let strides = params(&strides, DType::I64, "unit", &format!("pitch {lanes}"));
        self.views.push(format!("  view v{} [{extents}] [{strides}]", self.buffers[buffer].id));
        Viewed { buffer, dtype, shape: shape.to_vec(), block }
    }

    /// A tile of the view: along the first axis within the running program's part of it.
    fn location(&mut self, view: &Viewed) -> String {
        let mut at = Vec::new();
        for axis in 0..view.shape.len() {
            let dtype = self.random.pick(&[DType::I32, DType::I32, DType::I32, DType::I64]);
            let shift = if axis == 0 {
                (view.block - view.shape[0]).min(self.random.pick(&[0, 0, 1, 8, 16, 64])) as i64
            } else {
                self.random.pick(&[0i64, 0, 0, 0, 0, 8, 16, 16, 1, 3, -1, -4, -16, 1 << 31])
            };
            let shift = if dtype == DType::I32 && shift > i64::from(i32::MAX) { i64::from(i32::MAX) } else { shift };
            let mut start = self.constant(&shift.to_string(), dtype, &[]);
            if axis == 0 {
                let first = self.scaled(self.program, view.block, dtype);
                start = if shift == 0 { first } else { self.op(&format!("add v{first}, v{start}"), dtype, &[]) };
            } else if let Some(&(counter, _)) = self.counters.last().filter(|_| self.random.once_in(2)) {
                let step = self.random.pick(&[1, 8, view.shape[axis]]);
                let moved = self.scaled(counter, step, dtype);
                start = self.op(&format!("add v{start}, v{moved}"), dtype, &[]);
            }
            at.push(format!("v{start}"));
        }
        format!("v{}[{}], {}", self.buffers[view.buffer].id, at.join(","), dims(&view.shape))
    }

    fn view_load(&mut self, view: &Viewed) {
        let (dtype, shape) = (view.dtype, &view.shape);
        let at = self.location(view);
        let other = match self.random.below(4) {
            0 => {
                let one = if dtype == DType::Bool {
                    "true"
                } else if dtype.is_float() {
                    "1.0"
                } else {
                    "1"
                };
                format!("v{}", self.constant(one, dtype, shape))
            }
            1 => self
                .tiles
                .iter()
                .rev()
                .find(|tile: &&Tile| tile.dtype == dtype && tile.shape == *shape)
                .map_or("-".into(), |tile| format!("v{}", tile.id)),
            _ => "-".into(),
        };
        let id = self.typed(&format!("load {at}, {other}"), &ty(dtype, shape));
        self.keep(id, dtype, shape, None);
    }
}
