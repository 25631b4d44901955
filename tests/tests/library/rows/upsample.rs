//! Images in another size, and their gradients.

use super::{gradient, normals, operand, order};
use crate::harness::hostile::{Draw, SPECIALS};
use crate::harness::{Case, Operand, Random, Scalar, Subject, compare, refused, same, subject, type_name};
use crate::reference::number::{Number, Total, totals, values};
use triton::{bf16, f16};
use triton_kernels::FloatElement;
use triton_kernels::pool::{Interpolation, upsample, upsample_backward};

pub(super) fn subjects() -> Vec<Subject> {
    vec![
        subject!("upsample", upsample(&x, Interpolation::Bilinear, &mut y); x [2, 3, 5, 5], y [2, 6, 8, 5]),
        subject!(
            "upsample_backward", upsample_backward(&dy, Interpolation::Bilinear, &mut dx).align_corners();
            dy [2, 6, 8, 5], dx [2, 3, 5, 5],
        ),
    ]
}

/// What a pixel of y is, and whether corners are aligned.
const KINDS: [(Interpolation, bool); 3] =
    [(Interpolation::Nearest, false), (Interpolation::Bilinear, false), (Interpolation::Bilinear, true)];

/// Pixels and channels of x, and places of y.
const SHAPES: [([usize; 4], [usize; 2]); 15] = [
    ([1, 1, 1, 1], [1, 1]),
    ([2, 3, 5, 3], [6, 10]),
    ([1, 4, 9, 8], [8, 18]),
    ([1, 2, 17, 72], [4, 34]),
    ([2, 3, 4, 64], [5, 6]),
    ([1, 7, 40, 4], [3, 9]),
    ([1, 3, 4, 5], [3, 4]),
    ([1, 1, 3, 2], [4, 1]),
    ([1, 5, 1, 6], [1, 21]),
    ([1, 2, 2, 3], [9, 37]),
    ([0, 3, 4, 2], [2, 2]),
    ([2, 3, 4, 0], [2, 2]),
    ([1, 3, 4, 2], [0, 2]),
    ([1, 3, 4, 2], [2, 0]),
    ([1, 0, 4, 0], [2, 2]),
];

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (i, (shape, places)) in SHAPES.into_iter().enumerate() {
        for (j, (kind, corners)) in KINDS.into_iter().enumerate() {
            for turn in [i + j, 5 * i + j + 1] {
                of::<f32>(&mut cases, shape, places, (kind, corners), turn);
                of::<f16>(&mut cases, shape, places, (kind, corners), turn);
                of::<bf16>(&mut cases, shape, places, (kind, corners), turn);
            }
        }
    }
    for (shape, places) in [([2, 3, 4, 2], [6, 5]), ([1, 7, 5, 2], [3, 2]), ([1, 1, 4, 3], [3, 1])] {
        for kind in KINDS {
            let name = format!("upsample gradient of the reference {shape:?} {places:?} {kind:?}");
            cases.push(Case::new(name, move |_, random| {
                let x = normals(random, shape.iter().product());
                let f = |x: &[f64]| reference(x, shape, places, kind);
                gradient("for x", random, &x, f, |_, dy| reference_backward(dy, shape, places, kind))
            }));
        }
    }
    errors(&mut cases);
    cases
}

/// The pixels of an axis that have a share in place i, and their shares.
fn shares(i: usize, extent: usize, places: usize, (kind, corners): (Interpolation, bool)) -> Vec<(usize, Number)> {
    // In whole numbers: how many parts of a pixel, of how many parts.
    let (at, of) = if kind == Interpolation::Nearest {
        (i * extent / places * places, places)
    } else if corners {
        if places == 1 { (0, 1) } else { (i * (extent - 1), places - 1) }
    } else {
        (((2 * i + 1) * extent).saturating_sub(places), 2 * places)
    };
    let (first, next) = (at / of, Number::from((at % of) as f64) / of as f64);
    let both = [(first, 1.0 - next), ((first + 1).min(extent - 1), next)];
    both.into_iter().filter(|(_, share)| share.value > 0.0).collect()
}

/// The pixels of x that have a weight in each output, and their weights.
fn weights(
    [n, h, w, c]: [usize; 4],
    [p, q]: [usize; 2],
    kind: (Interpolation, bool),
) -> Vec<Vec<(usize, Number)>> {
    let mut all = Vec::new();
    for at in 0..n * p * q * c {
        let (place, channel) = (at / c, at % c);
        let image = place / (p * q);
        let (rows, columns) = (shares(place / q % p, h, p, kind), shares(place % q, w, q, kind));
        let pairs = rows.iter().flat_map(|row| columns.iter().map(move |column| (*row, *column)));
        let weight = |((row, down), (column, across)): ((usize, Number), (usize, Number))| {
            (((image * h + row) * w + column) * c + channel, down * across)
        };
        all.push(pairs.map(weight).collect());
    }
    all
}

