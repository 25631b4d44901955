//! Types that no function for kernels takes or returns, and no struct for kernels has.
use triton::prelude::*;

#[triton::function]
fn takes(a: usize, b: &f32, c: Vec<f32>, d: Tile<String>) -> f32 {
//~ `usize`: a function for kernels cannot take or return `usize` [T0005]
//~   note: there are numbers, `bool`, `Tile<T>`, pointers, views, tuples of these, structs with `#[triton::params]`, and functions of these as parameters, `impl Fn(..) -> ..`
//~ `&f32`: the type `&f32` is not part of the kernel language [T0001]
//~   help: types are element types and `Tile<T>`
//~ `Vec<f32>`: a function for kernels cannot take or return `Vec<f32>` [T0005]
//~   note: there are numbers, `bool`, `Tile<T>`, pointers, views, tuples of these, structs with `#[triton::params]`, and functions of these as parameters, `impl Fn(..) -> ..`
//~ `Tile<String>`: a function for kernels cannot take or return `Tile<String>` [T0005]
//~   note: there are numbers, `bool`, `Tile<T>`, pointers, views, tuples of these, structs with `#[triton::params]`, and functions of these as parameters, `impl Fn(..) -> ..`
    1.0
}

#[triton::function]
fn returns(x: Tile<f32>) -> Option<f32> {
//~ `Option<f32>`: a function for kernels cannot take or return `Option<f32>` [T0005]
//~   note: there are numbers, `bool`, `Tile<T>`, pointers, views, tuples of these, structs with `#[triton::params]`, and functions of these as parameters, `impl Fn(..) -> ..`
    None
}

#[triton::params]
struct Nested {
    ok: f32,
    not: (f32, f32),
    //~ `(f32, f32)`: a field of a struct for kernels is a number or `bool`, not `(f32, f32)` [T0005]
}

#[triton::params]
struct Unnamed(f32);
//~ `struct Unnamed(f32);`: a struct for kernels has fields with names [T0005]
//~   help: write `struct Name { field: f32, .. }`

fn main() {}
