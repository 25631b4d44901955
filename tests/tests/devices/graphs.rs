//! Kernels in graphs: what a replay computes is what the launches compute, with what the buffers then hold.

use super::devices;
use triton::prelude::*;
use triton_tests::numbers::Random;

/// c = a b.
#[triton::kernel(configs = [(num_stages = 3)])]
fn product(a: Tensor<f16, 2>, b: Tensor<f16, 2>, c: TensorMut<f32, 2>) {
    let (row, column) = (program_id(0) * 64, program_id(1) * 64);
    let mut sum = zeros::<f32>([64, 64]);
    for k in (0..a.dim(1)).step_by(32) {
        sum = dot(a.load([row, k], [64, 32]), b.load([k, column], [32, 64]), sum);
    }
    c.store([row, column], sum);
}

/// Adds a factor times the sums of columns of 64 rows up.
#[triton::kernel]
fn add_columns(c: Tensor<f32, 2>, sums: TensorMut<f32, 1>, factor: f32) {
    let at = [program_id(0) * 64, program_id(1) * 64];
    sums.atomic_add([program_id(1) * 64], sum_axis(c.load(at, [64, 64]), 0) * factor);
}

/// Moves sums out, and leaves zeros.
#[triton::kernel]
fn take_sums(sums: PtrMut<f32>, out: TensorMut<f32, 1>) {
    let i = program_id(0) * 64 + arange(0, 64);
    let mask = i < out.dim(0);
    out.store([program_id(0) * 64], load(sums + i, mask));
    store(sums + i, zeros::<f32>([64]), mask);
}

/// The sums of the columns of a product, times a factor.
fn sums(
    stream: &Stream,
    [a, b]: [&Buffer<f16>; 2],
    c: &mut Buffer<f32>,
    out: &mut Buffer<f32>,
    [m, n, k]: [usize; 3],
    factor: f32,
) -> triton::Result<()> {
    let mut scratch = stream.scratch::<f32>(n)?;
    let grid = (m.div_ceil(64), n.div_ceil(64));
    stream.fill(c, -1.0)?;
    product(a.view([m, k])?, b.view([k, n])?, c.view_mut([m, n])?).launch(stream, grid)?;
    add_columns(c.view([m, n])?, scratch.view_mut([n])?, factor).launch(stream, grid)?;
    // SAFETY: there are n sums, and replays find as many.
    unsafe { take_sums(&mut scratch, out.view_mut([n])?).launch(stream, n.div_ceil(64)) }
}

#[test]
fn replays_compute_what_launches_do() -> triton::Result<()> {
    let [m, n, k] = [192, 128, 96];
    for device in devices() {
        let (stream, other) = (device.stream()?, device.stream()?);
        // Whole numbers, so that every order of a sum is exact.
        let mut random = Random::new(7);
        let mut values = |count: usize| -> Vec<f16> {
            (0..count).map(|_| f16::from_f32((random.signed_unit() * 4.0).round())).collect()
        };
        let inputs: Vec<_> = (0..3).map(|_| (values(m * k), values(k * n))).collect();
        let (mut a, mut b) = (stream.zeros::<f16>(m * k)?, stream.zeros::<f16>(k * n)?);
        let (mut c, mut out) = (stream.zeros::<f32>(m * n)?, stream.zeros::<f32>(n)?);
        // The first launches of these kernels in the process: their code is loaded while they are captured.
        let graph = stream.capture(|stream| sums(stream, [&a, &b], &mut c, &mut out, [m, n, k], 0.5))?;
        assert_eq!(stream.download(&out)?, vec![0.0; n], "{device}: the capture runs nothing");
        let (mut d, mut expected) = (stream.zeros::<f32>(m * n)?, stream.zeros::<f32>(n)?);
        for (round, (left, right)) in inputs.iter().chain(&inputs).enumerate() {
            other.copy_from_host(left, &mut a)?;
            stream.copy_from_host(right, &mut b)?;
            let replaying = if round % 2 == 0 { &stream } else { &other };
            graph.launch(replaying)?;
            graph.launch(replaying)?;
            // An ordinary run beside it, of scratch memory that is not the graph's.
            sums(&stream, [&a, &b], &mut d, &mut expected, [m, n, k], 0.5)?;
            assert_eq!(other.download(&out)?, stream.download(&expected)?, "{device}, round {round}");
            assert_eq!(other.download(&c)?, stream.download(&d)?, "{device}, round {round}");
            let reference = |j: usize| -> f32 {
                let of_row =
                    |i: usize| -> f32 { (0..k).map(|l| left[i * k + l].to_f32() * right[l * n + j].to_f32()).sum() };
                (0..m).map(of_row).sum::<f32>() * 0.5
            };
            let found = stream.download(&out)?;
            assert!((0..n).step_by(17).all(|j| found[j] == reference(j)), "{device}, round {round}");
        }
        // The buffers are gone, and the graph has them still.
        drop((a, b, c, out));
        graph.launch(&other)?;
        other.synchronize()?;
    }
    Ok(())
}

/// Elements are not negative.
#[triton::kernel]
fn checked(x: Tensor<i32, 1>, out: TensorMut<i32, 1>) {
    let at = [program_id(0) * 32];
    let v = x.load(at, [32]);
    assert!(v >= 0, "negative");
    out.store(at, v + 1);
}

/// Assertions hold at each replay, or are reported by it.
#[test]
fn replays_assert() -> triton::Result<()> {
    for device in devices() {
        let stream = device.stream()?;
        let mut x = stream.upload(&[-1i32; 32])?;
        let mut out = stream.zeros::<i32>(32)?;
        let graph = stream.capture(|stream| checked(x.view([32])?, out.view_mut([32])?).launch(stream, 1))?;
        for value in [4, 0] {
            stream.fill(&mut x, value)?;
            graph.launch(&stream)?;
            assert_eq!(stream.download(&out)?, [value + 1; 32], "{device}");
        }
        // A GPU is of no more use after that.
        if device.ordinal().is_none() {
            stream.fill(&mut x, -5)?;
            let error = graph.launch(&stream).unwrap_err();
            assert!(
                matches!(&error, triton::Error::DeviceAssert { message, .. } if message == "negative"),
                "{device}: {error}"
            );
            stream.fill(&mut x, 1)?;
            graph.launch(&stream)?;
            assert_eq!(stream.download(&out)?, [2; 32], "{device}");
        }
    }
    Ok(())
}

/// Whatever a launch refuses, it refuses while it is captured; launches over nothing are none.
#[test]
fn captured_launches_are_checked() -> triton::Result<()> {
    for device in devices() {
        let stream = device.stream()?;
        let x = stream.upload(&[1i32; 32])?;
        let mut out = stream.zeros::<i32>(32)?;
        let graph = stream.capture(|stream| {
            let error = checked(x.view([32])?, out.view_mut([32])?).launch(stream, -1).unwrap_err();
            assert!(matches!(error, triton::Error::Grid { .. }), "{device}: {error}");
            let error = checked(x.view([32])?, out.view_mut([32])?).config(9).launch(stream, 1).unwrap_err();
            assert!(matches!(error, triton::Error::Config { .. }), "{device}: {error}");
            checked(x.view([32])?, out.view_mut([32])?).launch(stream, 0)
        })?;
        graph.launch(&stream)?;
        assert_eq!(stream.download(&out)?, [0; 32], "{device}");
    }
    Ok(())
}
