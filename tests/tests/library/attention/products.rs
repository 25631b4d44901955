//! Attention against its reference, forward and backward.

use crate::harness::{Case, Failure, Operand, Order, Outcome, Scalar, compare, gradient, normals, order, type_name};
use crate::reference::attention::Shape;
use triton::prelude::*;
use triton_kernels::FloatElement;
use triton_kernels::attention::{attention, attention_backward};

/// Which keys are seen.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Mask {
    Full,
    Causal,
    Window(usize, usize),
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut turn = 0;
    let masks = [Mask::Full, Mask::Causal, Mask::Window(3, 0), Mask::Window(20, 5)];
    for mask in masks {
        for (queries, keys) in [(1, 1), (17, 17), (64, 64), (129, 129), (5, 70), (70, 5), (1, 40), (33, 0), (0, 9)] {
            for depth in [16, 20, 64, 80, 128, 200] {
                let heads = [(1, 1), (4, 2), (3, 1)][turn % 3];
                let shape = Shape {
                    batch: 1 + turn % 2,
                    heads: heads.0,
                    key_heads: heads.1,
                    queries,
                    keys,
                    depth,
                    window: match mask {
                        Mask::Full => [None, None],
                        Mask::Causal => [None, Some(0)],
                        Mask::Window(left, right) => [Some(left), Some(right)],
                    },
                    scale: 1.0 / (depth as f64).sqrt(),
                    rounding: 0.0,
                };
                turn += 1;
                match turn % 3 {
                    0 => case::<f32>(&mut cases, shape, mask, turn),
                    1 => case::<bf16>(&mut cases, shape, mask, turn),
                    _ => case::<f16>(&mut cases, shape, mask, turn),
                }
                // The largest heads have kernels of their own.
                if depth == 200 && queries > 1 {
                    let of = |depth: usize| Shape { depth, scale: 1.0 / (depth as f64).sqrt(), ..shape };
                    case::<f32>(&mut cases, of(256), mask, turn + 1);
                    case::<bf16>(&mut cases, of(32), mask, turn + 2);
                }
            }
        }
    }
    cases.push(Case::new("the gradients of the reference", |_, random| {
        let plain = Shape {
            batch: 1,
            heads: 2,
            key_heads: 1,
            queries: 4,
            keys: 5,
            depth: 3,
            window: [None, None],
            scale: 0.7,
            rounding: 0.0,
        };
        for window in [[None, None], [None, Some(0)], [Some(1), Some(1)]] {
            let shape = Shape { window, ..plain };
            let [q, k, v] = [shape.of_q(), shape.of_k(), shape.of_k()].map(|count| normals(random, count));
            gradient(
                "of q",
                random,
                &q,
                |q| shape.forward(q, &k, &v)[0].clone(),
                |q, d| shape.backward(q, &k, &v, d)[0].clone(),
            )?;
            gradient(
                "of k",
                random,
                &k,
                |k| shape.forward(&q, k, &v)[0].clone(),
                |k, d| shape.backward(&q, k, &v, d)[1].clone(),
            )?;
            gradient(
                "of v",
                random,
                &v,
                |v| shape.forward(&q, &k, v)[0].clone(),
                |v, d| shape.backward(&q, &k, v, d)[2].clone(),
            )?;
        }
        Ok(())
    }));
    cases
}

