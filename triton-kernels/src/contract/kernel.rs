//! The kernel of all contractions.
//!
//! Operands are views of one axis: where an element is follows from numbers that are passed, not from the rank of a type. Each side of a tile is a
//! part of two axes at most, an outer and an inner one; the number of the program says which part, and which element of all other axes. This is
//! the copy by offset, sizes and strides of the thesis on tensor contractions in Futhark (2024, section 3.5), done once a program: in the loop
//! over K only two numbers change.

use triton::prelude::*;

/// The axes that the rows or columns of a tile are of.
#[triton::params]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Side {
    /// Elements of the outer axis.
    pub outer: i32,
    /// Elements of the inner axis.
    pub inner: i32,
    /// log₂ of how many runs of the tile are along the inner axis.
    pub shift: i32,
    /// Tiles along the outer axis.
    pub outer_tiles: i32,
    /// Tiles along the inner axis.
    pub inner_tiles: i32,
    /// Stride of the outer axis in x or y.
    pub outer_step: i32,
    /// Stride of the inner axis in x or y.
    pub inner_step: i32,
    /// Stride of the outer axis in z.
    pub outer_z: i32,
    /// Stride of the inner axis in z.
    pub inner_z: i32,
}

/// The axes that are summed over.
#[triton::params]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Depth {
    /// Elements of the outer axis of a tile.
    pub outer: i32,
    /// Elements of the inner axis of a tile.
    pub inner: i32,
    /// log₂ of how many runs of the tile are along the inner axis.
    pub shift: i32,
    /// Tiles along the inner axis.
    pub inner_tiles: i32,
    /// Tiles along both.
    pub tiles: i32,
    /// ⌈2³¹ / `inner_tiles`⌉, for quotients by a product, if there are tiles along the outer axis; else 0.
    pub reciprocal: u32,
    /// Elements of all axes that tiles are not of.
    pub rest: i32,
    /// Stride of the outer axis in x.
    pub outer_x: i32,
    /// Stride of the inner axis in x.
    pub inner_x: i32,
    /// Stride of the outer axis in y.
    pub outer_y: i32,
    /// Stride of the inner axis in y.
    pub inner_y: i32,
}

/// An axis that tiles are not of: its extent, and its strides in x, y and z.
#[triton::params]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digit {
    /// Elements.
    pub extent: i32,
    /// Stride in x.
    pub x: i32,
    /// Stride in y.
    pub y: i32,
    /// Stride in z.
    pub z: i32,
}

impl Digit {
    /// No axis.
    pub const NONE: Digit = Digit { extent: 1, x: 0, y: 0, z: 0 };
}

/// The first elements of a program's part, in x, y and z, with the next digit of a number counted in.
#[triton::function]
fn counted(number: i32, at: (i32, i32, i32), of: Digit) -> (i32, (i32, i32, i32)) {
    let (x, y, z) = at;
    if of.extent == 1 {
        (number, (x, y, z))
    } else {
        let i = number % of.extent;
        (number / of.extent, (x + i * of.x, y + i * of.y, z + i * of.z))
    }
}

/// Where B elements of a side are in its tile: along the outer axis, in runs of R along the inner axis, and in the run, counted in elements and in
/// vectors of G.
///
/// It is called before the loop, which fills its operands ahead and may not divide for items that do not come.
#[triton::function]
fn lanes<const B: i32, const R: i32, const G: i32>(shift: i32) -> (Tile<i32>, Tile<i32>, Tile<i32>, Tile<i32>) {
    // Without a sign, quotients have runs that the compiler knows.
    let t = arange(0, B).to::<u32>();
    let (run, at) = ((t / R.to::<u32>()).to::<i32>(), t % R.to::<u32>());
    (run >> shift, run & ((1 << shift) - 1), at.to::<i32>(), (at / G.to::<u32>()).to::<i32>())
}

/// The indices of a side's elements along the outer and the inner axis, and which of them there are. If G is more than 1, the inner extent is
/// a multiple of it, and vectors of G elements are whole.
#[triton::function]
fn indices<const B: i32, const R: i32, const G: i32>(
    lanes: (Tile<i32>, Tile<i32>, Tile<i32>, Tile<i32>),
    shift: i32,
    tile: (i32, i32),
    extents: (i32, i32),
) -> (Tile<i32>, Tile<i32>, Tile<bool>) {
    let (outer_lane, run, at, vector) = lanes;
    let ((outer_tile, inner_tile), (outer, inner)) = (tile, extents);
    let i = outer_tile * ((B / R) >> shift) + outer_lane;
    let j = (inner_tile << shift) + run;
    (i, j * R + at, (i < outer) & (j * (R / G) + vector < inner / G))
}

