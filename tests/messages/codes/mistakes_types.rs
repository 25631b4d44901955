//! Types, shapes and literals. Each marked line is one mistake.
use triton::prelude::*;

#[triton::kernel]
fn shapes(x: Ptr<f32>, out: PtrMut<f32>, view: Tensor<f32, 2>, made: TensorMut<f32, 1>, n: i32) {
    let i = arange(0, 64);
    let v = load(x + i, i < n);
    let a = arange(0, 1000);
    //~ `arange(0, 1000)`: `arange(0, 1000)` has 1000 = 125 · 8 elements: the odd factor is more than 31 [T0106]
    //~   help: take 1024 elements and mask off the rest, as in `load(p + i, i < 1000)`
    let b = arange(0, n);
    //~ `n` in column 23: a bound of `arange` must be a compile-time constant [T0107]
    //~   note: found `i32`
    //~   help: use a literal, a `const` of the kernel, a const parameter, or a `#[triton::constant]`
    let c = zeros::<f32>([6]);
    let d = zeros::<f32>([n]);
    //~ `n`: a shape must be a compile-time constant [T0107]
    //~   note: found `i32`
    //~   help: use a literal, a `const` of the kernel, a const parameter, or a `#[triton::constant]`
    let e = zeros::<f32>([1 << 24]);
    //~ `[1 << 24]`: a tile of more than 1048576 elements [T0108]
    //~   help: let several programs share the work
    let f = v + zeros::<f32>([32]);
    //~ `+`: cannot add `tile of f32[64]` and `tile of f32[32]` [T0103]
    //~   help: shapes broadcast from the right: extents must be equal, or one of them 1; `x.expand_dims(axis)` inserts one
    let g = v + i;
    //~ `+`: cannot add `tile of f32[64]` and `tile of i32[64]` [T0102]
    //~   help: there is no implicit conversion: write `.to::<f32>()` on the right, which rounds integers above 2^24
    let h = v + 1;
    //~ `1`: an integer literal where `f32` is needed [T0112]
    //~   help: write `1.0`
    let j = i + 1.0;
    //~ `1.0`: a float literal where `i32` is needed [T0112]
    //~   help: write an integer, or convert the other side with `.to::<f32>()`
    let k = v & v;
    //~ `&`: cannot use `&` on `tile of f32[64]` and `tile of f32[64]` [T0104]
    //~   help: `&` is defined on integers and `bool`
    let l = v && v;
    //~ `&&`: `&&` takes two `bool`, found `tile of f32[64]` on the left [T0104]
    //~   help: write `&` to combine tiles element by element
    let m = !v;
    //~ `!v`: `!` is not defined on `tile of f32[64]` [T0104]
    //~   note: it is defined on `bool`, `i8`, `i16`, `i32`, `i64`, `u8`, `u16`, `u32`, `u64`
    //~   help: convert with `.to::<..>()` where that is meant
    let o = -true;
    //~ `-true`: `-` is not defined on `bool` [T0104]
    //~   note: it is defined on `i8`, `i16`, `i32`, `i64`, `f16`, `bf16`, `f32`, `f64`
    //~   help: write `.to::<i32>()`, which is 0 or 1
    let p = v % v;
    //~ `%`: cannot use `%` on `tile of f32[64]` and `tile of f32[64]` [T0104]
    //~   help: `%` is defined on integers; of floats `a - trunc(a / b) * b` has the sign of `a`, as Rust's `%`, and `a - floor(a / b) * b` that of `b`, as Python's
    let q = v as f16;
    //~ `v as f16`: `as` converts scalars, this is `tile of f32[64]` [T0114]
    //~   help: write `.to::<f16>()`
    let r = v.to::<bool>();
    //~ `v`: `tile of f32[64]` cannot be converted to `bool` [T0114]
    //~   help: compare it, as in `x != 0`
    let s = v.reshape([8, 4]);
    //~ `[8, 4]`: `tile of f32[64]` has 64 elements, the shape [8,4] has 32 [T0123]
    //~   help: the extents multiply to 64
    let t = v.permute([1, 0]);
    //~ `[1, 0]`: an order of `tile of f32[64]` names each of its 1 axes once [T0124]
    //~   help: write them in their new order, as in `[0]`
    let u = v.expand_dims(3);
    //~ `3`: axis 3 of `tile of f32[64]`: it must be from 0 to 1 [T0124]
    //~   help: axes are counted from 0, outermost first
    let w = v.transpose();
    //~ `transpose`: `transpose` exchanges the last two axes, `tile of f32[64]` has one [T0124]
    //~   help: insert one with `x.expand_dims(0)`
    let y = sum_axis(v, 1);
    //~ `sum_axis(v, 1)`: `sum_axis` yields a tile, `tile of f32[64]` has one axis [T0124]
    //~   help: write `sum(..)` for a number
    let z = sum_axis(v, n);
    //~ `sum_axis(v, n)`: `sum_axis` yields a tile, `tile of f32[64]` has one axis [T0124]
    //~   help: write `sum(..)` for a number
    if v > 0.0 {}
    //~ `v > 0.0`: a condition is one `bool`, found `tile of bool[64]` [T0105]
    //~   help: choose element by element with `select(cond, a, b)`, load and store under a mask, or reduce it by `any` or `all`
    if n {}
    //~ `n`: a condition is one `bool`, found `i32` [T0105]
    //~   help: compare, as in `i < n`
    while v > 0.0 {}
    //~ `v > 0.0`: a condition is one `bool`, found `tile of bool[64]` [T0105]
    //~   help: choose element by element with `select(cond, a, b)`, load and store under a mask, or reduce it by `any` or `all`
    store(out, v, true);
    //~ `v`: the stored value is `tile of f32[64]`, but one element is accessed [T0117]
    //~   help: give it one value, or access a tile, as by `p + arange(0, 64)`
    store(out + i, i, i < n);
    //~ `i` in column 20: the stored value is `tile of i32[64]`, the memory holds `f32` [T0110]
    //~   help: write `.to::<f32>()`
    store(x + i, v, i < n);
    //~ `x + i`: a store through `Ptr`, which is read-only [T0109]
    //~   help: declare the parameter as `PtrMut<f32>`
    store(out + i, v, i);
    //~ `i` in column 23: a mask is `bool` or a tile of `bool`, found `tile of i32[64]` [T0105]
    //~   help: compare, as in `i < n`; `true` selects every element
    load(n, true);
    //~ `n`: `load` needs a pointer or a tile of pointers, found `i32` [T0111]
    //~   help: write `pointer + index`
    load(v, true);
    //~ `v`: `load` needs a pointer or a tile of pointers, found `tile of f32[64]` [T0111]
    //~   help: write `pointer + index`
    atomic_add(x + i, v, true);
    //~ `x + i`: `atomic_add` through `Ptr`, which is read-only [T0109]
    //~   help: declare the parameter as `PtrMut<f32>`
    view.load([0], [16]);
    //~ `[0]`: an index with 1 entries for `Tensor<f32, 2>` [T0123]
    //~   help: write 2, one for each axis
    view.load([0, 0], [16]);
    //~ `[16]`: a tile with 1 dimension for `Tensor<f32, 2>` [T0123]
    //~   help: write an extent for each axis of the view: 1 for one that is fixed, as in `[1, 64]`
    view.load([0, 0], [16, 3]);
    view.store([0, 0], view.load([0, 0], [16, 16]));
    //~ `store`: a store through `Tensor`, which is read-only [T0109]
    //~   help: declare the parameter as `TensorMut<f32, 2>`
    made.store([0], 1.0);
    //~ `1.0`: a tile with 0 dimensions for `TensorMut<f32, 1>` [T0123]
    //~   help: a number is stored as a tile of one element: `full([1], number)`, with an extent for each axis
    made.store([0], i);
    //~ `i`: the stored value is `tile of i32[64]`, the view holds `f32` [T0110]
    //~   help: write `.to::<f32>()`
    view.dim(2);
    //~ `2`: axis 2 of `Tensor<f32, 2>`: it must be from 0 to 1 [T0124]
    //~   help: axes are counted from 0, outermost first
    view.load([0u32, 0u32], [16, 16]);
    //~ `0u32`: an index of a view is `i32` or `i64`, found `u32` [T0102]
    //~   help: write `.to::<i32>()` or `.to::<i64>()`
}

