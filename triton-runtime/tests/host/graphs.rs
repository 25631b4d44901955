//! Graphs of copies and fills on every device there is: what is captured, what is refused, and what a replay does.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Barrier};
use triton_runtime::{Buffer, Device, Error, Graph, Operand, Pinned, Region, Result, Stream};

fn devices() -> Vec<Device> {
    let mut devices = vec![Device::cpu()];
    devices.extend("sim".parse());
    match Device::cuda(0) {
        Ok(gpu) => devices.push(gpu),
        Err(error) => println!("SKIPPED on a GPU: {error}"),
    }
    devices
}

/// y[..2] = x[2..], z = y, and a value at the end of z.
fn shift(stream: &Stream, x: &Buffer<u64>, y: &mut Buffer<u64>, z: &mut Buffer<u64>) -> Result<Graph> {
    stream.capture(|captured| {
        assert!(captured.is_captured() && !stream.is_captured() && captured.device() == stream.device());
        captured.copy(&x.slice(2..)?, &mut y.slice_mut(..2)?)?;
        captured.copy(y, z)?;
        captured.fill(&mut z.slice_mut(3..)?, 0x0000_0001_0000_0002)
    })
}

#[test]
fn replays() -> Result<()> {
    for device in devices() {
        let (stream, other) = (device.stream()?, device.stream()?);
        let mut x = stream.upload(&[1u64, 2, 3, 4])?;
        let (mut y, mut z) = (stream.upload(&[9u64; 4])?, stream.zeros::<u64>(4)?);
        let graph = shift(&stream, &x, &mut y, &mut z)?;
        assert_eq!(graph.device(), &device);
        assert_eq!(stream.download(&y)?, [9; 4], "{device}: the capture runs nothing");
        for (round, stream) in [&stream, &other, &other, &stream].into_iter().enumerate() {
            // What the buffers hold is up to the moment.
            let value = 10 * round as u64;
            other.copy_from_host(&[value, value, value + 3, value + 4], &mut x)?;
            graph.launch(stream)?;
            graph.launch(stream)?;
            assert_eq!(other.download(&y)?, [value + 3, value + 4, 9, 9], "{device}");
            assert_eq!(stream.download(&z)?, [value + 3, value + 4, 9, 0x0000_0001_0000_0002], "{device}");
        }
        // The graph keeps what it uses; what goes, goes in order.
        drop((x, z));
        graph.launch(&stream)?;
        drop(stream);
        graph.launch(&other)?;
        drop(graph);
        assert_eq!(other.download(&y)?, [33, 34, 9, 9], "{device}");
        // An empty one does nothing.
        other.capture(|_| Ok(()))?.launch(&other)?;
    }
    Ok(())
}

/// The captured stream refuses what a graph cannot hold, and the capture goes on.
#[test]
fn what_is_refused() -> Result<()> {
    for device in devices() {
        let stream = device.stream()?;
        let mut x = stream.upload(&[1.0f32, 2.0])?;
        let event = stream.record_event()?;
        let mut pinned = Pinned::from_slice(&device, &[5.0f32, 6.0])?;
        let earlier = stream.capture(|_| Ok(()))?;
        let graph = stream.capture(|captured| {
            let mut host = [0.0f32; 2];
            let refused: [(Result<()>, &str); 14] = [
                (captured.zeros::<f32>(2).map(drop), "a new buffer"),
                (captured.uninit::<f32>(2).map(drop), "a new buffer"),
                (captured.upload(&[1.0f32]).map(drop), "a new buffer"),
                (captured.copy_from_host(&[3.0, 4.0], &mut x), "a copy from the host"),
                (captured.copy_to_host(&x, &mut host), "a copy to the host"),
                (captured.download(&x).map(drop), "a copy to the host"),
                (captured.upload_pinned(&pinned, &mut x), "a copy from the host"),
                (captured.download_pinned(&x, &mut pinned), "a copy to the host"),
                (captured.synchronize(), "waiting on the host"),
                (captured.is_done().map(drop), "asking whether work is done"),
                (captured.record_event().map(drop), "an event"),
                (captured.wait(&event), "waiting for an event"),
                (captured.capture(|_| Ok(())).map(drop), "a capture"),
                (earlier.launch(captured), "the launch of a graph"),
            ];
            for (found, expected) in refused {
                assert!(matches!(found, Err(Error::Capture { what, .. }) if what == expected), "{device}: {expected}");
            }
            captured.fill(&mut x, 7.0)
        })?;
        assert_eq!(stream.download(&x)?, [1.0, 2.0]);
        graph.launch(&stream)?;
        assert_eq!(stream.download(&x)?, [7.0, 7.0]);

        // Others are refused where they are launched.
        for other in devices().iter().filter(|other| **other != device) {
            let theirs = other.stream()?;
            assert!(matches!(graph.launch(&theirs), Err(Error::WrongDevice { what, .. }) if what == "the graph"));
            let error = theirs.capture(|captured| captured.fill(&mut x, 1.0)).unwrap_err();
            assert!(matches!(&error, Error::WrongDevice { what, .. } if what == "the buffer"), "{error}");
        }
    }
    Ok(())
}

