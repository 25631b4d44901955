//! Products and contractions at the edge.

use super::subject::{Arrays, Subject, put, room};
use crate::harness::hostile::Draw;
use crate::harness::{Case, Order, Outcome, Scalar, type_name};
use crate::reference::contract::contraction;
use crate::reference::gemm::{Product, narrow};
use crate::reference::number::{Number, Total, totals};
use triton::prelude::*;
use triton_kernels::contract::contract;
use triton_kernels::contract::notation::parse;
use triton_kernels::linear::{GemmElement, GemvElement, gemm, gemm_batched, gemm_grouped, gemv, linear_backward};
use triton_kernels::{Activation, FloatElement};

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    of::<f32>(&mut cases);
    of::<f16>(&mut cases);
    of::<bf16>(&mut cases);
    for (i, shape) in SHAPES.into_iter().enumerate() {
        for splits in [1, 2] {
            cases.push(of_product::<f64, f64>(shape, i + splits - 1, splits).locality());
        }
    }
    for kind in Activation::ALL {
        cases.push(of_epilogue::<f64>(kind).finite());
    }
    cases
}

/// M, N and K on both sides of tiles and steps.
const SHAPES: [[usize; 3]; 6] = [[3, 5, 7], [1, 1, 33], [17, 66, 40], [65, 9, 100], [70, 70, 65], [2, 130, 1]];

fn of<T>(cases: &mut Vec<Case>)
where
    T: FloatElement + GemmElement<T> + GemmElement<f32> + GemvElement<T> + Scalar,
{
    for (i, shape) in SHAPES.into_iter().enumerate() {
        for splits in [1, 2] {
            cases.push(of_product::<T, T>(shape, i + splits, splits).locality());
        }
        if type_name::<T>() != "f32" {
            cases.push(of_product::<T, f32>(shape, i, 1).locality());
        }
        cases.push(of_batch::<T>(shape, i).locality());
        cases.push(of_vector::<T>([shape[0], shape[2]], i).locality());
        cases.push(of_groups::<T>(shape, i).locality());
        cases.push(of_linear::<T>(shape).locality());
    }
    for kind in Activation::ALL {
        cases.push(of_epilogue::<T>(kind).finite());
    }
    for (expression, extents) in [
        ("bij,bjk->bik", "b3 i5 j7 k9"),
        ("icaq,qbjk->abcijk", "a2 b3 c2 i3 j4 k2 q5"),
        ("abc,abc->", "a3 b4 c5"),
        ("abc,cb->a", "a17 b5 c3"),
        ("aib,bja->ji", "a3 b20 i18 j17"),
        ("iikj,kj->i", "i5 k3 j7"),
    ] {
        cases.push(of_contraction::<T>(expression, extents).locality());
    }
}

fn of_product<T: GemmElement<C> + Scalar, C: Scalar>(shape: [usize; 3], turn: usize, splits: usize) -> Subject {
    let ([m, n, k], order) = (shape, move |by: usize| Order::ALL[(turn / by) % 4]);
    let run = move |stream: &Stream, of: &[Vec<f64>]| -> Outcome<Arrays> {
        let (a, b) = (put::<T, 2>(stream, [m, k], order(1), &of[0])?, put::<T, 2>(stream, [k, n], order(2), &of[1])?);
        let mut c = room::<C, 2>(stream, [m, n], order(3))?;
        gemm(a.view()?, b.view()?, c.view_mut()?).splits(splits).deterministic(true).launch(stream)?;
        Ok(vec![c.get(stream)?])
    };
    let wanted = move |of: &[Vec<f64>]| {
        let shape = [1, m, n, k];
        vec![Product { shape, a: of[0].clone(), b: of[1].clone(), alpha: 1.0, ..Product::default() }.result()]
    };
    let name = format!("gemm {shape:?} #{turn} {splits} splits to {} of", type_name::<C>());
    Subject::new::<T>(name, [(m * k, Draw::Normal), (k * n, Draw::Normal)], run, wanted)
}

