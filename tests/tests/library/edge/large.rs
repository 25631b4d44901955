//! More than 2³¹ elements in an operand: offsets that do not fit 32 bits. Operands are of several gigabytes, and their last elements are compared.

use crate::harness::{Case, Failure, Outcome};
use triton::prelude::*;
use triton_kernels::Activation;
use triton_kernels::attention::attention;
use triton_kernels::conv::conv2d;
use triton_kernels::linear::{gemm, gemm_batched};
use triton_kernels::{activation::*, embedding::*, linear::column_sums, loss::*, norm::*, softmax::*};

/// Elements of a row, and how many rows have more than 2³¹ elements.
const ROW: usize = 1 << 14;
const ROWS: usize = (1 << 17) + 3;

pub(super) fn cases() -> Vec<Case> {
    let case = |name: &str, run: fn(&Stream) -> Outcome| {
        Case::new(format!("2³¹ elements: {name}"), move |stream, _| run(stream))
    };
    vec![
        case("activation", |s| {
            let mut y = output(s, ROWS * ROW)?;
            let x = ones(s)?;
            let x = x.view([1, 1])?.as_strided([ROWS, ROW], [0; 2])?;
            activation(x, Activation::Identity, y.view_mut([ROWS, ROW])?).launch(s)?;
            ends(s, &y, 1.0)
        }),
        case("softmax and its gradient, in place", |s| {
            let mut x = output(s, ROWS * ROW)?;
            let one = ones(s)?;
            let one = one.view([1, 1])?.as_strided([ROWS, ROW], [0; 2])?;
            activation(one, Activation::Identity, x.view_mut([ROWS, ROW])?).launch(s)?;
            softmax_in_place(x.view_mut([ROWS, ROW])?).launch(s)?;
            ends(s, &x, 1.0 / ROW as f32)
        }),
        case("norm of rows of a large operand", |s| {
            let (mut y, one) = (output(s, ROWS * ROW)?, ones(s)?);
            let x = one.view([1, 1])?.as_strided([ROWS, ROW], [0; 2])?;
            rms_norm(x, one.view([1])?.as_strided([ROW], [0])?, y.view_mut([ROWS, ROW])?).epsilon(0.0).launch(s)?;
            ends(s, &y, 1.0)
        }),
        case("sums of columns", |s| {
            let (mut x, mut sums, one) = (output(s, ROWS * ROW)?, s.zeros::<f32>(ROW)?, ones(s)?);
            let one = one.view([1, 1])?.as_strided([ROWS, ROW], [0; 2])?;
            activation(one, Activation::Identity, x.view_mut([ROWS, ROW])?).launch(s)?;
            column_sums(x.view([ROWS, ROW])?, sums.view_mut([ROW])?).launch(s)?;
            same(&s.download(&sums)?, ROWS as f32)
        }),
        case("rows of a table", |s| {
            let (mut table, one) = (output(s, ROWS * ROW)?, ones(s)?);
            let one = one.view([1, 1])?.as_strided([ROWS, ROW], [0; 2])?;
            activation(one, Activation::Identity, table.view_mut([ROWS, ROW])?).launch(s)?;
            let (ids, mut out) = (s.upload(&[ROWS as i64 - 1, 0])?, s.zeros::<f16>(2 * ROW)?);
            embedding(table.view([ROWS, ROW])?, ids.view([2])?, out.view_mut([2, ROW])?).launch(s)?;
            same(&s.download(&out)?.into_iter().map(f16::to_f32).collect::<Vec<_>>(), 1.0)
        }),
        case("entropy", |s| {
            let (mut x, one) = (output(s, ROWS * ROW)?, ones(s)?);
            let one = one.view([1, 1])?.as_strided([ROWS, ROW], [0; 2])?;
            activation(one, Activation::Identity, x.view_mut([ROWS, ROW])?).launch(s)?;
            let (labels, mut loss) = (s.zeros::<i32>(1)?, s.zeros::<f32>(ROWS)?);
            let labels = labels.view([1])?.as_strided([ROWS], [0])?;
            cross_entropy(x.view_mut([ROWS, ROW])?, labels, loss.view_mut([ROWS])?).gradient_in_place().launch(s)?;
            let loss = s.download(&loss)?;
            let expected = (ROW as f32).ln();
            if loss.iter().any(|loss| (loss - expected).abs() > 1e-5) {
                return Err(Failure(format!("the last loss is {}, but {expected} is expected", loss[ROWS - 1])));
            }
            let slopes: Vec<f32> =
                s.download(&x.slice(ROWS * ROW - ROW + 1..)?)?.into_iter().map(f16::to_f32).collect();
            same(&slopes, 1.0 / ROW as f32)
        }),
        case("a product", |s| {
            let (mut c, one) = (output(s, ROWS * ROW)?, ones(s)?);
            let a = one.view([1, 1])?.as_strided([ROWS, 16], [0; 2])?;
            let b = one.view([1, 1])?.as_strided([16, ROW], [0; 2])?;
            gemm(a, b, c.view_mut([ROWS, ROW])?).launch(s)?;
            ends(s, &c, 16.0)
        }),
        case("a product with a large operand", |s| {
            let (mut a, one) = (output(s, ROWS * ROW)?, ones(s)?);
            let ones = one.view([1, 1])?.as_strided([ROWS, ROW], [0; 2])?;
            activation(ones, Activation::Identity, a.view_mut([ROWS, ROW])?).launch(s)?;
            let (mut c, b) = (output(s, ROWS * 8)?, one.view([1, 1])?.as_strided([ROW, 8], [0; 2])?);
            gemm(a.view([ROWS, ROW])?, b, c.view_mut([ROWS, 8])?).alpha(1.0 / ROW as f32).launch(s)?;
            ends(s, &c, 1.0)
        }),
        case("products of a batch", |s| {
            let (mut c, one) = (output(s, (1 << 17) * ROW + 128 * 128)?, ones(s)?);
            let count = (1 << 17) + 1;
            let a = one.view([1, 1])?.as_strided([count, 128, 16], [0; 3])?;
            let b = one.view([1, 1])?.as_strided([1, 16, 128], [0; 3])?;
            gemm_batched(a, b, c.view_mut([count, 128, 128])?).launch(s)?;
            ends(s, &c, 16.0)
        }),
        case("a convolution", |s| {
            // 2²⁶ pixels of 33 channels.
            let (images, side, channels) = (65, 1024, 33);
            let (mut y, one) = (output(s, images * side * side * channels)?, ones(s)?);
            let x = one.view([1, 1])?.as_strided([images, side, side, 8], [0; 4])?;
            let w = one.view([1, 1])?.as_strided([channels, 1, 3, 8], [0; 4])?;
            conv2d(x, w, y.view_mut([images, side, side, channels])?).padding((0, 1)).launch(s)?;
            // The last pixel of a row sees two of the three.
            ends(s, &y, 16.0)
        }),
        case("attention", |s| {
            let (heads, tokens, depth) = (ROWS / 4, 512, 128);
            let (mut o, one) = (output(s, heads * tokens * depth)?, ones(s)?);
            let q = one.view([1, 1])?.as_strided([1, heads, tokens, depth], [0; 4])?;
            let k = one.view([1, 1])?.as_strided([1, 1, 16, depth], [0; 4])?;
            attention(q, k, k, o.view_mut([1, heads, tokens, depth])?).launch(s)?;
            ends(s, &o, 1.0)
        }),
    ]
}

fn ones(stream: &Stream) -> Outcome<Buffer<f16>> {
    Ok(stream.upload(&[f16::ONE])?)
}

fn output(stream: &Stream, count: usize) -> Outcome<Buffer<f16>> {
    Ok(stream.zeros(count)?)
}

/// That the first elements and the last ones are a number.
fn ends(stream: &Stream, found: &Buffer<f16>, expected: f32) -> Outcome {
    let last = found.len() - 16;
    for range in [0..16, last..found.len()] {
        let found: Vec<f32> = stream.download(&found.slice(range)?)?.into_iter().map(f16::to_f32).collect();
        same(&found, expected)?;
    }
    Ok(())
}

fn same(found: &[f32], expected: f32) -> Outcome {
    match found.iter().find(|found| **found != expected) {
        None => Ok(()),
        Some(found) => Err(Failure(format!("it is {found}, but {expected} is expected"))),
    }
}
