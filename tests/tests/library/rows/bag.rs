//! Bags of rows: sums, means, greatest elements, and their gradients.

use super::{gradient, normals, order};
use crate::harness::{Case, Operand, Order, Outcome, Random, Scalar, Subject, compare, refused, same, subject, type_name};
use crate::reference::bag as reference;
use triton::{Buffer, Stream, bf16, f16};
use triton_kernels::embedding::{Bag, embedding_bag, embedding_bag_backward};
use triton_kernels::{FloatElement, Ids};

pub(super) fn subjects() -> Vec<Subject> {
    vec![
        subject!(
            "embedding_bag", embedding_bag(&table, &ids, &offsets, Bag::Sum, &mut out).weights(&w);
            table [7, 5], ids: i32 [6], offsets: i32 [3], out [3, 5], w [6],
        ),
        subject!(
            "embedding_bag_backward",
            embedding_bag_backward(&dy, &ids, &offsets, Bag::Sum, &mut dtable).weights(&w).dweights(&table, &mut dw);
            dy [3, 5], ids: i32 [6], offsets: i32 [3], dtable: f32 [7, 5], w [6], table [7, 5], dw [6],
        ),
    ]
}

const KINDS: [Bag; 3] = [Bag::Sum, Bag::Mean, Bag::Max];

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    of::<f32>(&mut cases);
    of::<f16>(&mut cases);
    of::<bf16>(&mut cases);
    for kind in KINDS {
        cases.push(Case::new(format!("embedding_bag gradient of the reference {kind:?}"), move |_, random| {
            let (ids, bags) = (vec![0, 3, 3, -1, 2, 9, 1], vec![0..3, 3..3, 3..7]);
            let (table, weights) = (normals(random, 4 * 3), normals(random, 7));
            let weights = (kind == Bag::Sum).then_some(&weights[..]);
            let of = |table: &[f64], weights: Option<&[f64]>| reference::bag(table, 3, &ids, &bags, kind, weights);
            let back = |table: &[f64], weights: Option<&[f64]>, dy: &[f64]| {
                let (_, places) = of(table, weights);
                reference::backward(dy, (table, &[0.0; 12]), 3, &ids, &bags, kind, weights, &places)
            };
            gradient("for the table", random, &table, |x| of(x, weights).0, |x, dy| back(x, weights, dy).0)?;
            let Some(weights) = weights else { return Ok(()) };
            gradient("for the weights", random, weights, |w| of(&table, Some(w)).0, |w, dy| back(&table, Some(w), dy).1)
        }));
    }
    cases.push(Case::new("embedding_bag refuses weights of a mean, and a gradient without places", |stream, _| {
        let (table, mut out) = (stream.tensor_zeros::<f32, _>([4, 3])?, stream.tensor_zeros::<f32, _>([2, 3])?);
        let (ids, offsets) = (stream.tensor(&[0, 1, 2], [3])?, stream.tensor(&[0, 1], [2])?);
        let w = stream.tensor_zeros::<f32, _>([3])?;
        let launch = embedding_bag(&table, &ids, &offsets, Bag::Mean, &mut out).weights(&w);
        refused(launch.launch(stream), &["`kind` is Mean", "`Sum` with weights"])?;
        let turned = stream.tensor(&[0, 1, 2, 3], [2, 2])?;
        let launch = embedding_bag(&table, &ids, &turned, Bag::Mean, &mut out);
        refused(launch.launch(stream), &["`offsets` has extent 4", "where each bag begins"])?;
        let (dy, mut dtable) = (stream.tensor_zeros::<f32, _>([2, 3])?, stream.tensor_zeros::<f32, _>([4, 3])?);
        let launch = embedding_bag_backward(&dy, &ids, &offsets, Bag::Max, &mut dtable);
        refused(launch.launch(stream), &["`embedding_bag_backward`: `kind` is Max", "`Max` with `places`"])
    }));
    cases
}

fn of<T: FloatElement + Scalar>(cases: &mut Vec<Case>) {
    let mut turn = 0;
    // Entries, columns, ids, bags.
    for shape in [[1, 1, 1, 1], [5, 7, 9, 3], [3, 256, 20, 4], [11, 257, 40, 1], [4, 3, 0, 2], [4, 0, 5, 2], [0, 3, 5, 2], [4, 3, 5, 0]] {
        for kind in KINDS {
            for weighted in [false, true] {
                if weighted && kind != Bag::Sum {
                    continue;
                }
                turn += 1;
                let name = format!("embedding_bag {} {shape:?} {kind:?} weighted {weighted} {turn}", type_name::<T>());
                cases.push(Case::new(name, move |stream, random| {
                    case::<T>(stream, random, shape, kind, weighted, turn)
                }));
            }
        }
    }
}

