//! Gather and scatter along the last axis, and rows with a 1.

use super::order;
use crate::harness::{Case, Operand, Outcome, Random, Scalar, Subject, refused, same, subject, type_name};
use crate::reference::number::{exact, values};
use triton::{Buffer, Stream, bf16, f16};
use triton_kernels::index::{gather, gather_backward, one_hot, scatter};
use triton_kernels::{FloatElement, Ids};

pub(super) fn subjects() -> Vec<Subject> {
    vec![
        subject!("gather", gather(&x, &index, &mut y); x [2, 3, 5], index: i32 [2, 3, 4], y [2, 3, 4]),
        subject!("gather_backward", gather_backward(&dy, &index, &mut dx); dy [2, 3, 4], index: i32 [2, 3, 4], dx: f32 [2, 3, 5]),
        subject!("scatter", scatter(&x, &index, &mut y); x [3, 1], index: i32 [3, 1], y [3, 5]),
        subject!("one_hot", one_hot(&labels, &mut y); labels: i32 [2, 3], y [2, 3, 5]),
    ]
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    of::<f32>(&mut cases);
    of::<f16>(&mut cases);
    of::<bf16>(&mut cases);
    cases.push(Case::new("gather refuses an index whose axes are not one", |stream, _| {
        let (x, index, mut y) = (stream.zeros::<f32>(6)?, stream.zeros::<i32>(6)?, stream.zeros::<f32>(6)?);
        let turned = index.view([3, 2])?.transpose();
        let launch = gather(x.view([2, 3])?, turned, y.view_mut([2, 3])?);
        refused(launch.launch(stream), &["`gather`: the axes of `index`"])
    }));
    cases
}

/// Numbers of either width.
struct Index {
    narrow: Buffer<i32>,
    wide: Buffer<i64>,
    is_wide: bool,
    shape: [usize; 2],
}

impl Index {
    fn new(stream: &Stream, of: &[i64], shape: [usize; 2], is_wide: bool) -> Outcome<Index> {
        let narrow: Vec<i32> = of.iter().map(|number| *number as i32).collect();
        Ok(Index { narrow: stream.upload(&narrow)?, wide: stream.upload(of)?, is_wide, shape })
    }

    fn ids(&self) -> Outcome<Ids<'_>> {
        Ok(if self.is_wide { self.wide.view(self.shape)?.into() } else { self.narrow.view(self.shape)?.into() })
    }

    fn labels(&self) -> Outcome<Ids<'_>> {
        let shape = [self.shape[0] * self.shape[1]];
        Ok(if self.is_wide { self.wide.view(shape)?.into() } else { self.narrow.view(shape)?.into() })
    }
}

/// What no row of `n` elements has, of a width.
fn hostile(n: usize, is_wide: bool) -> Vec<i64> {
    let mut all = vec![-1, n as i64, i64::from(i32::MIN), i64::from(i32::MAX)];
    if is_wide {
        all.extend([i64::MIN, i64::MAX, 1 << 32]);
    }
    all
}

fn of<T: FloatElement + Scalar>(cases: &mut Vec<Case>) {
    let mut turn = 0;
    for rows in [0, 1, 3, 4, 9] {
        for [n, k] in [[1, 1], [5, 3], [3, 5], [257, 256], [300, 257], [4, 0], [0, 4]] {
            turn += 1;
            let name = format!("gather {} {rows} rows of {n} by {k}, {turn}", type_name::<T>());
            cases.push(Case::new(name, move |stream, random| gathers::<T>(stream, random, rows, [n, k], turn)));
            let name = format!("scatter {} {rows} rows of {k} to {n}, {turn}", type_name::<T>());
            cases.push(Case::new(name, move |stream, random| scatters::<T>(stream, random, rows, [n, k], turn)));
        }
        for columns in [0, 1, 7, 257] {
            turn += 1;
            let name = format!("one_hot {} {rows} rows of {columns}, {turn}", type_name::<T>());
            cases.push(Case::new(name, move |stream, random| rows_of_one::<T>(stream, random, [rows, columns], turn)));
        }
    }
}

/// Any numbers, some of which a row does not have.
fn numbers(random: &mut Random, count: usize, n: usize, is_wide: bool) -> Vec<i64> {
    let outside = hostile(n, is_wide);
    let next = |random: &mut Random| match random.u8(..5) {
        0 => outside[random.usize(..outside.len())],
        _ => random.usize(..n.max(1)) as i64,
    };
    (0..count).map(|_| next(random)).collect()
}

