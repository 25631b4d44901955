//! Products of a matrix and a vector, of groups of rows, and the gradients of a linear layer.

use crate::harness::{Case, Operand, Order, Scalar, compare, gradient, normals, refused, same, type_name};
use crate::reference::column_sums::column_sums;
use crate::reference::gemm::Product;
use crate::reference::number::{Number, values};
use triton::{bf16, f16};
use triton_kernels::Activation;
use triton_kernels::FloatElement;
use triton_kernels::linear::{GemmElement, linear_backward};
use triton_kernels::linear::{GemvElement, gemm_grouped, gemv};

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    vectors::<f32, f32>(&mut cases);
    vectors::<bf16, bf16>(&mut cases);
    vectors::<f16, f16>(&mut cases);
    vectors::<bf16, f32>(&mut cases);
    vectors::<f16, f32>(&mut cases);
    groups::<f32>(&mut cases);
    groups::<bf16>(&mut cases);
    groups::<f16>(&mut cases);
    linear::<f32, f32>(&mut cases);
    linear::<bf16, bf16>(&mut cases);
    linear::<bf16, f32>(&mut cases);
    linear::<f16, f32>(&mut cases);
    differences(&mut cases);
    errors(&mut cases);
    cases
}

fn vectors<T: GemvElement<C> + Scalar, C: Scalar>(cases: &mut Vec<Case>) {
    for (i, [m, k]) in
        [[0, 3], [3, 0], [1, 1], [7, 513], [8, 512], [65, 64], [9, 1100], [130, 33]].into_iter().enumerate()
    {
        for order in Order::ALL {
            let (alpha, beta) = [(1.0, 0.0), (-0.5, 0.0), (1.0, 2.0)][i % 3];
            let title = format!("gemv {}→{} {m}x{k} {order:?} {alpha} {beta}", type_name::<T>(), type_name::<C>());
            cases.push(Case::new(title, move |stream, random| {
                let a: Operand<T, 2> = Operand::whole([m, k], order, random, 3);
                let x: Operand<T, 1> = Operand::whole([k], Order::any(random), random, 3);
                let y: Operand<C, 1> = match beta == 0.0 {
                    true => Operand::output([m], Order::Apart),
                    false => Operand::whole([m], Order::Rows, random, 3),
                };
                let of = Product {
                    shape: [1, m, 1, k],
                    a: a.values(),
                    b: x.values(),
                    c: y.values(),
                    alpha,
                    beta,
                    ..Product::default()
                };
                let (on_a, on_x, mut on_y) = (a.upload(stream)?, x.upload(stream)?, y.upload(stream)?);
                gemv(a.view(&on_a)?, x.view(&on_x)?, y.view_mut(&mut on_y)?).alpha(alpha).beta(beta).launch(stream)?;
                let expected: Vec<f64> = of.result().into_iter().map(|v| C::of(v.value).value()).collect();
                same("y", &y.download(stream, &on_y)?, &expected)
            }));
        }
    }
}

fn groups<T: FloatElement + Scalar>(cases: &mut Vec<Case>) {
    let shapes: [(usize, usize, usize, &[i32]); 7] = [
        (10, 3, 4, &[4, 10]),
        (70, 65, 33, &[0, 3, 3, 67, 70]),
        (200, 40, 64, &[150, 200]),
        (64, 64, 32, &[64]),
        // Ends out of order or of bounds, and rows behind the last.
        (50, 20, 16, &[30, 20, 90]),
        (50, 20, 16, &[-5, 20, 40]),
        (0, 20, 16, &[0, 0]),
    ];
    for (m, n, k, ends) in shapes {
        for order in [Order::Rows, Order::Columns, Order::Odd] {
            for activation in [Activation::Identity, Activation::Silu] {
                let title = format!("gemm_grouped {} {m}x{n}x{k} {ends:?} {order:?} {activation:?}", type_name::<T>());
                cases.push(Case::new(title, move |stream, random| {
                    let a: Operand<T, 2> = Operand::whole([m, k], Order::any(random), random, 3);
                    let b: Operand<T, 3> = Operand::whole([ends.len(), k, n], order, random, 3);
                    let c: Operand<T, 2> = Operand::output([m, n], Order::any(random));
                    let (mut begin, mut expected) = (0, Vec::new());
                    for (g, end) in ends.iter().enumerate() {
                        let end = usize::try_from(*end).unwrap_or(0).clamp(begin, m);
                        let of = Product {
                            shape: [1, end - begin, n, k],
                            a: a.values()[begin * k..end * k].to_vec(),
                            b: b.values()[g * k * n..][..k * n].to_vec(),
                            alpha: 0.5,
                            activation,
                            rounding: T::rounding(),
                            ..Product::default()
                        };
                        expected.extend(of.result());
                        begin = end;
                    }
                    // What is in no group stays.
                    expected.resize(m * n, f64::NAN.into());
                    let (on_a, on_b, mut on_c) = (a.upload(stream)?, b.upload(stream)?, c.upload(stream)?);
                    let on_ends = stream.upload(ends)?;
                    gemm_grouped(a.view(&on_a)?, b.view(&on_b)?, on_ends.view([ends.len()])?, c.view_mut(&mut on_c)?)
                        .alpha(0.5)
                        .activation(activation)
                        .launch(stream)?;
                    let found = c.download(stream, &on_c)?;
                    compare::<T>("c", &found, &expected)
                }));
            }
        }
    }
}

/// Operands of a linear layer's gradients.
struct Layer<'a> {
    shape: [usize; 3],
    x: &'a [f64],
    w: &'a [f64],
}

fn product(shape: [usize; 4], a: &[f64], b: &[f64]) -> Vec<Number> {
    Product { shape, a: a.to_vec(), b: b.to_vec(), alpha: 1.0, ..Product::default() }.result()
}