/// Numbers of either width.
struct Numbers(Buffer<i32>, Buffer<i64>, bool);

impl Numbers {
    fn new(stream: &Stream, of: &[i64], is_wide: bool) -> Outcome<Numbers> {
        let narrow: Vec<i32> = of.iter().map(|number| *number as i32).collect();
        Ok(Numbers(stream.upload(&narrow)?, stream.upload(of)?, is_wide))
    }

    fn ids(&self) -> Outcome<Ids<'_>> {
        let Numbers(narrow, wide, is_wide) = self;
        Ok(if *is_wide { wide.view([wide.len()])?.into() } else { narrow.view([narrow.len()])?.into() })
    }
}

fn case<T: FloatElement + Scalar>(
    stream: &Stream,
    random: &mut Random,
    [entries, columns, count, bags]: [usize; 4],
    kind: Bag,
    weighted: bool,
    turn: usize,
) -> Outcome {
    let hostile = [-1, entries as i64, i64::from(i32::MIN), i64::from(i32::MAX)];
    let next = |random: &mut Random| match random.u8(..6) {
        0 => hostile[random.usize(..4)],
        _ => random.usize(..entries.max(1)) as i64,
    };
    let ids: Vec<i64> = (0..count).map(|_| next(random)).collect();
    // In their order, from 0 on; some bags are empty.
    let mut offsets: Vec<i64> = (0..bags).map(|_| random.usize(..=count) as i64).collect();
    offsets.sort_unstable();
    offsets.first_mut().into_iter().for_each(|first| *first = 0);
    let end = |b: usize| offsets.get(b + 1).map_or(count, |end| *end as usize);
    let ranges: Vec<_> = (0..bags).map(|b| offsets[b] as usize..end(b)).collect();
    let (of_ids, of_offsets) =
        (Numbers::new(stream, &ids, turn.is_multiple_of(2))?, Numbers::new(stream, &offsets, turn.is_multiple_of(3))?);

    // Few numbers, so that many are equal.
    let table = Operand::<T, 2>::whole([entries, columns], order(turn), random, 3);
    let weights = Operand::<T, 1>::normal([count], order(turn + 1), random);
    let out = Operand::<T, 2>::output([bags, columns], order(turn / 2));
    let places = Operand::<i32, 2>::output([bags, columns], order(turn / 3));
    let (mt, mw) = (table.upload(stream)?, weights.upload(stream)?);
    let (mut mo, mut mp) = (out.upload(stream)?, places.upload(stream)?);
    let of_out = out.view_mut(&mut mo)?;
    let launch = embedding_bag(table.view(&mt)?, of_ids.ids()?, of_offsets.ids()?, kind, of_out);
    let launch = if weighted { launch.weights(weights.view(&mw)?) } else { launch };
    let launch = if kind == Bag::Max { launch.statistics(places.view_mut(&mut mp)?) } else { launch };
    launch.launch(stream)?;
    let (values, numbers) = (table.values(), weights.values());
    let of_weights = weighted.then_some(&numbers[..]);
    let (expected, at) = reference::bag(&values, columns, &ids, &ranges, kind, of_weights);
    compare::<T>("out", &out.download(stream, &mo)?, &expected)?;
    if kind == Bag::Max {
        let at: Vec<f64> = at.iter().map(|at| at.map_or(-1.0, |at| at as f64)).collect();
        same("places", &places.download(stream, &mp)?, &at)?;
    }

    let dy = Operand::<T, 2>::normal([bags, columns], order(turn + 2), random);
    let before = Operand::<f32, 2>::normal([entries, columns], order(turn + 3), random);
    let dw = Operand::<T, 1>::output([count], Order::Odd);
    let (md, mut mb, mut mw_out) = (dy.upload(stream)?, before.upload(stream)?, dw.upload(stream)?);
    let launch =
        embedding_bag_backward(dy.view(&md)?, of_ids.ids()?, of_offsets.ids()?, kind, before.view_mut(&mut mb)?);
    let launch = if weighted { launch.weights(weights.view(&mw)?) } else { launch };
    let launch = if weighted { launch.dweights(table.view(&mt)?, dw.view_mut(&mut mw_out)?) } else { launch };
    let launch = if kind == Bag::Max { launch.places(places.view(&mp)?) } else { launch };
    launch.launch(stream)?;
    let before_all = before.values();
    let (dtable, of_w) =
        reference::backward(&dy.values(), (&values, &before_all), columns, &ids, &ranges, kind, of_weights, &at);
    compare::<f32>("dtable", &before.download(stream, &mb)?, &dtable)?;
    if weighted && bags > 0 {
        compare::<T>("dweights", &dw.download(stream, &mw_out)?, &of_w)?;
    }
    Ok(())
}
