//! Padding of images, which copies bits, and its gradient.

use super::{gradient, normals, operand, order};
use crate::harness::hostile::{Draw, SPECIALS};
use crate::harness::{Case, Operand, Scalar, Subject, compare, refused, same, subject, type_name};
use crate::reference::number::{Number, Total, exact, totals};
use triton::{bf16, f16};
use triton_kernels::FloatElement;
use triton_kernels::pool::{Padding, pad, pad_backward};

pub(super) fn subjects() -> Vec<Subject> {
    vec![
        subject!("pad", pad(&x, (1, 2), (3, 0), Padding::Reflect, &mut y); x [2, 3, 5, 5], y [2, 6, 8, 5]),
        subject!(
            "pad_backward", pad_backward(&dy, (1, 2), (3, 0), Padding::Replicate, &mut dx);
            dy [2, 6, 8, 5], dx [2, 3, 5, 5],
        ),
    ]
}

const KINDS: [Padding; 3] = [Padding::Zeros, Padding::Reflect, Padding::Replicate];

/// Rows above and below an image, columns on its left and right.
type Around = [(usize, usize); 2];

/// Images, and what is around them.
const SHAPES: [([usize; 4], Around); 12] = [
    ([1, 1, 1, 1], [(0, 0), (0, 0)]),
    ([2, 3, 5, 3], [(1, 2), (4, 0)]),
    ([1, 4, 18, 8], [(3, 3), (17, 17)]),
    ([1, 2, 33, 72], [(0, 1), (1, 1)]),
    ([2, 5, 3, 64], [(4, 1), (2, 2)]),
    ([1, 1, 1, 5], [(2, 3), (20, 1)]),
    ([1, 2, 3, 4], [(7, 0), (0, 19)]),
    ([0, 3, 4, 2], [(1, 1), (1, 1)]),
    ([1, 3, 4, 0], [(1, 1), (1, 1)]),
    ([1, 0, 4, 2], [(0, 0), (1, 1)]),
    ([1, 0, 4, 2], [(1, 1), (1, 1)]),
    ([2, 3, 0, 2], [(1, 1), (0, 2)]),
];

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (i, (shape, around)) in SHAPES.into_iter().enumerate() {
        for (j, kind) in KINDS.into_iter().enumerate().filter(|(_, kind)| fits(shape, around, *kind)) {
            for turn in [i + j, 5 * i + j + 1] {
                of::<f32>(&mut cases, shape, around, kind, turn);
                of::<f16>(&mut cases, shape, around, kind, turn);
                of::<bf16>(&mut cases, shape, around, kind, turn);
            }
        }
    }
    for kind in KINDS {
        cases.push(Case::new(format!("pad gradient of the reference {kind:?}"), move |_, random| {
            let (shape, around) = ([2, 3, 4, 2], [(2, 1), (0, 3)]);
            let x = normals(random, 48);
            let f = |x: &[f64]| exact(&reference(x, shape, around, kind));
            gradient("for x", random, &x, f, |_, dy| reference_backward(dy, shape, around, kind))
        }));
    }
    errors(&mut cases);
    cases
}

/// Whether an image has the pixels that a kind of padding copies.
fn fits([_, h, w, _]: [usize; 4], [rows, columns]: Around, kind: Padding) -> bool {
    [(h, rows), (w, columns)].into_iter().all(|(extent, (before, after))| {
        let most = before.max(after);
        most == 0 || kind == Padding::Zeros || (extent > 0 && (kind == Padding::Replicate || most < extent))
    })
}

fn padded([n, h, w, c]: [usize; 4], [rows, columns]: Around) -> [usize; 4] {
    [n, rows.0 + h + rows.1, columns.0 + w + columns.1, c]
}

/// The pixel that each element of the padded image is a copy of.
fn sources(shape: [usize; 4], around: Around, kind: Padding) -> Vec<Option<usize>> {
    let ([_, h, w, c], [n, p, q, _]) = (shape, padded(shape, around));
    let along = |i: usize, extent: usize, before: usize| -> Option<usize> {
        let (i, extent) = (i as i64 - before as i64, extent as i64);
        let inside = (0..extent).contains(&i);
        let at = if kind == Padding::Replicate && !inside {
            if i < 0 { 0 } else { extent - 1 }
        } else if kind == Padding::Reflect && !inside {
            if i < 0 { -i } else { 2 * (extent - 1) - i }
        } else {
            i
        };
        (0..extent).contains(&at).then_some(at as usize)
    };
    let of = |at: usize| {
        let (place, channel) = (at / c, at % c);
        let row = along(place / q % p, h, around[0].0)?;
        let column = along(place % q, w, around[1].0)?;
        Some(((place / (p * q) * h + row) * w + column) * c + channel)
    };
    (0..n * p * q * c).map(of).collect()
}

