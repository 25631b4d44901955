//! Embeddings and rotary embeddings.

use super::{gradient, normals, operand, order};
use crate::harness::{Case, Failure, Operand, Scalar, Subject, compare, refused, same, subject, type_name};
use crate::reference::rotary as reference;
use triton::{bf16, f16};
use triton_kernels::{FloatElement, Ids};
use triton_kernels::embedding::{Pairs, embedding, embedding_backward, rotary, rotary_backward};

pub(super) fn subjects() -> Vec<Subject> {
    vec![
        subject!(
            "rotary", rotary(&x, &cos, &sin, Pairs::Halves, &mut y);
            x [3, 5, 8], cos: f32 [3, 4], sin: f32 [3, 4], y [3, 5, 8],
        ),
        subject!(
            "rotary_backward", rotary_backward(&dy, &cos, &sin, Pairs::Adjacent, &mut dx);
            dy [3, 5, 8], cos: f32 [3, 4], sin: f32 [3, 4], dx [3, 5, 8],
        ),
    ]
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    of::<f32>(&mut cases);
    of::<f16>(&mut cases);
    of::<bf16>(&mut cases);
    for pairs in [Pairs::Halves, Pairs::Adjacent] {
        for n in [2, 8, 64] {
            cases.push(Case::new(format!("rotary gradient of the reference {pairs:?} {n}"), move |_, random| {
                let angles = normals(random, n / 2);
                let cos: Vec<f64> = angles.iter().map(|a| a.cos()).collect();
                let sin: Vec<f64> = angles.iter().map(|a| a.sin()).collect();
                let back: Vec<f64> = sin.iter().map(|s| -s).collect();
                let turned = |x: &[f64]| reference::rotary(x, &cos, &sin, pairs);
                let x = normals(random, n);
                gradient("for x", random, &x, turned, |_, dy| reference::rotary(dy, &cos, &back, pairs))
            }));
        }
    }
    for ids in [Width::I32, Width::I64] {
        shards::<f32>(&mut cases, ids);
        shards::<f16>(&mut cases, ids);
        shards::<bf16>(&mut cases, ids);
    }
    errors(&mut cases);
    cases
}

#[derive(Clone, Copy, Debug)]
enum Width {
    I32,
    I64,
}

/// A table in shards: each has the rows of its own entries, and the rows that other shards have, or none has, are 0.
fn shards<T: FloatElement + Scalar>(cases: &mut Vec<Case>, width: Width) {
    // The numbers of entries, of which one shard has none; entry 0 of the first one is `first` of the whole table.
    for (turn, (sizes, first)) in
        [(&[11][..], 0), (&[4, 7], 0), (&[1, 0, 5], 3), (&[3, 1, 4, 1, 5], 0), (&[2, 2], i32::MAX as usize - 3)]
            .into_iter()
            .enumerate()
    {
        let name = format!("embedding {} in shards {sizes:?} from {first} {width:?}", type_name::<T>());
        cases.push(Case::new(name, move |stream, random| {
            let (entries, columns) = (sizes.iter().sum::<usize>(), 257);
            let table = Operand::<T, 2>::normal([entries, columns], order(0), random).values();
            let hostile = [i64::from(i32::MIN), i64::from(i32::MAX), -1, 0, first as i64 - 1, (first + entries) as i64];
            let mut ids: Vec<i64> = (0..23).map(|_| (first + random.usize(..entries)) as i64).collect();
            ids.extend(hostile);
            if let Width::I64 = width {
                ids.extend([i64::MIN, i64::MIN + 1, i64::MAX, (1 << 32) + first as i64]);
            } else {
                ids.retain(|id| i32::try_from(*id).is_ok());
            }
            let rows = ids.len();
            let (of_narrow, of_wide): (Vec<i32>, _) = (ids.iter().map(|id| *id as i32).collect(), stream.upload(&ids)?);
            let of_narrow = stream.upload(&of_narrow)?;
            let of_ids = || -> triton::Result<Ids<'_>> {
                Ok(match width {
                    Width::I32 => of_narrow.view([rows])?.into(),
                    Width::I64 => of_wide.view([rows])?.into(),
                })
            };
            let dy = Operand::<T, 2>::whole([rows, columns], order(turn + 1), random, 8);
            let (of_dy, dys, mut sum, mut next) = (dy.upload(stream)?, dy.values(), vec![0.0; rows * columns], 0);
            for size in sizes {
                let (start, shard) = ((first + next) as i64, &table[next * columns..][..size * columns]);
                let own = |id: i64| (start..start + *size as i64).contains(&id).then(|| (id - start) as usize * columns);
                next += size;
                let shard = operand::<T, 2>([*size, columns], order(turn), shard);
                let out = Operand::<T, 2>::output([rows, columns], order(turn + 2));
                let (of_shard, mut of_out) = (shard.upload(stream)?, out.upload(stream)?);
                let launch = embedding(shard.view(&of_shard)?, of_ids()?, out.view_mut(&mut of_out)?);
                launch.first(start as usize).launch(stream)?;
                let (found, values) = (out.download(stream, &of_out)?, shard.values());
                let mut expected = vec![0.0; rows * columns];
                let before = Operand::<f32, 2>::whole([*size, columns], order(turn + 3), random, 8);
                let mut sums = before.values();
                for (i, id) in ids.iter().enumerate() {
                    if let Some(at) = own(*id) {
                        expected[i * columns..][..columns].copy_from_slice(&values[at..at + columns]);
                        (0..columns).for_each(|j| sums[at + j] += dys[i * columns + j]);
                    }
                }
                same("out", &found, &expected)?;
                sum.iter_mut().zip(&found).for_each(|(sum, found)| *sum += found);
                for deterministic in [false, true] {
                    let mut memory = before.upload(stream)?;
                    let launch = embedding_backward(dy.view(&of_dy)?, of_ids()?, before.view_mut(&mut memory)?);
                    launch.first(start as usize).deterministic(deterministic).launch(stream)?;
                    same("dtable", &before.download(stream, &memory)?, &sums)?;
                }
            }
            let whole = |id: &i64| {
                let at = usize::try_from(*id).ok()?.checked_sub(first).filter(|at| *at < entries)? * columns;
                Some(table[at..at + columns].to_vec())
            };
            let whole: Vec<f64> = ids.iter().flat_map(|id| whole(id).unwrap_or(vec![0.0; columns])).collect();
            same("the sum of all shards", &sum, &whole)
        }));
    }
}

