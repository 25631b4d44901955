//! Cross entropy over classes that are split among ranks.

use super::{gradient, normals, order, pairs};
use crate::harness::{
    Case, Failure, Operand, Outcome, Random, Scalar, Subject, compare, refused, same, subject, type_name,
};
use crate::reference::loss as reference;
use crate::reference::number::Number;
use std::ops::Range;
use triton::{Buffer, Stream, bf16, f16};
use triton_kernels::loss::{cross_entropy, cross_entropy_of_parts, cross_entropy_part};
use triton_kernels::{FloatElement, Ids};

pub(super) fn subjects() -> Vec<Subject> {
    vec![
        subject!(
            "cross_entropy_part", cross_entropy_part(&logits, &labels, &mut parts).first(1);
            logits [2, 3, 40], labels: i32 [2, 3], parts: f32 [2, 3, 3],
        ),
        subject!(
            "cross_entropy_of_parts", cross_entropy_of_parts(&parts, &labels, &mut logits, &mut loss).first(1).gradient_in_place();
            parts: f32 [2, 4, 3, 3], labels: i32 [4, 3], logits [4, 3, 40], loss: f32 [4, 3],
        ),
    ]
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    of::<f32>(&mut cases);
    of::<f16>(&mut cases);
    of::<bf16>(&mut cases);
    for shards in [1, 2, 3] {
        cases.push(Case::new(format!("cross_entropy_of_parts gradient of the reference {shards}"), move |_, random| {
            let sizes: Vec<usize> = (0..shards).map(|i| 1 + 3 * i).collect();
            let n = sizes.iter().sum();
            let (x, label) = (normals(random, n), random.usize(..n));
            let loss = |x: &[f64]| vec![of_row(x, &sizes, Some(label)).0];
            gradient("of logits", random, &x, loss, |x, dy| {
                of_row(x, &sizes, Some(label)).1.iter().map(|g| *g * dy[0]).collect()
            })
        }));
    }
    errors(&mut cases);
    cases
}

/// The columns of each shard.
fn ranges(sizes: &[usize]) -> Vec<Range<usize>> {
    let mut next = 0;
    let of = |size: &usize| {
        next += size;
        next - size..next
    };
    sizes.iter().map(of).collect()
}

/// Loss and gradient of a row in shards.
fn of_row(x: &[f64], sizes: &[usize], label: Option<usize>) -> (Number, Vec<Number>) {
    let own = |of: &Range<usize>| label.filter(|label| of.contains(label)).map(|label| label - of.start);
    let parts: Vec<_> = ranges(sizes).iter().map(|of| reference::part(&x[of.clone()], own(of))).collect();
    let (mut loss, mut slopes) = (f64::NAN.into(), Vec::new());
    for of in ranges(sizes) {
        let (of_shard, slope) = reference::of_parts(&parts, &x[of.clone()], own(&of));
        loss = of_shard;
        slopes.extend(slope);
    }
    (loss, slopes)
}

/// What a launch takes beside logits and labels.
#[derive(Clone, Copy, Debug)]
struct Setup {
    ignored: Option<i32>,
    scale: f32,
    backward: bool,
}

