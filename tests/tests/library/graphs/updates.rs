//! Steps of optimisers, and bounds of gradients.

use super::form::{Form, Sizes, first, form};
use crate::harness::Scalar;
use triton::prelude::*;
use triton_kernels::FloatElement;
use triton_kernels::optim::{AdamWOptions, SgdOptions, adamw, clip_by_norm, sgd};

pub(super) fn forms() -> Vec<Form> {
    let mut forms = Vec::new();
    of::<f32>(&mut forms);
    of::<bf16>(&mut forms);
    forms
}

fn of<T: FloatElement + Scalar>(forms: &mut Vec<Form>) {
    let (shape, count) = ([3, 7], 21);
    let sizes = |z: usize| Sizes { x: vec![count], y: vec![count], z: vec![count; z], ..Sizes::default() };
    forms.push(form::<T>("sgd", sizes(0), move |d, s| {
        let options = SgdOptions { rate: 0.1, ..SgdOptions::default() };
        sgd(d.y[0].view_mut(shape)?, d.x[0].view(shape)?, options).launch(s)
    }));
    forms.push(form::<T>("sgd with a velocity and a master", sizes(2), move |d, s| {
        let [velocity, master] = first(&mut d.z);
        let options = SgdOptions { rate: 0.1, momentum: 0.5, ..SgdOptions::default() };
        let step = sgd(d.y[0].view_mut(shape)?, d.x[0].view(shape)?, options).velocity(velocity.view_mut(shape)?);
        step.master(master.view_mut(shape)?).launch(s)
    }));
    let options = AdamWOptions { rate: 0.1, ..AdamWOptions::default() };
    forms.push(form::<T>("adamw", sizes(2), move |d, s| {
        let [mean, square] = first(&mut d.z);
        let (mean, square) = (mean.view_mut(shape)?, square.view_mut(shape)?);
        adamw(d.y[0].view_mut(shape)?, d.x[0].view(shape)?, mean, square, options).launch(s)
    }));
    forms.push(form::<T>("adamw with a master", sizes(3), move |d, s| {
        let [mean, square, master] = first(&mut d.z);
        let (mean, square) = (mean.view_mut(shape)?, square.view_mut(shape)?);
        let step = adamw(d.y[0].view_mut(shape)?, d.x[0].view(shape)?, mean, square, options);
        step.master(master.view_mut(shape)?).launch(s)
    }));
    for views in [1, 3] {
        let sizes = Sizes { y: vec![5000; views], z: vec![1], ..Sizes::default() };
        forms.push(form::<T>(format!("clip_by_norm of {views}"), sizes, move |d, s| {
            let norm = d.z[0].view_mut([1])?;
            match views {
                1 => clip_by_norm(0.5, norm).gradients([d.y[0].view_mut([50, 100])?]).launch(s),
                _ => {
                    let [a, b, c] = first(&mut d.y);
                    // One row, columns after one another, and rows with gaps.
                    let gaps = b.view_mut([50, 100])?.narrow(1, ..99)?;
                    let all = [a.view_mut([1, 5000])?, gaps, c.view_mut([50, 100])?.transpose()];
                    clip_by_norm(0.5, norm).gradients(all).launch(s)
                }
            }
        }));
    }
}