fn case<T: FloatElement + Scalar>(cases: &mut Vec<Case>, shape: Shape, mask: Mask, turn: usize) {
    let shape = Shape { rounding: T::rounding(), ..shape };
    let Shape { batch, heads, key_heads, queries, keys, depth, .. } = shape;
    let (like_q, like_k) = ([batch, heads, queries, depth], [batch, key_heads, keys, depth]);
    let what = format!("{} {like_q:?} {like_k:?} {mask:?} {turn}", type_name::<T>());
    let orders: [Order; 3] = [order(turn), order(turn / 2), order(turn / 5)];
    cases.push(Case::new(format!("attention {what}"), move |stream, random| {
        let q = Operand::<T, 4>::normal(like_q, orders[0], random);
        let [k, v] = [1, 2].map(|i| Operand::<T, 4>::normal(like_k, orders[i], random));
        let run = || forward(stream, mask, [&q, &k, &v], orders[1]);
        let (o, lse) = run()?;
        let [expected, sums] = shape.forward(&q.values(), &k.values(), &v.values());
        compare::<T>("o", &o, &expected)?;
        compare::<f32>("lse", &lse, &sums)?;
        if run()?.0 == o { Ok(()) } else { Err(Failure("two launches differ".to_string())) }
    }));
    cases.push(Case::new(format!("attention_backward {what}"), move |stream, random| {
        let [q, dy] = [0, 1].map(|i| Operand::<T, 4>::normal(like_q, orders[i], random));
        let [k, v] = [1, 2].map(|i| Operand::<T, 4>::normal(like_k, orders[i], random));
        let (o, lse) = forward(stream, mask, [&q, &k, &v], Order::Rows)?;
        let mut o = o.into_iter();
        let o = Operand::<T, 4>::new(like_q, orders[2], || o.next().unwrap_or(0.0));
        let mut lse = lse.into_iter();
        let lse = Operand::<f32, 3>::new([batch, heads, queries], Order::Rows, || lse.next().unwrap_or(0.0));
        let run = || backward(stream, mask, [&q, &k, &v, &o, &dy], &lse, orders);
        let found = run()?;
        let expected = shape.backward(&q.values(), &k.values(), &v.values(), &dy.values());
        for (i, name) in ["dq", "dk", "dv"].into_iter().enumerate() {
            compare::<T>(name, &found[i], &expected[i])?;
        }
        if run()? == found { Ok(()) } else { Err(Failure("two launches differ".to_string())) }
    }));
}

fn forward<T: FloatElement + Scalar>(
    stream: &Stream,
    mask: Mask,
    [q, k, v]: [&Operand<T, 4>; 3],
    order: Order,
) -> Outcome<(Vec<f64>, Vec<f64>)> {
    let o = Operand::<T, 4>::output(q.shape(), order);
    let [batch, heads, queries, _] = q.shape();
    let lse = Operand::<f32, 3>::output([batch, heads, queries], order);
    let (of_q, of_k, of_v) = (q.upload(stream)?, k.upload(stream)?, v.upload(stream)?);
    let (mut of_o, mut of_lse) = (o.upload(stream)?, lse.upload(stream)?);
    let call = attention(q.view(&of_q)?, k.view(&of_k)?, v.view(&of_v)?, o.view_mut(&mut of_o)?);
    let call = call.lse(lse.view_mut(&mut of_lse)?);
    let call = match mask {
        Mask::Full => call,
        Mask::Causal => call.causal(),
        Mask::Window(left, right) => call.window((left, right)),
    };
    call.launch(stream)?;
    Ok((o.download(stream, &of_o)?, lse.download(stream, &of_lse)?))
}

fn backward<T: FloatElement + Scalar>(
    stream: &Stream,
    mask: Mask,
    [q, k, v, o, dy]: [&Operand<T, 4>; 5],
    lse: &Operand<f32, 3>,
    orders: [Order; 3],
) -> Outcome<[Vec<f64>; 3]> {
    let dq = Operand::<T, 4>::output(q.shape(), orders[2]);
    let [dk, dv] = [0, 1].map(|i| Operand::<T, 4>::output(k.shape(), orders[i]));
    let (of_q, of_k, of_v) = (q.upload(stream)?, k.upload(stream)?, v.upload(stream)?);
    let (of_o, of_lse, of_dy) = (o.upload(stream)?, lse.upload(stream)?, dy.upload(stream)?);
    let (mut of_dq, mut of_dk, mut of_dv) = (dq.upload(stream)?, dk.upload(stream)?, dv.upload(stream)?);
    let (q, k, v, o) = (q.view(&of_q)?, k.view(&of_k)?, v.view(&of_v)?, o.view(&of_o)?);
    let (to_q, to_k, to_v) = (dq.view_mut(&mut of_dq)?, dk.view_mut(&mut of_dk)?, dv.view_mut(&mut of_dv)?);
    let call = attention_backward(q, k, v, o, lse.view(&of_lse)?, dy.view(&of_dy)?, to_q, to_k, to_v);
    let call = match mask {
        Mask::Full => call,
        Mask::Causal => call.causal(),
        Mask::Window(left, right) => call.window((left, right)),
    };
    call.launch(stream)?;
    Ok([dq.download(stream, &of_dq)?, dk.download(stream, &of_dk)?, dv.download(stream, &of_dv)?])
}
