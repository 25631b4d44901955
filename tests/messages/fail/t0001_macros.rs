//! `assert!` and `println!` are statements with plain strings; there are no other macros.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    let v = vec![1.0];
    assert_eq!(n, 1);
    debug_assert!(n > 0);
    eprintln!("{}", n);
    panic!("no");
    my_macro! {}
    let a = println!("{}", n);
    println!("{n}");
    println!("{:?} {0}", n, n);
    println!("open {");
    println!(n);
    println!("{}", n; n);
    assert!(n > 0, "n is {}");
    assert!(n > 0, n);
    println!("{}", vec![n]);
    store(x, v, assert!(n > 0));
}

fn main() {}
