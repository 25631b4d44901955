//! Medians, ranges, and the order of measurements.

use rand::rngs::SmallRng;
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};

/// A median with its range.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// The middle value.
    pub median: f64,
    /// The lowest.
    pub min: f64,
    /// The highest.
    pub max: f64,
}

/// The middle value, or the mean of the two; `None` of nothing.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    let upper = *sorted.get(middle)?;
    Some(if sorted.len() % 2 == 1 { upper } else { (sorted[middle - 1] + upper) / 2.0 })
}

/// Median and range; `None` of nothing.
pub fn spread(values: &[f64]) -> Option<Spread> {
    let median = median(values)?;
    let min = values.iter().copied().fold(f64::INFINITY, f64::min);
    let max = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    Some(Spread { median, min, max })
}

/// For each block the numbers below `count`, in an order of its own.
pub fn plan(count: usize, blocks: usize, rng: &mut SmallRng) -> Vec<Vec<usize>> {
    let shuffled = |_| {
        let mut order: Vec<usize> = (0..count).collect();
        order.shuffle(rng);
        order
    };
    (0..blocks).map(shuffled).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    #[test]
    fn spreads() {
        let cases: &[(&[f64], Option<[f64; 3]>)] = &[
            (&[], None),
            (&[3.0], Some([3.0, 3.0, 3.0])),
            (&[4.0, 1.0], Some([2.5, 1.0, 4.0])),
            (&[9.0, 1.0, 5.0], Some([5.0, 1.0, 9.0])),
            (&[1.0, 1.0, 100.0, 2.0, 2.0], Some([2.0, 1.0, 100.0])),
        ];
        for (values, expected) in cases {
            let found = spread(values).map(|s| [s.median, s.min, s.max]);
            assert_eq!(found, *expected, "{values:?}");
        }
    }

    #[test]
    fn orders() {
        let plan = plan(20, 9, &mut SmallRng::seed_from_u64(1));
        assert_eq!(plan.len(), 9);
        for order in &plan {
            let mut sorted = order.clone();
            sorted.sort();
            assert_eq!(sorted, (0..20).collect::<Vec<_>>());
        }
        assert!(plan.windows(2).all(|two| two[0] != two[1]), "every block has an order of its own");
    }
}
