//! What users of Rust type. Each marked line is one mistake.
use triton::prelude::*;

#[triton::kernel]
fn control(x: Ptr<f32>, out: PtrMut<f32>, n: i32) {
    for i in 0..=n {}
    //~ `0..=n`: a range with `..=` is not part of the kernel language [T0015]
    //~   help: write `lo..hi + 1`
    for i in 0.. {}
    //~ `0..`: a `for` loops over a range with both ends [T0015]
    //~   help: write `lo..hi`
    for v in [1, 2] {}
    //~ `[1, 2]`: a `for` loops over a range, and over nothing else [T0015]
    //~   help: write `for i in lo..hi`, or `for i in (lo..hi).step_by(step)`
    for i in (0..n).rev() {}
    //~ `(0..n).rev()`: a `for` loops over a range, and over nothing else [T0015]
    //~   help: a range counts up: write `for i in 0..n`, and `let k = n - 1 - i;`
    for mut i in 0..n {}
    //~ `mut i`: the counter of a `for` cannot be `mut` [T0015]
    //~   help: write `for i in ..`, or `for _ in ..`
    loop {}
    while let Some(v) = n {}
    //~ `let`: a `let` condition is not part of the kernel language [T0015]
    //~   help: write a condition of `bool`, such as `a == b`
    if let 3 = n {}
    //~ `let`: a `let` condition is not part of the kernel language [T0015]
    //~   help: write a condition of `bool`, such as `a == b`
    for i in 0..n {
        if i == 3 {
            break;
        }
        if i == 4 {
            continue;
        }
        if i == 5 {
            return;
        }
    }
    'outer: for i in 0..n {}
    match n {
    //~ `match`: `match` is not part of the kernel language [T0015]
    //~   help: write `if a == b { .. } else { .. }`, or, element by element, `select(a == b, x, y)`
        0 => {}
        _ => {}
    }
    let Some(a) = n else { return };
    //~ `else`: `let .. else` is not part of the kernel language [T0015]
    //~   help: a kernel has no enums: write an `if`
    let b;
    //~ `let b;`: a `let` without a value is not part of the kernel language [T0001]
    //~   help: give the variable a value where it is declared
    let c = &n;
    //~ `&n`: a reference is not part of the kernel language [T0001]
    //~   help: numbers and tiles are values: write the variable itself
    let d = *x;
    //~ `*x`: `*` before a value is not part of the kernel language [T0001]
    //~   help: memory is read with `load(p + i, mask)` and written with `store(p + i, value, mask)`
    let e = x[0];
    //~ `x[0]`: indexing is not part of the kernel language [T0001]
    //~   help: memory is read with `load(p + i, mask)` and written with `store(p + i, value, mask)`
    let f = [0.0; 4];
    //~ `[0.0; 4]`: `[value; count]` is not part of the kernel language [T0001]
    //~   help: a tile of one value is `full([count], value)`
    let g = (1, 2).0;
    //~ `(1, 2).0`: a field with a number is not part of the kernel language [T0001]
    //~   help: destructure a tuple with `let (a, b) = ..`
    let h = |v: i32| v + 1;
    //~ `|v: i32| v + 1`: a closure that is not an argument of a function is not part of the kernel language [T0016]
    //~   help: write a `#[triton::function]` beside the kernel
    let j = "text";
    //~ `"text"`: a string or byte literal is not part of the kernel language [T0018]
    //~   help: strings are only allowed in `assert!` and `println!`
    let k = 'c';
    //~ `'c'`: a string or byte literal is not part of the kernel language [T0018]
    //~   help: strings are only allowed in `assert!` and `println!`
    let l = 3usize;
    //~ `3usize`: a kernel has no numbers of type `usize` [T0018]
    //~   help: sizes are `i32` or `i64` in a kernel
    let m = 0..n;
    //~ `0..n`: a range is not part of the kernel language [T0001]
    //~   help: the integers from `lo` to `hi` are `arange(lo, hi)`, a tile
    let o = unsafe { n };
    //~ `unsafe`: `unsafe` is not part of the kernel language [T0001]
    //~   help: remove it: only launching a kernel with raw pointers is `unsafe`
    let p = n?;
    //~ `?`: `?` is not part of the kernel language [T0015]
    //~   help: nothing in a kernel returns a `Result`
    let q = vec![0.0; 4];
    //~ `vec!`: the macro `vec!` is not part of the kernel language [T0017]
    //~   help: a tile of one value is `full([count], value)`
    let r = format!("{n}");
    //~ `format!`: the macro `format!` is not part of the kernel language [T0017]
    //~   help: print with `println!("{}", value)`
    panic!("never");
    //~ `panic!`: the macro `panic!` is not part of the kernel language [T0017]
    //~   help: state it as `assert!(condition, "what is wrong")`
    assert_eq!(n, 3);
    //~ `assert_eq!`: the macro `assert_eq!` is not part of the kernel language [T0017]
    //~   help: write `assert!(a == b)`
    dbg!(n);
    //~ `dbg!`: the macro `dbg!` is not part of the kernel language [T0017]
    //~   help: write `println!("{}", value)`
    print!("{n}");
    //~ `print!`: the macro `print!` is not part of the kernel language [T0017]
    //~   help: write `println!("{}", value)`
    println!("{:?}", n);
    //~ `"{:?}"`: a placeholder `{:?}` in a format string [T0017]
    //~   help: a placeholder is `{}` or `{name}`, without an index or a format
    println!("{0}", n);
    //~ `"{0}"`: a placeholder `{0}` in a format string [T0017]
    //~   help: a placeholder is `{}` or `{name}`, without an index or a format
    println!("{}");
    //~ `println!("{}")`: the string has 1 placeholder `{}`, 0 values given [T0101]
    //~   help: write a value for each `{}`; `{name}` takes a variable
    println!("{", n);
    //~ `"{"`: an unmatched brace in a format string [T0017]
    //~   help: a placeholder is `{}` or `{name}`; a literal brace is `{{` or `}}`
    println!("a\0b");
    //~ `"a\0b"`: a string with a NUL character [T0017]
    //~   help: a GPU prints C strings, which end there: leave it out
    fn inner() {}
    //~ `fn inner()`: a function inside a kernel is not part of the kernel language [T0017]
    //~   help: only `const` items are allowed inside a kernel
    struct Inner;
    //~ `struct`: a `struct` inside a kernel is not part of the kernel language [T0017]
    //~   help: only `const` items are allowed inside a kernel
    use std::cmp::max;
    //~ `use`: a `use` inside a kernel is not part of the kernel language [T0017]
    //~   help: move it above the kernel
    static S: i32 = 3;
    //~ `static`: a `static` is not part of the kernel language [T0017]
    //~   help: only `const` items are allowed inside a kernel
    x[0] = 1.0;
    //~ `x[0]`: only a variable can be assigned to [T0001]
    //~   help: memory is written with `store(p, value, mask)`
    *out = 1.0;
    //~ `*out`: only a variable can be assigned to [T0001]
    //~   help: memory is written with `store(p, value, mask)`
    (n)(3);
    //~ `(n)`: only a function can be called, by its name [T0001]
    //~   help: write `name(..)`
}

