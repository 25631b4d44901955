//! Times of operations beside candle's own, as a table: `times [cpu|cuda]`.
//!
//! Each number is the median of seven runs of as many calls as take 30 ms, after two runs that are not counted. Calls are enqueued one after
//! another and waited for together, as in a model.

use candle_core::{D, DType, Device, Module, Result, Tensor, Var};
use candle_nn::{Optimizer, ops, rotary_emb};
use std::time::Instant;
use triton_candle::{Activation, AttentionOptions, CrossEntropyOptions, LinearOptions, Pairs};

type Call<'a> = &'a mut dyn FnMut() -> Result<()>;

/// Microseconds a call.
fn time(device: &Device, call: Call<'_>) -> Result<f64> {
    let mut run = |count: usize| -> Result<f64> {
        device.synchronize()?;
        let start = Instant::now();
        for _ in 0..count {
            call()?;
        }
        device.synchronize()?;
        Ok(start.elapsed().as_secs_f64() * 1e6 / count as f64)
    };
    run(1)?;
    let count = ((30e3 / run(2)?) as usize).clamp(1, 2000);
    run(count)?;
    let mut times = (0..7).map(|_| run(count)).collect::<Result<Vec<_>>>()?;
    times.sort_by(f64::total_cmp);
    Ok(times[3])
}

struct Table(Device);

impl Table {
    fn row(&self, name: &str, shape: &str, ours: Call<'_>, theirs: Call<'_>) -> Result<()> {
        let (ours, theirs) = (time(&self.0, ours)?, time(&self.0, theirs)?);
        println!("| {name} | {shape} | {ours:.1} | {theirs:.1} | {:.2} |", theirs / ours);
        Ok(())
    }
}

/// By products and a softmax, with a mask.
fn stored_scores(q: &Tensor, k: &Tensor, v: &Tensor, mask: &Tensor) -> Result<Tensor> {
    let scores = (q.matmul(&k.t()?)? / (q.dim(D::Minus1)? as f64).sqrt())?.broadcast_add(mask)?;
    ops::softmax_last_dim(&scores)?.matmul(v)
}

