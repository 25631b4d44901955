//! Type arguments, where there are some.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    let i = arange(0, 128);
    let a = i.to();
    //~ `to`: `to` needs one element type, found 0 [T0119]
    //~   help: write `.to::<f32>()`
    let b = i.to::<f32, f32>();
    //~ `to`: `to` needs one element type, found 2 [T0119]
    //~   help: write `.to::<f32>()`
    let c = i.to::<Tile<f32>>();
    //~ `Tile<f32>`: `to` needs an element type, found `Tile<..>` [T0119]
    //~   help: name only the element type, as in `.to::<f32>()`: the shape stays
    let d = load::<f32>(x, true);
    //~ `load::<f32>`: `load` takes no type arguments [T0119]
    store(x + i, b, true);
}

fn main() {}
