//! Blocks that run several programs of a product each: more programs than blocks are resident, and fewer; and neighbours that share a tile,
//! where rows are not multiples of 32 bytes long.

use super::devices;
use triton::prelude::*;

/// out = x · y, with y stored \[N, K\]: on compute capability 9.0 by `wgmma`, from a ring that bulk copies fill.
#[triton::kernel]
fn product(x: Tensor<bf16, 2>, y: Tensor<bf16, 2>, out: TensorMut<f32, 2>) {
    let (m, n) = (program_id(0) * 64, program_id(1) * 64);
    let mut acc = zeros::<f32>([64, 64]);
    for k in (0..x.dim(1)).step_by(64) {
        acc = dot(x.load([m, k], [64, 64]), y.load([n, k], [64, 64]).transpose(), acc);
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

fn check(device: &Device, [m, n, k]: [usize; 3], tile: usize) -> triton::Result<()> {
    let stream = device.stream()?;
    let (x, y) = (numbers(m, k, 3), numbers(n, k, 11));
    let mut out = stream.upload(&vec![f32::NAN; m * n])?;
    let (on_x, on_y) = (stream.upload(&x)?, stream.upload(&y)?);
    let launch = if tile == 64 { product } else { without_ring };
    launch(on_x.view([m, k])?, on_y.view([n, k])?, out.view_mut([m, n])?)
        .launch(&stream, (m.div_ceil(tile), n.div_ceil(tile)))?;
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
                [64 * 60, 64 * 40 - 8, 40],
                [64 * 60 - 3, 64 * 41, 128],
                [64 * 63, 64 * 40, 256],
                [64 * 63, 64 * 40, 264],
            ]);
        }
        for shape in shapes {
            check(&device, shape, 64)?;
        }
        check(&device, [260, 40, 200], 256)?;
    }
    Ok(())
}
