//! Operations of ours, each beside a formula of candle's own operations in `f32`, through which candle has gradients.

use crate::common::device;
use candle_core::{D, DType, Result, Tensor};
use candle_nn::{ops, rotary_emb};
use triton_candle as ours;
use triton_candle::{Activation, AttentionOptions, CrossEntropyOptions, LinearOptions, Pairs};

type Function = Box<dyn Fn(&[Tensor]) -> Result<Tensor>>;

type Formula = fn(&Tensor) -> Result<Tensor>;

/// An operation, the shapes of its tensors, ours and theirs.
pub struct Case {
    pub name: String,
    pub shapes: Vec<Vec<usize>>,
    pub ours: Function,
    pub theirs: Function,
}

fn case(
    name: impl Into<String>,
    shapes: &[&[usize]],
    ours: impl Fn(&[Tensor]) -> Result<Tensor> + 'static,
    theirs: impl Fn(&[Tensor]) -> Result<Tensor> + 'static,
) -> Case {
    let shapes = shapes.iter().map(|shape| shape.to_vec()).collect();
    Case { name: name.into(), shapes, ours: Box::new(ours), theirs: Box::new(theirs) }
}

fn labels(classes: u32, shape: &[usize], dtype: DType) -> Result<Tensor> {
    let count: usize = shape.iter().product();
    let labels: Vec<u32> = (0..count as u32).map(|i| (i * 5 + 2) % classes).collect();
    Tensor::from_vec(labels, shape, &device())?.to_dtype(dtype)
}

/// Which keys each query sees, as numbers to add: 0 or −∞.
fn mask(queries: usize, keys: usize, options: AttentionOptions) -> Result<Tensor> {
    let (left, mut right) = options.window.unwrap_or((usize::MAX / 4, usize::MAX / 4));
    if options.causal {
        right = 0;
    }
    let values: Vec<f32> = (0..queries * keys)
        .map(|at| {
            let (own, key) = ((at / keys + keys - queries) as i64, (at % keys) as i64);
            let seen = own - key <= left as i64 && key - own <= right as i64;
            if seen { 0.0 } else { f32::NEG_INFINITY }
        })
        .collect();
    Tensor::from_vec(values, (queries, keys), &device())
}

fn attention(of: &[Tensor], options: AttentionOptions) -> Result<Tensor> {
    let (z, h, l, d) = of[0].dims4()?;
    let (_, g, s, _) = of[1].dims4()?;
    let repeat = |x: &Tensor| x.unsqueeze(2)?.broadcast_as((z, g, h / g, s, d))?.contiguous()?.reshape((z, h, s, d));
    let (q, k, v) = (of[0].contiguous()?, repeat(&of[1])?, repeat(&of[2])?);
    let scale = options.scale.map_or(1.0 / (d as f64).sqrt(), f64::from);
    let scores = (q.matmul(&k.transpose(2, 3)?.contiguous()?)? * scale)?.broadcast_add(&mask(l, s, options)?)?;
    ops::softmax(&scores, D::Minus1)?.matmul(&v)
}

fn normal(x: &Tensor, mean: bool, epsilon: f64) -> Result<Tensor> {
    let x = if mean { x.broadcast_sub(&x.mean_keepdim(D::Minus1)?)? } else { x.clone() };
    x.broadcast_div(&(x.sqr()?.mean_keepdim(D::Minus1)? + epsilon)?.sqrt()?)
}

fn product(x: &Tensor, w: &Tensor) -> Result<Tensor> {
    let (k, n) = (x.dim(D::Minus1)?, w.dim(0)?);
    let mut shape = x.dims().to_vec();
    shape.pop();
    shape.push(n);
    x.contiguous()?.reshape(((), k))?.matmul(&w.t()?.contiguous()?)?.reshape(shape)
}

fn tables(positions: usize, half: usize) -> Result<(Tensor, Tensor)> {
    let angles: Vec<f32> =
        (0..positions * half).map(|at| (at / half) as f32 / 10f32.powf((at % half) as f32 / half as f32)).collect();
    let angles = Tensor::from_vec(angles, (positions, half), &device())?;
    Ok((angles.cos()?, angles.sin()?))
}

