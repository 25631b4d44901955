//! Products of a matrix and a vector.

use triton::prelude::*;

/// y = α · a · x + β · y, R rows of a program, of whose columns each thread adds some. With TA, a is stored \[K, M\].
#[triton::kernel(warnings = false, configs = [
    (T = f32, C = f32, R = 8, N = 512, TA = false),
    (T = f32, C = f32, R = 64, N = 64, TA = true),
    (T = bf16, C = bf16, R = 8, N = 1024, TA = false),
    (T = bf16, C = bf16, R = 64, N = 64, TA = true),
    (T = f16, C = f16, R = 8, N = 1024, TA = false),
    (T = f16, C = f16, R = 64, N = 64, TA = true),
    (T = bf16, C = f32, R = 8, N = 1024, TA = false),
    (T = bf16, C = f32, R = 64, N = 64, TA = true),
    (T = f16, C = f32, R = 8, N = 1024, TA = false),
    (T = f16, C = f32, R = 64, N = 64, TA = true),
], tune = [R, N])]
pub fn matrix_vector<T: Float, C: Float, const R: i32, const N: i32, const TA: bool>(
    a: Tensor<T, 2>,
    x: Tensor<T, 1>,
    y: TensorMut<C, 1>,
    alpha: f64,
    beta: f64,
) {
    let m = program_id(0) * R;
    let sums = if TA {
        let mut acc = zeros::<f32>([N, R]);
        for k in (0..a.dim(0)).step_by(N) {
            acc = fma(a.load([k, m], [N, R]).to::<f32>(), x.load([k], [N]).to::<f32>().expand_dims(1), acc);
        }
        sum_axis(acc, 0)
    } else {
        let mut acc = zeros::<f32>([R, N]);
        for k in (0..a.dim(1)).step_by(N) {
            acc = fma(a.load([m, k], [R, N]).to::<f32>(), x.load([k], [N]).to::<f32>().expand_dims(0), acc);
        }
        sum_axis(acc, 1)
    };
    let mut v = sums * alpha.to::<f32>();
    if beta != 0.0 {
        v += y.load([m], [R]).to::<f32>() * beta.to::<f32>();
    }
    y.store([m], v.to::<C>());
}
