//! Cases of the family of contractions.

mod array;
mod errors;
mod expressions;
mod tiles;

use crate::harness::{Case, Family, Outcome, Random, Scalar, refused, same};
use crate::reference::contract::contraction;
use array::{Array, Order};
use triton::Stream;
use triton_kernels::FloatElement;
use triton_kernels::contract::contract;
use triton_kernels::contract::notation::parse;

/// Contractions.
pub const FAMILY: Family = Family::new("contract", cases);

fn cases() -> Vec<Case> {
    let mut cases = expressions::cases();
    cases.extend(tiles::cases());
    cases.extend(errors::cases());
    cases
}

/// What a case does beside the contraction.
#[derive(Clone, Copy, Debug)]
struct Options {
    alpha: f64,
    beta: f64,
    orders: [Order; 3],
    tile: Option<[usize; 3]>,
    deterministic: bool,
}

impl Options {
    /// Nothing.
    const PLAIN: Options =
        Options { alpha: 1.0, beta: 0.0, orders: [Order::Rows; 3], tile: None, deterministic: false };
}

/// Runs one contraction of whole numbers, whose letters have these extents, and compares: the result is exact, but for its rounding.
fn one<T: FloatElement + Scalar>(
    stream: &Stream,
    random: &mut Random,
    text: &str,
    extents: &[(char, usize)],
    options: &Options,
) -> Outcome {
    let notation = parse(text)?;
    let [x, y] = &notation.operands;
    let extent = |letter: &char| extents.iter().find(|(of, _)| of == letter).map_or(1, |(_, extent)| *extent);
    let shape = |letters: &[char]| letters.iter().map(extent).collect::<Vec<usize>>();
    let [of_x, of_y, of_z] = options.orders;
    let x: Array<T> = Array::whole(&shape(x), of_x, random);
    let y: Array<T> = Array::whole(&shape(y), of_y, random);
    let shape = shape(&notation.output);
    // Where the old z counts, it is made of numbers, else of poison. No two elements of an output are one.
    let of_z = if of_z == Order::Repeated { Order::Permuted } else { of_z };
    let z: Array<T> =
        if options.beta == 0.0 { Array::output(&shape, of_z, random) } else { Array::whole(&shape, of_z, random) };
    let (values, shapes) = ([x.values(), y.values(), z.values()], [&x.shape[..], &y.shape[..], &z.shape[..]]);
    let [of_x, of_y, of_z] = &values;
    let expected = contraction(&notation, shapes, [of_x, of_y, of_z], options.alpha, options.beta);
    let rounded: Vec<f64> = expected.into_iter().map(|v| T::of(v.value).value()).collect();

    let (on_x, on_y, mut on_z) = (x.upload(stream)?, y.upload(stream)?, z.upload(stream)?);
    let mut launch = contract(text, x.modes(&on_x)?, y.modes(&on_y)?, z.modes_mut(&mut on_z)?);
    launch = launch.alpha(options.alpha).beta(options.beta).deterministic(options.deterministic);
    let listed = launch.tiles(stream)?;
    if let Some(tile) = options.tile {
        launch = launch.tile(tile);
    }
    let tile = options.tile.filter(|tile| !listed.contains(tile));
    if let Some([m, n, k]) = tile {
        return refused(launch.launch(stream), &[&format!("no instance `{m}x{n}x{k}`")]);
    }
    let selected = launch.selected(stream)?;
    launch.launch(stream)?;
    same(&format!("z by {selected}"), &z.download(stream, &on_z)?, &rounded)
}