/// A multiple of A, which the compiler then knows.
#[triton::function]
fn aligned<const A: i32>(offset: Tile<i32>) -> Tile<i32> {
    if A == 8 {
        (offset >> 3) << 3
    } else if A == 4 {
        (offset >> 2) << 2
    } else {
        offset
    }
}

/// z = α · Σ x · y + β · z, a tile of BM rows and BN columns a program.
///
/// With UNIT, the columns' inner axis has stride 1 in z, and each operand has an axis of stride 1: y the columns' inner axis, or with TB the
/// inner axis of K; x the inner axis of K, or with TA the rows'. Runs of 16 elements of a tile are then along that axis. Vectors of V elements
/// along it are whole and aligned in x and y, and of W in z. Without UNIT strides are any.
#[triton::kernel(warnings = false, configs = [
    (T = f32, BM = 64, BN = 64, BK = 16, UNIT = false, TA = false, TB = false, V = 1, W = 1, general = true),
    (T = f32, BM = 64, BN = 64, BK = 16, UNIT = true, TA = false, TB = false, V = 1, W = 1),
    (T = f32, BM = 64, BN = 64, BK = 16, UNIT = true, TA = false, TB = true, V = 1, W = 1),
    (T = f32, BM = 64, BN = 64, BK = 16, UNIT = true, TA = true, TB = false, V = 1, W = 1),
    (T = f32, BM = 64, BN = 64, BK = 16, UNIT = true, TA = false, TB = false, V = 4, W = 4),
    (T = f32, BM = 64, BN = 64, BK = 16, UNIT = true, TA = false, TB = true, V = 4, W = 4),
    (T = f32, BM = 64, BN = 64, BK = 16, UNIT = true, TA = true, TB = false, V = 4, W = 4),
    (T = f32, BM = 128, BN = 128, BK = 16, UNIT = true, TA = false, TB = false, V = 1, W = 1, num_warps = 8),
    (T = f32, BM = 128, BN = 128, BK = 16, UNIT = true, TA = false, TB = true, V = 1, W = 1, num_warps = 8),
    (T = f32, BM = 128, BN = 128, BK = 16, UNIT = true, TA = true, TB = false, V = 1, W = 1, num_warps = 8),
    (T = f32, BM = 128, BN = 128, BK = 16, UNIT = true, TA = false, TB = false, V = 1, W = 4, num_warps = 8),
    (T = f32, BM = 64, BN = 128, BK = 16, UNIT = true, TA = false, TB = false, V = 4, W = 4),
    (T = f32, BM = 128, BN = 128, BK = 16, UNIT = true, TA = false, TB = true, V = 1, W = 4, num_warps = 8),
    (T = f32, BM = 128, BN = 128, BK = 16, UNIT = true, TA = true, TB = false, V = 1, W = 4, num_warps = 8),
    (T = f32, BM = 64, BN = 128, BK = 16, UNIT = true, TA = true, TB = false, V = 4, W = 4),
    (T = bf16, BM = 64, BN = 64, BK = 32, UNIT = false, TA = false, TB = false, V = 1, W = 1, general = true),
    (T = bf16, BM = 64, BN = 64, BK = 32, UNIT = true, TA = false, TB = false, V = 1, W = 1),
    (T = bf16, BM = 64, BN = 64, BK = 32, UNIT = true, TA = false, TB = true, V = 1, W = 1),
    (T = bf16, BM = 64, BN = 64, BK = 32, UNIT = true, TA = true, TB = false, V = 1, W = 1),
    (T = bf16, BM = 64, BN = 64, BK = 32, UNIT = true, TA = false, TB = false, V = 1, W = 8),
    (T = bf16, BM = 64, BN = 64, BK = 32, UNIT = true, TA = false, TB = true, V = 1, W = 8),
    (T = bf16, BM = 64, BN = 64, BK = 32, UNIT = true, TA = false, TB = false, V = 8, W = 8),
    (T = bf16, BM = 64, BN = 64, BK = 32, UNIT = true, TA = false, TB = true, V = 8, W = 8),
    (T = bf16, BM = 64, BN = 64, BK = 32, UNIT = true, TA = true, TB = false, V = 8, W = 8),
    (T = bf16, BM = 128, BN = 128, BK = 32, UNIT = true, TA = false, TB = false, V = 8, W = 8, num_warps = 8),
    (T = bf16, BM = 128, BN = 128, BK = 32, UNIT = true, TA = false, TB = true, V = 8, W = 8, num_warps = 8),
    (T = bf16, BM = 128, BN = 128, BK = 32, UNIT = true, TA = true, TB = false, V = 8, W = 8, num_warps = 8),
    (T = f16, BM = 64, BN = 64, BK = 32, UNIT = false, TA = false, TB = false, V = 1, W = 1, general = true),
    (T = f16, BM = 64, BN = 64, BK = 32, UNIT = true, TA = false, TB = false, V = 1, W = 1),
    (T = f16, BM = 64, BN = 64, BK = 32, UNIT = true, TA = false, TB = true, V = 1, W = 1),
    (T = f16, BM = 64, BN = 64, BK = 32, UNIT = true, TA = true, TB = false, V = 1, W = 1),
    (T = f16, BM = 64, BN = 64, BK = 32, UNIT = true, TA = false, TB = false, V = 1, W = 8),
    (T = f16, BM = 64, BN = 64, BK = 32, UNIT = true, TA = false, TB = true, V = 1, W = 8),
    (T = f16, BM = 64, BN = 64, BK = 32, UNIT = true, TA = false, TB = false, V = 8, W = 8),
    (T = f16, BM = 64, BN = 64, BK = 32, UNIT = true, TA = false, TB = true, V = 8, W = 8),
    (T = f16, BM = 64, BN = 64, BK = 32, UNIT = true, TA = true, TB = false, V = 8, W = 8),
    (T = f16, BM = 128, BN = 128, BK = 32, UNIT = true, TA = false, TB = false, V = 8, W = 8, num_warps = 8),
    (T = f16, BM = 128, BN = 128, BK = 32, UNIT = true, TA = false, TB = true, V = 8, W = 8, num_warps = 8),
    (T = f16, BM = 128, BN = 128, BK = 32, UNIT = true, TA = true, TB = false, V = 8, W = 8, num_warps = 8),
], tune = [BM, BN, BK, UNIT, TA, TB, V, W])]
pub fn contraction<
    T: Float,
    const BM: i32,
    const BN: i32,
    const BK: i32,
    const UNIT: bool,
    const TA: bool,
    const TB: bool,
    const V: i32,
    const W: i32,
