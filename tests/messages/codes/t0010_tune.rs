//! `tune` names constants and integer parameters, and each has values.
use triton::prelude::*;

#[triton::kernel(BLOCK = [256, 1024], tune = [BLOK])]
//~ `BLOK`: `misspelt` has neither a generic constant nor a scalar parameter `BLOK` [T0010]
//~   help: did you mean `BLOCK`?
fn misspelt<const BLOCK: i32>(x: PtrMut<f32>) {
    store(x + arange(0, BLOCK), 1.0, true);
}

#[triton::kernel(BLOCK = [256, 1024], tune = [BLOCK, splits])]
//~ `splits`: `splits` has no values among which it could be chosen [T0009]
//~   help: write them beside `tune`: `splits = [1, 2, 4]`
fn without_values<const BLOCK: i32>(x: PtrMut<f32>, splits: i32) {
    store(x + arange(0, BLOCK), 1.0, true);
}

#[triton::kernel(tune = [BLOCK, splits], splits = [1, 2], configs = [(BLOCK = 256, splits = 2)])]
//~ `splits` in column 84: `splits` is neither a generic parameter nor an option of a configuration [T0007]
//~   note: known are `BLOCK`, `num_warps`, `num_stages`, `max_registers`, `cluster_k`, `targets`, `general`
//~   help: list its values beside `tune`: `splits = [1, 2, 4]`
fn in_a_configuration<const BLOCK: i32>(x: PtrMut<f32>, splits: i32) {
    store(x + arange(0, BLOCK), 1.0, true);
}

#[triton::kernel(BLOCK = [256, 1024], tune = [BLOCK, splits], splits = [])]
//~ `splits`: the list of `splits` is empty [T0009]
//~   help: write values between the brackets, as in `splits = [256, 1024]`
fn no_values<const BLOCK: i32>(x: PtrMut<f32>, splits: i32) {
    store(x + arange(0, BLOCK), 1.0, true);
}

#[triton::kernel(BLOCK = [256, 1024], tune = [BLOCK, splits], splits = [1, 2, 1, 2.5])]
//~ `1` in column 79: `1` is listed twice for `splits` [T0011]
//~   help: leave it out
//~ `2.5`: `2.5` is not a value of `splits`, which takes an integer literal of `i32` [T0011]
//~   help: write literals, as in `splits = [256, 1024]`
fn wrong_values<const BLOCK: i32>(x: PtrMut<f32>, splits: i32) {
    store(x + arange(0, BLOCK), 1.0, true);
}

#[triton::kernel(BLOCK = [256, 1024], splits = [1, 2])]
//~ `splits`: `not_named` has no generic parameter `splits` [T0010]
//~   help: to choose a parameter at the launch, name it: `tune = [splits]`
fn not_named<const BLOCK: i32>(x: PtrMut<f32>, splits: i32) {
    store(x + arange(0, BLOCK), 1.0, true);
}

#[triton::kernel(T = [f32], BLOCK = [256], tune = [T, BLOCK])]
//~ `T` in column 52: `T` is an element type, which the arguments decide [T0008]
//~   help: leave it out: `a_type_tuned::<T>` is called for one
fn a_type<T: Num, const BLOCK: i32>(x: PtrMut<T>) {
    store(x + arange(0, BLOCK), full([BLOCK], 0).to::<T>(), true);
}

#[triton::kernel(BLOCK = [256], tune = [x, scale], scale = [1, 2])]
//~ `x`: `x` cannot be chosen: it is not an integer [T0008]
//~   help: `tune` names generic constants and integer parameters
//~ `scale`: `scale` cannot be chosen: it is not an integer [T0008]
//~   help: `tune` names generic constants and integer parameters
fn no_integers<const BLOCK: i32>(x: PtrMut<f32>, scale: f32) {
    store(x + arange(0, BLOCK), scale, true);
}

#[triton::kernel(BLOCK = [256], tune = BLOCK)]
//~ `BLOCK` in column 40: `tune` is a list of names, not `BLOCK` [T0008]
//~   help: write the names of generic constants and integer parameters: `tune = [BM, BN, splits]`
fn no_list<const BLOCK: i32>(x: PtrMut<f32>) {
    store(x + arange(0, BLOCK), 1.0, true);
}

#[triton::kernel(BLOCK = [256], tune = [])]
//~ `[]`: `tune` is empty: nothing would be chosen [T0008]
//~   help: write the names of generic constants and integer parameters: `tune = [BM, BN, splits]`
fn nothing<const BLOCK: i32>(x: PtrMut<f32>) {
    store(x + arange(0, BLOCK), 1.0, true);
}

#[triton::kernel(BLOCK = [256], tune = [BLOCK, BLOCK, 3])]
//~ `BLOCK` in column 48: `BLOCK` is given twice [T0007]
//~ `3`: `3` is not a name [T0008]
//~   help: write the names of generic constants and integer parameters: `tune = [BM, BN, splits]`
fn twice<const BLOCK: i32>(x: PtrMut<f32>) {
    store(x + arange(0, BLOCK), 1.0, true);
}

#[triton::kernel(configs = [(BLOCK = 256, general = true), (BLOCK = 512)])]
//~ `general`: `general` without `tune`: there is no pool that it could be of [T0007]
//~   help: leave it out: every instance has code for any arguments
fn no_pool<const BLOCK: i32>(x: PtrMut<f32>) {
    store(x + arange(0, BLOCK), 1.0, true);
}

#[triton::kernel(configs = [(BLOCK = 256, general = true), (BLOCK = 512, general = true)], tune = [BLOCK])]
//~ `general` in column 74: a second configuration is `general` [T0007]
//~   help: leave it out: one is enough for arguments that the others have no code for
fn two_general<const BLOCK: i32>(x: PtrMut<f32>) {
    store(x + arange(0, BLOCK), 1.0, true);
}

#[triton::kernel(configs = [(BLOCK = 256, general = 1)], tune = [BLOCK])]
//~ `1`: `general` is `true` or `false`, not `1` [T0008]
fn no_flag<const BLOCK: i32>(x: PtrMut<f32>) {
    store(x + arange(0, BLOCK), 1.0, true);
}
