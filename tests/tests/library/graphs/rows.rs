//! Softmax, losses, activations, dropout, look-ups and sums over rows.

use super::form::{Desk, Form, Sizes, first, form};
use crate::harness::Scalar;
use triton::prelude::*;
use triton_kernels::activation::{activation, activation_backward, gated, gated_backward};
use triton_kernels::dropout::dropout;
use triton_kernels::embedding::{embedding, embedding_backward};
use triton_kernels::linear::column_sums;
use triton_kernels::loss::{cross_entropy, kl_div, mse};
use triton_kernels::softmax::{
    log_softmax, log_softmax_backward, log_softmax_in_place, softmax, softmax_backward, softmax_in_place,
};
use triton_kernels::{Activation, FloatElement};

pub(super) fn forms() -> Vec<Form> {
    let mut forms = Vec::new();
    of::<f32>(&mut forms);
    of::<bf16>(&mut forms);
    forms
}

fn of<T: FloatElement + Scalar>(forms: &mut Vec<Form>) {
    softmaxes::<T>(forms);
    elementwise::<T>(forms);
    sums::<T>(forms);
    for columns in [9, 300] {
        let ids = vec![2, -1, 0, 2, 4, i32::MAX];
        let sizes = Sizes { x: vec![4 * columns], i: vec![ids.clone()], y: vec![6 * columns], ..Sizes::default() };
        forms.push(form::<T>(format!("embedding of {columns}"), sizes, move |d, s| {
            embedding(d.x[0].view([4, columns])?, d.i[0].view([6])?, d.y[0].view_mut([6, columns])?).launch(s)
        }));
        for ordered in [false, true] {
            let sizes = Sizes { x: vec![6 * columns], i: vec![ids.clone()], z: vec![4 * columns], ..Sizes::default() };
            let name = format!("embedding_backward of {columns}, deterministic {ordered}");
            forms.push(form::<T>(name, sizes, move |d, s| {
                let table = d.z[0].view_mut([4, columns])?;
                embedding_backward(d.x[0].view([6, columns])?, d.i[0].view([6])?, table)
                    .deterministic(ordered)
                    .launch(s)
            }));
        }
    }
}

fn softmaxes<T: FloatElement + Scalar>(forms: &mut Vec<Form>) {
    for columns in [5, 2100] {
        let (shape, count) = ([3, columns], 3 * columns);
        let one = || Sizes { x: vec![count], y: vec![count], ..Sizes::default() };
        let two = || Sizes { x: vec![count; 2], y: vec![count], ..Sizes::default() };
        let mut add =
            |name: &str, sizes: Sizes, launch: fn(&mut Desk<T>, &Stream, [usize; 2]) -> triton_kernels::Result<()>| {
                forms.push(form::<T>(format!("{name} {shape:?}"), sizes, move |d, s| launch(d, s, shape)));
            };
        add("softmax", one(), |d, s, shape| softmax(d.x[0].view(shape)?, d.y[0].view_mut(shape)?).launch(s));
        add("softmax with a mask", two(), |d, s, shape| {
            softmax(d.x[0].view(shape)?, d.y[0].view_mut(shape)?).mask(d.x[1].view(shape)?).scale(0.5).launch(s)
        });
        add("softmax, causal", one(), |d, s, shape| {
            softmax(d.x[0].view(shape)?, d.y[0].view_mut(shape)?).causal(shape[0]).launch(s)
        });
        add("log_softmax", one(), |d, s, shape| log_softmax(d.x[0].view(shape)?, d.y[0].view_mut(shape)?).launch(s));
        add("softmax_in_place", one(), |d, s, shape| softmax_in_place(d.y[0].view_mut(shape)?).launch(s));
        add("log_softmax_in_place", one(), |d, s, shape| log_softmax_in_place(d.y[0].view_mut(shape)?).launch(s));
        add("softmax_backward", two(), |d, s, shape| {
            softmax_backward(d.x[0].view(shape)?, d.x[1].view(shape)?, d.y[0].view_mut(shape)?).scale(0.5).launch(s)
        });
        add("log_softmax_backward", two(), |d, s, shape| {
            log_softmax_backward(d.x[0].view(shape)?, d.x[1].view(shape)?, d.y[0].view_mut(shape)?).launch(s)
        });
        for gradient in [false, true] {
            let sizes = Sizes { y: vec![count], i: vec![vec![1, -100, 4]], z: vec![3], ..Sizes::default() };
            forms.push(form::<T>(format!("cross_entropy {shape:?}, gradient {gradient}"), sizes, move |d, s| {
                let loss =
                    cross_entropy(d.y[0].view_mut(shape)?, d.i[0].view([3])?, d.z[0].view_mut([3])?).ignore(-100);
                let with = |loss: triton_kernels::loss::CrossEntropy<'_, T>| {
                    loss.gradient_in_place().label_smoothing(0.1).z_loss(0.5).launch(s)
                };
                if gradient { with(loss) } else { loss.launch(s) }
            }));
        }
    }
}

