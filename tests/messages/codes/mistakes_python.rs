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
    //~   help: one after the other is `join(a, b).permute([1, 0]).reshape([2 * N])`; in turns it is `interleave(a, b)`
    let h = flip(a);
    //~ `flip`: the language has no function `flip` [T0129]
    //~   help: the language does not have it
    let j = sort(a);
    //~ `sort`: the language has no function `sort` [T0129]
    //~   help: the language does not have it
    let k = histogram(a, 16);
    //~ `histogram`: the language has no function `histogram` [T0129]
    //~   help: count with `atomic_add(p + bin, 1, mask)`
    let l = gather(a, i, 0);
    //~ `gather`: the language has no function `gather` [T0129]
    //~   help: a gather is a load: `load(p + index, mask)`
    let m = join(a, a);
    let o = zeros_like(a);
    //~ `zeros_like`: the language has no function `zeros_like` [T0129]
    //~   help: write `zeros::<T>(shape)`
    let p = associative_scan(a, 0, add);
    //~ `associative_scan`: the language has no function `associative_scan` [T0129]
    //~   help: write `scan(x, axis, |a, b| ..)`
    let q = make_block_ptr(x, n);
    //~ `make_block_ptr`: the language has no function `make_block_ptr` [T0129]
    //~   help: a view is a parameter, `x: Tensor<f32, 2>`, and is read with `x.load([i, j], [64, 64])`
    let r = view(a, [8, 8]);
    //~ `view`: the language has no function `view` [T0129]
    //~   help: write `x.reshape(shape)`
    let s = reshape(a, [8, 8]);
    //~ `reshape`: the language has no function `reshape` [T0129]
    //~   help: write `x.reshape(shape)`
    let t = expand_dims(a, 0);
    //~ `expand_dims`: the language has no function `expand_dims` [T0129]
    //~   help: it is a method: `x.expand_dims(axis)`
    let u = cast(a, f16);
    //~ `cast`: the language has no function `cast` [T0129]
    //~   help: write `x.to::<f32>()`
    let v = isnan(a);
    //~ `isnan`: the language has no function `isnan` [T0129]
    //~   help: compare: `x != x` holds for a NaN alone
    let w = dot_scaled(a, a, a);
    //~ `dot_scaled`: the language has no function `dot_scaled` [T0129]
    //~   help: the language does not have it
    let y = thread_id(0);
    //~ `thread_id`: the language has no function `thread_id` [T0129]
    //~   help: the compiler distributes tiles over threads; a program knows `program_id(axis)`
    let z = umulhi(n, n);
    //~ `umulhi`: the language has no function `umulhi` [T0129]
    //~   help: write `mul_hi(a, b)`; the lower half of the product is `a * b`
    device_print("a", a);
    //~ `device_print`: the language has no function `device_print` [T0129]
    //~   help: write `println!("{}", x)`
    device_assert(n > 0);
    //~ `device_assert`: the language has no function `device_assert` [T0129]
    //~   help: write `assert!(condition, "what is wrong")`
    static_assert(n > 0);
    //~ `static_assert`: the language has no function `static_assert` [T0129]
    //~   help: write `const { assert!(condition) }`
    debug_barrier();
    //~ `debug_barrier`: the language has no function `debug_barrier` [T0129]
    //~   help: the compiler inserts the barriers: a program is one thread of control
    multiple_of(n, 16);
    //~ `multiple_of`: the language has no function `multiple_of` [T0129]
    //~   help: it is an attribute of a parameter: `#[multiple_of(16)] n: i32`
    for i in static_range(0, 4) {}
    //~ `static_range(0, 4)`: a `for` loops over a range, and over nothing else [T0015]
    //~   help: write `for i in lo..hi`, or `for i in (lo..hi).step_by(step)`
}

#[triton::kernel]
fn indices(x: Ptr<f32>, out: PtrMut<f32>, n: i32) {
    let v = load(x + arange(0, 64), true);
    let u = v[0];
    //~ `v[0]`: indexing is not part of the kernel language [T0001]
    //~   help: memory is read with `load(p + i, mask)` and written with `store(p + i, value, mask)`
    let w = v[i < n];
    //~ `v[i < n]`: indexing is not part of the kernel language [T0001]
    //~   help: memory is read with `load(p + i, mask)` and written with `store(p + i, value, mask)`
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
    //~   help: the shape of a tile is a compile-time constant; the extent of a view is `x.dim(axis)`
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
    //~   help: write `x.reshape(shape)`
    let k = v.unsqueeze(0);
    //~ `unsqueeze`: `tile of f32[64]` has no method `unsqueeze` [T0129]
    //~   help: write `x.expand_dims(axis)`
    let l = sum(v, 0);
    //~ `sum(v, 0)`: `sum` takes 1 argument, 2 given [T0101]
    //~   help: write `sum(x)`
    let m = max(v, 1.0);
    //~ `max(v, 1.0)`: `max` takes 1 argument, 2 given [T0101]
    //~   help: write `max(x)`
    let o = program_id();
    //~ `program_id()`: `program_id` takes 1 argument, 0 given [T0101]
    //~   help: write `program_id(axis)`
    let p = arange(64);
    //~ `arange(64)`: `arange` takes 2 arguments, 1 given [T0101]
    //~   help: write `arange(lo, hi)`
    let q = load(x + i);
    //~ `load(x + i)`: `load` takes 2 arguments, 1 given [T0101]
    //~   help: write `load(p, mask)`
    let r = zeros([64]);
    //~ `zeros`: `zeros` needs one element type, found 0 [T0119]
    //~   help: write `zeros::<f32>([4, 128])`
    let s = full([64], 0.0, f32);
    //~ `full([64], 0.0, f32)`: `full` takes 2 arguments, 3 given [T0101]
    //~   help: write `full(shape, value)`
    let t = dot(v, v);
    //~ `dot(v, v)`: `dot` takes 3 arguments, 2 given [T0101]
    //~   help: write `dot(a, b, acc)`
}

fn main() {}
