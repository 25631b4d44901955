//! Calls whose results were wrong once, with what is right.

use super::subject::{put, room};
use crate::harness::{Case, Failure, Order, Outcome, Random, Scalar, refused, type_name};
use triton::prelude::*;
use triton_kernels::activation::{activation, activation_backward};
use triton_kernels::attention::attention;
use triton_kernels::contract::contract;
use triton_kernels::contract::{Modes, ModesMut};
use triton_kernels::conv::{conv2d, conv2d_backward_input};
use triton_kernels::embedding::{embedding, embedding_backward};
use triton_kernels::linear::{GemmElement, gemm, gemm_batched, gemm_grouped, gemv};
use triton_kernels::loss::cross_entropy;
use triton_kernels::norm::group_norm_backward;
use triton_kernels::softmax::{log_softmax, softmax_backward};
use triton_kernels::sparse::{
    BlockLayout, BlockMask, BlockSparse, Mask, block_sparse_attention, sddmm, sparse_softmax,
};
use triton_kernels::{Activation, FloatElement};

const INF: f64 = f64::INFINITY;

/// That these are the numbers, within an error relative to each.
fn are(what: &str, found: &[f64], expected: &[f64], close: f64) -> Outcome {
    let is = |a: f64, b: f64| a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= close * b.abs();
    let all = found.len() == expected.len() && found.iter().zip(expected).all(|(a, b)| is(*a, *b));
    if all { Ok(()) } else { Err(Failure(format!("{what} is {found:?}, but {expected:?} is expected"))) }
}

/// That these are the numbers, within an error of 1.
fn near(what: &str, found: &[f64], expected: &[f64], close: f64) -> Outcome {
    let all = found.iter().zip(expected).all(|(a, b)| (a - b).abs() <= close);
    if all { Ok(()) } else { Err(Failure(format!("{what} is {found:?}, but {expected:?} is expected"))) }
}

type Check = fn(&Stream, &mut Random) -> Outcome;

/// The case of a function, for each type.
macro_rules! of_types {
    ($cases:ident, $name:literal, $check:ident) => {
        for (of, check) in [
            (type_name::<f32>(), $check::<f32> as Check),
            (type_name::<f16>(), $check::<f16> as Check),
            (type_name::<bf16>(), $check::<bf16> as Check),
        ] {
            $cases.push(Case::new(format!("reported: {} {of}", $name), check));
        }
    };
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    of_types!(cases, "a NaN pixel beside a window of few channels", pixel);
    of_types!(cases, "activations of a product at infinities", epilogue);
    of_types!(cases, "activations of rows at infinities", elements);
    of_types!(cases, "entropy and log_softmax of large logits", entropy);
    of_types!(cases, "padding that a mask of 0 excludes is NaN", padding);
    of_types!(cases, "a NaN gradient of an excluded element", excluded);
    of_types!(cases, "an alpha of 0 reads no operand", no_alpha);
    of_types!(cases, "ids and labels of 64 bits", wide);
    of_types!(cases, "an infinite weight of a group norm of few places", weighed);
    of_types!(cases, "what is behind the rows of a product", behind);
    cases.push(Case::new("reported: scores of f16 above its range", narrow));
    cases.push(Case::new("reported: entropy of rows of the least number", least));
    cases.push(Case::new("reported: strides that interleave", interleaved));
    cases.push(Case::new("reported: too many keys of attention", keys));
    cases
}