/// A capture that fails, or panics, ends: nothing of it runs, nothing is kept, and the streams go on.
#[test]
fn captures_that_fail() -> Result<()> {
    for device in devices() {
        let stream = device.stream()?;
        let mut x = stream.upload(&[1i32; 100])?;
        let mut leaked = None;
        let error = stream.capture(|captured| {
            captured.fill(&mut x, 2)?;
            leaked = Some(captured.clone());
            captured.synchronize()
        });
        assert!(matches!(error, Err(Error::Capture { .. })));
        // An error of another type comes back as it was.
        let other = stream.capture(|captured| {
            captured.fill(&mut x, 2)?;
            "three".parse::<i32>().map(drop).map_err(Error::other)
        });
        let Err(Error::Other(other)) = other else { panic!("{other:?}") };
        assert_eq!(other.downcast_ref::<std::num::ParseIntError>(), "three".parse::<i32>().as_ref().err());
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            stream.capture(|captured| {
                captured.fill(&mut x, 3)?;
                panic!("in a capture, as the test wants it");
            })
        }));
        assert!(panicked.is_err());

        // The stream of the capture is of no more use, kept or not.
        let leaked = leaked.expect("it was captured");
        assert_eq!(leaked.fill(&mut x, 4), Err(Error::CaptureEnded));
        let mut kept = None;
        let graph = stream.capture(|captured| {
            kept = Some(captured.clone());
            captured.fill(&mut x.slice_mut(..1)?, 5)
        })?;
        let kept = kept.expect("it was captured");
        assert_eq!(kept.fill(&mut x, 6), Err(Error::CaptureEnded));
        assert_eq!(stream.download(&x)?, [1; 100], "{device}");
        graph.launch(&stream)?;
        assert_eq!(stream.download(&x)?[..2], [5, 1], "{device}");
    }
    Ok(())
}

/// Scratch memory that a graph uses is its own.
#[test]
fn scratch_of_graphs() -> Result<()> {
    for device in devices() {
        let stream = device.stream()?;
        let mut out = stream.zeros::<u32>(64)?;
        let mut addresses = Vec::new();
        let graph = stream.capture(|captured| {
            let mut scratch = captured.scratch::<u32>(64)?;
            addresses.push(scratch.address());
            captured.fill(&mut scratch, 8)?;
            captured.copy(&scratch, &mut out)?;
            captured.fill(&mut scratch, 0)?;
            drop(scratch);
            // What nothing captured uses goes back.
            addresses.push(captured.scratch::<u32>(64)?.address());
            Ok(())
        })?;
        let again = stream.scratch::<u32>(64)?;
        assert!(again.address() == addresses[1] && again.address() != addresses[0], "{device}");
        for _ in 0..3 {
            stream.fill(&mut out, 1)?;
            graph.launch(&stream)?;
            assert_eq!(stream.download(&out)?, [8; 64], "{device}");
        }
    }
    Ok(())
}

/// Replays of several threads, on streams of their own, and copies between them: each launch is one use.
#[test]
fn threads() -> Result<()> {
    for device in devices() {
        let stream = device.stream()?;
        let rounds = if device.is_sim() { 20 } else { 200 };
        let (mut x, mut y) = (stream.zeros::<u32>(4096)?, stream.zeros::<u32>(4096)?);
        let graph = stream.capture(|captured| {
            captured.fill(&mut x, 1)?;
            captured.copy(&x, &mut y)?;
            captured.fill(&mut x, 2)
        })?;
        graph.launch(&stream)?;
        std::thread::scope(|scope| {
            let work = |replays: bool| {
                let (device, graph, x, y) = (&device, &graph, &x, &y);
                move || -> Result<()> {
                    let stream = device.stream()?;
                    for _ in 0..rounds {
                        if replays {
                            graph.launch(&stream)?;
                        } else {
                            // Between two replays, whichever they are.
                            assert_eq!(stream.download(x)?, vec![2; 4096], "{device}");
                            assert_eq!(stream.download(y)?, vec![1; 4096], "{device}");
                        }
                    }
                    Ok(())
                }
            };
            let others = [scope.spawn(work(true)), scope.spawn(work(false)), scope.spawn(work(true))];
            others.into_iter().try_for_each(|other| other.join().expect("no panic"))
        })?;
    }
    Ok(())
}

/// Replays on two threads of one device, and calls between them, whose work waits for the other thread.
#[test]
fn external_work_may_wait_for_another_thread() -> Result<()> {
    let (meet, device) = (Arc::new(Barrier::new(2)), Device::cpu());
    let rank = |meet: Arc<Barrier>| -> Result<Vec<u32>> {
        let stream = device.stream()?;
        let mut x = stream.tensor(&[1u32], [1])?;
        let double = move |on: &Stream, regions: &[Region]| {
            let mut bytes = [0; 4];
            regions[0].read(on, &mut bytes)?;
            meet.wait();
            regions[0].write(on, &(2 * u32::from_le_bytes(bytes)).to_le_bytes())
        };
        let again = double.clone();
        let graph = stream.capture(|on| on.external(&[Operand::write(&mut x)?], again))?;
        for _ in 0..20 {
            graph.launch(&stream)?;
            stream.external(&[Operand::write(&mut x)?], double.clone())?;
            stream.copy_from_host(&[3], &mut x)?;
            graph.launch(&stream)?;
        }
        stream.download(&x)
    };
    let (one, two) = std::thread::scope(|scope| {
        let (one, two) = (meet.clone(), meet.clone());
        let other = scope.spawn(|| rank(one));
        (rank(two), other.join().expect("no panic"))
    });
    assert_eq!((one?, two?), (vec![6], vec![6]));
    Ok(())
}
