//! Options and signatures. Each marked line is one mistake.
use triton::prelude::*;

#[triton::kernel(num_stages = 9)]
//~ `9`: `num_stages` is a number from 1 to 8, not `9` [T0008]
//~   help: write `num_stages = 3`, or leave it out; 1 loads nothing ahead
fn stages(x: PtrMut<f32>) {}

#[triton::kernel(max_registers = 256)]
//~ `256`: `max_registers` is a number from 24 to 255, not `256` [T0008]
//~   help: write `max_registers = 128`, or leave it out: then the compiler decides
fn registers(x: PtrMut<f32>) {}

#[triton::kernel(configs = [(max_registers = 64), (max_registers = "few")])]
//~ `"few"`: `max_registers` is a number from 24 to 255, not `"few"` [T0008]
//~   help: write `max_registers = 128`, or leave it out: then the compiler decides
fn few(x: PtrMut<f32>) {}

#[triton::kernel(cluster_k = 3)]
//~ `3`: `cluster_k` is 1, 2, 4 or 8, not `3` [T0008]
//~   help: write `cluster_k = 4`, or leave it out: then one block has all of K
fn cluster(x: PtrMut<f32>) {}

#[triton::kernel(configs = [(cluster_k = 2), (cluster_k = 16)])]
//~ `16`: `cluster_k` is 1, 2, 4 or 8, not `16` [T0008]
//~   help: write `cluster_k = 4`, or leave it out: then one block has all of K
fn clusters(x: PtrMut<f32>) {}

#[triton::kernel(num_warps = 3)]
//~ `3`: `num_warps` is 1, 2, 4, 8, 16 or 32, not `3` [T0008]
//~   help: write `num_warps = 4`, or leave it out
fn warps(x: PtrMut<f32>) {}

#[triton::kernel(num_warp = 4)]
//~ `num_warp`: `#[triton::kernel]` has no option `num_warp` [T0007]
//~   note: the options are `configs`, `tune`, `num_warps`, `num_stages`, `max_registers`, `cluster_k`, `targets`, `assertions`, `deterministic`, `fast_math`, `warnings`, `crate`, and `NAME = [..]` for each generic parameter
//~   help: did you mean `num_warps`?
fn warp(x: PtrMut<f32>) {}

#[triton::kernel(BLOCK = 64)]
//~ `BLOCK`: `#[triton::kernel]` has no option `BLOCK` [T0007]
//~   note: the options are `configs`, `tune`, `num_warps`, `num_stages`, `max_registers`, `cluster_k`, `targets`, `assertions`, `deterministic`, `fast_math`, `warnings`, `crate`, and `NAME = [..]` for each generic parameter
//~   help: if `BLOCK` is a generic parameter, write its values in brackets
fn block<const BLOCK: i32>(x: PtrMut<f32>) {}

#[triton::kernel(T = f32)]
//~ `T`: `#[triton::kernel]` has no option `T` [T0007]
//~   note: the options are `configs`, `tune`, `num_warps`, `num_stages`, `max_registers`, `cluster_k`, `targets`, `assertions`, `deterministic`, `fast_math`, `warnings`, `crate`, and `NAME = [..]` for each generic parameter
//~   help: if `T` is a generic parameter, write its values in brackets
fn ty<T: Num>(x: PtrMut<T>) {}

#[triton::kernel(T = [float32])]
//~ `float32`: `float32` is not an element type, as `T` must be [T0011]
//~   note: the element types are `bool`, `i8`, `i16`, `i32`, `i64`, `u8`, `u16`, `u32`, `u64`, `f16`, `bf16`, `f32`, `f64`
//~   help: write element types, as in `T = [f32, f16]`
fn float<T: Num>(x: PtrMut<T>) {}

#[triton::kernel(T = [f32, f32])]
//~ `f32` in column 28: `f32` is listed twice for `T` [T0011]
//~   help: leave it out
fn twice<T: Num>(x: PtrMut<T>) {}

#[triton::kernel(T = [])]
//~ `T`: the list of `T` is empty: the kernel would never be compiled [T0009]
//~   help: write values between the brackets, as in `T = [f32, f16]`
fn none<T: Num>(x: PtrMut<T>) {}

#[triton::kernel(BLOCK = [64.0])]
//~ `64.0`: `64.0` is not a value of `BLOCK`, which takes an integer literal of `i32` [T0011]
//~   help: write literals, as in `BLOCK = [256, 1024]`
fn real<const BLOCK: i32>(x: PtrMut<f32>) {}

#[triton::kernel]
fn unlisted<const BLOCK: i32>(x: PtrMut<f32>) {}
//~ `BLOCK`: `BLOCK` has no values: the kernel is compiled for a list of them [T0009]
//~   help: write `#[triton::kernel(BLOCK = [256, 1024])]`

#[triton::kernel(BLOCK = [64])]
fn size<const BLOCK: usize>(x: PtrMut<f32>) {}
//~ `usize`: a generic constant cannot be of type `usize` [T0014]
//~   help: use one of `i32`, `i64`, `u32`, `u64`, `bool`