#[triton::kernel]
fn paths(x: Ptr<f32>, out: PtrMut<f32>, n: i32) {
    let a = f32::sqrt(n);
    //~ `f32::sqrt`: `f32::sqrt` is not a function of the language [T0129]
    //~   help: write `sqrt(x)`
    let b = i32::from(n);
    //~ `i32::from`: `i32::from` is not a function of the language [T0129]
    //~   help: write `x.to::<i32>()`
    let c = f32::max(1.0, 2.0);
    //~ `f32::max`: `f32::max` is not a function of the language [T0129]
    //~   help: write `maximum(a, b)`
    let d = i32::pow(n, 2);
    //~ `i32::pow`: `i32::pow` is not a function of the language [T0129]
    //~   help: multiply, or write `exp2(y * log2(x))` for a positive `x`
}

#[triton::kernel]
fn indexing(x: Ptr<f32>, view: Tensor<f32, 1>, out: PtrMut<f32>, n: i32) {
    let v = load(x + arange(0, 64), true);
    let table = [1.0, 2.0, 3.0];
    let a = x[1];
    //~ `x[1]`: indexing is not part of the kernel language [T0001]
    //~   help: memory is read with `load(p + i, mask)` and written with `store(p + i, value, mask)`
    let b = v[1];
    //~ `v[1]`: indexing is not part of the kernel language [T0001]
    //~   help: a tile is not indexed: load the element by itself, `load(p + i, true)`, or reduce the tile, `sum(select(arange(0, 64) == i, x, 0.0))`
    let c = table[1];
    //~ `table[1]`: indexing is not part of the kernel language [T0001]
    //~   help: an array is a shape or an index: give each number a name, choose with `select(i == 0, a, b)`, or pass a table in memory and `load(table + i, true)`
    let d = view[1];
    //~ `view[1]`: indexing is not part of the kernel language [T0001]
    //~   help: an element is read with `x.get([i])`, and a tile with `x.load([i], [64])`
    let e = [1.0, 2.0][n];
    //~ `[1.0, 2.0][n]`: indexing is not part of the kernel language [T0001]
    //~   help: an array is a shape or an index: give each number a name, choose with `select(i == 0, a, b)`, or pass a table in memory and `load(table + i, true)`
    let x = v;
    let f = x[1];
    //~ `x[1]`: indexing is not part of the kernel language [T0001]
    //~   help: a tile is not indexed: load the element by itself, `load(p + i, true)`, or reduce the tile, `sum(select(arange(0, 64) == i, x, 0.0))`
}

