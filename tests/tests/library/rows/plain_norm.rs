//! Layer norm and RMS norm without weights, and their gradients: those of a weight of ones, to the bit.

use super::{by_rows, order};
use crate::harness::{Case, Operand, Outcome, Random, Scalar, Subject, compare, same, subject, type_name};
use crate::reference::norm as reference;
use triton::{Stream, bf16, f16};
use triton_kernels::FloatElement;
use triton_kernels::norm::{layer_norm, layer_norm_backward, rms_norm, rms_norm_backward};
use triton_kernels::norm::{layer_norm_plain, layer_norm_plain_backward, rms_norm_plain, rms_norm_plain_backward};

pub(super) fn subjects() -> Vec<Subject> {
    vec![
        subject!(
            "layer_norm_plain", layer_norm_plain(&x, &mut y).residual(&r, &mut sum).statistics(&mut mean, &mut rstd);
            x [2, 3, 5], y [2, 3, 5], r [2, 3, 5], sum [2, 3, 5], mean: f32 [2, 3], rstd: f32 [2, 3],
        ),
        subject!(
            "rms_norm_plain", rms_norm_plain(&x, &mut y).residual(&r, &mut sum).statistics(&mut rstd);
            x [3, 5], y [3, 5], r [3, 5], sum [3, 5], rstd: f32 [3],
        ),
        subject!(
            "layer_norm_plain_backward", layer_norm_plain_backward(&x, &dy, &mean, &rstd, &mut dx).dsum(&dsum);
            x [2, 3, 5], dy [2, 3, 5], mean: f32 [2, 3], rstd: f32 [2, 3], dx [2, 3, 5], dsum [2, 3, 5],
        ),
        subject!(
            "rms_norm_plain_backward", rms_norm_plain_backward(&x, &dy, &rstd, &mut dx);
            x [3, 9000], dy [3, 9000], rstd: f32 [3], dx [3, 9000],
        ),
    ]
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    of::<f32>(&mut cases);
    of::<f16>(&mut cases);
    of::<bf16>(&mut cases);
    cases
}

fn of<T: FloatElement + Scalar>(cases: &mut Vec<Case>) {
    let shapes = [[0, 3], [3, 0], [1, 1], [5, 33], [3, 1024], [2, 1025], [1, 8192], [2, 8193]];
    for (turn, shape) in shapes.into_iter().enumerate() {
        for mean in [false, true] {
            let op = if mean { "layer_norm_plain" } else { "rms_norm_plain" };
            let name = format!("{op} {} {shape:?} {:?}", type_name::<T>(), order(turn));
            cases.push(Case::new(name, move |stream, random| case::<T>(stream, random, shape, mean, turn)));
        }
    }
}

fn case<T: FloatElement + Scalar>(
    stream: &Stream,
    random: &mut Random,
    shape: [usize; 2],
    mean: bool,
    turn: usize,
) -> Outcome {
    let [rows, columns] = shape;
    let x = Operand::<T, 2>::new(shape, order(turn), || crate::harness::normal(random) + 0.5);
    let [r, dy] = [1, 2].map(|i| Operand::<T, 2>::normal(shape, order(turn + i), random));
    let one = Operand::<T, 1>::new([columns], order(0), || 1.0);
    let zero = Operand::<T, 1>::new([columns], order(0), || 0.0);
    let [y, sum, dx] = [0, 1, 2].map(|i| Operand::<T, 2>::output(shape, order(turn + i)));
    let [means, scales] = [0, 1].map(|_| Operand::<f32, 1>::output([rows], order(0)));
    let (mx, mr, mdy) = (x.upload(stream)?, r.upload(stream)?, dy.upload(stream)?);
    let (m1, m0) = (one.upload(stream)?, zero.upload(stream)?);
    let (of_x, of_dy, w, b) = (x.view(&mx)?, dy.view(&mdy)?, one.view(&m1)?, zero.view(&m0)?);
    let mut found: Vec<Vec<f64>> = Vec::new();
    for plain in [false, true] {
        let (mut my, mut ms, mut mdx) = (y.upload(stream)?, sum.upload(stream)?, dx.upload(stream)?);
        let (mut mm, mut mc) = (means.upload(stream)?, scales.upload(stream)?);
        let (to, adds) = (y.view_mut(&mut my)?, turn % 2 == 1);
        macro_rules! launch {
            ($norm:expr) => {{
                let launch = $norm.epsilon(1e-3);
                let launch = if adds { launch.residual(r.view(&mr)?, sum.view_mut(&mut ms)?) } else { launch };
                launch.launch(stream)?
            }};
        }
        let rstd = scales.view_mut(&mut mc)?;
        match (mean, plain) {
            (true, true) => launch!(layer_norm_plain(of_x, to).statistics(means.view_mut(&mut mm)?, rstd)),
            (true, false) => launch!(layer_norm(of_x, w, b, to).statistics(means.view_mut(&mut mm)?, rstd)),
            (false, true) => launch!(rms_norm_plain(of_x, to).statistics(rstd)),
            (false, false) => launch!(rms_norm(of_x, w, to).statistics(rstd)),
        }
        let (centre, scale, out) = (means.view(&mm)?, scales.view(&mc)?, dx.view_mut(&mut mdx)?);
        macro_rules! back {
            ($norm:expr) => {
                if adds { $norm.dsum(r.view(&mr)?) } else { $norm }.launch(stream)?
            };
        }
        match (mean, plain) {
            (true, true) => back!(layer_norm_plain_backward(of_x, of_dy, centre, scale, out)),
            (true, false) => back!(layer_norm_backward(of_x, w, of_dy, centre, scale, out)),
            (false, true) => back!(rms_norm_plain_backward(of_x, of_dy, scale, out)),
            (false, false) => back!(rms_norm_backward(of_x, w, of_dy, scale, out)),
        }
        let all = [y.download(stream, &my)?, sum.download(stream, &ms)?, dx.download(stream, &mdx)?];
        found.push(all.concat());
        found.push(all.into_iter().next().unwrap_or_default());
        if plain && !adds {
            let ones = vec![1.0; columns];
            let zeros = vec![0.0; columns];
            let of_row = |_: usize, row: &[f64]| reference::norm(row, &ones, mean.then_some(&zeros), 1e-3);
            compare::<T>("y", &found[3], &by_rows(&x.values(), columns, of_row))?;
        }
    }
    same("y, the sum and dx", &found[2], &found[0])
}