/// Losses, the logits or their gradients, and the parts of all ranks, as ranks would compute them whose logits are columns of one array.
fn in_shards<T: FloatElement + Scalar>(
    stream: &Stream,
    logits: &Operand<T, 2>,
    labels: &Buffer<i64>,
    sizes: &[usize],
    setup: Setup,
) -> Outcome<[Vec<f64>; 3]> {
    let ([rows, _], ranks) = (logits.shape(), sizes.len());
    let narrow: Vec<i32> = stream.download(labels)?.into_iter().map(|label| label as i32).collect();
    let fits = stream.download(labels)?.iter().all(|label| i32::try_from(*label).is_ok());
    let narrow = stream.upload(&narrow)?;
    // Ranks in turn have labels of either width.
    let of_labels = |rank: usize| -> Outcome<Ids<'_>> {
        Ok(if fits && rank.is_multiple_of(2) { narrow.view([rows])?.into() } else { labels.view([rows])?.into() })
    };
    let parts = Operand::<f32, 3>::output([ranks, rows, 3], order(0));
    let (mut of_parts, mut memory) = (parts.upload(stream)?, logits.upload(stream)?);
    for (rank, of) in ranges(sizes).into_iter().enumerate() {
        let part = parts.view_mut(&mut of_parts)?.select(0, rank)?;
        let shard = logits.view(&memory)?.narrow(1, of.clone())?;
        cross_entropy_part(shard, of_labels(rank)?, part).first(of.start).launch(stream)?;
    }
    let mut losses: Option<Vec<f64>> = None;
    for (rank, of) in ranges(sizes).into_iter().enumerate() {
        let loss = Operand::<f32, 1>::output([rows], order(rank));
        let mut of_loss = loss.upload(stream)?;
        let shard = logits.view_mut(&mut memory)?.narrow(1, of.clone())?;
        let all = parts.view(&of_parts)?;
        let launch = cross_entropy_of_parts(all, of_labels(rank)?, shard, loss.view_mut(&mut of_loss)?);
        let launch = launch.first(of.start).gradient_scale(setup.scale);
        let launch = if let Some(label) = setup.ignored { launch.ignore(label) } else { launch };
        if setup.backward { launch.gradient_in_place().launch(stream)? } else { launch.launch(stream)? }
        let found = loss.download(stream, &of_loss)?;
        let bits = |of: &[f64]| of.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        if losses.as_ref().is_some_and(|first| bits(first) != bits(&found)) {
            return Err(Failure(format!("rank {rank} has other bits of the loss than rank 0")));
        }
        losses = Some(found);
    }
    let parts = parts.download(stream, &of_parts)?;
    Ok([losses.unwrap_or_default(), logits.download(stream, &memory)?, parts])
}

fn of<T: FloatElement + Scalar>(cases: &mut Vec<Case>) {
    let many = [1; 33];
    let all: [&[usize]; 12] = [
        &[1],
        &[40],
        &[5, 1],
        &[0, 8],
        &[1, 130],
        &[3, 1, 20],
        &[1, 129, 16],
        &[1, 40, 7, 1, 16],
        &many,
        &[4097],
        &[1, 1025, 4096],
        &[2048, 1, 3, 1000, 5000],
    ];
    for (turn, (sizes, rows)) in all.into_iter().zip([7, 3, 4, 5].into_iter().cycle()).enumerate() {
        let sizes = sizes.to_vec();
        let name = format!("cross_entropy_of_parts {} {rows} rows of {sizes:?}", type_name::<T>());
        cases.push(Case::new(name, move |stream, random| agrees::<T>(stream, random, &sizes, rows, turn)));
    }
    for sizes in [&[6][..], &[1, 5], &[2, 0, 4], &[1200, 1, 3000]] {
        let sizes = sizes.to_vec();
        let name = format!("cross_entropy_of_parts of hostile rows {} {sizes:?}", type_name::<T>());
        cases.push(Case::new(name, move |stream, _| hostile::<T>(stream, &sizes)));
    }
    for [rows, columns] in pairs(&[0, 3], &[0, 1, 33, 1500]) {
        let name = format!("cross_entropy_part {} {:?}", type_name::<T>(), [rows, columns]);
        cases.push(Case::new(name, move |stream, random| {
            let logits = Operand::<T, 2>::normal([rows, columns], order(columns), random);
            let first = [0, i32::MAX as usize, 1 << 40][random.usize(..3)];
            let place = random.usize(..columns.max(1));
            let labels: Vec<i64> = [first + place, first + columns, first.wrapping_sub(1)].map(|of| of as i64).into();
            let labels = stream.upload(&labels[..rows])?;
            let out = Operand::<f32, 2>::output([rows, 3], order(columns + 1));
            let (of_logits, mut of_out) = (logits.upload(stream)?, out.upload(stream)?);
            let launch =
                cross_entropy_part(logits.view(&of_logits)?, labels.view([rows])?, out.view_mut(&mut of_out)?);
            launch.first(first).launch(stream)?;
            let of = |(i, row): (usize, &[f64])| reference::part(row, (i == 0 && columns > 0).then_some(place));
            let values = logits.values();
            let rows: Vec<&[f64]> = (0..rows).map(|i| &values[i * columns..][..columns]).collect();
            let expected: Vec<Number> = rows.into_iter().enumerate().flat_map(of).collect();
            compare::<f32>("parts", &out.download(stream, &of_out)?, &expected)
        }));
    }
}

