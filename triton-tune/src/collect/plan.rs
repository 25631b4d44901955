//! Which instances are measured in which contexts: the same for the same options, so that a run that is killed continues.

use super::Options;
use super::space::{Candidate, MOST_SPLITS, rules, space};
use crate::context::Products;
use crate::error::{Error, Result};
use crate::jit::{Form, Instance, Order};
use crate::legal::Rules;
use crate::sample::{self, Stream};
use crate::space::tensor::Call;
use fastrand::Rng;
use std::collections::HashSet;
use triton::DType;

/// What an instance is measured in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Sample {
    /// M, N and K.
    pub extents: [i64; 3],
    /// Parts of K that are asked for.
    pub splits: i64,
}

/// An instance, and what it is measured in.
#[derive(Clone, Debug)]
pub(super) struct Job {
    pub instance: Instance,
    pub samples: Vec<Sample>,
}

/// Contexts of data that is complete are drawn from another start.
const HELD_OUT: u64 = 0x5851_f42d_4c95_7f2d;
/// Samples of which one is drawn without the rules of what is promising.
const UNPROMISING: f64 = 0.15;
/// Contexts whose extents are rounded up to multiples of 8, as most programs choose them.
const ROUNDED: f64 = 0.85;
/// Draws of an instance before those that are found are all.
const MOST_DRAWS: usize = 400;
/// The most programs a multiprocessor in a complete measurement.
const MOST_PROGRAMS: i64 = 8;

fn size(ty: DType) -> i64 {
    i64::from(ty.bytes())
}

/// Contexts of a type: work that takes about a millisecond at most, operands that fit any device.
pub(super) fn contexts(ty: DType, count: usize, seed: u64, limit: [i64; 3]) -> Result<Vec<[i64; 3]>> {
    let flops = if ty == DType::F32 { [1e6, 4e10] } else { [1e6, 4e11] };
    let products = Products { extents: limit, flops, bytes: 5e8, size: size(ty) as f64, ..Products::default() };
    let mut rng = Rng::with_seed(seed);
    let (mut seen, mut drawn) = (HashSet::new(), Vec::new());
    for _ in 0..count.saturating_mul(100) {
        if drawn.len() == count {
            break;
        }
        let mut extents = products.draw(&mut rng)?;
        if rng.f64() < ROUNDED {
            extents = extents.map(|extent| if extent > 8 { extent.div_ceil_of(8) } else { extent });
        }
        if seen.insert(extents) {
            drawn.push(extents);
        }
    }
    Ok(drawn)
}

trait Rounded {
    fn div_ceil_of(self, of: i64) -> i64;
}

impl Rounded for i64 {
    fn div_ceil_of(self, of: i64) -> i64 {
        (self + of - 1) / of * of
    }
}

/// Rules, and the same without those of what is promising.
struct Legal {
    all: Rules<Candidate>,
    small: Rules<Candidate>,
    any: Rules<Candidate>,
}

impl Legal {
    fn new() -> Result<Legal> {
        let all = rules();
        let mut small = all.clone();
        small.set("occupancy", false)?;
        let mut any = small.clone();
        any.set("extent", false)?;
        Ok(Legal { all, small, any })
    }

    /// The numbers of splits with which an instance is legal in a context, and promising if that is asked for.
    fn splits(&self, instance: &Instance, extents: [i64; 3], promising: bool) -> Vec<i64> {
        let [m, n, k] = extents;
        // No candidate fills the device with a product this small.
        let tiles = |extent: i64, most: i64| (extent / 16 + 1).min(most);
        let small = tiles(m, 8192) * tiles(n, 8192) * tiles(k, MOST_SPLITS) <= 132;
        let rules = match (promising, small) {
            (false, _) => &self.any,
            (true, true) => &self.small,
            (true, false) => &self.all,
        };
        let call = Call::hopper(extents, size(instance.ty));
        let legal = |splits: i64| {
            let candidate = Candidate::new(&call, &instance.choice(splits));
            candidate.is_split() == (instance.form == Form::Split) && rules.check(&candidate).is_ok()
        };
        let most = if instance.form == Form::Split { MOST_SPLITS } else { 1 };
        std::iter::successors(Some(1), |splits| Some(splits * 2))
            .take_while(|&splits| splits <= most)
            .filter(|&s| legal(s))
            .collect()
    }
}

/// The share of each form among the instances of a type.
fn forms(ty: DType) -> Vec<(Form, f64)> {
    // Only types of tensor cores gain by the transpose.
    if ty == DType::F32 {
        vec![(Form::Whole, 0.5), (Form::Split, 0.5)]
    } else {
        vec![(Form::Whole, 0.45), (Form::Transposed, 0.15), (Form::Split, 0.4)]
    }
}