#[triton::kernel]
fn numbers(x: Ptr<f32>, out: PtrMut<i32>, n: i32, u: u32, wide: i64) {
    let b = 300u8;
    //~ `300u8`: 300 does not fit `u8` [T0112]
    //~   help: `u8` holds 0 to 255: take a wider type
    let c = 1 / 0;
    //~ `/`: this divides by zero [T0112]
    //~   help: divide by another number
    let d = n + 2147483648;
    //~ `2147483648`: 2147483648 does not fit `i32` [T0112]
    //~   help: `i32` holds -2147483648 to 2147483647: take a wider type
    let e = n + u;
    //~ `+`: cannot add `i32` and `u32` [T0102]
    //~   help: there is no implicit conversion: write `.to::<i64>()` on both
    let f = n + wide;
    //~ `+`: cannot add `i32` and `i64` [T0102]
    //~   help: there is no implicit conversion: write `.to::<i64>()` on the left
    let g = n << wide;
    //~ `<<`: cannot use `<<` on `i32` and `i64` [T0102]
    //~   help: there is no implicit conversion: write `.to::<i64>()` on the left
    let h = u - 1.5;
    //~ `1.5`: a float literal where `u32` is needed [T0112]
    //~   help: write an integer, or convert the other side with `.to::<f32>()`
    let j = -u;
    //~ `-u`: `-` is not defined on `u32` [T0104]
    //~   note: it is defined on `i8`, `i16`, `i32`, `i64`, `f16`, `bf16`, `f32`, `f64`
    //~   help: write `.to::<f32>()`
    let k = x * 2;
    //~ `*`: cannot multiply `pointer to f32` and `integer literal` [T0104]
    //~   help: a pointer has `pointer + integer` and `pointer - integer`
    let l = x + 1.5;
    //~ `1.5`: a pointer moves by an integer, found `float literal` [T0104]
    //~   help: index by integers, as in `p + arange(0, 64)`
    let m = x - x;
    //~ `-`: cannot subtract `pointer to f32` and `pointer to f32` [T0104]
    //~   help: a pointer has `pointer + integer` and `pointer - integer`
    let o = x == x;
    //~ `==`: cannot compare `pointer to f32` and `pointer to f32` [T0104]
    //~   help: a pointer has `pointer + integer` and `pointer - integer`
    let p: f32 = n;
    //~ `n`: this is `i32`, the annotation says `f32` [T0115]
    //~   help: leave the annotation out, or write `.to::<f32>()`
    let q: i32 = 1.5;
    //~ `1.5`: a float literal where `i32` is needed [T0112]
    //~   help: write an integer, or convert the other side with `.to::<f32>()`
    let r = select(n, 1, 2);
    //~ `n`: a condition is `bool` or a tile of `bool`, found `i32` [T0105]
    //~   help: compare, as in `x > 0.0`
    let s = select(n > 0, 1, 2.0);
    //~ `1`: an integer literal where `f32` is needed [T0112]
    //~   help: write `1.0`
    let t = program_id(3);
    //~ `3`: the grid has axes 0, 1 and 2, found 3 [T0113]
    //~   help: write 0, 1 or 2; more axes are computed, as in `program_id(0) / n`
    let w = maximum(n, 1.0);
    //~ `1.0`: a float literal where `i32` is needed [T0112]
    //~   help: write an integer, or convert the other side with `.to::<f32>()`
    let y = sqrt(n);
    //~ `n`: `sqrt` is not defined on `i32` [T0104]
    //~   note: it is defined on `f16`, `bf16`, `f32`, `f64`
    //~   help: write `.to::<f32>()`
    let z = exp(n);
    //~ `n`: `exp` is not defined on `i32` [T0104]
    //~   note: it is defined on `f16`, `bf16`, `f32`, `f64`
    //~   help: write `.to::<f32>()`
    let mut aa = n;
    aa = 1.5;
    //~ `1.5`: a float literal where `i32` is needed [T0112]
    //~   help: write an integer, or convert the other side with `.to::<f32>()`
    let mut ab = n;
    ab += u;
    //~ `+=`: cannot add `i32` and `u32` [T0102]
    //~   help: a variable keeps its element type: write `.to::<i32>()` on the right, or give `ab` the type `i64` at first
    let mut ac = n;
    if n > 0 {
        ac = arange(0, 4);
        //~ `arange(0, 4)`: `ac` is `i32`, it cannot become `tile of i32[4]` [T0115]
        //~   help: a variable keeps its element type and shape: give `ac` the final one at first
    }
    let bb = if n > 0 { 1 } else { 1.5 };
    //~ `if n > 0 { 1 } else { 1.5 }`: the branches of `if` are `i32` and `f32` [T0115]
    //~   help: give both the same type and shape
    for i in 0..1.5 {}
    //~ `1.5`: a float literal where `i32` is needed [T0112]
    //~   help: write an integer, or convert the other side with `.to::<f32>()`
    for i in 0..arange(0, 4) {}
    //~ `arange(0, 4)`: a loop counter is `i32`, `i64`, `u32` or `u64`, found `tile of i32[4]` [T0121]
    //~   help: write `lo..hi` with scalars; a tile is computed on at once, without a loop
    const SIZE: i32 = n;
    //~ `n` in column 23: the value of a `const` must be a compile-time constant [T0107]
    //~   note: found `i32`
    //~   help: use a literal, a `const` of the kernel, a const parameter, or a `#[triton::constant]`
    let cc = dot(zeros::<f32>([16, 16]), zeros::<f32>([32, 16]), zeros::<f32>([16, 16]));
    //~ `dot(zeros::<f32>([16, 16]), zeros::<f32>([32, 16]), zeros::<f32>([16, 16]))`: `dot` of `tile of f32[16,16]`, `tile of f32[32,16]` and `tile of f32[16,16]` [T0103]
    //~   help: the shapes are [M, K], [K, N] and [M, N], or [B, M, K], [B, K, N] and [B, M, N]; `b.transpose()` fits, and the product has the shape [16,32]
    let dd = dot(zeros::<f16>([16, 16]), zeros::<f16>([16, 16]), zeros::<f16>([16, 16]));
    //~ `zeros::<f16>([16, 16])` in column 66: products of `f16` are added in `f32`, `acc` is `tile of f16[16,16]` [T0102]
    //~   help: begin with `zeros::<f32>(..)`
    let ee = reduce(arange(0, 64), |a, b| (a, b));
    //~ `(a, b)`: the closure yields 2, one value for each of 1 tiles is needed [T0115]
    //~   help: yield a tuple, as in `(a + c, b + d)`
    assert!(n);
    //~ `n`: an assertion is of `bool` or a tile of `bool`, found `i32` [T0105]
    //~   help: compare, as in `i < n`
    println!("{}", x);
    //~ `x`: `println!` prints numbers, `bool` and tiles of these, found `pointer to f32` [T0104]
    //~   help: print what is loaded through a pointer, and the parts of a tuple
}

