//! Losses of elements: Huber, smooth L1, and the binary cross entropy of logits.

use super::{gradient, normals, order, pairs};
use crate::harness::{Case, Failure, Operand, Order, Outcome, Random, Scalar, Subject, compare, refused, subject, type_name};
use crate::reference::distance as reference;
use crate::reference::number::Number;
use triton::{Stream, bf16, f16};
use triton_kernels::FloatElement;
use triton_kernels::loss::{bce_with_logits, huber, smooth_l1};

pub(super) fn subjects() -> Vec<Subject> {
    vec![
        subject!(
            "huber", huber(&x, &target, &mut loss).dx(&mut dx);
            x [2, 3, 5], target [2, 3, 5], loss: f32 [1], dx [2, 3, 5],
        ),
        subject!(
            "smooth_l1", smooth_l1(&x, &target, &mut loss).beta(0.5).dx(&mut dx);
            x [3, 5], target [3, 5], loss: f32 [1], dx [3, 5],
        ),
        subject!(
            "bce_with_logits", bce_with_logits(&x, &target, &mut loss).pos_weight(&p).dx(&mut dx);
            x [2, 3, 5], target [2, 3, 5], loss: f32 [1], p [5], dx [2, 3, 5],
        ),
    ]
}

/// A loss with its number, and whether it has weights of positive targets.
#[derive(Clone, Copy, Debug)]
enum Loss {
    Huber(f32),
    SmoothL1(f32),
    Bce(bool),
}

const LOSSES: [Loss; 7] = [
    Loss::Huber(1.0),
    Loss::Huber(0.375),
    Loss::SmoothL1(1.0),
    Loss::SmoothL1(0.375),
    Loss::SmoothL1(0.0),
    Loss::Bce(false),
    Loss::Bce(true),
];

impl Loss {
    fn name(self) -> &'static str {
        match self {
            Loss::Huber(_) => "huber",
            Loss::SmoothL1(_) => "smooth_l1",
            Loss::Bce(_) => "bce_with_logits",
        }
    }

    fn reference(self, x: &[f64], target: &[f64], weights: &[f64]) -> (Number, Vec<Number>) {
        match self {
            Loss::Huber(delta) => reference::robust(x, target, delta.into(), 1.0, delta.into()),
            Loss::SmoothL1(beta) => reference::robust(x, target, beta.into(), beta.into(), 1.0),
            Loss::Bce(weighted) => reference::bce(x, target, weighted.then_some(weights)),
        }
    }
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    of::<f32>(&mut cases);
    of::<f16>(&mut cases);
    of::<bf16>(&mut cases);
    for loss in LOSSES {
        cases.push(Case::new(format!("{} gradient of the reference {loss:?}", loss.name()), move |_, random| {
            let (weights, x) = (normals(random, 5), normals(random, 30));
            let target: Vec<f64> = normals(random, 30).iter().map(|x| x.abs()).collect();
            let value = |x: &[f64]| vec![loss.reference(x, &target, &weights).0];
            gradient("for x", random, &x, value, |x, dy| {
                loss.reference(x, &target, &weights).1.iter().map(|g| *g * dy[0]).collect()
            })
        }));
    }
    cases.push(Case::new("bce_with_logits of logits that are right", |stream, _| {
        let (x, target) = (stream.tensor(&[20.0f32, -80.0], [2])?, stream.tensor(&[1.0f32, 0.0], [2])?);
        let mut loss = stream.tensor_zeros::<f32, _>([1])?;
        bce_with_logits(&x, &target, &mut loss).launch(stream)?;
        let (found, expected) = (f64::from(stream.download(&loss)?[0]), ((-20f64).exp() + (-80f64).exp()) / 2.0);
        match (found - expected).abs() < 1e-6 * expected {
            true => Ok(()),
            false => Err(Failure(format!("{found} is not {expected}"))),
        }
    }));
    cases.push(Case::new("huber refuses a delta, and smooth_l1 a beta", |stream, _| {
        let (x, mut loss) = (stream.tensor_zeros::<f32, _>([3])?, stream.tensor_zeros::<f32, _>([1])?);
        for delta in [0.0, -1.0, f32::INFINITY, f32::NAN] {
            refused(huber(&x, &x, &mut loss).delta(delta).launch(stream), &["`huber`: `delta` is", "above 0"])?;
        }
        for beta in [-1.0, f32::INFINITY, f32::NAN] {
            refused(smooth_l1(&x, &x, &mut loss).beta(beta).launch(stream), &["`smooth_l1`: `beta` is", "0 or more"])?;
        }
        Ok(())
    }));
    cases
}

