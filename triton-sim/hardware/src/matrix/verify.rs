//! Results of matrices of small integers, which no way of adding changes.

use super::element::{Element, Number};
use super::{Case, Dots};
use crate::{Inputs, Program};

/// What is wrong with an output: the first wrong sum of each exact case.
pub fn problems(program: &Program, output: &[u8]) -> Vec<String> {
    let mut problems = Vec::new();
    for result in &program.results {
        let Inputs::Dots(dots) = &result.inputs else { continue };
        let known = (0..result.offsets.len()).filter_map(|i| Some((i, u128::from(sum(dots, i)?))));
        let wrong = known.map(|(i, expected)| (i, expected, result.bits(output, i))).find(|(_, e, found)| e != found);
        problems.extend(wrong.map(|(i, expected, found)| {
            format!("{}: {} is {found:x}, not {expected:x}", result.form, result.operands(&program.input, i))
        }));
    }
    problems
}

/// The bits of a sum; none if the matrices are not of small integers.
pub fn sum(dots: &Dots, index: usize) -> Option<u64> {
    if dots.case.name != "exact" {
        return None;
    }
    let (Case { spec, a, b, c, .. }, (row, column)) = (&*dots.case, dots.at[index]);
    let products = (0..spec.k).map(|k| value(a[row * spec.k + k], spec.a) * value(b[column * spec.k + k], spec.b));
    let sum = products.sum::<i32>() + value(c[row * spec.n + column], spec.c);
    Some(spec.c.integer(sum))
}

/// A small integer of its bits.
fn value(bits: u64, element: Element) -> i32 {
    match element.number {
        Number::Unsigned => bits as i32,
        Number::Signed if element.bytes == 1 => i32::from(bits as i8),
        Number::Signed => bits as i32,
        Number::Float(format) => {
            let magnitude = bits & !(1 << (format.bits() - 1));
            if magnitude == 0 {
                return 0;
            }
            let exponent = (magnitude >> format.fraction) as i32 - format.bias();
            let significand = magnitude & ((1 << format.fraction) - 1) | 1 << format.fraction;
            let shift = format.fraction as i32 - exponent;
            let value = if shift >= 0 { significand >> shift } else { significand << -shift } as i32;
            if bits == magnitude { value } else { -value }
        }
    }
}
