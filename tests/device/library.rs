//! Functions that are written in the language: against `f64`, over their whole range, on every device.

use super::devices;
use triton::prelude::*;

macro_rules! kernels {
    ($($name:ident $function:ident;)*) => {$(
        #[triton::kernel]
        fn $name(x: PtrMut<f32>, n: i32) {
            let i = program_id(0) * 1024 + arange(0, 1024);
            store(x + i, $function(load(x + i, i < n)), i < n);
        }
    )*};
}

kernels! {
    of_sigmoid sigmoid;
    of_tanh tanh;
    of_erf erf;
    of_round round;
}

/// Every float whose bits are a multiple of a prime.
fn spread() -> Vec<f32> {
    (0..u32::MAX / 8191).map(|i| f32::from_bits(i * 8191)).filter(|x| !x.is_nan()).collect()
}

fn ulps(found: f32, exact: f64) -> f64 {
    if f64::from(found) == exact || (found.is_nan() && exact.is_nan()) {
        return 0.0;
    }
    let exponent = ((exact.to_bits() >> 52 & 0x7ff) as i32 - 1023).max(-126);
    (f64::from(found) - exact).abs() / 2f64.powi(exponent - 23)
}

/// The error function by its series, and far out by the continued fraction of its complement (Abramowitz and Stegun 7.1.6,
/// 7.1.14).
fn erf_exact(x: f64) -> f64 {
    let a = x.abs();
    let value = if a < 3.0 {
        let (mut term, mut sum, mut n) = (a, a, 0.0);
        while term > sum * 1e-18 {
            n += 1.0;
            term *= 2.0 * a * a / (2.0 * n + 1.0);
            sum += term;
        }
        std::f64::consts::FRAC_2_SQRT_PI * (-a * a).exp() * sum
    } else if a > 6.0 {
        1.0
    } else {
        let fraction = (1..80).rev().fold(a, |rest, k| a + f64::from(k) / 2.0 / rest);
        1.0 - (-a * a).exp() / fraction / std::f64::consts::PI.sqrt()
    };
    value.copysign(x)
}

#[test]
fn functions_of_the_library_are_as_exact_as_they_say() -> triton::Result<()> {
    let xs = spread();
    let n = xs.len() as i32;
    for device in devices() {
        let stream = device.stream()?;
        macro_rules! check {
            ($kernel:ident, $exact:expr, $most:expr) => {
                let mut x = stream.upload(&xs)?;
                // SAFETY: the mask keeps every access below `n`.
                unsafe { $kernel(&mut x, n).launch(&stream, (n as u32).div_ceil(1024))? };
                let exact: fn(f64) -> f64 = $exact;
                let found = stream.download(&x)?;
                let worst = xs.iter().zip(&found).map(|(&x, &y)| (ulps(y, exact(x.into())), x));
                let worst = worst.fold((0.0, 0.0), |worst, this| if this.0 > worst.0 { this } else { worst });
                assert!(worst.0 <= $most, "{device}: {} of {:e}: {} ulp", stringify!($kernel), worst.1, worst.0);
            };
        }
        check!(of_sigmoid, |x| 1.0 / (1.0 + (-x).exp()), 5.0);
        check!(of_tanh, f64::tanh, 3.0);
        check!(of_erf, erf_exact, 2.0);
        check!(of_round, f64::round, 0.0);
    }
    Ok(())
}
