//! Norms of rows, groups and channels, and their gradients.

use super::form::{Form, Sizes, first, form};
use crate::harness::Scalar;
use triton::prelude::*;
use triton_kernels::FloatElement;
use triton_kernels::norm::{
    batch_norm, batch_norm_backward, batch_norm_eval, group_norm, group_norm_backward, layer_norm, layer_norm_backward,
    rms_norm, rms_norm_backward,
};

pub(super) fn forms() -> Vec<Form> {
    let mut forms = Vec::new();
    // In registers, and in a loop.
    for shape in [[5, 37], [1, 8200]] {
        of_rows::<f32>(&mut forms, shape);
    }
    of_rows::<bf16>(&mut forms, [5, 40]);
    of_channels::<f32>(&mut forms, [2, 6, 5]);
    of_channels::<bf16>(&mut forms, [7, 6, 3]);
    forms
}

fn of_rows<T: FloatElement + Scalar>(forms: &mut Vec<Form>, shape: [usize; 2]) {
    let ([rows, columns], count) = (shape, shape[0] * shape[1]);
    let forward = Sizes { x: vec![count, columns, columns], y: vec![count], ..Sizes::default() };
    let backward = Sizes { x: vec![count, columns, count], f: vec![rows, rows], y: vec![count], ..Sizes::default() };
    forms.push(form::<T>(format!("layer_norm {shape:?}"), forward.clone(), move |d, s| {
        let (weight, bias) = (d.x[1].view([columns])?, d.x[2].view([columns])?);
        layer_norm(d.x[0].view(shape)?, weight, bias, d.y[0].view_mut(shape)?).launch(s)
    }));
    let sizes =
        Sizes { x: vec![count, columns, columns, count], y: vec![count; 2], z: vec![rows; 2], ..Sizes::default() };
    forms.push(form::<T>(format!("layer_norm {shape:?} of a sum, with statistics"), sizes, move |d, s| {
        let ([y, sum], [means, scales]) = (first(&mut d.y), first(&mut d.z));
        let (weight, bias) = (d.x[1].view([columns])?, d.x[2].view([columns])?);
        layer_norm(d.x[0].view(shape)?, weight, bias, y.view_mut(shape)?)
            .residual(d.x[3].view(shape)?, sum.view_mut(shape)?)
            .statistics(means.view_mut([rows])?, scales.view_mut([rows])?)
            .launch(s)
    }));
    forms.push(form::<T>(format!("rms_norm {shape:?}"), forward, move |d, s| {
        rms_norm(d.x[0].view(shape)?, d.x[1].view([columns])?, d.y[0].view_mut(shape)?).epsilon(1e-3).launch(s)
    }));
    for parameters in [false, true] {
        let sizes = Sizes { z: vec![columns; 2], ..backward.clone() };
        forms.push(form::<T>(format!("layer_norm_backward {shape:?}, parameters {parameters}"), sizes, move |d, s| {
            let [dw, db] = first(&mut d.z);
            let (x, weight, dy) = (d.x[0].view(shape)?, d.x[1].view([columns])?, d.x[2].view(shape)?);
            let (means, scales) = (d.f[0].view([rows])?, d.f[1].view([rows])?);
            let backward = layer_norm_backward(x, weight, dy, means, scales, d.y[0].view_mut(shape)?);
            match parameters {
                true => backward.dw(dw.view_mut([columns])?).db(db.view_mut([columns])?).launch(s),
                false => backward.launch(s),
            }
        }));
    }
    let sizes = Sizes { x: vec![count, columns, count, count], y: vec![count, columns], ..backward };
    forms.push(form::<T>(format!("rms_norm_backward {shape:?} of a sum"), sizes, move |d, s| {
        let [dx, dw] = first(&mut d.y);
        let (x, weight, dy) = (d.x[0].view(shape)?, d.x[1].view([columns])?, d.x[2].view(shape)?);
        rms_norm_backward(x, weight, dy, d.f[0].view([rows])?, dx.view_mut(shape)?)
            .dsum(d.x[3].view(shape)?)
            .dw(dw.view_mut([columns])?)
            .launch(s)
    }));
}

