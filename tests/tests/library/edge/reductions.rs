//! Reductions and scans at the edge.

use super::subject::{Arrays, Subject, by_rows, put, room};
use crate::harness::hostile::Draw;
use crate::harness::{Case, Order, Outcome, Scalar};
use crate::reference::reduce as reference;
use crate::rows::{ALL, over};
use triton::prelude::*;
use triton_kernels::FloatElement;
use triton_kernels::reduce::{Reduction, cumprod, cumsum};

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    of::<f32>(&mut cases);
    of::<f16>(&mut cases);
    of::<bf16>(&mut cases);
    cases
}

fn of<T: FloatElement + Scalar>(cases: &mut Vec<Case>) {
    for reduction in ALL {
        // Rows, columns, and both in strips.
        for shape in [[5, 37, 1], [2, 37, 5], [1, 17_000, 1], [1, 700, 3]] {
            cases.push(of_reduction::<T>(reduction, shape, Draw::Normal).locality());
        }
        let most = match reduction {
            Reduction::Var | Reduction::Norm => 1e15,
            Reduction::Sum | Reduction::Mean => T::range()[2] / 64.0,
            Reduction::Max | Reduction::Min | Reduction::Any | Reduction::All => f64::INFINITY,
        };
        for shape in [[5, 37, 1], [2, 37, 5]] {
            cases.push(of_reduction::<T>(reduction, shape, Draw::Edge(most)).finite());
        }
    }
    cases.push(of_cumprod::<T>([5, 37], Draw::Normal).locality());
    for reverse in [false, true] {
        for shape in [[5, 37], [2, 4100]] {
            cases.push(of_cumsum::<T>(shape, reverse, Draw::Normal).locality());
        }
        cases.push(of_cumsum::<T>([5, 37], reverse, Draw::Edge(T::range()[2] / 64.0)).finite());
    }
}

fn of_cumprod<T: FloatElement + Scalar>(shape: [usize; 2], draw: Draw) -> Subject {
    let run = move |stream: &Stream, of: &[Vec<f64>]| -> Outcome<Arrays> {
        let (x, mut y) = (put::<T, 2>(stream, shape, Order::Rows, &of[0])?, room::<T, 2>(stream, shape, Order::Odd)?);
        cumprod(x.view()?, y.view_mut()?).launch(stream)?;
        Ok(vec![y.get(stream)?])
    };
    let wanted = move |of: &[Vec<f64>]| vec![by_rows(&of[0], shape[1], |_, row| reference::cumprod(row))];
    Subject::new::<T>(format!("cumprod {shape:?}"), [(shape[0] * shape[1], draw)], run, wanted)
}

fn of_cumsum<T: FloatElement + Scalar>(shape: [usize; 2], reverse: bool, draw: Draw) -> Subject {
    let run = move |stream: &Stream, of: &[Vec<f64>]| -> Outcome<Arrays> {
        let (x, mut y) = (put::<T, 2>(stream, shape, Order::Rows, &of[0])?, room::<T, 2>(stream, shape, Order::Rows)?);
        let launch = cumsum(x.view()?, y.view_mut()?);
        if reverse { launch.reverse() } else { launch }.launch(stream)?;
        Ok(vec![y.get(stream)?])
    };
    let wanted = move |of: &[Vec<f64>]| vec![by_rows(&of[0], shape[1], |_, row| reference::cumsum(row, reverse))];
    Subject::new::<T>(format!("cumsum {shape:?}, reverse {reverse}"), [(shape[0] * shape[1], draw)], run, wanted)
}

fn of_reduction<T: FloatElement + Scalar>(reduction: Reduction, shape: [usize; 3], draw: Draw) -> Subject {
    let [p, r, q] = shape;
    let run = move |stream: &Stream, of: &[Vec<f64>]| -> Outcome<Arrays> {
        let (x, mut y) = (put::<T, 3>(stream, shape, Order::Rows, &of[0])?, room::<T, 2>(stream, [p, q], Order::Rows)?);
        over(reduction, x.view()?, 1, y.view_mut()?).launch(stream)?;
        Ok(vec![y.get(stream)?])
    };
    let wanted = move |of: &[Vec<f64>]| vec![reference::reduce(&of[0], shape, reduction, 1)];
    Subject::new::<T>(format!("reduce {reduction:?} {shape:?}"), [(p * r * q, draw)], run, wanted)
}
