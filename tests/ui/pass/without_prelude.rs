//! Everything by its path, and names of the user's that could clash.
#![allow(dead_code, non_camel_case_types)]
use triton::lang;

struct f32x4;
mod core {}
mod std {}
struct Kernel;

mod dsl {
    pub use triton::lang;
}

#[triton::kernel]
fn paths(x: triton::lang::PtrMut<f32>) {
    ::triton::lang::store(x, self::dsl::lang::load(x, true), true);
}

#[triton::kernel(T = [f32, bf16])]
fn copy<T: lang::Num>(x: lang::Ptr<T>, out: lang::PtrMut<T>, n: i32) {
    let i = lang::program_id(0) * 64 + lang::arange(0, 64);
    lang::store(out + i, lang::load(x + i, i < n), i < n);
}

fn main() {}
