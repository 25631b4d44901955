//! Atomic updates by values of another type, under masks that are not `bool`, of another shape, without pointers.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<i32>, a: TensorMut<i32, 1>, n: i32) {
    let i = arange(0, 16);
    atomic_add(x + i, 1.5, true);
    //~ `1.5`: a float literal where `i32` is needed [T0112]
    //~   help: write an integer, or convert the other side with `.to::<f32>()`
    atomic_add(x + i, i.to::<i64>(), true);
    //~ `i.to::<i64>()`: the value of the update is `tile of i64[16]`, the memory holds `i32` [T0110]
    //~   help: write `.to::<i32>()`
    atomic_add(x + i, 1, n);
    //~ `n`: a mask is `bool` or a tile of `bool`, found `i32` [T0105]
    //~   help: compare, as in `i < n`; `true` selects every element
    atomic_add(x, i, true);
    //~ `i` in column 19: the value of the update is `tile of i32[16]`, but one element is accessed [T0117]
    //~   help: give it one value, or access a tile, as by `p + arange(0, 64)`
    atomic_add(n, 1, true);
    //~ `n`: `atomic_add` needs a pointer or a tile of pointers, found `i32` [T0111]
    //~   help: write `pointer + index`
    atomic_add(x + i, 1);
    //~ `atomic_add(x + i, 1)`: `atomic_add` takes 3 arguments, 2 given [T0101]
    //~   help: write `atomic_add(p, value, mask)`
    atomic_cas(x + i, 1.0, i);
    //~ `1.0`: a float literal where `i32` is needed [T0112]
    //~   help: write an integer, or convert the other side with `.to::<f32>()`
    atomic_cas(x + i, 1, i.to::<u32>());
    //~ `i.to::<u32>()`: the value of the update is `tile of u32[16]`, the memory holds `i32` [T0110]
    //~   help: write `.to::<i32>()`
    a.atomic_add([0], zeros::<f32>([16]));
    //~ `zeros::<f32>([16])`: the value of the update is `tile of f32[16]`, the view holds `i32` [T0110]
    //~   help: write `.to::<i32>()`
    a.atomic_add([0], 1);
    //~ `1`: a tile with 0 dimensions for `TensorMut<i32, 1>` [T0123]
    //~   help: a number is stored as a tile of one element: `full([1], number)`, with an extent for each axis
    a.atomic_add([0]);
    //~ `atomic_add`: `atomic_add` takes 2 arguments, 1 given [T0101]
    //~   help: write `atomic_add(at, value)`
    a.atomic_cas([0], 1.5, i);
    //~ `1.5`: a float literal where `i32` is needed [T0112]
    //~   help: write an integer, or convert the other side with `.to::<f32>()`
    a.atomic_cas([0], zeros::<i32>([4, 16]), i);
    //~ `zeros::<i32>([4, 16])`: the compared value is `tile of i32[4,16]`, which does not broadcast to the shape [16] of the access [T0117]
    //~   help: give it that shape, or one that broadcasts to it, as by `x.expand_dims(1)`
    a.atomic_cas([0], i);
    //~ `atomic_cas`: `atomic_cas` takes 3 arguments, 2 given [T0101]
    //~   help: write `atomic_cas(at, compare, value)`
    let v = sum(reduce(i, |a, b| atomic_add(x, a, true)));
    //~ `atomic_add(x, a, true)`: a captured value in a closure that combines two elements [T0016]
    //~   help: it may use its two parameters and constants; choose with `select`
}

fn main() {}
