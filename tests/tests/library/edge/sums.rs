//! Distances, sums, optimisers, lookups and rotations at the edge.

use super::subject::{Arrays, Subject, put, room};
use crate::harness::hostile::Draw;
use crate::harness::{Case, Order, Outcome, Scalar};
use crate::reference::number::{Number, Total, exact, totals};
use crate::reference::{bag, column_sums as sums_of, distance, optim, rotary as rotated};
use triton::prelude::*;
use triton_kernels::FloatElement;
use triton_kernels::embedding::{Bag, Pairs, embedding, embedding_backward, embedding_bag, rotary, rotary_backward};
use triton_kernels::linear::column_sums;
use triton_kernels::loss::{bce_with_logits, huber, kl_div, mse, smooth_l1};
use triton_kernels::optim::{AdamWOptions, SgdOptions, adamw, clip_by_norm, sgd};

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    of::<f32>(&mut cases);
    of::<f16>(&mut cases);
    of::<bf16>(&mut cases);
    cases
}

fn of<T: FloatElement + Scalar>(cases: &mut Vec<Case>) {
    for kl in [false, true] {
        cases.push(of_distance::<T>(kl, Draw::Normal).locality());
        cases.push(of_distance::<T>(kl, Draw::Edge(1e10)).finite());
    }
    for loss in ["huber", "smooth_l1", "bce_with_logits"] {
        cases.push(of_elements::<T>(loss, Draw::Normal).locality());
        cases.push(of_elements::<T>(loss, Draw::Edge(1e30)).finite());
    }
    cases.push(of_sums::<T>(Draw::Normal).locality());
    cases.push(of_clip::<T>(Draw::Normal).locality());
    cases.push(of_clip::<T>(Draw::Edge(1e15)).finite());
    cases.push(of_sgd::<T>().locality());
    cases.push(of_adamw::<T>(Draw::Normal).locality());
    cases.push(of_adamw::<T>(Draw::Edge(1e15)).finite());
    cases.push(of_embedding::<T>(Draw::Normal).locality());
    cases.push(of_embedding::<T>(Draw::ANY).finite());
    for kind in [Bag::Sum, Bag::Mean, Bag::Max] {
        cases.push(of_bag::<T>(kind, Draw::Normal).locality());
        cases.push(of_bag::<T>(kind, if kind == Bag::Max { Draw::ANY } else { Draw::Edge(1e30) }).finite());
    }
    for deterministic in [false, true] {
        cases.push(of_embedding_backward::<T>(deterministic).locality());
    }
    for pairs in [Pairs::Halves, Pairs::Adjacent] {
        cases.push(of_rotary::<T>(pairs, Draw::Normal).locality());
        cases.push(of_rotary::<T>(pairs, Draw::Edge(T::range()[2] / 4.0)).finite());
    }
}

fn of_distance<T: FloatElement + Scalar>(kl: bool, draw: Draw) -> Subject {
    let (shape, count) = ([3, 37], 111);
    let target = match kl {
        // Where the target is 0 there is no loss.
        true => Draw::Fixed(
            (0..count).map(|i| if i % 5 == 0 { 0.0 } else { T::range()[1] + (i % 7) as f64 / 16.0 }).collect(),
        ),
        false => Draw::Normal,
    };
    let run = move |stream: &Stream, of: &[Vec<f64>]| -> Outcome<Arrays> {
        let [x, t] = [0, 1].map(|i| put::<T, 2>(stream, shape, Order::Rows, &of[i]));
        let (x, t, mut dx) = (x?, t?, room::<T, 2>(stream, shape, Order::Rows)?);
        let mut loss = room::<f32, 1>(stream, [1], Order::Rows)?;
        let (from, to, on) = (x.view()?, t.view()?, loss.view_mut()?);
        if kl { kl_div(from, to, on) } else { mse(from, to, on) }.dx(dx.view_mut()?).launch(stream)?;
        Ok(vec![loss.get(stream)?, dx.get(stream)?])
    };
    let wanted = move |of: &[Vec<f64>]| {
        let (loss, dx) = distance::distance(&of[0], &of[1], if kl { 3.0 } else { 111.0 }, kl);
        vec![vec![loss], dx]
    };
    let name = if kl { "kl_div" } else { "mse" };
    Subject::new::<T>(name, [(count, draw), (count, target)], run, wanted)
}

