//! The CPU device: buffers, streams, events, and the checks before a launch.

use crate::support::{fill_params, image, kernel, launch_of, made_of, param};
use half::{bf16, f16};
use std::borrow::Cow;
use std::time::{Duration, Instant};
use triton_ir::metadata::{Arg, ParamType, Promised, Specialization};
use triton_ir::types::DType;
use triton_runtime::launch::mode::Safe;
use triton_runtime::{
    AsPtrArg, AsPtrMutArg, Buffer, ComputeCapability, Device, Element, Error, Event, Grid, Kernel, Launch, LaunchArg,
    Pinned, Result, Stream,
};

fn stream() -> Stream {
    Device::cpu().stream().expect("the CPU has streams")
}

#[test]
fn no_driver_is_an_error_and_best_says_why() {
    match Device::cuda(0) {
        Err(Error::NoDriver { reason, .. }) => {
            let best = Device::best();
            assert!(best.is_cpu());
            assert_eq!(best.to_string(), format!("CPU (no CUDA driver: {reason})"));
            assert_eq!(best, Device::cpu());
        }
        Err(error) => println!("SKIPPED: there is a driver without a device: {error}"),
        Ok(device) => println!("SKIPPED: there is {device}"),
    }
    let cpu = Device::cpu();
    assert_eq!((cpu.to_string().as_str(), cpu.name(), cpu.ordinal()), ("CPU", "CPU", None));
    assert_eq!((cpu.compute_capability(), cpu.total_memory(), cpu.driver_version()), (None, None, None));
    assert!(cpu.multiprocessors() >= 1);
}

#[test]
fn devices_by_name() {
    assert_eq!("cpu".parse(), Ok(Device::cpu()));
    assert_eq!("best".parse(), Ok(Device::best()));
    for name in ["", "gpu", "CPU", "cuda:", "cuda:-1", "cuda:+1", "cuda:0x0", "cuda:1 ", "cuda:99999999999999999999"] {
        let error = name.parse::<Device>().unwrap_err();
        assert!(matches!(&error, Error::DeviceName { found, .. } if found == name), "{name}: {error}");
    }
    assert_eq!("cuda".parse::<Device>(), Device::cuda(0));
    assert_eq!("cuda:4000".parse::<Device>(), Device::cuda(4000));
    assert_eq!("sim".parse::<Device>().is_ok(), cfg!(feature = "sim"));
    let all = Device::all();
    assert_eq!(all.last(), Some(&Device::cpu()));
    assert!(all.iter().rev().skip(1).all(|device| device.ordinal().is_some()));
    #[allow(clippy::mutable_key_type, reason = "devices are equal and hashed by what they are, which does not change")]
    let set: std::collections::HashSet<Device> = all.iter().cloned().chain([Device::best(), Device::cpu()]).collect();
    assert_eq!(set.len(), all.len());
    assert_eq!(Device::cpu().as_raw_context(), None);
}

#[test]
fn elements() {
    fn check<T: Element>(values: &[T], dtype: DType) {
        assert_eq!(T::DTYPE, dtype);
        assert_eq!(size_of::<T>(), dtype.bytes() as usize);
        for &v in values {
            assert!(dtype.bits() == 64 || v.to_bits() >> dtype.bits() == 0, "{v:?} is zero-extended");
            assert_eq!(T::from_bits(v.to_bits()), v);
        }
        let stream = stream();
        let buffer = stream.upload(values).expect("memory");
        assert_eq!(stream.download(&buffer).expect("a copy"), values);
        assert_eq!(buffer.address() % 256, 0);
        let zeros = stream.zeros::<T>(3).expect("memory");
        assert_eq!(stream.download(&zeros).expect("a copy"), [T::from_bits(0); 3]);
    }
    check(&[true, false], DType::Bool);
    check(&[i8::MIN, -1, 0, i8::MAX], DType::I8);
    check(&[i16::MIN, -1, 0, i16::MAX], DType::I16);
    check(&[i32::MIN, -1, 0, i32::MAX], DType::I32);
    check(&[i64::MIN, -1, 0, i64::MAX], DType::I64);
    check(&[0, u8::MAX], DType::U8);
    check(&[0, u16::MAX], DType::U16);
    check(&[0, u32::MAX], DType::U32);
    check(&[0, u64::MAX], DType::U64);
    check(&[f16::ONE, f16::NEG_INFINITY], DType::F16);
    check(&[bf16::ONE, bf16::MAX], DType::BF16);
    check(&[-1.5f32, f32::MAX], DType::F32);
    check(&[-1.5f64, f64::MIN_POSITIVE], DType::F64);
}

