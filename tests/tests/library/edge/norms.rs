//! Norms and their gradients at the edge. Squares of numbers above 10¹⁸ overflow in `f32`.

use super::subject::{Arrays, On, Subject, put, room};
use crate::harness::hostile::Draw;
use crate::harness::{Case, Order, Outcome, Scalar};
use crate::reference::number::{Number, Total, totals};
use crate::reference::{norm, norm_backward};
use triton::prelude::*;
use triton_kernels::FloatElement;
use triton_kernels::norm::{
    batch_norm, batch_norm_backward, batch_norm_eval, group_norm, group_norm_backward, layer_norm, layer_norm_backward,
    rms_norm, rms_norm_backward,
};

const EPSILON: f32 = 1e-5;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    of::<f32>(&mut cases);
    of::<f16>(&mut cases);
    of::<bf16>(&mut cases);
    cases
}

fn of<T: FloatElement + Scalar>(cases: &mut Vec<Case>) {
    for mean in [false, true] {
        // In registers, by several rows and by one, and in a loop.
        for shape in [[5, 37], [3, 3000], [2, 8500]] {
            cases.push(of_rows::<T>(shape, mean, Draw::Normal).locality());
        }
        cases.push(of_rows::<T>([5, 37], mean, Draw::Edge(1e15)).finite());
    }
    for groups in [0, 1, 3] {
        cases.push(of_groups::<T>([2, 6, 5], groups).locality());
    }
    cases.push(of_eval::<T>(Draw::Normal).locality());
    cases.push(of_eval::<T>(Draw::Edge(T::range()[2] / 16.0)).finite());
}

/// Forward and backward of layer norm, or of RMS norm.
fn of_rows<T: FloatElement + Scalar>(shape: [usize; 2], mean: bool, draw: Draw) -> Subject {
    let [rows, columns] = shape;
    let count = rows * columns;
    let run = move |stream: &Stream, of: &[Vec<f64>]| -> Outcome<Arrays> {
        let (x, dy) =
            (put::<T, 2>(stream, shape, Order::Rows, &of[0])?, put::<T, 2>(stream, shape, Order::Rows, &of[3])?);
        let (w, b) = (
            put::<T, 1>(stream, [columns], Order::Rows, &of[1])?,
            put::<T, 1>(stream, [columns], Order::Rows, &of[2])?,
        );
        let (mut y, mut dx) = (room::<T, 2>(stream, shape, Order::Rows)?, room::<T, 2>(stream, shape, Order::Rows)?);
        let vector = |n| room::<f32, 1>(stream, [n], Order::Rows);
        let (mut means, mut scales, mut dw, mut db) =
            (vector(rows)?, vector(rows)?, vector(columns)?, vector(columns)?);
        if mean {
            let norm = layer_norm(x.view()?, w.view()?, b.view()?, y.view_mut()?).epsilon(EPSILON);
            norm.statistics(means.view_mut()?, scales.view_mut()?).launch(stream)?;
            let (means, scales) = (means.view()?, scales.view()?);
            layer_norm_backward(x.view()?, w.view()?, dy.view()?, means, scales, dx.view_mut()?)
                .dw(dw.view_mut()?)
                .db(db.view_mut()?)
                .launch(stream)?;
            return Ok(vec![y.get(stream)?, dx.get(stream)?, dw.get(stream)?, db.get(stream)?]);
        }
        rms_norm(x.view()?, w.view()?, y.view_mut()?).epsilon(EPSILON).statistics(scales.view_mut()?).launch(stream)?;
        let backward = rms_norm_backward(x.view()?, w.view()?, dy.view()?, scales.view()?, dx.view_mut()?);
        backward.dw(dw.view_mut()?).launch(stream)?;
        Ok(vec![y.get(stream)?, dx.get(stream)?, dw.get(stream)?])
    };
    let wanted = move |of: &[Vec<f64>]| {
        let (mut y, mut dx) = (Vec::new(), Vec::new());
        let mut sums = vec![vec![Total::default(); columns]; if mean { 2 } else { 1 }];
        for (x, dy) in of[0].chunks(columns).zip(of[3].chunks(columns)) {
            y.extend(norm::norm(x, &of[1], mean.then_some(&of[2][..]), EPSILON.into()));
            let [of_x, dw, db] = norm_backward::norm_backward(x, &of[1], dy, mean, EPSILON.into());
            dx.extend(of_x);
            for (sums, of) in sums.iter_mut().zip([dw, db]) {
                sums.iter_mut().zip(of).for_each(|(sum, of)| *sum += of);
            }
        }
        [vec![y, dx], sums.into_iter().map(totals).collect()].concat()
    };
    let name = format!("{} {shape:?} and its gradients", if mean { "layer_norm" } else { "rms_norm" });
    let inputs = [(count, draw), (columns, Draw::Normal), (columns, Draw::Normal), (count, Draw::Normal)];
    Subject::new::<T>(name, inputs, run, wanted)
}

