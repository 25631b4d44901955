//! Convolutions of whole numbers, which are exact: every geometry, and the adjoint identities.

use super::{ORDERS, name, output, weights};
use crate::harness::{Case, Failure, Operand, Order, Outcome, Random, Scalar, same, type_name};
use crate::reference::conv::Conv;
use crate::reference::number::values;
use triton::prelude::*;
use triton_kernels::FloatElement;
use triton_kernels::conv::{conv2d, conv2d_backward_input, conv2d_backward_weight};

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut turn = 0;
    for of in geometries() {
        for splits in [None, Some(3)] {
            turn += 1;
            // Parts of a reduction are another way through the same code: not for every geometry.
            if splits.is_some() && turn % 6 != 0 {
                continue;
            }
            let orders = [ORDERS[turn % 4], ORDERS[turn / 4 % 4], ORDERS[turn / 7 % 4]];
            match turn % 3 {
                0 => case::<f32>(&mut cases, of, orders, splits),
                1 => case::<bf16>(&mut cases, of, orders, splits),
                _ => case::<f16>(&mut cases, of, orders, splits),
            }
        }
    }
    for tile in ["BM=128 BN=128 BK=16 num_warps=8", "BM=64 BN=64 BK=16 num_warps=4"] {
        instances::<f32>(&mut cases, &format!("{tile} num_stages=3"), 64);
    }
    instances::<f32>(&mut cases, "BM=128 BN=32 BK=16 num_warps=4 num_stages=3", 30);
    for (name, channels) in [
        ("BM=128 BN=128 BK=64 num_warps=8 num_stages=4", 64),
        ("BM=64 BN=64 BK=64 num_warps=4 num_stages=3", 64),
        ("BM=128 BN=128 BK=32 num_warps=8 num_stages=4", 32),
        ("BM=128 BN=32 BK=32 num_warps=4 num_stages=4", 32),
        ("BM=64 BN=64 BK=32 num_warps=4 num_stages=4", 32),
    ] {
        instances::<bf16>(&mut cases, name, channels);
        instances::<f16>(&mut cases, name, channels);
    }
    cases
}

/// Windows, strides, padding and dilation along each axis, and numbers of channels on both sides of a step.
fn geometries() -> Vec<Conv> {
    let mut all = Vec::new();
    let channels = [1, 3, 16, 33, 64, 130];
    for window in [1, 2, 3, 5] {
        for stride in [1, 2, 3] {
            for dilation in [1, 2] {
                for padding in 0..=window {
                    for extent in [1, 5, 7] {
                        let i = all.len();
                        // The other axis has other numbers.
                        let pair = |one: usize, other: usize| if i % 2 == 0 { [one, other] } else { [other, one] };
                        let [h, w] = pair(extent, 6);
                        let [r, s] = pair(window, 2);
                        let (c, k) = (channels[i % 6], channels[i / 5 % 6]);
                        all.push(Conv {
                            x: [1 + i % 2, h, w, c],
                            w: [k, r, s],
                            stride: pair(stride, 1 + i % 2),
                            padding: pair(padding, 1),
                            dilation: pair(dilation, 1),
                            groups: 1,
                        });
                    }
                }
            }
        }
    }
    let plain = Conv { x: [2, 6, 5, 24], w: [20, 3, 3], stride: [1; 2], padding: [1; 2], dilation: [1; 2], groups: 1 };
    for (c, k) in channels.iter().flat_map(|&c| channels.iter().map(move |&k| (c, k))) {
        all.push(Conv { x: [1, 6, 5, c], w: [k, 3, 3], ..plain });
        all.push(Conv { x: [2, 6, 5, c], w: [k, 1, 1], padding: [0; 2], ..plain });
    }
    // Empty operands.
    for (x, w) in [
        ([0, 6, 5, 24], [20, 3, 3]),
        ([2, 6, 5, 0], [20, 3, 3]),
        ([2, 6, 5, 24], [0, 3, 3]),
        ([2, 6, 5, 4], [20, 0, 3]),
    ] {
        all.push(Conv { x, w, ..plain });
    }
    all
}