/// The losses and gradients in shards are those of the whole rows: within the error of the sum of parts.
fn agrees<T: FloatElement + Scalar>(
    stream: &Stream,
    random: &mut Random,
    sizes: &[usize],
    rows: usize,
    turn: usize,
) -> Outcome {
    let classes = sizes.iter().sum();
    let logits = Operand::<T, 2>::new([rows, classes], order(turn), || 2.0 * crate::harness::normal(random));
    let ids: Vec<i64> =
        (0..rows).map(|i| if i == 2 { -100 } else { random.usize(..classes) as i64 }).collect();
    let (labels, xs) = (stream.upload(&ids)?, logits.values());
    for backward in [false, true] {
        let setup = Setup { ignored: Some(-100), scale: [1.0, 0.25][turn % 2], backward };
        let (mut losses, mut slopes) = (Vec::new(), Vec::new());
        for (row, id) in xs.chunks(classes).zip(&ids) {
            let Ok(label) = usize::try_from(*id) else {
                losses.push(0.0.into());
                slopes.extend(vec![Number::from(0.0); classes]);
                continue;
            };
            let (whole, parts) = (reference::cross_entropy(row, label, 0.0, 0.0), of_row(row, sizes, Some(label)));
            losses.push(Number { value: whole.0.value, ..parts.0 });
            let scale = f64::from(setup.scale);
            let both = whole.1.iter().zip(parts.1);
            slopes.extend(both.map(|(whole, part)| Number { value: whole.value, ..part } * scale));
        }
        let [found, after, _] = in_shards(stream, &logits, &labels, sizes, setup)?;
        compare::<f32>("loss", &found, &losses)?;
        if backward {
            compare::<T>("the gradient", &after, &slopes)?;
        } else {
            same("logits", &after, &xs)?;
        }
    }
    Ok(())
}

/// Rows with what is not a number, labels that are not classes: as `cross_entropy` of the whole row has them.
fn hostile<T: FloatElement + Scalar>(stream: &Stream, sizes: &[usize]) -> Outcome {
    let classes: usize = sizes.iter().sum();
    let (last, most) = (classes - 1, T::range()[2]);
    let row = |change: &dyn Fn(&mut Vec<f64>)| {
        let mut row: Vec<f64> = (0..classes).map(|j| (j % 5) as f64 - 2.0).collect();
        change(&mut row);
        row
    };
    let mut rows = vec![
        (row(&|x| x.fill(f64::NEG_INFINITY)), 1),
        (row(&|x| x[last] = f64::NAN), 0),
        (row(&|x| x[0] = f64::NAN), 0),
        (row(&|x| x[last] = f64::INFINITY), 0),
        (row(&|x| x[0] = f64::INFINITY), 0),
        (row(&|x| x[0] = f64::NEG_INFINITY), 0),
        (row(&|x| x[0] = f64::NEG_INFINITY), last as i64),
        (row(&|x| x[1..].fill(f64::NEG_INFINITY)), 0),
        (row(&|x| x[..last].fill(f64::NEG_INFINITY)), last as i64),
        (row(&|x| x.fill(-most)), 1),
        (row(&|x| x.fill(most)), 1),
        (row(&|x| x[last] = most), last as i64),
        (row(&|x| x[0] = most), 0),
        (row(&|x| x[last] = -most), 0),
        (row(&|x| x.fill(f64::NAN)), -100),
        (row(&|x| x[0] = f64::NAN), -1),
    ];
    let beyond = 1i64 << 32;
    for label in [-1, classes as i64, i64::from(i32::MIN), i64::from(i32::MAX), i64::MIN, i64::MAX, beyond, -beyond, -100]
    {
        rows.push((row(&|_| ()), label));
    }
    // Labels that an `i32` holds go to some of the ranks as such.
    for count in [16, rows.len()] {
        let values: Vec<f64> = rows[..count].iter().flat_map(|(row, _)| row.clone()).collect();
        let logits = crate::harness::operand::<T, 2>([count, classes], order(2), &values);
        let labels = stream.upload(&rows[..count].iter().map(|(_, label)| *label).collect::<Vec<_>>())?;
        for ignored in [None, Some(-100)] {
            let setup = Setup { ignored, scale: 0.5, backward: true };
            let mut memory = logits.upload(stream)?;
            let mut loss = stream.zeros::<f32>(count)?;
            let launch =
                cross_entropy(logits.view_mut(&mut memory)?, labels.view([count])?, loss.view_mut([count])?);
            let launch = launch.gradient_in_place().gradient_scale(0.5);
            if let Some(label) = ignored { launch.ignore(label) } else { launch }.launch(stream)?;
            let expected: Vec<f64> = stream.download(&loss)?.into_iter().map(f64::from).collect();
            let [losses, slopes, _] = in_shards(stream, &logits, &labels, sizes, setup)?;
            near("loss", &losses, &expected, 1e-6)?;
            near("the gradient", &slopes, &logits.download(stream, &memory)?, 1e-6 + T::rounding())?;
        }
    }
    Ok(())
}