/// Forward and backward of group norm, or of batch norm without groups.
fn of_groups<T: FloatElement + Scalar>(shape: [usize; 3], groups: usize) -> Subject {
    let [samples, channels, places] = shape;
    let count = samples * channels * places;
    let run = move |stream: &Stream, of: &[Vec<f64>]| -> Outcome<Arrays> {
        let (x, dy) =
            (put::<T, 3>(stream, shape, Order::Rows, &of[0])?, put::<T, 3>(stream, shape, Order::Rows, &of[3])?);
        let (w, b) = (
            put::<T, 1>(stream, [channels], Order::Rows, &of[1])?,
            put::<T, 1>(stream, [channels], Order::Rows, &of[2])?,
        );
        let (mut y, mut dx) = (room::<T, 3>(stream, shape, Order::Rows)?, room::<T, 3>(stream, shape, Order::Rows)?);
        let vector = || room::<f32, 1>(stream, [channels], Order::Rows);
        let (mut dw, mut db) = (vector()?, vector()?);
        let rows = if groups == 0 { [1, channels] } else { [samples, groups] };
        let statistics = || room::<f32, 2>(stream, rows, Order::Rows);
        let (mut means, mut scales): (On<f32, 2>, On<f32, 2>) = (statistics()?, statistics()?);
        let (to_mean, to_scale) = (means.view_mut()?, scales.view_mut()?);
        if groups == 0 {
            let norm = batch_norm(x.view()?, w.view()?, b.view()?, y.view_mut()?).epsilon(EPSILON);
            norm.statistics(to_mean.select(0, 0)?, to_scale.select(0, 0)?).launch(stream)?;
            let (means, scales) = (means.view()?.select(0, 0)?, scales.view()?.select(0, 0)?);
            batch_norm_backward(x.view()?, w.view()?, dy.view()?, means, scales, dx.view_mut()?)
                .dw(dw.view_mut()?)
                .db(db.view_mut()?)
                .launch(stream)?;
        } else {
            let norm = group_norm(x.view()?, groups, w.view()?, b.view()?, y.view_mut()?).epsilon(EPSILON);
            norm.statistics(to_mean, to_scale).launch(stream)?;
            let (means, scales) = (means.view()?, scales.view()?);
            group_norm_backward(x.view()?, groups, w.view()?, dy.view()?, means, scales, dx.view_mut()?)
                .dw(dw.view_mut()?)
                .db(db.view_mut()?)
                .launch(stream)?;
        }
        Ok(vec![y.get(stream)?, dx.get(stream)?, dw.get(stream)?, db.get(stream)?])
    };
    let wanted = move |of: &[Vec<f64>]| {
        let [mut y, mut dx] = [(); 2].map(|()| vec![Number::default(); count]);
        let [mut dw, mut db] = [(); 2].map(|()| vec![Total::default(); channels]);
        let part_of = |i: usize| {
            let (sample, channel) = (i / (channels * places), i / places % channels);
            if groups == 0 { channel } else { sample * groups + channel / (channels / groups) }
        };
        for part in 0..if groups == 0 { channels } else { samples * groups } {
            let all: Vec<usize> = (0..count).filter(|i| part_of(*i) == part).collect();
            let pick = |of: &[f64]| all.iter().map(|i| of[*i]).collect::<Vec<f64>>();
            let of_channel = |of: &[f64]| all.iter().map(|i| of[i / places % channels]).collect::<Vec<f64>>();
            let (row, weights) = (pick(&of[0]), of_channel(&of[1]));
            let normal = norm::norm(&row, &weights, Some(&of_channel(&of[2])), EPSILON.into());
            // A channel of batch norm has one weight, which is a factor of its gradients.
            let factors = if groups == 0 { vec![1.0; weights.len()] } else { weights.clone() };
            let [of_x, of_w, of_b] = norm_backward::norm_backward(&row, &factors, &pick(&of[3]), true, EPSILON.into());
            for (at, i) in all.iter().enumerate() {
                (y[*i], dx[*i]) = (normal[at], of_x[at] * if groups == 0 { weights[at] } else { 1.0 });
                dw[i / places % channels] += of_w[at];
                db[i / places % channels] += of_b[at];
            }
        }
        vec![y, dx, totals(dw), totals(db)]
    };
    let name =
        format!("{} {shape:?} {groups} and its gradients", if groups == 0 { "batch_norm" } else { "group_norm" });
    let inputs = [(count, Draw::Normal), (channels, Draw::Normal), (channels, Draw::Normal), (count, Draw::Normal)];
    Subject::new::<T>(name, inputs, run, wanted)
}

fn of_eval<T: FloatElement + Scalar>(draw: Draw) -> Subject {
    let (shape, channels) = ([2, 3, 7], 3);
    let run = move |stream: &Stream, of: &[Vec<f64>]| -> Outcome<Arrays> {
        let x = put::<T, 3>(stream, shape, Order::Rows, &of[0])?;
        let [w, b] = [1, 2].map(|i| put::<T, 1>(stream, [channels], Order::Rows, &of[i]));
        let [mean, variance] = [3, 4].map(|i| put::<f32, 1>(stream, [channels], Order::Rows, &of[i]));
        let mut y = room::<T, 3>(stream, shape, Order::Rows)?;
        let (w, b, mean, variance) = (w?, b?, mean?, variance?);
        batch_norm_eval(x.view()?, w.view()?, b.view()?, mean.view()?, variance.view()?, y.view_mut()?)
            .epsilon(EPSILON)
            .launch(stream)?;
        Ok(vec![y.get(stream)?])
    };
    let wanted = move |of: &[Vec<f64>]| {
        let each = |(i, x): (usize, &f64)| {
            let c = i / 7 % 3;
            (Number::from(*x) - of[3][c]) / (Number::from(of[4][c]) + f64::from(EPSILON)).sqrt() * of[1][c] + of[2][c]
        };
        vec![of[0].iter().enumerate().map(each).collect()]
    };
    let vector = (channels, Draw::Normal);
    // A variance of infinity makes 0 of finite numbers, and NaN of infinite ones, as division does.
    let inputs = [(42, draw), (3, Draw::Positive), vector.clone(), vector, (channels, Draw::Positive)];
    Subject::new::<T>("batch_norm_eval", inputs, run, wanted)
}
