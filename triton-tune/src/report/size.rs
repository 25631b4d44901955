//! The size of the search space, before and after rules.

use super::text;
use crate::context::Products;
use crate::error::Result;
use crate::legal::tensor::{instance_rules, rules};
use crate::space::enumerate;
use crate::space::tensor::{Call, candidates, instance, instances, launch};
use fastrand::Rng;

/// Counts our instances rule by rule, and the candidates of sampled contexts, for elements of this many bytes on an H200.
///
/// # Errors
/// No context is within the bounds.
pub fn size(bytes: i64, contexts: usize, seed: u64, mut progress: impl FnMut(usize)) -> Result<String> {
    let count = |parameters: &[crate::space::Parameter]| -> usize {
        parameters.iter().map(|parameter| parameter.values.len()).product()
    };
    let (all, launches) = (count(&instance()), count(&launch()));
    let (call, list) = (Call::hopper([1; 3], bytes), instance_rules());
    let mut rejected: Vec<(&str, &str, usize)> = list.iter().map(|(rule, _)| (rule.name, rule.source, 0)).collect();
    enumerate(&instance(), |values| {
        let rejection = list.check(&call.point(values)).err();
        let row = rejection.and_then(|by| rejected.iter_mut().find(|(name, ..)| *name == by.rule));
        if let Some((_, _, count)) = row {
            *count += 1;
        }
    });
    let mut left = all;
    let mut rows = vec![vec!["all instances".to_owned(), String::new(), String::new(), all.to_string()]];
    for (name, source, count) in rejected {
        left -= count;
        rows.push(vec![name.into(), source.into(), count.to_string(), left.to_string()]);
    }
    let instances = instances(bytes);
    let (mut rng, distribution) = (Rng::with_seed(seed), Products::default());
    let mut counts = Vec::new();
    for done in 0..contexts {
        let call = Call::hopper(distribution.draw(&mut rng)?, bytes);
        counts.push(candidates(&call, &instances, &rules()).len());
        progress(done + 1);
    }
    counts.sort_unstable();
    let at = |share: f64| counts.get((share * (counts.len().saturating_sub(1)) as f64) as usize).copied().unwrap_or(0);
    Ok(format!(
        "{}\n{} candidates a context with {launches} launches each, before rules; after the rules of {contexts} contexts: \
         least {}, median {}, most {}\n",
        text(&["rule", "source", "rejected", "left"], &rows),
        all * launches,
        at(0.0),
        at(0.5),
        at(1.0),
    ))
}
