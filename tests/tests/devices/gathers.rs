//! Gathers and scatters through views: an index per element, in bounds or not.

use super::devices;
use triton::prelude::*;

/// Row `rows[i]` of a matrix of a batch, from column `first` on; a batch that does not exist adds nothing.
#[triton::kernel(T = [f32, bf16])]
fn rows_of<T: Num>(x: Tensor<T, 3>, rows: Tensor<i32, 1>, out: TensorMut<T, 2>, batch: i32, first: i32) {
    let i = program_id(0) * 16;
    let at = rows.load([i], [16]).expand_dims(1);
    let columns = arange(0, 32).expand_dims(0);
    out.store([i, 0], x.gather((batch, at, columns + first), true) + x.gather((-1, at, columns), columns >= 0));
}

/// Pages in the order of a table, of which scalars are read.
#[triton::kernel]
fn unpage(pages: Tensor<f32, 2>, table: Tensor<i32, 1>, out: TensorMut<f32, 1>) {
    let i = program_id(0);
    let page = pages.load([table.get([i]), 0], [1, 64]);
    out.store([i * 64], page.reshape([64]));
}

/// Each element to where it belongs, and what was scattered nowhere stays.
#[triton::kernel]
fn unpermute(x: Tensor<i32, 1>, order: Tensor<i64, 1>, out: TensorMut<i32, 1>) {
    let i = program_id(0) * 64;
    let inside = arange(0, 64) + i < x.dim(0);
    out.scatter([order.load([i], [64])], x.load([i], [64]), inside);
}

/// The largest of listed elements, and how often each is listed.
#[triton::kernel]
fn listed(x: Tensor<i32, 1>, list: Tensor<i32, 1>, largest: TensorMut<i32, 1>, counts: TensorMut<i32, 1>) {
    let list = list.load_or([0], [32], -1);
    let v = x.gather_or([list], list % 2 == 0, i32::MIN);
    largest.store([0], full([1], max(v)));
    let before = counts.atomic_add_at([list], 1, true);
    largest.atomic_max_at([1], max(before), true);
    let owner = counts.atomic_cas_at([0], 0, 100, true);
    largest.scatter([2], owner, true);
}

/// A product whose left operand is gathered by rows, and stored transposed on the way: copies are of fewer elements than are contiguous.
#[triton::kernel(warnings = false, configs = [(BM = 128, BN = 128, BK = 16, num_warps = 8, num_stages = 3)])]
fn product_of_rows<const BM: i32, const BN: i32, const BK: i32>(
    x: Tensor<f32, 2>,
    rows: Tensor<i32, 1>,
    w: Tensor<f32, 2>,
    out: TensorMut<f32, 2>,
) {
    let at = rows.load_or([0], [BM], -1).expand_dims(1);
    let mut acc = zeros::<f32>([BM, BN]);
    for k in (0..x.dim(1)).step_by(BK) {
        let a = x.gather([at, (k + arange(0, BK)).expand_dims(0)], true);
        acc = dot(a, w.load([0, k], [BN, BK]).transpose(), acc);
    }
    out.store([0, 0], acc);
}

#[test]
fn gathered_rows_are_multiplied() -> triton::Result<()> {
    for device in devices() {
        let stream = device.stream()?;
        // The second view is not aligned.
        for (k, offset) in [(48, 0), (35, 1)] {
            let numbers = |count: usize| (0..count).map(|i| (i * 7 % 11) as f32 - 5.0).collect::<Vec<_>>();
            let (x, w) = (numbers(9 * k + offset), numbers(20 * k));
            let rows: Vec<i32> = (0..100).map(|i| i * 5 % 11 - 1).collect();
            let mut out = stream.zeros::<f32>(100 * 20)?;
            let (of_x, of_rows, of_w) = (stream.upload(&x)?, stream.upload(&rows)?, stream.upload(&w)?);
            let view = of_x.view([9, k])?.with_offset(offset)?;
            product_of_rows::<128, 128, 16>(view, of_rows.view([100])?, of_w.view([20, k])?, out.view_mut([100, 20])?)
                .launch(&stream, 1)?;
            let row = |i: usize| usize::try_from(rows[i]).ok().filter(|row| *row < 9);
            let of = |i: usize, j: usize| {
                let sum = |row: usize| (0..k).map(|c| x[offset + row * k + c] * w[j * k + c]).sum::<f32>();
                row(i).map_or(0.0, sum)
            };
            let expected: Vec<f32> = (0..100 * 20).map(|at| of(at / 20, at % 20)).collect();
            assert_eq!(stream.download(&out)?, expected, "{device}");
        }
    }
    Ok(())
}