/// A bulk copy to memory writes whole chunks of 16 bytes: rows that end inside of one do not leave by it.
fn behind<T: FloatElement + GemmElement<T> + Scalar>(stream: &Stream, _: &mut Random) -> Outcome {
    for (m, n, k) in [(1, 1, 8), (1, 33, 8), (3, 33, 64), (70, 9, 64)] {
        let pitch = n + 7;
        let pitch = pitch - pitch % 8;
        let ones = stream.tensor(&vec![T::of(1.0); m * k], [m, k])?;
        // Rows of whole chunks, so that loads are bulk copies, too.
        let twos = stream.tensor(&vec![T::of(2.0); n * k], [n, k])?;
        let mut c = stream.upload(&vec![T::of(7.0); m * pitch])?;
        gemm(&ones, twos.transpose(), c.view_mut([m, n])?.with_strides([pitch as isize, 1])?).launch(stream)?;
        let found: Vec<f64> = stream.download(&c)?.iter().map(|value| value.value()).collect();
        let of = |at: usize| if at % pitch < n { 2.0 * k as f64 } else { 7.0 };
        are("c", &found, &(0..m * pitch).map(of).collect::<Vec<f64>>(), 0.0)?;
    }
    Ok(())
}

fn pixel<T: FloatElement + Scalar>(stream: &Stream, _: &mut Random) -> Outcome {
    for order in [Order::Rows, Order::Planes] {
        let x = put::<T, 4>(stream, [1, 4, 1, 1], order, &[1.0, 1.0, 1.0, f64::NAN])?;
        let w = put::<T, 4>(stream, [1, 3, 1, 1], Order::Rows, &[1.0; 3])?;
        let mut y = room::<T, 4>(stream, [1, 2, 1, 1], order)?;
        conv2d(x.view()?, w.view()?, y.view_mut()?).launch(stream)?;
        are("y", &y.get(stream)?, &[3.0, f64::NAN], 0.0)?;
        let dy = put::<T, 4>(stream, [1, 2, 1, 1], order, &[f64::NAN, 1.0])?;
        let mut dx = room::<T, 4>(stream, [1, 4, 1, 1], order)?;
        conv2d_backward_input(dy.view()?, w.view()?, dx.view_mut()?).launch(stream)?;
        are("dx", &dx.get(stream)?, &[f64::NAN, f64::NAN, f64::NAN, 1.0], 0.0)?;
    }
    Ok(())
}

/// Places behind the last one have no part in a sum, though their weight is infinite.
fn weighed<T: FloatElement + Scalar>(stream: &Stream, _: &mut Random) -> Outcome {
    let x = put::<T, 3>(stream, [1, 2, 2], Order::Rows, &[1.0, 2.0, 3.0, 4.0])?;
    let dy = put::<T, 3>(stream, [1, 2, 2], Order::Rows, &[1.0; 4])?;
    let weight = put::<T, 1>(stream, [2], Order::Rows, &[1.0, -INF])?;
    let (mean, scale) =
        (put::<f32, 2>(stream, [1, 1], Order::Rows, &[0.0])?, put::<f32, 2>(stream, [1, 1], Order::Rows, &[1.0])?);
    let mut dx = room::<T, 3>(stream, [1, 2, 2], Order::Rows)?;
    group_norm_backward(x.view()?, 1, weight.view()?, dy.view()?, mean.view()?, scale.view()?, dx.view_mut()?)
        .launch(stream)?;
    are("dx", &dx.get(stream)?, &[INF, INF, f64::NAN, f64::NAN], 0.0)
}

/// The largest number of the type, to which 2 · 10¹⁹ is rounded if it is larger.
fn large<T: Scalar>() -> f64 {
    T::of(2e19f64.min(T::range()[2])).value()
}

/// Arguments, and what an activation gives for them.
fn limits<T: Scalar>(kind: Activation) -> ([f64; 4], [f64; 4]) {
    let x = [-INF, INF, large::<T>(), -large::<T>()];
    let y = if kind == Activation::Sigmoid {
        [0.0, 1.0, 1.0, 0.0]
    } else if kind == Activation::Tanh {
        [-1.0, 1.0, 1.0, -1.0]
    } else {
        [0.0, INF, large::<T>(), 0.0]
    };
    (x, y)
}

const GATES: [Activation; 5] =
    [Activation::Sigmoid, Activation::Tanh, Activation::Silu, Activation::GeluTanh, Activation::Gelu];

