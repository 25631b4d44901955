//! Convolutions in groups, by all of their names: of images, of planes, of lines, and transposed.

use super::{ORDERS, name, output, weights};
use crate::harness::{Case, Operand, Order, Outcome, Random, Scalar, Subject, refused, same, subject, type_name};
use crate::reference::conv::Conv;
use crate::reference::number::{Number, values};
use triton::prelude::*;
use triton_kernels::conv::{
    conv_transpose2d, conv1d, conv1d_backward_input, conv1d_backward_weight, conv2d, conv2d_backward_input,
    conv2d_backward_weight, conv2d_nchw, conv2d_nchw_backward_input, conv2d_nchw_backward_weight,
};
use triton_kernels::{Activation, FloatElement};

pub(super) fn subjects() -> Vec<Subject> {
    vec![
        subject!(
            "conv2d_nchw", conv2d_nchw(&x, &w, &mut y).bias(&b);
            x [2, 5, 6, 7], w [4, 5, 3, 3], b [4], y [2, 4, 4, 5],
        ),
        subject!(
            "conv2d_nchw_backward_input", conv2d_nchw_backward_input(&dy, &w, &mut dx);
            dy [2, 4, 4, 5], w [4, 5, 3, 3], dx [2, 5, 6, 7],
        ),
        subject!(
            "conv2d_nchw_backward_weight", conv2d_nchw_backward_weight(&x, &dy, &mut dw);
            x [2, 5, 6, 7], dy [2, 4, 4, 5], dw [4, 5, 3, 3],
        ),
        subject!("conv1d", conv1d(&x, &w, &mut y).bias(&b); x [2, 9, 5], w [4, 3, 5], b [4], y [2, 7, 4]),
        subject!(
            "conv1d_backward_input", conv1d_backward_input(&dy, &w, &mut dx); dy [2, 7, 4], w [4, 3, 5], dx [2, 9, 5],
        ),
        subject!(
            "conv1d_backward_weight", conv1d_backward_weight(&x, &dy, &mut dw);
            x [2, 9, 5], dy [2, 7, 4], dw [4, 3, 5],
        ),
        subject!(
            "conv_transpose2d", conv_transpose2d(&x, &w, &mut y).bias(&b);
            x [2, 4, 5, 4], w [4, 3, 3, 5], b [5], y [2, 6, 7, 5],
        ),
    ]
}

/// Channels, filters and groups: depthwise ones in vectors and not, several filters for a channel, few channels of a group, and many.
const CHANNELS: [[usize; 3]; 12] = [
    [8, 8, 8],
    [64, 64, 64],
    [72, 72, 72],
    [3, 3, 3],
    [130, 130, 130],
    [16, 32, 16],
    [12, 18, 6],
    [20, 10, 5],
    [32, 64, 2],
    [48, 48, 3],
    [64, 8, 4],
    [6, 6, 1],
];

/// Windows, strides, paddings and dilations.
const WINDOWS: [[[usize; 2]; 4]; 10] = [
    [[3, 3], [1, 1], [1, 1], [1, 1]],
    [[3, 3], [2, 2], [1, 1], [1, 1]],
    [[5, 5], [1, 1], [2, 2], [1, 1]],
    [[1, 1], [1, 1], [0, 0], [1, 1]],
    [[3, 3], [1, 1], [0, 2], [1, 1]],
    [[2, 4], [3, 2], [1, 0], [2, 1]],
    [[5, 1], [2, 1], [2, 0], [1, 1]],
    [[1, 7], [1, 3], [0, 3], [1, 2]],
    [[3, 3], [1, 1], [2, 2], [2, 2]],
    [[4, 2], [1, 2], [3, 1], [1, 3]],
];

