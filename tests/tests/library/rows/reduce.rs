//! Reductions over axes.

use super::{order, pairs};
use crate::harness::{
    Case, Failure, Operand, Outcome, Random, Scalar, Subject, compare, operand, refused, same, subject, type_name,
};
use crate::reference::reduce as reference;
use triton::{Stream, View, ViewMut, bf16, f16};
use triton_kernels::FloatElement;
use triton_kernels::reduce::{Axes, Reduce, Reduction, all, any, max, mean, min, norm, reduce, sum, var};

/// All of them.
pub const ALL: [Reduction; 8] = [
    Reduction::Sum,
    Reduction::Mean,
    Reduction::Max,
    Reduction::Min,
    Reduction::Var,
    Reduction::Norm,
    Reduction::Any,
    Reduction::All,
];

pub(super) fn subjects() -> Vec<Subject> {
    vec![
        subject!("reduce", reduce(&x, Reduction::Max, &mut y); x [2, 3, 5], y [2, 5]),
        subject!("sum", sum(&x, 1, &mut y); x [2, 1100, 5], y [2, 5]),
        subject!("mean", mean(&x, [1, 2], &mut y); x [3, 5, 7], y [3]),
        subject!("max", max(&x, 2, &mut y); x [3, 5, 7], y [3, 5]),
        subject!("min", min(&x, 0, &mut y); x [3, 7], y [7]),
        subject!("var", var(&x, 1, &mut y); x [3, 20000], y [3]),
        subject!("norm", norm(&x, 1..3, &mut y); x [3, 5, 7, 2], y [3, 2]),
        subject!("any", any(&x, 1, &mut y); x [3, 5], y [3]),
        subject!("all", all(&x, 1, &mut y); x [3, 5], y [3, 1]),
    ]
}

/// By the function of this name.
pub fn over<'a, T: FloatElement, const R: usize, const Q: usize>(
    reduction: Reduction,
    x: View<'a, T, R>,
    axes: impl Into<Axes>,
    y: ViewMut<'a, T, Q>,
) -> Reduce<'a, T> {
    match reduction {
        Reduction::Sum => sum(x, axes, y),
        Reduction::Mean => mean(x, axes, y),
        Reduction::Max => max(x, axes, y),
        Reduction::Min => min(x, axes, y),
        Reduction::Var => var(x, axes, y),
        Reduction::Norm => norm(x, axes, y),
        Reduction::Any => any(x, axes, y),
        Reduction::All => all(x, axes, y),
    }
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    of::<f32>(&mut cases);
    of::<f16>(&mut cases);
    of::<bf16>(&mut cases);
    for (i, keeps) in [false, true].into_iter().enumerate() {
        cases.push(Case::new(format!("reduce axes of five, {keeps}"), move |stream, random| axes(stream, random, i)));
    }
    errors(&mut cases);
    cases
}

fn of<T: FloatElement + Scalar>(cases: &mut Vec<Case>) {
    let mut turn = 0;
    let mut shapes: Vec<[usize; 3]> = pairs(&[1, 3, 17], &[0, 1, 7, 512, 513]).iter().map(|[p, r]| [*p, *r, 1]).collect();
    shapes.extend([[0, 3, 2], [2, 0, 3], [2, 3, 0], [1, 1, 9], [2, 130, 3], [3, 33, 130], [2, 300, 67]]);
    // In strips.
    shapes.extend([[1, 40_000, 1], [3, 17_000, 1], [1, 3000, 5], [2, 700, 2]]);
    for shape in shapes {
        for reduction in ALL {
            turn += 1;
            case::<T>(cases, shape, reduction, turn);
        }
    }
    for shape in [[1, 700], [5, 3], [67, 300], [130, 1]] {
        for (reduction, turn) in ALL.into_iter().flat_map(|of| (0..4).map(move |turn| (of, turn))) {
            matrix::<T>(cases, shape, reduction, turn);
        }
    }
}

/// Rows in any order, also those whose elements are apart, next to those of other rows.
fn matrix<T: FloatElement + Scalar>(cases: &mut Vec<Case>, shape: [usize; 2], reduction: Reduction, turn: usize) {
    let name = format!("reduce {} {reduction:?} of rows {shape:?} {:?}", type_name::<T>(), order(turn));
    cases.push(Case::new(name, move |stream, random| {
        let x = Operand::<T, 2>::whole(shape, order(turn), random, 2);
        let y = Operand::<T, 1>::output([shape[0]], order(turn / 4));
        let (mx, mut my) = (x.upload(stream)?, y.upload(stream)?);
        over(reduction, x.view(&mx)?, 1, y.view_mut(&mut my)?).launch(stream)?;
        let expected = reference::reduce(&x.values(), [shape[0], shape[1], 1], reduction, 1);
        compare::<T>("y", &y.download(stream, &my)?, &expected)
    }));
}