fn of<T: FloatElement + Scalar>(cases: &mut Vec<Case>) {
    let mut turn = 0;
    for rows in [0, 1, 3, 4, 5, 37] {
        for [entries, columns] in [[1, 1], [2, 7], [5, 255], [3, 256], [11, 257], [7, 0], [0, 3]] {
            turn += 1;
            embeddings::<T>(cases, rows, [entries, columns], turn);
        }
    }
    for positions in [0, 1, 3, 4, 9] {
        for [heads, width] in [[1, 2], [2, 6], [4, 64], [5, 128], [3, 130], [1, 256], [2, 0]] {
            for pairs in [Pairs::Halves, Pairs::Adjacent] {
                turn += 1;
                rotaries::<T>(cases, [positions, heads, width], pairs, turn);
            }
        }
    }
}

fn embeddings<T: FloatElement + Scalar>(cases: &mut Vec<Case>, rows: usize, table: [usize; 2], turn: usize) {
    let name = format!("embedding {} {rows} of {table:?} {turn}", type_name::<T>());
    cases.push(Case::new(name, move |stream, random| {
        let [entries, columns] = table;
        let of_table = Operand::<T, 2>::normal(table, order(turn), random);
        let ids = Operand::<i32, 1>::new([rows], order(turn / 2), || random.i32(-1..=entries as i32).into());
        let out = Operand::<T, 2>::output([rows, columns], order(turn / 4));
        let (mt, mi, mut mo) = (of_table.upload(stream)?, ids.upload(stream)?, out.upload(stream)?);
        embedding(of_table.view(&mt)?, ids.view(&mi)?, out.view_mut(&mut mo)?).launch(stream)?;
        let (values, numbers) = (of_table.values(), ids.values());
        let row = |id: f64| (0.0..entries as f64).contains(&id).then_some(id as usize * columns);
        let expected: Vec<f64> = numbers
            .iter()
            .flat_map(|id| {
                let at = row(*id);
                let values = &values;
                (0..columns).map(move |j| at.map_or(0.0, |at| values[at + j]))
            })
            .collect();
        same("out", &out.download(stream, &mo)?, &expected)?;

        // Sums of whole numbers are the same in any order.
        let dy = Operand::<T, 2>::whole([rows, columns], order(turn + 1), random, 8);
        let before = Operand::<f32, 2>::whole(table, order(turn + 2), random, 8);
        let (mut expected, dys) = (before.values(), dy.values());
        for (i, id) in numbers.iter().enumerate() {
            if let Some(at) = row(*id) {
                (0..columns).for_each(|j| expected[at + j] += dys[i * columns + j]);
            }
        }
        let of_dy = dy.upload(stream)?;
        for deterministic in [false, true] {
            let mut memory = before.upload(stream)?;
            let launch = embedding_backward(dy.view(&of_dy)?, ids.view(&mi)?, before.view_mut(&mut memory)?);
            launch.deterministic(deterministic).launch(stream)?;
            same("dtable", &before.download(stream, &memory)?, &expected)?;
        }
        // Other numbers, twice in one order.
        let dy = Operand::<T, 2>::normal([rows, columns], order(turn), random);
        let of_dy = dy.upload(stream)?;
        let mut runs = Vec::new();
        for _ in 0..2 {
            let mut memory = before.upload(stream)?;
            let launch = embedding_backward(dy.view(&of_dy)?, ids.view(&mi)?, before.view_mut(&mut memory)?);
            launch.deterministic(true).launch(stream)?;
            runs.push(before.download(stream, &memory)?);
        }
        if runs[0] == runs[1] { Ok(()) } else { Err(Failure("a second run gives other bits".to_string())) }
    }));
}

