//! Functions that call each other more than 64 deep.
use triton::prelude::*;

macro_rules! chain {
    ($last:ident) => {
        #[triton::function]
        fn $last(x: Tile<f32>) -> Tile<f32> {
            x
        }
    };
    ($first:ident $next:ident $($rest:ident)*) => {
        #[triton::function]
        fn $first(x: Tile<f32>) -> Tile<f32> {
            $next(x)
        }
        chain! { $next $($rest)* }
    };
}

chain! {
    a0 a1 a2 a3 a4 a5 a6 a7 a8 a9 b0 b1 b2 b3 b4 b5 b6 b7 b8 b9 c0 c1 c2 c3 c4 c5 c6 c7 c8 c9 d0 d1 d2 d3 d4 d5 d6 d7 d8 d9
    e0 e1 e2 e3 e4 e5 e6 e7 e8 e9 f0 f1 f2 f3 f4 f5 f6 f7 f8 f9 g0 g1 g2 g3 g4 g5
}

#[triton::kernel]
fn fine(x: PtrMut<f32>) {
    let i = arange(0, 64);
    store(x + i, a2(load(x + i, true)), true);
}

#[triton::kernel]
fn kernel(x: PtrMut<f32>) {
    let i = arange(0, 64);
    store(x + i, a0(load(x + i, true)), true);
}

fn main() {}
