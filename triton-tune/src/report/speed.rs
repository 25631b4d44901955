//! How fast networks predict and learn on this CPU.

use super::text;
use crate::error::Result;
use crate::train::{Cpu, Network, Options, Samples, Trainer};
use fastrand::Rng;
use rayon::prelude::*;
use std::time::{Duration, Instant};
use triton_select::model::{Feature, Model, Ranking, Scratch, Target, Transform};

/// Features of a context and of a choice, about as many as a product has.
const FEATURES: [usize; 2] = [8, 10];
/// How long each row is measured.
const TIME: Duration = Duration::from_millis(300);

/// A network of random weights.
fn random(hidden: &[usize]) -> Result<Model> {
    let [context, choice] = FEATURES;
    let network = Network::random(context + choice, hidden, &mut Rng::with_seed(1));
    let feature =
        |index: usize| Feature { name: format!("feature {index}"), transform: Transform::Log2, mean: 5.0, scale: 3.0 };
    let of = |from: usize, count: usize| (from..from + count).map(feature).collect();
    let target = Target { mean: 0.0, scale: 1.0 };
    Ok(Model::new(of(0, context), of(context, choice), network.layers, target)?)
}

/// Candidates of random values.
fn candidates(model: &Model, count: usize) -> Result<Ranking> {
    let mut rng = Rng::with_seed(2);
    let values: Vec<[f32; FEATURES[1]]> =
        (0..count).map(|_| std::array::from_fn(|_| (1 << rng.u32(..9)) as f32)).collect();
    Ok(model.ranking(&values)?)
}

/// The least seconds of a call, over many.
fn seconds(mut call: impl FnMut() -> Result<()>) -> Result<f64> {
    let (start, mut best) = (Instant::now(), f64::INFINITY);
    while start.elapsed() < TIME {
        let start = Instant::now();
        call()?;
        best = best.min(start.elapsed().as_secs_f64());
    }
    Ok(best)
}

/// Predictions a second, and the time of a pool.
///
/// # Errors
/// None of a network that fits its features.
pub fn inference(networks: &[Vec<usize>]) -> Result<String> {
    let context = [1024.0; FEATURES[0]];
    let mut rows = Vec::new();
    for hidden in networks {
        let model = random(hidden)?;
        let flops = 2 * (model.weights() - FEATURES.iter().sum::<usize>() * hidden.first().unwrap_or(&1));
        let mut row = vec![format!("{hidden:?}"), format!("{:.1}k", model.weights() as f64 / 1000.0)];
        for threads in [1, 2] {
            let count = 16_384;
            let part = || -> Result<_> { Ok((candidates(&model, count)?, Scratch::default(), vec![0.0; count])) };
            let mut parts = (0..threads).map(|_| part()).collect::<Result<Vec<_>>>()?;
            let seconds = seconds(|| {
                let each = parts.par_iter_mut();
                each.try_for_each(|(ranking, scratch, times)| Ok(ranking.times(&context, scratch, times)?))
            })?;
            let rate = (threads * count) as f64 / seconds;
            row.push(format!("{:.2e}", rate));
            if threads == 1 {
                row.push(format!("{:.1}", rate * flops as f64 / 1e9));
            }
        }
        for count in [64, 512] {
            let (ranking, mut scratch, mut times) = (candidates(&model, count)?, Scratch::default(), vec![0.0; count]);
            let seconds = seconds(|| Ok(ranking.times(&context, &mut scratch, &mut times)?))?;
            row.push(format!("{:.1}", seconds * 1e6));
        }
        rows.push(row);
    }
    let header =
        ["hidden layers", "weights", "1 thread, /s", "GFLOP/s", "2 threads, /s", "pool of 64, µs", "pool of 512, µs"];
    Ok(text(&header, &rows))
}

/// Floating-point operations of training a second.
///
/// # Errors
/// None of random samples.
pub fn training(networks: &[Vec<usize>]) -> Result<String> {
    let (mut rng, width, count) = (Rng::with_seed(3), FEATURES.iter().sum(), 16_384);
    let inputs: Vec<f32> = (0..count * width).map(|_| 2.0 * rng.f32() - 1.0).collect();
    let targets = inputs.chunks_exact(width).map(|inputs| inputs.iter().map(|x| x.abs()).sum()).collect();
    let samples = Samples { width, inputs, targets };
    let mut rows = Vec::new();
    for hidden in networks {
        let options = Options { hidden: hidden.clone(), epochs: 1, ..Options::default() };
        let mut weights = 0;
        let seconds = seconds(|| {
            weights = Cpu.fit(&samples, &options, &mut |_, _| {})?.weights();
            Ok(())
        })?;
        // Forward, and gradients of values and of weights.
        let flops = 6.0 * weights as f64 * count as f64;
        let rate = format!("{:.1}", flops / seconds / 1e9);
        let time = format!("{:.2e}", count as f64 / seconds);
        rows.push(vec![format!("{hidden:?}"), format!("{:.1}k", weights as f64 / 1000.0), time, rate]);
    }
    let threads = rayon::current_num_threads();
    Ok(format!("{threads} threads\n{}", text(&["hidden layers", "weights", "samples/s", "GFLOP/s"], &rows)))
}