#[test]
fn slices_and_copies() -> Result<()> {
    let stream = stream();
    let mut x = stream.upload(&[0i32, 1, 2, 3, 4, 5])?;
    assert_eq!((x.len(), x.is_empty(), x.device()), (6, false, &Device::cpu()));
    assert_eq!(stream.download(&x.slice(1..=2)?)?, [1, 2]);
    assert_eq!(stream.download(&x.slice(2..)?.slice(1..3)?)?, [3, 4]);
    assert_eq!(stream.download(&x.slice(6..)?)?, [0i32; 0]);
    assert_eq!(x.slice(3..)?.address(), x.address() + 12);
    for (start, end) in [(5, 7), (7, 7), (3, 2), (0, usize::MAX)] {
        for error in [x.slice(start..end).map(drop), x.slice_mut(start..end).map(drop)].map(Result::unwrap_err) {
            let Error::OutOfRange { start: from, end: to, len: 6, .. } = error else { panic!("{error}") };
            assert_eq!((from, to), (start, end));
        }
    }
    assert!(x.slice(..=usize::MAX).is_err());

    let y = stream.upload(&[10, 20])?;
    stream.copy(&y, &mut x.slice_mut(4..)?)?;
    stream.copy_from_host(&[-1], &mut x.slice_mut(1..)?.slice_mut(..1)?)?;
    assert_eq!(stream.download(&x)?, [0, -1, 2, 3, 10, 20]);
    let mut host = [0; 2];
    stream.copy_to_host(&x.slice_mut(4..)?, &mut host)?;
    assert_eq!(host, [10, 20]);

    let copies =
        [stream.copy(&y, &mut x), stream.copy_from_host(&[1, 2], &mut x), stream.copy_to_host(&y, &mut [0; 6])];
    for copy in copies {
        assert!(matches!(copy, Err(Error::Length { source_len: 2, len: 6, .. })), "{copy:?}");
    }
    Ok(())
}

#[test]
fn zero_length() -> Result<()> {
    let stream = stream();
    let empty: Buffer<f32> = stream.upload(&[])?;
    assert!(empty.is_empty());
    assert_eq!(stream.download(&empty)?, [0.0f32; 0]);
    stream.copy(&empty, &mut stream.zeros(0)?)?;
    assert!(empty.slice(..)?.is_empty());
    assert!(Pinned::<f64>::zeros(&Device::cpu(), 0)?.as_slice()?.is_empty());
    Ok(())
}

#[test]
fn too_much() {
    for len in [usize::MAX, usize::MAX / 4, isize::MAX as usize / 8] {
        assert!(matches!(stream().zeros::<f64>(len), Err(Error::OutOfMemory { .. })), "{len}");
    }
    assert!(matches!(Pinned::<f64>::zeros(&Device::cpu(), usize::MAX), Err(Error::OutOfMemory { .. })));
}

#[test]
fn pinned() -> Result<()> {
    let stream = stream();
    let mut host = Pinned::from_slice(&Device::cpu(), &[1u8, 2, 3])?;
    let mut x = stream.zeros::<u8>(3)?;
    stream.upload_pinned(&host, &mut x)?;
    host.as_mut_slice()?.fill(9);
    stream.download_pinned(&x.slice(..)?, &mut host)?;
    assert_eq!((host.as_slice()?, host.len()), (&[1u8, 2, 3][..], 3));
    let short = stream.upload_pinned(&host, &mut x.slice_mut(..1)?);
    assert!(matches!(short, Err(Error::Length { source_len: 3, len: 1, .. })), "{short:?}");
    Ok(())
}

#[test]
fn events() -> Result<()> {
    let stream = stream();
    let begun = Instant::now();
    let (start, end) = (stream.record_event()?, stream.record_timed_event()?);
    assert!(end.is_done()?);
    end.synchronize()?;
    stream.wait(&end)?;
    stream.synchronize()?;
    assert!(end.since(&start)? <= begun.elapsed());
    std::thread::sleep(Duration::from_millis(1));
    assert!(stream.record_timed_event()?.since(&end)? >= Duration::from_millis(1));
    let later = stream.record_timed_event()?;
    assert!(matches!(end.since(&later), Err(Error::Timing { .. })));
    assert!(stream.is_done()?);
    assert_eq!(stream.as_raw(), None);
    Ok(())
}

