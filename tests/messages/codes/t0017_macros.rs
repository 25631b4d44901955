//! `assert!` and `println!` are statements with plain strings; there are no other macros.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    let v = vec![1.0];
    //~ `vec!`: the macro `vec!` is not part of the kernel language [T0017]
    //~   help: a tile of one value is `full([count], value)`
    assert_eq!(n, 1);
    //~ `assert_eq!`: the macro `assert_eq!` is not part of the kernel language [T0017]
    //~   help: write `assert!(a == b)`
    debug_assert!(n > 0);
    //~ `debug_assert!`: the macro `debug_assert!` is not part of the kernel language [T0017]
    //~   help: write `assert!(condition)`; `assertions = false` leaves it out
    eprintln!("{}", n);
    //~ `eprintln!`: the macro `eprintln!` is not part of the kernel language [T0017]
    //~   help: write `println!("{}", value)`
    panic!("no");
    //~ `panic!`: the macro `panic!` is not part of the kernel language [T0017]
    //~   help: state it as `assert!(condition, "what is wrong")`
    my_macro! {}
    //~ `my_macro!`: the macro `my_macro!` is not part of the kernel language [T0017]
    //~   help: there are `assert!` and `println!`
    let a = println!("{}", n);
    //~ `println!`: the macro `println!` as a value is not part of the kernel language [T0017]
    //~   help: write it as a statement
    println!("{n}");
    println!("{:?} {0}", n, n);
    //~ `"{:?} {0}"`: a placeholder `{:?}` in a format string [T0017]
    //~   help: a placeholder is `{}` or `{name}`, without an index or a format
    println!("open {");
    //~ `"open {"`: an unmatched brace in a format string [T0017]
    //~   help: a placeholder is `{}` or `{name}`; a literal brace is `{{` or `}}`
    println!(n);
    //~ `n` in column 14: `println!` starts with a string literal [T0017]
    //~   help: write `println!("{}", value)`
    println!("{}", n; n);
    //~ `;`: cannot read the arguments of `println!`: expected `,` [T0017]
    assert!(n > 0, "n is {}");
    //~ `"n is {}"`: the message of an `assert!` is a string without placeholders [T0017]
    //~   help: print values before it, with `println!("{}", value)`
    assert!(n > 0, n);
    //~ `n` in column 20: the message of an `assert!` is a string without placeholders [T0017]
    //~   help: print values before it, with `println!("{}", value)`
    println!("{}", vec![n]);
    //~ `vec!`: the macro `vec!` is not part of the kernel language [T0017]
    //~   help: a tile of one value is `full([count], value)`
    store(x, v, assert!(n > 0));
    //~ `assert!`: the macro `assert!` as a value is not part of the kernel language [T0017]
    //~   help: write it as a statement
}

fn main() {}
