//! Layer norm, RMS norm, and their gradients.

use super::{by_rows, gradient, normals, operand, order, pairs};
use crate::harness::{Case, Operand, Order, Scalar, compare, refused, same, type_name};
use crate::reference::norm as reference;
use crate::reference::norm_backward as backward;
use crate::reference::number::{Number, Total, exact, totals, values};
use triton::{View, bf16, f16};
use triton_kernels::FloatElement;
use triton_kernels::norm::{layer_norm, layer_norm_backward, rms_norm, rms_norm_backward};

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

fn of<T: FloatElement + Scalar>(cases: &mut Vec<Case>) {
    let mut shapes = pairs(&[0, 1, 3, 5], &[0, 1, 2, 33, 128, 1023, 1024, 1025]);
    shapes.extend([[2, 2049], [1, 4096], [2, 4099]]);
    for (turn, shape) in shapes.into_iter().enumerate() {
        for mean in [false, true] {
            forward::<T>(cases, shape, mean, turn.is_multiple_of(2), turn % 3 == 1, turn);
            forward::<T>(cases, shape, mean, turn % 2 == 1, turn % 3 == 0, turn + 1);
            of_backward::<T>(cases, shape, mean, turn % 3, turn);
        }
    }
    for mean in [false, true] {
        of_backward::<T>(cases, [3, 8195], mean, 2, 0);
        of_backward::<T>(cases, [67, 8200], mean, 1, 2);
        of_backward::<T>(cases, [131, 40], mean, 1, 2);
    }
}

fn forward<T: FloatElement + Scalar>(
    cases: &mut Vec<Case>,
    shape: [usize; 2],
    mean: bool,
    adds: bool,
    looped: bool,
    turn: usize,
) {
    let op = if mean { "layer_norm" } else { "rms_norm" };
    let name = format!("{op} {} {shape:?} adds {adds} looped {looped} {turn}", type_name::<T>());
    cases.push(Case::new(name, move |stream, random| {
        let [rows, columns] = shape;
        let broadcast = turn % 5 == 4 && columns > 0;
        let x = Operand::<T, 2>::new(shape, order(turn), || crate::harness::normal(random) + 0.7);
        let r = Operand::<T, 2>::normal(shape, order(turn + 1), random);
        // A stride of 0 repeats one weight.
        let w = Operand::<T, 1>::normal([if broadcast { 1 } else { columns }], order(turn + 2), random);
        let b = Operand::<T, 1>::normal([columns], Order::Apart, random);
        let (y, sum) =
            (Operand::<T, 2>::output(shape, order(turn / 2)), Operand::<T, 2>::output(shape, order(turn + 3)));
        let (means, scales) = (Operand::<f32, 1>::output([rows], order(turn)), Operand::output([rows], Order::Odd));
        let (mut xs, rs, mut ws, bs) = (x.values(), r.values(), w.values(), b.values());
        if adds {
            // The sum is rounded to `f32` first, and then to the element, which can be another number next to a tie.
            xs.iter_mut().zip(&rs).for_each(|(x, r)| *x = T::of(f64::from((*x + r) as f32)).value());
        }
        if broadcast {
            ws = vec![ws[0]; columns];
        }
        let of_row = |_: usize, row: &[f64]| reference::norm(row, &ws, mean.then_some(&bs), 1e-3);
        let expected = by_rows(&xs, columns, of_row);
        let statistics: Vec<(Number, Number)> =
            xs.chunks(columns.max(1)).map(|row| reference::statistics(row, mean, 1e-3)).collect();
        let (mx, mr, mw, mb) = (x.upload(stream)?, r.upload(stream)?, w.upload(stream)?, b.upload(stream)?);
        let (mut my, mut ms) = (y.upload(stream)?, sum.upload(stream)?);
        let (mut mm, mut mc) = (means.upload(stream)?, scales.upload(stream)?);
        let weight = if broadcast { w.view(&mw)?.broadcast(0, columns)? } else { w.view(&mw)? };
        let out = y.view_mut(&mut my)?;
        macro_rules! launch {
            ($norm:expr) => {{
                let launch = $norm.epsilon(1e-3);
                let launch = if adds { launch.residual(r.view(&mr)?, sum.view_mut(&mut ms)?) } else { launch };
                if looped { launch.instance(LOOP) } else { launch }.launch(stream)?;
            }};
        }
        let rstd = scales.view_mut(&mut mc)?;
        if mean {
            let norm = layer_norm(x.view(&mx)?, weight, b.view(&mb)?, out);
            launch!(norm.statistics(means.view_mut(&mut mm)?, rstd));
        } else {
            launch!(rms_norm(x.view(&mx)?, weight, out).statistics(rstd));
        }
        compare::<T>("y", &y.download(stream, &my)?, &expected)?;
        if adds && columns > 0 {
            same("sum", &sum.download(stream, &ms)?, &xs)?;
        }
        if columns > 0 {
            let scale: Vec<Number> = statistics.iter().map(|of| of.1).collect();
            compare::<f32>("scales", &scales.download(stream, &mc)?, &scale)?;
        }
        if mean && columns > 0 {
            let centre: Vec<Number> = statistics.iter().map(|of| of.0).collect();
            compare::<f32>("means", &means.download(stream, &mm)?, &centre)?;
        }
        Ok(())
    }));
}