#[triton::kernel]
fn slice(x: &[f32]) {}
//~ `&[f32]`: a kernel cannot take a parameter of type `&[f32]` [T0005]
//~   note: a parameter is a pointer (`Ptr<T>`, `PtrMut<T>`), a view (`Tensor<T, RANK>`, `TensorMut<T, RANK>`), a number or `bool`
//~   help: for memory of the device write `Ptr<T>` or `PtrMut<T>`, or a view, `Tensor<T, RANK>`

#[triton::kernel]
fn mutable(x: &mut [f32]) {}
//~ `&mut [f32]`: a kernel cannot take a parameter of type `&mut [f32]` [T0005]
//~   note: a parameter is a pointer (`Ptr<T>`, `PtrMut<T>`), a view (`Tensor<T, RANK>`, `TensorMut<T, RANK>`), a number or `bool`
//~   help: for memory of the device write `Ptr<T>` or `PtrMut<T>`, or a view, `Tensor<T, RANK>`

#[triton::kernel]
fn raw(x: *mut f32) {}
//~ `*mut f32`: a kernel cannot take a parameter of type `*mut f32` [T0005]
//~   note: a parameter is a pointer (`Ptr<T>`, `PtrMut<T>`), a view (`Tensor<T, RANK>`, `TensorMut<T, RANK>`), a number or `bool`
//~   help: for memory of the device write `Ptr<T>` or `PtrMut<T>`

#[triton::kernel]
fn vector(x: Vec<f32>) {}
//~ `Vec<f32>`: a kernel cannot take a parameter of type `Vec<f32>` [T0005]
//~   note: a parameter is a pointer (`Ptr<T>`, `PtrMut<T>`), a view (`Tensor<T, RANK>`, `TensorMut<T, RANK>`), a number or `bool`
//~   help: write `Ptr<T>` to read it, or `PtrMut<T>` to write it

#[triton::kernel]
fn length(x: PtrMut<f32>, n: usize) {}
//~ `usize`: a kernel cannot take a parameter of type `usize` [T0005]
//~   note: a parameter is a pointer (`Ptr<T>`, `PtrMut<T>`), a view (`Tensor<T, RANK>`, `TensorMut<T, RANK>`), a number or `bool`
//~   help: sizes are `i32` or `i64` in a kernel

#[triton::kernel]
fn returns(x: Ptr<f32>) -> f32 {
//~ `-> f32`: a kernel returns nothing [T0003]
//~   help: write results through a parameter: `PtrMut<T>` with `store(..)`, or `TensorMut<T, RANK>`
    load(x, true)
}

#[triton::kernel]
async fn asynchronous(x: PtrMut<f32>) {}
//~ `async`: a kernel cannot be `async`: launching one returns at once [T0003]
//~   help: a kernel is a plain function: `fn name(..) { .. }`

#[triton::kernel]
unsafe fn not_safe(x: PtrMut<f32>) {}
//~ `unsafe`: a kernel cannot be `unsafe`: launching one is, if it takes raw pointers [T0003]
//~   help: a kernel is a plain function: `fn name(..) { .. }`

#[triton::kernel]
fn lifetime<'a>(x: PtrMut<f32>) {}
//~ `'a`: the lifetime parameter `'a` is not part of the kernel language [T0006]
//~   help: remove it: nothing in a kernel is borrowed, and a launch borrows its buffers by itself

#[triton::kernel]
fn rank(x: Tensor<f32, 6>) {}
//~ `6`: `6` is not a number of axes that a view can have [T0005]
//~   help: write 1, 2, 3, 4 or 5

#[triton::kernel]
fn no_rank(x: Tensor<f32>) {}
//~ `Tensor<f32>`: a kernel cannot take a parameter of type `Tensor<f32>` [T0005]
//~   note: a parameter is a pointer (`Ptr<T>`, `PtrMut<T>`), a view (`Tensor<T, RANK>`, `TensorMut<T, RANK>`), a number or `bool`
//~   help: write `Tensor<T, 2>` with an element type and the number of axes

#[triton::kernel]
fn attribute(#[multiple_of(0)] n: i32) {}
//~ `#[multiple_of(0)]`: `multiple_of` takes a positive integer [T0013]
//~   help: write `#[multiple_of(16)]`

#[triton::kernel]
fn constexpr(#[constexpr] n: i32) {}
//~ `#[constexpr]`: a kernel's parameter has no attribute `constexpr` [T0013]
//~   help: a compile-time constant is a const parameter: `fn name<const N: i32>(..)`

#[triton::kernel]
fn pattern((a, b): (i32, i32)) {}
//~ `(a, b)`: a kernel's parameter is a plain name, not `(a, b)` [T0004]
//~   help: give it a name, and destructure it in the body

#[triton::kernel]
struct Kernel;
//~ `struct Kernel;`: `#[triton::kernel]` is for a function with a body, and for nothing else [T0001]
//~   help: write `fn name(..) { .. }`

fn main() {}
