//! What is refused, and in which words; and what is told of a contraction.

use crate::harness::{Case, Failure, Outcome, refused};
use triton::{Buffer, Stream};
use triton_kernels::contract::contract;
use triton_kernels::contract::{Modes, ModesMut};

/// A case over two buffers of 64 elements.
fn case(name: &str, run: impl Fn(&Stream, &Buffer<f32>, &mut Buffer<f32>) -> Outcome + Send + Sync + 'static) -> Case {
    Case::new(format!("contract refuses {name}"), move |stream, _| {
        let (x, mut z) = (stream.zeros(64)?, stream.zeros(64)?);
        run(stream, &x, &mut z)
    })
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = vec![
        case("another extent", |stream, x, z| {
            let launch = contract("ik,kj->ij", x.view([4, 16])?, x.view([8, 8])?, z.view_mut([4, 8])?);
            refused(launch.launch(stream), &["`contract`", "`k` is 8 along axis 0 of `y`", "16 along axis 1 of `x`"])
        }),
        case("another extent of the output", |stream, x, z| {
            let launch = contract("ik,kj->ij", x.view([4, 8])?, x.view([8, 8])?, z.view_mut([4, 7])?);
            refused(launch.launch(stream), &["`j` is 7 along axis 1 of `z`", "8 along axis 1 of `y`"])
        }),
        case("a diagonal that is none", |stream, x, z| {
            let launch = contract("ii,->i", x.view([4, 8])?, Modes::new(x, &[], None), z.view_mut([4])?);
            refused(launch.launch(stream), &["`i` is 8 along axis 1 of `x`", "4 along axis 0 of `x`"])
        }),
        case("another rank", |stream, x, z| {
            let launch = contract("ik,kj->ij", x.view([4, 8])?, x.view([8])?, z.view_mut([4, 8])?);
            refused(launch.launch(stream), &["`y` has 1 axes, but `kj` names 2", "name each axis by a letter"])
        }),
        case("another rank of the output", |stream, x, z| {
            let launch = contract("ik,kj->ij", x.view([4, 8])?, x.view([8, 8])?, z.view_mut([4, 8, 1])?);
            refused(launch.launch(stream), &["`z` has 3 axes, but `ij` names 2"])
        }),
        case("a tile", |stream, x, z| {
            let launch = contract("ik,kj->ij", x.view([4, 8])?, x.view([8, 8])?, z.view_mut([4, 8])?);
            refused(launch.tile([3, 3, 3]).launch(stream), &["no instance `3x3x3`", "64x64x16"])
        }),
        case("negative strides", |stream, x, z| {
            let launch = contract("i,i->", Modes::new(x, &[4], Some(&[-1])), x.view([4])?, ModesMut::new(z, &[], None));
            refused(launch.launch(stream), &["`strides` is [-1]", "0 or more", "in elements"])
        }),
        case("too few strides", |stream, x, z| {
            let of_x = Modes::new(x, &[4, 2], Some(&[1]));
            let launch = contract("ij,i->", of_x, x.view([4])?, ModesMut::new(z, &[], None));
            refused(launch.launch(stream), &["`strides` is of 1 axes where the shape has 2"])
        }),
        case("outputs that alias", |stream, x, z| {
            let of_z = ModesMut::new(z, &[4, 4], Some(&[1, 1]));
            let launch = contract("i,j->ij", x.view([4])?, x.view([4])?, of_z);
            refused(launch.launch(stream), &["`strides` is [1, 1] for [4, 4]", "may alias", "larger than"])
        }),
        case("a short buffer", |stream, x, z| {
            let launch = contract("i,i->", Modes::new(x, &[65], None), x.view([64])?, ModesMut::new(z, &[], None));
            refused(launch.launch(stream), &["65", "64"])
        }),
        case("a span", |stream, x, z| {
            let of_x = Modes::new(x, &[2, 2], Some(&[1 << 31, 1]));
            let launch = contract("ij,i->", of_x, x.view([2])?, ModesMut::new(z, &[], None));
            refused(launch.launch(stream), &["strides [2147483648, 1]", "spans less than", "contract parts"])
        }),
        Case::new("contract tells what it computes", |stream, _| {
            let (x, mut z) = (stream.zeros::<f32>(4096)?, stream.zeros::<f32>(4096)?);
            let of_z = z.view_mut([2, 4, 4, 2, 8])?;
            let launch = contract("icaq,qbj->acibj", x.view([4, 4, 2, 8])?, x.view([8, 2, 8])?, of_z);
            let tiles = launch.tiles(stream)?;
            let found = launch.selected(stream)?;
            match found.starts_with("batch [], m [a 2, c 4, i 4], n [bj 16], k [q 8] by 64x64x16 NN by 4 of") {
                true if tiles.contains(&[64, 64, 16]) => Ok(()),
                _ => Err(Failure(format!("{found}, of {tiles:?}"))),
            }
        }),
    ];
    for (text, expected) in [
        ("ik,kj", "there is no arrow"),
        ("ik,kj->ij->", "two arrows"),
        ("ik->i", "the number of operands is 1, but 2 is expected"),
        ("i1,kj->ij", "there is `1`"),
        ("ik,kj->ii", "the output has `i` twice"),
        ("ik,kj->iz", "the output has `z`, which no operand has"),
    ] {
        cases.push(case(&format!("the notation {text}"), move |stream, x, z| {
            let launch = contract(text, x.view([4, 8])?, x.view([8, 8])?, z.view_mut([4, 8])?);
            refused(launch.launch(stream), &["`contract`", &format!("in `{text}`"), expected])
        }));
    }
    cases
}