fn of_backward<T: FloatElement + Scalar>(
    cases: &mut Vec<Case>,
    shape: [usize; 2],
    mean: bool,
    parameters: usize,
    turn: usize,
) {
    let op = if mean { "layer_norm_backward" } else { "rms_norm_backward" };
    let name = format!("{op} {} {shape:?} parameters {parameters} {turn}", type_name::<T>());
    cases.push(Case::new(name, move |stream, random| {
        let [rows, columns] = shape;
        let x = Operand::<T, 2>::new(shape, order(turn), || crate::harness::normal(random) - 0.4);
        let dy = Operand::<T, 2>::normal(shape, order(turn + 1), random);
        let past = Operand::<T, 2>::normal(shape, order(turn + 2), random);
        let w = Operand::<T, 1>::normal([columns], order(turn + 2), random);
        let (xs, dys, ws, adds) = (x.values(), dy.values(), w.values(), turn % 2 == 1);
        let of_rows = || xs.chunks(columns.max(1));
        let statistics: Vec<(Number, Number)> = of_rows().map(|row| reference::statistics(row, mean, 1e-2)).collect();
        let mut dxs = exact(&past.values());
        let [mut dws, mut dbs] = [(); 2].map(|()| vec![Total::default(); columns]);
        for (i, row) in of_rows().enumerate() {
            let at = i * columns..(i + 1) * columns;
            let [dx, dw, db] = backward::norm_backward(row, &ws, &dys[at.clone()], mean, 1e-2);
            dxs[at].iter_mut().zip(dx).for_each(|(to, dx)| *to = if adds { dx + *to } else { dx });
            dws.iter_mut().zip(dw).for_each(|(to, dw)| *to += dw);
            dbs.iter_mut().zip(db).for_each(|(to, db)| *to += db);
        }
        let (dws, dbs) = (totals(dws), totals(dbs));
        let of = |part: fn(&(Number, Number)) -> f64| statistics.iter().map(part).collect::<Vec<f64>>();
        let centre = operand::<f32, 1>([if columns > 0 { rows } else { 0 }], Order::Rows, &of(|of| of.0.value));
        let scale = operand::<f32, 1>([if columns > 0 { rows } else { 0 }], order(turn), &of(|of| of.1.value));
        let (mx, mdy, mp, mw) = (x.upload(stream)?, dy.upload(stream)?, past.upload(stream)?, w.upload(stream)?);
        let (mc, ms) = (centre.upload(stream)?, scale.upload(stream)?);
        let mut first = None;
        for _ in 0..2 {
            let dx = Operand::<T, 2>::output(shape, order(turn / 3));
            let (dw, db) =
                (Operand::<f32, 1>::output([columns], order(turn)), Operand::<f32, 1>::output([columns], Order::Odd));
            let (narrow_dw, narrow_db) =
                (Operand::<T, 1>::output([columns], order(turn)), Operand::<T, 1>::output([columns], Order::Rows));
            let (mut mdx, mut mdw, mut mdb) = (dx.upload(stream)?, dw.upload(stream)?, db.upload(stream)?);
            let (mut ndw, mut ndb) = (narrow_dw.upload(stream)?, narrow_db.upload(stream)?);
            let (of_x, of_dy, of_w) = (x.view(&mx)?, dy.view(&mdy)?, w.view(&mw)?);
            let (means, scales): (View<'_, f32, 1>, View<'_, f32, 1>) = if columns > 0 {
                (centre.view(&mc)?, scale.view(&ms)?)
            } else {
                (mc.view([1])?.with_strides([0])?.broadcast(0, rows)?, mc.view([1])?.broadcast(0, rows)?)
            };
            let out = dx.view_mut(&mut mdx)?;
            macro_rules! with_dw {
                ($launch:expr) => {{
                    let launch = if adds { $launch.dsum(past.view(&mp)?) } else { $launch };
                    match parameters {
                        0 => launch,
                        1 => launch.dw(dw.view_mut(&mut mdw)?),
                        _ => launch.dw(narrow_dw.view_mut(&mut ndw)?),
                    }
                }};
            }
            if mean {
                let launch = with_dw!(layer_norm_backward(of_x, of_w, of_dy, means, scales, out));
                match parameters {
                    0 => launch,
                    1 => launch.db(db.view_mut(&mut mdb)?),
                    _ => launch.db(narrow_db.view_mut(&mut ndb)?),
                }
                .launch(stream)?;
            } else {
                with_dw!(rms_norm_backward(of_x, of_w, of_dy, scales, out)).launch(stream)?;
            }
            let found = dx.download(stream, &mdx)?;
            compare::<T>("dx", &found, &dxs)?;
            let [found_dw, found_db] = match parameters {
                0 => [values(&dws), values(&dbs)],
                1 => [dw.download(stream, &mdw)?, db.download(stream, &mdb)?],
                _ => [narrow_dw.download(stream, &ndw)?, narrow_db.download(stream, &ndb)?],
            };
            let close = if parameters == 2 { compare::<T> } else { compare::<f32> };
            close("dw", &found_dw, &dws)?;
            if mean {
                close("db", &found_db, &dbs)?;
            }
            let bits = [found, found_dw].concat();
            if first.get_or_insert_with(|| bits.clone()) != &bits {
                return Err(crate::harness::Failure("a second run gives other bits".to_string()));
            }
        }
        Ok(())
    }));
}

