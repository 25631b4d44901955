//! Blocks that run several programs of a product each: more programs than blocks are resident, and fewer; and neighbours that share a tile,
//! where rows are not multiples of 32 bytes long.

use super::devices;
use triton::prelude::*;

/// out = x · y, with y stored \[N, K\]: on compute capability 9.0 by `wgmma` of two warpgroups, from a ring that a producer fills.
#[triton::kernel(num_warps = 8, num_stages = 3)]
fn product(x: Tensor<bf16, 2>, y: Tensor<bf16, 2>, out: TensorMut<f32, 2>) {
    let (m, n) = (program_id(0) * 128, program_id(1) * 64);
    let mut acc = zeros::<f32>([128, 64]);
    for k in (0..x.dim(1)).step_by(64) {
        acc = dot(x.load([m, k], [128, 64]), y.load([n, k], [64, 64]).transpose(), acc);
    }
    out.store([m, n], acc);
}

/// The same of two teams of a warpgroup, each with every other program of a block: the result is rounded, and leaves by bulk copies.
#[triton::kernel(num_warps = 4, num_stages = 4)]
fn in_turns(x: Tensor<bf16, 2>, y: Tensor<bf16, 2>, out: TensorMut<bf16, 2>) {
    let (m, n) = (program_id(0) * 128, program_id(1) * 128);
    let mut acc = zeros::<f32>([128, 128]);
    for k in (0..x.dim(1)).step_by(64) {
        acc = dot(x.load([m, k], [128, 64]), y.load([n, k], [128, 64]).transpose(), acc);
    }
    out.store([m, n], acc.to::<bf16>());
}

/// out = (x · yᵀ) · y over the rows of y up to the program's own last one: programs with more or less to do, which run in pairs, and a left
/// operand that every iteration multiplies.
#[triton::kernel(num_warps = 8, num_stages = 2)]
fn twice(x: Tensor<bf16, 2>, y: Tensor<bf16, 2>, out: TensorMut<f32, 2>) {
    let (m, n) = (program_id(0) * 128, program_id(1) * 64);
    let rows = x.load([m, n], [128, 64]);
    let mut acc = zeros::<f32>([128, 64]);
    for k in (0..minimum(m + 128, y.dim(0))).step_by(64) {
        let s = dot(rows, y.load([k, n], [64, 64]).transpose(), zeros::<f32>([128, 64]));
        acc = dot(minimum(maximum(s, -4.0), 4.0).to::<bf16>(), y.load([k, n], [64, 64]), acc);
    }
    out.store([m, n], acc);
}

/// The same by tiles of which a multiprocessor has room for one alone: there is no ring that neighbours could share.
#[triton::kernel(warnings = false, num_warps = 4, num_stages = 4)]
fn without_ring(x: Tensor<bf16, 2>, y: Tensor<bf16, 2>, out: TensorMut<f32, 2>) {
    let (m, n) = (program_id(0) * 256, program_id(1) * 256);
    let mut acc = zeros::<f32>([256, 256]);
    for k in (0..x.dim(1)).step_by(128) {
        acc = dot(x.load([m, k], [256, 128]), y.load([n, k], [256, 128]).transpose(), acc);
    }
    out.store([m, n], acc);
}

/// Small numbers, different ones in each row.
fn numbers(rows: usize, columns: usize, step: usize) -> Vec<bf16> {
    (0..rows * columns).map(|i| bf16::from_f32(((i / columns * 7 + i % columns * step) % 5) as f32 - 2.0)).collect()
}

fn check(device: &Device, [m, n, k]: [usize; 3], [rows, columns]: [usize; 2]) -> triton::Result<()> {
    let stream = device.stream()?;
    let (x, y) = (numbers(m, k, 3), numbers(n, k, 11));
    let mut out = stream.upload(&vec![f32::NAN; m * n])?;
    let (on_x, on_y) = (stream.upload(&x)?, stream.upload(&y)?);
    let launch = if rows == 128 { product } else { without_ring };
    launch(on_x.view([m, k])?, on_y.view([n, k])?, out.view_mut([m, n])?)
        .launch(&stream, (m.div_ceil(rows), n.div_ceil(columns)))?;
    let found = stream.download(&out)?;
    let floats = |of: &[bf16]| of.iter().map(|v| v.to_f32()).collect::<Vec<f32>>();
    let (x, y) = (floats(&x), floats(&y));
    for (row, found) in x.chunks(k).zip(found.chunks(n)) {
        let expected: Vec<f32> = y.chunks(k).map(|column| row.iter().zip(column).map(|(a, b)| a * b).sum()).collect();
        assert_eq!(found, expected, "{device}, {m} by {n} by {k}");
    }
    Ok(())
}