/// Within a share of the expected number, or of 1; what is not finite is the same.
fn near(what: &str, found: &[f64], expected: &[f64], share: f64) -> Outcome {
    let is = |(a, b): (&f64, &f64)| a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= share * b.abs().max(1.0);
    match found.iter().zip(expected).position(|both| !is(both)) {
        None if found.len() == expected.len() => Ok(()),
        None => Err(Failure(format!("{what}: {} elements instead of {}", found.len(), expected.len()))),
        Some(i) => {
            Err(Failure(format!("{what}: element {i} is {}, and {} of the whole row", found[i], expected[i])))
        }
    }
}

fn errors(cases: &mut Vec<Case>) {
    cases.push(Case::new("cross_entropy_of_parts refuses other numbers", |stream, _| {
        let (mut x, labels, mut loss) = (stream.zeros::<f32>(12)?, stream.zeros::<i32>(3)?, stream.zeros::<f32>(3)?);
        let mut parts = stream.zeros::<f32>(18)?;
        let launch = cross_entropy_part(x.view([3, 4])?, labels.view([3])?, parts.view_mut([2, 3, 3])?.select(0, 1)?);
        refused(launch.first(1 << 63).launch(stream), &["`cross_entropy_part`: `first` is", "2⁶³"])?;
        let mut of_parts = |change: &dyn Fn(Of<'_>) -> Of<'_>| -> Outcome<_> {
            let (all, logits) = (parts.view([2, 3, 3])?, x.view_mut([3, 4])?);
            let launch = cross_entropy_of_parts(all, labels.view([3])?, logits, loss.view_mut([3])?);
            Ok(change(launch).launch(stream))
        };
        type Of<'a> = triton_kernels::loss::CrossEntropyOfParts<'a, f32>;
        refused(of_parts(&|of| of.first(usize::MAX))?, &["`cross_entropy_of_parts`: `first` is", "2⁶³"])?;
        refused(of_parts(&|of| of.gradient_scale(f32::NAN))?, &["`gradient_scale` is NaN"])
    }));
    cases.push(Case::new("cross_entropy_of_parts of no ranks", |stream, _| {
        let (labels, mut loss) = (stream.zeros::<i32>(1)?, stream.zeros::<f32>(1)?);
        let (parts, mut x) = (stream.zeros::<f32>(0)?, stream.zeros::<f32>(2)?);
        let launch = cross_entropy_of_parts(
            parts.view([0, 1, 3])?,
            labels.view([1])?,
            x.view_mut([1, 2])?,
            loss.view_mut([1])?,
        );
        launch.gradient_in_place().launch(stream)?;
        let all = [stream.download(&loss)?, stream.download(&x)?].concat();
        if all.iter().all(|x| x.is_nan()) { Ok(()) } else { Err(Failure(format!("{all:?}"))) }
    }));
}
