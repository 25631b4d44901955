//! Memory that a stream lends, fills, and buffers whose values are unspecified, on every device there is.

use half::{bf16, f16};
use triton_runtime::{Device, Element, Error, Result, Stream};

fn devices() -> Vec<Device> {
    let mut devices = vec![Device::cpu()];
    devices.extend("sim".parse());
    match Device::cuda(0) {
        Ok(gpu) => devices.push(gpu),
        Err(error) => println!("SKIPPED on a GPU: {error}"),
    }
    devices
}

/// Fills of every width, of whole buffers and of parts, with neighbours untouched.
#[test]
fn fills() -> Result<()> {
    fn check<T: Element>(stream: &Stream, before: T, value: T) -> Result<()> {
        for (len, start, end) in [(1, 0, 1), (100, 0, 100), (1000, 3, 998), (1000, 7, 8), (77, 5, 5), (0, 0, 0)] {
            let mut x = stream.upload(&vec![before; len])?;
            stream.fill(&mut x.slice_mut(start..end)?, value)?;
            let expected: Vec<T> = (0..len).map(|i| if (start..end).contains(&i) { value } else { before }).collect();
            assert_eq!(stream.download(&x)?, expected, "{} {len} {start}..{end}", stream.device());
        }
        Ok(())
    }
    for device in devices() {
        let stream = device.stream()?;
        check(&stream, false, true)?;
        check(&stream, true, false)?;
        check(&stream, 1i8, -7)?;
        check(&stream, 0u8, 0xa5)?;
        check(&stream, 0i16, -300)?;
        check(&stream, f16::ONE, f16::from_f32(-0.5))?;
        check(&stream, bf16::ONE, bf16::from_f32(1e30))?;
        check(&stream, 9u32, 0x0102_0304)?;
        check(&stream, 1.0f32, -2.5)?;
        check(&stream, 1u64, 0x0102_0304_0506_0708)?;
        check(&stream, 5i64, -1)?;
        check(&stream, 1u64, 0x0102_0304_0102_0304)?;
        check(&stream, 0.0f64, std::f64::consts::PI)?;
    }
    let stream = Device::cpu().stream()?;
    if let Some(other) = devices().iter().find(|device| !device.is_cpu()) {
        let mut x = other.stream()?.zeros::<f32>(4)?;
        assert!(matches!(stream.fill(&mut x, 1.0), Err(Error::WrongDevice { .. })));
    }
    Ok(())
}

/// What nothing has written shows where the host could see it, and can be overwritten everywhere.
#[test]
fn unspecified_values() -> Result<()> {
    for device in devices() {
        let stream = device.stream()?;
        let mut x = stream.uninit::<f32>(1000)?;
        let (bools, none) = (stream.uninit::<bool>(1000)?, stream.uninit::<u64>(0)?);
        assert_eq!((x.len(), stream.download(&bools)?.len(), none.len()), (1000, 1000, 0));
        if device.ordinal().is_none() {
            assert!(stream.download(&x)?.iter().all(|value| value.is_nan()), "{device}");
            assert!(stream.download(&bools)?.iter().all(|value| *value), "{device}");
        }
        stream.copy_from_host(&vec![3.0; 1000], &mut x)?;
        assert_eq!(stream.download(&x)?, vec![3.0; 1000]);
    }
    Ok(())
}

/// Memory comes back, is never shared, is zero when it is new, and grows.
#[test]
fn scratch_is_lent() -> Result<()> {
    for device in devices() {
        let stream = device.stream()?;
        let first = stream.scratch::<u32>(100)?;
        let address = first.address();
        assert!(first.is_zero()? && first.len() == 100 && !first.is_empty() && first.device() == &device);
        // Another at the same time is other memory, as is that of another stream.
        let second = stream.scratch::<u64>(100)?;
        assert_ne!(second.address(), address);
        assert_ne!(device.stream()?.scratch::<u32>(100)?.address(), address);
        drop(second);
        drop(first);

        // It comes back, of any type, as long as it is large enough.
        let mut addresses = vec![address];
        for _ in 0..4 {
            let mut again = stream.clone().scratch::<f64>(500)?;
            addresses.push(again.address());
            stream.fill(&mut again, -1.5)?;
            assert!(!again.is_zero()?);
            assert!(again.view([20, 25])?.shape() == [20, 25] && again.view_mut([501]).is_err());
            stream.fill(&mut again, 0.0)?;
        }
        addresses.sort_unstable();
        addresses.dedup();
        assert!(addresses.len() <= 2, "{device}: {addresses:?}");

        // A larger one is zero wherever it comes from, and what was too small is not kept for long.
        let large = stream.scratch::<u8>(1 << 20)?;
        assert!(large.is_zero()?);
        let at = large.address();
        drop(large);
        assert_eq!(stream.scratch::<u8>((1 << 20) - 1)?.address(), at);
        assert_eq!(stream.scratch::<u8>(0)?.len(), 0);
        assert!(matches!(stream.scratch::<u64>(usize::MAX), Err(Error::OutOfMemory { .. })));
    }
    Ok(())
}

/// Where the host can look, the one who takes memory learns that it was not left zero; the memory is given up.
#[test]
fn scratch_that_was_not_left_zero() -> Result<()> {
    for device in devices().iter().filter(|device| device.ordinal().is_none()) {
        let stream = device.stream()?;
        let mut scratch = stream.scratch::<u16>(10)?;
        stream.fill(&mut scratch, 0x0700)?;
        drop(scratch);
        let error = stream.scratch::<u16>(10).unwrap_err();
        assert!(matches!(&error, Error::Scratch { byte: 1, value: 7, .. }), "{error}");
        assert!(
            error.to_string().contains("byte 1 of 4096 is 7; a kernel that takes scratch memory writes zeros"),
            "{error}"
        );
        assert!(stream.scratch::<u16>(10)?.is_zero()?);
    }
    Ok(())
}

/// Work on other streams comes before what the memory is lent for next.
#[test]
fn scratch_of_other_streams() -> Result<()> {
    for device in devices() {
        let (stream, other) = (device.stream()?, device.stream()?);
        for round in 0..20u32 {
            let mut scratch = stream.scratch::<u32>(1 << 16)?;
            other.fill(&mut scratch, round + 1)?;
            other.fill(&mut scratch, 0)?;
            drop(scratch);
            assert!(stream.scratch::<u32>(1 << 16)?.is_zero()?, "{device}, round {round}");
        }
    }
    Ok(())
}
