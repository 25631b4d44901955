//! Softmax, losses, activations and dropout at the edge.

use super::subject::{Arrays, Bounded, Subject, by_rows, put, room};
use crate::harness::hostile::Draw;
use crate::harness::{Case, Order, Outcome, Scalar};
use crate::reference::activation::{activation as f, derivative};
use crate::reference::number::{Number, exact};
use crate::reference::{dropout::stays, loss, softmax as reference};
use std::ops::Range;
use triton::prelude::*;
use triton_kernels::activation::{activation, activation_backward, gated, gated_backward};
use triton_kernels::dropout::dropout;
use triton_kernels::loss::{cross_entropy, cross_entropy_of_parts, cross_entropy_part};
use triton_kernels::softmax::{
    log_softmax, log_softmax_backward, log_softmax_in_place, softmax, softmax_backward, softmax_in_place,
};
use triton_kernels::{Activation, FloatElement};

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    of::<f32>(&mut cases);
    of::<f16>(&mut cases);
    of::<bf16>(&mut cases);
    cases
}

fn of<T: FloatElement + Scalar>(cases: &mut Vec<Case>) {
    for columns in [5, 33, 2100] {
        for log in [false, true] {
            for what in [What::Plain, What::InPlace, What::Mask, What::Causal] {
                cases.push(of_softmax::<T>([3, columns], log, what, Draw::Normal).locality());
                if what != What::Mask {
                    cases.push(of_softmax::<T>([3, columns], log, what, Draw::ANY).finite());
                }
            }
            cases.push(of_softmax_backward::<T>([3, columns], log).locality());
        }
        for (smoothing, z) in [(0.0, 0.0), (0.25, 0.0), (0.0, 0.5)] {
            cases.push(of_entropy::<T>([3, columns], smoothing, z, Draw::Normal).locality());
        }
        cases.push(of_entropy_in_shards::<T>([3, columns], Draw::Normal).locality());
        cases.push(of_entropy_in_shards::<T>([3, columns], Draw::ANY).finite());
        // Differences of logits have to be representable, and with a z-loss squares.
        cases.push(of_entropy::<T>([3, columns], 0.0, 0.0, Draw::ANY).finite());
        cases.push(of_entropy::<T>([3, columns], 0.25, 0.0, Draw::Edge(1e30)).finite());
        cases.push(of_entropy::<T>([3, columns], 0.0, 0.5, Draw::Edge(1e15)).finite());
    }
    for kind in Activation::ALL {
        for shape in [[1, 40], [5, 37]] {
            cases.push(of_activation::<T>(kind, shape, Draw::Normal).locality());
            cases.push(of_activation::<T>(kind, shape, Draw::ANY).finite());
            cases.push(of_gate::<T>(kind, shape, Draw::Normal).locality());
            cases.push(of_gate::<T>(kind, shape, Draw::ANY).finite());
        }
    }
    cases.push(of_dropout::<T>(Draw::Normal).locality());
    cases.push(of_dropout::<T>(Draw::ANY).finite());
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum What {
    Plain,
    InPlace,
    Mask,
    Causal,
}

/// Where a mask excludes.
fn is_masked(i: usize) -> bool {
    i % 7 == 3
}

fn of_softmax<T: FloatElement + Scalar>(shape: [usize; 2], log: bool, what: What, draw: Draw) -> Subject {
    let [rows, columns] = shape;
    let count = rows * columns;
    let name = format!("{}softmax {what:?} {shape:?}", if log { "log_" } else { "" });
    let run = move |stream: &Stream, of: &[Vec<f64>]| -> Outcome<Arrays> {
        let mut x = put::<T, 2>(stream, shape, Order::Rows, &of[0])?;
        let mask: Vec<f64> = (0..count).map(|i| if is_masked(i) { f64::NEG_INFINITY } else { 0.25 }).collect();
        let mask = put::<T, 2>(stream, shape, Order::Rows, &mask)?;
        let mut y = room::<T, 2>(stream, shape, Order::Odd)?;
        if what == What::InPlace {
            let launch = if log { log_softmax_in_place(x.view_mut()?) } else { softmax_in_place(x.view_mut()?) };
            launch.launch(stream)?;
            return Ok(vec![x.get(stream)?]);
        }
        let (from, to) = (x.view()?, y.view_mut()?);
        let launch = if log { log_softmax(from, to) } else { softmax(from, to) };
        match what {
            What::Plain | What::InPlace => launch,
            What::Mask => launch.mask(mask.view()?),
            What::Causal => launch.causal(rows),
        }
        .launch(stream)?;
        Ok(vec![y.get(stream)?])
    };
    let wanted = move |of: &[Vec<f64>]| {
        let seen = |i: usize, x: Number| match what {
            What::Plain | What::InPlace => x,
            What::Mask => {
                if is_masked(i) {
                    f64::NEG_INFINITY.into()
                } else {
                    x + 0.25
                }
            }
            What::Causal => {
                if i % columns > i / columns + columns - rows {
                    f64::NEG_INFINITY.into()
                } else {
                    x
                }
            }
        };
        let x: Vec<Number> = of[0].iter().enumerate().map(|(i, x)| seen(i, Number::from(*x))).collect();
        vec![by_rows(&x, columns, |_, row| {
            let y = reference::softmax_of(row, log);
            // Its logarithm stays −∞, whatever the others of the row are.
            y.iter().zip(row).map(|(y, x)| if log && x.value == f64::NEG_INFINITY { *x } else { *y }).collect()
        })]
    };
    Subject::new::<T>(name, [(count, draw)], run, wanted)
}

fn of_softmax_backward<T: FloatElement + Scalar>(shape: [usize; 2], log: bool) -> Subject {
    let (count, columns) = (shape[0] * shape[1], shape[1]);
    let excluded = if log { f64::NEG_INFINITY } else { 0.0 };
    let own = if log { -(columns as f64).ln() } else { 1.0 / columns as f64 };
    let y: Vec<f64> = (0..count).map(|i| T::of(if is_masked(i) { excluded } else { own }).value()).collect();
    let name = format!("{}softmax_backward {shape:?}", if log { "log_" } else { "" });
    let run = move |stream: &Stream, of: &[Vec<f64>]| -> Outcome<Arrays> {
        let y = put::<T, 2>(stream, shape, Order::Rows, &of[0])?;
        let dy = put::<T, 2>(stream, shape, Order::Odd, &of[1])?;
        let mut dx = room::<T, 2>(stream, shape, Order::Rows)?;
        let (y, dy, to) = (y.view()?, dy.view()?, dx.view_mut()?);
        if log { log_softmax_backward(y, dy, to) } else { softmax_backward(y, dy, to) }.launch(stream)?;
        Ok(vec![dx.get(stream)?])
    };
    let wanted = move |of: &[Vec<f64>]| {
        vec![by_rows(&of[0], columns, |i, y| {
            let (y, dy) = (exact(y), exact(&of[1][i * columns..][..columns]));
            let is = |j: usize| y[j].value != excluded;
            let total: Number = (0..columns).filter(|j| is(*j)).map(|j| if log { dy[j] } else { y[j] * dy[j] }).sum();
            let of = |j: usize| if log { dy[j] - y[j].exp() * total } else { y[j] * (dy[j] - total) };
            (0..columns).map(|j| if is(j) { of(j) } else { 0.0.into() }).collect()
        })]
    };
    let inputs = [(count, Draw::Fixed(y)), (count, Draw::Normal)];
    Subject::new::<T>(name, inputs, run, wanted)
}

fn of_entropy<T: FloatElement + Scalar>(shape: [usize; 2], smoothing: f32, z: f32, draw: Draw) -> Subject {
    let (count, [rows, columns]) = (shape[0] * shape[1], shape);
    let label = move |row: usize| row * 2 % columns;
    let name = format!("cross_entropy {shape:?} smoothing {smoothing} z {z}");
    let run = move |stream: &Stream, of: &[Vec<f64>]| -> Outcome<Arrays> {
        let mut x = put::<T, 2>(stream, shape, Order::Rows, &of[0])?;
        let labels = stream.upload(&(0..rows).map(|row| label(row) as i32).collect::<Vec<_>>())?;
        let mut losses = room::<f32, 1>(stream, [rows], Order::Rows)?;
        let entropy = cross_entropy(x.view_mut()?, labels.view([rows])?, losses.view_mut()?);
        entropy.label_smoothing(smoothing).z_loss(z).gradient_in_place().launch(stream)?;
        Ok(vec![losses.get(stream)?, x.get(stream)?])
    };
    let wanted = move |of: &[Vec<f64>]| {
        let row = |(i, row): (usize, &[f64])| loss::cross_entropy(row, label(i), smoothing.into(), z.into());
        let (losses, slopes): (Vec<Number>, Bounded) = of[0].chunks(columns).enumerate().map(row).unzip();
        vec![losses, slopes.concat()]
    };
    Subject::new::<T>(name, [(count, draw)], run, wanted)
}

/// Of three ranks, of which the first one has one class.
fn of_entropy_in_shards<T: FloatElement + Scalar>(shape: [usize; 2], draw: Draw) -> Subject {
    let (count, [rows, columns]) = (shape[0] * shape[1], shape);
    let label = move |row: usize| row * 2 % columns;
    let shards = [0..1, 1..columns / 2, columns / 2..columns];
    let name = format!("cross_entropy_of_parts {shape:?}");
    let of = shards.clone();
    let run = move |stream: &Stream, arrays: &[Vec<f64>]| -> Outcome<Arrays> {
        let mut x = put::<T, 2>(stream, shape, Order::Rows, &arrays[0])?;
        let labels = stream.upload(&(0..rows).map(|row| label(row) as i32).collect::<Vec<_>>())?;
        let mut parts = room::<f32, 3>(stream, [3, rows, 3], Order::Rows)?;
        let mut losses = room::<f32, 1>(stream, [rows], Order::Rows)?;
        for (rank, of) in of.iter().enumerate() {
            let (shard, part) = (x.view()?.narrow(1, of.clone())?, parts.view_mut()?.select(0, rank)?);
            cross_entropy_part(shard, labels.view([rows])?, part).first(of.start).launch(stream)?;
        }
        for of in &of {
            let shard = x.view_mut()?.narrow(1, of.clone())?;
            let entropy = cross_entropy_of_parts(parts.view()?, labels.view([rows])?, shard, losses.view_mut()?);
            entropy.first(of.start).gradient_in_place().launch(stream)?;
        }
        Ok(vec![losses.get(stream)?, x.get(stream)?])
    };
    let wanted = move |arrays: &[Vec<f64>]| {
        let row = |(i, row): (usize, &[f64])| {
            let own = |of: &Range<usize>| of.contains(&label(i)).then(|| label(i) - of.start);
            let parts: Vec<_> = shards.iter().map(|of| loss::part(&row[of.clone()], own(of))).collect();
            let each = shards.iter().map(|of| loss::of_parts(&parts, &row[of.clone()], own(of)));
            let (losses, slopes): (Vec<Number>, Bounded) = each.unzip();
            (losses[0], slopes.concat())
        };
        let (losses, slopes): (Vec<Number>, Bounded) = arrays[0].chunks(columns).enumerate().map(row).unzip();
        vec![losses, slopes.concat()]
    };
    Subject::new::<T>(name, [(count, draw)], run, wanted)
}

fn of_activation<T: FloatElement + Scalar>(kind: Activation, shape: [usize; 2], draw: Draw) -> Subject {
    let count = shape[0] * shape[1];
    let run = move |stream: &Stream, of: &[Vec<f64>]| -> Outcome<Arrays> {
        let x = put::<T, 2>(stream, shape, Order::Rows, &of[0])?;
        let dy = put::<T, 2>(stream, shape, Order::Rows, &of[1])?;
        let (mut y, mut dx) = (room::<T, 2>(stream, shape, Order::Rows)?, room::<T, 2>(stream, shape, Order::Rows)?);
        activation(x.view()?, kind, y.view_mut()?).launch(stream)?;
        activation_backward(x.view()?, dy.view()?, kind, dx.view_mut()?).launch(stream)?;
        Ok(vec![y.get(stream)?, dx.get(stream)?])
    };
    let wanted = move |of: &[Vec<f64>]| {
        let y = of[0].iter().map(|x| f(kind, *x)).collect();
        vec![y, of[0].iter().zip(&of[1]).map(|(x, dy)| derivative(kind, *x) * *dy).collect()]
    };
    let name = format!("activation {kind:?} {shape:?}");
    Subject::new::<T>(name, [(count, draw), (count, Draw::Normal)], run, wanted)
}

fn of_gate<T: FloatElement + Scalar>(kind: Activation, shape: [usize; 2], draw: Draw) -> Subject {
    let count = shape[0] * shape[1];
    let run = move |stream: &Stream, of: &[Vec<f64>]| -> Outcome<Arrays> {
        let [x, gate, dy] = [0, 1, 2].map(|i| put::<T, 2>(stream, shape, Order::Rows, &of[i]));
        let (x, gate, dy) = (x?, gate?, dy?);
        let [y, dx, dgate] = [(); 3].map(|()| room::<T, 2>(stream, shape, Order::Rows));
        let (mut y, mut dx, mut dgate) = (y?, dx?, dgate?);
        gated(x.view()?, gate.view()?, kind, y.view_mut()?).launch(stream)?;
        let (to_x, to_gate) = (dx.view_mut()?, dgate.view_mut()?);
        gated_backward(x.view()?, gate.view()?, dy.view()?, kind, to_x, to_gate).launch(stream)?;
        Ok(vec![y.get(stream)?, dx.get(stream)?, dgate.get(stream)?])
    };
    let wanted = move |of: &[Vec<f64>]| {
        let each = |g: &dyn Fn(f64, f64, f64) -> Number| (0..count).map(|i| g(of[0][i], of[1][i], of[2][i])).collect();
        vec![
            each(&|x, gate, _| f(kind, x) * gate),
            each(&|x, gate, dy| derivative(kind, x) * gate * dy),
            each(&|x, _, dy| f(kind, x) * dy),
        ]
    };
    let name = format!("gated {kind:?} {shape:?}");
    let inputs = [(count, draw), (count, Draw::Positive), (count, Draw::Positive)];
    Subject::new::<T>(name, inputs, run, wanted)
}

fn of_dropout<T: FloatElement + Scalar>(draw: Draw) -> Subject {
    let (shape, p) = ([3, 21], 0.5);
    let run = move |stream: &Stream, of: &[Vec<f64>]| -> Outcome<Arrays> {
        let x = put::<T, 2>(stream, shape, Order::Odd, &of[0])?;
        let mut y = room::<T, 2>(stream, shape, Order::Odd)?;
        dropout(x.view()?, p, 7, 3, y.view_mut()?).launch(stream)?;
        Ok(vec![y.get(stream)?])
    };
    let wanted = move |of: &[Vec<f64>]| {
        let stays = |i: usize| stays([i / 21, i % 21], 21, p, 7, 3);
        vec![
            of[0].iter().enumerate().map(|(i, x)| if stays(i) { Number::from(*x) * 2.0 } else { 0.0.into() }).collect(),
        ]
    };
    Subject::new::<T>("dropout", [(63, draw)], run, wanted)
}
