//! One build shows every mistake, and launches of the kernel report nothing.
use triton::prelude::*;

#[triton::kernel(T = [f32])]
fn wrong<T: Num>(x: PtrMut<T>, n: i32) {
    let a = match n {
        _ => 1.0,
    };
    let b = &a;
    if n > 0 {
        let c = b[0];
        store(x, c, true);
    }
}

fn main() {
    let stream = Device::cpu().stream().unwrap();
    let mut x = stream.zeros::<f64>(4).unwrap();
    let _launch = wrong::<f64>(&mut x, 4);
}
