//! Kernels of reductions: of rows, whose elements are next to each other, and of columns. A program has a strip of what is reduced; where there are
//! several strips, a second launch adds what they found, in their order. Functions of the language that operations are named as are used here alone.

use triton::prelude::*;

/// The greater of two numbers, or NaN if one of them is.
#[triton::function]
fn greater(a: Tile<f32>, b: Tile<f32>) -> Tile<f32> {
    select((b > a) | (b != b), b, a)
}

/// v − `mean` within the strip, or its square.
#[triton::function]
fn term(v: Tile<f32>, mean: Tile<f32>, inside: Tile<bool>, square: bool) -> Tile<f32> {
    let d = select(inside, v - mean, 0.0);
    select(square, d * d, d)
}

/// v times `sign`, or 1 or 0 times `sign`: whether v is not 0. Outside the strip what loses against all.
#[triton::function]
fn rank(v: Tile<f32>, sign: f32, inside: Tile<bool>, truth: bool) -> Tile<f32> {
    select(inside, select(truth, select(v != 0.0, 1.0, 0.0), v) * sign, f32::NEG_INFINITY)
}

/// The sums of strips of `tiles` times 4 N elements of rows, R rows a program, times `factor`, and of those the root if it is asked for. The row (b, i) is
/// relative to its `mean`, if there is one. One of the outputs is absent.
#[triton::kernel(T = [f32, f16, bf16], configs = [
    (R = 1, N = 2048, num_warps = 8, general = true), (R = 16, N = 128, num_warps = 8),
], targets = ["sm_80"], tune = [R, N])]
pub(super) fn row_sums<T: Float, const R: i32, const N: i32>(
    x: Tensor<T, 3>,
    #[no_specialize] mean: Tensor<f32, 2>,
    #[no_specialize] y: TensorMut<T, 2>,
    #[no_specialize] parts: TensorMut<f32, 3>,
    #[no_specialize] tiles: i32,
    square: bool,
    root: bool,
    factor: f32,
) {
    let (i, s, b) = (program_id(0) * R, program_id(1), program_id(2));
    let first = s * tiles * (4 * N);
    let last = first + minimum(tiles * (4 * N), x.dim(2).to::<i32>() - first);
    let mean = mean.load([b, i], [1, R]).expand_dims(2);
    let mut total = zeros::<f32>([1, R, N]);
    // Four loads are in flight.
    for j in (first..last).step_by(4 * N) {
        let at = (j + arange(0, N)).expand_dims(0).expand_dims(0);
        let a = term(x.load([b, i, j], [1, R, N]).to::<f32>(), mean, at < last, square);
        let c = term(x.load([b, i, j + N], [1, R, N]).to::<f32>(), mean, at + N < last, square);
        let d = term(x.load([b, i, j + 2 * N], [1, R, N]).to::<f32>(), mean, at + 2 * N < last, square);
        let e = term(x.load([b, i, j + 3 * N], [1, R, N]).to::<f32>(), mean, at + 3 * N < last, square);
        total += (a + c) + (d + e);
    }
    let value = sum_axis(total, 2) * factor;
    let value = select(root, sqrt(value), value);
    y.store([b, i], value.to::<T>());
    parts.store([b, s, i], value.expand_dims(1));
}

/// The greatest elements of strips of rows, of the elements times `sign` and again times `sign`, or of whether they are not 0.
#[triton::kernel(T = [f32, f16, bf16], configs = [
    (R = 1, N = 2048, num_warps = 8, general = true), (R = 16, N = 128, num_warps = 8),
], targets = ["sm_80"], tune = [R, N])]
pub(super) fn row_extremes<T: Float, const R: i32, const N: i32>(
    x: Tensor<T, 3>,
    #[no_specialize] y: TensorMut<T, 2>,
    #[no_specialize] parts: TensorMut<f32, 3>,
    #[no_specialize] tiles: i32,
    truth: bool,
    sign: f32,
) {
    let (i, s, b) = (program_id(0) * R, program_id(1), program_id(2));
    let first = s * tiles * (4 * N);
    let last = first + minimum(tiles * (4 * N), x.dim(2).to::<i32>() - first);
    let mut most = full([1, R, N], f32::NEG_INFINITY);
    for j in (first..last).step_by(4 * N) {
        let at = (j + arange(0, N)).expand_dims(0).expand_dims(0);
        let a = rank(x.load([b, i, j], [1, R, N]).to::<f32>(), sign, at < last, truth);
        let c = rank(x.load([b, i, j + N], [1, R, N]).to::<f32>(), sign, at + N < last, truth);
        let d = rank(x.load([b, i, j + 2 * N], [1, R, N]).to::<f32>(), sign, at + 2 * N < last, truth);
        let e = rank(x.load([b, i, j + 3 * N], [1, R, N]).to::<f32>(), sign, at + 3 * N < last, truth);
        most = greater(most, greater(greater(a, c), greater(d, e)));
    }
    let value = reduce_axis(most, 2, |a, b| select((b > a) | (b != b), b, a));
    // Of nothing, a truth is that of no element.
    let value = select(truth, maximum(value, minimum(sign, 0.0)), value) * sign;
    y.store([b, i], value.to::<T>());
    parts.store([b, s, i], value.expand_dims(1));
}

