//! Group norm and batch norm, which are norms of rows whose elements lie apart.

use super::{operand, order};
use crate::harness::{Case, Failure, Operand, Order, Outcome, Scalar, compare, refused, type_name};
use crate::reference::norm::{norm, statistics};
use crate::reference::norm_backward::norm_backward;
use crate::reference::number::{Number, Total, totals, values};
use triton::{bf16, f16};
use triton_kernels::FloatElement;
use triton_kernels::norm::{batch_norm, batch_norm_backward, batch_norm_eval, group_norm, group_norm_backward};

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    of::<f32>(&mut cases);
    of::<f16>(&mut cases);
    of::<bf16>(&mut cases);
    errors(&mut cases);
    cases
}

const EPSILON: f64 = 0.015625;

fn of<T: FloatElement + Scalar>(cases: &mut Vec<Case>) {
    let mut turn = 0;
    for samples in [0, 1, 2, 5, 9] {
        for (channels, places) in [(1, 2), (4, 1), (4, 31), (6, 256), (18, 7), (2, 515), (0, 4), (3, 0)] {
            let all: Vec<usize> = (1..=channels.max(1)).filter(|groups| channels % groups == 0).collect();
            for groups in [all[turn % all.len()], 0] {
                turn += 1;
                let shape = [samples, channels, places];
                let op = if groups == 0 { "batch_norm" } else { "group_norm" };
                let name = format!("{op} {} {shape:?} {groups} {turn}", type_name::<T>());
                cases.push(Case::new(name, move |stream, random| case::<T>(stream, random, shape, groups, turn)));
            }
        }
    }
}

/// The elements that are normalised together, and the channel of each. No groups are those of a batch norm.
fn parts([samples, channels, places]: [usize; 3], groups: usize) -> Vec<Vec<(usize, usize)>> {
    let at = |n: usize, c: usize| (0..places).map(move |s| ((n * channels + c) * places + s, c));
    if groups == 0 {
        return (0..channels).map(|c| (0..samples).flat_map(|n| at(n, c)).collect()).collect();
    }
    let each = channels / groups;
    let of = |n: usize, g: usize| (g * each..(g + 1) * each).flat_map(move |c| at(n, c)).collect();
    (0..samples).flat_map(|n| (0..groups).map(move |g| (n, g))).map(|(n, g)| of(n, g)).collect()
}

