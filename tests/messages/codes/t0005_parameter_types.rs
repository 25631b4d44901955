//! What a parameter can be.
use triton::prelude::*;

#[triton::kernel]
fn kernel(a: usize, b: &[f32], c: Vec<f32>, d: Tile<f32>, e: Ptr<usize>, f: Ptr, g: (i32, i32), h: Ptr<f32, 2>, i: u128, z: PtrMut<f32>) {
//~ `usize`: a kernel cannot take a parameter of type `usize` [T0005]
//~   note: a parameter is a pointer (`Ptr<T>`, `PtrMut<T>`), a view (`Tensor<T, RANK>`, `TensorMut<T, RANK>`), a number or `bool`
//~   help: sizes are `i32` or `i64` in a kernel
//~ `&[f32]`: a kernel cannot take a parameter of type `&[f32]` [T0005]
//~   note: a parameter is a pointer (`Ptr<T>`, `PtrMut<T>`), a view (`Tensor<T, RANK>`, `TensorMut<T, RANK>`), a number or `bool`
//~   help: for memory of the device write `Ptr<T>` or `PtrMut<T>`, or a view, `Tensor<T, RANK>`
//~ `Vec<f32>`: a kernel cannot take a parameter of type `Vec<f32>` [T0005]
//~   note: a parameter is a pointer (`Ptr<T>`, `PtrMut<T>`), a view (`Tensor<T, RANK>`, `TensorMut<T, RANK>`), a number or `bool`
//~   help: write `Ptr<T>` to read it, or `PtrMut<T>` to write it
//~ `Tile<f32>`: a kernel cannot take a parameter of type `Tile<f32>` [T0005]
//~   note: a parameter is a pointer (`Ptr<T>`, `PtrMut<T>`), a view (`Tensor<T, RANK>`, `TensorMut<T, RANK>`), a number or `bool`
//~   help: pass a pointer or a view, and make the tile in the body with `load`
//~ `usize` in column 66: `usize` is not an element type that `Ptr` can point to [T0005]
//~   note: the element types are `bool`, `i8`, `i16`, `i32`, `i64`, `u8`, `u16`, `u32`, `u64`, `f16`, `bf16`, `f32`, `f64`
//~   help: sizes are `i32` or `i64` in a kernel
//~ `Ptr` in column 77: a kernel cannot take a parameter of type `Ptr` [T0005]
//~   note: a parameter is a pointer (`Ptr<T>`, `PtrMut<T>`), a view (`Tensor<T, RANK>`, `TensorMut<T, RANK>`), a number or `bool`
//~   help: write `Ptr<T>` with one element type
//~ `(i32, i32)`: a kernel cannot take a parameter of type `(i32, i32)` [T0005]
//~   note: a parameter is a pointer (`Ptr<T>`, `PtrMut<T>`), a view (`Tensor<T, RANK>`, `TensorMut<T, RANK>`), a number or `bool`
//~ `Ptr<f32, 2>`: a kernel cannot take a parameter of type `Ptr<f32, 2>` [T0005]
//~   note: a parameter is a pointer (`Ptr<T>`, `PtrMut<T>`), a view (`Tensor<T, RANK>`, `TensorMut<T, RANK>`), a number or `bool`
//~   help: write `Ptr<T>` with one element type
//~ `u128`: a kernel cannot take a parameter of type `u128` [T0005]
//~   note: a parameter is a pointer (`Ptr<T>`, `PtrMut<T>`), a view (`Tensor<T, RANK>`, `TensorMut<T, RANK>`), a number or `bool`
//~   help: the widest integers of a kernel are `i64` and `u64`
    store(a, 1.0, true);
}

fn main() {}
