//! Exchanges that need more shared memory than a block has: it comes with a build alone, since checks make no code.
use triton::prelude::*;

#[triton::kernel(num_warps = 16)]
fn product(x: Ptr<f32>, counts: PtrMut<f32>, out: PtrMut<f32>) {
    let tile = arange(0, 65536).reshape([256, 256]);
    let before = atomic_add(counts + tile, 1.0, true);
    //~ `atomic_add(counts + tile, 1.0, true)`: the kernel needs 262144 bytes of shared memory; a block has at most 166912 on sm_80 [T0130]
    //~   note: this operation alone passes 262144 bytes between threads
    //~   help: take smaller tiles, or fewer warps by `num_warps = ..`
    let rows = arange(0, 4096).reshape([16, 256]);
    store(out + rows, dot(load(x + rows, true), before, zeros::<f32>([16, 256])), true);
}

#[triton::kernel(configs = [(N = 64), (N = 256)], num_warps = 16)]
fn one_config<const N: i32>(x: Ptr<f32>, counts: PtrMut<f32>, out: PtrMut<f32>) {
    let tile = arange(0, N * N).reshape([N, N]);
    let before = atomic_add(counts + tile, 1.0, true);
    //~ `atomic_add(counts + tile, 1.0, true)`: the kernel needs 262144 bytes of shared memory; a block has at most 166912 on sm_80 [T0130]
    //~   note: this operation alone passes 262144 bytes between threads
    //~   note: in the instance `one_config::<256>`
    //~   help: take smaller tiles, or fewer warps by `num_warps = ..`
    let rows = arange(0, 16 * N).reshape([16, N]);
    store(out + rows, dot(load(x + rows, true), before, zeros::<f32>([16, N])), true);
}
