//! Pools: the few instances that a program embeds, of the many that were measured.
//!
//! A pool's *loss* in a context is the time of its best member over the time of the best of all data. Members are added greedily:
//! each time the one that lowers the geometric mean of the losses most.

use crate::data::{Data, group};
use crate::error::{Error, Result};
use std::collections::HashMap;

/// A loss over contexts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loss {
    /// The geometric mean; 1 is no loss.
    pub mean: f64,
    /// The largest.
    pub worst: f64,
    /// Contexts in which no member was measured. Each counts as twice the slowest time that was.
    pub unmeasured: usize,
}

/// A pruned pool.
#[derive(Clone, Debug, PartialEq)]
pub struct Pool {
    /// The names of an instance's parameters.
    pub columns: Vec<String>,
    /// The members' values, in the order in which they were added.
    pub members: Vec<Vec<i64>>,
    /// The loss of the first member, of the first two, and so on.
    pub losses: Vec<Loss>,
}

impl Pool {
    /// The members as an option of the kernel's attribute: `configs = [(BM = 128, BN = 64), ..]`.
    #[must_use]
    pub fn configs(&self) -> String {
        let member = |values: &Vec<i64>| {
            let values = self.columns.iter().zip(values).map(|(name, value)| format!("{name} = {value}"));
            format!("    ({}),\n", values.collect::<Vec<_>>().join(", "))
        };
        format!("configs = [\n{}]\n", self.members.iter().map(member).collect::<String>())
    }
}

/// Chooses at most `size` members. Parameters of the choice that are named in `launch` are chosen anew with each launch, so that they
/// do not tell members apart.
///
/// # Errors
/// No rows, a name that is not a parameter of the choice.
pub fn prune(data: &Data, size: usize, launch: &[&str]) -> Result<Pool> {
    let names = &data.schema.choice;
    if let Some(unknown) = launch.iter().find(|name| !names.iter().any(|known| known == *name)) {
        return Err(Error::name("parameter", unknown, names));
    }
    if data.rows.is_empty() {
        return Err(Error::value("the number of recorded rows", 0, "at least one", "record data first"));
    }
    let kept: Vec<usize> = (0..names.len()).filter(|&index| !launch.contains(&names[index].as_str())).collect();
    let instance = |choice: &[i64]| -> Vec<i64> { kept.iter().map(|&index| choice[index]).collect() };

    let groups = group(&data.rows);
    let mut members: Vec<Vec<i64>> = Vec::new();
    let mut known: HashMap<Vec<i64>, usize> = HashMap::new();
    // For each member, its best time in each context where it was measured, as a logarithm of the loss.
    let mut losses: Vec<HashMap<usize, f64>> = Vec::new();
    let mut missing = Vec::new();
    for (context, group) in groups.iter().enumerate() {
        let best = group.best();
        let slowest = group.rows.iter().map(|row| row.us).fold(best, f64::max);
        missing.push((2.0 * slowest / best).ln());
        for row in &group.rows {
            let member = *known.entry(instance(&row.choice)).or_insert_with_key(|values| {
                members.push(values.clone());
                losses.push(HashMap::new());
                members.len() - 1
            });
            let loss = losses[member].entry(context).or_insert(f64::INFINITY);
            *loss = loss.min((row.us / best).ln());
        }
    }

    let mut current = missing.clone();
    let mut measured = vec![false; groups.len()];
    let mut pool = Pool {
        columns: kept.iter().map(|&index| names[index].clone()).collect(),
        members: Vec::new(),
        losses: Vec::new(),
    };
    let mut left: Vec<usize> = (0..members.len()).collect();
    while pool.members.len() < size && !left.is_empty() {
        let gain = |member: usize| -> f64 {
            let gains = losses[member].iter().map(|(&context, loss)| (context, (current[context] - loss).max(0.0)));
            // A hash map's order differs from run to run, and so would the last bits of a sum.
            let mut gains: Vec<(usize, f64)> = gains.collect();
            gains.sort_unstable_by_key(|(context, _)| *context);
            gains.iter().map(|(_, gain)| gain).sum()
        };
        let gains: Vec<f64> = left.iter().map(|&member| gain(member)).collect();
        let at = (0..left.len()).fold(0, |best, at| if gains[at] > gains[best] { at } else { best });
        let member = left.remove(at);
        for (&context, &loss) in &losses[member] {
            current[context] = current[context].min(loss);
            measured[context] = true;
        }
        pool.members.push(members[member].clone());
        pool.losses.push(Loss {
            mean: (current.iter().sum::<f64>() / current.len() as f64).exp(),
            worst: current.iter().copied().fold(0.0, f64::max).exp(),
            unmeasured: measured.iter().filter(|measured| !**measured).count(),
        });
    }
    Ok(pool)
}