fn of_batch<T: GemmElement<T> + Scalar>(shape: [usize; 3], turn: usize) -> Subject {
    let ([m, n, k], order) = (shape, move |by: usize| Order::ALL[(turn / by) % 4]);
    let run = move |stream: &Stream, of: &[Vec<f64>]| -> Outcome<Arrays> {
        let (a, b) =
            (put::<T, 3>(stream, [2, m, k], order(1), &of[0])?, put::<T, 3>(stream, [1, k, n], order(2), &of[1])?);
        let (bias, residual) =
            (put::<T, 1>(stream, [n], Order::Apart, &of[2])?, put::<T, 3>(stream, [2, m, n], Order::Rows, &of[3])?);
        let mut c = room::<T, 3>(stream, [2, m, n], order(3))?;
        let product = gemm_batched(a.view()?, b.view()?, c.view_mut()?).bias(bias.view()?).residual(residual.view()?);
        product.activation(Activation::Relu).launch(stream)?;
        Ok(vec![c.get(stream)?])
    };
    let wanted = move |of: &[Vec<f64>]| {
        let product = Product {
            shape: [2, m, n, k],
            a: of[0].clone(),
            b: of[1].repeat(2),
            bias: of[2].clone(),
            residual: of[3].clone(),
            alpha: 1.0,
            activation: Activation::Relu,
            ..Product::default()
        };
        vec![product.result()]
    };
    let inputs = [2 * m * k, k * n, n, 2 * m * n].map(|count| (count, Draw::Normal));
    Subject::new::<T>(format!("gemm_batched {shape:?} #{turn}"), inputs, run, wanted)
}

fn of_vector<T: GemvElement<T> + Scalar>(shape: [usize; 2], turn: usize) -> Subject {
    let [m, k] = shape;
    let run = move |stream: &Stream, of: &[Vec<f64>]| -> Outcome<Arrays> {
        let (a, x) =
            (put::<T, 2>(stream, shape, Order::ALL[turn % 4], &of[0])?, put::<T, 1>(stream, [k], Order::Rows, &of[1])?);
        let mut y = room::<T, 1>(stream, [m], Order::Rows)?;
        gemv(a.view()?, x.view()?, y.view_mut()?).launch(stream)?;
        Ok(vec![y.get(stream)?])
    };
    let wanted = move |of: &[Vec<f64>]| {
        let product = |(a, x): (&f64, &f64)| Number::from(*a) * *x;
        vec![of[0].chunks(k).map(|row| row.iter().zip(&of[1]).map(product).sum()).collect()]
    };
    Subject::new::<T>(format!("gemv {shape:?}"), [(m * k, Draw::Normal), (k, Draw::Normal)], run, wanted)
}

fn of_groups<T: FloatElement + Scalar>(shape: [usize; 3], turn: usize) -> Subject {
    let [m, n, k] = shape;
    // One group is empty, and the last one begins within a tile of the others.
    let ends = [m / 2, m / 2, m];
    let run = move |stream: &Stream, of: &[Vec<f64>]| -> Outcome<Arrays> {
        let a = put::<T, 2>(stream, [m, k], Order::Rows, &of[0])?;
        let b = put::<T, 3>(stream, [3, k, n], Order::ALL[turn % 4], &of[1])?;
        let (ends, mut c) = (stream.upload(&ends.map(|end| end as i32))?, room::<T, 2>(stream, [m, n], Order::Rows)?);
        gemm_grouped(a.view()?, b.view()?, ends.view([3])?, c.view_mut()?).launch(stream)?;
        Ok(vec![c.get(stream)?])
    };
    let wanted = move |of: &[Vec<f64>]| {
        let of_group = |i: usize| ends.iter().position(|end| i < *end).unwrap_or(0);
        let row = |i: usize| {
            let (a, b) = (of[0][i * k..][..k].to_vec(), of[1][of_group(i) * k * n..][..k * n].to_vec());
            Product { shape: [1, 1, n, k], a, b, alpha: 1.0, ..Product::default() }.result()
        };
        vec![(0..m).flat_map(row).collect()]
    };
    let inputs = [(m * k, Draw::Normal), (3 * k * n, Draw::Normal)];
    Subject::new::<T>(format!("gemm_grouped {shape:?}"), inputs, run, wanted)
}

