//! Real numbers with bounds of the errors of those who compute them in floating point.

use std::cmp::Ordering;
use std::f64::consts::{FRAC_2_SQRT_PI, PI};
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub};

/// Units that `exp` and its like are off by, relative to their results: 2 in the last place.
const FUNCTION: f64 = 4.0;

/// A number, and a bound of what its computation is off by, in units of the roundoff u: the running error of Higham, "Accuracy and Stability of
/// Numerical Algorithms", section 3.3. An operation adds the magnitude of its result, and passes on the errors of its operands times its derivatives,
/// to the first order in u. A constant that `f32` has is exact.
#[derive(Clone, Copy, Debug, Default)]
pub struct Number {
    /// What real arithmetic gives.
    pub value: f64,
    /// In units of u.
    pub error: f64,
}

/// Errors of n additions in any order are below this many u times the sum of the magnitudes of the terms: n by Higham, section 4.2. They
/// have either sign, so that of many √n counts: λ √n, with a probability of 1 − 2 exp(−λ²/2) for an element if each error is the largest one, by
/// Higham and Mary, "A new approach to probabilistic rounding error analysis", 2019, theorem 2.4. λ is 4.
fn growth(terms: usize) -> f64 {
    let n = terms as f64;
    n.min(4.0 * n.sqrt())
}

/// The error function: a series whose terms are all positive, or from 1 on a continued fraction of what is left of 1. The series rounds each of its terms,
/// which are many for large x.
pub fn erf(x: f64) -> f64 {
    let a = x.abs();
    if a < 1.0 {
        let (mut term, mut sum, mut n) = (a, a, 1.0);
        while term > 1e-17 * sum {
            n += 2.0;
            term *= 2.0 * a * a / n;
            sum += term;
        }
        return (2.0 / PI.sqrt() * (-a * a).exp() * sum).copysign(x);
    }
    let fraction = (1..=200).rev().fold(0.0, |of, k| f64::from(k) / 2.0 / (a + of));
    (1.0 - (-a * a).exp() / (PI.sqrt() * (a + fraction))).copysign(x)
}

impl Number {
    fn new(value: f64, error: f64) -> Number {
        // What is not finite has no error: it is the same or not.
        Number { value, error: if value.is_finite() && !error.is_nan() { error } else { 0.0 } }
    }

    /// Of a function that is steep there.
    fn function(self, value: f64, slope: f64) -> Number {
        Number::new(value, self.error * slope.abs() + FUNCTION * value.abs())
    }

    /// eˣ.
    pub fn exp(self) -> Number {
        let value = self.value.exp();
        self.function(value, value)
    }

    /// eˣ − 1.
    pub fn exp_m1(self) -> Number {
        self.function(self.value.exp_m1(), self.value.exp())
    }

    /// log x.
    pub fn ln(self) -> Number {
        self.function(self.value.ln(), 1.0 / self.value)
    }

    /// √x.
    pub fn sqrt(self) -> Number {
        let value = self.value.sqrt();
        Number::new(value, if value > 0.0 { self.error / (2.0 * value) + value } else { 0.0 })
    }

    /// The hyperbolic tangent.
    pub fn tanh(self) -> Number {
        let value = self.value.tanh();
        self.function(value, 1.0 - value * value)
    }

    /// The error function.
    pub fn erf(self) -> Number {
        self.function(erf(self.value), (-self.value * self.value).exp() * FRAC_2_SQRT_PI)
    }

    /// The magnitude.
    pub fn abs(self) -> Number {
        Number { value: self.value.abs(), ..self }
    }

    /// x².
    pub fn square(self) -> Number {
        self * self
    }

    /// From `low` to `high`, where it is held. What is far outside is there exactly.
    pub fn clamp(self, low: f64, high: f64) -> Number {
        let value = self.value.clamp(low, high);
        let is_far = (value - self.value).abs() > self.error * 2f64.powi(-20);
        Number::new(value, if is_far { 0.0 } else { self.error })
    }

    /// The larger one.
    pub fn max(self, other: f64) -> Number {
        Number { value: self.value.max(other), ..self }
    }

