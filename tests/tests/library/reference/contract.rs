//! What contractions are, in `f64`.

use super::number::{Number, Total};
use triton_kernels::contract::notation::Notation;

/// α · Σ x · y + β · z, of arrays whose last axis is contiguous: loops over every letter, those of the output outside.
///
/// Shapes are of x, y and z, and fit the notation.
pub fn contraction(
    notation: &Notation,
    shapes: [&[usize]; 3],
    [x, y, z]: [&[f64]; 3],
    alpha: f64,
    beta: f64,
) -> Vec<Number> {
    let [of_x, of_y] = &notation.operands;
    let all = [of_x, of_y, &notation.output];
    // Letters of the output first; each with its extent.
    let mut letters: Vec<(char, usize)> = Vec::new();
    for operand in [2, 0, 1] {
        for (letter, extent) in all[operand].iter().zip(shapes[operand]) {
            if !letters.iter().any(|(of, _)| of == letter) {
                letters.push((*letter, *extent));
            }
        }
    }
    let free = notation.output.len();
    let count = |of: &[(char, usize)]| of.iter().map(|(_, extent)| extent).product::<usize>();
    let (outputs, terms) = (count(&letters[..free]), count(&letters[free..]));
    let place = |operand: usize, at: &[usize]| {
        all[operand].iter().zip(shapes[operand]).fold(0, |place, (letter, extent)| {
            let index = letters.iter().position(|(of, _)| of == letter).map_or(0, |letter| at[letter]);
            place * extent + index
        })
    };
    let mut at = vec![0; letters.len()];
    let sum = |i: usize| {
        let mut sum = Total::default();
        for j in 0..terms {
            let mut rest = i * terms + j;
            for (index, (_, extent)) in at.iter_mut().zip(&letters).rev() {
                (*index, rest) = (rest % extent, rest / extent);
            }
            sum.add_product(x[place(0, &at)], y[place(1, &at)]);
        }
        sum.number()
    };
    let sums: Vec<Number> = (0..outputs).map(sum).collect();
    // The old z is not read where it does not count.
    let old = |i: usize| if beta == 0.0 { 0.0 } else { beta * z[i] };
    sums.into_iter().enumerate().map(|(i, sum)| sum * alpha + old(i)).collect()
}