fn gathers<T: FloatElement + Scalar>(
    stream: &Stream,
    random: &mut Random,
    rows: usize,
    [n, k]: [usize; 2],
    turn: usize,
) -> Outcome {
    let is_wide = turn.is_multiple_of(2);
    let of = numbers(random, rows * k, n, is_wide);
    let index = Index::new(stream, &of, [rows, k], is_wide)?;
    // What is not finite is copied, too.
    let special = [f64::INFINITY, f64::NEG_INFINITY, f64::NAN, -0.0];
    let x = Operand::<T, 2>::new([rows, n], order(turn), || match random.u8(..8) {
        0 => special[random.usize(..4)],
        _ => crate::harness::normal(random),
    });
    let y = Operand::<T, 2>::output([rows, k], order(turn / 2));
    let (mx, mut my) = (x.upload(stream)?, y.upload(stream)?);
    gather(x.view(&mx)?, index.ids()?, y.view_mut(&mut my)?).launch(stream)?;
    let place = |at: usize| usize::try_from(of[at]).ok().filter(|j| *j < n).map(|j| at / k * n + j);
    let xs = x.values();
    let expected: Vec<f64> = (0..rows * k).map(|at| place(at).map_or(0.0, |place| xs[place])).collect();
    same("y", &y.download(stream, &my)?, &values(&exact(&expected)))?;

    // Sums of whole numbers are the same in any order.
    let dy = Operand::<T, 2>::whole([rows, k], order(turn + 1), random, 8);
    let before = Operand::<f32, 2>::whole([rows, n], order(turn + 2), random, 8);
    let (dys, mut sums) = (dy.values(), before.values());
    (0..rows * k).filter_map(|at| Some((at, place(at)?))).for_each(|(at, place)| sums[place] += dys[at]);
    let (of_dy, mut memory) = (dy.upload(stream)?, before.upload(stream)?);
    gather_backward(dy.view(&of_dy)?, index.ids()?, before.view_mut(&mut memory)?).launch(stream)?;
    same("dx", &before.download(stream, &memory)?, &sums)
}

fn scatters<T: FloatElement + Scalar>(
    stream: &Stream,
    random: &mut Random,
    rows: usize,
    [n, k]: [usize; 2],
    turn: usize,
) -> Outcome {
    let is_wide = turn.is_multiple_of(2);
    // Unique ones of each row, and hostile ones, which store nothing.
    let mut of = Vec::new();
    for _ in 0..rows {
        let mut row: Vec<i64> = (0..n.min(k) as i64).map(|j| n as i64 - 1 - j).collect();
        row.extend(hostile(n, is_wide).into_iter().cycle().take(k - row.len()));
        random.shuffle(&mut row);
        of.extend(row);
    }
    let index = Index::new(stream, &of, [rows, k], is_wide)?;
    let x = Operand::<T, 2>::normal([rows, k], order(turn), random);
    let y = Operand::<T, 2>::normal([rows, n], order(turn / 2), random);
    let (mx, mut my) = (x.upload(stream)?, y.upload(stream)?);
    scatter(x.view(&mx)?, index.ids()?, y.view_mut(&mut my)?).launch(stream)?;
    let (xs, mut expected) = (x.values(), y.values());
    for (at, j) in of.iter().enumerate() {
        if let Some(j) = usize::try_from(*j).ok().filter(|j| *j < n) {
            expected[at / k * n + j] = xs[at];
        }
    }
    same("y", &y.download(stream, &my)?, &expected)
}

fn rows_of_one<T: FloatElement + Scalar>(
    stream: &Stream,
    random: &mut Random,
    [rows, columns]: [usize; 2],
    turn: usize,
) -> Outcome {
    let is_wide = turn.is_multiple_of(2);
    let of = numbers(random, rows, columns, is_wide);
    let labels = Index::new(stream, &of, [rows, 1], is_wide)?;
    let y = Operand::<T, 2>::output([rows, columns], order(turn));
    let mut my = y.upload(stream)?;
    one_hot(labels.labels()?, y.view_mut(&mut my)?).launch(stream)?;
    let is = |i: usize, j: usize| f64::from(u8::from(of[i] == j as i64));
    let expected: Vec<f64> = (0..rows).flat_map(|i| (0..columns).map(move |j| is(i, j))).collect();
    same("y", &y.download(stream, &my)?, &expected)
}
