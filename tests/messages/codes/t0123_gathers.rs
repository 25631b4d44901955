//! Indices that a gather, a scatter, or an update at indices cannot have.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: Tensor<f32, 2>, out: TensorMut<f32, 2>, counts: TensorMut<i8, 1>, n: i32, far: u32) {
    let (rows, columns) = (arange(0, 16).expand_dims(1), arange(0, 32).expand_dims(0));
    let a = x.gather([rows], true);
    //~ `[rows]`: an index with 1 entries for `Tensor<f32, 2>` [T0123]
    //~   help: write 2, one for each axis
    let b = x.gather((rows, columns.to::<f32>()), true);
    //~ `(rows, columns.to::<f32>())`: an index of a view is `i32` or `i64`, found `tile of f32[1,32]` [T0102]
    //~   help: write `.to::<i32>()` or `.to::<i64>()`
    let c = x.gather([arange(0, 16), arange(0, 32)], true);
    //~ `arange(0, 32)`: indices of shapes [16] and [32] [T0103]
    //~   help: indices broadcast to one shape: write `rows.expand_dims(1)` for an index per row
    let d = x.gather([rows, columns], 1);
    //~ `1`: a mask is `bool` or a tile of `bool`, found `integer literal` [T0105]
    //~   help: compare, as in `i < n`; `true` selects every element
    let e = x.gather([rows, columns], arange(0, 64) < n);
    //~ `arange(0, 64) < n`: the mask is `tile of bool[64]`, which does not broadcast to the shape [16,32] of the access [T0117]
    //~   help: give it that shape, or one that broadcasts to it, as by `x.expand_dims(1)`
    let f = x.gather_or([rows, columns], true, 1);
    //~ `1`: an integer literal where `f32` is needed [T0112]
    //~   help: write `1.0`
    let g = x.gather([rows, columns]);
    //~ `gather`: `gather` takes 2 arguments, 1 given [T0101]
    //~   help: write `gather(at, mask)`
    let h = x.get([rows, columns]);
    //~ `[rows, columns]`: `get` reads one element, the index has shape [16,32] [T0123]
    //~   help: read a tile of elements by `gather(at, true)`
    let i = x.get((n, far));
    //~ `(n, far)`: an index of a view is `i32` or `i64`, found `u32` [T0102]
    //~   help: write `.to::<i32>()` or `.to::<i64>()`
    let j = x.load([rows, columns], [16, 32]);
    //~ `rows`: the first index of a tile is a scalar, found `tile of i32[16,1]` [T0102]
    //~   help: for an index per element write `gather`, `scatter` or `atomic_.._at`
    x.scatter([rows, columns], 1.0, true);
    //~ `scatter`: a scatter through `Tensor`, which is read-only [T0109]
    //~   help: declare the parameter as `TensorMut<f32, 2>`
    out.scatter([rows, columns], 1, true);
    //~ `1`: an integer literal where `f32` is needed [T0112]
    //~   help: write `1.0`
    out.scatter([n, n], rows.to::<f32>(), true);
    //~ `rows.to::<f32>()`: the stored value is `tile of f32[16,1]`, but one element is accessed [T0117]
    //~   help: give it one value, or access a tile, as by `p + arange(0, 64)`
    x.atomic_add_at([rows, columns], 1.0, true);
    //~ `atomic_add_at`: `atomic_add_at` through `Tensor`, which is read-only [T0109]
    //~   help: declare the parameter as `TensorMut<f32, 2>`
    counts.atomic_add_at([arange(0, 16)], 1, true);
    //~ `atomic_add_at`: `atomic_add_at` is not defined on memory of `i8` [T0104]
    //~   help: the memory may hold `i32`, `i64`, `u32`, `u64`, `f16`, `bf16`, `f32`, `f64`
    out.atomic_cas_at([rows, columns], 1.0, true);
    //~ `atomic_cas_at`: `atomic_cas_at` takes 4 arguments, 3 given [T0101]
    //~   help: write `atomic_cas_at(at, compare, value, mask)`
    out.gather_at([rows, columns], true);
    //~ `gather_at`: `TensorMut<f32, 2>` has no method `gather_at` [T0129]
    //~   help: a view has `load`, `load_or`, `store`, `get`, `gather`, `gather_or`, `scatter`, `dim`, `stride`, and the atomic updates
}

fn main() {}
