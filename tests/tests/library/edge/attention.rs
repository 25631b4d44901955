//! Attention at the edge.

use super::subject::{Arrays, Subject, put, room};
use crate::harness::hostile::Draw;
use crate::harness::{Case, Order, Outcome, Scalar};
use crate::reference::attention::Shape;
use triton::prelude::*;
use triton_kernels::FloatElement;
use triton_kernels::attention::{attention, attention_backward};

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    of::<f32>(&mut cases);
    of::<f16>(&mut cases);
    of::<bf16>(&mut cases);
    cases
}

fn of<T: FloatElement + Scalar>(cases: &mut Vec<Case>) {
    let rounding = T::rounding();
    for (queries, keys) in [(5, 5), (70, 70), (3, 40)] {
        for causal in [false, true] {
            let window = [None, causal.then_some(0)];
            let shape =
                Shape { batch: 1, heads: 2, key_heads: 1, queries, keys, depth: 20, window, scale: 0.25, rounding };
            // What a query does not see is not local yet where it is a factor of a product: see the cases that are known to fail.
            let planted = if causal { 2 } else { usize::MAX };
            cases.push(of_forward::<T>(shape).planted(planted).locality());
            if !causal {
                // An infinite key has a probability of 0 or a score that is NaN, and 0 · ∞ is a term of the gradient.
                cases.push(of_backward::<T>(shape).of_nan().locality());
            }
        }
    }
    let of_last = |causal: bool| {
        let (queries, keys, window) = (4, 4, [None, causal.then_some(0)]);
        Shape { batch: 1, heads: 1, key_heads: 1, queries, keys, depth: 16, window, scale: 0.25, rounding }
    };
    // The first query sees one key, and the last key is seen by one query.
    let all = || Draw::Fixed(vec![0.5; 64]);
    let first = || Draw::Fixed((0..64).map(|i| if i < 16 { f64::NAN } else { 0.5 }).collect());
    let last = || Draw::Fixed((0..64).map(|i| if i < 48 { 0.5 } else { f64::NAN }).collect());
    let subject = of_forward::<T>(of_last(true)).with_inputs([all(), all(), last()].map(|draw| (64, draw)));
    cases.push(subject.named("known: attention, a NaN in the last row of V").finite());
    for (operand, name) in
        ["first row of Q", "last row of K", "last row of V", "first row of dO"].into_iter().enumerate()
    {
        let special = || if name.starts_with("first") { first() } else { last() };
        let inputs = (0..4).map(|i| (64, if i == operand { special() } else { all() }));
        let subject = of_backward::<T>(of_last(true)).with_inputs(inputs);
        cases.push(subject.named(format!("known: gradients of attention, a NaN in the {name}")).finite());
    }
    // What no query of a tile of 64 sees does not reach its results: keys behind them, and keys before their window.
    for (window, queries, seen) in [([None, Some(0)], 130, 0..64), ([Some(100), Some(0)], 300, 92..300)] {
        let shape = Shape {
            batch: 1,
            heads: 1,
            key_heads: 1,
            queries,
            keys: queries,
            depth: 64,
            window,
            scale: 0.125,
            rounding,
        };
        let value = move |i: usize| if seen.contains(&(i / 64)) { (i % 7) as f64 / 4.0 } else { f64::NAN };
        let values = Draw::Fixed((0..64 * queries).map(value).collect());
        let inputs = [Draw::Normal, Draw::Normal, values].map(|draw| (64 * queries, draw));
        let subject = of_forward::<T>(shape).with_inputs(inputs);
        cases.push(subject.named(format!("attention, NaN where no query of a tile looks, window {window:?}")).finite());
    }
    // Scores of 10⁴ and 10⁵, whose sums of exponentials have logarithms of that size.
    for size in [100.0, 300.0] {
        cases.push(of_large::<T>(size).finite());
    }
}