#[triton::kernel]
fn descending(x: Ptr<f32>, n: i32) {
    for i in (0..n).rev() {}
    //~ `(0..n).rev()`: a `for` loops over a range, and over nothing else [T0015]
    //~   help: a range counts up: write `for i in 0..n`, and `let k = n - 1 - i;`
    for i in (n..0).rev() {}
    //~ `(n..0).rev()`: a `for` loops over a range, and over nothing else [T0015]
    //~   help: `n..0` is empty; a range counts up: write `for i in 0..n`, and `let k = n - 1 - i;`
    for j in (1..n + 2).rev() {}
    //~ `(1..n + 2).rev()`: a `for` loops over a range, and over nothing else [T0015]
    //~   help: a range counts up: write `for j in 1..(n+2)`, and `let k = 1 + (n+2) - 1 - j;`
    for i in (0..n).step_by(2).rev() {}
    //~ `(0..n).step_by(2).rev()`: a `for` loops over a range, and over nothing else [T0015]
    //~   help: a range counts up: write `for i in 0..n`, and `let k = n - 1 - i;`, with a multiple of the step
}

#[triton::kernel]
fn steps(n: i32) {
    for i in (0..n).step_by(-1) {}
    //~ `-1`: a step of -1: it must be positive [T0121]
    //~   help: count up, and compute the descending index: `let k = hi - 1 - i;`
    for i in (0..n).step_by(0) {}
    //~ `0` in column 29: a step of 0: it must be positive [T0121]
    //~   help: write a step of 1 or more
}

#[triton::kernel]
fn methods(x: Ptr<f32>, view: Tensor<f32, 1>, out: PtrMut<f32>, n: i32) {
    let v = load(x + arange(0, 64), true);
    let a = v.iter();
    //~ `iter`: `tile of f32[64]` has no method `iter` [T0129]
    //~   help: operators and functions are elementwise: write `x * 2.0`, `exp(x)`
    let b = v.map(exp);
    //~ `map`: `tile of f32[64]` has no method `map` [T0129]
    //~   help: operators and functions are elementwise: write `x * 2.0`, `exp(x)`
    let c = v.len();
    //~ `len`: `tile of f32[64]` has no method `len` [T0129]
    //~   help: the shape of a tile is a compile-time constant; the extent of a view is `x.dim(0)`
    let d = v.sqrt();
    //~ `sqrt`: `tile of f32[64]` has no method `sqrt` [T0129]
    //~   help: it is a function: `sqrt(x)`
    let e = v.powi(2);
    //~ `powi`: `tile of f32[64]` has no method `powi` [T0129]
    //~   help: multiply, or write `exp2(y * log2(x))` for a positive `x`
    let f = v.mul_add(v, v);
    //~ `mul_add`: `tile of f32[64]` has no method `mul_add` [T0129]
    //~   help: write `fma(a, b, c)`
    let g = v.clone();
    //~ `clone`: `tile of f32[64]` has no method `clone` [T0129]
    //~   help: numbers and tiles are values: write the variable itself
    let h = v.abs().sqrt();
    //~ `abs`: `tile of f32[64]` has no method `abs` [T0129]
    //~   help: it is a function: `abs(x)`
    let j = n.pow(2);
    //~ `pow`: `i32` has no method `pow` [T0129]
    //~   help: multiply, or write `exp2(y * log2(x))` for a positive `x`
    let k = n.max(3);
    //~ `max`: `i32` has no method `max` [T0129]
    //~   help: it is a function: `maximum(a, b)`
    let l = n.wrapping_add(3);
    //~ `wrapping_add`: `i32` has no method `wrapping_add` [T0129]
    //~   help: integer arithmetic wraps: write the operator
    let m = n.into();
    //~ `into`: `i32` has no method `into` [T0129]
    //~   help: write `x.to::<f32>()`
    let o = x.add(3);
    //~ `add`: `pointer to f32` has no method `add` [T0129]
    //~   help: write the operator: `a + b`, `p + n`
    let p = x.offset(3);
    //~ `offset`: `pointer to f32` has no method `offset` [T0129]
    //~   help: write `p + n`
    let q = x.read();
    //~ `read`: `pointer to f32` has no method `read` [T0129]
    //~   help: write `load(p, true)`
    let r = view.len();
    //~ `len`: `Tensor<f32, 1>` has no method `len` [T0129]
    //~   help: the shape of a tile is a compile-time constant; the extent of a view is `x.dim(0)`
    let s = view.get(3);
    //~ `3`: an index of a view is an array, found `integer literal` [T0123]
    //~   help: write it as `[4, 128]`
    let t = view.shape();
    //~ `shape`: `Tensor<f32, 1>` has no method `shape` [T0129]
    //~   help: the shape of a tile is a compile-time constant; the extent of a view is `x.dim(0)`
    let u = view.write([0], v);
    //~ `write`: `Tensor<f32, 1>` has no method `write` [T0129]
    //~   help: write `store(p, 1.0, true)`
    let z = n.frobnicate();
    //~ `frobnicate`: `i32` has no method `frobnicate` [T0129]
    //~   help: numbers and tiles have `to` and `bitcast`; tiles have `reshape`, `transpose`, `permute`, `expand_dims` and `broadcast_to`, too
}

fn main() {}