fn reference(x: &[f64], shape: [usize; 4], around: Around, kind: Padding) -> Vec<f64> {
    sources(shape, around, kind).into_iter().map(|at| at.map_or(0.0, |at| x[at])).collect()
}

fn reference_backward(dy: &[f64], shape: [usize; 4], around: Around, kind: Padding) -> Vec<Number> {
    let mut dx = vec![Total::default(); shape.iter().product()];
    let pairs = sources(shape, around, kind).into_iter().zip(dy);
    pairs.for_each(|(at, dy)| at.into_iter().for_each(|at| dx[at] += *dy));
    totals(dx)
}

fn of<T: FloatElement + Scalar>(
    cases: &mut Vec<Case>,
    shape: [usize; 4],
    around: Around,
    kind: Padding,
    turn: usize,
) {
    let name = format!("pad {} {shape:?} {around:?} {kind:?} {}", type_name::<T>(), turn);
    cases.push(Case::new(name, move |stream, random| {
        let ([rows, columns], result) = (around, padded(shape, around));
        let mut numbers = Draw::ANY.numbers::<T>(random, shape.iter().product());
        for special in SPECIALS.into_iter().filter(|_| !shape.contains(&0)) {
            let at = random.usize(..numbers.len());
            numbers[at] = special;
        }
        let (x, y) = (operand::<T, 4>(shape, order(turn), &numbers), Operand::<T, 4>::output(result, order(turn / 2)));
        let (mx, mut my) = (x.upload(stream)?, y.upload(stream)?);
        pad(x.view(&mx)?, rows, columns, kind, y.view_mut(&mut my)?).launch(stream)?;
        same("y", &y.download(stream, &my)?, &reference(&numbers, shape, around, kind))?;

        for special in [None].into_iter().chain(SPECIALS.into_iter().map(Some)) {
            let mut values = Operand::<T, 4>::normal(result, order(0), random).values();
            if let (Some(special), false) = (special, values.is_empty()) {
                let at = random.usize(..values.len());
                values[at] = special;
            }
            let (dy, dx) = (operand::<T, 4>(result, order(turn), &values), Operand::<T, 4>::output(shape, order(turn / 2)));
            let (my, mut mx) = (dy.upload(stream)?, dx.upload(stream)?);
            pad_backward(dy.view(&my)?, rows, columns, kind, dx.view_mut(&mut mx)?).launch(stream)?;
            compare::<T>("dx", &dx.download(stream, &mx)?, &reference_backward(&values, shape, around, kind))?;
        }
        Ok(())
    }));
}

fn errors(cases: &mut Vec<Case>) {
    cases.push(Case::new("pad refuses other extents and padding that an image does not have", |stream, _| {
        let (x, mut y) = (stream.zeros::<f32>(256)?, stream.zeros::<f32>(256)?);
        let image = [1, 2, 4, 2];
        for (result, rows, columns, kind, texts) in [
            ([1, 4, 7, 2], (1, 0), (3, 0), Padding::Zeros, ["y` has extent 4 along axis 1", "3 is expected"]),
            ([1, 3, 6, 2], (1, 0), (3, 0), Padding::Zeros, ["y` has extent 6 along axis 2", "7 is expected"]),
            ([1, 4, 4, 2], (2, 0), (0, 0), Padding::Reflect, ["`rows` is 2", "less than the image has"]),
            ([1, 2, 12, 2], (0, 0), (1, 7), Padding::Reflect, ["`columns` is 7", "less than the image has"]),
            ([1, 2, 4, 2], (usize::MAX, 0), (0, 0), Padding::Zeros, ["an axis of 2 pixels", "2²⁹"]),
        ] {
            let of_dy = texts.map(|text| text.replace("y` has", "dy` has"));
            let launch = pad(x.view(image)?, rows, columns, kind, y.view_mut(result)?);
            refused(launch.launch(stream), &texts)?;
            let launch = pad_backward(x.view(result)?, rows, columns, kind, y.view_mut(image)?);
            refused(launch.launch(stream), &[of_dy[0].as_str(), of_dy[1].as_str()])?;
        }
        let launch = pad(x.view([1, 0, 4, 2])?, (1, 1), (0, 0), Padding::Replicate, y.view_mut([1, 2, 4, 2])?);
        refused(launch.launch(stream), &["`pad`: `rows` is 1", "without pixels"])
    }));
}