/// All three operations of one geometry.
fn case<T: FloatElement + Scalar>(cases: &mut Vec<Case>, of: Conv, orders: [Order; 3], splits: Option<usize>) {
    let what = format!("{} {} {orders:?} splits {splits:?}", type_name::<T>(), name(&of));
    cases.push(Case::new(format!("conv2d {what}"), move |stream, random| {
        let (x, w) = operands::<T>(&of, orders, random);
        let mut y = Operand::<T, 4>::output(output(&of), orders[2]);
        let found = forward(stream, &of, [&x, &w], &mut y, splits, None)?;
        same("y", &found, &values(&of.forward(&x.values(), &w.values())))
    }));
    cases.push(Case::new(format!("conv2d gradients {what}"), move |stream, random| {
        let (x, w) = operands::<T>(&of, orders, random);
        let dy = Operand::<T, 4>::whole(output(&of), orders[2], random, 1);
        let dx = input_gradient(stream, &of, [&dy, &w], orders[0], splits, None)?;
        same("dx", &dx, &values(&of.input_gradient(&dy.values(), &w.values())))?;
        let dw = weight_gradient(stream, &of, [&x, &dy], orders[1], splits)?;
        same("dw", &dw, &values(&of.weight_gradient(&x.values(), &dy.values())))?;
        // What the kernels say, not the reference.
        let mut y = Operand::<T, 4>::output(output(&of), orders[2]);
        let y = forward(stream, &of, [&x, &w], &mut y, splits, None)?;
        let inner = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let products = [inner(&y, &dy.values()), inner(&x.values(), &dx), inner(&w.values(), &dw)];
        match products.iter().all(|product| *product == products[0]) {
            true => Ok(()),
            false => Err(Failure(format!("⟨y, dy⟩, ⟨x, dx⟩ and ⟨w, dw⟩ are {products:?}"))),
        }
    }));
}

/// An instance by its name, of that number of channels, in every order that has it.
fn instances<T: FloatElement + Scalar>(cases: &mut Vec<Case>, name: &str, channels: usize) {
    let plain =
        Conv { x: [2, 9, 10, channels], w: [70, 3, 2], stride: [2, 1], padding: [1, 0], dilation: [1, 2], groups: 1 };
    let of = Conv { w: [if channels < 64 { 30 } else { 70 }, 3, 2], ..plain };
    for order in ORDERS {
        // Kernels of planes have fewer tiles.
        let planes = order != Order::Rows && order != Order::Odd;
        if planes && (channels < 64 || (size_of::<T>() == 2 && name.starts_with("BM=128"))) {
            continue;
        }
        let what = format!("{} {order:?} {name}", type_name::<T>());
        let named = name.to_string();
        let case = Case::new(format!("conv2d {what}"), move |stream, random| {
            let (x, w) = operands::<T>(&of, [order, Order::Rows, order], random);
            let mut y = Operand::<T, 4>::output(output(&of), order);
            let found = forward(stream, &of, [&x, &w], &mut y, None, Some(&named))?;
            same("y", &found, &values(&of.forward(&x.values(), &w.values())))
        });
        cases.push(case.of_instance(name));
        let named = name.to_string();
        let case = Case::new(format!("conv2d_backward_input {what}"), move |stream, random| {
            let of = Conv { x: [2, 9, 10, of.w[0]], w: [channels, 3, 2], ..plain };
            let (_, w) = operands::<T>(&of, [order, Order::Rows, order], random);
            let dy = Operand::<T, 4>::whole(output(&of), order, random, 1);
            let dx = input_gradient(stream, &of, [&dy, &w], order, None, Some(&named))?;
            same("dx", &dx, &values(&of.input_gradient(&dy.values(), &w.values())))
        });
        cases.push(case.of_instance(name));
    }
    let what = format!("conv2d_backward_weight {} of large tiles for {name}", type_name::<T>());
    cases.push(Case::new(what, move |stream, random| {
        let of =
            Conv { x: [1, 5, 6, 1024], w: [256, 3, 3], stride: [2; 2], padding: [1; 2], dilation: [1; 2], groups: 1 };
        let x = Operand::<T, 4>::whole(of.x, Order::Rows, random, 1);
        let dy = Operand::<T, 4>::whole(output(&of), Order::Rows, random, 1);
        let dw = weight_gradient(stream, &of, [&x, &dy], Order::Rows, Some(2))?;
        same("dw", &dw, &values(&of.weight_gradient(&x.values(), &dy.values())))
    }));
}

