//! What users of Triton in Python type. Each marked line is one mistake.
use triton::prelude::*;

#[triton::kernel]
fn calls(x: Ptr<f32>, out: PtrMut<f32>, n: i32) {
    let i = arange(0, 64);
    let a = load(x + i, i < n);
    let d = where_(i < n, a, 0.0);
    //~ `where_`: the language has no function `where_` [T0129]
    //~   help: write `select(mask, a, b)`
    let e = max_of(a);
    //~ `max_of`: the language has no function `max_of` [T0129]
    //~   help: write `max(x)`, which reduces; `maximum(a, b)` is elementwise
    let f = trans(a);
    //~ `trans`: the language has no function `trans` [T0129]
    //~   help: it is a method: `x.transpose()`
    let g = cat(a, a);
    //~ `cat`: the language has no function `cat` [T0129]
    //~   help: one after the other is `join(a, b).permute([1, 0]).reshape([128])`; in turns it is `interleave(a, b)`
    let h = flip(a);
    //~ `flip`: the language has no function `flip` [T0129]
    //~   help: access memory in the opposite order: `load(p + (63 - arange(0, 64)), mask)`
    let j = sort(a);
    //~ `sort`: the language has no function `sort` [T0129]
    //~   help: there is no sort of a tile: sort on the host; the largest element is `max(x)`, its index `argmax(x)`
    let k = histogram(a, 16);
    //~ `histogram`: the language has no function `histogram` [T0129]
    //~   help: count with `atomic_add(counts + bin, 1, mask)`
    let l = gather(a, i, 0);
    //~ `gather`: the language has no function `gather` [T0129]
    //~   help: a gather is a load: `load(p + index, mask)`, or of a view `x.gather([index], mask)`
    let m = join(a, a);
    let o = zeros_like(a);
    //~ `zeros_like`: the language has no function `zeros_like` [T0129]
    //~   help: write `zeros::<f32>([64])`, with the shape of the other tile
    let p = associative_scan(a, 0, add);
    //~ `associative_scan`: the language has no function `associative_scan` [T0129]
    //~   help: write `scan(x, 0, |a, b| a + b)`
    let q = make_block_ptr(x, n);
    //~ `make_block_ptr`: the language has no function `make_block_ptr` [T0129]
    //~   help: a view is a parameter, `x: Tensor<f32, 2>`, and is read with `x.load([i, j], [64, 64])`
    let r = view(a, [8, 8]);
    //~ `view`: the language has no function `view` [T0129]
    //~   help: write `x.reshape([8, 8])`
    let s = reshape(a, [8, 8]);
    //~ `reshape`: the language has no function `reshape` [T0129]
    //~   help: write `x.reshape([8, 8])`
    let t = expand_dims(a, 0);
    //~ `expand_dims`: the language has no function `expand_dims` [T0129]
    //~   help: it is a method: `x.expand_dims(0)`
    let u = cast(a, f16);
    //~ `cast`: the language has no function `cast` [T0129]
    //~   help: write `x.to::<f32>()`
    let v = isnan(a);
    //~ `isnan`: the language has no function `isnan` [T0129]
    //~   help: compare: `x != x` holds for a NaN alone
    let w = dot_scaled(a, a, a);
    //~ `dot_scaled`: the language has no function `dot_scaled` [T0129]
    //~   help: scale the operands, or the sum, beside `dot(a, b, acc)`
    let y = thread_id(0);
    //~ `thread_id`: the language has no function `thread_id` [T0129]
    //~   help: the compiler distributes tiles over threads; a program knows `program_id(0)`
    let z = umulhi(n, n);
    //~ `umulhi`: the language has no function `umulhi` [T0129]
    //~   help: write `mul_hi(a, b)`; the lower half of the product is `a * b`
    device_print("a", a);
    //~ `device_print`: the language has no function `device_print` [T0129]
    //~   help: write `println!("{}", x)`
    device_assert(n > 0);
    //~ `device_assert`: the language has no function `device_assert` [T0129]
    //~   help: write `assert!(n > 0, "what is wrong")`
    static_assert(n > 0);
    //~ `static_assert`: the language has no function `static_assert` [T0129]
    //~   help: write `const { assert!(N > 0) }`
    debug_barrier();
    //~ `debug_barrier`: the language has no function `debug_barrier` [T0129]
    //~   help: the compiler inserts the barriers: a program is one thread of control
    for i in static_range(0, 4) {}
    //~ `static_range(0, 4)`: a `for` loops over a range, and over nothing else [T0015]
    //~   help: write `for i in lo..hi`, or `for i in (lo..hi).step_by(step)`
}

