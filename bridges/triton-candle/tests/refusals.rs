//! What does not fit is an error of candle with our text, and leaves tensors as they were; tensors without elements; threads; optimizer and layers.

#[path = "common/mod.rs"]
mod common;

use candle_core::{DType, Device, Error, Module, Result, Var};
use candle_nn::{Optimizer, VarBuilder, VarMap};
use common::{Random, assert_near, device};
use triton::prelude::*;
use triton_candle::{AttentionOptions, CrossEntropyOptions, LinearOptions, Pairs, candle_op, nn};

type Tensor0 = candle_core::Tensor;

fn zeros(shape: &[usize], dtype: DType) -> Tensor0 {
    Tensor0::zeros(shape, dtype, &device()).expect("a tensor")
}

fn refused(result: Result<Tensor0>, text: &str) {
    let error = result.expect_err(text).to_string();
    assert!(error.contains(text), "expected `{text}` in: {error}");
}

#[test]
fn operands_that_do_not_fit_are_refused_with_our_text() -> Result<()> {
    let (f, h, d) = (DType::F32, DType::F16, DType::F64);
    let x = Random::new(3).tensor(&[2, 4], f)?;
    let before = x.to_vec2::<f32>()?;
    let of_f64 = "is of F64, but F32 or F16 or BF16 is expected; convert it with `to_dtype`";
    refused(triton_candle::softmax(&zeros(&[2, 4], d)), of_f64);
    refused(triton_candle::log_softmax(&zeros(&[4], DType::U32)), "`log_softmax`: `x` is of U32");
    refused(
        triton_candle::softmax(&zeros(&[], f)),
        "`softmax`: `x` has the shape [], but a tensor of one axis or more",
    );
    let (four, half) = (zeros(&[4], f), zeros(&[4], h));
    refused(triton_candle::layer_norm(&x, &half, &four, 1e-5), "`layer_norm`: `weight` is of F16, but F32 is expected");
    refused(
        triton_candle::layer_norm(&x, &four, &zeros(&[3], f), 1e-5),
        "`bias` has the shape [3], but [4], an element",
    );
    refused(triton_candle::rms_norm(&x, &four, -1.0), "`rms_norm`: `epsilon` is -1, but 0 or more is expected");
    refused(triton_candle::activation(&zeros(&[2], d), triton_candle::Activation::Relu), of_f64);
    refused(triton_candle::swiglu(&zeros(&[2, 3], f)), "an even last extent");
    refused(triton_candle::gated(&x, &four, triton_candle::Activation::Silu), "`gate` has the shape [4], but [2, 4]");
    let w = zeros(&[3, 5], f);
    refused(triton_candle::linear(&x, &w, LinearOptions::default()), "`linear`: `w` has the shape [3, 5], but [3, 4]");
    let labels = zeros(&[2], DType::U32);
    let entropy = CrossEntropyOptions { label_smoothing: 2.0, ..Default::default() };
    refused(triton_candle::cross_entropy(&x, &labels, entropy), "`label_smoothing` is 2, but a number from 0 to 1");
    let plain = CrossEntropyOptions::default();
    refused(
        triton_candle::cross_entropy(&x, &x.narrow(1, 0, 1)?.squeeze(1)?, plain),
        "is of F32, but U32 or I32 or I64",
    );
    refused(triton_candle::cross_entropy(&x, &zeros(&[3], DType::U32), plain), "`labels` has the shape [3], but [2]");
    refused(triton_candle::cross_entropy(&four, &labels, plain), "`logits` has the shape [4], but [rows, classes]");
    refused(triton_candle::embedding(&four, &labels, false), "`table` has the shape [4], but [entries, columns]");
    refused(triton_candle::embedding(&x, &four, false), "`ids` is of F32, but U32 or I32 or I64");
    let (q, k) = (zeros(&[1, 3, 2, 8], f), zeros(&[1, 2, 2, 8], f));
    let all = AttentionOptions::default();
    refused(triton_candle::attention(&q, &k, &k, all), "a multiple of the heads of k and v is expected");
    refused(triton_candle::attention(&x, &k, &k, all), "`attention`: `q` has the shape [2, 4], but [Z, H, L, D]");
    refused(triton_candle::attention(&k, &k, &k.to_dtype(h)?, all), "`attention`: `v` is of F16, but F32 is expected");
    let long = zeros(&[1, 1, 1, 300], f);
    refused(triton_candle::attention(&long, &long, &long, all), "a head of 300 elements is not supported");
    let table = zeros(&[2, 2], f);
    refused(
        triton_candle::rotary(&zeros(&[1, 2, 5], f), &table, &table, Pairs::Halves),
        "a width of 5 is not supported",
    );
    refused(
        triton_candle::rotary(&zeros(&[1, 3, 4], f), &table, &table, Pairs::Halves),
        "`cosines` has the shape [2, 2], but [3, 2]",
    );
    // Nothing has changed, and the next call succeeds.
    assert_eq!(x.to_vec2::<f32>()?, before);
    assert_eq!(triton_candle::softmax(&x)?.dims(), [2, 4]);
    Ok(())
}

