//! What is not the type of a function as an argument.
use triton::prelude::*;

#[triton::function]
fn mutable(x: Tile<f32>, f: impl FnMut(Tile<f32>) -> Tile<f32>) -> Tile<f32> {
//~ `impl FnMut(Tile<f32>) -> Tile<f32>`: a function for kernels cannot take `impl FnMut(Tile<f32>)->Tile<f32>` [T0005]
//~   help: a function as an argument is `impl Fn(Tile<f32>) -> Tile<f32>`, with the types that it takes
    f(x)
}

#[triton::function]
fn borrowed(x: Tile<f32>, f: &dyn Fn(Tile<f32>) -> Tile<f32>) -> Tile<f32> {
//~ `&dyn Fn(Tile<f32>) -> Tile<f32>`: the type `&dyn Fn(Tile<f32>)->Tile<f32>` is not part of the kernel language [T0001]
//~   help: types are element types and `Tile<T>`
    f(x)
}

#[triton::function]
fn of_strings(x: Tile<f32>, f: impl Fn(String) -> Tile<f32>) -> Tile<f32> {
//~ `impl Fn(String) -> Tile<f32>`: a function for kernels cannot take or return `impl Fn(String) -> Tile<f32>` [T0005]
//~   note: there are numbers, `bool`, `Tile<T>`, pointers, views, tuples of these, structs with `#[triton::params]`, and functions of these as parameters, `impl Fn(..) -> ..`
    x
}

#[triton::function]
fn named(x: Tile<f32>, exp: impl Fn(Tile<f32>) -> Tile<f32>) -> Tile<f32> {
//~ `exp`: `exp` is a name of the language [T0129]
//~   help: choose another name: a call of this one is a call of the language's function
    exp(x)
}

#[triton::function]
fn again(x: Tile<f32>) -> Tile<f32> {
    apply(x, again)
    //~ `again`: `again` calls itself [T0015]
    //~   help: calls are inlined, so a function cannot call itself: write a loop
}

#[triton::function]
fn apply(x: Tile<f32>, f: impl Fn(Tile<f32>) -> Tile<f32>) -> Tile<f32> {
    f(x)
}

fn main() {}