fn rotaries<T: FloatElement + Scalar>(cases: &mut Vec<Case>, shape: [usize; 3], pairs: Pairs, turn: usize) {
    let name = format!("rotary {} {shape:?} {pairs:?} {turn}", type_name::<T>());
    cases.push(Case::new(name, move |stream, random| {
        let [positions, heads, width] = shape;
        let half = width / 2;
        let x = Operand::<T, 3>::normal(shape, order(turn), random);
        let y = Operand::<T, 3>::output(shape, order(turn / 3));
        let angles = normals(random, positions * half);
        let table = |f: fn(f64) -> f64| {
            let values: Vec<f64> = angles.iter().map(|a| f(*a)).collect();
            operand::<f32, 2>([positions, half], order(turn + 1), &values)
        };
        let (cos, sin) = (table(f64::cos), table(f64::sin));
        let (mx, mc, ms) = (x.upload(stream)?, cos.upload(stream)?, sin.upload(stream)?);
        let (xs, cs, ss) = (x.values(), cos.values(), sin.values());
        for back in [false, true] {
            let mut my = y.upload(stream)?;
            let (of_x, of_cos, of_sin) = (x.view(&mx)?, cos.view(&mc)?, sin.view(&ms)?);
            let of_y = y.view_mut(&mut my)?;
            let launch = if back {
                rotary_backward(of_x, of_cos, of_sin, pairs, of_y)
            } else {
                rotary(of_x, of_cos, of_sin, pairs, of_y)
            };
            launch.launch(stream)?;
            let mut expected = Vec::new();
            for (i, head) in xs.chunks(width.max(1)).enumerate() {
                let at = i / heads * half;
                let sines: Vec<f64> = ss[at..at + half].iter().map(|s| if back { -s } else { *s }).collect();
                expected.extend(reference::rotary(head, &cs[at..at + half], &sines, pairs));
            }
            compare::<T>("y", &y.download(stream, &my)?, &expected)?;
        }
        Ok(())
    }));
}

fn errors(cases: &mut Vec<Case>) {
    cases.push(Case::new("embedding refuses a shard beyond all ids", |stream, _| {
        let (table, ids, mut out) = (stream.zeros::<f32>(6)?, stream.zeros::<i64>(2)?, stream.zeros::<f32>(6)?);
        let launch = embedding(table.view([2, 3])?, ids.view([2])?, out.view_mut([2, 3])?);
        refused(launch.first(1 << 63).launch(stream), &["`embedding`: `first` is 9223372036854775808", "2⁶³"])?;
        let launch = embedding_backward(table.view([2, 3])?, ids.view([2])?, out.view_mut([2, 3])?);
        refused(launch.first(usize::MAX).launch(stream), &["`embedding_backward`: `first` is", "2⁶³"])
    }));
    cases.push(Case::new("rotary refuses an odd width", |stream, _| {
        let (x, mut y) = (stream.zeros::<f32>(24)?, stream.zeros::<f32>(24)?);
        let table = x.view([2, 1])?;
        let launch = rotary(x.view([2, 4, 3])?, table, table, Pairs::Halves, y.view_mut([2, 4, 3])?);
        refused(launch.launch(stream), &["`rotary`: `the width of x` is 3", "even"])
    }));
}