fn of_elements<T: FloatElement + Scalar>(loss: &'static str, draw: Draw) -> Subject {
    let (shape, count) = ([3, 37], 111);
    let target = match loss {
        "bce_with_logits" => Draw::Fixed((0..count).map(|i| f64::from(i as u32 % 5) / 4.0).collect()),
        _ => Draw::Normal,
    };
    let run = move |stream: &Stream, of: &[Vec<f64>]| -> Outcome<Arrays> {
        let [x, t] = [0, 1].map(|i| put::<T, 2>(stream, shape, Order::Rows, &of[i]));
        let (x, t, mut dx) = (x?, t?, room::<T, 2>(stream, shape, Order::Rows)?);
        let mut value = room::<f32, 1>(stream, [1], Order::Rows)?;
        let (from, to, on, dx_of) = (x.view()?, t.view()?, value.view_mut()?, dx.view_mut()?);
        match loss {
            "huber" => huber(from, to, on).delta(0.5).dx(dx_of).launch(stream)?,
            "smooth_l1" => smooth_l1(from, to, on).beta(0.5).dx(dx_of).launch(stream)?,
            _ => bce_with_logits(from, to, on).dx(dx_of).launch(stream)?,
        }
        Ok(vec![value.get(stream)?, dx.get(stream)?])
    };
    let wanted = move |of: &[Vec<f64>]| {
        let (value, dx) = match loss {
            "huber" => distance::robust(&of[0], &of[1], 0.5, 1.0, 0.5),
            "smooth_l1" => distance::robust(&of[0], &of[1], 0.5, 0.5, 1.0),
            _ => distance::bce(&of[0], &of[1], None),
        };
        vec![vec![value], dx]
    };
    Subject::new::<T>(loss, [(count, draw), (count, target)], run, wanted)
}

fn of_sums<T: FloatElement + Scalar>(draw: Draw) -> Subject {
    let (shape, count) = ([300, 5], 1500);
    let run = move |stream: &Stream, of: &[Vec<f64>]| -> Outcome<Arrays> {
        let x = put::<T, 2>(stream, shape, Order::Odd, &of[0])?;
        let mut out = room::<f32, 1>(stream, [5], Order::Rows)?;
        column_sums(x.view()?, out.view_mut()?).launch(stream)?;
        Ok(vec![out.get(stream)?])
    };
    let wanted = |of: &[Vec<f64>]| vec![sums_of::column_sums(&of[0], 5)];
    Subject::new::<T>("column_sums", [(count, draw)], run, wanted)
}

fn of_clip<T: FloatElement + Scalar>(draw: Draw) -> Subject {
    let (shape, count) = ([3, 7], 21);
    let run = move |stream: &Stream, of: &[Vec<f64>]| -> Outcome<Arrays> {
        let (mut x, mut norm) =
            (put::<T, 2>(stream, shape, Order::Rows, &of[0])?, room::<f32, 1>(stream, [1], Order::Rows)?);
        clip_by_norm(0.5, norm.view_mut()?).gradients([x.view_mut()?]).launch(stream)?;
        Ok(vec![norm.get(stream)?, x.get(stream)?])
    };
    let wanted = |of: &[Vec<f64>]| {
        let norm = of[0].iter().map(|x| Number::from(*x).square()).sum::<Number>().sqrt();
        let scaled = |x: &f64| if norm.value <= 0.5 { Number::from(*x) } else { 0.5 / norm * *x };
        vec![vec![norm], of[0].iter().map(scaled).collect()]
    };
    Subject::new::<T>("clip_by_norm", [(count, draw)], run, wanted)
}