#[test]
fn threads_share_everything() {
    fn shared<T: Send + Sync>() {}
    shared::<Device>();
    shared::<Stream>();
    shared::<Buffer<f32>>();
    shared::<Pinned<bool>>();
    shared::<Event>();
    shared::<Kernel>();
    shared::<Error>();
}

#[test]
fn grids() {
    let check = |grid: Grid, expected: Result<[u32; 3], (char, i64)>| {
        let found = grid.dims().map_err(|error| {
            let Error::Grid { axis, found, .. } = error else { panic!("{error}") };
            (axis, found)
        });
        assert_eq!(found, expected);
    };
    check(7.into(), Ok([7, 1, 1]));
    check(7u32.into(), Ok([7, 1, 1]));
    check(7usize.into(), Ok([7, 1, 1]));
    check((7usize, 3).into(), Ok([7, 3, 1]));
    check((7, 3u64, 2i64).into(), Ok([7, 3, 2]));
    check([1, 2, 3].into(), Ok([1, 2, 3]));
    check((0, 0, 0).into(), Ok([0, 0, 0]));
    check(i32::MAX.into(), Ok([i32::MAX as u32, 1, 1]));
    check((1, 65535, 65535).into(), Ok([1, 65535, 65535]));
    check((-1).into(), Err(('x', -1)));
    check((1u32 << 31).into(), Err(('x', 1 << 31)));
    check(usize::MAX.into(), Err(('x', i64::MAX)));
    check((1, 65536).into(), Err(('y', 65536)));
    check((1, 1, -5).into(), Err(('z', -5)));
}

fn launch<'a>(k: &'static Kernel, out: &'a mut impl AsPtrMutArg<i32>, n: i32) -> Launch<'a, Safe, 2> {
    launch_of(k, [out.as_ptr_mut_arg(), LaunchArg::scalar(n)])
}

#[test]
fn images_are_chosen_by_arguments() -> Result<()> {
    let stream = stream();
    let images = || {
        vec![
            image("special", "s\0", Specialization::Divisible16, 64),
            image("aligned", "a\0", Specialization::Aligned16, 64),
            image("unit", "u\0", Specialization::UnitStride, 64),
            image("general", "g\0", Specialization::Generic, 32),
        ]
    };
    let both = kernel("both", fill_params(), images());
    let mut x = stream.zeros::<i32>(64)?;
    let cases: &[(usize, i32, &str)] = &[
        (0, 64, "special"),
        (0, -16, "special"),
        (0, 0, "special"),
        (0, 8, "aligned"),
        (1, 16, "unit"),
        (1, 3, "unit"),
    ];
    for (start, n, entry) in cases {
        let mut part = x.slice_mut(*start..)?;
        let launch = launch(both, &mut part, *n);
        assert_eq!(launch.image(ComputeCapability::new(8, 0), None)?.entry, *entry, "{start} {n}");
        assert_eq!(launch.args().last(), Some(Arg::Scalar(u64::from(*n as u32))));
    }
    let error = launch(both, &mut x, 1).image(ComputeCapability::new(7, 5), None).unwrap_err();
    assert!(error.to_string().contains("compiled for sm_80, which a device of compute capability 7.5"), "{error}");

    let mut params = fill_params();
    params[1].specialize = false;
    let general_n = kernel("general_n", params, images());
    assert_eq!(
        launch(general_n, &mut x, 3).image(ComputeCapability::new(9, 0), None)?.entry,
        "special",
        "n takes no part"
    );

    // An integer that is a stride is 1, or the image knows nothing.
    let mut params = fill_params();
    params[1].promised = Promised::Unit;
    let stride = kernel("stride", params, images());
    for (n, entry) in [(1, "special"), (16, "general"), (0, "general"), (-1, "general")] {
        assert_eq!(launch(stride, &mut x, n).image(ComputeCapability::new(9, 0), None)?.entry, entry, "{n}");
    }

    let mut metadata = both.metadata().clone();
    let mut second = metadata.configs[0].clone();
    second.images = Cow::Owned(vec![image("second", "t\0", Specialization::Generic, 32)]);
    metadata.configs.to_mut().push(second);
    let two: &'static Kernel = made_of(metadata);
    assert_eq!(launch(two, &mut x, 16).image(ComputeCapability::new(8, 0), None)?.entry, "special");
    assert_eq!(
        launch(two, &mut x, 16).config(1).image(ComputeCapability::new(8, 0), None)?.entry,
        "second",
        "there is no special code"
    );
    assert!(matches!(
        launch(two, &mut x, 16).config(2).image(ComputeCapability::new(8, 0), None),
        Err(Error::Config { count: 2, .. })
    ));

    let none = kernel("none", fill_params(), Vec::new());
    assert!(matches!(launch(none, &mut x, 3).image(ComputeCapability::new(9, 0), None), Err(Error::NoImage { .. })));
    Ok(())
}