impl Layer<'_> {
    /// x · w.
    fn result(&self) -> Vec<Number> {
        let [m, n, k] = self.shape;
        product([1, m, n, k], self.x, self.w)
    }

    /// dx, dw, db.
    fn gradients(&self, dy: &[f64]) -> [Vec<Number>; 3] {
        let [m, n, k] = self.shape;
        let transposed = |values: &[f64], columns: usize| -> Vec<f64> {
            (0..columns).flat_map(|j| values.iter().skip(j).step_by(columns).copied()).collect()
        };
        let dx = product([1, m, k, n], dy, &transposed(self.w, n));
        let dw = product([1, k, n, m], &transposed(self.x, k), dy);
        [dx, dw, column_sums(dy, n)]
    }
}

fn linear<T, W>(cases: &mut Vec<Case>)
where
    T: GemmElement<T> + GemmElement<W> + FloatElement + Scalar,
    W: Scalar + triton_kernels::SumOf<T>,
{
    for [m, n, k] in [[1, 1, 1], [5, 7, 3], [64, 64, 64], [130, 33, 17], [700, 20, 30], [3, 4, 1]] {
        for order in Order::ALL {
            let title = format!("linear_backward {}→{} {m}x{n}x{k} {order:?}", type_name::<T>(), type_name::<W>());
            cases.push(Case::new(title, move |stream, random| {
                let x: Operand<T, 2> = Operand::whole([m, k], order, random, 3);
                let w: Operand<T, 2> = Operand::whole([k, n], Order::any(random), random, 3);
                let dy: Operand<T, 2> = Operand::whole([m, n], Order::any(random), random, 3);
                let dx: Operand<T, 2> = Operand::output([m, k], Order::any(random));
                let dw: Operand<W, 2> = Operand::whole([k, n], order, random, 3);
                let db: Operand<W, 1> = Operand::output([n], Order::Rows);
                let (of_x, of_w) = (x.values(), w.values());
                let layer = Layer { shape: [m, n, k], x: &of_x, w: &of_w };
                let [of_x, of_w, of_b] = layer.gradients(&dy.values()).map(|of| values(&of));
                let of_w: Vec<f64> = of_w.iter().zip(dw.values()).map(|(new, old)| new + old).collect();
                let (on_x, on_w, on_dy) = (x.upload(stream)?, w.upload(stream)?, dy.upload(stream)?);
                let (mut on_dx, mut on_dw, mut on_db) = (dx.upload(stream)?, dw.upload(stream)?, db.upload(stream)?);
                linear_backward(x.view(&on_x)?, w.view(&on_w)?, dy.view(&on_dy)?)
                    .dx(dx.view_mut(&mut on_dx)?)
                    .dw(dw.view_mut(&mut on_dw)?)
                    .db(db.view_mut(&mut on_db)?)
                    .accumulate(true)
                    .deterministic(true)
                    .launch(stream)?;
                let rounded =
                    |values: Vec<f64>, round: fn(f64) -> f64| values.into_iter().map(round).collect::<Vec<f64>>();
                same("dx", &dx.download(stream, &on_dx)?, &rounded(of_x, |v| T::of(v).value()))?;
                same("dw", &dw.download(stream, &on_dw)?, &rounded(of_w, |v| W::of(v).value()))?;
                same("db", &db.download(stream, &on_db)?, &rounded(of_b, |v| W::of(v).value()))
            }));
        }
    }
}

/// The reference's gradients against central differences.
fn differences(cases: &mut Vec<Case>) {
    for shape @ [m, n, k] in [[2, 3, 4], [1, 5, 2], [4, 1, 3]] {
        cases.push(Case::new(format!("linear_backward's reference {m}x{n}x{k}"), move |_, random| {
            let (x, w) = (normals(random, m * k), normals(random, k * n));
            let of = |x: &[f64], w: &[f64]| Layer { shape, x, w }.result();
            let back = |x: &[f64], w: &[f64], dy: &[f64]| Layer { shape, x, w }.gradients(dy);
            gradient("dx", random, &x, |x| of(x, &w), |x, dy| back(x, &w, dy)[0].clone())?;
            gradient("dw", random, &w, |w| of(&x, w), |w, dy| back(&x, w, dy)[1].clone())
        }));
    }
}

fn errors(cases: &mut Vec<Case>) {
    cases.push(Case::new("gemv refuses shapes", |stream, _| {
        let (a, mut y) = (stream.zeros::<f32>(64)?, stream.zeros::<f32>(64)?);
        let product = gemv(a.view([4, 8])?, a.view([7])?, y.view_mut([4])?);
        refused(product.launch(stream), &["`gemv`", "`x` has extent 7", "8 is expected", "x is [k]"])?;
        let product = gemv(a.view([4, 8])?, a.view([8])?, y.view_mut([5])?);
        refused(product.launch(stream), &["`y` has extent 5", "4 is expected"])
    }));
    cases.push(Case::new("linear_backward refuses shapes", |stream, _| {
        let (x, mut dx) = (stream.zeros::<f32>(64)?, stream.zeros::<f32>(64)?);
        let layer = linear_backward(x.view([4, 8])?, x.view([8, 2])?, x.view([4, 3])?);
        refused(layer.launch(stream), &["`linear_backward`", "`dy` has extent 3 along axis 1", "2 is expected"])?;
        let layer = linear_backward(x.view([4, 8])?, x.view([8, 2])?, x.view([4, 2])?);
        refused(layer.dx(dx.view_mut([8, 4])?).launch(stream), &["`dx` has extent 8 along axis 0", "4 is expected"])
    }));
}