fn epilogue<T: FloatElement + GemmElement<T> + Scalar>(stream: &Stream, _: &mut Random) -> Outcome {
    let one = put::<T, 3>(stream, [1, 1, 1], Order::Rows, &[0.0])?;
    let zero = put::<T, 3>(stream, [1, 1, 4], Order::Rows, &[0.0; 4])?;
    let window = put::<T, 4>(stream, [4, 1, 1, 1], Order::Rows, &[0.0; 4])?;
    let image = put::<T, 4>(stream, [1, 2, 1, 1], Order::Rows, &[0.0; 2])?;
    for kind in GATES {
        let (x, expected) = limits::<T>(kind);
        let bias = put::<T, 1>(stream, [4], Order::Rows, &x)?;
        let mut y = room::<T, 3>(stream, [1, 1, 4], Order::Rows)?;
        let product = gemm(one.view()?.select(0, 0)?, zero.view()?.select(0, 0)?, y.view_mut()?.select(0, 0)?);
        product.bias(bias.view()?).activation(kind).launch(stream)?;
        are(&format!("{kind:?}"), &y.get(stream)?, &expected, 0.0)?;
        let mut y = room::<T, 3>(stream, [2, 1, 4], Order::Rows)?;
        let product = gemm_batched(one.view()?, zero.view()?, y.view_mut()?);
        product.bias(bias.view()?).activation(kind).launch(stream)?;
        are(&format!("{kind:?} of a batch"), &y.get(stream)?, &[expected, expected].concat(), 0.0)?;
        let mut y = room::<T, 4>(stream, [1, 2, 1, 4], Order::Rows)?;
        let conv = conv2d(image.view()?, window.view()?, y.view_mut()?).splits(1);
        conv.bias(bias.view()?).activation(kind).launch(stream)?;
        are(&format!("{kind:?} of a convolution"), &y.get(stream)?, &[expected, expected].concat(), 0.0)?;
    }
    Ok(())
}

fn elements<T: FloatElement + Scalar>(stream: &Stream, _: &mut Random) -> Outcome {
    for kind in GATES {
        let (x, expected) = limits::<T>(kind);
        let of_x = put::<T, 2>(stream, [1, 4], Order::Rows, &x)?;
        let mut y = room::<T, 2>(stream, [1, 4], Order::Rows)?;
        activation(of_x.view()?, kind, y.view_mut()?).launch(stream)?;
        are(&format!("{kind:?}"), &y.get(stream)?, &expected, 0.0)?;
        let one = put::<T, 2>(stream, [1, 4], Order::Rows, &[1.0; 4])?;
        activation_backward(of_x.view()?, one.view()?, kind, y.view_mut()?).launch(stream)?;
        let saturates = matches!(kind, Activation::Sigmoid | Activation::Tanh);
        let slopes = if saturates { [0.0; 4] } else { [0.0, 1.0, 1.0, 0.0] };
        are(&format!("the derivative of {kind:?}"), &y.get(stream)?, &slopes, 0.0)?;
    }
    Ok(())
}

