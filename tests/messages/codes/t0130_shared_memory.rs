//! Exchanges that need more shared memory than a block has: it comes with a build alone, since checks make no code.
use triton::prelude::*;

#[triton::kernel(num_warps = 16)]
fn four_copies(counts: PtrMut<f64>, out: PtrMut<f64>) {
    let before = atomic_add(counts + arange(0, 32768), 1.0, true);
    //~ `atomic_add(counts + arange(0, 32768), 1.0, true)`: the kernel needs 262144 bytes of shared memory; a block has at most 166912 on sm_80 [T0130]
    //~   note: this operation alone passes 262144 bytes between threads
    //~   help: take smaller tiles, or fewer warps by `num_warps = ..`
    let copies = arange(0, 131072).reshape([32768, 4]);
    store(out + copies, before.expand_dims(1), true);
}

#[triton::function]
fn counted(counts: PtrMut<f64>) -> Tile<f64> {
    atomic_add(counts + arange(0, 32768), 1.0, true)
    //~ `atomic_add(counts + arange(0, 32768), 1.0, true)`: the kernel needs 262144 bytes of shared memory; a block has at most 166912 on sm_80 [T0130]
    //~   note: in `counted`, called at t0130_shared_memory.rs:26:25
    //~   note: this operation alone passes 262144 bytes between threads
    //~   help: take smaller tiles, or fewer warps by `num_warps = ..`
}

#[triton::kernel(num_warps = 16)]
fn in_a_function(counts: PtrMut<f64>, out: PtrMut<f64>) {
    let copies = arange(0, 131072).reshape([32768, 4]);
    store(out + copies, counted(counts).expand_dims(1), true);
}

#[triton::kernel(configs = [(N = 1024), (N = 32768)], num_warps = 16)]
fn one_config<const N: i32>(counts: PtrMut<f64>, out: PtrMut<f64>) {
    let before = atomic_add(counts + arange(0, N), 1.0, true);
    //~ `atomic_add(counts + arange(0, N), 1.0, true)`: the kernel needs 262144 bytes of shared memory; a block has at most 166912 on sm_80 [T0130]
    //~   note: this operation alone passes 262144 bytes between threads
    //~   note: in the instance `one_config::<32768>`
    //~   help: take smaller tiles, or fewer warps by `num_warps = ..`
    let copies = arange(0, 4 * N).reshape([N, 4]);
    store(out + copies, before.expand_dims(1), true);
}