fn operands<T: Scalar>(of: &Conv, orders: [Order; 3], random: &mut Random) -> (Operand<T, 4>, Operand<T, 4>) {
    (Operand::whole(of.x, orders[0], random, 1), Operand::whole(weights(of), orders[1], random, 1))
}

fn pairs(of: &Conv) -> [(usize, usize); 3] {
    [of.stride, of.padding, of.dilation].map(|[down, across]| (down, across))
}

fn forward<T: FloatElement + Scalar>(
    stream: &Stream,
    of: &Conv,
    [x, w]: [&Operand<T, 4>; 2],
    y: &mut Operand<T, 4>,
    splits: Option<usize>,
    instance: Option<&str>,
) -> Outcome<Vec<f64>> {
    let (of_x, of_w, mut of_y) = (x.upload(stream)?, w.upload(stream)?, y.upload(stream)?);
    let [stride, padding, dilation] = pairs(of);
    let conv = conv2d(x.view(&of_x)?, w.view(&of_w)?, y.view_mut(&mut of_y)?);
    let conv = conv.stride(stride).padding(padding).dilation(dilation);
    let conv = splits.into_iter().fold(conv, |conv, splits| conv.splits(splits));
    instance.into_iter().fold(conv, |conv, name| conv.instance(name)).launch(stream)?;
    y.download(stream, &of_y)
}

fn input_gradient<T: FloatElement + Scalar>(
    stream: &Stream,
    of: &Conv,
    [dy, w]: [&Operand<T, 4>; 2],
    order: Order,
    splits: Option<usize>,
    instance: Option<&str>,
) -> Outcome<Vec<f64>> {
    let dx = Operand::<T, 4>::output(of.x, order);
    let (of_dy, of_w, mut of_dx) = (dy.upload(stream)?, w.upload(stream)?, dx.upload(stream)?);
    let [stride, padding, dilation] = pairs(of);
    let conv = conv2d_backward_input(dy.view(&of_dy)?, w.view(&of_w)?, dx.view_mut(&mut of_dx)?);
    let conv = conv.stride(stride).padding(padding).dilation(dilation);
    let conv = splits.into_iter().fold(conv, |conv, splits| conv.splits(splits));
    instance.into_iter().fold(conv, |conv, name| conv.instance(name)).launch(stream)?;
    dx.download(stream, &of_dx)
}

fn weight_gradient<T: FloatElement + Scalar>(
    stream: &Stream,
    of: &Conv,
    [x, dy]: [&Operand<T, 4>; 2],
    order: Order,
    splits: Option<usize>,
) -> Outcome<Vec<f64>> {
    let dw = Operand::<T, 4>::output(weights(of), order);
    let (of_x, of_dy, mut of_dw) = (x.upload(stream)?, dy.upload(stream)?, dw.upload(stream)?);
    let [stride, padding, dilation] = pairs(of);
    let conv = conv2d_backward_weight(x.view(&of_x)?, dy.view(&of_dy)?, dw.view_mut(&mut of_dw)?);
    let conv = conv.stride(stride).padding(padding).dilation(dilation);
    splits.into_iter().fold(conv, |conv, splits| conv.splits(splits)).launch(stream)?;
    dw.download(stream, &of_dw)
}
