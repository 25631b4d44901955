//! Elementwise kernels as users write them: Triton's tutorials 01 (addition), 04 (dropout) and 07 (arcsine), each by pointers and by views.

use triton::prelude::*;
use triton_kernels::functions::rand;

/// Tutorial 01: out = x + y, by pointers.
#[triton::kernel(BLOCK = [1024], tune = [BLOCK])]
pub fn add_pointers<const BLOCK: i32>(x: Ptr<f32>, y: Ptr<f32>, out: PtrMut<f32>, n: i32) {
    let pid = program_id(0);
    let block_start = pid * BLOCK;
    let offsets = block_start + arange(0, BLOCK);
    let mask = offsets < n;
    let x = load(x + offsets, mask);
    let y = load(y + offsets, mask);
    let output = x + y;
    store(out + offsets, output, mask);
}

/// Tutorial 01: out = x + y, by views.
#[triton::kernel(BLOCK = [1024], tune = [BLOCK])]
pub fn add_views<const BLOCK: i32>(x: Tensor<f32, 1>, y: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let at = [program_id(0) * BLOCK];
    out.store(at, x.load(at, [BLOCK]) + y.load(at, [BLOCK]));
}

/// Tutorial 04: each element of x is 0 with the probability `p`, or divided by 1 − p; by pointers. What is kept follows from the seed alone.
#[triton::kernel(BLOCK = [1024], tune = [BLOCK])]
pub fn dropout_pointers<const BLOCK: i32>(x: Ptr<f32>, out: PtrMut<f32>, n: i32, p: f32, seed: u64) {
    let pid = program_id(0);
    let block_start = pid * BLOCK;
    let offsets = block_start + arange(0, BLOCK);
    let mask = offsets < n;
    let x = load(x + offsets, mask);
    let random = rand(seed, offsets.to::<u64>());
    let x_keep = random > p;
    let output = select(x_keep, x / (1.0 - p), 0.0);
    store(out + offsets, output, mask);
}

/// Tutorial 04 by views.
#[triton::kernel(BLOCK = [1024], tune = [BLOCK])]
pub fn dropout_views<const BLOCK: i32>(x: Tensor<f32, 1>, out: TensorMut<f32, 1>, p: f32, seed: u64) {
    let at = program_id(0) * BLOCK;
    let keep = rand(seed, (at + arange(0, BLOCK)).to::<u64>()) > p;
    out.store([at], select(keep, x.load([at], [BLOCK]) / (1.0 - p), 0.0));
}

/// The arcsine of numbers from −1 to 1 by a polynomial of degree 4 in x² on [0, ½], and of √((1 − x) / 2) above: the coefficients of `asinf` of
/// Moshier's Cephes library.
#[triton::function]
fn arcsine(x: Tile<f32>) -> Tile<f32> {
    let a = abs(x);
    let is_large = a > 0.5;
    let z = select(is_large, 0.5 * (1.0 - a), a * a);
    let root = select(is_large, sqrt(z), a);
    let p = (((0.042_163_2 * z + 0.024_181_312) * z + 0.045_470_026) * z + 0.074_953) * z + 0.166_667_52;
    let near = p * z * root + root;
    let y = select(is_large, std::f32::consts::FRAC_PI_2 - 2.0 * near, near);
    select(x < 0.0, -y, y)
}

/// Tutorial 07: out = arcsine(x), by pointers.
#[triton::kernel(BLOCK = [1024], tune = [BLOCK])]
pub fn asin_pointers<const BLOCK: i32>(x: Ptr<f32>, out: PtrMut<f32>, n: i32) {
    let pid = program_id(0);
    let block_start = pid * BLOCK;
    let offsets = block_start + arange(0, BLOCK);
    let mask = offsets < n;
    let x = load(x + offsets, mask);
    let x = arcsine(x);
    store(out + offsets, x, mask);
}

/// Tutorial 07 by views.
#[triton::kernel(BLOCK = [1024], tune = [BLOCK])]
pub fn asin_views<const BLOCK: i32>(x: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let at = [program_id(0) * BLOCK];
    out.store(at, arcsine(x.load(at, [BLOCK])));
}