/// As `row_sums`, of columns, of which a program has C, and of strips of `each` elements.
#[triton::kernel(configs = [(T = f32, C = 64), (T = f16, C = 128), (T = bf16, C = 128)], num_warps = 8, targets = ["sm_80"], tune = [C])]
pub(super) fn column_sums<T: Float, const C: i32>(
    x: Tensor<T, 3>,
    #[no_specialize] mean: Tensor<f32, 2>,
    #[no_specialize] y: TensorMut<T, 2>,
    #[no_specialize] parts: TensorMut<f32, 3>,
    #[no_specialize] each: i32,
    square: bool,
    root: bool,
    factor: f32,
) {
    let (j, s, b) = (program_id(0) * C, program_id(1), program_id(2));
    let first = s * each;
    let last = first + minimum(each, x.dim(1).to::<i32>() - first);
    let mean = mean.load([b, j], [1, C]).expand_dims(1);
    let mut total = zeros::<f32>([1, 32, C]);
    for i in (first..last).step_by(128) {
        let at = (i + arange(0, 32)).expand_dims(1).expand_dims(0);
        let a = term(x.load([b, i, j], [1, 32, C]).to::<f32>(), mean, at < last, square);
        let c = term(x.load([b, i + 32, j], [1, 32, C]).to::<f32>(), mean, at + 32 < last, square);
        let d = term(x.load([b, i + 64, j], [1, 32, C]).to::<f32>(), mean, at + 64 < last, square);
        let e = term(x.load([b, i + 96, j], [1, 32, C]).to::<f32>(), mean, at + 96 < last, square);
        total += (a + c) + (d + e);
    }
    let value = sum_axis(total, 1) * factor;
    let value = select(root, sqrt(value), value);
    y.store([b, j], value.to::<T>());
    parts.store([b, s, j], value.expand_dims(1));
}

/// As `row_extremes`, of columns.
#[triton::kernel(configs = [(T = f32, C = 64), (T = f16, C = 128), (T = bf16, C = 128)], num_warps = 8, targets = ["sm_80"], tune = [C])]
pub(super) fn column_extremes<T: Float, const C: i32>(
    x: Tensor<T, 3>,
    #[no_specialize] y: TensorMut<T, 2>,
    #[no_specialize] parts: TensorMut<f32, 3>,
    #[no_specialize] each: i32,
    truth: bool,
    sign: f32,
) {
    let (j, s, b) = (program_id(0) * C, program_id(1), program_id(2));
    let first = s * each;
    let last = first + minimum(each, x.dim(1).to::<i32>() - first);
    let mut most = full([1, 32, C], f32::NEG_INFINITY);
    for i in (first..last).step_by(128) {
        let at = (i + arange(0, 32)).expand_dims(1).expand_dims(0);
        let a = rank(x.load([b, i, j], [1, 32, C]).to::<f32>(), sign, at < last, truth);
        let c = rank(x.load([b, i + 32, j], [1, 32, C]).to::<f32>(), sign, at + 32 < last, truth);
        let d = rank(x.load([b, i + 64, j], [1, 32, C]).to::<f32>(), sign, at + 64 < last, truth);
        let e = rank(x.load([b, i + 96, j], [1, 32, C]).to::<f32>(), sign, at + 96 < last, truth);
        most = greater(most, greater(greater(a, c), greater(d, e)));
    }
    let value = reduce_axis(most, 1, |a, b| select((b > a) | (b != b), b, a));
    let value = select(truth, maximum(value, minimum(sign, 0.0)), value) * sign;
    y.store([b, j], value.to::<T>());
    parts.store([b, s, j], value.expand_dims(1));
}

/// What follows from the parts of all strips: their sum times `factor`, or its root; or the greatest one, times `sign` and again times `sign`. One of the
/// outputs is absent.
#[triton::kernel(T = [f32, f16, bf16], targets = ["sm_80"])]
pub(super) fn of_strips<T: Float>(
    #[no_specialize] parts: Tensor<f32, 3>,
    #[no_specialize] y: TensorMut<T, 2>,
    #[no_specialize] single: TensorMut<f32, 2>,
    extreme: bool,
    sign: f32,
    root: bool,
    factor: f32,
) {
    let (j, b, strips) = (program_id(0) * 16, program_id(2), parts.dim(1).to::<i32>());
    let (mut total, mut most) = (zeros::<f32>([1, 64, 16]), full([1, 64, 16], f32::NEG_INFINITY));
    for s in (0..strips).step_by(64) {
        let inside = (s + arange(0, 64) < strips).expand_dims(1).expand_dims(0);
        let v = parts.load([b, s, j], [1, 64, 16]);
        total += v;
        most = greater(most, select(inside, v * sign, f32::NEG_INFINITY));
    }
    let sum = sum_axis(total, 1) * factor;
    let most = reduce_axis(most, 1, |a, b| select((b > a) | (b != b), b, a)) * sign;
    let value = select(extreme, most, select(root, sqrt(sum), sum));
    y.store([b, j], value.to::<T>());
    single.store([b, j], value);
}

