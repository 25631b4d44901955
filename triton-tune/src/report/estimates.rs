//! How well the compiler's estimates rank what was measured.

use super::text;
use crate::data::{Data, Row, group};
use crate::error::{Error, Result};
use crate::jit::{Estimated, Instance};
use crate::regret::Summary;
use rayon::prelude::*;
use std::collections::{HashMap, HashSet};
use triton::DType;
use triton_core::metadata::Machine;

/// How well estimates rank the candidates of contexts.
#[derive(Clone, Debug, PartialEq)]
pub struct Correlations {
    /// The rank correlation (Spearman) of estimates and times, in each context with several candidates.
    pub contexts: Vec<f64>,
    /// The time of what the estimates rank first over the best.
    pub first: Summary,
    /// Rows whose instance the compiler refused.
    pub refused: usize,
}

impl Correlations {
    /// The mean over contexts.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.contexts.iter().sum::<f64>() / self.contexts.len().max(1) as f64
    }
}

/// An instance, and whether the rows of its operands are aligned: what an estimate is made for.
type Made = (Instance, bool);

/// Correlates estimates with the recorded times of products, of an operation `gemm-TYPE` whose choices are as `collect` records them; of the first
/// `contexts` contexts.
///
/// # Errors
/// An operation that is not of products.
pub fn correlations(data: &Data, op: &str, contexts: usize, machine: Machine) -> Result<Correlations> {
    if op.strip_prefix("gemm-").and_then(DType::from_name).is_none() {
        return Err(Error::value("the operation", op, "one like `gemm-bf16`", "name one of the data"));
    }
    let made = |row: &Row| {
        let (instance, splits) = Instance::recorded(op, &row.context, &row.choice)?;
        Some(((instance, row.context.get(5) == Some(&1)), splits))
    };
    let mut groups = group(&data.rows);
    // Data of other columns has none.
    groups.retain(|group| group.rows[0].op == op && made(group.rows[0]).is_some());
    // By extents, so that all orders of few contexts are taken.
    let mut extents: Vec<&[i64]> = groups.iter().map(|group| &group.rows[0].context[..3]).collect();
    extents.dedup();
    extents.truncate(contexts);
    groups.retain(|group| extents.contains(&&group.rows[0].context[..3]));
    let all: HashSet<Made> =
        groups.iter().flat_map(|group| &group.rows).filter_map(|row| made(row).map(|(made, _)| made)).collect();
    let estimate = |made: Made| Some((made, made.0.estimate(machine, made.1).ok()?));
    let estimates: HashMap<Made, Estimated> = all.into_par_iter().filter_map(estimate).collect();
    let (mut correlations, mut losses, mut refused) = (Vec::new(), Vec::new(), 0);
    for group in &groups {
        let estimated = |row: &&Row| {
            let ((made, splits), [m, n, k]) = (made(row)?, row.context.first_chunk()?);
            Some((estimates.get(&made)?.us([*m, *n, *k], splits), row.us))
        };
        let pairs: Vec<(f64, f64)> = group.rows.iter().filter_map(estimated).collect();
        refused += group.rows.len() - pairs.len();
        if pairs.len() > 2 {
            correlations.push(spearman(&pairs));
            let first = pairs.iter().min_by(|a, b| a.0.total_cmp(&b.0)).map_or(0.0, |pair| pair.1);
            losses.push(first / group.best());
        }
    }
    Ok(Correlations { contexts: correlations, first: Summary::new(losses.into_iter()), refused })
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
        let numbers = [found.mean(), least, found.first.mean, found.first.worst].map(|number| format!("{number:.3}"));
        Ok([op.clone(), found.contexts.len().to_string()]
            .into_iter()
            .chain(numbers)
            .chain([found.refused.to_string()])
            .collect())
    };
    let rows: Vec<Vec<String>> = ops.iter().map(row).collect::<Result<_>>()?;
    Ok(text(&["operation", "contexts", "correlation", "least", "first over best", "worst", "refused"], &rows))
}