fn case<T: FloatElement + Scalar>(cases: &mut Vec<Case>, shape: [usize; 3], reduction: Reduction, turn: usize) {
    let of_x = order(turn + turn / 8);
    let name = format!("reduce {} {reduction:?} {shape:?} {of_x:?} {turn}", type_name::<T>());
    cases.push(Case::new(name, move |stream, random| {
        let [p, r, q] = shape;
        // Zeros are many, so that truths are both.
        let rarely = [0, 1, r.max(1)][turn % 3];
        let far = if turn.is_multiple_of(2) { 0.0 } else { 8.0 };
        let x = Operand::<T, 3>::new(shape, of_x, || {
            let is_zero = rarely > 0 && random.usize(..rarely * 2) == 0;
            if is_zero { 0.0 } else { far + crate::harness::normal(random) }
        });
        let y = Operand::<T, 2>::output([p, q], order(turn / 3));
        let (mx, mut my) = (x.upload(stream)?, y.upload(stream)?);
        let correction = turn / 2 % 3;
        let launch = over(reduction, x.view(&mx)?, 1, y.view_mut(&mut my)?);
        let is_var = reduction == Reduction::Var;
        let launch = if is_var { launch.correction(correction) } else { launch };
        launch.launch(stream)?;
        let expected = reference::reduce(&x.values(), shape, reduction, correction);
        let found = y.download(stream, &my)?;
        compare::<T>("y", &found, &expected)?;
        let mut again = y.upload(stream)?;
        let launch = reduce(x.view(&mx)?, reduction, y.view_mut(&mut again)?);
        if is_var { launch.correction(correction) } else { launch }.launch(stream)?;
        let bits = |of: &[f64]| of.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        match bits(&found) == bits(&y.download(stream, &again)?) {
            true => Ok(()),
            false => Err(Failure("`reduce` has other bits".to_string())),
        }
    }));
}

/// Axes of an array of five, each run of them.
fn axes(stream: &Stream, random: &mut Random, turn: usize) -> Outcome {
    let shape = [2, 3, 4, 2, 5];
    let x = Operand::<f32, 5>::whole(shape, order(0), random, 8);
    let (memory, values) = (x.upload(stream)?, x.values());
    for first in 0..=5 {
        for end in first..=5 {
            let product = |of: &[usize]| of.iter().product::<usize>();
            let seen = [product(&shape[..first]), product(&shape[first..end]), product(&shape[end..])];
            let expected: Vec<f64> =
                reference::reduce(&values, seen, Reduction::Sum, 0).iter().map(|sum| sum.value).collect();
            let kept: [usize; 5] = std::array::from_fn(|i| if (first..end).contains(&i) { 1 } else { shape[i] });
            let y = Operand::<f32, 5>::output(kept, order(0));
            let mut my = y.upload(stream)?;
            let (x, count) = (x.view(&memory)?, seen[0] * seen[2]);
            match turn {
                0 => sum(x, first..end, y.view_mut(&mut my)?).launch(stream)?,
                _ if end - first == 4 => sum(x, first..end, my.view_mut([count])?).launch(stream)?,
                _ if end - first == 5 => sum(x, .., my.view_mut([1])?).launch(stream)?,
                _ if end - first == 1 => {
                    let left: Vec<usize> = [&shape[..first], &shape[end..]].concat();
                    let left: [usize; 4] = std::array::from_fn(|i| left[i]);
                    sum(x, first, my.view_mut(left)?).launch(stream)?;
                }
                _ => continue,
            }
            same("y", &y.download(stream, &my)?, &expected)?;
        }
    }
    Ok(())
}

fn errors(cases: &mut Vec<Case>) {
    cases.push(Case::new("reduce refuses axes, extents and options", |stream, _| {
        let (x, mut y) = (stream.zeros::<f32>(30)?, stream.zeros::<f32>(30)?);
        let x = x.view([2, 3, 5])?;
        let expected = "axes of x that follow each other";
        refused(sum(x, 3, y.view_mut([2, 3])?).launch(stream), &["`sum`: `axes` is 3..4 of 3 axes", expected])?;
        refused(max(x, [0, 2], y.view_mut([3])?).launch(stream), &["`max`: `axes` is [0, 2] of 3", expected])?;
        refused(any(x, 1, y.view_mut([2, 4])?).launch(stream), &["`any`: `y` has extent 4 along axis 1", "5", "left"])?;
        refused(any(x, 1, y.view_mut([2])?).launch(stream), &["`any`: `y` has 1 axes, but 2"])?;
        refused(mean(x, 1, y.view_mut([2, 3, 5])?).launch(stream), &["`mean`: `y` has extent 3 along axis 1, but 1"])?;
        refused(min(x, 1, y.view_mut([2, 5])?).correction(0).launch(stream), &["`min`: `correction` is 0", "`var`"])?;
        let apart = x.permute([1, 0, 2])?;
        refused(sum(apart, 0..2, y.view_mut([5])?).launch(stream), &["`sum`: the axes of `x`", "[3, 2, 5]", "[5, 15, 1]"])
    }));
    cases.push(Case::new("reduce var of numbers far from 0", |stream, random| {
        let values: Vec<f64> = (0..1000).map(|_| 4096.0 + f64::from(random.i32(-8..=8)) / 8.0).collect();
        let x = operand::<f32, 3>([1, 1000, 1], order(0), &values);
        let (memory, mut y) = (x.upload(stream)?, stream.tensor_zeros::<f32, _>([1, 1])?);
        var(x.view(&memory)?, 1, &mut y).launch(stream)?;
        let expected = reference::reduce(&x.values(), [1, 1000, 1], Reduction::Var, 1)[0].value;
        let found = f64::from(stream.download(&y)?[0]);
        match (found - expected).abs() < 1e-4 * expected {
            true => Ok(()),
            false => Err(Failure(format!("{found} is not {expected}"))),
        }
    }));
}