fn entropy<T: FloatElement + Scalar>(stream: &Stream, _: &mut Random) -> Outcome {
    // Rows in registers, and rows that are read by tiles: of equal logits but two.
    for columns in [4, 300] {
        for power in [13, 14, 15] {
            // A distance that the type holds at this size, and whose exponential counts.
            let (at, step) = (2f64.powi(power), 2f64.powi(power) * 2.0 * T::rounding());
            let step = step.max(1.0);
            let mut row = vec![at; columns];
            (row[1], row[2]) = (at + step, at - step);
            let x = put::<T, 2>(stream, [1, columns], Order::Rows, &row)?;
            let mut y = room::<T, 2>(stream, [1, columns], Order::Rows)?;
            log_softmax(x.view()?, y.view_mut()?).launch(stream)?;
            let total = (step.exp() + (-step).exp() + columns as f64 - 2.0).ln();
            let expected: Vec<f64> = row.iter().map(|x| x - at - total).collect();
            near("log_softmax", &y.get(stream)?, &expected, (1e-6 + 2.0 * T::rounding()) * step)?;
            for (label, smoothing) in [(0, 0.0), (1, 0.0), (2, 0.25)] {
                let mut x = put::<T, 2>(stream, [1, columns], Order::Rows, &row)?;
                let (labels, mut loss) = (stream.upload(&[label])?, room::<f32, 1>(stream, [1], Order::Rows)?);
                let entropy = cross_entropy(x.view_mut()?, labels.view([1])?, loss.view_mut()?);
                entropy.label_smoothing(smoothing).gradient_in_place().launch(stream)?;
                let smoothing = f64::from(smoothing);
                let mean = expected.iter().sum::<f64>() / columns as f64;
                let own = -(1.0 - smoothing) * expected[label as usize] - smoothing * mean;
                near("the loss", &loss.get(stream)?, &[own], 1e-6 * own.abs() + 2e-7)?;
                let of = |j: usize| {
                    let target = smoothing / columns as f64 + if j == label as usize { 1.0 - smoothing } else { 0.0 };
                    expected[j].exp() - target
                };
                let slopes: Vec<f64> = (0..columns).map(of).collect();
                near("the gradient", &x.get(stream)?, &slopes, 2e-6 + T::rounding())?;
            }
        }
    }
    Ok(())
}

fn least(stream: &Stream, _: &mut Random) -> Outcome {
    fn of<T: FloatElement + Scalar>(stream: &Stream, columns: usize) -> Outcome {
        let row = vec![-T::range()[2]; columns];
        let mut x = put::<T, 2>(stream, [1, columns], Order::Rows, &row)?;
        let (labels, mut loss) = (stream.upload(&[1])?, room::<f32, 1>(stream, [1], Order::Rows)?);
        cross_entropy(x.view_mut()?, labels.view([1])?, loss.view_mut()?).gradient_in_place().launch(stream)?;
        are("the loss", &loss.get(stream)?, &[(columns as f64).ln()], 1e-6)?;
        let mut slopes = vec![1.0 / columns as f64; columns];
        slopes[1] -= 1.0;
        are("the gradient", &x.get(stream)?, &slopes, 1e-6 + T::rounding())
    }
    for columns in [4, 200] {
        of::<f32>(stream, columns)?;
        of::<f16>(stream, columns)?;
        of::<bf16>(stream, columns)?;
    }
    Ok(())
}

fn padding<T: FloatElement + Scalar>(stream: &Stream, _: &mut Random) -> Outcome {
    let layout = BlockLayout::new(stream, 16, &BlockMask::dense(1))?;
    for special in [f64::NAN, INF] {
        for how in [Mask::Multiply, Mask::Add] {
            let scores: Vec<f64> = (0..256).map(|i| if i % 16 == 15 { special } else { 0.0 }).collect();
            let dense = put::<T, 4>(stream, [1, 1, 16, 16], Order::Rows, &scores)?;
            let mut x = BlockSparse::from_dense(stream, dense.view()?, &layout)?;
            let (seen, not) = if how == Mask::Add { (0.0, -INF) } else { (1.0, 0.0) };
            let mask = put::<T, 2>(stream, [1, 16], Order::Rows, &[[seen; 15].as_slice(), &[not]].concat())?;
            sparse_softmax(&mut x).key_padding(mask.view()?, how).launch(stream)?;
            let found: Vec<f64> = stream.download(x.values())?.into_iter().map(Scalar::value).collect();
            let expected: Vec<f64> = (0..256).map(|i| if i % 16 == 15 { 0.0 } else { 1.0 / 15.0 }).collect();
            are("probabilities", &found, &expected, 2.0 * T::rounding() + 1e-6)?;
        }
    }
    Ok(())
}