const IMAGES: [[usize; 3]; 5] = [[2, 7, 9], [1, 19, 17], [1, 1, 40], [3, 5, 3], [1, 33, 5]];

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut turn = 0;
    for channels in CHANNELS {
        for [window, stride, padding, dilation] in WINDOWS {
            for image in [turn, turn + 2] {
                turn += 1;
                let [n, h, w] = IMAGES[image % 5];
                let of = Conv {
                    x: [n, h, w, channels[0]],
                    w: [channels[1], window[0], window[1]],
                    stride,
                    padding,
                    dilation,
                    groups: channels[2],
                };
                match turn % 3 {
                    0 => case::<f32>(&mut cases, of, turn),
                    1 => case::<bf16>(&mut cases, of, turn),
                    _ => case::<f16>(&mut cases, of, turn),
                }
            }
        }
    }
    for (x, w) in [([0, 6, 5, 8], [8, 3, 3]), ([2, 6, 5, 8], [8, 0, 3]), ([1, 2, 2, 8], [8, 3, 3])] {
        let of = Conv { x, w, stride: [1; 2], padding: [0; 2], dilation: [1; 2], groups: 8 };
        case::<f32>(&mut cases, of, 0);
    }
    errors(&mut cases);
    cases
}

/// Whole numbers, of which one is not a number if it is asked for.
fn image<T: Scalar>(shape: [usize; 4], order: Order, random: &mut Random, hostile: bool) -> Operand<T, 4> {
    let count: usize = shape.iter().product();
    let special = [f64::NAN, f64::INFINITY][random.usize(..2)];
    let at = if hostile { random.usize(..count.max(1)) } else { count };
    let mut i = 0;
    Operand::new(shape, order, || {
        i += 1;
        if i - 1 == at { special } else { f64::from(random.i32(-2..=2)) }
    })
}

