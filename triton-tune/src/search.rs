//! Which candidates are measured, how often, and which of them is the fastest.

use crate::error::Failure;
use crate::measure::Effort;
use std::cmp::Ordering;
use std::time::Instant;

/// As many candidates are compared well.
const FEW: usize = 4;

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// Candidates with their last times in microseconds, the fastest first.
    pub(crate) times: Vec<(usize, f64)>,
    /// Those that were dropped, and why.
    pub(crate) failures: Vec<(usize, Failure)>,
    /// Whether there was time for all.
    pub(crate) is_complete: bool,
}

/// Measures a candidate as well as asked, given the shortest time so far.
pub(crate) type Try<'m> = dyn FnMut(usize, Effort, Option<f64>) -> Result<f64, Failure> + 'm;

/// Successive halving (Jamieson and Talwalkar, AISTATS 2016): every candidate once, the better half twice as often, and so on, until few are
/// left that are compared well. It ends early at a time, with what it knows, or if the device is broken.
///
/// `order` are the candidates in the order in which to try them.
pub(crate) fn halve(order: &[usize], until: Option<Instant>, measure: &mut Try<'_>) -> Found {
    let mut found = Found { is_complete: true, ..Found::default() };
    // Of each candidate the last time; those that the next round compares.
    let (mut alive, mut runs) = (order.to_vec(), 1);
    loop {
        let effort = if alive.len() <= FEW { Effort::Precise } else { Effort::Rough(runs) };
        let best = |found: &Found| found.times.iter().map(|(_, us)| *us).min_by(f64::total_cmp);
        for &index in &alive {
            let late = until.is_some_and(|until| Instant::now() >= until);
            if late && !found.times.is_empty() {
                found.is_complete = false;
                break;
            }
            let measured = measure(index, effort, best(&found)).and_then(|us| {
                let is_time = us.is_finite() && us > 0.0;
                if is_time { Ok(us) } else { Err(Failure::Time { found: us }) }
            });
            found.times.retain(|(of, _)| *of != index);
            match measured {
                Ok(us) => found.times.push((index, us)),
                Err(failure) => {
                    let broken = failure.of_device().is_some();
                    found.failures.push((index, failure));
                    if broken {
                        found.times.clear();
                        found.is_complete = false;
                        return found;
                    }
                }
            }
        }
        // What was dropped before was no faster then, however the times of the others have changed.
        found.times.sort_by(|(a, us), (b, of)| {
            let by_time = (!alive.contains(a), *us).partial_cmp(&(!alive.contains(b), *of));
            by_time.unwrap_or(Ordering::Equal).then(a.cmp(b))
        });
        let left = found.times.iter().filter(|(index, _)| alive.contains(index)).count();
        if effort == Effort::Precise || !found.is_complete || left == 0 {
            let least = found.times.first().map_or(0.0, |(_, us)| *us);
            found.times.iter_mut().for_each(|(_, us)| *us = us.max(least));
            return found;
        }
        let measured: Vec<usize> =
            found.times.iter().map(|(index, _)| *index).filter(|of| alive.contains(of)).collect();
        alive = measured[..left.div_ceil(2).max(left.min(FEW))].to_vec();
        runs *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_fastest_is_found_with_few_launches() {
        for count in [1usize, 2, 4, 5, 8, 64, 100] {
            // Every order of a cycle.
            for offset in 0..count.min(7) {
                let time = |index: usize| 10.0 + ((index * 37 + offset) % count) as f64;
                let order: Vec<usize> = (0..count).collect();
                let mut launches = 0;
                let mut measure = |index: usize, effort: Effort, _: Option<f64>| {
                    launches += if let Effort::Rough(runs) = effort { runs } else { 16 };
                    Ok(time(index))
                };
                let found = halve(&order, None, &mut measure);
                let best = order.iter().copied().min_by(|a, b| time(*a).total_cmp(&time(*b)));
                assert_eq!(found.times.first().map(|(index, _)| *index), best, "{count} {offset}");
                assert!(found.is_complete && found.times.len() == count);
                assert!(launches as usize <= 8 * count + 64, "{count}: {launches}");
            }
        }
    }

    #[test]
    fn what_is_dropped() {
        let mut measure = |index: usize, _: Effort, _: Option<f64>| match index {
            0 => Ok(f64::NAN),
            1 => Ok(0.0),
            2 => Ok(-5.0),
            3 => Err(Failure::NotRecorded),
            _ => Ok(index as f64),
        };
        let found = halve(&[0, 1, 2, 3, 9, 8, 7, 6, 5], None, &mut measure);
        assert_eq!(found.times.first(), Some(&(5, 5.0)));
        assert_eq!(found.failures.len(), 4);
        assert!(halve(&[0, 1, 2, 3], None, &mut measure).times.is_empty());
        assert!(halve(&[], None, &mut measure).times.is_empty());
    }

    #[test]
    fn one_is_measured_however_late_it_is() {
        let mut tried = Vec::new();
        let mut measure = |index: usize, _: Effort, _: Option<f64>| {
            tried.push(index);
            if index == 3 { Err(Failure::NotRecorded) } else { Ok(1.0) }
        };
        let now = Instant::now();
        let past = now.checked_sub(Duration::from_millis(1)).unwrap_or(now);
        let found = halve(&[3, 2, 1], Some(past), &mut measure);
        assert_eq!((found.times, found.is_complete), (vec![(2, 1.0)], false));
        assert_eq!(tried, [3, 2]);
    }
}
