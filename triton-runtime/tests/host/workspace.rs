//! What a stream lends for intermediate results, and the numbers that it keeps for launches, on every device there is.

use triton_runtime::{Device, Error, Result, Stream};

fn devices() -> Vec<Device> {
    let mut devices = vec![Device::cpu()];
    devices.extend("sim".parse());
    match Device::cuda(0) {
        Ok(gpu) => devices.push(gpu),
        Err(error) => println!("SKIPPED on a GPU: {error}"),
    }
    devices
}

/// It comes back, is never shared, and grows.
#[test]
fn workspaces_are_lent() -> Result<()> {
    for device in devices() {
        let stream = device.stream()?;
        let first = stream.workspace::<u32>(100)?;
        let address = first.address();
        assert!(first.len() == 100 && !first.is_empty() && first.device() == &device && address.is_multiple_of(64));
        // Another at the same time is other memory, as is that of another stream, and scratch.
        let second = stream.workspace::<u64>(100)?;
        let others = [second.address(), stream.scratch::<u32>(100)?.address()];
        assert!(!others.contains(&address) && device.stream()?.workspace::<u32>(100)?.address() != address);
        drop((first, second));

        // It comes back, of any type, as long as it is large enough: the smallest that is.
        let large = stream.workspace::<u8>(1 << 20)?.address();
        assert_eq!(stream.workspace::<f64>(1 << 10)?.address(), large, "{device}");
        let (small, again) = (stream.workspace::<u8>(9)?, stream.workspace::<u8>((1 << 20) - 1)?);
        assert!(again.address() == large && small.address() != large, "{device}");
        drop((small, again));
        // A larger one takes the place of the largest.
        let larger = stream.workspace::<u8>((1 << 20) + (1 << 19))?.address();
        assert_eq!(stream.workspace::<u8>(1 << 20)?.address(), larger, "{device}");
        assert_eq!(stream.workspace::<u8>(0)?.len(), 0);
        assert!(matches!(stream.workspace::<u64>(usize::MAX), Err(Error::OutOfMemory { .. })));
        assert!(matches!(stream.workspace::<u8>(usize::MAX), Err(Error::OutOfMemory { .. })));
        stream.trim();
    }
    Ok(())
}

/// What was left in it shows where the host could see it.
#[test]
fn workspaces_are_unspecified() -> Result<()> {
    for device in devices() {
        let stream = device.stream()?;
        let mut x = stream.workspace::<f32>(1000)?;
        stream.fill(&mut x, 3.0)?;
        assert_eq!(stream.download(&x)?, [3.0; 1000]);
        drop(x);
        let x = stream.workspace::<f32>(1000)?;
        assert!(x.view([20, 50])?.shape() == [20, 50] && x.view([1001]).is_err());
        if device.ordinal().is_none() {
            assert!(stream.download(&x)?.iter().all(|value| value.is_nan()), "{device}");
        }
    }
    Ok(())
}

/// Work on other streams comes before what the memory is lent for next.
#[test]
fn workspaces_of_other_streams() -> Result<()> {
    for device in devices() {
        let (stream, other) = (device.stream()?, device.stream()?);
        for round in 0..20u32 {
            let mut x = stream.workspace::<u32>(1 << 16)?;
            other.fill(&mut x, round)?;
            drop(x);
            let mut x = stream.workspace::<u32>(1 << 16)?;
            stream.fill(&mut x, 100 + round)?;
            assert_eq!(other.download(&x)?, vec![100 + round; 1 << 16], "{device}, round {round}");
        }
    }
    Ok(())
}

/// y = 2 · x by way of two workspaces, of which each step overwrites what the other has left.
fn through(stream: &Stream, x: u32, y: &mut triton_runtime::Buffer<u32>) -> Result<[u64; 2]> {
    let mut first = stream.workspace::<u32>(64)?;
    stream.fill(&mut first, x)?;
    let mut second = stream.workspace::<u32>(64)?;
    stream.copy(&first, &mut second)?;
    stream.fill(&mut first, 0)?;
    stream.copy(&second, y)?;
    Ok([first.address(), second.address()])
}