fn of_sgd<T: FloatElement + Scalar>() -> Subject {
    let (shape, count) = ([3, 7], 21);
    let options = SgdOptions { rate: 0.1, momentum: 0.5, decay: 0.01, nesterov: true, ..SgdOptions::default() };
    let run = move |stream: &Stream, of: &[Vec<f64>]| -> Outcome<Arrays> {
        let (mut w, g) =
            (put::<T, 2>(stream, shape, Order::Rows, &of[0])?, put::<T, 2>(stream, shape, Order::Rows, &of[1])?);
        let mut velocity = put::<f32, 2>(stream, shape, Order::Rows, &of[2])?;
        sgd(w.view_mut()?, g.view()?, options).velocity(velocity.view_mut()?).launch(stream)?;
        Ok(vec![w.get(stream)?, velocity.get(stream)?])
    };
    let wanted = move |of: &[Vec<f64>]| {
        let each: Vec<[Number; 2]> = (0..count).map(|i| optim::sgd(of[0][i], of[1][i], of[2][i], options)).collect();
        [0, 1].map(|part| each.iter().map(|of| of[part]).collect()).to_vec()
    };
    Subject::new::<T>("sgd", [(); 3].map(|()| (count, Draw::Normal)), run, wanted)
}

fn of_adamw<T: FloatElement + Scalar>(draw: Draw) -> Subject {
    let (shape, count, options) = ([3, 7], 21, AdamWOptions { rate: 0.1, ..AdamWOptions::default() });
    let run = move |stream: &Stream, of: &[Vec<f64>]| -> Outcome<Arrays> {
        let (mut w, g) =
            (put::<T, 2>(stream, shape, Order::Rows, &of[0])?, put::<T, 2>(stream, shape, Order::Rows, &of[1])?);
        let [m, v] = [2, 3].map(|i| put::<f32, 2>(stream, shape, Order::Rows, &of[i]));
        let (mut m, mut v) = (m?, v?);
        adamw(w.view_mut()?, g.view()?, m.view_mut()?, v.view_mut()?, options).launch(stream)?;
        Ok(vec![w.get(stream)?, m.get(stream)?, v.get(stream)?])
    };
    let wanted = move |of: &[Vec<f64>]| {
        let step = |i: usize| optim::adamw(of[0][i], of[1][i], of[2][i], of[3][i], options);
        let each: Vec<[Number; 3]> = (0..count).map(step).collect();
        [0, 1, 2].map(|part| each.iter().map(|of| of[part]).collect()).to_vec()
    };
    let inputs = [(count, Draw::Normal), (count, draw), (count, Draw::Normal), (count, Draw::Positive)];
    Subject::new::<T>("adamw", inputs, run, wanted)
}

/// Ids, of which some are out of range.
const IDS: [i32; 6] = [2, -1, 0, 2, 4, i32::MAX];

fn of_embedding<T: FloatElement + Scalar>(draw: Draw) -> Subject {
    let run = move |stream: &Stream, of: &[Vec<f64>]| -> Outcome<Arrays> {
        let (table, ids) = (put::<T, 2>(stream, [4, 9], Order::Odd, &of[0])?, stream.upload(&IDS)?);
        let mut out = room::<T, 2>(stream, [6, 9], Order::Rows)?;
        embedding(table.view()?, ids.view([6])?, out.view_mut()?).launch(stream)?;
        Ok(vec![out.get(stream)?])
    };
    let wanted = |of: &[Vec<f64>]| {
        let row =
            |id: &i32| of[0].chunks(9).nth(usize::try_from(*id).unwrap_or(usize::MAX)).unwrap_or(&[0.0; 9]).to_vec();
        vec![exact(&IDS.iter().flat_map(row).collect::<Vec<f64>>())]
    };
    Subject::new::<T>("embedding", [(36, draw)], run, wanted)
}