#[triton::kernel]
fn indices(x: Ptr<f32>, out: PtrMut<f32>, n: i32) {
    let v = load(x + arange(0, 64), true);
    let u = v[0];
    //~ `v[0]`: indexing is not part of the kernel language [T0001]
    //~   help: a tile is not indexed: load the element by itself, `load(p + i, true)`, or reduce the tile, `sum(select(arange(0, 64) == i, x, 0.0))`
    let w = v[i < n];
    //~ `v[i < n]`: indexing is not part of the kernel language [T0001]
    //~   help: a tile is not indexed: load the element by itself, `load(p + i, true)`, or reduce the tile, `sum(select(arange(0, 64) == i, x, 0.0))`
}

#[triton::kernel]
fn module(x: Ptr<f32>, out: PtrMut<f32>, n: i32) {
    let i = tl.arange(0, 64);
    //~ `tl`: `tl.arange(..)` is not Rust [T0129]
    //~   help: write `arange(lo, hi)`
    let a = tl.load(x, n);
    //~ `tl`: `tl.load(..)` is not Rust [T0129]
    //~   help: write `load(p, mask)`
    let b = tl.float32;
    //~ `tl`: `tl.float32` is not Rust [T0129]
    //~   help: write `f32`
    let c = arange(0, 64).to(tl.float16);
    //~ `to`: `to` takes no arguments, 1 given [T0101]
    //~   help: write `.to::<f32>()`
    let d = tl.cumsum(n, 0);
    //~ `tl`: `tl.cumsum(..)` is not Rust [T0129]
    //~   help: write `cumsum(x, axis)`
    let e = torch.zeros(n);
    //~ `torch`: `torch.zeros(..)` is not Rust [T0129]
    //~   help: write `zeros(shape)`
}

#[triton::kernel]
fn spellings(x: Ptr<f32>, out: PtrMut<f32>, n: i32) {
    let i = arange(0, 64);
    let v = load(x + i, i < n);
    let a = v.trans();
    //~ `trans`: `tile of f32[64]` has no method `trans` [T0129]
    //~   help: write `x.transpose()`
    let b = v.to(f16);
    //~ `to`: `to` takes no arguments, 1 given [T0101]
    //~   help: write `.to::<f32>()`
    let c = v.cast::<f16>();
    //~ `cast`: `tile of f32[64]` has no method `cast` [T0129]
    //~   help: write `x.to::<f32>()`
    let d = v.shape();
    //~ `shape`: `tile of f32[64]` has no method `shape` [T0129]
    //~   help: the shape of a tile is a compile-time constant; the extent of a view is `x.dim(0)`
    let e = v.sum();
    //~ `sum`: `tile of f32[64]` has no method `sum` [T0129]
    //~   help: it is a function: `sum(x)`
    let f = v.exp();
    //~ `exp`: `tile of f32[64]` has no method `exp` [T0129]
    //~   help: it is a function: `exp(x)`
    let g = v.max();
    //~ `max`: `tile of f32[64]` has no method `max` [T0129]
    //~   help: it is a function: `max(x)`, or element by element `maximum(a, b)`
    let h = v.t();
    //~ `t` in column 15: `tile of f32[64]` has no method `t` [T0129]
    //~   help: write `x.transpose()`
    let j = v.view([8, 8]);
    //~ `view`: `tile of f32[64]` has no method `view` [T0129]
    //~   help: write `x.reshape([8, 8])`
    let k = v.unsqueeze(0);
    //~ `unsqueeze`: `tile of f32[64]` has no method `unsqueeze` [T0129]
    //~   help: write `x.expand_dims(0)`
    let l = sum(v, 0);
    //~ `sum(v, 0)`: `sum` takes 1 argument, 2 given [T0101]
    //~   help: along an axis it is `sum_axis(x, 0)`
    let m = max(v, 1.0);
    //~ `max(v, 1.0)`: `max` takes 1 argument, 2 given [T0101]
    //~   help: element by element it is `maximum(a, b)`
    let o = program_id();
    //~ `program_id()`: `program_id` takes 1 argument, 0 given [T0101]
    //~   help: write `program_id(axis)`
    let p = arange(64);
    //~ `arange(64)`: `arange` takes 2 arguments, 1 given [T0101]
    //~   help: write `arange(0, n)`
    let q = load(x + i);
    //~ `load(x + i)`: `load` takes 2 arguments, 1 given [T0101]
    //~   help: write `load(p, mask)`; `load(p, true)` reads every element
    let r = zeros([64]);
    //~ `zeros`: `zeros` needs one element type, found 0 [T0119]
    //~   help: write `zeros::<f32>([4, 128])`
    let s = full([64], 0.0, f32);
    //~ `full([64], 0.0, f32)`: `full` takes 2 arguments, 3 given [T0101]
    //~   help: write `full(shape, value)`
    let t = dot(v, v);
    //~ `dot(v, v)`: `dot` takes 3 arguments, 2 given [T0101]
    //~   help: write `dot(a, b, acc)`; without a sum before it, `acc` is `zeros::<f32>([M, N])`
}