fn reference(x: &[f64], shape: [usize; 4], places: [usize; 2], kind: (Interpolation, bool)) -> Vec<Number> {
    let of = |pixels: Vec<(usize, Number)>| pixels.into_iter().map(|(at, weight)| weight * x[at]).sum();
    weights(shape, places, kind).into_iter().map(of).collect()
}

fn reference_backward(dy: &[f64], shape: [usize; 4], places: [usize; 2], kind: (Interpolation, bool)) -> Vec<Number> {
    let mut dx = vec![Total::default(); shape.iter().product()];
    for (pixels, dy) in weights(shape, places, kind).into_iter().zip(dy) {
        pixels.into_iter().for_each(|(at, weight)| dx[at] += weight * *dy);
    }
    totals(dx)
}

/// Numbers, some of which are not finite.
fn planted<T: Scalar>(random: &mut Random, count: usize, draw: &Draw, specials: &[f64]) -> Vec<f64> {
    let mut numbers = draw.numbers::<T>(random, count);
    for special in specials.iter().filter(|_| count > 0) {
        numbers[random.usize(..count)] = *special;
    }
    numbers
}

fn of<T: FloatElement + Scalar>(
    cases: &mut Vec<Case>,
    shape: [usize; 4],
    places: [usize; 2],
    kind: (Interpolation, bool),
    turn: usize,
) {
    let (interpolation, corners) = kind;
    let name = format!("upsample {} {shape:?} {places:?} {interpolation:?} {corners} {turn}", type_name::<T>());
    cases.push(Case::new(name, move |stream, random| {
        let result = [shape[0], places[0], places[1], shape[3]];
        for specials in [&[][..], &SPECIALS[..1], &SPECIALS[1..2], &SPECIALS[2..]] {
            let draw = if interpolation == Interpolation::Nearest { Draw::ANY } else { Draw::Normal };
            let xs = planted::<T>(random, shape.iter().product(), &draw, specials);
            let (x, y) = (operand::<T, 4>(shape, order(turn), &xs), Operand::<T, 4>::output(result, order(turn / 2)));
            let (mx, mut my) = (x.upload(stream)?, y.upload(stream)?);
            let launch = upsample(x.view(&mx)?, interpolation, y.view_mut(&mut my)?);
            if corners { launch.align_corners().launch(stream)? } else { launch.launch(stream)? }
            let (found, expected) = (y.download(stream, &my)?, reference(&xs, shape, places, kind));
            if interpolation == Interpolation::Nearest {
                same("y", &found, &values(&expected))?;
            } else {
                compare::<T>("y", &found, &expected)?;
            }

            let dys = planted::<T>(random, result.iter().product(), &Draw::Normal, specials);
            let (dy, dx) = (operand::<T, 4>(result, order(turn), &dys), Operand::<T, 4>::output(shape, order(turn / 2)));
            let (my, mut mx) = (dy.upload(stream)?, dx.upload(stream)?);
            let launch = upsample_backward(dy.view(&my)?, interpolation, dx.view_mut(&mut mx)?);
            if corners { launch.align_corners().launch(stream)? } else { launch.launch(stream)? }
            let expected = reference_backward(&dys, shape, places, kind);
            compare::<T>("dx", &dx.download(stream, &mx)?, &expected)?;
        }
        Ok(())
    }));
}

fn errors(cases: &mut Vec<Case>) {
    cases.push(Case::new("upsample refuses an image without pixels and options of another kind", |stream, _| {
        let (x, mut y) = (stream.zeros::<f32>(16)?, stream.zeros::<f32>(16)?);
        let launch = upsample(x.view([1, 2, 0, 2])?, Interpolation::Bilinear, y.view_mut([1, 2, 2, 2])?);
        refused(launch.launch(stream), &["`upsample`: `w` is 0"])?;
        let image = [1, 2, 2, 2];
        let launch = upsample(x.view(image)?, Interpolation::Nearest, y.view_mut(image)?).align_corners();
        refused(launch.launch(stream), &["`align_corners` is true", "Bilinear"])?;
        let launch = upsample_backward(x.view(image)?, Interpolation::Nearest, y.view_mut(image)?).align_corners();
        refused(launch.launch(stream), &["`align_corners` is true", "Bilinear"])?;
        let x = x.view([1, 1, 1, 1])?.as_strided([1, 1 << 30, 1, 1], [0; 4])?;
        let launch = upsample(x, Interpolation::Nearest, y.view_mut([1, 2, 1, 1])?);
        refused(launch.launch(stream), &["an index up to", "2³⁰"])
    }));
}
