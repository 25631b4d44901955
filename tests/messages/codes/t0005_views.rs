//! A view has an element type, and a number of axes from one to five, as a literal.
use triton::prelude::*;

#[triton::kernel(N = [2])]
fn kernel<const N: i32>(
    a: Tensor<f32, 0>,
    //~ `0`: `0` is not a number of axes that a view can have [T0005]
    //~   help: write 1, 2, 3, 4 or 5
    b: TensorMut<f32, 6>,
    //~ `6`: `6` is not a number of axes that a view can have [T0005]
    //~   help: write 1, 2, 3, 4 or 5
    c: Tensor<f32>,
    //~ `Tensor<f32>`: a kernel cannot take a parameter of type `Tensor<f32>` [T0005]
    //~   note: a parameter is a pointer (`Ptr<T>`, `PtrMut<T>`), a view (`Tensor<T, RANK>`, `TensorMut<T, RANK>`), a number or `bool`
    //~   help: write `Tensor<T, 2>` with an element type and the number of axes
    d: TensorMut,
    //~ `TensorMut`: a kernel cannot take a parameter of type `TensorMut` [T0005]
    //~   note: a parameter is a pointer (`Ptr<T>`, `PtrMut<T>`), a view (`Tensor<T, RANK>`, `TensorMut<T, RANK>`), a number or `bool`
    //~   help: write `TensorMut<T, 2>` with an element type and the number of axes
    e: Tensor<f32, N>,
    //~ `N`: `N` is not a number of axes that a view can have [T0005]
    //~   help: write 1, 2, 3, 4 or 5
    f: Tensor<f32, { 1 + 1 }>,
    //~ `{ 1 + 1 }`: `{1+1}` is not a number of axes that a view can have [T0005]
    //~   help: write 1, 2, 3, 4 or 5
    g: Tensor<usize, 2>,
    //~ `usize`: `usize` is not an element type that a view can have [T0005]
    //~   note: the element types are `bool`, `i8`, `i16`, `i32`, `i64`, `u8`, `u16`, `u32`, `u64`, `f16`, `bf16`, `f32`, `f64`
    //~   help: sizes are `i32` or `i64` in a kernel
    h: TensorMut<[f32; 2], 2>,
    //~ `[f32; 2]`: `[f32; 2]` is not an element type that a view can have [T0005]
    //~   note: the element types are `bool`, `i8`, `i16`, `i32`, `i64`, `u8`, `u16`, `u32`, `u64`, `f16`, `bf16`, `f32`, `f64`
    //~   help: pass a buffer for each part, with an element type of its own
    i: Tensor<2, f32>,
    //~ `Tensor<2, f32>`: a kernel cannot take a parameter of type `Tensor<2, f32>` [T0005]
    //~   note: a parameter is a pointer (`Ptr<T>`, `PtrMut<T>`), a view (`Tensor<T, RANK>`, `TensorMut<T, RANK>`), a number or `bool`
    //~   help: write `Tensor<T, 2>` with an element type and the number of axes
    j: &Tensor<f32, 2>,
    //~ `&Tensor<f32, 2>`: a kernel cannot take a parameter of type `&Tensor<f32, 2>` [T0005]
    //~   note: a parameter is a pointer (`Ptr<T>`, `PtrMut<T>`), a view (`Tensor<T, RANK>`, `TensorMut<T, RANK>`), a number or `bool`
    //~   help: write it without `&`: a view is passed as it is
    k: Tensor<String, 9>,
    //~ `String`: `String` is not an element type that a view can have [T0005]
    //~   note: the element types are `bool`, `i8`, `i16`, `i32`, `i64`, `u8`, `u16`, `u32`, `u64`, `f16`, `bf16`, `f32`, `f64`
    //~   help: pass a buffer for each part, with an element type of its own
    //~ `9`: `9` is not a number of axes that a view can have [T0005]
    //~   help: write 1, 2, 3, 4 or 5
    l: Ptr<f32>,
) {
    h.store([0, 0], a.load([0], [16]));
}

#[triton::kernel]
fn nested(x: Ptr<Ptr<f32>>, y: Ptr<u128>) {}
//~ `Ptr<f32>`: `Ptr` is not an element type that `Ptr` can point to [T0005]
//~   note: the element types are `bool`, `i8`, `i16`, `i32`, `i64`, `u8`, `u16`, `u32`, `u64`, `f16`, `bf16`, `f32`, `f64`
//~   help: pass one buffer, and where each part begins in it
//~ `u128`: `u128` is not an element type that `Ptr` can point to [T0005]
//~   note: the element types are `bool`, `i8`, `i16`, `i32`, `i64`, `u8`, `u16`, `u32`, `u64`, `f16`, `bf16`, `f32`, `f64`
//~   help: the widest integers of a kernel are `i64` and `u64`

fn main() {}
