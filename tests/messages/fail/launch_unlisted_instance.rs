//! An instance that no list has.
use triton::prelude::*;

#[triton::kernel(T = [f32, f16], BLOCK = [256, 1024])]
fn add<T: Num, const BLOCK: i32>(x: Ptr<T>, out: PtrMut<T>, n: i32) {
    let i = program_id(0) * BLOCK + arange(0, BLOCK);
    store(out + i, load(x + i, i < n), i < n);
}

fn main() {
    let stream = Device::cpu().stream().unwrap();
    let x = stream.zeros::<f64>(4).unwrap();
    let mut out = stream.zeros::<f64>(4).unwrap();
    let _ = add::<f64, 256>(&x, &mut out, 4);
    let x = stream.zeros::<f32>(4).unwrap();
    let mut out = stream.zeros::<f32>(4).unwrap();
    let _ = add::<_, 512>(&x, &mut out, 4);
}
