//! Every tile of every type, by expressions that each kind of instance is for.

use super::{Options, Order, one};
use crate::harness::{Case, Failure, Scalar, type_name};
use triton::{Device, bf16, f16};
use triton_kernels::FloatElement;
use triton_kernels::contract::contract;
use triton_kernels::contract::tiles::Instance;
use triton_kernels::contract::{Computed, Modes, ModesMut, instances};

/// Expressions whose operands have their axes of stride 1 in each order, or in none that instances are for.
const ORDERS: [(&str, [&str; 2]); 4] =
    [("NN", ["icaq", "qbjk"]), ("NT", ["icaq", "bjkq"]), ("TN", ["qica", "qbjk"]), ("any", ["qiac", "qbkj"])];

/// The output of an order: its last axis is a column, or an axis that is not last in an operand.
fn output(order: &str) -> &'static str {
    match order {
        "NT" => "acbijk",
        "TN" => "icbajk",
        _ => "abcijk",
    }
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    of_type::<f32>(&mut cases);
    of_type::<bf16>(&mut cases);
    of_type::<f16>(&mut cases);
    cases
}

fn of_type<T: FloatElement + Scalar>(cases: &mut Vec<Case>) {
    let mut tiles: Vec<[usize; 3]> = Vec::new();
    // The CPU runs every instance.
    let all = Device::cpu().stream().map_err(Into::into).and_then(|stream| instances::<T>(&stream));
    for instance in all.unwrap_or_default() {
        if !tiles.contains(&instance.tile) {
            tiles.push(instance.tile);
        }
    }
    // Whole vectors, whole tiles, and neither.
    let sizes: [[usize; 7]; 4] =
        [[2, 3, 4, 16, 3, 2, 16], [4, 2, 8, 32, 2, 4, 16], [3, 5, 2, 7, 2, 3, 5], [2, 2, 17, 33, 1, 3, 31]];
    for tile in tiles {
        for (order, [x, y]) in ORDERS {
            for (i, size) in sizes.into_iter().enumerate() {
                let text = format!("{x},{y}->{}", output(order));
                let extents: Vec<(char, usize)> = "icaqbjk".chars().zip(size).collect();
                let beta = f64::from(i as u32 % 2);
                let title = format!("contract {} tile {tile:?} {order} {size:?}", type_name::<T>());
                let options = Options { tile: Some(tile), beta, orders: [Order::Rows; 3], ..Options::PLAIN };
                cases.push(Case::new(title, move |stream, random| one::<T>(stream, random, &text, &extents, &options)));
            }
        }
    }
    cases.push(Case::new(format!("contract {} has an expression for each instance", type_name::<T>()), |stream, _| {
        let mut left: Vec<Instance> = instances::<T>(stream)?;
        let buffer = stream.zeros::<T>(1 << 20)?;
        let mut out = stream.zeros::<T>(1 << 20)?;
        for (order, [x, y]) in ORDERS {
            // Every axis that may be the last one as long as vectors, none of them, and all but the one that is summed over.
            for [extent, depth] in [[16, 16], [19, 19], [16, 19]] {
                let of = |letter: char| match letter {
                    'q' => depth,
                    'k' | 'a' | 'c' => extent,
                    _ => 2,
                };
                let shape = |letters: &str| letters.chars().map(of).collect::<Vec<usize>>();
                let (of_x, of_y) = (shape(x), shape(y));
                let of_z = shape(output(order));
                for tile in left.iter().map(|instance| instance.tile).collect::<Vec<_>>() {
                    let x_modes = Modes::new(&buffer, &of_x, None);
                    let y_modes = Modes::new(&buffer, &of_y, None);
                    let z_modes = ModesMut::new(&mut out, &of_z, None);
                    let text = format!("{x},{y}->{}", output(order));
                    if let Ok(Computed::Tile(plan)) = contract(&text, x_modes, y_modes, z_modes).tile(tile).plan(stream)
                    {
                        left.retain(|instance| *instance != plan.instance);
                    }
                }
            }
        }
        match left.is_empty() {
            true => Ok(()),
            false => Err(Failure(format!("no expression selects {left:?}"))),
        }
    }));
}
