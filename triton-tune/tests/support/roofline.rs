//! Data without a GPU: times of products by a roofline, with noise.

use fastrand::Rng;
use triton_tune::context::Products;
use triton_tune::data::{Data, Row, Schema};
use triton_tune::legal::tensor::rules;
use triton_tune::space::tensor::{Call, candidates, instance, instances, launch};

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

/// Rows of this many contexts with this many random legal candidates each, of `instances` random instances; all of them if there
/// are fewer.
pub fn recorded(contexts: usize, each: usize, pool: usize, noise: f64, seed: u64) -> Data {
    let mut rng = Rng::with_seed(seed);
    // The same instances for each seed of contexts.
    let mut pool_rng = Rng::with_seed(99);
    let mut pool_of = instances(2);
    pool_rng.shuffle(&mut pool_of);
    pool_of.truncate(pool);
    let names = |parameters: Vec<triton_tune::space::Parameter>| parameters.into_iter().map(|parameter| parameter.name);
    let schema = Schema::new(["m", "n", "k"], names(instance()).chain(names(launch())), ["flops", "blocks"]);
    let mut rows = Vec::new();
    for _ in 0..contexts {
        let extents = Products::default().draw(&mut rng).expect("the bounds are wide");
        let mut choices = candidates(&Call::hopper(extents, 2), &pool_of, &rules());
        rng.shuffle(&mut choices);
        choices.truncate(each);
        for choice in choices {
            // Twelve uniform numbers are about normal.
            let normal = (0..12).map(|_| rng.f64()).sum::<f64>() - 6.0;
            let [m, n, k] = extents.map(|extent| extent as f64);
            let blocks = (m / choice[0] as f64).ceil() * (n / choice[1] as f64).ceil() * choice[6] as f64;
            rows.push(Row {
                device: "roofline".into(),
                op: "gemm.bf16".into(),
                context: extents.to_vec(),
                us: time(extents, &choice) * (noise * normal).exp(),
                registers: (choice[0] * choice[1] / (32 * choice[3]) + 64) as u32,
                shared: (choice[4] * (choice[0] + choice[1]) * choice[2] * 2) as u32,
                estimates: vec![2.0 * m * n * k, blocks],
                choice,
                ..Row::default()
            });
        }
    }
    Data { schema, rows, dropped: false }
}
