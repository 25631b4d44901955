//! The numbers that the kernel is passed for a plan.

use super::kernel::{Depth, Digit, Side};
use super::normal::Mode;
use super::tiles::{Cut, Plan, RUN};

/// What a launch passes beside its operands. Every number fits, since operands span less than 2³¹ elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Numbers {
    pub(super) m: Side,
    pub(super) n: Side,
    pub(super) k: Depth,
    /// The first axes that tiles are not of.
    pub(super) digits: [Digit; 4],
    /// The others, as rows of extent, x, y and z.
    pub(super) outer: Vec<i32>,
    /// The axes of K that tiles are not of, as rows of extent, x and y.
    pub(super) depth: Vec<i32>,
}

/// The numbers of a plan; `None` if one does not fit.
pub(super) fn numbers(plan: &Plan) -> Option<Numbers> {
    let normal = &plan.normal;
    let instance = &plan.instance;
    let [of_x, of_y] = instance.transposed;
    let run = |is: bool| if instance.unit && is { RUN } else { 1 };
    let side = |cut: &Cut, class: &[Mode], operand: usize, run: usize| {
        let [outer_tiles, inner_tiles] = cut.tiles(class);
        Some(Side {
            outer: fit(extent(cut.outer, class))?,
            inner: fit(extent(cut.inner, class))?,
            shift: shift(cut, run),
            outer_tiles: fit(outer_tiles)?,
            inner_tiles: fit(inner_tiles)?,
            outer_step: fit(stride(cut.outer, class, operand))?,
            inner_step: fit(stride(cut.inner, class, operand))?,
            outer_z: fit(stride(cut.outer, class, 2))?,
            inner_z: fit(stride(cut.inner, class, 2))?,
        })
    };
    let (cut, class) = (&plan.k, &normal.k[..]);
    let [outer_tiles, inner_tiles] = cut.tiles(class);
    let reciprocal = if outer_tiles > 1 { (1usize << 31).div_ceil(inner_tiles) } else { 0 };
    let k = Depth {
        outer: fit(extent(cut.outer, class))?,
        inner: fit(extent(cut.inner, class))?,
        shift: shift(cut, run(!of_x || of_y)),
        inner_tiles: fit(inner_tiles)?,
        tiles: fit(outer_tiles * inner_tiles)?,
        reciprocal: u32::try_from(reciprocal).ok()?,
        rest: fit(cut.rest(class))?,
        outer_x: fit(stride(cut.outer, class, 0))?,
        inner_x: fit(stride(cut.inner, class, 0))?,
        outer_y: fit(stride(cut.outer, class, 1))?,
        inner_y: fit(stride(cut.inner, class, 1))?,
    };
    let mut rest: Vec<&Mode> = normal.batch.iter().collect();
    for (cut, class) in [(&plan.m, &normal.m), (&plan.n, &normal.n)] {
        rest.extend(others(cut, class));
    }
    // Neighbouring programs write neighbouring elements.
    rest.sort_by_key(|mode| mode.strides[2]);
    let digit = |mode: &Mode| {
        let [x, y, z] = mode.strides;
        Some(Digit { extent: fit(mode.extent)?, x: fit(x)?, y: fit(y)?, z: fit(z)? })
    };
    let all = rest.into_iter().map(digit).collect::<Option<Vec<Digit>>>()?;
    let digits = std::array::from_fn(|i| all.get(i).copied().unwrap_or(Digit::NONE));
    let outer = all.iter().skip(4).flat_map(|of| [of.extent, of.x, of.y, of.z]).collect();
    let rows = others(cut, class).map(|mode| Some([fit(mode.extent)?, fit(mode.strides[0])?, fit(mode.strides[1])?]));
    let depth = rows.collect::<Option<Vec<[i32; 3]>>>()?.concat();
    let (m, n) = (side(&plan.m, &normal.m, 0, run(of_x))?, side(&plan.n, &normal.n, 1, run(true))?);
    Some(Numbers { m, n, k, digits, outer, depth })
}

/// The axes of a kind that a side is not of.
fn others<'a>(cut: &'a Cut, class: &'a [Mode]) -> impl Iterator<Item = &'a Mode> {
    let is_of = |i: usize| Some(i) == cut.outer || Some(i) == cut.inner;
    class.iter().enumerate().filter(move |(i, _)| !is_of(*i)).map(|(_, mode)| mode)
}

fn fit(number: usize) -> Option<i32> {
    i32::try_from(number).ok()
}

fn extent(axis: Option<usize>, class: &[Mode]) -> usize {
    axis.map_or(1, |axis| class[axis].extent)
}

fn stride(axis: Option<usize>, class: &[Mode], operand: usize) -> usize {
    axis.map_or(0, |axis| class[axis].strides[operand])
}

/// log₂ of the runs of a tile along the inner axis.
fn shift(cut: &Cut, run: usize) -> i32 {
    (cut.tile[1] / run).trailing_zeros() as i32
}
