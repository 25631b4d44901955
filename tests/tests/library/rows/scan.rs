//! Cumulative sums and products, and where extremes are.

use super::{by_rows, gradient, normals, order, pairs};
use crate::harness::{Case, Operand, Scalar, Subject, compare, normal, same, subject, type_name};
use crate::reference::number::values;
use crate::reference::reduce as reference;
use triton::{bf16, f16};
use triton_kernels::FloatElement;
use triton_kernels::reduce::{argmax, argmin, cumprod, cumprod_backward, cumsum};

pub(super) fn subjects() -> Vec<Subject> {
    vec![
        subject!("argmax", argmax(&x, &mut y); x [2, 3, 5], y: i32 [2, 3]),
        subject!("argmin", argmin(&x, &mut y); x [3, 700], y: i32 [3]),
        subject!("cumprod", cumprod(&x, &mut y); x [2, 3, 5], y [2, 3, 5]),
        subject!("cumprod_backward", cumprod_backward(&x, &y, &dy, &mut dx); x [2, 3, 5], y [2, 3, 5], dy [2, 3, 5], dx [2, 3, 5]),
        subject!("cumsum", cumsum(&x, &mut y).reverse(); x [2, 3, 5], y [2, 3, 5]),
    ]
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    of::<f32>(&mut cases);
    of::<f16>(&mut cases);
    of::<bf16>(&mut cases);
    for reverse in [false, true] {
        cases.push(Case::new(format!("cumsum gradient of the reference, reverse {reverse}"), move |_, random| {
            let x = normals(random, 9);
            let sums = |x: &[f64]| reference::cumsum(x, reverse);
            gradient("for x", random, &x, sums, |_, dy| reference::cumsum(dy, !reverse))
        }));
    }
    cases.push(Case::new("cumprod gradient of the reference", |_, random| {
        // With a 0.
        let mut x = normals(random, 9);
        x[4] = 0.0;
        let back = |x: &[f64], dy: &[f64]| reference::cumprod_backward(x, &values(&reference::cumprod(x)), dy);
        gradient("for x", random, &x, reference::cumprod, back)
    }));
    cases
}

fn of<T: FloatElement + Scalar>(cases: &mut Vec<Case>) {
    let mut turn = 0;
    let mut shapes = pairs(&[1, 5, 17], &[1, 2, 127, 130, 512, 513]);
    shapes.extend([[0, 3], [3, 0], [2, 2048], [2, 4097], [1, 9000]]);
    for shape in shapes {
        for zeros in [false, true] {
            turn += 1;
            products::<T>(cases, shape, zeros, turn);
        }
        for of in [false, true] {
            turn += 1;
            sums::<T>(cases, shape, of, turn);
            for hostile in [false, true] {
                turn += 1;
                extremes::<T>(cases, shape, of, hostile, turn);
            }
        }
    }
}

fn sums<T: FloatElement + Scalar>(cases: &mut Vec<Case>, shape: [usize; 2], reverse: bool, turn: usize) {
    let name = format!("cumsum {} {shape:?}, reverse {reverse}, {turn}", type_name::<T>());
    cases.push(Case::new(name, move |stream, random| {
        let (x, y) = (Operand::<T, 2>::normal(shape, order(turn), random), Operand::<T, 2>::output(shape, order(turn / 4)));
        let (mx, mut my) = (x.upload(stream)?, y.upload(stream)?);
        let launch = cumsum(x.view(&mx)?, y.view_mut(&mut my)?);
        if reverse { launch.reverse() } else { launch }.launch(stream)?;
        let expected = by_rows(&x.values(), shape[1], |_, row| reference::cumsum(row, reverse));
        compare::<T>("y", &y.download(stream, &my)?, &expected)
    }));
}

/// Numbers near 1, whose products stay in range, and rarely a 0.
fn products<T: FloatElement + Scalar>(cases: &mut Vec<Case>, shape: [usize; 2], zeros: bool, turn: usize) {
    let name = format!("cumprod {} {shape:?}, zeros {zeros}, {turn}", type_name::<T>());
    cases.push(Case::new(name, move |stream, random| {
        let count = shape[1].max(1);
        let spread = 0.5 / (count as f64).sqrt();
        let x = Operand::<T, 2>::new(shape, order(turn), || match zeros && random.usize(..count) == 0 {
            true => 0.0,
            false => (1.0 + spread * normal(random)).copysign(random.f64() - 0.5),
        });
        let (y, dx) = (Operand::<T, 2>::output(shape, order(turn / 4)), Operand::<T, 2>::output(shape, order(turn / 2)));
        let dy = Operand::<T, 2>::normal(shape, order(turn + 1), random);
        let (mx, mdy, mut my, mut mdx) = (x.upload(stream)?, dy.upload(stream)?, y.upload(stream)?, dx.upload(stream)?);
        cumprod(x.view(&mx)?, y.view_mut(&mut my)?).launch(stream)?;
        let (xs, ys, dys) = (x.values(), y.download(stream, &my)?, dy.values());
        compare::<T>("y", &ys, &by_rows(&xs, shape[1], |_, row| reference::cumprod(row)))?;
        cumprod_backward(x.view(&mx)?, y.view(&my)?, dy.view(&mdy)?, dx.view_mut(&mut mdx)?).launch(stream)?;
        let of_row = |i: usize, row: &[f64]| {
            let at = i * shape[1]..(i + 1) * shape[1];
            reference::cumprod_backward(row, &ys[at.clone()], &dys[at])
        };
        compare::<T>("dx", &dx.download(stream, &mdx)?, &by_rows(&xs, shape[1], of_row))
    }));
}

/// Few numbers, so that many are equal, and among hostile ones infinities and NaN.
fn extremes<T: FloatElement + Scalar>(
    cases: &mut Vec<Case>,
    shape: [usize; 2],
    least: bool,
    hostile: bool,
    turn: usize,
) {
    let op = if least { "argmin" } else { "argmax" };
    let name = format!("{op} {} {shape:?}, hostile {hostile}, {turn}", type_name::<T>());
    cases.push(Case::new(name, move |stream, random| {
        let far = [f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0];
        let count = 2 * shape[1] as u32;
        let only = random.u8(..4);
        let x = Operand::<T, 2>::new(shape, order(turn), || match hostile {
            true if random.u32(..count.max(1)) == 0 => f64::NAN,
            true if only == 0 => f64::NEG_INFINITY,
            true if only == 1 => f64::INFINITY,
            true => far[random.usize(..4)],
            false if only == 0 => normal(random),
            false => f64::from(random.i32(-3..=3)),
        });
        let y = Operand::<i32, 1>::output([shape[0]], order(turn / 4));
        let (mx, mut my) = (x.upload(stream)?, y.upload(stream)?);
        let (of_x, of_y) = (x.view(&mx)?, y.view_mut(&mut my)?);
        if least { argmin(of_x, of_y) } else { argmax(of_x, of_y) }.launch(stream)?;
        let values = x.values();
        let row = |i: usize| &values[i * shape[1]..][..shape[1]];
        let expected: Vec<f64> = (0..shape[0]).map(|i| reference::argmax(row(i), least)).collect();
        same("y", &y.download(stream, &my)?, &expected)
    }));
}
