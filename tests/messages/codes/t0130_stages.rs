//! Two stages that a loop asks for, and that do not fit. Where the kernel asks for them, it goes without.
use triton::prelude::*;

#[triton::kernel(num_warps = 8)]
fn asked(a: Tensor<f16, 2>, b: Tensor<f16, 2>, c: TensorMut<f32, 2>) {
    let mut acc = zeros::<f32>([128, 128]);
    #[stages(2)]
    for k in (0..a.dim(1)).step_by(256) {
        acc = dot(a.load([0, k], [128, 256]), b.load([k, 0], [256, 128]), acc);
        //~ `load`: the kernel needs 262144 bytes of shared memory; a block has at most 166912 on sm_80 [T0130]
        //~   note: this operation alone passes 131072 bytes between threads
        //~   help: take smaller tiles, or load nothing ahead by `#[stages(1)]`
    }
    c.store([0, 0], acc);
}

#[triton::kernel(num_warps = 8, num_stages = 2)]
fn allowed(a: Tensor<f16, 2>, b: Tensor<f16, 2>, c: TensorMut<f32, 2>) {
    let mut acc = zeros::<f32>([128, 128]);
    for k in (0..a.dim(1)).step_by(256) {
        acc = dot(a.load([0, k], [128, 256]), b.load([k, 0], [256, 128]), acc);
    }
    c.store([0, 0], acc);
}

fn main() {}