#[test]
fn tensors_without_elements_have_results_without() -> Result<()> {
    let empty = |shape: &[usize]| Var::zeros(shape, DType::F32, &device());
    for shape in [&[0usize, 4][..], &[3, 0], &[2, 0, 4], &[0]] {
        let x = empty(shape)?;
        let columns = *shape.last().expect("an axis");
        let one = empty(&[columns])?;
        for y in [
            triton_candle::softmax(&x)?,
            triton_candle::layer_norm(&x, &one, &one, 1e-5)?,
            triton_candle::activation(&x, triton_candle::Activation::Gelu)?,
        ] {
            assert_eq!(y.dims(), shape);
            let gradients = y.sum_all()?.backward()?;
            assert_eq!(gradients.get(&x).map(|dx| dx.dims().to_vec()), Some(shape.to_vec()));
        }
    }
    // A product of no terms is zero.
    let y = triton_candle::linear(&zeros(&[2, 0], DType::F32), &zeros(&[3, 0], DType::F32), LinearOptions::default())?;
    assert_eq!(y.to_vec2::<f32>()?, [[0.0; 3]; 2]);
    assert_eq!(triton_candle::embedding(&zeros(&[4, 2], DType::F32), &zeros(&[0], DType::U32), false)?.dims(), [0, 2]);
    Ok(())
}

/// On one GPU two devices of candle stand for two GPUs: their streams and their memory are not each other's.
#[test]
fn tensors_of_two_devices_are_refused() -> Result<()> {
    let here = device();
    let there = if here.is_cuda() { Device::new_cuda(0)? } else { return Ok(()) };
    let (x, w) = (Tensor0::ones((2, 4), DType::F32, &here)?, Tensor0::ones((3, 4), DType::F32, &there)?);
    for (x, w) in [(&x, &w), (&x, &w.to_device(&Device::Cpu)?)] {
        let bias = Tensor0::ones(3, DType::F32, w.device())?;
        let one = x.narrow(0, 0, 1)?.squeeze(0)?;
        let ids = Tensor0::zeros(2, DType::U32, w.device())?;
        let table = Tensor0::ones((1, 2), DType::F32, w.device())?;
        let (q, k) = (x.reshape((1, 1, 2, 4))?, w.reshape((1, 1, 3, 4))?);
        for result in [
            triton_candle::linear(x, w, LinearOptions { bias: Some(&bias), ..Default::default() }),
            triton_candle::rms_norm(x, &w.narrow(0, 0, 1)?.squeeze(0)?, 1e-5),
            triton_candle::layer_norm(x, &one, &w.narrow(0, 0, 1)?.squeeze(0)?, 1e-5),
            triton_candle::gated(x, &w.narrow(0, 0, 2)?, triton_candle::Activation::Silu),
            triton_candle::cross_entropy(x, &ids, CrossEntropyOptions::default()),
            triton_candle::embedding(x, &ids, false),
            triton_candle::attention(&q, &k, &k, AttentionOptions::default()),
            triton_candle::rotary(&x.narrow(0, 0, 1)?, &table, &table, Pairs::Halves),
            blend(x, &w.narrow(0, 0, 2)?, &one, 0.5),
        ] {
            let error = result.map(|y| y.dims().to_vec()).expect_err("tensors of two devices").to_string();
            println!("{error}");
            assert!(error.contains("move one with `to_device`"), "{error}");
        }
    }
    assert_eq!(triton_candle::softmax(&x)?.dims(), [2, 4]);
    Ok(())
}