fn of_linear<T: FloatElement + GemmElement<T> + GemmElement<f32> + Scalar>(shape: [usize; 3]) -> Subject {
    let [m, n, k] = shape;
    let run = move |stream: &Stream, of: &[Vec<f64>]| -> Outcome<Arrays> {
        let [x, w, dy] =
            [(0, [m, k]), (1, [k, n]), (2, [m, n])].map(|(i, shape)| put::<T, 2>(stream, shape, Order::Rows, &of[i]));
        let (x, w, dy) = (x?, w?, dy?);
        let (mut dx, mut dw) =
            (room::<T, 2>(stream, [m, k], Order::Rows)?, room::<f32, 2>(stream, [k, n], Order::Rows)?);
        let mut db = room::<f32, 1>(stream, [n], Order::Rows)?;
        linear_backward(x.view()?, w.view()?, dy.view()?)
            .dx(dx.view_mut()?)
            .dw(dw.view_mut()?)
            .db(db.view_mut()?)
            .deterministic(true)
            .launch(stream)?;
        Ok(vec![dx.get(stream)?, dw.get(stream)?, db.get(stream)?])
    };
    let wanted = move |of: &[Vec<f64>]| {
        let (x, w, dy) = (&of[0], &of[1], &of[2]);
        let [mut dx, mut dw, mut db] = [m * k, k * n, n].map(|count| vec![Total::default(); count]);
        for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
            db[j] += dy[i * n + j];
            for s in 0..k {
                dx[i * k + s].add_product(dy[i * n + j], w[s * n + j]);
                dw[s * n + j].add_product(dy[i * n + j], x[i * k + s]);
            }
        }
        [dx, dw, db].map(totals).to_vec()
    };
    let inputs = [m * k, k * n, m * n].map(|count| (count, Draw::Normal));
    Subject::new::<T>(format!("linear_backward {shape:?}"), inputs, run, wanted)
}

/// The epilogue of a product of zeros: activation(bias) + residual, in a product, a batch and a convolution alike.
fn of_epilogue<T: GemmElement<T> + Scalar>(kind: Activation) -> Subject {
    let run = move |stream: &Stream, of: &[Vec<f64>]| -> Outcome<Arrays> {
        let zeros = put::<T, 2>(stream, [1, 40], Order::Rows, &[0.0; 40])?;
        let bias = put::<T, 1>(stream, [40], Order::Rows, &of[0])?;
        let mut results = Vec::new();
        for splits in [1, 2] {
            let mut c = room::<T, 2>(stream, [1, 40], Order::Rows)?;
            let product = gemm(zeros.view()?.narrow(1, ..1)?, zeros.view()?, c.view_mut()?);
            product.bias(bias.view()?).activation(kind).splits(splits).launch(stream)?;
            results.push(c.get(stream)?);
        }
        Ok(results)
    };
    let wanted = move |of: &[Vec<f64>]| {
        let c: Vec<Number> = of[0].iter().map(|x| narrow(kind, Number::from(*x), T::rounding())).collect();
        vec![c.clone(), c]
    };
    Subject::new::<T>(format!("an epilogue with {kind:?}"), [(40, Draw::ANY)], run, wanted)
}

fn of_contraction<T: FloatElement + Scalar>(expression: &'static str, extents: &'static str) -> Subject {
    let extent = move |letter: char| {
        let found = extents.split(' ').find_map(|of| of.strip_prefix(letter)).and_then(|of| of.parse::<usize>().ok());
        found.unwrap_or(1)
    };
    let letters: Vec<Vec<char>> = expression
        .split(|c: char| !c.is_ascii_lowercase())
        .filter(|part| !part.is_empty())
        .map(|part| part.chars().collect())
        .collect();
    let letters = [letters[0].clone(), letters[1].clone(), letters.get(2).cloned().unwrap_or_default()];
    let shapes = letters.map(|of| of.into_iter().map(extent).collect::<Vec<usize>>());
    let counts = [0, 1].map(|i| shapes[i].iter().product::<usize>());
    let count_z: usize = shapes[2].iter().product();
    let of_shapes = shapes.clone();
    let run = move |stream: &Stream, of: &[Vec<f64>]| -> Outcome<Arrays> {
        use triton_kernels::contract::{Modes, ModesMut};
        let [x, y] = [0, 1].map(|i| put::<T, 1>(stream, [of[i].len()], Order::Rows, &of[i]));
        let (x, y, mut z) = (x?, y?, room::<T, 1>(stream, [count_z], Order::Rows)?);
        {
            let (of_x, of_y) = (Modes::new(x.buffer(), &shapes[0], None), Modes::new(y.buffer(), &shapes[1], None));
            let of_z = ModesMut::new(z.buffer_mut(), &shapes[2], None);
            contract(expression, of_x, of_y, of_z).deterministic(true).launch(stream)?;
        }
        Ok(vec![z.get(stream)?])
    };
    let wanted = move |of: &[Vec<f64>]| match parse(expression) {
        Ok(notation) => {
            let shapes = [0, 1, 2].map(|i| &of_shapes[i][..]);
            vec![contraction(&notation, shapes, [&of[0], &of[1], &[]], 1.0, 0.0)]
        }
        Err(_) => Vec::new(),
    };
    let inputs = counts.map(|count| (count, Draw::Normal));
    Subject::new::<T>(format!("contract {expression} of {extents}"), inputs, run, wanted)
}