/// Instances of a type, an order and a form, and the samples of each.
fn drawn(
    ty: DType,
    order: Order,
    form: Form,
    count: usize,
    contexts: &[[i64; 3]],
    options: &Options,
) -> Result<Vec<Job>> {
    let legal = Legal::new()?;
    let space = space(size(ty), form);
    // Numbers of one seed, but not the same for each type and order.
    let seed = options.seed ^ triton_core::hash::fnv1a(format!("{ty} {order} {form:?}").bytes());
    let mut stream = Stream::new(&space, 2000, sample::Options { seed, ..sample::Options::default() })?;
    let (mut seen, mut jobs) = (HashSet::new(), Vec::new());
    for _ in 0..count * MOST_DRAWS {
        if jobs.len() == count {
            break;
        }
        let values = stream.draw()?;
        let [m, n, k, num_warps, num_stages, groups, splits, _] = *values.get(3..).unwrap_or_default() else { break };
        if form == Form::Split && splits == 1 && groups == 1 {
            continue;
        }
        let instance = Instance { ty, order, form, tile: [m, n, k], num_warps, num_stages, groups };
        if !seen.insert(instance) {
            continue;
        }
        let samples = samples(&legal, &instance, contexts, options, seed);
        if !samples.is_empty() {
            jobs.push(Job { instance, samples });
        }
    }
    Ok(jobs)
}

/// The samples of an instance.
fn samples(legal: &Legal, instance: &Instance, contexts: &[[i64; 3]], options: &Options, seed: u64) -> Vec<Sample> {
    let mut rng = Rng::with_seed(seed ^ triton_core::hash::fnv1a(instance.to_string().bytes()));
    let mut order: Vec<usize> = (0..contexts.len()).collect();
    rng.shuffle(&mut order);
    let mut samples = Vec::new();
    for index in order {
        if samples.len() == options.samples {
            break;
        }
        let promising = rng.f64() >= UNPROMISING;
        let splits = legal.splits(instance, contexts[index], promising);
        if let Some(&splits) = rng.choice(&splits) {
            samples.push(Sample { extents: contexts[index], splits });
        }
    }
    samples
}

/// Everything that is to be measured, in a random order of instances.
pub(super) fn plan(options: &Options) -> Result<Vec<Job>> {
    let pairs: Vec<(DType, Order)> =
        options.types.iter().flat_map(|&ty| options.orders.iter().map(move |&order| (ty, order))).collect();
    let mut jobs = Vec::new();
    match &options.complete {
        None => {
            let count = options.instances.div_ceil(pairs.len().max(1));
            for (ty, order) in pairs {
                let contexts = contexts(ty, options.contexts, options.seed, options.limit)?;
                for (form, share) in forms(ty) {
                    let count = (count as f64 * share).ceil() as usize;
                    jobs.extend(drawn(ty, order, form, count, &contexts, options)?);
                }
            }
        }
        Some(complete) => {
            let legal = Legal::new()?;
            for &ty in &options.types {
                let sampled: HashSet<[i64; 3]> =
                    contexts(ty, options.contexts, options.seed, options.limit)?.into_iter().collect();
                let mut held_out =
                    contexts(ty, complete.contexts + sampled.len(), options.seed ^ HELD_OUT, options.limit)?;
                held_out.retain(|extents| !sampled.contains(extents));
                held_out.truncate(complete.contexts);
                let of_type = complete.pool.iter().filter(|instance| instance.ty == ty);
                for instance in of_type.filter(|instance| options.orders.contains(&instance.order)) {
                    let all = held_out.iter().flat_map(|&extents| {
                        let splits = legal.splits(instance, extents, false);
                        let fits = move |splits: &i64| {
                            *splits <= 2 || programs(instance, extents, *splits) <= MOST_PROGRAMS * 132
                        };
                        splits.into_iter().filter(fits).map(move |splits| Sample { extents, splits })
                    });
                    jobs.push(Job { instance: *instance, samples: all.collect() });
                }
            }
        }
    }
    jobs.retain(|job| !job.samples.is_empty());
    if jobs.is_empty() {
        return Err(Error::value(
            "the number of samples to measure",
            0,
            "at least one",
            "ask for more instances or contexts",
        ));
    }
    Rng::with_seed(options.seed).shuffle(&mut jobs);
    Ok(jobs)
}

fn programs(instance: &Instance, [m, n, _]: [i64; 3], splits: i64) -> i64 {
    let [bm, bn, _] = instance.tile;
    (m + bm - 1) / bm * ((n + bn - 1) / bn) * splits
}
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_has_what_was_asked_for_and_is_the_same_again() {
        let options = Options { instances: 60, samples: 7, contexts: 100, ..Options::default() };
        let jobs = plan(&options).expect("there are instances");
        let of = |jobs: &[Job]| jobs.iter().map(|job| (job.instance, job.samples.clone())).collect::<Vec<_>>();
        assert_eq!(of(&jobs), of(&plan(&options).expect("as before")));
        assert!((60..90).contains(&jobs.len()), "{} jobs", jobs.len());
        let names: HashSet<String> = jobs.iter().map(|job| job.instance.to_string()).collect();
        assert_eq!(names.len(), jobs.len(), "no instance twice");
        let contexts: HashSet<[i64; 3]> = jobs.iter().flat_map(|job| &job.samples).map(|s| s.extents).collect();
        assert!(contexts.len() > 90 && jobs.iter().any(|job| job.samples.len() == 7), "{} contexts", contexts.len());
        for job in &jobs {
            let split = job.instance.form == Form::Split;
            assert!(job.samples.iter().all(|s| split || s.splits == 1), "{job:?}");
        }
        for form in [Form::Whole, Form::Transposed, Form::Split] {
            assert!(jobs.iter().any(|job| job.instance.form == form), "{form:?}");
        }
    }
}
