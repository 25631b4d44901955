//! Options that do not exist, or are given twice.
use triton::prelude::*;

#[triton::kernel(num_wraps = 8)]
//~ `num_wraps`: `#[triton::kernel]` has no option `num_wraps` [T0007]
//~   note: the options are `configs`, `tune`, `num_warps`, `num_stages`, `max_registers`, `cluster_k`, `targets`, `assertions`, `deterministic`, `fast_math`, `warnings`, `crate`, and `NAME = [..]` for each generic parameter
//~   help: did you mean `num_warps`?
fn misspelt(x: PtrMut<f32>, n: i32) {
    store(x, 1.0, true);
}

#[triton::kernel(speed = 9)]
//~ `speed`: `#[triton::kernel]` has no option `speed` [T0007]
//~   note: the options are `configs`, `tune`, `num_warps`, `num_stages`, `max_registers`, `cluster_k`, `targets`, `assertions`, `deterministic`, `fast_math`, `warnings`, `crate`, and `NAME = [..]` for each generic parameter
//~   help: if `speed` is a generic parameter, write its values in brackets
fn unknown(x: PtrMut<f32>, n: i32) {
    store(x, 1.0, true);
}

#[triton::kernel(num_warps = 8, num_warps = 4)]
//~ `num_warps` in column 33: `num_warps` is given twice [T0007]
fn twice(x: PtrMut<f32>, n: i32) {
    store(x, 1.0, true);
}

#[triton::kernel(configs = [(B = 1, num_warp = 4), (B = 2, B = 3)])]
//~ `num_warp`: `num_warp` is neither a generic parameter nor an option of a configuration [T0007]
//~   note: known are `B`, `num_warps`, `num_stages`, `max_registers`, `cluster_k`, `targets`, `general`
//~   help: did you mean `num_warps`?
//~ `B` in column 60: `B` is given twice in one configuration [T0007]
fn in_configs<const B: i32>(x: PtrMut<i32>) {
    store(x, B, true);
}

#[triton::kernel(B = [1, 2], configs = [(B = 1, num_warps = 4)])]
//~ `B` in column 42: `B` is given twice: it has a list of its own [T0007]
fn list_and_configs<const B: i32>(x: PtrMut<i32>) {
    store(x, B, true);
}

fn main() {}
