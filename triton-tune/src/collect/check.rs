//! Whether an instance computes products.

use super::operands::{Number, Operands};
use crate::jit::{Instance, Refused};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use triton::{Kernel, Result, Stream};

/// Products that instances are checked by: one of extents that code is specialized for, and one of odd ones.
pub(super) const CHECKS: [[i64; 3]; 2] = [[272, 208, 320], [83, 71, 205]];

/// The products of small integers, whose sums are exact in every order. They are rounded once, so that results are equal bit by bit.
pub(super) struct Checks<T> {
    operands: HashMap<(usize, bool, bool), Operands<T>>,
    expected: [Vec<T>; 2],
}

/// The element of a at a row and a step, and of b at a step and a column.
fn element(row: i64, column: i64, of_b: bool) -> f32 {
    let mixed = if of_b { row * 5 + column * 3 + row * column % 7 } else { row * 3 + column * 7 + row * column % 11 };
    (mixed % 5 - 2) as f32
}

impl<T: Number> Checks<T> {
    /// What is expected.
    pub fn new() -> Checks<T> {
        let expected = CHECKS.map(|[m, n, k]| {
            let at = |row: i64, column: i64| {
                let sum: f64 =
                    (0..k).map(|s| f64::from(element(row, s, false)) * f64::from(element(s, column, true))).sum();
                T::rounded(sum as f32)
            };
            (0..m).flat_map(|row| (0..n).map(move |column| at(row, column))).collect()
        });
        Checks { operands: HashMap::new(), expected }
    }

    /// The operands of a check, in the order of an instance.
    pub fn operands(&mut self, instance: &Instance, check: usize, stream: &Stream) -> Result<&mut Operands<T>> {
        let (ta, tb) = (instance.order.ta, instance.order.tb);
        match self.operands.entry((check, ta, tb)) {
            Entry::Occupied(made) => Ok(made.into_mut()),
            Entry::Vacant(place) => {
                let [m, n, k] = CHECKS[check];
                let matrix = |rows: i64, columns: i64, transposed: bool, of_b: bool| -> Vec<T> {
                    let [down, across] = if transposed { [columns, rows] } else { [rows, columns] };
                    let at = |i: i64, j: i64| if transposed { element(j, i, of_b) } else { element(i, j, of_b) };
                    (0..down).flat_map(|i| (0..across).map(move |j| T::rounded(at(i, j)))).collect()
                };
                let (a, b) = (matrix(m, k, ta, false), matrix(k, n, tb, true));
                Ok(place.insert(Operands::new(stream, &a, &b, (m * n) as usize)?))
            }
        }
    }

    /// Compares what an instance computes; twice, as the second product finds what the first one left.
    pub fn run(
        &mut self,
        instance: &Instance,
        kernel: &'static Kernel,
        check: usize,
        stream: &Stream,
    ) -> Result<Option<Refused>> {
        let extents = CHECKS[check];
        let operands = self.operands(instance, check, stream)?;
        for _ in 0..2 {
            stream.fill(&mut operands.c, T::rounded(77.0))?;
            operands.with(instance, kernel, extents, 3, |launch, programs| launch.enqueue(stream, programs))?;
        }
        let found = stream.download(&operands.c)?;
        let differs =
            found.iter().zip(&self.expected[check]).position(|(found, expected)| found.to_bits() != expected.to_bits());
        Ok(differs.map(|at| {
            let n = extents[1] as usize;
            let message = format!("the product of {extents:?} differs at [{}, {}]", at / n, at % n);
            Refused::new("differs", message)
        }))
    }
}
