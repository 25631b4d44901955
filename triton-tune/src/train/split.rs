//! Which rows are trained on, and which are held out.

use super::Table;
use fastrand::Rng;

/// What is held out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Split {
    /// Rows, as in the papers: a held-out row has neighbours of its own context.
    Sample,
    /// Whole contexts: what a program meets.
    Context,
}

/// Rows to train on, and held-out ones, both in random order: `held_out` of them, or at most half of all; whole contexts may be a few more.
#[must_use]
pub fn split(table: &Table, by: Split, held_out: usize, seed: u64) -> [Vec<usize>; 2] {
    let mut rng = Rng::with_seed(seed);
    let held_out = held_out.min(table.len() / 2);
    let mut order: Vec<usize> = (0..table.len()).collect();
    // A part of either list is of all contexts.
    rng.shuffle(&mut order);
    match by {
        Split::Sample => {
            let train = order.split_off(held_out);
            [train, order]
        }
        Split::Context => {
            let count = table.contexts.iter().max().map_or(0, |most| most + 1);
            let mut rows = vec![0; count];
            table.contexts.iter().for_each(|&context| rows[context] += 1);
            let mut contexts: Vec<usize> = (0..count).collect();
            rng.shuffle(&mut contexts);
            let (mut held, mut left) = (vec![false; count], held_out);
            for context in contexts {
                if left == 0 {
                    break;
                }
                held[context] = true;
                left = left.saturating_sub(rows[context]);
            }
            let (test, train) = order.into_iter().partition(|&row| held[table.contexts[row]]);
            [train, test]
        }
    }
}
