//! Pixel shuffle, which copies bits, and its gradient.

use super::{gradient, normals, operand};
use crate::harness::hostile::{Draw, SPECIALS};
use crate::harness::{Case, Operand, Order, Scalar, Subject, refused, same, subject, type_name};
use crate::reference::number::exact;
use triton::{bf16, f16};
use triton_kernels::FloatElement;
use triton_kernels::conv::{pixel_shuffle, pixel_shuffle_backward};

pub(super) fn subjects() -> Vec<Subject> {
    vec![
        subject!("pixel_shuffle", pixel_shuffle(&x, 2, &mut y); x [2, 3, 5, 8], y [2, 6, 10, 2]),
        subject!("pixel_shuffle_backward", pixel_shuffle_backward(&dy, 3, &mut dx); dy [2, 6, 9, 2], dx [2, 2, 3, 18]),
    ]
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    of::<f32>(&mut cases);
    of::<f16>(&mut cases);
    of::<bf16>(&mut cases);
    for factor in [1, 2, 3] {
        cases.push(Case::new(format!("pixel_shuffle gradient of the reference {factor}"), move |_, random| {
            let shape = [2, 2, 3, 2];
            let x = normals(random, 24 * factor * factor);
            let f = |x: &[f64]| exact(&reference(x, shape, factor));
            gradient("for x", random, &x, f, |_, dy| exact(&reference_backward(dy, shape, factor)))
        }));
    }
    errors(&mut cases);
    cases
}

/// The places in x and in y of each element, of x \[n, h, w, c · factor²\].
fn places([n, h, w, c]: [usize; 4], factor: usize) -> Vec<[usize; 2]> {
    let mut places = Vec::new();
    for (image, row) in (0..n).flat_map(|image| (0..h * factor).map(move |row| (image, row))) {
        for (column, channel) in (0..w * factor).flat_map(|column| (0..c).map(move |channel| (column, channel))) {
            let pixel = (image * h + row / factor) * w + column / factor;
            let k = (channel * factor + row % factor) * factor + column % factor;
            let y = ((image * h * factor + row) * w * factor + column) * c + channel;
            places.push([pixel * c * factor * factor + k, y]);
        }
    }
    places
}

fn reference(x: &[f64], shape: [usize; 4], factor: usize) -> Vec<f64> {
    let mut y = vec![0.0; x.len()];
    places(shape, factor).into_iter().for_each(|[from, to]| y[to] = x[from]);
    y
}

fn reference_backward(dy: &[f64], shape: [usize; 4], factor: usize) -> Vec<f64> {
    let mut dx = vec![0.0; dy.len()];
    places(shape, factor).into_iter().for_each(|[to, from]| dx[to] = dy[from]);
    dx
}

const ORDERS: [Order; 5] = [Order::Rows, Order::Columns, Order::Odd, Order::Apart, Order::Planes];

const SHAPES: [[usize; 4]; 11] = [
    [1, 1, 1, 1],
    [2, 3, 5, 3],
    [1, 2, 70, 4],
    [2, 2, 17, 8],
    [1, 1, 9, 33],
    [1, 2, 19, 40],
    [2, 1, 3, 72],
    [0, 3, 2, 4],
    [2, 0, 3, 5],
    [1, 2, 0, 3],
    [1, 2, 3, 0],
];

fn of<T: FloatElement + Scalar>(cases: &mut Vec<Case>) {
    for (i, shape) in SHAPES.into_iter().enumerate() {
        for (j, factor) in [1, 2, 3, 4, 5].into_iter().enumerate() {
            shuffles::<T>(cases, shape, factor, [ORDERS[0], ORDERS[0]]);
            shuffles::<T>(cases, shape, factor, [ORDERS[(i + j + 1) % 5], ORDERS[(i + 2 * j + 1) % 5]]);
        }
    }
}

/// Of x \[n, h, w, c · factor²\], with numbers at the edge and some that are not finite: each has to be in its place, and nowhere else.
fn shuffles<T: FloatElement + Scalar>(cases: &mut Vec<Case>, shape: [usize; 4], factor: usize, orders: [Order; 2]) {
    let name = format!("pixel_shuffle {} {shape:?} by {factor} {orders:?}", type_name::<T>());
    if cases.iter().any(|case| case.name() == name) {
        return;
    }
    cases.push(Case::new(name, move |stream, random| {
        let [n, h, w, c] = shape;
        let (small, large) = ([n, h, w, c * factor * factor], [n, h * factor, w * factor, c]);
        let mut numbers = Draw::ANY.numbers::<T>(random, small.iter().product());
        for special in SPECIALS.into_iter().filter(|_| n * h * w * c > 0) {
            let at = random.usize(..numbers.len());
            numbers[at] = special;
        }
        let x = operand::<T, 4>(small, orders[0], &numbers);
        let y = Operand::<T, 4>::output(large, orders[1]);
        let (mx, mut my) = (x.upload(stream)?, y.upload(stream)?);
        pixel_shuffle(x.view(&mx)?, factor, y.view_mut(&mut my)?).launch(stream)?;
        same("y", &y.download(stream, &my)?, &reference(&numbers, shape, factor))?;

        let dy = operand::<T, 4>(large, orders[1], &numbers);
        let dx = Operand::<T, 4>::output(small, orders[0]);
        let (my, mut mx) = (dy.upload(stream)?, dx.upload(stream)?);
        pixel_shuffle_backward(dy.view(&my)?, factor, dx.view_mut(&mut mx)?).launch(stream)?;
        same("dx", &dx.download(stream, &mx)?, &reference_backward(&numbers, shape, factor))
    }));
}

fn errors(cases: &mut Vec<Case>) {
    cases.push(Case::new("pixel_shuffle refuses other extents and factors", |stream, _| {
        let (x, mut y) = (stream.zeros::<f32>(256)?, stream.zeros::<f32>(256)?);
        let small = [1, 2, 3, 8];
        for (large, factor, texts) in [
            ([1, 5, 6, 2], 2, ["y` has extent 5 along axis 1", "4 is expected"]),
            ([1, 4, 7, 2], 2, ["y` has extent 7 along axis 2", "6 is expected"]),
            ([1, 4, 6, 3], 2, ["x` has extent 8 along axis 3", "12 is expected"]),
            ([1, 4, 6, 2], 0, ["`factor` is 0", "from 1 on"]),
            ([1, 4, 6, 2], usize::MAX, ["y` has extent 4 along axis 1", "h · factor"]),
        ] {
            refused(pixel_shuffle(x.view(small)?, factor, y.view_mut(large)?).launch(stream), &texts)?;
            refused(pixel_shuffle_backward(x.view(large)?, factor, y.view_mut(small)?).launch(stream), &texts)?;
        }
        Ok(())
    }));
}
