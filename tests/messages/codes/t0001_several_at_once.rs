//! One build shows every mistake, and launches of the kernel report nothing.
use triton::prelude::*;

#[triton::kernel(T = [f32])]
fn wrong<T: Num>(x: PtrMut<T>, n: i32) {
    let a = match n {
    //~ `match`: `match` is not part of the kernel language [T0015]
    //~   help: write `if a == b { .. } else { .. }`, or, element by element, `select(a == b, x, y)`
        _ => 1.0,
    };
    let b = &a;
    //~ `&a`: a reference is not part of the kernel language [T0001]
    //~   help: numbers and tiles are values: write the variable itself
    if n > 0 {
        let c = b[0];
        //~ `b[0]`: indexing is not part of the kernel language [T0001]
        //~   help: a tile is not indexed: load the element by itself, `load(p + i, true)`, or reduce the tile, `sum(select(arange(0, 64) == i, x, 0.0))`
        store(x, c, true);
    }
}

fn main() {
    let stream = Device::cpu().stream().unwrap();
    let mut x = stream.zeros::<f64>(4).unwrap();
    let _launch = wrong::<f64>(&mut x, 4);
}