#[test]
fn a_gather_reads_what_its_indices_name() -> triton::Result<()> {
    for device in devices() {
        let stream = device.stream()?;
        let x = stream.upload(&(0..2 * 5 * 40).map(|i| (i + 1) as f32).collect::<Vec<_>>())?;
        let rows: Vec<i32> = vec![4, 0, 2, 2, -1, 5, i32::MIN, i32::MAX, 1, 3, 0, 0, 4, 4, 3, 1, 2];
        let at = stream.upload(&rows)?;
        let mut out = stream.zeros::<f32>(17 * 32)?;
        rows_of(x.view([2, 5, 40])?, at.view([17])?, out.view_mut([17, 32])?, 1, 10).launch(&stream, 2)?;
        let expected = rows.iter().flat_map(|&row| {
            (10..42).map(move |j| if (0..5).contains(&row) && j < 40 { (200 + row * 40 + j + 1) as f32 } else { 0.0 })
        });
        assert_eq!(stream.download(&out)?, expected.collect::<Vec<_>>(), "{device}");
    }
    Ok(())
}

#[test]
fn a_scalar_is_read_from_a_table() -> triton::Result<()> {
    for device in devices() {
        let stream = device.stream()?;
        let pages = stream.upload(&(0..256).map(|i| i as f32).collect::<Vec<_>>())?;
        let table = stream.upload(&[2, 0, 7, 3])?;
        let mut out = stream.zeros::<f32>(256)?;
        unpage(pages.view([4, 64])?, table.view([4])?, out.view_mut([256])?).launch(&stream, 4)?;
        let page = |k: usize| (0..64).map(move |i| if k < 4 { (k * 64 + i) as f32 } else { 0.0 });
        assert_eq!(stream.download(&out)?, [2, 0, 7, 3].into_iter().flat_map(page).collect::<Vec<_>>(), "{device}");
    }
    Ok(())
}

#[test]
fn a_scatter_writes_within_bounds() -> triton::Result<()> {
    for device in devices() {
        let stream = device.stream()?;
        let x: Vec<i32> = (0..100).collect();
        // Element 7 is nowhere, and two go out of bounds.
        let order: Vec<i64> = (0..100).map(|i| if i == 7 { 1 << 40 } else { i * 37 % 101 - 1 }).collect();
        let (from, at) = (stream.upload(&x)?, stream.upload(&order)?);
        let mut out = stream.upload(&[-5; 100])?;
        unpermute(from.view([100])?, at.view([100])?, out.view_mut([100])?).launch(&stream, 2)?;
        let mut expected = vec![-5; 100];
        for (&v, &at) in x.iter().zip(&order) {
            if let Some(to) = usize::try_from(at).ok().and_then(|at| expected.get_mut(at)) {
                *to = v;
            }
        }
        assert_eq!(stream.download(&out)?, expected, "{device}");
    }
    Ok(())
}

#[test]
fn an_update_at_indices_counts_each() -> triton::Result<()> {
    for device in devices() {
        let stream = device.stream()?;
        let x = stream.upload(&[5, 90, 7, 3, 80, 1])?;
        let list = stream.upload(&[2, 2, 1, 4, 4, 4, 9, -3, 1, 1])?;
        let (mut largest, mut counts) = (stream.upload(&[0; 3])?, stream.upload(&[0; 6])?);
        let views = (x.view([6])?, list.view([10])?);
        listed(views.0, views.1, largest.view_mut([3])?, counts.view_mut([6])?).launch(&stream, 1)?;
        assert_eq!(stream.download(&largest)?, [80, 2, 0], "{device}");
        assert_eq!(stream.download(&counts)?, [100, 3, 2, 0, 3, 0], "{device}");
    }
    Ok(())
}