fn case<T: FloatElement + Scalar>(cases: &mut Vec<Case>, of: Conv, turn: usize) {
    let orders =
        if turn.is_multiple_of(3) { [ORDERS[0]; 3] } else { [turn, turn / 4, turn / 7].map(|i| ORDERS[i % 4]) };
    let what = format!("in groups {} {} {orders:?}", type_name::<T>(), name(&of));
    let pairs = [of.stride, of.padding, of.dilation].map(|[down, across]| (down, across));
    let [stride, padding, dilation] = pairs;
    let hostile = turn % 4 == 1;
    cases.push(Case::new(format!("conv2d {what}"), move |stream, random| {
        let x = image::<T>(of.x, orders[0], random, hostile);
        let w = Operand::<T, 4>::whole(weights(&of), orders[1], random, 2);
        let y = Operand::<T, 4>::output(output(&of), orders[2]);
        let bias = Operand::<T, 1>::whole([of.w[0]], orders[1], random, 2);
        let (mx, mw, mb, mut my) = (x.upload(stream)?, w.upload(stream)?, bias.upload(stream)?, y.upload(stream)?);
        let kinds = [(Activation::Identity, 1.0), (Activation::Relu, 0.0), (Activation::LeakyRelu(0.5), 0.5)];
        let (kind, slope) = kinds[turn % 3];
        if turn.is_multiple_of(2) {
            let conv = conv2d(x.view(&mx)?, w.view(&mw)?, y.view_mut(&mut my)?).groups(of.groups).activation(kind);
            let conv = conv.stride(stride).padding(padding).dilation(dilation);
            conv.bias(bias.view(&mb)?).launch(stream)?;
        } else {
            let first = [0, 3, 1, 2];
            let (x, w) = (x.view(&mx)?.permute(first)?, w.view(&mw)?.permute(first)?);
            let conv = conv2d_nchw(x, w, y.view_mut(&mut my)?.permute(first)?).groups(of.groups).activation(kind);
            let conv = conv.stride(stride).padding(padding).dilation(dilation);
            conv.bias(bias.view(&mb)?).launch(stream)?;
        }
        let sums = values(&of.forward(&x.values(), &w.values()));
        let expected = activated::<T>(&sums, &bias.values(), slope);
        same("y", &y.download(stream, &my)?, &expected)
    }));
    cases.push(Case::new(format!("conv2d gradients {what}"), move |stream, random| {
        let dy = image::<T>(output(&of), orders[2], random, hostile);
        let w = Operand::<T, 4>::whole(weights(&of), orders[1], random, 2);
        let x = Operand::<T, 4>::whole(of.x, orders[0], random, 2);
        let dx = Operand::<T, 4>::output(of.x, orders[0]);
        let dw = Operand::<T, 4>::output(weights(&of), orders[1]);
        let (mx, mw, mdy) = (x.upload(stream)?, w.upload(stream)?, dy.upload(stream)?);
        let (mut mdx, mut mdw) = (dx.upload(stream)?, dw.upload(stream)?);
        let first = [0, 3, 1, 2];
        if turn % 2 == 1 {
            let back = conv2d_backward_input(dy.view(&mdy)?, w.view(&mw)?, dx.view_mut(&mut mdx)?).groups(of.groups);
            back.stride(stride).padding(padding).dilation(dilation).launch(stream)?;
            let back = conv2d_backward_weight(x.view(&mx)?, dy.view(&mdy)?, dw.view_mut(&mut mdw)?).groups(of.groups);
            back.stride(stride).padding(padding).dilation(dilation).launch(stream)?;
        } else {
            let (vx, vdy) = (x.view(&mx)?.permute(first)?, dy.view(&mdy)?.permute(first)?);
            let to = dx.view_mut(&mut mdx)?.permute(first)?;
            let back = conv2d_nchw_backward_input(vdy, w.view(&mw)?.permute(first)?, to).groups(of.groups);
            back.stride(stride).padding(padding).dilation(dilation).launch(stream)?;
            let to = dw.view_mut(&mut mdw)?.permute(first)?;
            let back = conv2d_nchw_backward_weight(vx, vdy, to).groups(of.groups);
            back.stride(stride).padding(padding).dilation(dilation).launch(stream)?;
        }
        let expected = values(&of.input_gradient(&dy.values(), &w.values()));
        same("dx", &dx.download(stream, &mdx)?, &rounded::<T>(&expected))?;
        if hostile {
            // Zeros that pad an image are multiplied by what is not finite, too.
            return Ok(());
        }
        let expected = values(&of.weight_gradient(&x.values(), &dy.values()));
        same("dw", &dw.download(stream, &mdw)?, &rounded::<T>(&expected))
    }));
    cases.push(Case::new(format!("conv_transpose2d {what}"), move |stream, random| {
        let x = image::<T>(output(&of), orders[2], random, hostile);
        let w = Operand::<T, 4>::whole(weights(&of), orders[1], random, 2);
        let bias = Operand::<T, 1>::whole([of.x[3]], orders[1], random, 2);
        let y = Operand::<T, 4>::output(of.x, orders[0]);
        let (mx, mw, mb, mut my) = (x.upload(stream)?, w.upload(stream)?, bias.upload(stream)?, y.upload(stream)?);
        let (kind, slope) = [(Activation::Relu, 0.0), (Activation::Identity, 1.0)][turn % 2];
        let conv = conv_transpose2d(x.view(&mx)?, w.view(&mw)?, y.view_mut(&mut my)?).groups(of.groups);
        let conv = conv.stride(stride).padding(padding).dilation(dilation).activation(kind);
        conv.bias(bias.view(&mb)?).launch(stream)?;
        let sums = values(&of.input_gradient(&x.values(), &w.values()));
        same("y", &y.download(stream, &my)?, &activated::<T>(&sums, &bias.values(), slope))
    }));
    if of.x[1] != 1 || of.w[1] != 1 {
        return;
    }
    cases.push(Case::new(format!("conv1d {what}"), move |stream, random| lines::<T>(stream, random, &of, orders)));
}

