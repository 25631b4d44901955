//! Blocks that walk the programs in bands: each program runs once, and is named by its own index.

use super::devices;
use triton::prelude::*;

/// counts[i + m · j] += 1 + Σ a[i, k] · b[j, k] in program (i, j): loads of rows and columns in a loop, for which blocks walk in bands.
#[triton::kernel(num_warps = 1)]
fn products(a: Tensor<i32, 2>, b: Tensor<i32, 2>, counts: PtrMut<i32>, limit: i32) {
    let (i, j) = (program_id(0), program_id(1));
    let mut total = zeros::<i32>([1, 4]);
    for k in (0..a.dim(1)).step_by(4) {
        total += a.load([i, k], [1, 4]) * b.load([j, k], [1, 4]);
    }
    let own = sum(total);
    assert!(own < limit, "too much");
    atomic_add(counts + i + num_programs(0) * j, own + 1, true);
}

fn run(device: &Device, [m, n]: [usize; 2], limit: i32) -> triton::Result<Vec<i32>> {
    let stream = device.stream()?;
    let a: Vec<i32> = (0..4 * m).map(|i| (i / 4 % 97) as i32).collect();
    let b: Vec<i32> = (0..4 * n).map(|i| (i / 4 % 89) as i32).collect();
    let (a, b) = (stream.upload(&a)?, stream.upload(&b)?);
    let mut counts = stream.zeros::<i32>(m * n)?;
    let explained = products(a.view([m, 4])?, b.view([n, 4])?, &mut counts, limit).explain()?;
    assert!(explained.ends_with("programs in bands of 8 along the first axis\n"), "{explained}");
    // SAFETY: an element for each program.
    unsafe { products(a.view([m, 4])?, b.view([n, 4])?, &mut counts, limit).launch(&stream, (m as u32, n as u32))? };
    stream.download(&counts)
}

#[test]
fn every_program_runs_once() -> triton::Result<()> {
    for device in devices() {
        let mut grids = vec![[1, 1], [5, 1], [1, 7], [8, 3], [21, 5]];
        if ![Device::cpu(), Device::sim()].iter().any(|slow| slow.name() == device.name()) {
            // Some are too large to be mapped.
            grids.extend([[65_535, 2], [65_536, 2], [70_001, 3], [3, 65_535]]);
        }
        for [m, n] in grids {
            let expected: Vec<i32> = (0..m * n).map(|at| 4 * (at % m % 97 * (at / m % 89)) as i32 + 1).collect();
            assert_eq!(run(&device, [m, n], i32::MAX)?, expected, "{device}, {m} by {n}");
        }
    }
    Ok(())
}

/// Of 10 by 4 programs, only the last one has 4 · 9 · 3.
#[test]
fn an_assertion_names_the_program() {
    for device in [Device::cpu(), Device::sim()] {
        let error = run(&device, [10, 4], 4 * 27).expect_err("the last program's sum");
        let triton::Error::DeviceAssert { program, .. } = error else { panic!("{error}") };
        assert_eq!(program, [9, 3, 0], "{device}");
    }
}