#[triton::kernel]
fn widths(x: Ptr<f32>, b: Ptr<i8>, c: Ptr<u8>, h: Ptr<f16>, g: Ptr<bf16>, n: i32, wide: i64, mask: bool, huge: u64) {
    let i = arange(0, 64);
    let (v, w, u) = (load(x + i, true), load(b + i, true), load(c + i, true));
    let (a, d) = (load(h + i, true), load(g + i, true));
    let e = w * v;
    //~ `*`: cannot multiply `tile of i8[64]` and `tile of f32[64]` [T0102]
    //~   help: there is no implicit conversion: write `.to::<f32>()` on the left
    let f = v * w;
    //~ `*`: cannot multiply `tile of f32[64]` and `tile of i8[64]` [T0102]
    //~   help: there is no implicit conversion: write `.to::<f32>()` on the right
    let j = w + u;
    //~ `+`: cannot add `tile of i8[64]` and `tile of u8[64]` [T0102]
    //~   help: there is no implicit conversion: write `.to::<i16>()` on both
    let k = a + d;
    //~ `+`: cannot add `tile of f16[64]` and `tile of bf16[64]` [T0102]
    //~   help: there is no implicit conversion: write `.to::<f32>()` on both
    let l = n.to::<f16>() * n;
    //~ `*`: cannot multiply `f16` and `i32` [T0102]
    //~   help: there is no implicit conversion: write `.to::<f32>()` on both, which rounds integers above 2^24
    let m = v * n;
    //~ `*`: cannot multiply `tile of f32[64]` and `i32` [T0102]
    //~   help: there is no implicit conversion: write `.to::<f32>()` on the right, which rounds integers above 2^24
    let o = wide < n;
    //~ `<`: cannot compare `i64` and `i32` [T0102]
    //~   help: there is no implicit conversion: write `.to::<i64>()` on the right
    let p = wide + huge;
    //~ `+`: cannot add `i64` and `u64` [T0102]
    //~   help: no type holds both: write `.to::<i64>()` on the right, or `.to::<u64>()` on the left, which wraps
    let q = v * mask;
    //~ `*`: cannot multiply `tile of f32[64]` and `bool` [T0102]
    //~   help: there is no implicit conversion: write `.to::<f32>()` on the right
    let r = select(mask, w, v);
    //~ `v`: `select` of `tile of i8[64]` and `tile of f32[64]` [T0102]
    //~   help: there is no implicit conversion: write `.to::<f32>()` on the `i8`
    let s = maximum(wide, n);
    //~ `n`: `maximum` of `i64` and `i32` [T0102]
    //~   help: there is no implicit conversion: write `.to::<i64>()` on the `i32`
}

fn main() {}
