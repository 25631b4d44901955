//! Derivatives of activations, of tiles of floats.

use triton::prelude::*;

/// The derivative at x of the activation of this [number](crate::Activation::number) and [slope](crate::Activation::slope); 1 for another
/// number. That of [`relu`](super::relu) at 0 is 0. The number is the same for all elements, so that a program takes one branch.
///
/// ```
/// use triton::prelude::*;
/// use triton_kernels::functions::activation_derivative;
///
/// /// g = g · relu'(x).
/// #[triton::kernel]
/// fn through(x: Tensor<f32, 1>, g: TensorMut<f32, 1>) {
///     let at = [program_id(0) * 64];
///     g.store(at, g.load(at, [64]) * activation_derivative(x.load(at, [64]), 1, 0.0));
/// }
///
/// let stream = Device::cpu().stream()?;
/// let (x, mut g) = (stream.tensor(&[-1.0f32, 2.0], [2])?, stream.tensor(&[5.0f32, 5.0], [2])?);
/// through(&x, &mut g).launch(&stream, 1)?;
/// assert_eq!(stream.download(&g)?, [0.0, 5.0]);
/// # Ok::<(), triton::Error>(())
/// ```
#[triton::function]
pub fn activation_derivative<T: Float>(x: Tile<T>, kind: i32, slope: f32) -> Tile<T> {
    // Where a factor is 0 another one must not be infinite; each derivative is at its limit long before.
    let v = minimum(maximum(x, -128.0), 128.0);
    if kind == 1 {
        select(x > 0.0, 1.0, select(x <= 0.0, 0.0, x))
    } else if kind == 2 {
        // Φ(x) + x · φ(x).
        fma(v * 0.3989422804014327, exp(x * x * -0.5), fma(erf(x * 0.7071067811865476), 0.5, 0.5))
    } else if kind == 3 {
        let square = v * v;
        let s = sigmoid(x * fma(square, 0.0713548162726, 1.5957691216057308));
        fma(v * s * (1.0 - s), fma(square, 0.2140644488178, 1.5957691216057308), s)
    } else if kind == 4 {
        let s = sigmoid(x);
        fma(v * s, 1.0 - s, s)
    } else if kind == 5 {
        // 1 − s would lose the digits of what is near 1.
        sigmoid(x) * sigmoid(-x)
    } else if kind == 6 {
        sigmoid(x * 2.0) * sigmoid(x * -2.0) * 4.0
    } else if kind == 7 {
        sigmoid(x)
    } else if kind == 8 {
        let t = tanh(maximum(x, 0.0) + log(1.0 + exp(-abs(x))));
        fma(v * sigmoid(x), 1.0 - t * t, t)
    } else if kind == 9 {
        select(x <= 0.0, 0.0, select(x >= 6.0, 0.0, fma(x, 0.0, 1.0)))
    } else if kind == 10 {
        select(x <= -3.0, 0.0, select(x >= 3.0, 0.0, fma(x, 0.0, 0.16666666666666666)))
    } else if kind == 11 {
        select(x <= -3.0, 0.0, select(x >= 3.0, 1.0, fma(x, 0.3333333333333333, 0.5)))
    } else if kind == 12 {
        let s = sigmoid(x * 1.702);
        fma(v * s * 1.702, 1.0 - s, s)
    } else if kind == 13 {
        select(x > 0.0, 1.0, select(x <= 0.0, fma(v, 0.0, slope.to::<T>()), x))
    } else if kind == 14 {
        select(x > 0.0, 1.0, exp(x) * slope.to::<T>())
    } else {
        fma(v, 0.0, 1.0)
    }
}