/// The listed rows of x · w: the gather's vectors are copied ahead, as those of w are.
#[triton::kernel(num_warps = 4, num_stages = 3)]
fn product(x: Tensor<bf16, 2>, rows: Tensor<i32, 1>, w: Tensor<bf16, 2>, out: TensorMut<f32, 2>) {
    let (m, n) = (program_id(0) * 64, program_id(1) * 64);
    let at = rows.load_or([m], [64], -1).expand_dims(1);
    let mut acc = zeros::<f32>([64, 64]);
    for k in (0..x.dim(1)).step_by(32) {
        let columns = (arange(0, 32) + k).expand_dims(0);
        acc = dot(x.gather([at, columns], true), w.load([k, n], [32, 64]), acc);
    }
    out.store([m, n], acc);
}

/// The product of the blocks of x that a table lists, one for each turn, and of the rows of w in their order.
#[triton::kernel(num_warps = 4, num_stages = 3)]
fn sparse(x: Tensor<bf16, 3>, table: Tensor<i32, 1>, w: Tensor<bf16, 2>, out: TensorMut<f32, 2>) {
    let mut acc = zeros::<f32>([64, 64]);
    for i in 0..table.dim(0) {
        let (rows, columns) = (arange(0, 64).expand_dims(1), arange(0, 32).expand_dims(0));
        let block = x.gather((table.get([i]), rows, columns), true);
        acc = dot(block, w.load([i * 32, 0], [32, 64]), acc);
    }
    out.store([0, 0], acc);
}

fn small(n: usize, step: usize) -> Vec<bf16> {
    (0..n).map(|i| bf16::from_f32((i * step % 13) as f32 - 6.0)).collect()
}

#[test]
fn a_gathered_operand_is_copied_ahead() -> triton::Result<()> {
    for device in devices() {
        let stream = device.stream()?;
        // A depth that is a multiple of a vector, and two that are not.
        for depth in [160, 100, 37] {
            let (x, w) = (small(50 * depth, 5), small(depth * 72, 7));
            let rows: Vec<i32> = (0..70).map(|i| i * 17 % 53 - 1).collect();
            let (from, at, by) = (stream.upload(&x)?, stream.upload(&rows)?, stream.upload(&w)?);
            let mut out = stream.zeros::<f32>(70 * 72)?;
            let launch =
                product(from.view([50, depth])?, at.view([70])?, by.view([depth, 72])?, out.view_mut([70, 72])?);
            launch.launch(&stream, (2, 2))?;
            let at =
                |i: usize, k: usize| usize::try_from(rows[i]).ok().and_then(|r| (r < 50).then(|| x[r * depth + k]));
            let sum = |i: usize, j: usize| {
                let term = |k: usize| at(i, k).map_or(0.0, f32::from) * f32::from(w[k * 72 + j]);
                (0..depth).map(term).sum::<f32>()
            };
            let expected: Vec<f32> = (0..70 * 72).map(|at| sum(at / 72, at % 72)).collect();
            assert_eq!(stream.download(&out)?, expected, "{device}, depth {depth}");
        }
    }
    Ok(())
}

#[test]
fn a_table_says_what_is_copied_ahead() -> triton::Result<()> {
    for device in devices() {
        let stream = device.stream()?;
        let (x, table) = (small(5 * 64 * 32, 3), [4, 1, 1, -7, 0, 3, 5, 2, 4]);
        let w = small(table.len() * 32 * 64, 11);
        let (from, at, by) = (stream.upload(&x)?, stream.upload(&table)?, stream.upload(&w)?);
        let mut out = stream.zeros::<f32>(64 * 64)?;
        let views = (from.view([5, 64, 32])?, at.view([table.len()])?, by.view([table.len() * 32, 64])?);
        sparse(views.0, views.1, views.2, out.view_mut([64, 64])?).launch(&stream, 1)?;
        let term = |i: usize, j: usize, t: usize, k: usize| match usize::try_from(table[t]) {
            Ok(block @ 0..5) => f32::from(x[(block * 64 + i) * 32 + k]) * f32::from(w[(t * 32 + k) * 64 + j]),
            _ => 0.0,
        };
        let sum = |i: usize, j: usize| (0..table.len() * 32).map(|at| term(i, j, at / 32, at % 32)).sum::<f32>();
        let expected: Vec<f32> = (0..64 * 64).map(|at| sum(at / 64, at % 64)).collect();
        assert_eq!(stream.download(&out)?, expected, "{device}");
    }
    Ok(())
}