/// All operations.
pub fn cases() -> Vec<Case> {
    let mut cases = vec![
        case("softmax", &[&[3, 4, 10]], |of| ours::softmax(&of[0]), |of| ops::softmax(&of[0], D::Minus1)),
        case("log_softmax", &[&[3, 4, 10]], |of| ours::log_softmax(&of[0]), |of| ops::log_softmax(&of[0], D::Minus1)),
        case(
            "layer_norm",
            &[&[2, 3, 12], &[12], &[12]],
            |of| ours::layer_norm(&of[0], &of[1], &of[2], 1e-3),
            |of| normal(&of[0], true, 1e-3)?.broadcast_mul(&of[1])?.broadcast_add(&of[2]),
        ),
        case(
            "rms_norm",
            &[&[2, 3, 12], &[12]],
            |of| ours::rms_norm(&of[0], &of[1], 1e-3),
            |of| normal(&of[0], false, 1e-3)?.broadcast_mul(&of[1]),
        ),
        case(
            "linear",
            &[&[2, 3, 8], &[5, 8]],
            |of| ours::linear(&of[0], &of[1], LinearOptions::default()),
            |of| product(&of[0], &of[1]),
        ),
        case(
            "linear with a bias",
            &[&[2, 3, 8], &[5, 8], &[5]],
            |of| ours::linear(&of[0], &of[1], LinearOptions { bias: Some(&of[2]), ..Default::default() }),
            |of| product(&of[0], &of[1])?.broadcast_add(&of[2]),
        ),
        case(
            "linear with all",
            &[&[2, 3, 8], &[5, 8], &[5], &[2, 3, 5]],
            |of| {
                let activation = Activation::Silu;
                ours::linear(&of[0], &of[1], LinearOptions { bias: Some(&of[2]), activation, residual: Some(&of[3]) })
            },
            |of| product(&of[0], &of[1])?.broadcast_add(&of[2])?.silu()? + &of[3],
        ),
        case(
            "linear with a residual",
            &[&[2, 3, 8], &[5, 8], &[2, 3, 5]],
            |of| ours::linear(&of[0], &of[1], LinearOptions { residual: Some(&of[2]), ..Default::default() }),
            |of| product(&of[0], &of[1])? + &of[2],
        ),
        case("swiglu", &[&[2, 3, 8]], |of| ours::swiglu(&of[0]), |of| ops::swiglu(&of[0])),
        case(
            "geglu",
            &[&[2, 3, 8]],
            |of| ours::geglu(&of[0]),
            |of| of[0].narrow(2, 0, 4)?.gelu_erf()? * of[0].narrow(2, 4, 4)?,
        ),
        case(
            "gated",
            &[&[2, 3, 8], &[2, 3, 8]],
            |of| ours::gated(&of[0], &of[1], Activation::GeluTanh),
            |of| of[0].gelu()? * &of[1],
        ),
        case(
            "cross_entropy",
            &[&[6, 9]],
            |of| ours::cross_entropy(&of[0], &labels(9, &[6], DType::U32)?, CrossEntropyOptions::default()),
            |of| {
                let log = ops::log_softmax(&of[0], 1)?;
                log.gather(&labels(9, &[6, 1], DType::U32)?, 1)?.squeeze(1)?.neg()
            },
        ),
        case(
            "cross_entropy, smoothed",
            &[&[6, 9]],
            |of| {
                let options = CrossEntropyOptions { label_smoothing: 0.1, ..Default::default() };
                ours::cross_entropy(&of[0], &labels(9, &[6], DType::I64)?, options)
            },
            |of| {
                let log = ops::log_softmax(&of[0], 1)?;
                let own = log.gather(&labels(9, &[6, 1], DType::U32)?, 1)?.squeeze(1)?;
                ((own * -0.9)? - (log.mean(1)? * 0.1)?)?.contiguous()
            },
        ),
        case(
            "embedding",
            &[&[7, 6]],
            |of| ours::embedding(&of[0], &labels(7, &[2, 5], DType::U32)?, false),
            |of| of[0].contiguous()?.index_select(&labels(7, &[10], DType::U32)?, 0)?.reshape((2, 5, 6)),
        ),
        case(
            "embedding, in one order",
            &[&[7, 6]],
            |of| ours::embedding(&of[0], &labels(7, &[10], DType::I64)?, true),
            |of| of[0].contiguous()?.index_select(&labels(7, &[10], DType::U32)?, 0),
        ),
        case(
            "rotary, halves",
            &[&[2, 2, 3, 8]],
            |of| {
                let (cos, sin) = tables(5, 4)?;
                ours::rotary(&of[0], &cos, &sin, Pairs::Halves)
            },
            |of| {
                let (cos, sin) = tables(3, 4)?;
                rotary_emb::rope_slow(&of[0].contiguous()?, &cos, &sin)
            },
        ),
        case(
            "rotary, neighbours",
            &[&[2, 2, 3, 8]],
            |of| {
                let (cos, sin) = tables(3, 4)?;
                ours::rotary(&of[0], &cos, &sin, Pairs::Adjacent)
            },
            |of| {
                let (cos, sin) = tables(3, 4)?;
                rotary_emb::rope_i_slow(&of[0].contiguous()?, &cos, &sin)
            },
        ),
    ];
    let activations: [(Activation, Formula); 6] = [
        (Activation::Relu, Tensor::relu),
        (Activation::Gelu, Tensor::gelu_erf),
        (Activation::GeluTanh, Tensor::gelu),
        (Activation::Silu, Tensor::silu),
        (Activation::Sigmoid, |x| (x.neg()?.exp()? + 1.0)?.recip()),
        (Activation::Tanh, Tensor::tanh),
    ];
    for (kind, theirs) in activations {
        let name = format!("activation {kind:?}");
        cases.push(case(name, &[&[3, 10]], move |of| ours::activation(&of[0], kind), move |of| theirs(&of[0])));
    }
    let all = AttentionOptions::default();
    for (name, options) in [
        ("attention", all),
        ("attention, causal", AttentionOptions { causal: true, ..all }),
        ("attention, a window", AttentionOptions { window: Some((2, 1)), scale: Some(0.7), ..all }),
    ] {
        cases.push(case(
            name,
            &[&[2, 4, 3, 8], &[2, 2, 5, 8], &[2, 2, 5, 8]],
            move |of| ours::attention(&of[0], &of[1], &of[2], options),
            move |of| attention(of, options),
        ));
    }
    cases
}