/// The sums so far of strips of `tiles` times N elements of R rows, tile after tile, from the start or from the end of a row; of several strips `sums` has those
/// of each with all before it.
#[triton::kernel(T = [f32, f16, bf16], configs = [
    (R = 1, N = 2048, num_warps = 8, general = true), (R = 16, N = 128, num_warps = 8),
], targets = ["sm_80"], tune = [R, N])]
pub(super) fn cumsum_kernel<T: Float, const R: i32, const N: i32>(
    x: Tensor<T, 2>,
    y: TensorMut<T, 2>,
    #[no_specialize] sums: Tensor<f32, 2>,
    #[no_specialize] tiles: i32,
    reverse: bool,
) {
    let (i, s, n) = (program_id(0) * R, program_id(1), x.dim(1).to::<i32>());
    // A multiple of N, whatever the number of tiles is: loads are vectors.
    let first = s * tiles * N;
    let end = first + minimum(tiles * N, n - first);
    let before = if reverse { s + 1 } else { s - 1 };
    // There are strips of single rows alone.
    let mut carry = full([R, 1], sums.get([i, before]));
    let k = arange(0, N).expand_dims(0);
    if reverse {
        let last = (end - 1 - first) / N * N;
        for before in (0..end - first).step_by(N) {
            let j = first + last - before;
            let v = scan_reverse(x.load([i, j], [R, N]).to::<f32>(), 1, |a, b| a + b) + carry;
            y.store([i, j], v.to::<T>());
            carry = sum_axis(select(k == 0, v, 0.0), 1).expand_dims(1);
        }
    } else {
        for j in (first..end).step_by(N) {
            let v = cumsum(x.load([i, j], [R, N]).to::<f32>(), 1) + carry;
            y.store([i, j], v.to::<T>());
            carry = sum_axis(select(k == N - 1, v, 0.0), 1).expand_dims(1);
        }
    }
}

/// The products so far of R rows, tile after tile.
#[triton::kernel(T = [f32, f16, bf16], configs = [
    (R = 1, N = 2048, num_warps = 8, general = true), (R = 16, N = 128, num_warps = 8),
], targets = ["sm_80"], tune = [R, N])]
pub(super) fn cumprod_kernel<T: Float, const R: i32, const N: i32>(x: Tensor<T, 2>, y: TensorMut<T, 2>) {
    let (i, n) = (program_id(0) * R, x.dim(1).to::<i32>());
    let (mut carry, k) = (full([R, 1], 1.0), arange(0, N).expand_dims(0));
    for j in (0..n).step_by(N) {
        let v = cumprod(x.load([i, j], [R, N]).to::<f32>(), 1) * carry;
        y.store([i, j], v.to::<T>());
        carry = sum_axis(select(k == N - 1, v, 0.0), 1).expand_dims(1);
    }
}

/// dx\[j\] = y\[j − 1\] · s\[j\], where s\[j\] = dy\[j\] + x\[j + 1\] · s\[j + 1\], from the last tile of a row to the first: steps of the recurrence are
/// scanned.
#[triton::kernel(T = [f32, f16, bf16], configs = [
    (R = 1, N = 1024, num_warps = 8, general = true), (R = 8, N = 128, num_warps = 8),
], targets = ["sm_80"], tune = [R, N], warnings = false)]
pub(super) fn cumprod_backward_kernel<T: Float, const R: i32, const N: i32>(
    x: Tensor<T, 2>,
    y: Tensor<T, 2>,
    dy: Tensor<T, 2>,
    dx: TensorMut<T, 2>,
) {
    let (i, n) = (program_id(0) * R, x.dim(1).to::<i32>());
    let (mut carry, k) = (zeros::<f32>([R, 1]), arange(0, N).expand_dims(0));
    let last = (n - 1) / N * N;
    for before in (0..n).step_by(N) {
        let j = last - before;
        let step = (x.load([i, j + 1], [R, N]).to::<f32>(), dy.load([i, j], [R, N]).to::<f32>());
        let (a, b) = scan_reverse(step, 1, |(a, b), (aa, bb)| (a * aa, aa * b + bb));
        // What is past the row is 0, whatever the product is.
        let s = select(carry == 0.0, b, fma(a, carry, b));
        let past = y.load_or([i, j - 1], [R, N], T::ONE).to::<f32>();
        dx.store([i, j], (past * s).to::<T>());
        carry = sum_axis(select(k == 0, s, 0.0), 1).expand_dims(1);
    }
}
