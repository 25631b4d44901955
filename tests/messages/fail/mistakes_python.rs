//! What users of Triton in Python type. Each marked line is one mistake.
use triton::prelude::*;

#[triton::kernel]
fn calls(x: Ptr<f32>, out: PtrMut<f32>, n: i32) {
    let i = arange(0, 64);
    let a = load(x + i, i < n);
    let c = cumsum(a); //~ cumsum
    let d = where_(i < n, a, 0.0); //~ where_
    let e = max_of(a); //~ max_of
    let f = trans(a); //~ trans
    let g = cat(a, a); //~ cat
    let h = flip(a); //~ flip
    let j = sort(a); //~ sort
    let k = histogram(a, 16); //~ histogram
    let l = gather(a, i, 0); //~ gather
    let m = join(a, a); //~ join
    let o = zeros_like(a); //~ zeros_like
    let p = associative_scan(a, 0, add); //~ associative_scan
    let q = make_block_ptr(x, n); //~ make_block_ptr
    let r = view(a, [8, 8]); //~ view
    let s = reshape(a, [8, 8]); //~ reshape
    let t = expand_dims(a, 0); //~ expand_dims
    let u = cast(a, f16); //~ cast
    let v = isnan(a); //~ isnan
    let w = dot_scaled(a, a, a); //~ dot_scaled
    let y = thread_id(0); //~ thread_id
    let z = umulhi(n, n); //~ umulhi
    device_print("a", a); //~ device_print
    device_assert(n > 0); //~ device_assert
    static_assert(n > 0); //~ static_assert
    debug_barrier(); //~ debug_barrier
    multiple_of(n, 16); //~ multiple_of
    for i in static_range(0, 4) {} //~ static_range(0, 4)
}

#[triton::kernel]
fn indices(x: Ptr<f32>, out: PtrMut<f32>, n: i32) {
    let v = load(x + arange(0, 64), true);
    let u = v[0]; //~ v[0]
    let w = v[i < n]; //~ v[i < n]
}

#[triton::kernel]
fn module(x: Ptr<f32>, out: PtrMut<f32>, n: i32) {
    let i = tl.arange(0, 64); //~ tl
    let a = tl.load(x, n); //~ tl
    let b = tl.float32; //~ tl
    let c = arange(0, 64).to(tl.float16); //~ to
    let d = tl.cumsum(n, 0); //~ tl
    let e = torch.zeros(n); //~ torch
}

#[triton::kernel]
fn spellings(x: Ptr<f32>, out: PtrMut<f32>, n: i32) {
    let i = arange(0, 64);
    let v = load(x + i, i < n);
    let a = v.trans(); //~ trans
    let b = v.to(f16); //~ to
    let c = v.cast::<f16>(); //~ cast
    let d = v.shape(); //~ shape
    let e = v.sum(); //~ sum
    let f = v.exp(); //~ exp
    let g = v.max(); //~ max
    let h = v.t(); //~ t
    let j = v.view([8, 8]); //~ view
    let k = v.unsqueeze(0); //~ unsqueeze
    let l = sum(v, 0); //~ sum(v, 0)
    let m = max(v, 1.0); //~ max(v, 1.0)
    let o = program_id(); //~ program_id()
    let p = arange(64); //~ arange(64)
    let q = load(x + i); //~ load(x + i)
    let r = zeros([64]); //~ zeros
    let s = full([64], 0.0, f32); //~ full([64], 0.0, f32)
    let t = dot(v, v); //~ dot(v, v)
}

fn main() {}