fn of_channels<T: FloatElement + Scalar>(forms: &mut Vec<Form>, shape: [usize; 3]) {
    let ([samples, channels, _], count) = (shape, shape.iter().product::<usize>());
    let forward = Sizes { x: vec![count, channels, channels], y: vec![count], ..Sizes::default() };
    let sizes = Sizes { z: vec![channels; 4], ..forward.clone() };
    forms.push(form::<T>(format!("batch_norm {shape:?} with statistics"), sizes, move |d, s| {
        let [means, scales, mean, variance] = first(&mut d.z);
        let (weight, bias) = (d.x[1].view([channels])?, d.x[2].view([channels])?);
        batch_norm(d.x[0].view(shape)?, weight, bias, d.y[0].view_mut(shape)?)
            .statistics(means.view_mut([channels])?, scales.view_mut([channels])?)
            .running(mean.view_mut([channels])?, variance.view_mut([channels])?, 0.25)
            .launch(s)
    }));
    let sizes = Sizes { f: vec![channels; 2], ..forward.clone() };
    forms.push(form::<T>(format!("batch_norm_eval {shape:?}"), sizes.clone(), move |d, s| {
        let (weight, bias) = (d.x[1].view([channels])?, d.x[2].view([channels])?);
        let (mean, variance) = (d.f[0].view([channels])?, d.f[1].view([channels])?);
        batch_norm_eval(d.x[0].view(shape)?, weight, bias, mean, variance, d.y[0].view_mut(shape)?).launch(s)
    }));
    for parameters in [false, true] {
        let sizes = Sizes { x: vec![count, channels, count], z: vec![channels; 2], ..sizes.clone() };
        forms.push(form::<T>(format!("batch_norm_backward {shape:?}, parameters {parameters}"), sizes, move |d, s| {
            let [dw, db] = first(&mut d.z);
            let (x, weight, dy) = (d.x[0].view(shape)?, d.x[1].view([channels])?, d.x[2].view(shape)?);
            let (means, scales) = (d.f[0].view([channels])?, d.f[1].view([channels])?);
            let backward = batch_norm_backward(x, weight, dy, means, scales, d.y[0].view_mut(shape)?);
            match parameters {
                true => backward.dw(dw.view_mut([channels])?).db(db.view_mut([channels])?).launch(s),
                false => backward.launch(s),
            }
        }));
    }
    for groups in [1, 3] {
        let rows = [samples, groups];
        let sizes = Sizes { z: vec![samples * groups; 2], ..forward.clone() };
        forms.push(form::<T>(format!("group_norm {shape:?} of {groups}"), sizes, move |d, s| {
            let [means, scales] = first(&mut d.z);
            let (weight, bias) = (d.x[1].view([channels])?, d.x[2].view([channels])?);
            group_norm(d.x[0].view(shape)?, groups, weight, bias, d.y[0].view_mut(shape)?)
                .statistics(means.view_mut(rows)?, scales.view_mut(rows)?)
                .launch(s)
        }));
        let sizes = Sizes {
            x: vec![count, channels, count],
            f: vec![samples * groups; 2],
            y: vec![count, channels, channels],
            ..Sizes::default()
        };
        forms.push(form::<T>(format!("group_norm_backward {shape:?} of {groups}"), sizes, move |d, s| {
            let [dx, dw, db] = first(&mut d.y);
            let (x, weight, dy) = (d.x[0].view(shape)?, d.x[1].view([channels])?, d.x[2].view(shape)?);
            let (means, scales) = (d.f[0].view(rows)?, d.f[1].view(rows)?);
            group_norm_backward(x, groups, weight, dy, means, scales, dx.view_mut(shape)?)
                .dw(dw.view_mut([channels])?)
                .db(db.view_mut([channels])?)
                .launch(s)
        }));
    }
}
