//! Crates that forbid `unsafe` have kernels: what the attributes generate is not the user's.
#![forbid(unsafe_code)]
#![deny(warnings, unsafe_op_in_unsafe_fn)]

use triton::prelude::*;

#[triton::constant]
const HALF: f32 = 0.5;
/// Only rustc knows its value.
const OFFSET: f32 = 1.0 + 1.0;

#[triton::params]
#[derive(Clone, Copy)]
struct Line {
    slope: f32,
    shift: f32,
}

#[triton::function]
fn halved(x: Tile<f32>) -> Tile<f32> {
    x * HALF
}

#[triton::kernel]
fn bend(x: Tensor<f32, 1>, out: TensorMut<f32, 1>, line: Line) {
    let i = program_id(0) * 16;
    out.store([i], halved(x.load([i], [16])) * line.slope + line.shift + OFFSET);
}

#[triton::kernel(T = [f32, i32])]
fn copied<T: Num>(x: Tensor<T, 1>, out: TensorMut<T, 1>) {
    let i = program_id(0) * 16;
    out.store([i], x.load([i], [16]));
}

macro_rules! made {
    ($name:ident) => {
        #[triton::kernel]
        fn $name(out: TensorMut<i32, 1>) {
            out.store([0], full::<i32>([16], 3));
        }
    };
}
made!(three);

/// It may be launched by a crate that allows `unsafe`.
#[triton::kernel]
pub fn raw(out: PtrMut<i32>) {
    store(out, 1, true);
}

pub(crate) fn main() -> triton::Result<()> {
    let stream = Device::cpu().stream()?;
    let x = stream.upload(&[2.0f32; 16])?;
    let mut out = stream.zeros::<f32>(16)?;
    bend(x.view([16])?, out.view_mut([16])?, Line { slope: 3.0, shift: 4.0 }).launch(&stream, 1)?;
    assert_eq!(stream.download(&out)?, [9.0; 16]);
    copied::<f32>(x.view([16])?, out.view_mut([16])?).launch(&stream, 1)?;
    assert_eq!(stream.download(&out)?, [2.0; 16]);
    let mut threes = stream.zeros::<i32>(16)?;
    three(threes.view_mut([16])?).launch(&stream, 1)?;
    assert_eq!(stream.download(&threes)?, [3; 16]);
    let _ = raw(&mut threes);
    Ok(())
}
