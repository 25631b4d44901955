//! Options and signatures. Each marked line is one mistake.
use triton::prelude::*;

#[triton::kernel(num_stages = 3)] //~ num_stages
fn stages(x: PtrMut<f32>) {}

#[triton::kernel(num_warps = 3)] //~ 3
fn warps(x: PtrMut<f32>) {}

#[triton::kernel(num_warp = 4)] //~ num_warp
fn warp(x: PtrMut<f32>) {}

#[triton::kernel(BLOCK = 64)] //~ BLOCK
fn block<const BLOCK: i32>(x: PtrMut<f32>) {}

#[triton::kernel(T = f32)] //~ T
fn ty<T: Num>(x: PtrMut<T>) {}

#[triton::kernel(T = [float32])] //~ float32
fn float<T: Num>(x: PtrMut<T>) {}

#[triton::kernel(T = [f32, f32])] //~ f32
fn twice<T: Num>(x: PtrMut<T>) {}

#[triton::kernel(T = [])] //~ T
fn none<T: Num>(x: PtrMut<T>) {}

#[triton::kernel(BLOCK = [64.0])] //~ 64.0
fn real<const BLOCK: i32>(x: PtrMut<f32>) {}

#[triton::kernel]
fn unlisted<const BLOCK: i32>(x: PtrMut<f32>) {} //~ BLOCK

#[triton::kernel(BLOCK = [64])]
fn size<const BLOCK: usize>(x: PtrMut<f32>) {} //~ usize

#[triton::kernel]
fn slice(x: &[f32]) {} //~ &[f32]

#[triton::kernel]
fn mutable(x: &mut [f32]) {} //~ &mut [f32]

#[triton::kernel]
fn raw(x: *mut f32) {} //~ *mut f32

#[triton::kernel]
fn vector(x: Vec<f32>) {} //~ Vec<f32>

#[triton::kernel]
fn length(x: PtrMut<f32>, n: usize) {} //~ usize

#[triton::kernel]
fn returns(x: Ptr<f32>) -> f32 { //~ -> f32
    load(x, true)
}

#[triton::kernel]
async fn asynchronous(x: PtrMut<f32>) {} //~ async

#[triton::kernel]
unsafe fn not_safe(x: PtrMut<f32>) {} //~ unsafe

#[triton::kernel]
fn lifetime<'a>(x: PtrMut<f32>) {} //~ 'a

#[triton::kernel]
fn rank(x: Tensor<f32, 6>) {} //~ 6

#[triton::kernel]
fn no_rank(x: Tensor<f32>) {} //~ Tensor<f32>

#[triton::kernel]
fn attribute(#[multiple_of(0)] n: i32) {} //~ #[multiple_of(0)]

#[triton::kernel]
fn constexpr(#[constexpr] n: i32) {} //~ #[constexpr]

#[triton::kernel]
fn pattern((a, b): (i32, i32)) {} //~ (a, b)

#[triton::kernel]
struct Kernel; //~ struct Kernel;

fn main() {}