#[triton::kernel]
fn arguments(x: Ptr<f32>, m: Tensor<f32, 2>, out: PtrMut<f32>, n: i32, u: u32) {
    let i = arange(0, 64);
    let v = load(x + i, i < n, 0.0);
    //~ `load(x + i, i < n, 0.0)`: `load` takes 2 arguments, 3 given [T0101]
    //~   help: write `load_or(p, mask, other)`
    let w = m.load([0, 0], [16, 16]);
    let a = sum(w, 1);
    //~ `sum(w, 1)`: `sum` takes 1 argument, 2 given [T0101]
    //~   help: along an axis it is `sum_axis(x, 1)`
    let b = max(w, 1);
    //~ `max(w, 1)`: `max` takes 1 argument, 2 given [T0101]
    //~   help: along an axis it is `max_axis(x, 1)`; element by element `maximum(a, b)`
    let c = min(w, -1);
    //~ `min(w, -1)`: `min` takes 1 argument, 2 given [T0101]
    //~   help: along an axis it is `min_axis(x, axis)`; axes are counted from 0, outermost first
    let d = argmax(w, 0);
    //~ `argmax(w, 0)`: `argmax` takes 1 argument, 2 given [T0101]
    //~   help: along an axis it is `argmax_axis(x, 0)`
    let e = argmin(w, 1);
    //~ `argmin(w, 1)`: `argmin` takes 1 argument, 2 given [T0101]
    //~   help: along an axis it is `argmin_axis(x, 1)`
    let f = any(w > 0.0, 1);
    //~ `any(w > 0.0, 1)`: `any` takes 1 argument, 2 given [T0101]
    //~   help: along an axis it is `any_axis(x, 1)`
    let g = all(w > 0.0, 1);
    //~ `all(w > 0.0, 1)`: `all` takes 1 argument, 2 given [T0101]
    //~   help: along an axis it is `all_axis(x, 1)`
    let h = max(w, 0.0);
    //~ `max(w, 0.0)`: `max` takes 1 argument, 2 given [T0101]
    //~   help: element by element it is `maximum(a, b)`
    let j = min(w, w);
    //~ `min(w, w)`: `min` takes 1 argument, 2 given [T0101]
    //~   help: element by element it is `minimum(a, b)`
    let k = sum(w, w);
    //~ `sum(w, w)`: `sum` takes 1 argument, 2 given [T0101]
    //~   help: write `sum(x)`, or along an axis `sum_axis(x, 1)`
    let l = cumsum(w);
    //~ `cumsum(w)`: `cumsum` takes 2 arguments, 1 given [T0101]
    //~   help: write `cumsum(x, axis)`; the only axis of a row is 0
    let o = w.max(0.0);
    //~ `max`: `tile of f32[16,16]` has no method `max` [T0129]
    //~   help: element by element it is `maximum(a, b)`
    let p = w.max(1);
    //~ `max`: `tile of f32[16,16]` has no method `max` [T0129]
    //~   help: along an axis it is `max_axis(x, 1)`; element by element `maximum(a, b)`
    let q = w.sum(1);
    //~ `sum`: `tile of f32[16,16]` has no method `sum` [T0129]
    //~   help: along an axis it is `sum_axis(x, 1)`
    let s = sum(w > 0.0);
    //~ `w > 0.0`: `sum` is not defined on `tile of bool[16,16]` [T0104]
    //~   note: it is defined on `i8`, `i16`, `i32`, `i64`, `u8`, `u16`, `u32`, `u64`, `f16`, `bf16`, `f32`, `f64`
    //~   help: write `.to::<i32>()`, which is 0 or 1
    let t = max_axis(load(x + i, true), 0);
    //~ `max_axis(load(x + i, true), 0)`: `max_axis` yields a tile, `tile of f32[64]` has one axis [T0124]
    //~   help: write `max(..)` for a number
    store(out + i, load(x + i, true));
    //~ `store(out + i, load(x + i, true))`: `store` takes 3 arguments, 2 given [T0101]
    //~   help: write `store(p, value, mask)`; the mask `true` writes every element
    store(out - u, 1.0, true);
    //~ `u` in column 17: a pointer moves by a signed integer, found `u32` [T0104]
    //~   help: its negative is not an unsigned number: write `p - n.to::<i64>()`
    let y = w.expand_dims(-1);
    //~ `-1`: axis -1 of `tile of f32[16,16]`: it must be from 0 to 2 [T0124]
    //~   help: axes are counted from 0, outermost first: write 2
    let z = sum_axis(w, -1);
    //~ `-1`: axis -1 of `tile of f32[16,16]`: it must be from 0 to 1 [T0124]
    //~   help: axes are counted from 0, outermost first: write 1
}

