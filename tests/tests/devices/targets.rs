//! A config for one target alone: it has an image for every specialization, as nothing else has code for its devices.

use super::devices;
use triton::metadata::{Specialization, Target};
use triton::prelude::*;

/// out = x · y.
#[triton::kernel(configs = [(), (targets = ["sm_90a"])])]
fn product(x: Tensor<bf16, 2>, y: Tensor<bf16, 2>, out: TensorMut<f32, 2>) {
    let (m, n) = (program_id(0) * 64, program_id(1) * 32);
    let mut acc = zeros::<f32>([64, 32]);
    for k in (0..x.dim(1)).step_by(32) {
        acc = dot(x.load([m, k], [64, 32]), y.load([k, n], [32, 32]), acc);
    }
    out.store([m, n], acc);
}

#[test]
fn a_config_for_hopper_alone_takes_every_argument() -> triton::Result<()> {
    for device in devices() {
        let stream = device.stream()?;
        // Pitches of 16 bytes and odd ones, and a view that is transposed.
        for (m, n, k) in [(64, 32, 64), (70, 48, 40), (65, 33, 37)] {
            let number = |i: usize| bf16::from_f32((i * 7 % 5) as f32 - 2.0);
            let (x, y): (Vec<bf16>, Vec<bf16>) = ((0..m * k).map(number).collect(), (0..k * n).map(number).collect());
            let (on_x, on_y) = (stream.upload(&x)?, stream.upload(&y)?);
            for transposed in [false, true] {
                let mut out = stream.upload(&vec![f32::NAN; m * n])?;
                let y_view = if transposed { on_y.view([n, k])?.transpose() } else { on_y.view([k, n])? };
                let launch = product(on_x.view([m, k])?, y_view, out.view_mut([m, n])?);
                let images = &launch.metadata().configs[1].images;
                let has = |wanted| images.iter().any(|image| image.specialization == wanted);
                assert!(Specialization::ALL.iter().filter(|&&s| s < Specialization::Divisible16).all(|&s| has(s)));
                assert!(images.iter().all(|image| image.target == Target::Sm90a));
                match launch.config(1).launch(&stream, (m.div_ceil(64), n.div_ceil(32))) {
                    Ok(()) => {}
                    // A GPU of another compute capability.
                    Err(error) if error.to_string().contains("compute capability") => continue,
                    Err(error) => return Err(error),
                }
                let at = |s: usize, j: usize| y[if transposed { j * k + s } else { s * n + j }].to_f32();
                let expected: Vec<f32> =
                    (0..m * n).map(|i| (0..k).map(|s| x[i / n * k + s].to_f32() * at(s, i % n)).sum::<f32>()).collect();
                assert_eq!(stream.download(&out)?, expected, "{device}, {m} by {n} by {k}, {transposed}");
            }
        }
    }
    Ok(())
}
