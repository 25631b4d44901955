//! Softmax, its logarithm, and their gradients.

use super::{by_rows, gradient, normals, operand, order, pairs};
use crate::harness::{Case, Operand, Scalar, compare, refused, same, type_name};
use crate::reference::number::{exact, values};
use crate::reference::softmax as reference;
use triton::{bf16, f16};
use triton_kernels::FloatElement;
use triton_kernels::softmax::{
    log_softmax, log_softmax_backward, log_softmax_in_place, softmax, softmax_backward, softmax_in_place,
};

const LOOP: &str = "R=1 N=2048 LOOP=true num_warps=8 num_stages=3";

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    of::<f32>(&mut cases);
    of::<f16>(&mut cases);
    of::<bf16>(&mut cases);
    gradients(&mut cases);
    errors(&mut cases);
    cases
}

/// What a row adds, and which elements count.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Mask {
    None,
    Loop,
    Added,
    Row,
    Causal,
}

fn of<T: FloatElement + Scalar>(cases: &mut Vec<Case>) {
    let mut shapes = pairs(&[0, 1, 2, 7], &[0, 1, 2, 31, 33, 64, 127, 1023, 1024, 1025]);
    shapes.extend([[2, 2047], [1, 2048], [2, 2049], [1, 4096], [1, 4099]]);
    let masks = [Mask::None, Mask::Loop, Mask::Added, Mask::Row, Mask::Causal];
    let all = shapes.into_iter().flat_map(|shape| [false, true].map(|log| (shape, log)));
    for (turn, (shape, log)) in all.enumerate() {
        for i in 0..3 {
            forward::<T>(cases, shape, masks[(turn + 2 * i) % masks.len()], log, turn + i);
        }
        backward::<T>(cases, shape, log, turn % 3 == 2, turn / 2);
    }
}

fn forward<T: FloatElement + Scalar>(cases: &mut Vec<Case>, shape: [usize; 2], mask: Mask, log: bool, turn: usize) {
    let op = if log { "log_softmax" } else { "softmax" };
    let [x_order, y_order] = [order(turn), order(turn / 4)];
    let name = format!("{op} {} {shape:?} {mask:?} {x_order:?} {y_order:?} {turn}", type_name::<T>());
    cases.push(Case::new(name, move |stream, random| {
        let scale = if turn.is_multiple_of(2) { 1.0 } else { 0.125 };
        let x = Operand::<T, 2>::normal(shape, x_order, random);
        let y = Operand::<T, 2>::output(shape, y_order);
        let mask_rows = if mask == Mask::Row { 1 } else { shape[0] };
        let added = Operand::<T, 2>::new([mask_rows, shape[1]], order(turn + 1), || {
            if random.u32(..4) == 0 { f64::NEG_INFINITY } else { random.f64() }
        });
        let queries = if shape[0].is_multiple_of(7) { 7 } else { shape[0].max(1) };
        let (memory, of_mask) = (x.upload(stream)?, added.upload(stream)?);
        let seen =
            |i: usize, j: usize| mask != Mask::Causal || (j + queries) as isize <= (i % queries + shape[1]) as isize;
        let mut values = exact(&x.values());
        let masks = added.values();
        for (at, value) in values.iter_mut().enumerate() {
            let (i, j) = (at / shape[1], at % shape[1]);
            *value = *value * scale;
            if matches!(mask, Mask::Added | Mask::Row) {
                *value = *value + masks[(if mask == Mask::Row { 0 } else { i }) * shape[1] + j];
            }
            *value = if seen(i, j) { *value } else { f64::NEG_INFINITY.into() };
        }
        let expected = by_rows(&values, shape[1], |_, row| reference::softmax_of(row, log));
        for in_place in [false, false, true, true] {
            let out = if in_place { &x } else { &y };
            let mut found = out.upload(stream)?;
            let view = out.view_mut(&mut found)?;
            let mask_view = added.view(&of_mask)?;
            macro_rules! launch {
                ($softmax:expr) => {{
                    let launch = $softmax.scale(scale as f32);
                    match mask {
                        Mask::None => launch,
                        Mask::Loop => launch.instance(LOOP),
                        Mask::Added => launch.mask(mask_view),
                        Mask::Row => launch.mask(mask_view.broadcast(0, shape[0])?),
                        Mask::Causal => launch.causal(queries),
                    }
                    .launch(stream)?
                }};
            }
            match (in_place, log) {
                (false, false) => launch!(softmax(x.view(&memory)?, view)),
                (false, true) => launch!(log_softmax(x.view(&memory)?, view)),
                (true, false) => launch!(softmax_in_place(view)),
                (true, true) => launch!(log_softmax_in_place(view)),
            }
            let what = if in_place { "x" } else { "y" };
            compare::<T>(what, &out.download(stream, &found)?, &expected)?;
        }
        Ok(())
    }));
}

