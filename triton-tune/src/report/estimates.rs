//! How well the compiler's estimates rank what was measured.

use super::text;
use crate::data::Data;
use crate::error::{Error, Result};
use crate::jit::{Estimated, Form, Instance, Order};
use rayon::prelude::*;
use std::collections::{BTreeMap, HashMap, HashSet};
use triton::DType;
use triton_core::estimate::Machine;

/// Rank correlations (Spearman) of estimates and times in each context.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Correlations {
    /// Of each context with several candidates.
    pub contexts: Vec<f64>,
    /// The time of what the estimates rank first over the best, in each of them.
    pub losses: Vec<f64>,
    /// Rows whose instance the compiler refused.
    pub refused: usize,
}

impl Correlations {
    /// The mean over contexts.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.contexts.iter().sum::<f64>() / self.contexts.len().max(1) as f64
    }

    /// The geometric mean of the losses.
    #[must_use]
    pub fn loss(&self) -> f64 {
        (self.losses.iter().map(|loss| loss.ln()).sum::<f64>() / self.losses.len().max(1) as f64).exp()
    }
}

/// The instance of a recorded choice, and its splits.
fn instance(ty: DType, context: &[i64], choice: &[i64]) -> Option<(Instance, i64)> {
    let (&[_, _, _, ta, tb, _], &[m, n, k, num_warps, num_stages, groups, splits, transposed]) = (context, choice)
    else {
        return None;
    };
    let form = match (transposed, groups, splits) {
        (1, ..) => Form::Transposed,
        (_, 1, 1) => Form::Whole,
        _ => Form::Split,
    };
    let order = Order { ta: ta == 1, tb: tb == 1 };
    Some((Instance { ty, order, form, tile: [m, n, k], num_warps, num_stages, groups }, splits))
}

/// Correlates estimates with the recorded times of products, of an operation `gemm-TYPE` whose choices are as `collect` records them; of the first
/// `contexts` contexts.
///
/// # Errors
/// An operation that is of no product.
pub fn correlations(data: &Data, op: &str, contexts: usize, machine: Machine) -> Result<Correlations> {
    let ty = op.strip_prefix("gemm-").and_then(DType::from_name);
    let ty = ty.ok_or_else(|| Error::value("the operation", op, "one like `gemm-bf16`", "name one of the data"))?;
    let rows: Vec<_> = data.rows.iter().filter(|row| row.op == op).collect();
    let mut groups: BTreeMap<&[i64], Vec<_>> = BTreeMap::new();
    for row in rows {
        groups.entry(&row.context).or_default().push(row);
    }
    // By extents, so that all orders of few contexts are taken.
    let mut extents: Vec<&[i64]> = groups.keys().map(|context| &context[..3]).collect();
    extents.dedup();
    extents.truncate(contexts);
    groups.retain(|context, _| extents.contains(&&context[..3]));
    let mut instances: HashSet<(Instance, bool)> = HashSet::new();
    for (context, rows) in &groups {
        instances.extend(rows.iter().filter_map(|row| Some((instance(ty, context, &row.choice)?.0, context[5] == 1))));
    }
    let estimate = |(instance, is_aligned): (Instance, bool)| {
        Some(((instance, is_aligned), instance.estimate(machine, is_aligned).ok()?))
    };
    let estimates: HashMap<(Instance, bool), Estimated> = instances.into_par_iter().filter_map(estimate).collect();
    let mut found = Correlations::default();
    for (context, rows) in &groups {
        let mut pairs = Vec::new();
        for row in rows {
            let estimate = instance(ty, context, &row.choice).and_then(|(instance, splits)| {
                Some(estimates.get(&(instance, context[5] == 1))?.us([context[0], context[1], context[2]], splits))
            });
            match estimate {
                Some(us) => pairs.push((us, row.us)),
                None => found.refused += 1,
            }
        }
        if pairs.len() > 2 {
            found.contexts.push(spearman(&pairs));
            let best = pairs.iter().map(|pair| pair.1).fold(f64::INFINITY, f64::min);
            let first = pairs.iter().min_by(|a, b| a.0.total_cmp(&b.0)).map_or(best, |pair| pair.1);
            found.losses.push(first / best);
        }
    }
    Ok(found)
}

/// The ranks of numbers, from 0; equal ones have the mean of theirs.
fn ranks(numbers: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..numbers.len()).collect();
    order.sort_by(|&a, &b| numbers[a].total_cmp(&numbers[b]));
    let mut ranks = vec![0.0; numbers.len()];
    for same in order.chunk_by(|&a, &b| numbers[a] == numbers[b]) {
        let first = order.iter().position(|index| *index == same[0]).unwrap_or(0);
        same.iter().for_each(|&index| ranks[index] = first as f64 + (same.len() - 1) as f64 / 2.0);
    }
    ranks
}

/// Spearman's rank correlation; 0 where one side is constant.
fn spearman(pairs: &[(f64, f64)]) -> f64 {
    let [a, b] = [|pair: &(f64, f64)| pair.0, |pair: &(f64, f64)| pair.1]
        .map(|side| ranks(&pairs.iter().map(side).collect::<Vec<_>>()));
    let mean = (pairs.len() - 1) as f64 / 2.0;
    let sum = |f: &dyn Fn(f64, f64) -> f64| a.iter().zip(&b).map(|(a, b)| f(a - mean, b - mean)).sum::<f64>();
    let (of_both, of_a, of_b) = (sum(&|a, b| a * b), sum(&|a, _| a * a), sum(&|_, b| b * b));
    let scale = (of_a * of_b).sqrt();
    if scale > 0.0 { of_both / scale } else { 0.0 }
}

/// A line for each operation: contexts, the mean rank correlation, the least, and what is lost by the first of the estimates.
///
/// # Errors
/// Those of [`correlations`].
pub fn estimates(data: &Data, ops: &[String], contexts: usize, machine: Machine) -> Result<String> {
    let row = |op: &String| -> Result<Vec<String>> {
        let found = correlations(data, op, contexts, machine)?;
        let least = found.contexts.iter().copied().fold(f64::INFINITY, f64::min);
        let worst = found.losses.iter().copied().fold(0.0, f64::max);
        let numbers = [found.mean(), least, found.loss(), worst].map(|number| format!("{number:.3}"));
        Ok([op.clone(), found.contexts.len().to_string()]
            .into_iter()
            .chain(numbers)
            .chain([found.refused.to_string()])
            .collect())
    };
    let rows: Vec<Vec<String>> = ops.iter().map(row).collect::<Result<_>>()?;
    Ok(text(&["operation", "contexts", "correlation", "least", "first over best", "worst", "refused"], &rows))
}