fn of<T: FloatElement + Scalar>(cases: &mut Vec<Case>) {
    let mut shapes = pairs(&[0, 1, 2, 7], &[0, 1, 3, 128, 1023]);
    shapes.extend([[1, 1025], [3, 2050], [70, 33]]);
    for (turn, shape) in shapes.into_iter().enumerate() {
        for (i, loss) in LOSSES.into_iter().enumerate() {
            let name = format!("{} {} {shape:?} {loss:?}", loss.name(), type_name::<T>());
            cases.push(Case::new(name, move |stream, random| case::<T>(stream, random, shape, loss, turn + i)));
        }
    }
}

fn case<T: FloatElement + Scalar>(
    stream: &Stream,
    random: &mut Random,
    shape: [usize; 2],
    loss: Loss,
    turn: usize,
) -> Outcome {
    let turned = |operand: usize| order(turn + if turn.is_multiple_of(2) { operand } else { 0 });
    // Differences on either side of each bound, and at it; targets of classes, and between them.
    let (x, target) = match loss {
        Loss::Bce(_) => (
            Operand::<T, 2>::new(shape, turned(0), || 3.0 * crate::harness::normal(random)),
            Operand::<T, 2>::new(shape, turned(1), || f64::from(random.u32(..5)) / 4.0),
        ),
        Loss::Huber(_) | Loss::SmoothL1(_) => (
            Operand::<T, 2>::new(shape, turned(0), || f64::from(random.i32(-16..=16)) / 8.0),
            Operand::<T, 2>::new(shape, turned(1), || f64::from(random.i32(-4..=4)) / 8.0),
        ),
    };
    let weight = Operand::<T, 1>::new([shape[1]], order(turn), || 0.5 + 3.0 * random.f64());
    let (of_loss, dx) = (Operand::<f32, 1>::output([1], Order::Odd), Operand::<T, 2>::output(shape, turned(2)));
    let (expected, gradient) = loss.reference(&x.values(), &target.values(), &weight.values());
    let (mx, mt, mw) = (x.upload(stream)?, target.upload(stream)?, weight.upload(stream)?);
    let mut first = None;
    for backward in [false, true, true] {
        let (mut ml, mut md) = (of_loss.upload(stream)?, dx.upload(stream)?);
        let (from, to, at) = (x.view(&mx)?, target.view(&mt)?, of_loss.view_mut(&mut ml)?);
        let out = dx.view_mut(&mut md)?;
        macro_rules! launch {
            ($loss:expr) => {
                if backward { $loss.dx(out) } else { $loss }.launch(stream)?
            };
        }
        match loss {
            Loss::Huber(delta) => launch!(huber(from, to, at).delta(delta)),
            Loss::SmoothL1(beta) => launch!(smooth_l1(from, to, at).beta(beta)),
            Loss::Bce(false) => launch!(bce_with_logits(from, to, at)),
            Loss::Bce(true) => launch!(bce_with_logits(from, to, at).pos_weight(weight.view(&mw)?)),
        }
        let found = of_loss.download(stream, &ml)?;
        compare::<f32>("loss", &found, &[expected])?;
        if backward {
            compare::<T>("dx", &dx.download(stream, &md)?, &gradient)?;
        }
        if first.get_or_insert(found[0].to_bits()) != &found[0].to_bits() {
            return Err(Failure("a second run gives other bits".to_string()));
        }
    }
    Ok(())
}
