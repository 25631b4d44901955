//! What the results should be, in f64, by all cores. Where that takes long, of some rows, which fall on every row of a tile.

use crate::case::{Case, Op};
use crate::data;
use crate::kernels::{Number, Value};

/// Multiplications, roughly, that a check may cost.
const BUDGET: usize = 1 << 28;

/// ‖found − reference‖ / ‖reference‖ of the rows compared, NaN if any element found is NaN.
pub fn error<T: Value>(case: &Case, x: &[T], y: &[T], found: &[T::Out]) -> f64 {
    if case.op == Op::Copy {
        return data::error(found, |i| x[i].to_f64());
    }
    if case.op == Op::Add {
        return data::error(found, |i| x[i].to_f64() + y[i].to_f64());
    }
    let list = rows(case, BUDGET);
    error_of_rows(found, [case.pitch, case.shape[1]], &list, |r| row(case, x, y, r))
}

/// The same of rows of a result of this pitch and these columns, in their order, beside what they should be.
pub fn error_of_rows<T: Number>(
    found: &[T],
    [pitch, columns]: [usize; 2],
    rows: &[usize],
    expected: impl Fn(usize) -> Vec<f64> + Sync,
) -> f64 {
    let share = rows.len().div_ceil(data::cores()).max(1);
    let expected = &expected;
    let sums = std::thread::scope(|scope| {
        let work = move |rows: &[usize]| {
            let mut sums = (0.0, 0.0);
            for &r in rows {
                for (value, reference) in found[r * pitch..][..columns].iter().zip(expected(r)) {
                    sums.0 += (value.to_f64() - reference).powi(2);
                    sums.1 += reference.powi(2);
                }
            }
            sums
        };
        let parts: Vec<_> = rows.chunks(share).map(|rows| scope.spawn(move || work(rows))).collect();
        // A part that panicked is not a number.
        let parts = parts.into_iter().map(|p| p.join().unwrap_or((f64::NAN, f64::NAN)));
        parts.fold((0.0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1))
    });
    if found.chunks(pitch).any(|row| row.iter().take(columns).any(|value| value.to_f64().is_nan())) {
        return f64::NAN;
    }
    if sums.0 == 0.0 { 0.0 } else { (sums.0 / sums.1).sqrt() }
}

/// The rows that are compared: an odd distance apart, and the last.
fn rows(case: &Case, budget: usize) -> Vec<usize> {
    let [rows, columns, k] = case.shape;
    let cost = columns
        * match case.op {
            Op::Matmul | Op::Linear | Op::Attention => k,
            Op::Copy | Op::Add | Op::Softmax | Op::Cumsum | Op::LayerNorm | Op::RmsNorm | Op::Transpose => 8,
        };
    apart(rows, cost, budget)
}

/// As many of `rows` rows as a budget has, an odd distance apart, and the last; `cost` is that of one.
fn apart(rows: usize, cost: usize, budget: usize) -> Vec<usize> {
    let mut list: Vec<usize> = (0..rows).step_by((rows * cost / budget) | 1).collect();
    if list.last() != Some(&(rows - 1)) {
        list.push(rows - 1);
    }
    list
}

/// The rows of a result that are compared where one costs this many multiplications.
pub fn some_rows(rows: usize, cost: usize) -> Vec<usize> {
    apart(rows, cost, BUDGET)
}

