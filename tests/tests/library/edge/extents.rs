//! Extents at the edge: more of each than a grid has programs along its second and third axis, sizes that do not fit `usize`, strides of axes of one element.

use crate::gemm::placed_bf16;
use crate::harness::{Case, Failure, Outcome, refused};
use triton::prelude::*;
use triton_kernels::attention::{attention, attention_backward};
use triton_kernels::contract::contract;
use triton_kernels::contract::{Modes, ModesMut};
use triton_kernels::conv::{Shifts, conv2d, conv2d_backward_input, conv2d_backward_weight, shift_conv};
use triton_kernels::conv::{pixel_shuffle, pixel_shuffle_backward};
use triton_kernels::linear::{gemm, gemm_batched};
use triton_kernels::pool::*;
use triton_kernels::reduce::{sum, var};
use triton_kernels::sparse::*;
use triton_kernels::{embedding::*, norm::*, softmax::*};

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    many(&mut cases);
    sizes(&mut cases);
    cases.push(Case::new("sizes: strides of one element", strides));
    cases
}

/// One more than a grid has along its second and third axis, and one more.
const MANY: usize = 65_537;

fn is(what: &str, found: &[f32], expected: f32) -> Outcome {
    match found.iter().position(|found| *found != expected) {
        None => Ok(()),
        Some(i) => Err(Failure(format!("element {i} of {what} is {}, but {expected} is expected", found[i]))),
    }
}

