//! Bags of rows in `f64`.

use super::number::{Number, Total, exact, totals};
use std::ops::Range;
use triton_kernels::embedding::Bag;

/// The entries of a bag: the place of each id, and its row.
fn entries(ids: &[i64], bag: &Range<usize>, rows: usize) -> Vec<(usize, usize)> {
    let row = |k: usize| Some((k, usize::try_from(ids[k]).ok().filter(|row| *row < rows)?));
    bag.clone().filter_map(row).collect()
}

/// The result, and where the row of each greatest element is named.
pub fn bag(
    table: &[f64],
    columns: usize,
    ids: &[i64],
    bags: &[Range<usize>],
    kind: Bag,
    weights: Option<&[f64]>,
) -> (Vec<Number>, Vec<Option<usize>>) {
    let (mut out, mut places) = (Vec::new(), Vec::new());
    let rows = table.len() / columns.max(1);
    for bag in bags {
        let named = entries(ids, bag, rows);
        for j in 0..columns {
            let at = |row: usize| table[row * columns + j];
            let mut most: Option<(usize, usize)> = None;
            for (k, row) in &named {
                let is =
                    |(_, found): (usize, usize)| at(*row) > at(found) || (at(*row).is_nan() && !at(found).is_nan());
                if most.is_none_or(is) {
                    most = Some((*k, *row));
                }
            }
            let term = |(k, row): &(usize, usize)| Number::from(at(*row)) * weights.map_or(1.0, |weights| weights[*k]);
            let plain = |(_, row): &(usize, usize)| exact(&[at(*row)])[0];
            let sum: Number = match weights {
                Some(_) => named.iter().map(term).sum(),
                None => named.iter().map(plain).sum(),
            };
            out.push(match kind {
                Bag::Sum => sum,
                Bag::Mean => sum / named.len().max(1) as f64,
                Bag::Max => most.map_or(0.0, |(_, row)| at(row)).into(),
            });
            places.push(most.map(|(k, _)| k).filter(|_| kind == Bag::Max));
        }
    }
    (out, places)
}

/// The gradients for the table, added to what is there, and for the weights.
#[expect(clippy::too_many_arguments, reason = "they are the operands")]
pub fn backward(
    dy: &[f64],
    (table, before): (&[f64], &[f64]),
    columns: usize,
    ids: &[i64],
    bags: &[Range<usize>],
    kind: Bag,
    weights: Option<&[f64]>,
    places: &[Option<usize>],
) -> (Vec<Number>, Vec<Number>) {
    let rows = table.len() / columns.max(1);
    let mut dtable = vec![Total::default(); table.len()];
    dtable.iter_mut().zip(before).for_each(|(sum, old)| *sum += *old);
    let mut dweights = vec![Total::default(); ids.len()];
    for (b, bag) in bags.iter().enumerate() {
        let named = entries(ids, bag, rows);
        for j in 0..columns {
            let d = Number::from(dy[b * columns + j]);
            for (k, row) in &named {
                let share = match kind {
                    Bag::Sum => weights.map_or(d, |weights| d * weights[*k]),
                    Bag::Mean => d / named.len() as f64,
                    Bag::Max if places[b * columns + j] == Some(*k) => d,
                    Bag::Max => continue,
                };
                dtable[row * columns + j] += share;
                dweights[*k] += d * table[row * columns + j];
            }
        }
    }
    (totals(dtable), totals(dweights))
}