#[triton::kernel]
fn remainders(x: Ptr<f32>, n: i32) {
    let v = load(x + arange(0, 64), true);
    let b = fmod(v, 2.0);
    //~ `fmod`: the language has no function `fmod` [T0129]
    //~   help: `%` is defined on integers; of floats `a - trunc(a / b) * b` has the sign of `a`, as Rust's `%`, and `a - floor(a / b) * b` that of `b`, as Python's
    let c = log1p(v);
    //~ `log1p`: the language has no function `log1p` [T0129]
    //~   help: write `let u = 1.0 + x;`, then `select(u == 1.0, x, log(u) * x / (u - 1.0))`: `log(u)` loses the digits of a small `x`
    let d = expm1(v);
    //~ `expm1`: the language has no function `expm1` [T0129]
    //~   help: write `tanh(0.5 * x) * (exp(x) + 1.0)`: `exp(x) - 1.0` loses the digits of a small `x`
    let e = sinh(v);
    //~ `sinh`: the language has no function `sinh` [T0129]
    //~   help: write `tanh(x) * (0.5 * (exp(x) + exp(-x)))`: a difference of `exp` loses the digits of a small `x`
    let f = log10(v);
    //~ `log10`: the language has no function `log10` [T0129]
    //~   help: write `log2(x) * std::f32::consts::LOG10_2`
    let g = topk(v, 4);
    //~ `topk`: the language has no function `topk` [T0129]
    //~   help: the largest element is `max(x)`, its index `argmax(x)`; for the next one mask it off and repeat
    let h = sum(v, axis = 0);
    //~ `axis = 0`: an argument with a name, `axis`, is not Rust [T0001]
    //~   help: write `sum_axis(x, 0)`
    let j = cumsum(v, axis = 0);
    //~ `axis = 0`: an argument with a name, `axis`, is not Rust [T0001]
    //~   help: write `0`: arguments are given in the order of the parameters
}

#[triton::kernel]
fn methods(x: Ptr<f32>, n: i32) {
    let v = load(x + arange(0, 64), true);
    let a = v % 2.0;
    //~ `%`: cannot use `%` on `tile of f32[64]` and `float literal` [T0104]
    //~   help: `%` is defined on integers; of floats `a - trunc(a / b) * b` has the sign of `a`, as Rust's `%`, and `a - floor(a / b) * b` that of `b`, as Python's
    let b = v.flip(0);
    //~ `flip`: `tile of f32[64]` has no method `flip` [T0129]
    //~   help: access memory in the opposite order: `load(p + (63 - arange(0, 64)), mask)`
    let c = v.squeeze();
    //~ `squeeze`: `tile of f32[64]` has no method `squeeze` [T0129]
    //~   help: write `x.reshape([8, 8])`
    let d = v.cdiv(2);
    //~ `cdiv`: `tile of f32[64]` has no method `cdiv` [T0129]
    //~   help: write `(a + b - 1) / b`
    let e = n.max(3);
    //~ `max`: `i32` has no method `max` [T0129]
    //~   help: it is a function: `maximum(a, b)`
    let f = tl.cdiv(n, 2);
    //~ `tl`: `tl.cdiv(..)` is not Rust [T0129]
    //~   help: write `(a + b - 1) / b`
}

fn main() {}
