//! What the kernels of attention share: tiles of heads, and which keys queries see.

use triton::prelude::*;

/// A tile of one head: rows from `at` on.
#[triton::function]
pub(super) fn rows<T: Num, const R: i32, const D: i32>(x: Tensor<T, 4>, batch: i32, head: i32, at: i32) -> Tile<T> {
    x.load([batch, head, at, 0], [1, 1, R, D]).reshape([R, D])
}

/// Which keys queries see, of queries and keys from `m` and `n` on: a bound on each side of a row, so that an element is two comparisons.
#[triton::function]
pub(super) fn seen<const BM: i32, const BN: i32>(
    m: i32,
    n: i32,
    queries: i32,
    keys: i32,
    left: i32,
    right: i32,
) -> Tile<bool> {
    seen_from::<BM, BN>(m, n, 0, queries, keys, left, right)
}

/// The same without the first `from` keys.
#[triton::function]
pub(super) fn seen_from<const BM: i32, const BN: i32>(
    m: i32,
    n: i32,
    from: i32,
    queries: i32,
    keys: i32,
    left: i32,
    right: i32,
) -> Tile<bool> {
    let own = m + arange(0, BM) + (keys - queries - n);
    let (first, last) = (maximum(own - left, from), minimum(own + right, keys - n - 1));
    let j = arange(0, BN).expand_dims(0);
    (j >= first.expand_dims(1)) & (j <= last.expand_dims(1))
}