/// More than 65,535 of what an operation has along an axis: all operands are ones.
fn many(cases: &mut Vec<Case>) {
    let mut case = |name: &str, run: fn(&Stream, &Buffer<f32>, &mut Buffer<f32>) -> Outcome<f32>| {
        cases.push(Case::new(format!("{MANY} {name}"), move |stream, _| {
            let ones = stream.upload(&vec![1.0f32; MANY * 16])?;
            let mut out = stream.upload(&vec![f32::NAN; MANY * 16])?;
            let expected = run(stream, &ones, &mut out)?;
            // What has no room in `out` compares by itself.
            if expected.is_nan() {
                return Ok(());
            }
            let found = stream.download(&out)?;
            let written = found.iter().position(|x| x.is_nan()).unwrap_or(found.len());
            if written < MANY {
                return Err(Failure(format!("only {written} elements are written")));
            }
            is("the result", &found[..written], expected)
        }));
    };
    case("sequences of attention", |s, x, y| {
        let (q, shape) = (x.view([MANY, 1, 1, 1])?, [MANY, 1, 1, 1]);
        attention(q, q, q, y.view_mut(shape)?).launch(s)?;
        Ok(1.0)
    });
    case("heads of attention", |s, x, y| {
        let (q, shape) = (x.view([1, MANY, 1, 1])?, [1, MANY, 1, 1]);
        attention(q, q, q, y.view_mut(shape)?).launch(s)?;
        Ok(1.0)
    });
    case("query heads of one key head", |s, x, y| {
        let (q, k) = (x.view([1, MANY, 1, 1])?, x.view([1, 1, 1, 1])?);
        attention(q, k, k, y.view_mut([1, MANY, 1, 1])?).launch(s)?;
        Ok(1.0)
    });
    for heads in [false, true] {
        let name =
            if heads { "heads of the gradients of attention" } else { "sequences of the gradients of attention" };
        let run: fn(&Stream, &Buffer<f32>, &mut Buffer<f32>) -> Outcome<f32> = if heads {
            |s, x, y| gradients(s, x, y, [1, MANY, 1, 1])
        } else {
            |s, x, y| gradients(s, x, y, [MANY, 1, 1, 1])
        };
        case(name, run);
    }
    case("batches of a reduction of columns", |s, x, y| {
        sum(x.view([MANY, 2, 3])?, 1, y.view_mut([MANY, 3])?).launch(s)?;
        Ok(2.0)
    });
    case("batches of a variance of rows", |s, x, y| {
        let apart = x.view([MANY, 3, 2])?.permute([0, 2, 1])?;
        var(apart, 1, y.view_mut([MANY, 3])?).launch(s)?;
        Ok(0.0)
    });
    case("products of a batch", |s, x, y| {
        let a = x.view([MANY, 1, 1])?;
        gemm_batched(a, a, y.view_mut([MANY, 1, 1])?).launch(s)?;
        Ok(1.0)
    });
    case("products of a contraction", |s, x, y| {
        let a = x.view([MANY, 1, 1])?;
        contract("bij,bjk->bik", a, a, y.view_mut([MANY, 1, 1])?).launch(s)?;
        Ok(1.0)
    });
    case("tiles of columns of a product", |s, x, _| {
        // 64 columns each at most.
        let columns = MANY * 64;
        let (row, mut y) = (x.view([1, 1])?, s.upload(&vec![f32::NAN; columns])?);
        gemm(row, row.broadcast(1, columns)?, y.view_mut([1, columns])?).launch(s)?;
        is("the product", &s.download(&y)?, 1.0)?;
        Ok(f32::NAN)
    });
    case("tiles of columns of a product with a function", |s, _, _| {
        let columns = MANY * 64;
        let one = s.tensor(&[bf16::ONE], [1, 1])?;
        let numbers: Vec<f32> = (0..columns).map(|n| (n % 251) as f32).collect();
        let (bias, mut y) = (s.tensor(&numbers, [columns])?, s.tensor_uninit([1, columns])?);
        placed_bf16(&one, one.as_view().broadcast(1, columns)?, &mut y, &bias, 2.0).launch(s)?;
        let found = s.download(&y)?;
        match found.iter().zip(&numbers).position(|(y, number)| y.to_f32() != 2.0 + number) {
            None => Ok(f32::NAN),
            Some(n) => Err(Failure(format!("column {n} is {}, not {}", found[n], 2.0 + numbers[n]))),
        }
    });
    case("images", |s, x, y| {
        let w = x.view([1, 1, 3, 1])?;
        conv2d(x.view([MANY, 1, 1, 1])?, w, y.view_mut([MANY, 1, 1, 1])?).padding((0, 1)).launch(s)?;
        Ok(1.0)
    });
    case("images that are copied", |s, x, y| {
        // Rows of 9 channels are not whole multiples of 16 bytes.
        let w = x.view([1, 1, 3, 9])?;
        conv2d(x.view([MANY, 1, 1, 9])?, w, y.view_mut([MANY, 1, 1, 1])?).padding((0, 1)).launch(s)?;
        Ok(9.0)
    });
    case("rows of images that are copied", |s, x, y| {
        let w = x.view([1, 1, 3, 9])?;
        conv2d(x.view([1, MANY, 1, 9])?, w, y.view_mut([1, MANY, 1, 1])?).padding((0, 1)).launch(s)?;
        Ok(9.0)
    });
    case("images of an input gradient", |s, x, y| {
        let w = x.view([1, 1, 2, 1])?;
        let gradient = conv2d_backward_input(x.view([MANY, 1, 1, 1])?, w, y.view_mut([MANY, 1, 1, 1])?);
        gradient.padding((0, 1)).stride((1, 2)).launch(s)?;
        Ok(1.0)
    });
    case("tiles of elements of a window", |s, x, _| {
        // A pixel for each element, of more channels than half a tile.
        let (mut dw, shape) = (s.upload(&vec![f32::NAN; MANY * 33])?, [1, MANY, 1, 33]);
        let x = x.view([1, 1, 1, 1])?.as_strided(shape, [0; 4])?;
        conv2d_backward_weight(x, x.narrow(1, ..1)?.narrow(3, ..1)?, dw.view_mut(shape)?).launch(s)?;
        is("dw", &s.download(&dw)?, 1.0)?;
        Ok(f32::NAN)
    });
    case("filters of a shift-convolution", |s, x, y| {
        let shifts = Shifts::new(s, &[(0, 0)])?;
        shift_conv(x.view([1, 1, 1, 1])?, x.view([MANY, 1])?, &shifts, y.view_mut([1, 1, 1, MANY])?).launch(s)?;
        Ok(1.0)
    });
    case("images of a pixel shuffle", |s, x, y| {
        pixel_shuffle(x.view([MANY, 1, 1, 4])?, 2, y.view_mut([MANY, 2, 2, 1])?).launch(s)?;
        Ok(1.0)
    });
    case("rows of the gradient of a pixel shuffle", |s, x, y| {
        pixel_shuffle_backward(x.view([1, 3 * MANY, 3, 1])?, 3, y.view_mut([1, MANY, 1, 9])?).launch(s)?;
        Ok(1.0)
    });
    case("images of a maximum", |s, x, y| {
        max_pool(x.view([MANY, 2, 2, 1])?, (2, 2), y.view_mut([MANY, 1, 1, 1])?).launch(s)?;
        Ok(1.0)
    });
    case("rows of the gradient of a maximum", |s, x, y| {
        let (shape, options) = ([1, MANY, 1, 1], ((3, 1), (1, 1), (1, 0)));
        // Of equal pixels the first one is the greatest: the first pixel of two windows, the last one of none.
        let gradient = max_pool_backward(x.view(shape)?, x.view(shape)?, options.0, y.view_mut(shape)?);
        gradient.stride(options.1).padding(options.2).launch(s)?;
        let found = s.download(y)?;
        is("dx", &found[..1], 2.0)?;
        is("dx", &found[1..MANY - 1], 1.0)?;
        is("dx", &found[MANY - 1..MANY], 0.0)?;
        Ok(f32::NAN)
    });
    case("rows of a mean", |s, x, y| {
        let launch = avg_pool(x.view([1, MANY, 1, 1])?, (3, 1), y.view_mut([1, MANY, 1, 1])?);
        launch.stride((1, 1)).padding((1, 0)).count_include_pad(false).launch(s)?;
        Ok(1.0)
    });
    case("rows of the gradient of a mean", |s, x, y| {
        // A pixel alone in its window.
        let shape = [1, MANY, 1, 1];
        avg_pool_backward(x.view(shape)?, (1, 1), y.view_mut(shape)?).launch(s)?;
        Ok(1.0)
    });
    case("rows of means of parts, and images of their gradients", |s, x, y| {
        let mut large = s.upload(&vec![f32::NAN; MANY])?;
        adaptive_avg_pool(x.view([1, 7, 1, 1])?, large.view_mut([1, MANY, 1, 1])?).launch(s)?;
        is("y", &s.download(&large)?, 1.0)?;
        adaptive_avg_pool_backward(x.view([MANY, 2, 1, 1])?, y.view_mut([MANY, 1, 1, 1])?).launch(s)?;
        Ok(2.0)
    });
    case("rows of an image in another size and of its gradient", |s, x, y| {
        let mut large = s.upload(&vec![f32::NAN; 2 * MANY])?;
        upsample(x.view([1, 7, 1, 1])?, Interpolation::Nearest, large.view_mut([1, 2 * MANY, 1, 1])?).launch(s)?;
        is("y", &s.download(&large)?, 1.0)?;
        let shape = [MANY, 2, 1, 1];
        upsample_backward(x.view(shape)?, Interpolation::Nearest, y.view_mut([MANY, 1, 1, 1])?).launch(s)?;
        Ok(2.0)
    });
    case("rows of a padded image and of its gradient", |s, x, y| {
        let (kind, mut large) = (Padding::Replicate, s.upload(&vec![f32::NAN; MANY])?);
        pad(x.view([1, 3, 1, 1])?, (MANY - 4, 1), (0, 0), kind, large.view_mut([1, MANY, 1, 1])?).launch(s)?;
        is("y", &s.download(&large)?, 1.0)?;
        let (dy, shape) = (x.view([1, MANY + 2, 1, 1])?, [1, MANY, 1, 1]);
        pad_backward(dy, (2, 0), (0, 0), Padding::Zeros, y.view_mut(shape)?).launch(s)?;
        Ok(1.0)
    });
    case("groups of a norm", |s, x, y| {
        // The element of a group is its mean.
        let (w, shape) = (x.view([MANY])?, [1, MANY, 1]);
        group_norm(x.view(shape)?, MANY, w, w, y.view_mut(shape)?).launch(s)?;
        Ok(1.0)
    });
    case("channels of batch_norm_eval", |s, x, y| {
        let (w, shape) = (x.view([MANY])?, [1, MANY, 1]);
        batch_norm_eval(x.view(shape)?, w, w, w, w, y.view_mut(shape)?).launch(s)?;
        Ok(1.0)
    });
    case("heads of a rotation", |s, x, y| {
        // By an angle of 0.
        let zero = s.zeros::<f32>(1)?;
        let (x, cosines) = (x.view([1, 4 * MANY, 2])?, x.view([1, 1])?);
        rotary(x, cosines, zero.view([1, 1])?, Pairs::Halves, y.view_mut([1, 4 * MANY, 2])?).launch(s)?;
        Ok(1.0)
    });
    case("matrices of sampled products", |s, x, y| {
        let (layout, t) = (BlockLayout::new(s, 16, &BlockMask::dense(1))?, x.view([1, 1, 1, 1])?);
        let t = t.as_strided([MANY, 1, 16, 1], [0; 4])?;
        let mut p = BlockSparse::zeros(s, MANY, &layout)?;
        sddmm(t, t, &mut p).launch(s)?;
        sparse_softmax(&mut p).launch(s)?;
        is("probabilities", &s.download(p.values())?, 1.0 / 16.0)?;
        let mut dp = BlockSparse::zeros(s, MANY, &layout)?;
        sparse_softmax_backward(&p, &mut dp).launch(s)?;
        is("gradients", &s.download(dp.values())?, 0.0)?;
        spmm(&p, t, y.view_mut([MANY, 1, 16, 1])?).launch(s)?;
        Ok(1.0)
    });
    case("matrices of block-sparse attention", |s, x, y| {
        let layout = BlockLayout::new(s, 16, &BlockMask::dense(1))?;
        let t = x.view([MANY, 1, 16, 1])?;
        block_sparse_attention(t, t, t, y.view_mut([MANY, 1, 16, 1])?, &layout).launch(s)?;
        Ok(1.0)
    });
    case("matrices that become dense", |s, x, _| {
        let (layout, t) = (BlockLayout::new(s, 16, &BlockMask::dense(1))?, x.view([1, 1, 1, 1])?);
        let p = BlockSparse::from_dense(s, t.as_strided([MANY, 1, 16, 16], [0; 4])?, &layout)?;
        let mut dense = s.upload(&vec![f32::NAN; MANY * 256])?;
        p.to_dense(s, dense.view_mut([MANY, 1, 16, 16])?)?;
        is("the array", &s.download(&dense)?, 1.0)?;
        Ok(f32::NAN)
    });
}