fn gradients(cases: &mut Vec<Case>) {
    for mean in [false, true] {
        for n in [2, 3, 8, 17, 40] {
            cases.push(Case::new(format!("norm gradient of the reference {mean} {n}"), move |_, random| {
                let (x, w, b) = (normals(random, n), normals(random, n), normals(random, n));
                let of = |x: &[f64], w: &[f64], b: &[f64]| reference::norm(x, w, mean.then_some(b), 0.1);
                gradient(
                    "for x",
                    random,
                    &x,
                    |x| of(x, &w, &b),
                    |x, dy| {
                        let [dx, ..] = backward::norm_backward(x, &w, dy, mean, 0.1);
                        dx
                    },
                )?;
                gradient(
                    "for the weight",
                    random,
                    &w,
                    |w| of(&x, w, &b),
                    |w, dy| {
                        let [_, dw, _] = backward::norm_backward(&x, w, dy, mean, 0.1);
                        dw
                    },
                )?;
                if !mean {
                    return Ok(());
                }
                gradient(
                    "for the bias",
                    random,
                    &b,
                    |b| of(&x, &w, b),
                    |_, dy| {
                        let [.., db] = backward::norm_backward(&x, &w, dy, mean, 0.1);
                        db
                    },
                )
            }));
        }
    }
}

fn errors(cases: &mut Vec<Case>) {
    cases.push(Case::new("rms_norm refuses another ε and another name", |stream, _| {
        let (x, mut y) = (stream.zeros::<f32>(12)?, stream.zeros::<f32>(12)?);
        let (of_x, w) = (x.view([3, 4])?, x.view([4])?);
        refused(rms_norm(of_x, w, y.view_mut([3, 4])?).epsilon(-1.0).launch(stream), &["`epsilon` is -1"])?;
        refused(rms_norm(of_x, w, y.view_mut([3, 4])?).instance("x").launch(stream), &["there is no instance `x`"])
    }));
}
