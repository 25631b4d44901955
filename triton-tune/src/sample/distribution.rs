//! A categorical distribution that is sampled without branches, by Walker's alias method.

use fastrand::Rng;

/// Probabilities of the values of a parameter.
#[derive(Clone, Debug)]
pub(super) struct Distribution {
    probabilities: Vec<f64>,
    /// For each value, how much of its column of 2³² is its own, and whose the rest is.
    columns: Vec<(u32, u32)>,
}

impl Distribution {
    /// A distribution of these counts, which are positive.
    pub fn new(counts: &[f64]) -> Self {
        let total: f64 = counts.iter().sum();
        let probabilities: Vec<f64> = counts.iter().map(|count| count / total).collect();
        let mut columns: Vec<(u32, u32)> = (0..counts.len() as u32).map(|index| (u32::MAX, index)).collect();
        let mut heights: Vec<f64> = probabilities.iter().map(|p| p * counts.len() as f64).collect();
        let (mut low, mut high): (Vec<usize>, Vec<usize>) = (0..counts.len()).partition(|&index| heights[index] < 1.0);
        while let (Some(&giver), Some(taker)) = (high.last(), low.pop()) {
            columns[taker] = ((heights[taker] * f64::from(u32::MAX)) as u32, giver as u32);
            heights[giver] -= 1.0 - heights[taker];
            if heights[giver] < 1.0 {
                high.pop();
                low.push(giver);
            }
        }
        Self { probabilities, columns }
    }

    /// The probability of each value.
    pub fn probabilities(&self) -> &[f64] {
        &self.probabilities
    }

    /// Draws a value.
    #[inline]
    pub fn draw(&self, rng: &mut Rng) -> usize {
        let bits = rng.u64(..);
        let column = ((bits >> 32) * self.columns.len() as u64) >> 32;
        let (own, alias) = self.columns[column as usize];
        if (bits as u32) <= own { column as usize } else { alias as usize }
    }

    /// Draws a value, all of them alike.
    #[inline]
    pub fn draw_uniform(&self, rng: &mut Rng) -> usize {
        rng.usize(..self.columns.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_have_their_probabilities() {
        for counts in [&[1.0] as &[f64], &[1.0; 5], &[1.0, 3.0], &[100.0, 1.0, 50.0, 700.0, 3.0]] {
            let distribution = Distribution::new(counts);
            let (mut rng, mut seen, draws) = (Rng::with_seed(3), vec![0.0; counts.len()], 200_000);
            for _ in 0..draws {
                seen[distribution.draw(&mut rng)] += 1.0;
            }
            for (seen, expected) in seen.iter().zip(distribution.probabilities()) {
                let (found, error) = (seen / f64::from(draws), (expected / f64::from(draws)).sqrt());
                assert!((found - expected).abs() <= 4.0 * error, "{counts:?}: {found}, expected {expected}");
            }
        }
    }
}