>(
    x: Tensor<T, 1>,
    y: Tensor<T, 1>,
    z: TensorMut<T, 1>,
    outer: Tensor<i32, 2>,
    depth: Tensor<i32, 2>,
    #[no_specialize] m: Side,
    #[no_specialize] n: Side,
    #[no_specialize] k: Depth,
    #[no_specialize] first: Digit,
    #[no_specialize] second: Digit,
    #[no_specialize] third: Digit,
    #[no_specialize] fourth: Digit,
    alpha: f32,
    beta: f32,
) {
    let program = program_id(0);
    let n_inner = program % n.inner_tiles;
    let program = program / n.inner_tiles;
    let m_inner = program % m.inner_tiles;
    let program = program / m.inner_tiles;
    let n_outer = program % n.outer_tiles;
    let program = program / n.outer_tiles;
    let m_outer = program % m.outer_tiles;
    let (rest, at) = counted(program / m.outer_tiles, (0, 0, 0), first);
    let (rest, at) = counted(rest, at, second);
    let (rest, at) = counted(rest, at, third);
    let (rest, at) = counted(rest, at, fourth);
    let (mut rest, (mut x_at, mut y_at, mut z_at)) = (rest, at);
    for row in 0..outer.dim(0) {
        let extent = outer.get([row, 0]);
        let i = rest % extent;
        rest = rest / extent;
        x_at += i * outer.get([row, 1]);
        y_at += i * outer.get([row, 2]);
        z_at += i * outer.get([row, 3]);
    }

    let (m_tile, n_tile) = ((m_outer, m_inner), (n_outer, n_inner));
    let (m_extents, n_extents) = ((m.outer, m.inner), (n.outer, n.inner));
    let (mi, mj, is_row) = if UNIT && TA {
        indices::<BM, 16, V>(lanes::<BM, 16, V>(m.shift), m.shift, m_tile, m_extents)
    } else {
        indices::<BM, 1, 1>(lanes::<BM, 1, 1>(m.shift), m.shift, m_tile, m_extents)
    };
    let (ni, nj, is_column) = if UNIT {
        indices::<BN, 16, W>(lanes::<BN, 16, W>(n.shift), n.shift, n_tile, n_extents)
    } else {
        indices::<BN, 1, 1>(lanes::<BN, 1, 1>(n.shift), n.shift, n_tile, n_extents)
    };
    let x_rows = if UNIT && TA {
        aligned::<V>(x_at + mi * m.outer_step) + mj
    } else {
        aligned::<V>(x_at + mi * m.outer_step + mj * m.inner_step)
    };
    let y_columns = if UNIT && !TB {
        aligned::<V>(y_at + ni * n.outer_step) + nj
    } else {
        aligned::<V>(y_at + ni * n.outer_step + nj * n.inner_step)
    };

    let k_lanes = if UNIT && (!TA || TB) { lanes::<BK, 16, V>(k.shift) } else { lanes::<BK, 1, 1>(k.shift) };
    let mut acc = zeros::<f32>([BM, BN]);
    for turn in 0..k.rest {
        let (mut rest, mut x_depth, mut y_depth) = (turn, 0, 0);
        for row in 0..depth.dim(0) {
            let extent = depth.get([row, 0]);
            let i = rest % extent;
            rest = rest / extent;
            x_depth += i * depth.get([row, 1]);
            y_depth += i * depth.get([row, 2]);
        }
        for step in 0..k.tiles {
            let k_outer = mul_hi((step * 2).to::<u32>(), k.reciprocal).to::<i32>();
            let k_tile = (k_outer, step - k_outer * k.inner_tiles);
            let (ki, kj, is_deep) = if UNIT && (!TA || TB) {
                indices::<BK, 16, V>(k_lanes, k.shift, k_tile, (k.outer, k.inner))
            } else {
                indices::<BK, 1, 1>(k_lanes, k.shift, k_tile, (k.outer, k.inner))
            };
            let x_k = if UNIT && !TA {
                aligned::<V>(x_depth + ki * k.outer_x) + kj
            } else {
                aligned::<V>(x_depth + ki * k.outer_x + kj * k.inner_x)
            };
            let y_k = if UNIT && TB {
                aligned::<V>(y_depth + ki * k.outer_y) + kj
            } else {
                aligned::<V>(y_depth + ki * k.outer_y + kj * k.inner_y)
            };
            let a = if TA {
                let mask = is_deep.expand_dims(1) & is_row.expand_dims(0);
                x.gather([x_k.expand_dims(1) + x_rows.expand_dims(0)], mask).transpose()
            } else {
                let mask = is_row.expand_dims(1) & is_deep.expand_dims(0);
                x.gather([x_rows.expand_dims(1) + x_k.expand_dims(0)], mask)
            };
            let b = if TB {
                let mask = is_column.expand_dims(1) & is_deep.expand_dims(0);
                y.gather([y_columns.expand_dims(1) + y_k.expand_dims(0)], mask).transpose()
            } else {
                let mask = is_deep.expand_dims(1) & is_column.expand_dims(0);
                y.gather([y_k.expand_dims(1) + y_columns.expand_dims(0)], mask)
            };
            acc = dot(a, b, acc);
        }
    }

    let z_rows = aligned::<W>(z_at + mi * m.outer_z + mj * m.inner_z);
    let z_columns = if UNIT { aligned::<W>(ni * n.outer_z) + nj } else { ni * n.outer_z + nj * n.inner_z };
    let at = z_rows.expand_dims(1) + z_columns.expand_dims(0);
    let mask = is_row.expand_dims(1) & is_column.expand_dims(0);
    let mut v = acc * alpha;
    if beta != 0.0 {
        v += z.gather([at], mask).to::<f32>() * beta;
    }
    z.scatter([at], v.to::<T>(), mask);
}