    /// Of an approximation that is off by this, where u = 2⁻²⁴.
    pub fn off_by(self, error: f64) -> Number {
        Number::new(self.value, self.error + error * 2f64.powi(24))
    }

    /// After it was rounded to a type of this roundoff, `rounding`, where computations have u = 2⁻²⁴.
    pub fn stored(self, rounding: f64) -> Number {
        // Numbers of `f16` are 2⁻²⁴ apart at least.
        let least = if rounding == 2f64.powi(-11) { 2f64.powi(-25) } else { 0.0 };
        Number::new(self.value, self.error + (self.value.abs() * rounding).max(least) * 2f64.powi(24))
    }
}

impl From<f64> for Number {
    /// A constant, which is exact if `f32` has it.
    fn from(value: f64) -> Number {
        Number::new(value, if f64::from(value as f32) == value { 0.0 } else { value.abs() })
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Number) -> bool {
        self.value == other.value
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Number) -> Option<Ordering> {
        self.value.partial_cmp(&other.value)
    }
}

impl Neg for Number {
    type Output = Number;

    fn neg(self) -> Number {
        Number { value: -self.value, ..self }
    }
}

impl<N: Into<Number>> Add<N> for Number {
    type Output = Number;

    fn add(self, other: N) -> Number {
        let (other, value) = (other.into(), self.value);
        let value = value + other.value;
        Number::new(value, self.error + other.error + value.abs())
    }
}

impl<N: Into<Number>> Sub<N> for Number {
    type Output = Number;

    fn sub(self, other: N) -> Number {
        self + -other.into()
    }
}

impl<N: Into<Number>> Mul<N> for Number {
    type Output = Number;

    fn mul(self, other: N) -> Number {
        let other = other.into();
        let value = self.value * other.value;
        Number::new(value, self.error * other.value.abs() + other.error * self.value.abs() + value.abs())
    }
}

impl<N: Into<Number>> Div<N> for Number {
    type Output = Number;

    fn div(self, other: N) -> Number {
        let other = other.into();
        let value = self.value / other.value;
        Number::new(value, (self.error + other.error * value.abs()) / other.value.abs() + value.abs())
    }
}

macro_rules! with_constants {
    ($($operation:ident $function:ident;)*) => {$(
        impl $operation<Number> for f64 {
            type Output = Number;

            fn $function(self, other: Number) -> Number {
                Number::from(self).$function(other)
            }
        }
    )*};
}

with_constants! {
    Add add;
    Sub sub;
    Mul mul;
    Div div;
}

impl std::iter::Sum for Number {
    fn sum<I: Iterator<Item = Number>>(terms: I) -> Number {
        let mut total = Total::default();
        terms.for_each(|term| total += term);
        total.number()
    }
}

/// A sum that is made in any order.
#[derive(Clone, Copy, Debug, Default)]
pub struct Total {
    value: f64,
    /// Of the terms.
    error: f64,
    /// Of the magnitudes of the terms.
    magnitude: f64,
    count: usize,
}

impl Total {
    /// The sum.
    pub fn number(self) -> Number {
        Number::new(self.value, self.error + growth(self.count) * self.magnitude)
    }

    /// Adds a product of exact numbers.
    pub fn add_product(&mut self, a: f64, b: f64) {
        let term = a * b;
        *self += Number { value: term, error: term.abs() };
    }
}

impl<N: Into<Number>> AddAssign<N> for Total {
    fn add_assign(&mut self, term: N) {
        let Number { value, error } = term.into();
        self.value += value;
        self.error += error;
        self.magnitude += value.abs();
        self.count += 1;
    }
}

/// The sums.
pub fn totals(sums: Vec<Total>) -> Vec<Number> {
    sums.into_iter().map(Total::number).collect()
}

/// Exact numbers.
pub fn exact(values: &[f64]) -> Vec<Number> {
    values.iter().map(|value| Number::from(*value)).collect()
}

/// The numbers without their bounds.
pub fn values(numbers: &[Number]) -> Vec<f64> {
    numbers.iter().map(|number| number.value).collect()
}