fn backward<T: FloatElement + Scalar>(cases: &mut Vec<Case>, shape: [usize; 2], log: bool, looped: bool, turn: usize) {
    let op = if log { "log_softmax_backward" } else { "softmax_backward" };
    let name = format!("{op} {} {shape:?} {looped} {turn}", type_name::<T>());
    cases.push(Case::new(name, move |stream, random| {
        let forward = by_rows(&normals(random, shape[0] * shape[1]), shape[1], |_, row| reference::softmax(row, log));
        let y = operand::<T, 2>(shape, order(turn), &values(&forward));
        let dy = Operand::<T, 2>::normal(shape, order(turn + 1), random);
        let dx = Operand::<T, 2>::output(shape, order(turn / 4));
        let (of_y, of_dy) = (y.upload(stream)?, dy.upload(stream)?);
        let dys = dy.values();
        let expected = by_rows(&y.values(), shape[1], |i, row| {
            reference::softmax_backward(row, &dys[i * shape[1]..][..shape[1]], log, 0.5)
        });
        let mut found = dx.upload(stream)?;
        let (y, dy, out) = (y.view(&of_y)?, dy.view(&of_dy)?, dx.view_mut(&mut found)?);
        let launch = if log { log_softmax_backward(y, dy, out) } else { softmax_backward(y, dy, out) }.scale(0.5);
        if looped { launch.instance(LOOP) } else { launch }.launch(stream)?;
        compare::<T>("dx", &dx.download(stream, &found)?, &expected)
    }));
}

fn gradients(cases: &mut Vec<Case>) {
    for log in [false, true] {
        for n in [1, 2, 5, 16, 33, 64] {
            cases.push(Case::new(format!("softmax gradient of the reference {log} {n}"), move |_, random| {
                let scaled = |x: &[f64]| reference::softmax(&x.iter().map(|x| 0.7 * x).collect::<Vec<_>>(), log);
                let x = normals(random, n);
                if n == 1 {
                    let dx = reference::softmax_backward(&values(&scaled(&x)), &[1.0], log, 0.7);
                    return same("dx", &values(&dx), &[0.0]);
                }
                gradient("dx", random, &x, scaled, |x, dy| {
                    reference::softmax_backward(&values(&scaled(x)), dy, log, 0.7)
                })
            }));
        }
    }
}

fn errors(cases: &mut Vec<Case>) {
    cases.push(Case::new("softmax_in_place refuses scales", |stream, _| {
        let mut x = stream.zeros::<f32>(12)?;
        let launch = log_softmax_in_place(x.view_mut([3, 4])?).scale(-1.0);
        refused(launch.launch(stream), &["`log_softmax_in_place`: `scale` is -1", "a positive number"])
    }));
    cases.push(Case::new("softmax refuses a scale that is not positive", |stream, _| {
        for scale in [0.0, -1.0, f32::NAN, f32::INFINITY] {
            let (x, mut y) = (stream.zeros::<f16>(12)?, stream.zeros::<f16>(12)?);
            let launch = log_softmax(x.view([3, 4])?, y.view_mut([3, 4])?).scale(scale);
            refused(launch.launch(stream), &["`log_softmax`: `scale` is", "a positive number"])?;
        }
        Ok(())
    }));
    cases.push(Case::new("softmax refuses no queries", |stream, _| {
        let (x, mut y) = (stream.zeros::<f32>(12)?, stream.zeros::<f32>(12)?);
        refused(softmax(x.view([3, 4])?, y.view_mut([3, 4])?).causal(0).launch(stream), &["`causal` is 0"])
    }));
    cases.push(Case::new("softmax refuses an unknown instance", |stream, _| {
        let (x, mut y) = (stream.zeros::<f32>(12)?, stream.zeros::<f32>(12)?);
        let launch = softmax(x.view([3, 4])?, y.view_mut([3, 4])?).instance("N=3");
        refused(launch.launch(stream), &["there is no instance `N=3`", "N=1024 LOOP=false"])
    }));
}