/// A row of the result.
fn row<T: Number>(case: &Case, x: &[T], y: &[T], r: usize) -> Vec<f64> {
    let [rows, columns, k] = case.shape;
    let of_x = || x[r * case.pitch..][..columns].iter().map(|v| v.to_f64());
    match case.op {
        Op::Copy => of_x().collect(),
        Op::Add => of_x().zip(&y[r * columns..]).map(|(x, y)| x + y.to_f64()).collect(),
        Op::Softmax => {
            let top = of_x().fold(f64::NEG_INFINITY, f64::max);
            let e: Vec<f64> = of_x().map(|v| (v - top).exp()).collect();
            let sum: f64 = e.iter().sum();
            e.into_iter().map(|e| e / sum).collect()
        }
        Op::Linear => {
            let product = Case { op: Op::Matmul, ..case.clone() };
            let gelu = |(x, b): (f64, &T)| {
                let x = x + b.to_f64();
                if case.exact {
                    return x / 2.0 * (1.0 + libm::erf(x * std::f64::consts::FRAC_1_SQRT_2));
                }
                x / 2.0 * (1.0 + (std::f64::consts::FRAC_2_PI.sqrt() * (x + 0.044715 * x.powi(3))).tanh())
            };
            row(&product, x, &y[..k * columns], r).into_iter().zip(&y[case.second()..]).map(gelu).collect()
        }
        Op::Attention => {
            let of_head = r / k * k * columns;
            let seen = if case.causal { r % k + 1 } else { k };
            let (keys, values) = (&y[of_head..][..seen * columns], &y[case.second() + of_head..][..seen * columns]);
            let dot = |key: &[T]| of_x().zip(key).map(|(a, b)| a * b.to_f64()).sum::<f64>() / (columns as f64).sqrt();
            let scores: Vec<f64> = keys.chunks(columns).map(dot).collect();
            let top = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let weights: Vec<f64> = scores.iter().map(|score| (score - top).exp()).collect();
            let total: f64 = weights.iter().sum();
            let of_values = |c: usize| values.iter().skip(c).step_by(columns).map(|v| v.to_f64());
            (0..columns).map(|c| weights.iter().zip(of_values(c)).map(|(w, v)| w * v).sum::<f64>() / total).collect()
        }
        Op::Cumsum => {
            let add = |sum: &mut f64, v: f64| {
                *sum += v;
                Some(*sum)
            };
            of_x().scan(0.0, add).collect()
        }
        Op::LayerNorm => {
            let mean = of_x().sum::<f64>() / columns as f64;
            let variance = of_x().map(|v| (v - mean).powi(2)).sum::<f64>() / columns as f64;
            let scale = 1.0 / (variance + 1e-5).sqrt();
            let (weight, bias) = (&y[..columns], &y[case.second()..]);
            let affine = weight.iter().zip(bias);
            of_x().zip(affine).map(|(v, (w, b))| (v - mean) * scale * w.to_f64() + b.to_f64()).collect()
        }
        Op::RmsNorm => {
            let scale = 1.0 / (of_x().map(|v| v * v).sum::<f64>() / columns as f64 + 1e-5).sqrt();
            of_x().zip(y).map(|(v, w)| v * scale * w.to_f64()).collect()
        }
        Op::Transpose => (0..columns).map(|c| x[c * rows + r].to_f64()).collect(),
        Op::Matmul => {
            let of_x = |i: usize| if case.layouts.transposes_x() { x[i * rows + r] } else { x[r * k + i] };
            let of_x: Vec<f64> = (0..k).map(|i| of_x(i).to_f64()).collect();
            if case.layouts.transposes_y() {
                let dot = |column: &[T]| of_x.iter().zip(column).map(|(a, b)| a * b.to_f64()).sum();
                return y.chunks(k).take(columns).map(dot).collect();
            }
            let mut sums = vec![0.0; columns];
            for (a, b) in of_x.iter().zip(y.chunks(columns)) {
                for (sum, b) in sums.iter_mut().zip(b) {
                    *sum += a * b.to_f64();
                }
            }
            sums
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::cases;

    /// A case with another shape.
    fn case(name: &str, shape: [usize; 3]) -> Case {
        let case = cases(1 << 27, &[name.to_string()]).pop().expect("a case");
        Case { shape, n: shape[0] * shape[1], pitch: shape[1], ..case }
    }

    /// The case, its shape, x and y, and the second row of the result.
    type ByHand<'a> = (&'a str, [usize; 3], &'a [f32], &'a [f32], &'a [f64]);

    #[test]
    fn rows_by_hand() {
        let third = 1.0 / 3.0f64;
        let norm = 1.0 / (1.0f64 + 1e-5).sqrt();
        let table: &[ByHand<'_>] = &[
            ("softmax", [2, 3, 1], &[9.0, 9.0, 9.0, 2.0, 2.0, 2.0], &[], &[third, third, third]),
            ("cumsum", [2, 3, 1], &[9.0, 9.0, 9.0, 2.0, 3.0, 4.0], &[], &[2.0, 5.0, 9.0]),
            (
                "layer norm",
                [2, 2, 1],
                &[0.0, 0.0, 3.0, 5.0],
                &[2.0, 3.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 10.0, 20.0],
                &[10.0 - 2.0 * norm, 20.0 + 3.0 * norm],
            ),
            // The mean of 1 and 7² is 25.
            (
                "rms norm",
                [2, 2, 1],
                &[0.0, 0.0, 1.0, 7.0],
                &[5.0, 10.0],
                &[5.0 / 25.000_01f64.sqrt(), 70.0 / 25.000_01f64.sqrt()],
            ),
            // gelu(-1) = -0.158808..: the second row is 3 · -1 + 2.
            (
                "linear gelu bf16",
                [2, 1, 1],
                &[0.0, 3.0],
                &[-1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0],
                &[-0.158_808_009_391_723_24],
            ),
            (
                "linear gelu exact",
                [2, 1, 1],
                &[0.0, 3.0],
                &[-1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0],
                &[-0.158_655_253_931_457_02],
            ),
            // Equal scores weigh both values alike.
            ("attention", [2, 1, 2], &[5.0, 0.0], &[1.0, 2.0, 3.0, 5.0], &[4.0]),
            ("transpose f32", [2, 3, 1], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[], &[2.0, 4.0, 6.0]),
            ("matmul f32 1024", [2, 2, 2], &[1.0, 0.0, 3.0, 4.0], &[1.0, 2.0, 3.0, 4.0], &[15.0, 22.0]),
            ("matmul f32 NT 1024", [2, 1, 3], &[0.0, 0.0, 0.0, 1.0, 2.0, 3.0], &[4.0, 5.0, 6.0], &[32.0]),
            ("matmul f32 NT 1024", [2, 2, 2], &[1.0, 0.0, 3.0, 4.0], &[1.0, 2.0, 3.0, 4.0], &[11.0, 25.0]),
            ("matmul f32 TN 1024", [2, 2, 2], &[1.0, 0.0, 3.0, 4.0], &[1.0, 2.0, 3.0, 4.0], &[12.0, 16.0]),
        ];
        for (name, shape, x, y, expected) in table {
            assert_eq!(row(&case(name, *shape), x, y, 1), *expected, "{name}");
        }
    }

    #[test]
    fn wrong_elements_are_found() {
        let case = case("transpose f32", [2, 2, 1]);
        let x = [1.0f32, 2.0, 3.0, 4.0];
        assert_eq!(error(&case, &x, &[], &[1.0, 3.0, 2.0, 4.0]), 0.0);
        assert!(error(&case, &x, &[], &[1.0, 3.0, 2.0, 5.0]) > 0.1);
        assert!(error(&case, &x, &[], &[1.0, 3.0, f32::NAN, 4.0]).is_nan());
    }

    #[test]
    fn integers_are_exact() {
        let case = case("matmul i8 NT", [1, 2, 2]);
        let (x, y) = ([-128i8, 127], [-128i8, -128, 127, 1]);
        for (found, passes) in [([128, -16_129], true), ([128, -16_128], false), ([128, i32::MIN], false)] {
            assert_eq!(error(&case, &x, &y, &found) <= case.bound, passes, "{found:?}");
        }
    }

    #[test]
    fn some_rows() {
        let case = case("matmul bf16 4096", [4096; 3]);
        let list = rows(&case, BUDGET);
        assert_eq!((list.len(), list[1], list.last()), (17, 257, Some(&4095)));
    }
}