fn of_forward<T: FloatElement + Scalar>(shape: Shape) -> Subject {
    let Shape { batch, heads, key_heads, queries, keys, depth, window, scale, .. } = shape;
    let (of_q, of_k) = ([batch, heads, queries, depth], [batch, key_heads, keys, depth]);
    let run = move |stream: &Stream, of: &[Vec<f64>]| -> Outcome<Arrays> {
        let q = put::<T, 4>(stream, of_q, Order::Rows, &of[0])?;
        let [k, v] = [1, 2].map(|i| put::<T, 4>(stream, of_k, Order::Rows, &of[i]));
        let (k, v, mut o) = (k?, v?, room::<T, 4>(stream, of_q, Order::Rows)?);
        let mut lse = room::<f32, 3>(stream, [batch, heads, queries], Order::Rows)?;
        let call = attention(q.view()?, k.view()?, v.view()?, o.view_mut()?).lse(lse.view_mut()?).scale(scale as f32);
        match window {
            [Some(left), Some(right)] => call.window((left, right)),
            [None, Some(_)] => call.causal(),
            [_, None] => call,
        }
        .launch(stream)?;
        Ok(vec![o.get(stream)?, lse.get(stream)?])
    };
    let wanted = move |of: &[Vec<f64>]| shape.forward(&of[0], &of[1], &of[2]).to_vec();
    let inputs = [shape.of_q(), shape.of_k(), shape.of_k()].map(|count| (count, Draw::Normal));
    let name = format!("attention of {queries} queries and {keys} keys, window {window:?}");
    Subject::new::<T>(name, inputs, run, wanted)
}

fn of_backward<T: FloatElement + Scalar>(shape: Shape) -> Subject {
    let Shape { batch, heads, key_heads, queries, keys, depth, window, scale, .. } = shape;
    let (of_q, of_k) = ([batch, heads, queries, depth], [batch, key_heads, keys, depth]);
    let run = move |stream: &Stream, of: &[Vec<f64>]| -> Outcome<Arrays> {
        let [q, d_o] = [0, 3].map(|i| put::<T, 4>(stream, of_q, Order::Rows, &of[i]));
        let [k, v] = [1, 2].map(|i| put::<T, 4>(stream, of_k, Order::Rows, &of[i]));
        let (q, k, v, d_o) = (q?, k?, v?, d_o?);
        let (mut o, mut dq) = (room::<T, 4>(stream, of_q, Order::Rows)?, room::<T, 4>(stream, of_q, Order::Rows)?);
        let (mut dk, mut dv) = (room::<T, 4>(stream, of_k, Order::Rows)?, room::<T, 4>(stream, of_k, Order::Rows)?);
        let mut lse = room::<f32, 3>(stream, [batch, heads, queries], Order::Rows)?;
        let causal = window[1] == Some(0);
        let call = attention(q.view()?, k.view()?, v.view()?, o.view_mut()?).lse(lse.view_mut()?).scale(scale as f32);
        if causal { call.causal() } else { call }.launch(stream)?;
        let (to_q, to_k, to_v) = (dq.view_mut()?, dk.view_mut()?, dv.view_mut()?);
        let (q, k, v, o, lse, d_o) = (q.view()?, k.view()?, v.view()?, o.view()?, lse.view()?, d_o.view()?);
        let call = attention_backward(q, k, v, o, lse, d_o, to_q, to_k, to_v).scale(scale as f32);
        if causal { call.causal() } else { call }.launch(stream)?;
        Ok(vec![dq.get(stream)?, dk.get(stream)?, dv.get(stream)?])
    };
    let wanted = move |of: &[Vec<f64>]| shape.backward(&of[0], &of[1], &of[2], &of[3]).to_vec();
    let inputs = [shape.of_q(), shape.of_k(), shape.of_k(), shape.of_q()].map(|count| (count, Draw::Normal));
    let name = format!("attention_backward of {queries} queries and {keys} keys, window {window:?}");
    Subject::new::<T>(name, inputs, run, wanted)
}

/// Rows that attend to one key each, with scores of size².
fn of_large<T: FloatElement + Scalar>(size: f64) -> Subject {
    let shape = Shape {
        batch: 1,
        heads: 1,
        key_heads: 1,
        queries: 4,
        keys: 8,
        depth: 16,
        window: [None, None],
        scale: 1.0,
        rounding: T::rounding(),
    };
    let run_of = of_forward::<T>(shape);
    let basis = |rows: usize| {
        let element = move |i: usize| if i % 16 == i / 16 % 4 { size } else { 0.0 };
        Draw::Fixed((0..rows * 16).map(element).collect())
    };
    let subject = run_of.with_inputs([(64, basis(4)), (128, basis(8)), (128, Draw::Normal)]);
    subject.named(format!("attention with scores of {size}²"))
}