#[triton::kernel(T = [f32, f16])]
fn blend_rows<T: Float>(a: Tensor<T, 2>, b: Tensor<T, 2>, w: Tensor<T, 1>, y: TensorMut<T, 2>, by: f32) {
    let at = [program_id(0), program_id(1) * 64];
    let (a, b) = (a.load(at, [1, 64]).to::<f32>(), b.load(at, [1, 64]).to::<f32>());
    let w = w.load([program_id(1) * 64], [64]).to::<f32>().expand_dims(0);
    y.store(at, (a + b * w * by).to::<T>());
}

candle_op! {
    /// a + b · w · by.
    fn blend<T in [f32, f16]>(a: [..2], b: [..2], w: 1; by: f32) -> y: [..2] = a.to_vec();
    forward(stream) {
        let [rows, columns] = a.shape();
        blend_rows::<T>(a, b, w, y, by).launch(stream, (rows, columns.div_ceil(64)))
    }
    gradient(dy) { Ok([Some(dy.clone()), Some((dy.broadcast_mul(w)? * f64::from(by))?), None]) }
}

candle_op! {
    /// It enqueues nothing.
    fn fails<T in [f32]>(x: 1) -> y: 1 = x.to_vec();
    forward(_stream) {
        let _ = (x, y);
        Err("the body has its own error")
    }
}

candle_op! {
    /// Its gradient has another shape.
    fn doubled<T in [f32]>(x: 1) -> y: 1 = x.to_vec();
    forward(_stream) {
        let _ = (x, y);
        Ok::<(), Error>(())
    }
    gradient(dy) { Ok([Some(dy.narrow(0, 0, 1)?)]) }
}

#[test]
fn axes_and_gradients_of_a_kernel_of_ones_own_are_checked() -> Result<()> {
    let x = zeros(&[2, 3], DType::F32);
    refused(
        doubled(&x),
        "`doubled`: `x` has the shape [2, 3], but one axis (`x: [..1]` in `candle_op!` has any number) is expected",
    );
    refused(blend(&x, &x, &x, 1.0), "`blend`: `w` has the shape [2, 3], but one axis");
    let x = Var::zeros(3, DType::F32, &device())?;
    let error = doubled(&x)?.sum_all()?.backward().map(|_| ()).expect_err("another shape").to_string();
    assert!(error.contains("`doubled`: gradient 0 has the shape [1], but its tensor has [3]"), "{error}");
    refused(triton_candle::swiglu(&zeros(&[2, 4], DType::F64)), "`swiglu`: `x` is of F64");
    Ok(())
}

#[test]
fn a_kernel_of_ones_own_has_layouts_types_gradients_and_errors() -> Result<()> {
    let mut random = Random::new(4);
    for (i, lies) in common::layouts(3).into_iter().enumerate() {
        let dtype = if i % 2 == 0 { DType::F32 } else { DType::F16 };
        let base = Var::from_tensor(&random.tensor(&lies.base(&[2, 3, 70]), dtype)?)?;
        let a = lies.of(&base, &[2, 3, 70])?;
        let (b, w) = (random.tensor(&[2, 3, 70], dtype)?, random.tensor(&[70], dtype)?);
        let y = blend(&a, &b, &w, 0.5)?;
        let f32s = [&a, &b, &w].map(|x| x.to_dtype(DType::F32));
        let [af, bf, wf] = f32s;
        assert_near(&format!("{lies:?}"), &y, &(af? + (bf?.broadcast_mul(&wf?)? * 0.5)?)?, common::tolerance(dtype))?;
        let gradients = y.sum_all()?.backward()?;
        assert_eq!(gradients.get(&base).map(|x| x.dims()), Some(base.dims()), "{lies:?}");
    }
    refused(fails(&zeros(&[3], DType::F32)), "the body has its own error");
    let x = Var::zeros(3, DType::F32, &device())?;
    assert!(matches!(fails(&x).map(|_| ()), Err(Error::Wrapped(_) | Error::WithBacktrace { .. })));
    Ok(())
}