/// Images of one row as lines.
fn lines<T: FloatElement + Scalar>(stream: &Stream, random: &mut Random, of: &Conv, orders: [Order; 3]) -> Outcome {
    let line = |[n, _, l, c]: [usize; 4]| [n, l, c];
    let (shape, places, filters) = (line(of.x), line(output(of)), line(weights(of)));
    let x = Operand::<T, 3>::whole(shape, orders[0], random, 2);
    let w = Operand::<T, 3>::whole(filters, orders[1], random, 2);
    let dy = Operand::<T, 3>::whole(places, orders[2], random, 2);
    let y = Operand::<T, 3>::output(places, orders[2]);
    let (dx, dw) = (Operand::<T, 3>::output(shape, orders[0]), Operand::<T, 3>::output(filters, orders[1]));
    let (mx, mw, mdy) = (x.upload(stream)?, w.upload(stream)?, dy.upload(stream)?);
    let (mut my, mut mdx, mut mdw) = (y.upload(stream)?, dx.upload(stream)?, dw.upload(stream)?);
    let (stride, padding, dilation) = (of.stride[1], of.padding[1], of.dilation[1]);
    let conv = conv1d(x.view(&mx)?, w.view(&mw)?, y.view_mut(&mut my)?).groups(of.groups);
    conv.stride(stride).padding(padding).dilation(dilation).launch(stream)?;
    let back = conv1d_backward_input(dy.view(&mdy)?, w.view(&mw)?, dx.view_mut(&mut mdx)?).groups(of.groups);
    back.stride(stride).padding(padding).dilation(dilation).launch(stream)?;
    let back = conv1d_backward_weight(x.view(&mx)?, dy.view(&mdy)?, dw.view_mut(&mut mdw)?).groups(of.groups);
    back.stride(stride).padding(padding).dilation(dilation).launch(stream)?;
    let expected = |of: Vec<Number>| rounded::<T>(&values(&of));
    same("y", &y.download(stream, &my)?, &expected(of.forward(&x.values(), &w.values())))?;
    same("dx", &dx.download(stream, &mdx)?, &expected(of.input_gradient(&dy.values(), &w.values())))?;
    same("dw", &dw.download(stream, &mdw)?, &expected(of.weight_gradient(&x.values(), &dy.values())))
}

fn rounded<T: Scalar>(of: &[f64]) -> Vec<f64> {
    of.iter().map(|value| T::of(*value).value()).collect()
}

/// Sums with a bias, of which the negative ones are multiplied by a slope.
fn activated<T: Scalar>(sums: &[f64], bias: &[f64], slope: f64) -> Vec<f64> {
    let of = |(i, sum): (usize, &f64)| {
        let value = sum + bias[i % bias.len()];
        // 0 · −∞ is 0 here.
        let below = if slope == 0.0 { 0.0 } else { value * slope };
        T::of(if value < 0.0 { below } else { value }).value()
    };
    sums.iter().enumerate().map(of).collect()
}

fn errors(cases: &mut Vec<Case>) {
    cases.push(Case::new("conv2d refuses groups that do not divide", |stream, _| {
        let (x, w) = (stream.tensor_zeros::<f32, _>([1, 4, 4, 6])?, stream.tensor_zeros::<f32, _>([4, 1, 1, 2])?);
        let mut y = stream.tensor_zeros::<f32, _>([1, 4, 4, 4])?;
        for (groups, text) in [
            (0, "`groups` is 0"),
            (4, "`groups` is 4 of 6 channels and 4 filters"),
            (2, "`w` has extent 2 along axis 3, but 3"),
        ] {
            refused(conv2d(&x, &w, &mut y).groups(groups).launch(stream), &[text])?;
        }
        Ok(())
    }));
    cases.push(Case::new("conv2d_nchw and conv1d refuse extents by their own axes", |stream, _| {
        let (x, w) = (stream.tensor_zeros::<f32, _>([1, 6, 4, 5])?, stream.tensor_zeros::<f32, _>([4, 6, 2, 2])?);
        let mut y = stream.tensor_zeros::<f32, _>([1, 4, 3, 5])?;
        refused(conv2d_nchw(&x, &w, &mut y).launch(stream), &["`conv2d_nchw`: `y` has extent 5 along axis 3, but 4"])?;
        let (x, w) = (stream.tensor_zeros::<f32, _>([1, 9, 6])?, stream.tensor_zeros::<f32, _>([4, 2, 6])?);
        let mut y = stream.tensor_zeros::<f32, _>([1, 9, 4])?;
        refused(conv1d(&x, &w, &mut y).launch(stream), &["`conv1d`: `y` has extent 9 along axis 1, but 8"])
    }));
}