/// Bags of which one is empty, one names a row twice, and one has a single row.
fn of_bag<T: FloatElement + Scalar>(kind: Bag, draw: Draw) -> Subject {
    let run = move |stream: &Stream, of: &[Vec<f64>]| -> Outcome<Arrays> {
        let (table, ids) = (put::<T, 2>(stream, [4, 9], Order::Odd, &of[0])?, stream.upload(&IDS)?);
        let (offsets, mut out) = (stream.upload(&[0, 1, 1, 5])?, room::<T, 2>(stream, [4, 9], Order::Rows)?);
        embedding_bag(table.view()?, ids.view([6])?, offsets.view([4])?, kind, out.view_mut()?).launch(stream)?;
        Ok(vec![out.get(stream)?])
    };
    let wanted = move |of: &[Vec<f64>]| {
        let ids = IDS.map(i64::from);
        vec![bag::bag(&of[0], 9, &ids, &[0..1, 1..1, 1..5, 5..6], kind, None).0]
    };
    Subject::new::<T>(format!("embedding_bag {kind:?}"), [(36, draw)], run, wanted)
}

fn of_embedding_backward<T: FloatElement + Scalar>(deterministic: bool) -> Subject {
    let run = move |stream: &Stream, of: &[Vec<f64>]| -> Outcome<Arrays> {
        let (dy, ids) = (put::<T, 2>(stream, [6, 9], Order::Odd, &of[0])?, stream.upload(&IDS)?);
        let mut table = put::<f32, 2>(stream, [4, 9], Order::Rows, &of[1])?;
        let backward = embedding_backward(dy.view()?, ids.view([6])?, table.view_mut()?);
        backward.deterministic(deterministic).launch(stream)?;
        Ok(vec![table.get(stream)?])
    };
    let wanted = |of: &[Vec<f64>]| {
        let mut table = vec![Total::default(); of[1].len()];
        table.iter_mut().zip(&of[1]).for_each(|(sum, old)| *sum += *old);
        for (id, dy) in IDS.iter().zip(of[0].chunks(9)).filter(|(id, _)| (0..4).contains(*id)) {
            table[*id as usize * 9..][..9].iter_mut().zip(dy).for_each(|(sum, dy)| *sum += *dy);
        }
        vec![totals(table)]
    };
    let name = format!("embedding_backward, deterministic {deterministic}");
    let subject = Subject::new::<T>(name, [(54, Draw::Normal), (36, Draw::Normal)], run, wanted);
    if deterministic { subject } else { subject.unordered() }
}

fn of_rotary<T: FloatElement + Scalar>(pairs: Pairs, draw: Draw) -> Subject {
    let (shape, count) = ([3, 2, 10], 60);
    let run = move |stream: &Stream, of: &[Vec<f64>]| -> Outcome<Arrays> {
        let x = put::<T, 3>(stream, shape, Order::Rows, &of[0])?;
        let [cosines, sines] = [1, 2].map(|i| put::<f32, 2>(stream, [3, 5], Order::Rows, &of[i]));
        let (cosines, sines) = (cosines?, sines?);
        let (mut y, mut dx) = (room::<T, 3>(stream, shape, Order::Rows)?, room::<T, 3>(stream, shape, Order::Rows)?);
        rotary(x.view()?, cosines.view()?, sines.view()?, pairs, y.view_mut()?).launch(stream)?;
        rotary_backward(x.view()?, cosines.view()?, sines.view()?, pairs, dx.view_mut()?).launch(stream)?;
        Ok(vec![y.get(stream)?, dx.get(stream)?])
    };
    let wanted = move |of: &[Vec<f64>]| {
        let turned = |sign: f64| {
            let head = |(i, x): (usize, &[f64])| {
                let (cosines, sines) = (&of[1][i / 2 * 5..][..5], &of[2][i / 2 * 5..][..5]);
                rotated::rotary(x, cosines, &sines.iter().map(|s| sign * s).collect::<Vec<f64>>(), pairs)
            };
            of[0].chunks(10).enumerate().flat_map(head).collect()
        };
        vec![turned(1.0), turned(-1.0)]
    };
    // Angles of 0 to 14 radians.
    let angles = |f: fn(f64) -> f64| Draw::Fixed((0..15).map(|i| f64::from(f(f64::from(i)) as f32)).collect());
    let inputs = [(count, draw), (15, angles(f64::cos)), (15, angles(f64::sin))];
    Subject::new::<T>(format!("rotary {pairs:?}"), inputs, run, wanted)
}
