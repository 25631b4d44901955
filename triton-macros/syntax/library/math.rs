//! Elementwise functions, written in the language. `Value<T>` is a number of type `T`, or a tile of them. Coefficients
//! are minimax fits, rounded to `f32`; every step but `exp` is IEEE.

/// Between `lo` and `hi`.
fn clamp<T>(x: Value<T>, lo: Value<T>, hi: Value<T>) -> Value<T> {
    minimum(maximum(x, lo), hi)
}

/// To the nearest integer, ties away from zero. What `trunc` takes away is exact.
fn round<T>(x: Value<T>) -> Value<T> {
    let whole = trunc(x);
    let next = select(x < 0.0, whole - 1.0, whole + 1.0);
    select(abs(x - whole) >= 0.5, next, whole)
}

/// 1 / (1 + e⁻ˣ), by the exponential of a number below 0: that of one above would be infinite before the quotient vanishes.
fn sigmoid<T>(x: Value<T>) -> Value<T> {
    let x = x.to::<f32>();
    let e = exp(-abs(x));
    (select(x < 0.0, e, 1.0) / (1.0 + e)).to::<T>()
}

/// x + x³ · p(x²) near 0, where the other formula, 1 − 2 / (e²ˣ + 1), loses digits.
fn tanh<T>(x: Value<T>) -> Value<T> {
    let x = x.to::<f32>();
    let (a, s) = (abs(x), x * x);
    let p = fma(s, -0.006_282_458_5, 0.021_077_747);
    let p = fma(s, p, -0.053_853_855);
    let p = fma(s, p, 0.133_326_02);
    let p = fma(s, p, -0.333_333_2);
    let near = fma(p * s, x, x);
    let far = 1.0 - 2.0 / (exp(2.0 * a) + 1.0);
    let far = select(x < 0.0, -far, far);
    select(a < 0.55, near, far).to::<T>()
}

/// x + x · p(x²) near 0; further out 1 − e^q(|x|), where q is the logarithm of the complement, which is nearly a parabola.
fn erf<T>(x: Value<T>) -> Value<T> {
    let x = x.to::<f32>();
    let (a, s) = (abs(x), x * x);
    let p = fma(s, 8.409_917e-5, -0.000_815_262_7);
    let p = fma(s, p, 0.005_201_96);
    let p = fma(s, p, -0.026_859_8);
    let p = fma(s, p, 0.112_837_03);
    let p = fma(s, p, -0.376_126_35);
    let p = fma(s, p, 0.128_379_17);
    let near = fma(p, x, x);
    let q = fma(a, -4.563_213e-7, -1.521_465_1e-5);
    let q = fma(a, q, 0.000_402_024_95);
    let q = fma(a, q, -0.004_070_975_4);
    let q = fma(a, q, 0.024_930_384);
    let q = fma(a, q, -0.108_056_13);
    let q = fma(a, q, -0.633_509_6);
    let q = fma(a, q, -1.129_448_7);
    let q = fma(a, q, 0.000_163_086_15);
    let far = 1.0 - exp(q);
    let far = select(x < 0.0, -far, far);
    select(a < 0.92, near, far).to::<T>()
}
