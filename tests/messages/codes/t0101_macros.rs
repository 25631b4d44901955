//! A condition and a message; as many values as placeholders.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    assert!();
    //~ `assert!()`: `assert!` takes a condition and a message, 0 arguments given [T0101]
    //~   help: write `assert!(condition, "what is wrong")`
    assert!(n > 0, "n is positive", n);
    //~ `assert!(n > 0, "n is positive", n)`: `assert!` takes a condition and a message, 3 arguments given [T0101]
    //~   help: write `assert!(condition, "what is wrong")`
    println!("{} {}", n);
    //~ `println!("{} {}", n)`: the string has 2 placeholders `{}`, 1 value given [T0101]
    //~   help: write a value for each `{}`; `{name}` takes a variable
    println!("none", n, n);
    //~ `println!("none", n, n)`: the string has 0 placeholders `{}`, 2 values given [T0101]
    //~   help: write a value for each `{}`; `{name}` takes a variable
    const { assert!() }
    //~ `assert!()`: `assert!` takes a condition and a message, 0 arguments given [T0101]
    //~   help: write `assert!(condition, "what is wrong")`
    store(x, 1.0, true);
}

fn main() {}