fn excluded<T: FloatElement + Scalar>(stream: &Stream, _: &mut Random) -> Outcome {
    // In registers, and in a loop over tiles.
    for columns in [4, 9000] {
        let mut y = vec![0.0; columns];
        (y[0], y[1]) = (0.5, 0.5);
        let mut dy = vec![0.0; columns];
        (dy[0], dy[2], dy[3]) = (1.0, f64::NAN, INF);
        let of_y = put::<T, 2>(stream, [1, columns], Order::Rows, &y)?;
        let of_dy = put::<T, 2>(stream, [1, columns], Order::Rows, &dy)?;
        let mut dx = room::<T, 2>(stream, [1, columns], Order::Rows)?;
        softmax_backward(of_y.view()?, of_dy.view()?, dx.view_mut()?).launch(stream)?;
        let mut expected = vec![0.0; columns];
        (expected[0], expected[1]) = (0.25, -0.25);
        are("dx", &dx.get(stream)?, &expected, 0.0)?;
    }
    Ok(())
}

fn no_alpha<T>(stream: &Stream, _: &mut Random) -> Outcome
where
    T: FloatElement + GemmElement<T> + triton_kernels::linear::GemvElement<T> + FloatElement + Scalar,
{
    let a = put::<T, 3>(stream, [2, 2, 2], Order::Rows, &[f64::NAN; 8])?;
    let (matrix, vector) = (a.view()?.select(0, 0)?, a.view()?.select(0, 0)?.select(0, 0)?);
    let old = [1.0, 2.0, 3.0, 4.0];
    for beta in [0.0, 3.0] {
        let expected = old.map(|old| beta * old);
        for splits in [1, 2] {
            let mut c = put::<T, 2>(stream, [2, 2], Order::Rows, &old)?;
            gemm(matrix, matrix, c.view_mut()?).alpha(0.0).beta(beta).splits(splits).launch(stream)?;
            are("gemm", &c.get(stream)?, &expected, 0.0)?;
        }
        let mut c = put::<T, 3>(stream, [2, 2, 1], Order::Rows, &old)?;
        gemm_batched(a.view()?, a.view()?.narrow(2, ..1)?, c.view_mut()?).alpha(0.0).beta(beta).launch(stream)?;
        are("gemm_batched", &c.get(stream)?, &expected, 0.0)?;
        let mut c = put::<T, 1>(stream, [2], Order::Rows, &old)?;
        gemv(matrix, vector, c.view_mut()?).alpha(0.0).beta(beta).launch(stream)?;
        are("gemv", &c.get(stream)?, &expected[..2], 0.0)?;
        let mut c = put::<T, 3>(stream, [2, 2, 1], Order::Rows, &old)?;
        let of = contract("abc,bcd->abd", a.view()?, a.view()?.narrow(2, ..1)?, c.view_mut()?);
        of.alpha(0.0).beta(beta).launch(stream)?;
        are("contract", &c.get(stream)?, &expected, 0.0)?;
    }
    let (ends, mut c) = (stream.upload(&[1, 2])?, room::<T, 2>(stream, [2, 2], Order::Rows)?);
    gemm_grouped(matrix, a.view()?, ends.view([2])?, c.view_mut()?).alpha(0.0).launch(stream)?;
    are("gemm_grouped", &c.get(stream)?, &[0.0; 4], 0.0)
}