fn gradients(s: &Stream, x: &Buffer<f32>, y: &mut Buffer<f32>, shape: [usize; 4]) -> Outcome<f32> {
    let [batch, heads, ..] = shape;
    let (one, mut dq, mut dk) = (x.view(shape)?, s.zeros::<f32>(MANY)?, s.zeros::<f32>(MANY)?);
    // A probability of 1 has the logarithm 1 · 1.
    let sums = x.view([batch, heads, 1])?;
    let (to_q, to_k, to_v) = (dq.view_mut(shape)?, dk.view_mut(shape)?, y.view_mut(shape)?);
    attention_backward(one, one, one, one, sums, one, to_q, to_k, to_v).launch(s)?;
    is("dq", &s.download(&dq)?, 0.0)?;
    is("dk", &s.download(&dk)?, 0.0)?;
    Ok(1.0)
}

/// Sizes whose products do not fit `usize`, of views that take no memory: each is refused, or has nothing to do.
fn sizes(cases: &mut Vec<Case>) {
    let mut case = |name: &str, run: fn(&Stream, &Buffer<f32>, &mut Buffer<f32>) -> Outcome| {
        cases.push(Case::new(format!("sizes: {name}"), move |stream, _| {
            let (ones, mut out) = (stream.upload(&[1.0f32; 16])?, stream.zeros::<f32>(16)?);
            run(stream, &ones, &mut out)
        }));
    };
    const BIG: usize = i32::MAX as usize;
    case("padding and dilation beyond all numbers", |s, x, y| {
        let image = x.view([1, 1, 1, 1])?.as_strided([1, 4, 4, 1], [0; 4])?;
        let w = x.view([1, 1, 1, 1])?.as_strided([1, 3, 3, 1], [0; 4])?;
        for (padding, dilation) in [(usize::MAX, 1), (1 << 63, 1), (0, usize::MAX / 2 + 1), (usize::MAX, usize::MAX)] {
            let call = conv2d(image, w, y.view_mut([1, 4, 4, 1])?).padding((padding, 0)).dilation((dilation, 1));
            refused(call.launch(s), &["`conv2d`"])?;
            let call = conv2d_backward_input(image, w, y.view_mut([1, 4, 4, 1])?).padding((padding, 0));
            refused(call.dilation((dilation, 1)).launch(s), &["`conv2d_backward_input`"])?;
            let call = conv2d_backward_weight(image, image, y.view_mut([1, 3, 3, 1])?).padding((padding, 0));
            refused(call.dilation((dilation, 1)).launch(s), &["`conv2d_backward_weight`"])?;
        }
        refused(conv2d(image, w, y.view_mut([1, 4, 4, 1])?).stride((usize::MAX, 1)).launch(s), &["`conv2d`"])
    });
    case("2⁹³ pixels", |s, x, y| {
        let image = x.view([1, 1, 1, 1])?.as_strided([BIG, BIG, BIG, 1], [0; 4])?;
        let w = x.view([0, 1, 2, 1])?;
        refused(conv2d(image, w, y.view_mut([BIG, BIG, BIG - 1, 0])?).launch(s), &["`conv2d`"])
    });
    case("2⁹³ queries", |s, x, y| {
        let q = x.view([BIG, BIG, BIG, 0])?;
        refused(attention(q, q, q, y.view_mut([BIG, BIG, BIG, 0])?).launch(s), &["`attention`"])
    });
    case("2⁹³ terms of a contraction", |s, x, y| {
        let m = || Modes::new(x, &[BIG; 3], Some(&[0; 3]));
        let call = contract("abc,abc->", m(), m(), ModesMut::new(y, &[], None));
        refused(call.plan(s), &["`contract`"])?;
        refused(call.launch(s), &["`contract`"])
    });
    case("2⁶² groups", |s, x, y| {
        let w = x.view([1])?.as_strided([BIG], [0])?;
        refused(group_norm(x.view([BIG, BIG, 0])?, BIG, w, w, y.view_mut([BIG, BIG, 0])?).launch(s), &["`group_norm`"])
    });
    case("2⁶² rows and columns of nothing", |s, x, y| {
        // There is nothing to do, whatever the extents are.
        let (n, one) = (1 << 24, x.view([1, 1])?);
        let (a, b) = (x.view([0, 1])?.as_strided([0, n], [0; 2])?, one.as_strided([n, BIG], [0; 2])?);
        gemm(a, b, y.view_mut([0, BIG])?).launch(s)?;
        let (a, b) = (x.view([0, 1])?.as_strided([0, BIG], [0; 2])?, one.as_strided([BIG, BIG], [0; 2])?);
        refused(gemm(a, b, y.view_mut([0, BIG])?).launch(s), &["`gemm`", "less than 2⁵⁶"])?;
        softmax(x.view([BIG, 0])?, y.view_mut([BIG, 0])?).launch(s)?;
        layer_norm(x.view([BIG, 0])?, x.view([0])?, x.view([0])?, y.view_mut([BIG, 0])?).launch(s)?;
        Ok(())
    });
}

