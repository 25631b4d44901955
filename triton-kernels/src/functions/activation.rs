//! Activations, of tiles of floats.
//!
//! A gate has closed long before −128: what is less counts as this where it is multiplied, so that −∞ times a gate of 0 is 0.

use triton::prelude::*;

/// max(x, 0); NaN stays NaN.
///
/// ```
/// use triton::prelude::*;
/// use triton_kernels::functions::relu;
///
/// #[triton::kernel]
/// fn positive(x: TensorMut<f32, 1>) {
///     let at = [program_id(0) * 64];
///     x.store(at, relu(x.load(at, [64])));
/// }
///
/// let stream = Device::cpu().stream()?;
/// let mut x = stream.tensor(&[-1.0f32, 2.0], [2])?;
/// positive(&mut x).launch(&stream, 1)?;
/// assert_eq!(stream.download(&x)?, [0.0, 2.0]);
/// # Ok::<(), triton::Error>(())
/// ```
#[triton::function]
pub fn relu<T: Float>(x: Tile<T>) -> Tile<T> {
    select(x < 0.0, 0.0, x)
}

/// x · Φ(x), where Φ is the distribution function of the normal distribution (Hendrycks and Gimpel, "Gaussian error linear units", 2016).
#[triton::function]
pub fn gelu<T: Float>(x: Tile<T>) -> Tile<T> {
    let half = maximum(x, -128.0) * 0.5;
    fma(half, erf(x * 0.7071067811865476), half)
}

/// sigmoid(u), where −u · log₂ e is x times a polynomial of x², with these coefficients from the constant on.
#[triton::function]
pub fn logistic(x: Tile<f32>, coefficients: (f32, f32, f32, f32, f32, f32, f32)) -> Tile<f32> {
    let (p0, p1, p2, p3, p4, p5, p6) = coefficients;
    let t = x * x;
    let mut u = fma(t, p6, p5);
    u = fma(t, u, p4);
    u = fma(t, u, p3);
    u = fma(t, u, p2);
    u = fma(t, u, p1);
    u = fma(t, u, p0);
    // The divisor is at least 1; its reciprocal as the root of its square has no branch, as a division has.
    let divisor = 1.0 + exp2(x * u);
    rsqrt(divisor * divisor)
}

/// Those of [`logistic`] for Φ: −log₂ e · log(Φ(x) / Φ(−x)) / x as a polynomial of x², by least squares so that x · Φ(x) is right within 7 · 10⁻⁸, for
/// every x.
#[cfg(feature = "linear")]
pub(crate) const NORMAL: [f32; 7] = [NORMAL_0, NORMAL_1, NORMAL_2, NORMAL_3, NORMAL_4, NORMAL_5, NORMAL_6];

#[triton::constant]
const NORMAL_0: f32 = -2.302_207_2;
#[triton::constant]
const NORMAL_1: f32 = -0.104_838_58;
#[triton::constant]
const NORMAL_2: f32 = 9.559_423e-5;
#[triton::constant]
const NORMAL_3: f32 = 1.593_89e-4;
#[triton::constant]
const NORMAL_4: f32 = -1.145_236_7e-5;
#[triton::constant]
const NORMAL_5: f32 = 3.850_406e-7;
#[triton::constant]
const NORMAL_6: f32 = -5.209_797_5e-9;

/// [`gelu`] within 7 · 10⁻⁸ of its value, in half as many instructions: for what is rounded to 16 bits.
#[triton::function]
pub fn gelu_logistic(x: Tile<f32>) -> Tile<f32> {
    maximum(x, -128.0) * logistic(x, (NORMAL_0, NORMAL_1, NORMAL_2, NORMAL_3, NORMAL_4, NORMAL_5, NORMAL_6))
}

/// The approximation of [`gelu`] by a tanh, of the same paper (section 2).
#[triton::function]
pub fn gelu_tanh<T: Float>(x: Tile<T>) -> Tile<T> {
    // x / 2 · (1 + tanh u) is x · sigmoid(2 u).
    let u = x * fma(x * x, 0.0713548162726, 1.5957691216057308);
    maximum(x, -128.0) * sigmoid(u)
}

/// x · (1 + tanh(u)) / 2 by [`tanh_approx`](triton::lang::tanh_approx), where u is x times a polynomial of t = min(x², 64) with these coefficients from the constant on. The gate
/// has opened or closed where t is 64.
#[triton::function]
pub fn gated_approx(x: Tile<f32>, coefficients: (f32, f32, f32)) -> Tile<f32> {
    let (p0, p1, p2) = coefficients;
    let t = minimum(x * x, 64.0);
    let u = x * fma(t, fma(t, p2, p1), p0);
    let half = maximum(x, -128.0) * 0.5;
    fma(half, tanh_approx(u), half)
}

/// Those of [`gated_approx`] for [`gelu`]: atanh(erf(x / √2)) / x as a polynomial of x², by the least greatest error of x · Φ(x), 2.6 · 10⁻⁵ for every x.
#[cfg(feature = "linear")]
pub(crate) const ERF: [f32; 3] = [ERF_0, ERF_1, ERF_2];

#[triton::constant]
const ERF_0: f32 = 0.797_507_9;
#[triton::constant]
const ERF_1: f32 = 0.037_005_648;
#[triton::constant]
const ERF_2: f32 = -3.515_169_7e-4;

/// Those of [`gated_approx`] for [`gelu_tanh`]: √(2 / π) and 0.044715 times it.
#[cfg(feature = "linear")]
pub(crate) const ROOT: [f32; 3] = [ROOT_0, ROOT_1, 0.0];