#[test]
fn multiples() -> Result<()> {
    let stream = stream();
    let mut x = stream.zeros::<i32>(64)?;
    let promising = |multiple| {
        let params =
            vec![param("out", ParamType::PtrMut(DType::I32), 64), param("n", ParamType::Scalar(DType::I32), multiple)];
        kernel("k::<f32>", params, vec![image("k", "k\0", Specialization::Generic, 32)])
    };
    let k = promising(3);
    for n in [0, 3, -3, 2_147_483_646] {
        launch(k, &mut x, n).image(ComputeCapability::new(8, 0), None)?;
    }
    let error = launch(k, &mut x, -4).launch(&stream, 1).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`k::<f32>`: argument `n` is -4, which is not a multiple of 3 as `#[multiple_of(3)]` on the parameter asks"
    );
    let error = launch(k, &mut x.slice_mut(1..)?, 3).launch(&stream, 1).unwrap_err();
    assert!(matches!(&error, Error::MultipleOf { param, multiple_of: 64, .. } if param == "out"), "{error}");
    for multiple in [0, 1] {
        launch(promising(multiple), &mut x, 5).image(ComputeCapability::new(8, 0), None)?;
    }
    Ok(())
}

#[test]
fn what_a_launch_refuses() -> Result<()> {
    let stream = stream();
    let mut x = stream.zeros::<i32>(64)?;
    let k = kernel("k", fill_params(), vec![image("k", "k\0", Specialization::Generic, 32)]);
    let error = launch(k, &mut x, 1).config(2).launch(&stream, 1).unwrap_err();
    assert!(matches!(&error, Error::Config { index: 2, count: 1, .. }), "{error}");
    let error = launch(k, &mut x, 1).launch(&stream, (1, 70000)).unwrap_err();
    assert!(matches!(error, Error::Grid { axis: 'y', found: 70000, .. }), "{error}");
    assert_eq!(
        error.to_string(),
        "the grid of `k` has 70000 programs along y, but it must have at most 65535: launch all programs along x, which may have 2147483647, and compute the index along y from `program_id(0)` by `/` and `%`"
    );
    let error = launch(k, &mut x, 1).launch(&stream, 1i64 << 31).unwrap_err();
    let text = "the grid of `k` has 2147483648 programs along x, but it must have at most 2147483647: let each program do more";
    assert_eq!(error.to_string(), text);
    let error = launch(k, &mut x, 1).launch(&stream, (1, 1, -5)).unwrap_err();
    assert_eq!(error.to_string(), "the grid of `k` has -5 programs along z, but it must have between 0 and 65535");

    let wrong: [([LaunchArg<'_>; 2], &str); 3] = [
        ([x.as_ptr_arg(), LaunchArg::scalar(1i32)], "argument 0 is a `Ptr<i32>`, but the kernel takes a `PtrMut<i32>`"),
        ([LaunchArg::scalar(1i32), LaunchArg::scalar(1i32)], "argument 0 is a scalar `i32`"),
        ([LaunchArg::scalar(1i64), LaunchArg::scalar(1i64)], "argument 0 is a scalar `i64`"),
    ];
    for (args, text) in wrong {
        let error = launch_of(k, args).launch(&stream, 1).unwrap_err();
        assert!(error.to_string().contains(text), "{error}");
    }
    let error = launch_of(k, []).launch(&stream, 1).unwrap_err();
    assert!(error.to_string().contains("argument 0 is missing"), "{error}");
    let mut short = fill_params();
    short.truncate(1);
    let short = kernel("short", short, vec![image("k", "k\0", Specialization::Generic, 32)]);
    assert!(matches!(launch(short, &mut x, 1).launch(&stream, 1), Err(Error::Argument { index: 1, .. })));
    assert_eq!(short.metadata().kernel, Cow::Borrowed("short"));
    Ok(())
}
