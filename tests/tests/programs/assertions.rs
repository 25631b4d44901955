//! Assertions of scalars and tiles, at run time and at compile time, and printing, wherever a statement can be.
#![deny(warnings)]
use triton::prelude::*;

#[triton::kernel(T = [f32, i32], BLOCK = [64])]
fn checked<T: Num, const BLOCK: i32>(x: PtrMut<T>, n: i32, first: T) {
    const HALF: i32 = BLOCK / 2;
    const { assert!(BLOCK % 32 == 0, "BLOCK is a multiple of 32") }
    const { assert!(HALF * 2 == BLOCK) };
    let i = arange(0, BLOCK);
    let v = load(x + i, i < n);
    assert!(n > 0);
    assert!(n <= BLOCK && n != 3, "n is {{at most}} BLOCK",);
    assert!((v >= first) | (i >= n), "the first is the smallest");
    for k in 0..n {
        if k == 1 {
            println!("{} of {}: {{{}}} {}", k, n - 1, first, 0.5)
        }
        println!("no value");
    }
    if n == 2 {
        println!();
    } else {
        assert!(n == 1)
    }
    println!("{}", program_id(0),);
    println! { "{}", any(v > first) }
    println!("{}: {}, {} {}", i, v, n, v == first);
    store(x + i, v, i < n);
    assert!(true)
}

#[triton::kernel(assertions = false)]
fn unchecked(x: PtrMut<i32>, n: i32) {
    assert!(atomic_add(x, 1, true) == n, "left out, with what it does");
    store(x, n, true);
}

#[triton::kernel]
fn nothing() {
    assert!(num_programs(0) > program_id(0));
    println!("hello");
}

/// Functions of the user's whose names the expansion uses, too.
#[allow(dead_code)]
fn check() {}
#[allow(dead_code)]
fn range() {}

pub(crate) fn main() {}
