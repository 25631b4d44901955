//! Tiles that do not fit the registers of the threads that hold them: it comes with a build alone, since checks make no code.
use triton::prelude::*;

#[triton::kernel(N = [64, 256], num_warps = 4)]
fn softmax<const N: i32>(x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let v = x.load([0, 0], [N, N]);
    let e = exp(v - max_axis(v, 1).expand_dims(1));
    out.store([0, 0], e / sum_axis(e, 1).expand_dims(1));
    //~ `/`: warning: the tiles that are live here need 576 registers of a thread, which has at most 255 with `num_warps = 4`: some are spilled to local memory [W0005]
    //~   note: in the instance `softmax::<256>`
    //~   help: take smaller tiles, or more warps
}

#[triton::kernel(configs = [(num_warps = 4), (num_warps = 8)])]
fn one_config(x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let v = x.load([0, 0], [128, 256]);
    out.store([0, 0], v / sum_axis(v, 1).expand_dims(1));
    //~ `/`: warning: the tiles that are live here need 288 registers of a thread, which has at most 255 with `num_warps = 4`: some are spilled to local memory [W0005]
    //~   help: take smaller tiles, or more warps
}

#[triton::kernel(configs = [(max_registers = 64), (max_registers = 160)], num_warps = 4)]
fn bounded(x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let v = x.load([0, 0], [64, 256]);
    out.store([0, 0], v / sum_axis(v, 1).expand_dims(1));
    //~ `store`: warning: the tiles that are live here need 128 registers of a thread, which has at most 64 with `max_registers = 64`: some are spilled to local memory [W0005]
    //~   help: take smaller tiles, or a higher `max_registers`
}

#[triton::kernel(num_warps = 16)]
fn no_more_warps(x: Tensor<f32, 2>, y: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let acc = x.load([0, 0], [256, 256]) * 2.0;
    out.store([0, 0], acc);
    out.store([0, 0], acc + y.load([0, 0], [256, 256]));
    //~ `+`: warning: the tiles that are live here need 132 registers of a thread, which has at most 128 with `num_warps = 16`: some are spilled to local memory [W0005]
    //~   help: take smaller tiles
}

/// Each element is summed as it is loaded, and exchanged as it is loaded.
#[triton::kernel(num_warps = 4)]
fn fits(x: Tensor<f32, 2>, out: TensorMut<f32, 2>, sums: TensorMut<f32, 1>) {
    sums.store([0], sum_axis(x.load([0, 0], [256, 256]), 1));
    out.store([0, 0], x.load([0, 0], [64, 256]).transpose());
}

#[triton::kernel(warnings = false, num_warps = 4)]
fn silent(x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let v = x.load([0, 0], [256, 256]);
    out.store([0, 0], v - max_axis(v, 1).expand_dims(1));
}