fn case<T: FloatElement + Scalar>(
    stream: &triton::Stream,
    random: &mut crate::harness::Random,
    shape: [usize; 3],
    groups: usize,
    turn: usize,
) -> Outcome {
    let [samples, channels, places] = shape;
    let x = Operand::<T, 3>::new(shape, order(turn), || crate::harness::normal(random) + 0.5);
    let dy = Operand::<T, 3>::normal(shape, order(turn / 2), random);
    let w = Operand::<T, 1>::normal([channels], order(turn), random);
    let b = Operand::<T, 1>::normal([channels], order(turn + 1), random);
    let (xs, dys, ws, bs) = (x.values(), dy.values(), w.values(), b.values());
    let parts = parts(shape, groups);
    let is_empty = xs.is_empty();
    let [mut ys, mut dxs] = [(); 2].map(|()| vec![Number::default(); xs.len()]);
    let [mut dws, mut dbs] = [(); 2].map(|()| vec![Total::default(); channels]);
    let (mut means, mut scales, mut counts) = (Vec::new(), Vec::new(), 0);
    for part in &parts {
        let pick = |of: &[f64]| part.iter().map(|(at, _)| of[*at]).collect::<Vec<f64>>();
        let of_channel = |of: &[f64]| part.iter().map(|(_, c)| of[*c]).collect::<Vec<f64>>();
        let (row, weights) = (pick(&xs), of_channel(&ws));
        let (mean, scale) = if is_empty { (0.0.into(), 0.0.into()) } else { statistics(&row, true, EPSILON) };
        means.push(mean);
        scales.push(scale);
        counts = row.len();
        let y = norm(&row, &weights, Some(&of_channel(&bs)), EPSILON);
        let [dx, dw, db] = norm_backward(&row, &weights, &pick(&dys), true, EPSILON);
        for (i, (at, c)) in part.iter().enumerate() {
            (ys[*at], dxs[*at]) = (y[i], dx[i]);
            dws[*c] += dw[i];
            dbs[*c] += db[i];
        }
    }
    let (dws, dbs) = (totals(dws), totals(dbs));
    let (mx, mdy, mw, mb) = (x.upload(stream)?, dy.upload(stream)?, w.upload(stream)?, b.upload(stream)?);
    let (of_x, of_dy, of_w, of_b) = (x.view(&mx)?, dy.view(&mdy)?, w.view(&mw)?, b.view(&mb)?);
    let y = Operand::<T, 3>::output(shape, order(turn / 3));
    let mut my = y.upload(stream)?;
    let rows = if groups == 0 { [1, channels] } else { [samples, groups] };
    let statistics_out = Operand::<f32, 2>::output(rows, order(turn));
    let (mut mm, mut ms) = (statistics_out.upload(stream)?, statistics_out.upload(stream)?);
    let (of_means, of_scales) = (statistics_out.view_mut(&mut mm)?, statistics_out.view_mut(&mut ms)?);
    if groups == 0 {
        let before = [1.0, 2.0];
        let running = before.map(|value| Operand::<f32, 1>::new([channels], Order::Apart, || value));
        let [mut mean, mut variance] = [running[0].upload(stream)?, running[1].upload(stream)?];
        batch_norm(of_x, of_w, of_b, y.view_mut(&mut my)?)
            .epsilon(EPSILON as f32)
            .statistics(of_means.select(0, 0)?, of_scales.select(0, 0)?)
            .running(running[0].view_mut(&mut mean)?, running[1].view_mut(&mut variance)?, 0.25)
            .launch(stream)?;
        let of = |mean: &Number| if is_empty { 1.0.into() } else { *mean * 0.25 + 0.75 };
        let moved: Vec<Number> = means.iter().map(of).collect();
        compare::<f32>("running mean", &running[0].download(stream, &mean)?, &moved)?;
        let unbiased = counts as f64 / (counts.max(2) - 1) as f64;
        let of = |scale: &Number| (1.0 / scale.square() - EPSILON) * (0.25 * unbiased) + 1.5;
        let moved: Vec<Number> = scales.iter().map(|scale| if is_empty { 2.0.into() } else { of(scale) }).collect();
        compare::<f32>("running variance", &running[1].download(stream, &variance)?, &moved)?;
    } else {
        let launch = group_norm(of_x, groups, of_w, of_b, y.view_mut(&mut my)?).epsilon(EPSILON as f32);
        launch.statistics(of_means, of_scales).launch(stream)?;
    }
    compare::<T>("y", &y.download(stream, &my)?, &ys)?;
    if !is_empty {
        compare::<f32>("means", &statistics_out.download(stream, &mm)?, &means)?;
        compare::<f32>("scales", &statistics_out.download(stream, &ms)?, &scales)?;
    }

    let (means, scales) = (
        operand::<f32, 2>(rows, order(turn), &values(&means)),
        operand::<f32, 2>(rows, order(turn + 1), &values(&scales)),
    );
    let (mm, ms) = (means.upload(stream)?, scales.upload(stream)?);
    let (means, scales) = (means.view(&mm)?, scales.view(&ms)?);
    let mut first = None;
    for _ in 0..2 {
        let (mut my, dw) = (y.upload(stream)?, Operand::<f32, 1>::output([channels], order(turn)));
        let (mut mdw, mut mdb) = (dw.upload(stream)?, dw.upload(stream)?);
        let (of_dw, of_db, dx) = (dw.view_mut(&mut mdw)?, dw.view_mut(&mut mdb)?, y.view_mut(&mut my)?);
        if groups == 0 {
            let (means, scales) = (means.select(0, 0)?, scales.select(0, 0)?);
            batch_norm_backward(of_x, of_w, of_dy, means, scales, dx).dw(of_dw).db(of_db).launch(stream)?;
        } else {
            let launch = group_norm_backward(of_x, groups, of_w, of_dy, means, scales, dx);
            launch.dw(of_dw).db(of_db).launch(stream)?;
        }
        let found = [y.download(stream, &my)?, dw.download(stream, &mdw)?, dw.download(stream, &mdb)?];
        compare::<T>("dx", &found[0], &dxs)?;
        compare::<f32>("dw", &found[1], &dws)?;
        compare::<f32>("db", &found[2], &dbs)?;
        if first.get_or_insert_with(|| found.clone()) != &found {
            return Err(Failure("a second run gives other bits".to_string()));
        }
    }
    if groups != 0 {
        return Ok(());
    }
    let variance: Vec<f64> = (0..channels).map(|_| 0.5 + random.f64()).collect();
    let variance = operand::<f32, 1>([channels], order(turn), &variance);
    let mean = Operand::<f32, 1>::normal([channels], order(turn + 1), random);
    let (mm, mv, mut my) = (mean.upload(stream)?, variance.upload(stream)?, y.upload(stream)?);
    let launch = batch_norm_eval(of_x, of_w, of_b, mean.view(&mm)?, variance.view(&mv)?, y.view_mut(&mut my)?);
    launch.epsilon(EPSILON as f32).launch(stream)?;
    let (means, variances) = (mean.values(), variance.values());
    let of = |(at, x): (usize, &f64)| {
        let c = at / places % channels;
        let scale = 1.0 / (Number::from(variances[c]) + EPSILON).sqrt();
        (Number::from(*x) - means[c]) * scale * ws[c] + bs[c]
    };
    let expected: Vec<Number> = xs.iter().enumerate().map(of).collect();
    compare::<T>("y after training", &y.download(stream, &my)?, &expected)
}

fn errors(cases: &mut Vec<Case>) {
    cases.push(Case::new("group_norm refuses other groups and another ε", |stream, _| {
        let (x, mut y) = (stream.zeros::<f32>(24)?, stream.zeros::<f32>(24)?);
        let (shape, of_x, w) = ([2, 4, 3], x.view([2, 4, 3])?, x.view([4])?);
        for groups in [0, 3] {
            let launch = group_norm(of_x, groups, w, w, y.view_mut(shape)?);
            refused(launch.launch(stream), &["`group_norm`: `groups` is", "a divisor"])?;
        }
        let statistics = x.view([2, 3])?;
        let launch = group_norm_backward(of_x, 3, w, of_x, statistics, statistics, y.view_mut(shape)?);
        refused(launch.launch(stream), &["`group_norm_backward`: `groups` is 3"])?;
        refused(group_norm(of_x, 2, w, w, y.view_mut(shape)?).epsilon(-1.0).launch(stream), &["`epsilon` is -1"])
    }));
    cases.push(Case::new("batch_norm refuses another momentum", |stream, _| {
        let (x, mut y, mut z) = (stream.zeros::<f32>(24)?, stream.zeros::<f32>(24)?, stream.zeros::<f32>(24)?);
        let (shape, of_x, w) = ([2, 4, 3], x.view([2, 4, 3])?, x.view([4])?);
        let mut other = stream.zeros::<f32>(4)?;
        let launch = batch_norm(of_x, w, w, y.view_mut(shape)?);
        let launch = launch.running(z.view_mut([4])?, other.view_mut([4])?, 1.5);
        refused(launch.launch(stream), &["`momentum` is 1.5"])
    }));
}