fn wide<T: FloatElement + Scalar>(stream: &Stream, _: &mut Random) -> Outcome {
    // Its lower half is in range.
    let beyond = (1i64 << 32) + 1;
    let ids = stream.upload(&[1i64, -1, beyond, 0])?;
    let table = put::<T, 2>(stream, [2, 3], Order::Rows, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])?;
    let mut out = room::<T, 2>(stream, [4, 3], Order::Rows)?;
    embedding(table.view()?, ids.view([4])?, out.view_mut()?).launch(stream)?;
    let (row, none) = ([4.0, 5.0, 6.0], [0.0; 3]);
    are("rows", &out.get(stream)?, &[row, none, none, [1.0, 2.0, 3.0]].concat(), 0.0)?;
    for deterministic in [false, true] {
        let mut sums = put::<f32, 2>(stream, [2, 3], Order::Rows, &[0.0; 6])?;
        let backward = embedding_backward(out.view()?, ids.view([4])?, sums.view_mut()?);
        backward.deterministic(deterministic).launch(stream)?;
        are("sums", &sums.get(stream)?, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 0.0)?;
    }
    for classes in [2, 200] {
        let mut x = put::<T, 2>(stream, [4, classes], Order::Rows, &vec![0.0; 4 * classes])?;
        let labels = stream.upload(&[1i64, -100, beyond, 0])?;
        let mut loss = room::<f32, 1>(stream, [4], Order::Rows)?;
        cross_entropy(x.view_mut()?, labels.view([4])?, loss.view_mut()?).ignore(-100).launch(stream)?;
        let ln = (classes as f64).ln();
        are("losses", &loss.get(stream)?, &[ln, 0.0, f64::NAN, ln], 1e-6)?;
    }
    Ok(())
}

fn narrow(stream: &Stream, _: &mut Random) -> Outcome {
    let layout = BlockLayout::new(stream, 16, &BlockMask::dense(1))?;
    let (shape, scale) = ([1, 1, 16, 128], 1.0 / 128f32.sqrt());
    // 24 · 24 · 128 is 73728.
    let q = put::<f16, 4>(stream, shape, Order::Rows, &[24.0; 16 * 128])?;
    let mut x = BlockSparse::<f16>::zeros(stream, 1, &layout)?;
    sddmm(q.view()?, q.view()?, &mut x).scale(scale).launch(stream)?;
    sparse_softmax(&mut x).launch(stream)?;
    let found: Vec<f64> = stream.download(x.values())?.into_iter().map(Scalar::value).collect();
    are("probabilities", &found, &[0.0625; 256], 0.0)?;
    let mut o = room::<f16, 4>(stream, shape, Order::Rows)?;
    block_sparse_attention(q.view()?, q.view()?, q.view()?, o.view_mut()?, &layout).launch(stream)?;
    are("attention", &o.get(stream)?, &[24.0; 16 * 128], 0.0)
}

fn interleaved(stream: &Stream, _: &mut Random) -> Outcome {
    let (x, y) = (stream.upload(&[1.0f32, 2.0, 3.0])?, stream.upload(&[10.0f32, 20.0])?);
    let mut z = stream.zeros::<f32>(8)?;
    // At 0, 3, 2, 5, 4 and 7.
    let (of_x, of_y) = (Modes::new(&x, &[3], None), Modes::new(&y, &[2], None));
    contract("i,j->ij", of_x, of_y, ModesMut::new(&mut z, &[3, 2], Some(&[2, 3]))).launch(stream)?;
    let found: Vec<f64> = stream.download(&z)?.into_iter().map(Scalar::value).collect();
    are("z", &found, &[10.0, 0.0, 20.0, 20.0, 30.0, 40.0, 0.0, 60.0], 0.0)?;
    // Elements (3, 0) and (0, 2) are one.
    let of = ModesMut::new(&mut z, &[4, 3], Some(&[2, 3]));
    let (of_x, of_y) = (Modes::new(&x, &[4], Some(&[0])), Modes::new(&y, &[3], Some(&[0])));
    refused(contract("i,j->ij", of_x, of_y, of).launch(stream), &["`strides`", "[0, 2] and [3, 0] alias"])
}

fn keys(stream: &Stream, _: &mut Random) -> Outcome {
    let one = stream.upload(&[1.0f32; 16])?;
    let mut o = stream.zeros::<f32>(16)?;
    let many = one.view([1, 1, 1, 16])?.as_strided([1, 1, (1 << 28) + 1, 16], [0, 0, 0, 1])?;
    let call = attention(one.view([1, 1, 1, 16])?, many, many, o.view_mut([1, 1, 1, 16])?);
    refused(call.launch(stream), &["a sequence of 268435457", "2²⁸"])
}