/// Of one row in memory, and of rows with gaps.
fn elementwise<T: FloatElement + Scalar>(forms: &mut Vec<Form>) {
    let shape = [5, 40];
    for width in [40, 37] {
        macro_rules! read {
            ($buffer:expr) => {
                $buffer.view(shape)?.narrow(1, ..width)?
            };
        }
        macro_rules! written {
            ($buffer:expr) => {
                $buffer.view_mut(shape)?.narrow(1, ..width)?
            };
        }
        let sizes = |x: usize, y: usize| Sizes { x: vec![200; x], y: vec![200; y], ..Sizes::default() };
        let kind = Activation::Silu;
        forms.push(form::<T>(format!("activation of {width}"), sizes(1, 1), move |d, s| {
            activation(read!(d.x[0]), kind, written!(d.y[0])).launch(s)
        }));
        forms.push(form::<T>(format!("activation_backward of {width}"), sizes(2, 1), move |d, s| {
            activation_backward(read!(d.x[0]), read!(d.x[1]), kind, written!(d.y[0])).launch(s)
        }));
        forms.push(form::<T>(format!("gated of {width}"), sizes(2, 1), move |d, s| {
            gated(read!(d.x[0]), read!(d.x[1]), kind, written!(d.y[0])).launch(s)
        }));
        forms.push(form::<T>(format!("gated_backward of {width}"), sizes(3, 2), move |d, s| {
            let [dx, dgate] = first(&mut d.y);
            gated_backward(read!(d.x[0]), read!(d.x[1]), read!(d.x[2]), kind, written!(dx), written!(dgate)).launch(s)
        }));
        forms.push(form::<T>(format!("dropout of {width}"), sizes(1, 1), move |d, s| {
            dropout(read!(d.x[0]), 0.5, 7, 3, written!(d.y[0])).launch(s)
        }));
    }
}

fn sums<T: FloatElement + Scalar>(forms: &mut Vec<Form>) {
    for shape in [[3, 37], [300, 5], [2, 200]] {
        let count = shape[0] * shape[1];
        let sizes = Sizes { x: vec![count], y: vec![shape[1]], z: vec![shape[1]], ..Sizes::default() };
        forms.push(form::<T>(format!("column_sums {shape:?}"), sizes, move |d, s| {
            column_sums(d.x[0].view(shape)?, d.y[0].view_mut([shape[1]])?).launch(s)?;
            column_sums(d.x[0].view(shape)?, d.z[0].view_mut([shape[1]])?).launch(s)
        }));
        let sizes = Sizes { x: vec![count; 2], y: vec![count], z: vec![1], ..Sizes::default() };
        forms.push(form::<T>(format!("mse {shape:?}"), sizes.clone(), move |d, s| {
            mse(d.x[0].view(shape)?, d.x[1].view(shape)?, d.z[0].view_mut([1])?).launch(s)
        }));
        forms.push(form::<T>(format!("kl_div {shape:?} and its gradient"), sizes, move |d, s| {
            let loss = kl_div(d.x[0].view(shape)?, d.x[1].view(shape)?, d.z[0].view_mut([1])?);
            loss.dx(d.y[0].view_mut(shape)?).launch(s)
        }));
    }
}