/// The stride of an axis of one element may be any.
fn strides(s: &Stream, _: &mut crate::harness::Random) -> Outcome {
    let (x, far) = (s.upload(&[1.0f32, 2.0, 3.0, 4.0])?, isize::MAX);
    let (row, column) = (x.view([1, 4])?.with_strides([far, 1])?, x.view([4, 1])?.with_strides([1, far])?);
    let mut y = s.upload(&[f32::NAN; 16])?;
    gemm(row, column, y.view_mut([1, 1])?.with_strides([far, far])?).launch(s)?;
    is("a product", &s.download(&y)?[..1], 30.0)?;
    gemm_batched(
        row.split(0, [1, 1])?.with_strides([far, far, 1])?,
        column.split(0, [1, 4])?.with_strides([far, 1, far])?,
        y.view_mut([1, 1, 1])?.with_strides([far; 3])?,
    )
    .launch(s)?;
    is("a product of a batch", &s.download(&y)?[..1], 30.0)?;
    softmax(x.view([1, 1])?.with_strides([far; 2])?, y.view_mut([1, 1])?.with_strides([far; 2])?).launch(s)?;
    is("a softmax", &s.download(&y)?[..1], 1.0)?;
    let image = x.view([1, 1, 4, 1])?.with_strides([far, far, 1, far])?;
    conv2d(image, image, y.view_mut([1, 1, 1, 1])?.with_strides([far; 4])?).launch(s)?;
    is("a convolution", &s.download(&y)?[..1], 30.0)?;
    let head = x.view([1, 1, 1, 4])?.with_strides([far, far, far, 1])?;
    attention(head, head, head, y.view_mut([1, 1, 1, 4])?.with_strides([far, far, far, 1])?).launch(s)?;
    let found = s.download(&y)?;
    // A weight and the sum of all weights are one number; the quotient is by its reciprocal.
    if found.iter().zip([1.0f32, 2.0, 3.0, 4.0]).any(|(found, expected)| (found - expected).abs() > 1e-6 * expected) {
        return Err(Failure(format!("attention to one key gives {:?}", &found[..4])));
    }
    contract("ab,cb->ac", row, row, y.view_mut([1, 1])?.with_strides([far; 2])?).launch(s)?;
    is("a contraction", &s.download(&y)?[..1], 30.0)
}