#[triton::constant]
const ROOT_0: f32 = 0.797_884_6;
#[triton::constant]
const ROOT_1: f32 = 0.035_677_407;

/// [`gelu`] within |x| · 2⁻¹² + 3 · 10⁻⁵ of its value, half an ulp of x in `f16`, by one [`tanh_approx`](triton::lang::tanh_approx): for what is rounded to 16 bits.
///
/// ```
/// use triton::prelude::*;
/// use triton_kernels::functions::gelu_approx;
///
/// #[triton::kernel]
/// fn activated(x: TensorMut<bf16, 1>) {
///     let at = [program_id(0) * 64];
///     x.store(at, gelu_approx(x.load(at, [64]).to::<f32>()).to::<bf16>());
/// }
///
/// let stream = Device::cpu().stream()?;
/// let mut x = stream.tensor(&[-1.0f32, 2.0].map(bf16::from_f32), [2])?;
/// activated(&mut x).launch(&stream, 1)?;
/// assert_eq!(stream.download(&x)?, [-0.15866, 1.9545].map(bf16::from_f32));
/// # Ok::<(), triton::Error>(())
/// ```
#[triton::function]
pub fn gelu_approx(x: Tile<f32>) -> Tile<f32> {
    gated_approx(x, (ERF_0, ERF_1, ERF_2))
}

/// [`gelu_tanh`] within |x| · 2⁻¹² of its value, half an ulp of x in `f16`, by one [`tanh_approx`](triton::lang::tanh_approx): for what is rounded to 16 bits.
#[triton::function]
pub fn gelu_tanh_approx(x: Tile<f32>) -> Tile<f32> {
    gated_approx(x, (ROOT_0, ROOT_1, 0.0))
}

/// x · sigmoid(x), also called swish.
#[triton::function]
pub fn silu<T: Float>(x: Tile<T>) -> Tile<T> {
    maximum(x, -128.0) * sigmoid(x)
}

/// x · sigmoid(1.702 x), an approximation of [`gelu`] (Hendrycks and Gimpel, 2016, section 2).
#[triton::function]
pub fn quick_gelu<T: Float>(x: Tile<T>) -> Tile<T> {
    maximum(x, -128.0) * sigmoid(x * 1.702)
}

/// min(max(x, 0), 6) (Krizhevsky, "Convolutional deep belief networks on CIFAR-10", 2010); NaN stays NaN.
#[triton::function]
pub fn relu6<T: Float>(x: Tile<T>) -> Tile<T> {
    select(x < 0.0, 0.0, select(x > 6.0, 6.0, x))
}

/// min(max(x / 6 + 1/2, 0), 1); NaN stays NaN.
#[triton::function]
pub fn hard_sigmoid<T: Float>(x: Tile<T>) -> Tile<T> {
    select(x < -3.0, 0.0, select(x > 3.0, 1.0, fma(x, 0.16666666666666666, 0.5)))
}

/// x · min(max(x / 6 + 1/2, 0), 1) (Howard et al., "Searching for MobileNetV3", 2019, section 5.2).
#[triton::function]
pub fn hard_swish<T: Float>(x: Tile<T>) -> Tile<T> {
    select(x < -3.0, 0.0, select(x > 3.0, x, x * fma(x, 0.16666666666666666, 0.5)))
}

/// x, and below 0 `slope` times it (Maas, Hannun and Ng, "Rectifier nonlinearities improve neural network acoustic models", 2013).
#[triton::function]
pub fn leaky_relu<T: Float>(x: Tile<T>, slope: f32) -> Tile<T> {
    select(x < 0.0, x * slope.to::<T>(), x)
}

/// x, and below 0 `slope` · (eˣ − 1) (Clevert, Unterthiner and Hochreiter, "Fast and accurate deep network learning by exponential linear
/// units", 2016, section 3).
#[triton::function]
pub fn elu<T: Float>(x: Tile<T>, slope: f32) -> Tile<T> {
    // eˣ − 1 would lose the digits of a small x.
    let low = tanh(x * 0.5) * (exp(x) + 1.0);
    select(x < 0.0, low * slope.to::<T>(), x)
}

/// log(1 + eˣ).
#[triton::function]
pub fn softplus<T: Float>(x: Tile<T>) -> Tile<T> {
    maximum(x, 0.0) + log(1.0 + exp(-abs(x)))
}

/// x · tanh(softplus(x)) (Misra, "Mish: a self regularized non-monotonic activation function", 2019).
#[triton::function]
pub fn mish<T: Float>(x: Tile<T>) -> Tile<T> {
    maximum(x, -128.0) * tanh(softplus(x))
}

/// The activation of this [number](crate::Activation::number) and [slope](crate::Activation::slope); x itself for another number. The number is
/// the same for all elements, so that a program takes one branch.
#[triton::function]
pub fn activate<T: Float>(x: Tile<T>, kind: i32, slope: f32) -> Tile<T> {
    if kind == 1 {
        relu(x)
    } else if kind == 2 {
        gelu(x)
    } else if kind == 3 {
        gelu_tanh(x)
    } else if kind == 4 {
        silu(x)
    } else if kind == 5 {
        sigmoid(x)
    } else if kind == 6 {
        tanh(x)
    } else if kind == 7 {
        softplus(x)
    } else if kind == 8 {
        mish(x)
    } else if kind == 9 {
        relu6(x)
    } else if kind == 10 {
        hard_sigmoid(x)
    } else if kind == 11 {
        hard_swish(x)
    } else if kind == 12 {
        quick_gelu(x)
    } else if kind == 13 {
        leaky_relu(x, slope)
    } else if kind == 14 {
        elu(x, slope)
    } else {
        x
    }
}