/// A graph has workspaces of its own, which its launches take in turns, and no other work does.
#[test]
fn workspaces_of_graphs() -> Result<()> {
    for device in devices() {
        let (stream, other) = (device.stream()?, device.stream()?);
        let (mut y, mut z) = (stream.zeros::<u32>(64)?, stream.zeros::<u32>(64)?);
        // The memory that the stream had, and more that is made in the capture.
        let kept = stream.workspace::<u32>(64)?.address();
        let mut of_graph = Vec::new();
        let graph = stream.capture(|captured| {
            of_graph.extend(through(captured, 8, &mut y)?);
            of_graph.extend(through(captured, 9, &mut z)?);
            captured.trim();
            Ok(())
        })?;
        let first = [of_graph[0], of_graph[1]];
        assert!(first.contains(&kept) && first[0] != first[1], "{device}");
        assert!(of_graph[2..].iter().all(|address| first.contains(address)), "{device}: one for both launches");
        let outside = stream.workspace::<u32>(64)?.address();
        assert!(!of_graph.contains(&outside), "{device}");
        for round in 0..3 {
            let mut mine = stream.workspace::<u32>(64)?;
            stream.fill(&mut mine, round)?;
            stream.fill(&mut y, 1)?;
            graph.launch(&other)?;
            assert_eq!((stream.download(&y)?, stream.download(&z)?), (vec![8; 64], vec![9; 64]), "{device}");
            assert_eq!(stream.download(&mine)?, vec![round; 64], "{device}");
        }
        // One that a failed capture has used goes, with what it kept.
        assert!(stream.capture(|captured| through(captured, 1, &mut y).and_then(|_| captured.synchronize())).is_err());
        drop(stream);
        graph.launch(&other)?;
        assert_eq!(other.download(&y)?, vec![8; 64], "{device}");
    }
    Ok(())
}

/// Numbers are uploaded once, and those that were lent last are kept.
#[test]
fn constants_are_kept() -> Result<()> {
    for device in devices() {
        let stream = device.stream()?;
        let one = stream.constants(&[1, 2, 3])?;
        assert!(one.len() == 3 && !one.is_empty() && one.device() == &device && one.view([3, 1])?.shape() == [3, 1]);
        // While they are lent others are made.
        let two = stream.constants(&[1, 2, 3])?;
        assert_ne!(one.address(), two.address());
        assert_eq!((stream.download(&one)?, stream.download(&two)?), (vec![1, 2, 3], vec![1, 2, 3]));
        let at = [one.address(), two.address()];
        drop((one, two));
        assert!(at.contains(&stream.constants(&[1, 2, 3])?.address()));
        assert_eq!(stream.constants::<u8>(&[])?.len(), 0);
        for i in 0..200 {
            assert_eq!(stream.download(&stream.constants(&[i, 7])?)?, [i, 7], "{device}");
        }
        let last = stream.constants(&[199, 7])?.address();
        assert_eq!(stream.constants(&[199, 7])?.address(), last);

        // A graph has its own, whether the stream had them or not.
        let mut y = stream.zeros::<i32>(2)?;
        let graph = stream.capture(|captured| {
            captured.copy(&captured.constants(&[5, 6])?, &mut y)?;
            let known = captured.constants(&[199, 7])?;
            assert_eq!(known.address(), last);
            captured.copy(&known, &mut y)?;
            drop(known);
            assert_eq!(captured.constants(&[199, 7])?.address(), last);
            captured.copy(&captured.constants(&[5, 6])?, &mut y)
        })?;
        assert_ne!(stream.constants(&[199, 7])?.address(), last);
        stream.trim();
        graph.launch(&stream)?;
        assert_eq!(stream.download(&y)?, [5, 6], "{device}");
    }
    Ok(())
}
