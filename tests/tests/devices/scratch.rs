//! Memory that a stream lends: zero for each launch that takes it, by what the launches before leave.

use super::devices;
use triton::prelude::*;

/// Adds the elements of each residue of 32 up.
#[triton::kernel]
fn gather(x: Tensor<i32, 1>, sums: TensorMut<i32, 1>) {
    let values = x.load([program_id(0) * 256], [256]);
    sums.atomic_add([0], sum_axis(values.reshape([8, 32]), 0));
}

/// Moves sums out, and leaves zeros.
#[triton::kernel]
fn take(sums: PtrMut<i32>, out: TensorMut<i32, 1>) {
    let i = arange(0, 32);
    out.store([0], load(sums + i, true));
    store(sums + i, zeros::<i32>([32]), true);
}

#[test]
fn launches_leave_zeros() -> triton::Result<()> {
    for device in devices() {
        let (stream, other) = (device.stream()?, device.stream()?);
        for n in [1usize, 256, 1000, 5000] {
            let values: Vec<i32> = (0..n as i32).map(|i| i * 7 - 1000).collect();
            let x = stream.upload(&values)?;
            let mut out = stream.uninit::<i32>(64)?;
            stream.fill(&mut out, -1)?;
            // Two at a time, and on two streams.
            for (stream, repeats) in [(&stream, 2), (&other, 1), (&stream, 1)] {
                for _ in 0..repeats {
                    let (mut a, mut b) = (stream.scratch::<i32>(32)?, stream.scratch::<i32>(32)?);
                    gather(x.view([n])?, a.view_mut([32])?).launch(stream, n.div_ceil(256))?;
                    gather(x.view([n])?, b.view_mut([32])?).launch(stream, n.div_ceil(256))?;
                    gather(x.view([n])?, b.view_mut([32])?).launch(stream, n.div_ceil(256))?;
                    // SAFETY: there are 32 sums.
                    unsafe {
                        take(&mut a, out.slice_mut(..32)?.view_mut([32])?).launch(stream, 1)?;
                        take(&mut b, out.slice_mut(32..)?.view_mut([32])?).launch(stream, 1)?;
                    }
                    let once = |j: usize| values.iter().skip(j % 32).step_by(32).sum::<i32>();
                    let expected: Vec<i32> = (0..64).map(|j| once(j) * if j < 32 { 1 } else { 2 }).collect();
                    assert_eq!(stream.download(&out)?, expected, "{device}, {n} values");
                    assert!(a.is_zero()? && b.is_zero()?, "{device}, {n} values");
                }
            }
        }
    }
    Ok(())
}