fn main() -> Result<()> {
    let cuda = std::env::args().nth(1).is_some_and(|arg| arg == "cuda");
    let device = if cuda { Device::new_cuda(0)? } else { Device::Cpu };
    let dtype = if cuda { DType::BF16 } else { DType::F32 };
    // On the CPU the kernels are interpreted: sizes are small.
    let part = |n: usize| if cuda { n } else { (n / 64).max(2) };
    let normal = |shape: &[usize]| Tensor::randn(0f32, 1.0, shape, &device)?.to_dtype(dtype);
    let table = Table(device.clone());
    println!("| operation | shape | ours, µs | candle, µs | candle / ours |\n|---|---|---|---|---|");

    let (rows, columns) = (part(8192), part(4096));
    let (x, gate) = (normal(&[rows, columns])?, normal(&[rows, columns])?);
    let (weight, bias) = (normal(&[columns])?, normal(&[columns])?);
    let shape = format!("{rows} x {columns}");
    table.row("softmax", &shape, &mut || triton_candle::softmax(&x).map(drop), &mut || {
        ops::softmax_last_dim(&x).map(drop)
    })?;
    table.row("rms_norm", &shape, &mut || triton_candle::rms_norm(&x, &weight, 1e-5).map(drop), &mut || {
        ops::rms_norm(&x, &weight, 1e-5).map(drop)
    })?;
    table.row(
        "layer_norm",
        &shape,
        &mut || triton_candle::layer_norm(&x, &weight, &bias, 1e-5).map(drop),
        &mut || ops::layer_norm(&x, &weight, &bias, 1e-5).map(drop),
    )?;
    table.row("gelu", &shape, &mut || triton_candle::activation(&x, Activation::GeluTanh).map(drop), &mut || {
        x.gelu().map(drop)
    })?;
    table.row(
        "silu · gate",
        &shape,
        &mut || triton_candle::gated(&x, &gate, Activation::Silu).map(drop),
        &mut || (x.silu()? * &gate).map(drop),
    )?;
    let across = x.t()?;
    table.row(
        "softmax of a transposed tensor",
        &shape,
        &mut || triton_candle::softmax(&across).map(drop),
        &mut || ops::softmax_last_dim(&across.contiguous()?).map(drop),
    )?;

    let (z, h, l, d) = (4, part(1024).min(16), part(2048), 128);
    let x = normal(&[z, l, h, d])?.transpose(1, 2)?;
    let angles = Tensor::randn(0f32, 1.0, (l, d / 2), &device)?;
    let (cos, sin) = (angles.cos()?, angles.sin()?);
    let (their_cos, their_sin) = (cos.to_dtype(dtype)?, sin.to_dtype(dtype)?);
    let shape = format!("[{z}, {h}, {l}, {d}], tokens first");
    table.row("rotary", &shape, &mut || triton_candle::rotary(&x, &cos, &sin, Pairs::Halves).map(drop), &mut || {
        rotary_emb::rope(&x.contiguous()?, &their_cos, &their_sin).map(drop)
    })?;
    let mask: Vec<f32> = (0..l * l).map(|at| if at % l > at / l { f32::NEG_INFINITY } else { 0.0 }).collect();
    let mask = Tensor::from_vec(mask, (l, l), &device)?.to_dtype(dtype)?;
    let options = AttentionOptions { causal: true, ..Default::default() };
    for width in [64, 128] {
        let [q, k, v] = [0; 3].map(|_| normal(&[z, h, l, width]));
        let (q, k, v) = (q?, k?, v?);
        let shape = format!("[{z}, {h}, {l}, {width}]");
        table.row(
            "attention, causal",
            &shape,
            &mut || triton_candle::attention(&q, &k, &v, options).map(drop),
            &mut || stored_scores(&q, &k, &v, &mask).map(drop),
        )?;
        let [q, k, v] = [&q, &k, &v].map(Var::from_tensor);
        let (q, k, v) = (q?, k?, v?);
        table.row(
            "attention, causal, and gradients",
            &shape,
            &mut || triton_candle::attention(&q, &k, &v, options)?.sum_all()?.backward().map(drop),
            &mut || {
                let scores = (q.matmul(&k.t()?)? / (width as f64).sqrt())?.broadcast_add(&mask)?;
                ops::softmax(&scores, D::Minus1)?.matmul(&v)?.sum_all()?.backward().map(drop)
            },
        )?;
    }

    for (m, n, k) in [(part(8192), part(4096), part(4096)), (1, part(4096), part(4096)), (16, part(4096), part(4096))] {
        let (x, w, bias, residual) = (normal(&[m, k])?, normal(&[n, k])?, normal(&[n])?, normal(&[m, n])?);
        let layer = candle_nn::Linear::new(w.clone(), Some(bias.clone()));
        let shape = format!("{m} x {n} x {k}");
        table.row(
            "linear",
            &shape,
            &mut || triton_candle::linear(&x, &w, LinearOptions::default()).map(drop),
            &mut || x.matmul(&w.t()?).map(drop),
        )?;
        let options = LinearOptions { bias: Some(&bias), activation: Activation::Silu, residual: Some(&residual) };
        table.row(
            "linear, bias, silu, residual",
            &shape,
            &mut || triton_candle::linear(&x, &w, options).map(drop),
            &mut || (layer.forward(&x)?.silu()? + &residual).map(drop),
        )?;
    }

    let (rows, classes) = (part(4096), part(32_000));
    let logits = Var::from_tensor(&normal(&[rows, classes])?)?;
    let labels: Vec<u32> = (0..rows as u32).map(|i| i * 7 % classes as u32).collect();
    let labels = Tensor::from_vec(labels, rows, &device)?;
    table.row(
        "cross entropy and gradient",
        &format!("{rows} x {classes}"),
        &mut || {
            let losses = triton_candle::cross_entropy(&logits, &labels, CrossEntropyOptions::default())?;
            losses.mean_all()?.backward().map(drop)
        },
        &mut || candle_nn::loss::cross_entropy(&logits, &labels)?.backward().map(drop),
    )?;
    let (entries, width) = (part(32_000), part(4096));
    let (rows_of, ids) = (normal(&[entries, width])?, &labels);
    table.row(
        "embedding",
        &format!("{entries} x {width}, {rows} ids"),
        &mut || triton_candle::embedding(&rows_of, ids, false).map(drop),
        &mut || rows_of.index_select(ids, 0).map(drop),
    )?;

    let variables = |count: usize| -> Result<Vec<Var>> {
        (0..count).map(|_| Var::from_tensor(&Tensor::randn(0f32, 1.0, (part(4096), part(4096)), &device)?)).collect()
    };
    let (ours, theirs) = (variables(4)?, variables(4)?);
    let sum = |variables: &[Var]| -> Result<Tensor> {
        variables
            .iter()
            .map(|var| var.sum_all())
            .reduce(|a, b| a? + b?)
            .unwrap_or_else(|| Tensor::zeros((), DType::F32, &device))
    };
    let (of_ours, of_theirs) = (sum(&ours)?.backward()?, sum(&theirs)?.backward()?);
    let params = candle_nn::ParamsAdamW::default();
    let mut a = triton_candle::AdamW::new(ours, params.clone().into())?;
    let mut b = candle_nn::AdamW::new(theirs, params)?;
    let shape = format!("4 x {} x {}, F32", part(4096), part(4096));
    table.row("AdamW", &shape, &mut || a.step(&of_ours), &mut || b.step(&of_theirs))
}
