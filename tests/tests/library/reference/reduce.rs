//! Reductions and scans in `f64`.

use super::number::{Number, Total};
use triton_kernels::reduce::Reduction;

/// One of elements in their order.
fn of(x: &[f64], reduction: Reduction, correction: usize) -> Number {
    let n = x.len();
    let sum = |terms: &mut dyn Iterator<Item = Number>| {
        let mut total = Total::default();
        terms.for_each(|term| total += term);
        total.number()
    };
    let mean = |of: Number, n: usize| of * (1.0 / n as f64);
    let extreme = |first: f64, is_better: fn(f64, f64) -> bool| {
        let of = |most: f64, x: &f64| if x.is_nan() || is_better(*x, most) { *x } else { most };
        Number::from(x.iter().fold(first, of))
    };
    let truth = |is: bool| Number::from(f64::from(u8::from(is)));
    let mut numbers = x.iter().map(|x| Number::from(*x));
    match reduction {
        Reduction::Sum => sum(&mut numbers),
        Reduction::Mean => mean(sum(&mut numbers), n),
        Reduction::Max => extreme(f64::NEG_INFINITY, |a, b| a > b),
        Reduction::Min => extreme(f64::INFINITY, |a, b| a < b),
        Reduction::Var => {
            let middle = mean(sum(&mut numbers), n);
            mean(sum(&mut x.iter().map(|x| (middle - *x).square())), n.saturating_sub(correction))
        }
        Reduction::Norm => sum(&mut numbers.map(Number::square)).sqrt(),
        Reduction::Any => truth(x.iter().any(|x| *x != 0.0)),
        Reduction::All => truth(x.iter().all(|x| *x != 0.0)),
    }
}

/// Of an array of these extents, over the second axis.
pub fn reduce(x: &[f64], [p, r, q]: [usize; 3], reduction: Reduction, correction: usize) -> Vec<Number> {
    let along = |i: usize, j: usize| (0..r).map(|k| x[(i * r + k) * q + j]).collect::<Vec<_>>();
    (0..p).flat_map(|i| (0..q).map(move |j| of(&along(i, j), reduction, correction))).collect()
}

/// Where the greatest element is, or with `least` the least one: the first one of equal ones, or the first NaN; −1 of nothing.
pub fn argmax(x: &[f64], least: bool) -> f64 {
    if let Some(at) = x.iter().position(|x| x.is_nan()) {
        return at as f64;
    }
    let best = x.iter().copied().reduce(|a, b| if least { a.min(b) } else { a.max(b) });
    best.and_then(|best| x.iter().position(|x| *x == best)).map_or(-1.0, |at| at as f64)
}

/// The products of all elements up to each.
pub fn cumprod(x: &[f64]) -> Vec<Number> {
    let next = |product: &mut Number, x: &f64| {
        *product = *product * *x;
        Some(*product)
    };
    x.iter().scan(Number::from(1.0), next).collect()
}

/// The gradient of products, from those products.
pub fn cumprod_backward(x: &[f64], y: &[f64], dy: &[f64]) -> Vec<Number> {
    let (mut s, mut dx) = (Number::from(0.0), Vec::new());
    for j in (0..x.len()).rev() {
        s = x.get(j + 1).map_or(s, |x| s * *x) + dy[j];
        dx.push(s * if j > 0 { y[j - 1] } else { 1.0 });
    }
    dx.reverse();
    dx
}

/// The sums of all elements up to each, or from each on.
pub fn cumsum(x: &[f64], reverse: bool) -> Vec<Number> {
    let mut total = Total::default();
    let mut next = |x: &f64| {
        total += *x;
        total.number()
    };
    if reverse {
        let mut sums: Vec<Number> = x.iter().rev().map(next).collect();
        sums.reverse();
        sums
    } else {
        x.iter().map(&mut next).collect()
    }
}
