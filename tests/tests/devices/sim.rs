//! `Device::sim()` as a device: its memory, what it counts, and what it finds.

#![allow(unsafe_code, reason = "kernels over raw pointers; what is wrong with them is the point")]

use std::time::Instant;
use triton::prelude::*;
use triton::sim::{AccessKind, Fault, Report, SimOptions};
use triton::{ComputeCapability, Error, Result};

/// Line of the accesses of `copy`.
const ACCESSES: u32 = line!() + 6;

/// out = x, at indices that nothing keeps inside.
#[triton::kernel]
fn copy(x: Ptr<f32>, out: PtrMut<f32>, n: i32) {
    let i = program_id(0) * 64 + arange(0, 64);
    store(out + i, load(x + i, i < n), i < n);
}

/// Every program writes the same element.
#[triton::kernel]
fn collide(out: PtrMut<i32>) {
    store(out, program_id(0), true);
}

#[triton::kernel]
fn transpose(x: Tensor<i32, 2>, out: TensorMut<i32, 2>) {
    out.store([0, 0], x.load([0, 0], [64, 32]).transpose());
}

#[test]
fn it_is_a_device() -> Result<()> {
    let (device, other) = (Device::sim(), Device::sim_with(SimOptions::new().with_seed(7)));
    assert_eq!((device.to_string().as_str(), device.name()), ("PTX simulator", "PTX simulator"));
    assert!(device.is_sim() && !device.is_cpu() && device == other && device != Device::cpu());
    assert_eq!((device.ordinal(), device.compute_capability()), (None, Some(ComputeCapability::new(9, 0))));

    let stream = device.stream()?;
    let mut x = stream.upload(&[1, 2, 3, 4, 5, 6])?;
    assert!(x.address().is_multiple_of(256));
    stream.copy_from_host(&[20, 30], &mut x.slice_mut(1..3)?)?;
    let mut y = stream.zeros::<i32>(4)?;
    stream.copy(&x.slice(2..5)?, &mut y.slice_mut(1..)?)?;
    assert_eq!((stream.download(&x)?, stream.download(&y)?), (vec![1, 20, 30, 4, 5, 6], vec![0, 30, 4, 5]));

    // All simulated devices have one memory; that of the CPU is another.
    assert_eq!(other.stream()?.download(&y)?, [0, 30, 4, 5]);
    assert!(matches!(Device::cpu().stream()?.download(&y), Err(Error::WrongDevice { .. })));
    assert!(matches!(stream.zeros::<u8>(usize::MAX), Err(Error::OutOfMemory { .. })));
    assert!(stream.zeros::<u8>(0)?.is_empty());

    let mut pinned = Pinned::from_slice(&device, &[7, 8, 9, 10])?;
    stream.upload_pinned(&pinned, &mut y)?;
    stream.copy_from_host(&[70], &mut y.slice_mut(..1)?)?;
    stream.download_pinned(&y, &mut pinned)?;
    assert_eq!(pinned.as_slice()?, [70, 8, 9, 10]);

    let begun = Instant::now();
    let (start, end) = (stream.record_timed_event()?, stream.record_timed_event()?);
    stream.wait(&end)?;
    assert!(end.is_done()? && end.since(&start)? <= begun.elapsed());
    assert_eq!((stream.statistics(), stream.as_raw()), (None, None));
    stream.synchronize()
}

#[test]
fn kernels_run_and_are_counted() -> Result<()> {
    let stream = Device::sim().stream()?;
    let x: Vec<i32> = (0..2048).collect();
    let (dx, mut out) = (stream.upload(&x)?, stream.zeros::<i32>(2048)?);
    transpose(dx.view([64, 32])?, out.view_mut([32, 64])?).launch(&stream, 1)?;
    let expected: Vec<i32> = (0..2048).map(|i| x[i % 64 * 32 + i / 64]).collect();
    assert_eq!(stream.download(&out)?, expected);

    let counted = stream.statistics().expect("it was launched");
    assert!(counted.instructions > 0 && counted.shared_requests > 0, "{counted:?}");
    assert_eq!((counted.global_read, counted.global_written, counted.matrix), (8192, 8192, 0), "{counted:?}");
    assert_eq!(Device::cpu().stream()?.statistics(), None);
    Ok(())
}

/// What a launch with this seed finds.
fn found(seed: u64, launch: impl Fn(&Stream) -> Result<()>) -> (Vec<Report>, String) {
    let stream = Device::sim_with(SimOptions::new().with_seed(seed)).stream().expect("the simulator has streams");
    let error = launch(&stream).expect_err("something is wrong");
    let text = error.to_string();
    let Error::Simulation(findings) = error else { panic!("{text}") };
    assert_eq!(findings.seed, seed);
    assert!(text.ends_with(&format!("\nfound by the PTX simulator with seed {seed}")), "{text}");
    (findings.reports, text)
}

#[test]
fn mistakes_are_found() -> Result<()> {
    let stream = Device::sim().stream()?;
    let x = stream.upload(&[1.0f32; 100])?;
    let gone = stream.zeros::<f32>(128)?.address();

    let (reports, text) = found(1, |stream| {
        let mut out = stream.zeros::<f32>(100)?;
        // SAFETY: none; the simulator finds the accesses past the ends.
        unsafe { copy(&x, &mut out, 128).launch(stream, 2) }
    });
    let first = &reports[0];
    assert!(matches!(first.fault, Fault::OutOfBounds { access: AccessKind::Read, .. }), "{text}");
    assert_eq!((first.kernel.as_str(), first.block), ("copy", [1, 0, 0]), "{text}");
    let source = format!("tests/tests/devices/sim.rs:{ACCESSES}:");
    for part in [source.as_str(), "kernel `copy", "block (1, 0, 0), warp ", "`ld.global"] {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }

    let (reports, text) = found(2, |stream| {
        // SAFETY: none; the simulator knows what was freed.
        let mut out = unsafe { DevicePtrMut::<f32>::new(gone) };
        // SAFETY: as above.
        unsafe { copy(&x, &mut out, 64).launch(stream, 1) }
    });
    assert!(reports.iter().any(|r| matches!(r.fault, Fault::UseAfterFree { access: AccessKind::Write, .. })), "{text}");

    let race = |stream: &Stream| {
        let mut out = stream.zeros::<i32>(1)?;
        // SAFETY: none; the simulator finds the race.
        unsafe { collide(&mut out).launch(stream, 2) }
    };
    let (reports, text) = found(3, race);
    assert!(reports.iter().any(|r| matches!(r.fault, Fault::Race { .. })), "{text}");
    // Addresses aside, one seed finds one thing.
    let places =
        |reports: Vec<Report>| reports.into_iter().map(|r| (r.block, r.warp, r.lane, r.site)).collect::<Vec<_>>();
    assert_eq!(places(found(3, race).0), places(reports));
    Ok(())
}