#[test]
fn threads_have_streams_of_their_own() -> Result<()> {
    let x = Random::new(5).tensor(&[4, 40], DType::F32)?;
    // It waits, so that other streams find the tensor written.
    let expected = triton_candle::softmax(&x)?.to_vec2::<f32>()?;
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let (x, expected) = (x.clone(), expected.clone());
            std::thread::spawn(move || -> Result<bool> {
                Ok((0..20)
                    .all(|_| triton_candle::softmax(&x).and_then(|y| y.to_vec2::<f32>()).is_ok_and(|y| y == expected)))
            })
        })
        .collect();
    for thread in threads {
        assert!(thread.join().expect("the thread ends")?);
    }
    Ok(())
}

#[test]
fn adamw_steps_as_candles() -> Result<()> {
    let start = Random::new(6).tensor(&[3, 5, 7], DType::F32)?;
    let of = |start: &Tensor0| Var::from_tensor(&start.copy()?);
    let (ours, theirs) = (of(&start)?, of(&start)?);
    let params = candle_nn::ParamsAdamW { lr: 0.05, weight_decay: 0.1, ..Default::default() };
    let mut a = triton_candle::AdamW::new(vec![ours.clone()], params.clone().into())?;
    let mut b = candle_nn::AdamW::new(vec![theirs.clone()], params)?;
    for step in 0..5 {
        // A loss whose gradient is transposed in memory.
        let loss = |w: &Var| -> Result<Tensor0> { w.transpose(0, 2)?.powf(2.0)?.sum_all()? * f64::from(step + 1) };
        a.backward_step(&loss(&ours)?)?;
        b.backward_step(&loss(&theirs)?)?;
        assert_near(&format!("step {step}"), &ours, &theirs, 1e-5)?;
    }
    Ok(())
}

#[test]
fn layers_are_candles_with_the_same_weights() -> Result<()> {
    let variables = VarMap::new();
    let builder = VarBuilder::from_varmap(&variables, DType::F32, &device());
    let x = Random::new(7).tensor(&[2, 3, 8], DType::F32)?;
    // Ours and theirs of one builder have the same variables.
    let linear = (nn::linear(8, 6, builder.pp("l"))?, candle_nn::linear(8, 6, builder.pp("l"))?);
    assert_near("linear", &linear.0.forward(&x)?, &linear.1.forward(&x)?, 1e-5)?;
    let norm = (nn::layer_norm(8, 1e-5, builder.pp("n"))?, candle_nn::layer_norm(8, 1e-5, builder.pp("n"))?);
    assert_near("layer_norm", &norm.0.forward(&x)?, &norm.1.forward(&x)?, 1e-5)?;
    let rms = (nn::rms_norm(8, 1e-5, builder.pp("r"))?, candle_nn::rms_norm(8, 1e-5, builder.pp("r"))?);
    assert_near("rms_norm", &rms.0.forward(&x)?, &rms.1.forward(&x)?, 1e-5)?;
    let ids = Tensor0::new(&[[0u32, 4], [9, 2]], &device())?;
    let table = (nn::embedding(10, 8, builder.pp("e"))?, candle_nn::embedding(10, 8, builder.pp("e"))?);
    assert_near("embedding", &table.0.forward(&ids)?, &table.1.forward(&ids)?, 0.0)?;
    let residual = Random::new(8).tensor(&[2, 3, 6], DType::F32)?;
    assert_near("residual", &linear.0.forward_onto(&x, &residual)?, &(linear.1.forward(&x)? + residual)?, 1e-5)
}
