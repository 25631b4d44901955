//! Data without a GPU: times of products by a roofline, with noise.

use fastrand::Rng;
use triton_tune::context::Products;
use triton_tune::data::{Data, Row, Schema};
use triton_tune::legal::tensor::rules;
use triton_tune::sample::Sampler;
use triton_tune::space::tensor::{Call, candidates, gemm, instance, instances, launch};
use triton_tune::space::{Candidates, Parameter};

/// Microseconds of a product on a made-up device like an H200: waves of blocks, each of which multiplies or waits for memory,
/// whichever takes longer, and what splitting adds.
fn time(extents: [i64; 3], choice: &[i64]) -> f64 {
    let [m, n, k] = extents.map(|extent| extent as f64);
    let [bm, bn, bk, warps, stages, kl, splits, raster] = std::array::from_fn(|index| choice[index] as f64);
    let cores = 132.0;
    let shared = (stages * (bm + bn) * bk * 2.0).max(if kl > 1.0 { 4.0 * kl * bm * bn } else { 0.0 });
    let registers = bm * bn * kl / (32.0 * warps) + 64.0;
    let resident =
        (227.0 * 1024.0 / (shared + 1024.0)).min(65536.0 / (registers * 32.0 * warps)).floor().clamp(1.0, 8.0);
    let blocks = (m / bm).ceil() * (n / bn).ceil() * splits;
    let waves = (blocks / (cores * resident)).ceil();
    let steps = (k / splits / bk).ceil();
    // Multiplication: tensor cores are busy if there are warps enough, and tiles large enough.
    let busy = (resident * warps / 8.0).min(1.0) * (bm * bn / (bm + bn) / 64.0).min(1.0).powf(0.4);
    let multiply = resident * 2.0 * bm * bn * bk / (990e6 / cores * 0.8 * busy);
    // Memory: neighbouring programs find operands in the cache.
    let reuse = 1.0 + 3.0 * (raster / 16.0).sqrt() * (blocks / cores).min(1.0);
    let bytes = resident * 2.0 * bk * (bm + bn) / reuse;
    let load = bytes / (4.5e6 / cores) + 0.6 / (stages - 1.0);
    let reduction = if splits > 1.0 { 4.0 * m * n * splits / 3e6 + 2.0 } else { 0.0 };
    let parts = if kl > 1.0 { 0.3 * kl } else { 0.0 };
    3.0 + waves * (1.0 + steps * multiply.max(load) + 2.0 * bm * bn / (4.5e6 / cores) + parts) + reduction
}

/// The columns of a product.
fn schema() -> Schema {
    let names = |parameters: Vec<Parameter>| parameters.into_iter().map(|parameter| parameter.name);
    Schema::new(["m", "n", "k"], names(instance()).chain(names(launch())), ["flops", "blocks"])
}

/// The sample of a choice in a context, with a time that varies by this share.
fn row(extents: [i64; 3], choice: Vec<i64>, noise: f64, rng: &mut Rng) -> Row {
    // Twelve uniform numbers are about normal.
    let normal = (0..12).map(|_| rng.f64()).sum::<f64>() - 6.0;
    let [m, n, k] = extents.map(|extent| extent as f64);
    let blocks = (m / choice[0] as f64).ceil() * (n / choice[1] as f64).ceil() * choice[6] as f64;
    Row {
        device: "roofline".into(),
        op: "gemm.bf16".into(),
        context: extents.to_vec(),
        us: time(extents, &choice) * (noise * normal).exp(),
        registers: (choice[0] * choice[1] / (32 * choice[3]) + 64) as u32,
        shared: (choice[4] * (choice[0] + choice[1]) * choice[2] * 2) as u32,
        estimates: vec![2.0 * m * n * k, blocks],
        choice,
        ..Row::default()
    }
}

/// Rows of this many contexts with this many random legal candidates each, of `pool` random instances; all of them if there are fewer.
pub fn recorded(contexts: usize, each: usize, pool: usize, noise: f64, seed: u64) -> Data {
    let mut rng = Rng::with_seed(seed);
    // The same instances for each seed of contexts.
    let mut pool_rng = Rng::with_seed(99);
    let mut pool_of = instances(2);
    pool_rng.shuffle(&mut pool_of);
    pool_of.truncate(pool);
    let mut rows = Vec::new();
    for _ in 0..contexts {
        let extents = Products::default().draw(&mut rng).expect("the bounds are wide");
        let mut choices = candidates(&Call::hopper(extents, 2), &pool_of, &rules());
        rng.shuffle(&mut choices);
        choices.truncate(each);
        rows.extend(choices.into_iter().map(|choice| row(extents, choice, noise, &mut rng)));
    }
    Data { schema: schema(), rows, dropped: false }
}

/// Rows of this many contexts with this many choices each, which a sampler of the space of products draws until they are legal.
pub fn sampled(sampler: &Sampler, contexts: usize, each: usize, noise: f64, seed: u64) -> Data {
    let (space, mut rng) = (gemm(), Rng::with_seed(seed));
    let parameters = space.parameters();
    let mut indices = vec![0; parameters.len()];
    let mut rows = Vec::new();
    for _ in 0..contexts {
        let extents = Products::default().draw(&mut rng).expect("the bounds are wide");
        let legal = |choice: &Vec<i64>| space.check(&[&extents[..], choice].concat()).is_ok();
        let mut choices: Vec<Vec<i64>> = Vec::new();
        // Some contexts have no legal choice.
        for _ in 0..100 * each {
            sampler.draw(&mut rng, &mut indices);
            let values = parameters.iter().zip(&indices).skip(extents.len());
            choices.push(values.map(|(parameter, &index)| parameter.values[index]).collect());
            choices.retain(&legal);
            if choices.len() == each {
                break;
            }
        }
        rows.extend(choices.into_iter().map(|choice| row(extents, choice, noise, &mut rng)));
    }
    Data { schema: schema(), rows, dropped: false }
}
