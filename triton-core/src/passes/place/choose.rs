//! The labels that cost least together.

use super::candidates::{Candidates, Id, Label};
use super::cost::Costs;
use crate::layout::{Layout, estimate};
use crate::ops::DotKind;
use crate::passes::pbqp::Problem;
use std::collections::HashMap;

/// What was chosen for a variable.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    /// The layout it works in.
    pub domain: Layout,
    /// Of a product, the instructions, and the layouts of its left and its right operand.
    pub product: Option<(DotKind, [Layout; 2])>,
    /// Cycles that it takes itself, in all of its runs.
    pub cost: f64,
}

/// Chooses for every variable.
///
/// # Errors
/// A label that says nothing of an operand: a mistake of placement.
pub(super) fn choose(costs: &Costs, mut candidates: Candidates) -> Result<Vec<Choice>, String> {
    let best = labels(costs, &mut candidates)?;
    let choice = |(var, label): (usize, Label)| {
        let layout = |id: Id| candidates.layouts.get(id).clone();
        let (domain, product) = match label {
            Label::Tile(id) => (layout(id), None),
            Label::Product { kind, left, right, sum } => (layout(sum), Some((kind, [layout(left), layout(right)]))),
        };
        Choice { domain, product, cost: costs.of(var, label, &candidates) }
    };
    Ok(best.into_iter().enumerate().map(choice).collect())
}

/// The label of each variable.
pub(super) fn labels(costs: &Costs, candidates: &mut Candidates) -> Result<Vec<Label>, String> {
    let labels = std::mem::take(&mut candidates.labels);
    let mut best: Vec<Label> = labels.iter().filter_map(|labels| labels.first().copied()).collect();
    if best.len() < labels.len() {
        return Err("a variable without a label".into());
    }
    // What can be labelled in one way only takes no part.
    let open: Vec<usize> = (0..labels.len()).filter(|&var| labels[var].len() > 1).collect();
    if !open.is_empty() {
        let problem = pose(costs, candidates, &labels, &open)?;
        let solution = problem.solve().ok_or("a variable without a label")?;
        for (&var, label) in open.iter().zip(solution.labels) {
            best[var] = labels[var][label];
        }
    }
    Ok(best)
}

/// The problem of the variables that have a choice.
fn pose(costs: &Costs, candidates: &mut Candidates, labels: &[Vec<Label>], open: &[usize]) -> Result<Problem, String> {
    let mut node = vec![None; labels.len()];
    open.iter().enumerate().for_each(|(i, &var)| node[var] = Some(i));
    let of = |&var: &usize| labels[var].iter().map(|&label| costs.of(var, label, candidates)).collect();
    let mut own: Vec<Vec<f64>> = open.iter().map(of).collect();
    let mut known: HashMap<(Id, Id, u32), f64> = HashMap::new();
    let mut pairs = Vec::new();
    for used in &costs.graph.uses {
        let Some((from, value)) = used.from else { continue };
        let nodes = (node[from], node[used.var]);
        if nodes == (None, None) {
            continue;
        }
        let missing = "a label that says nothing of an operand";
        let mut yields = Vec::with_capacity(labels[from].len());
        for &label in &labels[from] {
            let layout = candidates.yields(from, label).ok_or(missing)?;
            yields.push(candidates.layouts.id(layout));
        }
        let mut needs = Vec::with_capacity(labels[used.var].len());
        for &label in &labels[used.var] {
            let layout = candidates.needed(used, label).ok_or(missing)?;
            needs.push(candidates.layouts.id(layout));
        }
        let bits = costs.func.ty(value).elem.bits();
        let mut matrix = Vec::with_capacity(yields.len() * needs.len());
        for &src in &yields {
            for &dst in &needs {
                let cost = *known.entry((src, dst, bits)).or_insert_with(|| {
                    estimate::cycles(candidates.layouts.get(src), candidates.layouts.get(dst), bits)
                });
                matrix.push(used.freq * cost);
            }
        }
        match nodes {
            (Some(a), Some(b)) => pairs.push((a, b, needs.len(), matrix)),
            (Some(only), None) | (None, Some(only)) => {
                own[only].iter_mut().zip(matrix).for_each(|(own, cost)| *own += cost);
            }
            (None, None) => {}
        }
    }
    let mut problem = Problem::default();
    for costs in own {
        problem.add_node(costs);
    }
    for (a, b, columns, matrix) in pairs {
        problem.add_edge(a, b, |i, j| matrix[i * columns + j]);
    }
    Ok(problem)
}
