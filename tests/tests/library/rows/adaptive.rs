//! Means of as many parts of an image as are asked for, and their gradients.

use super::{gradient, normals, operand, order};
use crate::harness::hostile::SPECIALS;
use crate::harness::{Case, Operand, Scalar, Subject, compare, refused, subject, type_name};
use crate::reference::number::{Number, Total, totals};
use triton::{bf16, f16};
use triton_kernels::FloatElement;
use triton_kernels::pool::{adaptive_avg_pool, adaptive_avg_pool_backward};

pub(super) fn subjects() -> Vec<Subject> {
    vec![
        subject!("adaptive_avg_pool", adaptive_avg_pool(&x, &mut y); x [2, 4, 7, 5], y [2, 2, 3, 5]),
        subject!(
            "adaptive_avg_pool_backward", adaptive_avg_pool_backward(&dy, &mut dx);
            dy [2, 2, 3, 5], dx [2, 4, 7, 5],
        ),
    ]
}

/// Pixels and channels of x, and places of y.
const SHAPES: [([usize; 4], [usize; 2]); 14] = [
    ([1, 1, 1, 1], [1, 1]),
    ([2, 7, 7, 72], [1, 1]),
    ([1, 5, 9, 8], [1, 1]),
    ([2, 5, 7, 3], [3, 4]),
    ([1, 3, 19, 64], [3, 19]),
    ([1, 4, 6, 5], [2, 3]),
    ([1, 2, 3, 70], [5, 20]),
    ([1, 9, 40, 4], [2, 3]),
    ([2, 3, 1, 2], [2, 5]),
    ([0, 3, 4, 2], [2, 2]),
    ([2, 3, 4, 0], [2, 2]),
    ([1, 3, 4, 2], [0, 2]),
    ([1, 3, 4, 2], [2, 0]),
    ([1, 0, 4, 0], [2, 2]),
];

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (i, (shape, places)) in SHAPES.into_iter().enumerate() {
        for turn in [i, 3 * i + 1] {
            of::<f32>(&mut cases, shape, places, turn);
            of::<f16>(&mut cases, shape, places, turn);
            of::<bf16>(&mut cases, shape, places, turn);
        }
    }
    for (shape, places) in [([2, 5, 7, 2], [3, 4]), ([1, 2, 3, 2], [5, 7]), ([1, 4, 6, 3], [1, 1])] {
        cases.push(Case::new(
            format!("adaptive_avg_pool gradient of the reference {shape:?} {places:?}"),
            move |_, random| {
                let x = normals(random, shape.iter().product());
                let f = |x: &[f64]| mean(x, shape, places);
                gradient("for x", random, &x, f, |_, dy| mean_backward(dy, shape, places))
            },
        ));
    }
    cases.push(Case::new("adaptive_avg_pool refuses an image without pixels", |stream, _| {
        let (x, mut y) = (stream.zeros::<f32>(16)?, stream.zeros::<f32>(16)?);
        let launch = adaptive_avg_pool(x.view([1, 0, 4, 2])?, y.view_mut([1, 2, 2, 2])?);
        refused(launch.launch(stream), &["`adaptive_avg_pool`: `h` is 0"])?;
        let x = x.view([1, 1, 1, 1])?.as_strided([1, 1 << 16, 1 << 16, 1], [0; 4])?;
        refused(adaptive_avg_pool(x, y.view_mut([1, 1, 1, 1])?).launch(stream), &["an index up to", "2³⁰"])
    }));
    cases
}

/// The pixels of x that each output is the mean of.
fn parts([n, h, w, c]: [usize; 4], [p, q]: [usize; 2]) -> Vec<Vec<usize>> {
    let range = |i: usize, extent: usize, parts: usize| i * extent / parts..((i + 1) * extent).div_ceil(parts);
    let mut all = Vec::new();
    for at in 0..n * p * q * c {
        let (place, channel) = (at / c, at % c);
        let (image, down, across) = (place / (p * q), place / q % p, place % q);
        let pixels = range(down, h, p).flat_map(|row| range(across, w, q).map(move |column| (row, column)));
        all.push(pixels.map(|(row, column)| ((image * h + row) * w + column) * c + channel).collect());
    }
    all
}

fn mean(x: &[f64], shape: [usize; 4], places: [usize; 2]) -> Vec<Number> {
    let mean = |pixels: Vec<usize>| {
        let sum: Number = pixels.iter().map(|at| Number::from(x[*at])).sum();
        sum / pixels.len() as f64
    };
    parts(shape, places).into_iter().map(mean).collect()
}

fn mean_backward(dy: &[f64], shape: [usize; 4], places: [usize; 2]) -> Vec<Number> {
    let mut dx = vec![Total::default(); shape.iter().product()];
    for (pixels, dy) in parts(shape, places).into_iter().zip(dy) {
        let share = Number::from(*dy) / pixels.len() as f64;
        pixels.into_iter().for_each(|at| dx[at] += share);
    }
    totals(dx)
}

fn of<T: FloatElement + Scalar>(cases: &mut Vec<Case>, shape: [usize; 4], places: [usize; 2], turn: usize) {
    let name = format!("adaptive_avg_pool {} {shape:?} {places:?} {turn}", type_name::<T>());
    if cases.iter().any(|case| case.name() == name) {
        return;
    }
    cases.push(Case::new(name, move |stream, random| {
        let result = [shape[0], places[0], places[1], shape[3]];
        for special in [None].into_iter().chain(SPECIALS.into_iter().map(Some)) {
            let mut numbers = |shape: [usize; 4]| {
                let mut values = Operand::<T, 4>::normal(shape, order(0), random).values();
                if let (Some(special), false) = (special, values.is_empty()) {
                    let at = random.usize(..values.len());
                    values[at] = special;
                }
                values
            };
            let (xs, dys) = (numbers(shape), numbers(result));
            let (x, y) = (operand::<T, 4>(shape, order(turn), &xs), Operand::<T, 4>::output(result, order(turn / 2)));
            let (mx, mut my) = (x.upload(stream)?, y.upload(stream)?);
            adaptive_avg_pool(x.view(&mx)?, y.view_mut(&mut my)?).launch(stream)?;
            compare::<T>("y", &y.download(stream, &my)?, &mean(&xs, shape, places))?;

            let (dy, dx) = (operand::<T, 4>(result, order(turn), &dys), Operand::<T, 4>::output(shape, order(turn / 2)));
            let (my, mut mx) = (dy.upload(stream)?, dx.upload(stream)?);
            adaptive_avg_pool_backward(dy.view(&my)?, dx.view_mut(&mut mx)?).launch(stream)?;
            compare::<T>("dx", &dx.download(stream, &mx)?, &mean_backward(&dys, shape, places))?;
        }
        Ok(())
    }));
}
