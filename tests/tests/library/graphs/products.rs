//! Products of matrices, and the gradients of a linear layer.

use super::form::{Desk, Form, Sizes, first, form};
use crate::harness::{Scalar, type_name};
use triton::prelude::*;
use triton_kernels::linear::Scale;
use triton_kernels::linear::{Gemm, GemmElement, GemvElement, gemm, gemm_batched, gemm_grouped, gemv, linear_backward};
use triton_kernels::{Activation, FloatElement};

pub(super) fn forms() -> Vec<Form> {
    let mut forms = Vec::new();
    of::<f32>(&mut forms, [17, 66, 40]);
    of::<bf16>(&mut forms, [16, 64, 128]);
    forms
}

/// Options of a product.
type With<T> = fn(Gemm<'_, T, T>) -> Gemm<'_, T, T>;

fn of<T>(forms: &mut Vec<Form>, shape: [usize; 3])
where
    T: FloatElement + GemmElement<T> + GemmElement<f32> + GemvElement<T> + Scalar,
{
    let [m, n, k] = shape;
    let sizes =
        Sizes { x: vec![m * k, k * n, n, m * n], f: vec![m, n], y: vec![m * n], z: vec![n], ..Sizes::default() };
    let options: [(&str, With<T>); 6] = [
        ("", |product| product),
        (" · 2 + c", |product| product.alpha(2.0).beta(1.0)),
        (" in 3 splits", |product| product.splits(3)),
        (" in 2 splits, deterministic", |product| product.splits(2).deterministic(true)),
        (" in 2 splits with GELU", |product| product.splits(2).deterministic(true).activation(Activation::Gelu)),
        (" with Mish", |product| product.activation(Activation::Mish)),
    ];
    for (name, with) in options {
        forms.push(form::<T>(format!("gemm {shape:?}{name}"), sizes.clone(), move |d, s| {
            with(gemm(d.x[0].view([m, k])?, d.x[1].view([k, n])?, d.y[0].view_mut([m, n])?)).launch(s)
        }));
        forms.push(form::<T>(format!("gemm {shape:?}, transposed{name}"), sizes.clone(), move |d, s| {
            let (a, b) = (d.x[0].view([k, m])?.transpose(), d.x[1].view([n, k])?.transpose());
            with(gemm(a, b, d.y[0].view_mut([n, m])?.transpose())).launch(s)
        }));
        // With all of an epilogue but sums.
        forms.push(form::<T>(format!("gemm {shape:?}, bias, residual{name}"), sizes.clone(), move |d, s| {
            let product = gemm(d.x[0].view([m, k])?, d.x[1].view([k, n])?, d.y[0].view_mut([m, n])?);
            with(product.bias(d.x[2].view([n])?).residual(d.x[3].view([m, n])?)).launch(s)
        }));
        forms.push(form::<T>(
            format!("gemm {shape:?} and the sums of its columns{name}"),
            sizes.clone(),
            move |d, s| {
                let product = gemm(d.x[0].view([m, k])?, d.x[1].view([k, n])?, d.y[0].view_mut([m, n])?);
                with(product.column_sums(d.z[0].view_mut([n])?)).launch(s)
            },
        ));
        let batch = Sizes { x: vec![2 * m * k, k * n], y: vec![2 * m * n], ..Sizes::default() };
        forms.push(form::<T>(format!("gemm_batched 2 {shape:?}{name}"), batch, move |d, s| {
            let (a, b) = (d.x[0].view([2, m, k])?, d.x[1].view([1, k, n])?);
            with(gemm_batched(a, b, d.y[0].view_mut([2, m, n])?)).launch(s)
        }));
    }
    scaled::<T>(forms, shape);
    let sizes = Sizes { x: vec![m * k, k], y: vec![m], ..Sizes::default() };
    forms.push(form::<T>(format!("gemv [{m}, {k}]"), sizes.clone(), move |d, s| {
        gemv(d.x[0].view([m, k])?, d.x[1].view([k])?, d.y[0].view_mut([m])?).launch(s)
    }));
    forms.push(form::<T>(format!("gemv [{m}, {k}], transposed, · 2 + y"), sizes, move |d, s| {
        let a = d.x[0].view([k, m])?.transpose();
        gemv(a, d.x[1].view([k])?, d.y[0].view_mut([m])?).alpha(2.0).beta(1.0).launch(s)
    }));
    let ends = vec![3, 3, m as i32 - 1];
    let sizes = Sizes { x: vec![m * k, 3 * k * n], i: vec![ends], y: vec![m * n], ..Sizes::default() };
    forms.push(form::<T>(format!("gemm_grouped {shape:?} of 3"), sizes, move |d, s| {
        let (a, b) = (d.x[0].view([m, k])?, d.x[1].view([3, k, n])?);
        gemm_grouped(a, b, d.i[0].view([3])?, d.y[0].view_mut([m, n])?).activation(Activation::Relu).launch(s)
    }));
    linear::<T>(forms, shape);
}

fn scaled<T>(forms: &mut Vec<Form>, [m, n, k]: [usize; 3])
where
    T: FloatElement + GemmElement<T> + Scalar,
{
    let sizes = Sizes { x: vec![m * k, k * n], f: vec![m, 1], y: vec![m * n], ..Sizes::default() };
    let name = format!("gemm [{m}, {n}, {k}] with scales of {}", type_name::<T>());
    if type_name::<T>() != "f32" {
        return;
    }
    forms.push(form::<T>(name, sizes, move |d: &mut Desk<T>, s| {
        let product = gemm(d.x[0].view([m, k])?, d.x[1].view([k, n])?, d.y[0].view_mut([m, n])?);
        product.scale_a(Scale::Each(d.f[0].view([m])?)).scale_b(Scale::Tensor(d.f[1].view([1])?)).launch(s)
    }));
}

fn linear<T>(forms: &mut Vec<Form>, [m, n, k]: [usize; 3])
where
    T: FloatElement + GemmElement<T> + GemmElement<f32> + Scalar,
{
    let sizes = Sizes { x: vec![m * k, k * n, m * n], y: vec![m * k], z: vec![k * n, n], ..Sizes::default() };
    for accumulate in [false, true] {
        let name = format!("linear_backward [{m}, {n}, {k}], accumulate {accumulate}");
        forms.push(form::<T>(name, sizes.clone(), move |d, s| {
            let [dw, db] = first(&mut d.z);
            linear_backward(d.x[0].view([m, k])?, d.x[1].view([k, n])?, d.x[2].view([m, n])?)
                .dx(d.y[0].view_mut([m, k])?)
                .dw(dw.view_mut([k, n])?)
                .db(db.view_mut([n])?)
                .accumulate(accumulate)
                .launch(s)
        }));
    }
}
