//! Products of batches: views of three axes, of which a program takes one matrix each.

use super::devices;
use triton::prelude::*;

/// out\[b\] = x\[b\] · y\[b\]; with TY, each y is stored transposed.
#[triton::kernel(TY = [false, true])]
fn batched<const TY: bool>(x: Tensor<bf16, 3>, y: Tensor<bf16, 3>, out: TensorMut<f32, 3>) {
    let (m, n, b) = (program_id(0) * 64, program_id(1) * 64, program_id(2));
    let mut acc = zeros::<f32>([64, 64]);
    for k in (0..x.dim(2)).step_by(64) {
        let left = x.load([b, m, k], [1, 64, 64]).reshape([64, 64]);
        let right = if TY {
            y.load([b, n, k], [1, 64, 64]).reshape([64, 64]).transpose()
        } else {
            y.load([b, k, n], [1, 64, 64]).reshape([64, 64])
        };
        acc = dot(left, right, acc);
    }
    out.store([b, m, n], acc.reshape([1, 64, 64]));
}

/// Small numbers.
fn numbers(count: usize, step: usize) -> Vec<bf16> {
    (0..count).map(|i| bf16::from_f32((i * step % 7) as f32 - 3.0)).collect()
}

fn check<const TY: bool>(device: &Device, [b, m, n, k]: [usize; 4]) -> triton::Result<()>
where
    triton::Compiled: BatchedInstance<TY>,
{
    let stream = device.stream()?;
    let (x, y) = (numbers(b * m * k, 3), numbers(b * k * n, 5));
    let (on_x, on_y) = (stream.upload(&x)?, stream.upload(&y)?);
    let mut out = stream.upload(&vec![f32::NAN; b * m * n])?;
    let y_shape = if TY { [b, n, k] } else { [b, k, n] };
    let (x_view, y_view) = (on_x.view([b, m, k])?, on_y.view(y_shape)?);
    batched::<TY>(x_view, y_view, out.view_mut([b, m, n])?).launch(&stream, (m.div_ceil(64), n.div_ceil(64), b))?;
    let at = |batch: usize, s: usize, j: usize| y[batch * k * n + if TY { j * k + s } else { s * n + j }].to_f32();
    let element = |i: usize| {
        let (batch, row, column) = (i / (m * n), i / n % m, i % n);
        (0..k).map(|s| x[(batch * m + row) * k + s].to_f32() * at(batch, s, column)).sum::<f32>()
    };
    let expected: Vec<f32> = (0..b * m * n).map(element).collect();
    assert_eq!(stream.download(&out)?, expected, "{device}, {b} of {m} by {n} by {k}, y transposed: {TY}");
    Ok(())
}

#[test]
fn every_batch_is_multiplied() -> triton::Result<()> {
    for device in devices() {
        for shape in [[3, 64, 64, 64], [2, 130, 72, 200], [4, 33, 100, 40], [2, 65, 63, 37]] {
            check::<false>(&device, shape)?;
            check::<true>(&device, shape)?;
        }
    }
    Ok(())
}