#[test]
fn every_program_stores_its_tile() -> triton::Result<()> {
    for device in devices() {
        // Fewer turns than are filled ahead, as many, and more; tiles that are cut.
        // A block without a program, beside the last of seven along the first axis.
        let mut shapes = vec![[64, 64, 64], [250, 440, 40], [320, 320, 192], [130, 1100, 200], [64 * 7 - 3, 136, 328]];
        if ![Device::cpu(), Device::sim()].iter().any(|slow| slow.name() == device.name()) {
            shapes.extend([
                [128 * 60, 64 * 40 - 8, 40],
                [128 * 60 - 3, 64 * 41, 128],
                [128 * 63, 64 * 40, 256],
                [128 * 63, 64 * 40, 264],
            ]);
        }
        for shape in shapes {
            check(&device, shape, [128, 64])?;
        }
        check(&device, [260, 40, 200], [256, 256])?;
    }
    Ok(())
}

#[test]
fn teams_take_turns() -> triton::Result<()> {
    for device in devices() {
        // No program for the second team, one for each, and three of a block; no item, fewer than slots, and more: tiles that are cut.
        let slow = [Device::cpu(), Device::sim()].iter().any(|slow| slow.name() == device.name());
        let mut shapes = vec![[120, 120, 40], [250, 136, 264], [264, 264, 328]];
        if !slow {
            shapes.extend([[128 * 12, 128 * 12, 64], [128 * 40 - 3, 128 * 23 - 8, 520], [128 * 33, 128 * 33, 1096]]);
        }
        for [m, n, k] in shapes {
            let stream = device.stream()?;
            let (x, y) = (numbers(m, k, 3), numbers(n, k, 11));
            let mut out = stream.upload(&vec![bf16::NAN; m * n])?;
            let (on_x, on_y) = (stream.upload(&x)?, stream.upload(&y)?);
            in_turns(on_x.view([m, k])?, on_y.view([n, k])?, out.view_mut([m, n])?)
                .launch(&stream, (m.div_ceil(128), n.div_ceil(128)))?;
            let found = stream.download(&out)?;
            for row in (0..m).step_by(if slow { 7 } else { 29 }) {
                for column in (row % 5..n).step_by(if slow { 5 } else { 13 }) {
                    let terms = x[row * k..][..k].iter().zip(&y[column * k..][..k]);
                    let expected: f32 = terms.map(|(a, b)| a.to_f32() * b.to_f32()).sum();
                    let found = found[row * n + column];
                    assert_eq!(found, bf16::from_f32(expected), "{device}, {m} by {n} by {k}: {row}, {column}");
                }
            }
        }
    }
    Ok(())
}

#[test]
fn pairs_of_programs_are_all_programs() -> triton::Result<()> {
    for device in devices() {
        // One program and fewer than blocks are resident; a round of blocks and a half, two, and more; an axis of an odd extent.
        let slow = [Device::cpu(), Device::sim()].iter().any(|slow| slow.name() == device.name());
        let shapes = if slow {
            vec![[1, 1], [3, 2], [5, 1]]
        } else {
            vec![[1, 1], [5, 40], [7, 27], [11, 24], [6, 90], [33, 13]]
        };
        for [rows, columns] in shapes {
            let (m, n) = (128 * rows, 64 * columns);
            let stream = device.stream()?;
            let (x, y) = (numbers(m, n, 3), numbers(m, n, 11));
            let mut out = stream.upload(&vec![f32::NAN; m * n])?;
            let (on_x, on_y) = (stream.upload(&x)?, stream.upload(&y)?);
            twice(on_x.view([m, n])?, on_y.view([m, n])?, out.view_mut([m, n])?).launch(&stream, (rows, columns))?;
            let found = stream.download(&out)?;
            let at = |of: &[bf16], row: usize, column: usize| of[row * n + column].to_f32();
            // Some rows and columns of each tile.
            for row in (0..m).step_by(61) {
                let seen = m.min((row / 128 + 1) * 128);
                for tile in 0..columns {
                    let score =
                        |k: usize| (0..64).map(|j| at(&x, row, tile * 64 + j) * at(&y, k, tile * 64 + j)).sum::<f32>();
                    let scores: Vec<f32> = (0..seen).map(|k| score(k).clamp(-4.0, 4.0)).collect();
                    for column in (tile * 64..tile * 64 + 64).step_by(23) {
                        let expected: f32 = scores.iter().enumerate().map(|(k, s)| s * at(&y, k, column)).sum();
                        assert_eq!(found[row * n + column], expected, "{device}, {rows} by {columns}: {row}, {column}");
                    }
                }
            }
        }
    }
    Ok(())
}
