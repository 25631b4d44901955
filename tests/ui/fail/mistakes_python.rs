//! What is typed by hands that know Triton in Python. Each marked line is one mistake.
use triton::prelude::*;

#[triton::kernel]
fn calls(x: Ptr<f32>, out: PtrMut<f32>, n: i32) {
    let i = arange(0, 64);
    let a = load(x + i, i < n);
    let c = cumsum(a); //~
    let d = where_(i < n, a, 0.0); //~
    let e = max_of(a); //~
    let f = trans(a); //~
    let g = cat(a, a); //~
    let h = flip(a); //~
    let j = sort(a); //~
    let k = histogram(a, 16); //~
    let l = gather(a, i, 0); //~
    let m = join(a, a); //~
    let o = zeros_like(a); //~
    let p = associative_scan(a, 0, add); //~
    let q = make_block_ptr(x, n); //~
    let r = view(a, [8, 8]); //~
    let s = reshape(a, [8, 8]); //~
    let t = expand_dims(a, 0); //~
    let u = cast(a, f16); //~
    let v = isnan(a); //~
    let w = dot_scaled(a, a, a); //~
    let y = thread_id(0); //~
    let z = umulhi(n, n); //~
    device_print("a", a); //~
    device_assert(n > 0); //~
    static_assert(n > 0); //~
    debug_barrier(); //~
    multiple_of(n, 16); //~
    for i in static_range(0, 4) {} //~
}

#[triton::kernel]
fn indices(x: Ptr<f32>, out: PtrMut<f32>, n: i32) {
    let v = load(x + arange(0, 64), true);
    let u = v[0]; //~
    let w = v[i < n]; //~
}

#[triton::kernel]
fn module(x: Ptr<f32>, out: PtrMut<f32>, n: i32) {
    let i = tl.arange(0, 64); //~
    let a = tl.load(x, n); //~
    let b = tl.float32; //~
    let c = arange(0, 64).to(tl.float16); //~
    let d = tl.cumsum(n, 0); //~
    let e = torch.zeros(n); //~
}

#[triton::kernel]
fn spellings(x: Ptr<f32>, out: PtrMut<f32>, n: i32) {
    let i = arange(0, 64);
    let v = load(x + i, i < n);
    let a = v.trans(); //~
    let b = v.to(f16); //~
    let c = v.cast::<f16>(); //~
    let d = v.shape(); //~
    let e = v.sum(); //~
    let f = v.exp(); //~
    let g = v.max(); //~
    let h = v.t(); //~
    let j = v.view([8, 8]); //~
    let k = v.unsqueeze(0); //~
    let l = sum(v, 0); //~
    let m = max(v, 1.0); //~
    let o = program_id(); //~
    let p = arange(64); //~
    let q = load(x + i); //~
    let r = zeros([64]); //~
    let s = full([64], 0.0, f32); //~
    let t = dot(v, v); //~
}

fn main() {}
