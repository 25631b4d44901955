//! The real thing, where there is a GPU: each case in a process of its own, with a cache folder of its own.
//!
//! Without a GPU the test passes and says that it was skipped. Nothing of the source tree is needed at run time.

#![allow(unsafe_code, reason = "a raw launch to compare with, a foreign stream, and a kernel that does wrong")]

mod support;

use libloading::{Library, Symbol};
use std::ffi::{c_char, c_int, c_uint, c_void};
use std::time::{Duration, Instant};
use support::{Folder, fill_params, image, kernel, launch_of, param, succeeded, tensor_maps};
use triton_ir::metadata::{Image, ParamType, Specialization, Target};
use triton_ir::types::DType;
use triton_runtime::launch::mode::Unsafe;
use triton_runtime::{
    AsPtrArg, AsPtrMutArg, ComputeCapability, Device, DevicePtrMut, Error, Kernel, Launch, LaunchArg, LoadInfo, Pinned,
    Result, Stream,
};

/// A name for the child process, and what it does.
type Case = (&'static str, fn() -> Result<()>);

/// The cases, in the order in which they run.
const CASES: &[Case] = &[
    ("copies", copies),
    ("images", images),
    ("ordering", ordering),
    ("drop_after_launch", drop_after_launch),
    ("threads", threads),
    ("pinned", pinned),
    ("events", events),
    ("foreign_stream", foreign_stream),
    ("shared_and_clusters", shared_and_clusters),
    ("boxes", boxes),
    ("bad_ptx", bad_ptx),
    ("fault", fault),
    ("out_of_memory", out_of_memory),
    ("overhead", overhead),
    ("cache_cold", || cache(false)),
    ("cache_warm", || cache(true)),
    ("cache_damaged", || cache(false)),
];

/// Clock cycles that a slow kernel waits: some 30 ms.
const SLOW: u64 = 50_000_000;

const N: usize = 64;

#[test]
fn cases() {
    let device = Device::best();
    if device.is_cpu() {
        println!("SKIPPED: {device}");
        return;
    }
    println!("{device}, {:?}, driver {:?}", device.compute_capability(), device.driver_version());
    let cache = Folder::new();
    for (case, _) in CASES {
        if *case == "cache_cold" {
            entries(&cache).for_each(|path| std::fs::remove_file(path).expect("an entry"));
        }
        if *case == "cache_damaged" {
            for path in entries(&cache) {
                let mut bytes = std::fs::read(&path).expect("an entry");
                let middle = bytes.len() / 2;
                bytes[middle] ^= 1;
                std::fs::write(path, bytes).expect("a writable entry");
            }
        }
        let start = Instant::now();
        let output = support::child(case, &[("TRITON_DSL_CACHE_DIR", cache.0.to_str().expect("a path"))]);
        succeeded(case, &output);
        println!("{case}: {:.2} s", start.elapsed().as_secs_f64());
        for line in String::from_utf8_lossy(&output.stdout).lines().filter(|l| l.contains("::")) {
            println!("    {line}");
        }
    }
    assert!(entries(&cache).count() > 0, "the cache was used");
}

fn entries(folder: &Folder) -> impl Iterator<Item = std::path::PathBuf> {
    let all = std::fs::read_dir(&folder.0).expect("the folder").map(|entry| entry.expect("an entry").path());
    all.filter(|path| path.extension().is_some_and(|e| e == "cubin"))
}

#[test]
fn child() {
    if let Some(case) = support::case() {
        let (_, run) = CASES.iter().find(|(name, _)| *name == case).expect("the case exists");
        run().expect("no error");
    }
}

fn gpu() -> Result<(Device, Stream)> {
    let device = Device::cuda(0)?;
    let stream = device.stream()?;
    Ok((device, stream))
}

/// `out[i] = n + tag`, after some cycles.
fn fill_image(promise: Specialization, tag: i32, cycles: u64) -> Image {
    let ptx = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n\
         .visible .entry fill(.param .u64 out, .param .u32 n) .reqntid 32,1,1\n{{\n\
         .reg .pred %p; .reg .b32 %r<4>; .reg .b64 %d<5>;\n\
         ld.param.u64 %d0, [out]; ld.param.u32 %r0, [n]; cvta.to.global.u64 %d0, %d0;\n\
         mov.u64 %d1, %clock64;\n\
         WAIT: mov.u64 %d2, %clock64; sub.u64 %d2, %d2, %d1; setp.lt.u64 %p, %d2, {cycles}; @%p bra WAIT;\n\
         mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; mad.lo.u32 %r1, %r1, 32, %r2;\n\
         mul.wide.u32 %d3, %r1, 4; add.u64 %d0, %d0, %d3; add.s32 %r0, %r0, {tag};\n\
         st.global.u32 [%d0], %r0;\nret;\n}}\n\0"
    );
    image("fill", ptx, promise, 32)
}

fn fill(cycles: u64) -> &'static Kernel {
    kernel(
        "fill",
        fill_params(),
        vec![fill_image(Specialization::Divisible16, 1000, cycles), fill_image(Specialization::Generic, 0, cycles)],
    )
}

/// `out[i] = x[i]`, after some cycles.
fn copy(cycles: u64) -> &'static Kernel {
    let ptx = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n\
         .visible .entry copy(.param .u64 x, .param .u64 out) .reqntid 32,1,1\n{{\n\
         .reg .pred %p; .reg .b32 %r<4>; .reg .b64 %d<6>;\n\
         ld.param.u64 %d0, [x]; ld.param.u64 %d4, [out];\n\
         cvta.to.global.u64 %d0, %d0; cvta.to.global.u64 %d4, %d4;\n\
         mov.u64 %d1, %clock64;\n\
         WAIT: mov.u64 %d2, %clock64; sub.u64 %d2, %d2, %d1; setp.lt.u64 %p, %d2, {cycles}; @%p bra WAIT;\n\
         mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; mad.lo.u32 %r1, %r1, 32, %r2;\n\
         mul.wide.u32 %d3, %r1, 4; add.u64 %d0, %d0, %d3; add.u64 %d4, %d4, %d3;\n\
         ld.global.u32 %r3, [%d0]; st.global.u32 [%d4], %r3;\nret;\n}}\n\0"
    );
    let params = vec![param("x", ParamType::Ptr(DType::I32), 1), param("out", ParamType::PtrMut(DType::I32), 1)];
    kernel("copy", params, vec![image("copy", ptx, Specialization::Generic, 32)])
}

fn run_fill(k: &'static Kernel, out: &mut impl AsPtrMutArg<i32>, n: i32, stream: &Stream) -> Result<()> {
    launch_of(k, [out.as_ptr_mut_arg(), LaunchArg::scalar(n)]).launch(stream, N / 32)
}

fn loaded(k: &'static Kernel, out: &mut impl AsPtrMutArg<i32>, device: &Device) -> Result<Vec<LoadInfo>> {
    launch_of(k, [out.as_ptr_mut_arg(), LaunchArg::scalar(0)]).load(device)
}

fn run_copy(
    k: &'static Kernel,
    x: &impl AsPtrArg<i32>,
    out: &mut impl AsPtrMutArg<i32>,
    stream: &Stream,
) -> Result<()> {
    launch_of(k, [x.as_ptr_arg(), out.as_ptr_mut_arg()]).launch(stream, N / 32)
}

fn copies() -> Result<()> {
    let (device, stream) = gpu()?;
    assert!(device.total_memory().is_some_and(|n| n > 1 << 30) && device.multiprocessors() > 1);
    let values: Vec<f32> = (0..100_000).map(|i| i as f32).collect();
    let x = stream.upload(&values)?;
    assert_eq!(x.address() % 256, 0);
    assert_eq!(stream.download(&x)?, values);
    assert_eq!(stream.download(&x.slice(777..1000)?)?, values[777..1000]);
    let mut y = stream.zeros::<f32>(10)?;
    stream.copy(&x.slice(5..10)?, &mut y.slice_mut(..5)?)?;
    assert_eq!(stream.download(&y)?, [5., 6., 7., 8., 9., 0., 0., 0., 0., 0.]);
    let flags = [true, false, true];
    assert_eq!(stream.download(&stream.upload(&flags)?)?, flags);
    assert_eq!(stream.download(&stream.zeros::<f64>(0)?)?, [0.0f64; 0]);
    // A byte that is not a `bool` comes back as `true`.
    let mut bools = stream.zeros::<bool>(4 * N)?;
    // SAFETY: 4 N bytes are N words.
    let mut words = unsafe { DevicePtrMut::<i32>::new(bools.address()) };
    run_fill(fill(0), &mut words, 2, &stream)?;
    stream.synchronize()?;
    let first = stream.download(&bools)?;
    assert_eq!(first[..4], [true, false, false, false]);
    let mut host = Pinned::zeros(&device, 4 * N)?;
    stream.download_pinned(&bools, &mut host)?;
    assert_eq!(host.as_slice()?, first);
    stream.copy_from_host(&vec![false; 4 * N], &mut bools)?;
    Ok(())
}

fn images() -> Result<()> {
    let (device, stream) = gpu()?;
    let (k, mut x) = (fill(0), stream.zeros::<i32>(N + 4)?);
    for (start, n, expected) in [(0, 32, 1032), (0, 33, 33), (4, -16, 984), (1, 32, 32), (0, -1, -1)] {
        run_fill(k, &mut x.slice_mut(start..)?, n, &stream)?;
        let found = stream.download(&x.slice(start..start + N)?)?;
        assert!(found.iter().all(|v| *v == expected), "start {start}, n {n}: {found:?}");
    }
    let infos = loaded(k, &mut x, &device)?;
    for info in &infos {
        println!("{} registers :: log {:?}", info.registers, info.log);
        assert!(info.registers > 0 && info.local_bytes == 0);
    }
    assert_eq!(infos.len(), 2);
    Ok(())
}

/// Data shows that a later use on another stream waits, and that the enqueueing calls do not.
fn ordering() -> Result<()> {
    let (device, a) = gpu()?;
    let (b, c) = (device.stream()?, device.stream()?);
    let (slow_fill, slow_copy, copy) = (fill(SLOW), copy(SLOW), copy(0));
    let mut x = a.zeros::<i32>(N)?;
    let (mut y, mut z) = (b.zeros::<i32>(N)?, c.zeros::<i32>(N)?);
    // Load everything first: that takes its time.
    run_fill(slow_fill, &mut x, 1, &a)?;
    run_copy(slow_copy, &x, &mut y, &a)?;
    run_copy(copy, &x, &mut z, &a)?;
    a.synchronize()?;
    for n in [3, 5, 7] {
        run_fill(slow_fill, &mut x, n, &a)?;
        let filled = a.record_event()?;
        // Reads on b and c wait for the write on a; the write on a waits for them.
        run_copy(slow_copy, &x, &mut y, &b)?;
        run_copy(copy, &x, &mut z, &c)?;
        assert!(!filled.is_done()?, "the calls wait for no kernel");
        a.upload_pinned(&Pinned::from_slice(&device, &[-1; N])?, &mut x)?;
        assert_eq!(a.download(&y)?, [n; N], "a slow read comes before the next write");
        assert_eq!(b.download(&z)?, [n; N]);
        assert_eq!(c.download(&x)?, [-1; N]);
    }
    Ok(())
}

/// Memory of a dropped buffer is not given to others while a kernel still writes to it.
fn drop_after_launch() -> Result<()> {
    let (device, a) = gpu()?;
    let b = device.stream()?;
    let slow = fill(SLOW);
    for n in [1, 3, 5] {
        let mut x = a.zeros::<i32>(N)?;
        run_fill(slow, &mut x, n, &a)?;
        drop(x);
        let fresh: Vec<_> = (0..32).map(|i| b.upload(&[i; N])).collect::<Result<_>>()?;
        a.synchronize()?;
        for (i, buffer) in (0..).zip(&fresh) {
            assert_eq!(b.download(buffer)?, [i; N]);
        }
    }
    // The stream may go first as well.
    let mut x = b.zeros::<i32>(N)?;
    let gone = device.stream()?;
    run_fill(slow, &mut x, 9, &gone)?;
    drop(gone);
    assert_eq!(b.download(&x)?, [9; N]);
    Ok(())
}

fn threads() -> Result<()> {
    let (device, stream) = gpu()?;
    let x = stream.upload(&[42; N])?;
    let k = copy(1000);
    std::thread::scope(|scope| {
        let work = || {
            let own = device.stream()?;
            let mut out = own.zeros::<i32>(N)?;
            for _ in 0..200 {
                run_copy(k, &x, &mut out, &own)?;
            }
            own.download(&out)
        };
        let workers: Vec<_> = (0..4).map(|_| scope.spawn(work)).collect();
        for worker in workers {
            assert_eq!(worker.join().expect("no panic")?, [42; N]);
        }
        Ok(())
    })
}

fn pinned() -> Result<()> {
    let (device, a) = gpu()?;
    let b = device.stream()?;
    let slow = fill(SLOW);
    let (mut x, mut y) = (a.zeros::<i32>(N)?, a.zeros::<i32>(N)?);
    let mut host = Pinned::from_slice(&device, &[1; N])?;
    // Loading takes its time: not while the kernel runs.
    run_fill(slow, &mut x, 1, &a)?;
    a.synchronize()?;
    run_fill(slow, &mut x, 3, &a)?;
    let filled = a.record_event()?;
    a.download_pinned(&x, &mut host)?;
    // This copy, on another stream, must wait for the one that fills its source.
    b.upload_pinned(&host, &mut y)?;
    assert!(!filled.is_done()?, "the calls wait for no kernel");
    assert_eq!(host.as_slice()?, [3; N], "looking waits");
    assert!(filled.is_done()?);
    run_fill(slow, &mut y, 5, &a)?;
    a.upload_pinned(&host, &mut y)?;
    host.as_mut_slice()?.fill(-1);
    assert_eq!(a.download(&y)?, [3; N], "writing waits for the copy that reads");
    run_fill(slow, &mut y, 5, &a)?;
    a.download_pinned(&y, &mut host)?;
    drop(host);
    assert_eq!(a.download(&y)?, [5; N]);
    Ok(())
}

fn events() -> Result<()> {
    let (device, a) = gpu()?;
    let b = device.stream()?;
    let slow = fill(SLOW);
    let mut x = a.zeros::<i32>(N)?;
    run_fill(slow, &mut x, 1, &a)?;
    a.synchronize()?;
    let begun = Instant::now();
    let start = a.record_timed_event()?;
    run_fill(slow, &mut x, 1, &a)?;
    let end = a.record_timed_event()?;
    b.wait(&end)?;
    let behind = b.record_event()?;
    assert!(!end.is_done()? && !behind.is_done()?, "the kernel is slow");
    behind.synchronize()?;
    assert!(end.is_done()?);
    let time = end.since(&start)?;
    println!("a slow kernel :: {time:.2?}");
    // No GPU has a clock of 10 GHz, and the kernel ran while we waited.
    assert!(time > Duration::from_millis(5) && time < begun.elapsed());
    assert!(matches!(behind.since(&start), Err(Error::Timing { .. })));
    Ok(())
}

fn foreign_stream() -> Result<()> {
    let (device, owner) = gpu()?;
    let handle = owner.as_raw().expect("a handle");
    // SAFETY: `owner` outlives everything below.
    let (same, legacy) =
        unsafe { (Stream::from_raw(&device, handle), Stream::from_raw(&device, std::ptr::null_mut())) };
    for stream in [same, legacy] {
        let mut x = stream.zeros::<i32>(N)?;
        run_fill(fill(0), &mut x, 5, &stream)?;
        assert_eq!(owner.download(&x)?, [5; N]);
    }
    Ok(())
}

fn shared_and_clusters() -> Result<()> {
    let (device, stream) = gpu()?;
    let mut x = stream.zeros::<i32>(N)?;
    let mut large = fill_image(Specialization::Generic, 7, 0);
    large.shared_bytes = 90_000;
    let k = kernel("large", fill_params(), vec![large.clone()]);
    run_fill(k, &mut x, 1, &stream)?;
    assert_eq!(stream.download(&x)?, [8; N]);
    assert_eq!(loaded(k, &mut x, &device)?[0].shared_bytes, 90_000);
    large.shared_bytes = 1 << 20;
    let error = run_fill(kernel("huge", fill_params(), vec![large]), &mut x, 1, &stream).unwrap_err();
    assert!(matches!(error, Error::SharedMemory { needed: 0x10_0000, .. }), "{error}");

    if device.compute_capability() >= Some(ComputeCapability::new(9, 0)) {
        for (name, blocks, tag) in [("pairs", 2, 9), ("sixteens", 16, 11)] {
            let mut clustered = fill_image(Specialization::Generic, tag, 0);
            clustered.cluster = [blocks, 1, 1];
            let k = kernel(name, fill_params(), vec![clustered]);
            let mut x = stream.zeros::<i32>(512)?;
            launch_of(k, [x.as_ptr_mut_arg(), LaunchArg::scalar(1)]).launch(&stream, 512 / 32 / blocks)?;
            assert_eq!(stream.download(&x)?, [1 + tag; 512]);
        }
    }
    Ok(())
}

/// Boxes that bulk copies bring by tensor maps, where there are any, and what a launch with a map costs.
fn boxes() -> Result<()> {
    let (device, stream) = gpu()?;
    if !device.compute_capability().is_some_and(|capability| Target::Sm90a.runs_on(capability)) {
        return Ok(());
    }
    tensor_maps::check_device(&device)?;
    for (what, ns) in tensor_maps::times(&stream)? {
        println!("launch with {what} :: {ns:.0} ns");
    }
    Ok(())
}

fn bad_ptx() -> Result<()> {
    let (_, stream) = gpu()?;
    let mut x = stream.zeros::<i32>(N)?;
    let text = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 a) { nonsense; }\n\0";
    let k = kernel("broken", fill_params(), vec![image("k", text, Specialization::Generic, 32)]);
    let error = run_fill(k, &mut x, 1, &stream).unwrap_err();
    println!("bad PTX :: {}", error.to_string().replace('\n', " | "));
    assert!(matches!(&error, Error::Jit { log, .. } if !log.is_empty()), "{error}");
    // The device still works.
    run_fill(fill(0), &mut x, 1, &stream)?;
    assert_eq!(stream.download(&x)?, [1; N]);
    Ok(())
}

fn fault() -> Result<()> {
    let (_, stream) = gpu()?;
    let k = fill(0);
    let mut x = stream.zeros::<i32>(N)?;
    // SAFETY: there is nothing at this address, which is the point; the process ends after this.
    unsafe {
        let mut nowhere = DevicePtrMut::<i32>::new(16);
        Launch::<Unsafe, 2>::new(k, [nowhere.as_ptr_mut_arg(), LaunchArg::scalar(1)]).launch(&stream, 1)?;
    }
    let error = stream.synchronize().unwrap_err();
    println!("fault :: {error}");
    assert!(matches!(error, Error::Device { call: "cuStreamSynchronize", .. }), "{error}");
    let again = run_fill(k, &mut x, 1, &stream).and_then(|()| stream.download(&x).map(drop)).unwrap_err();
    assert!(matches!(again, Error::Device { .. }), "{again}");
    Ok(())
}

fn out_of_memory() -> Result<()> {
    let (device, stream) = gpu()?;
    let total = device.total_memory().expect("a GPU tells") as usize;
    let error = stream.zeros::<u8>(total + 1).unwrap_err();
    assert!(matches!(error, Error::OutOfMemory { free, .. } if free > 0), "{error}");
    let other = device.stream()?;
    let first = stream.zeros::<u8>(total / 10 * 6)?;
    let error = other.zeros::<u8>(total / 10 * 6).unwrap_err();
    println!("out of memory :: {error}");
    assert!(matches!(error, Error::OutOfMemory { .. }), "{error}");
    drop(first);
    // What another stream has freed serves.
    assert_eq!(other.zeros::<u8>(total / 10 * 6)?.len(), total / 10 * 6);
    Ok(())
}

fn cache(warm: bool) -> Result<()> {
    let (device, stream) = gpu()?;
    let k = fill(0);
    let mut x = stream.zeros::<i32>(N)?;
    let start = Instant::now();
    let infos = loaded(k, &mut x, &device)?;
    println!("loading two images :: {:.3} ms", start.elapsed().as_secs_f64() * 1e3);
    assert!(infos.iter().all(|info| info.cached == warm), "{infos:?}");
    run_fill(k, &mut x, 16, &stream)?;
    assert_eq!(stream.download(&x)?, [1016; N]);
    Ok(())
}

type LoadData = unsafe extern "C" fn(*mut *mut c_void, *const c_void) -> c_int;
type GetFunction = unsafe extern "C" fn(*mut *mut c_void, *mut c_void, *const c_char) -> c_int;
type LaunchKernel = unsafe extern "C" fn(
    *mut c_void,
    c_uint,
    c_uint,
    c_uint,
    c_uint,
    c_uint,
    c_uint,
    c_uint,
    *mut c_void,
    *mut *mut c_void,
    *mut *mut c_void,
) -> c_int;

/// A warm launch against the driver's own call. Rounds alternate; the medians count.
fn overhead() -> Result<()> {
    const BATCH: usize = 200;
    let (_, stream) = gpu()?;
    let ptx = ".version 8.0\n.target sm_80\n.address_size 64\n\
               .visible .entry nothing(.param .u64 x, .param .u64 y, .param .u64 out, .param .u32 n) { ret; }\n\0";
    let params = vec![
        param("x", ParamType::Ptr(DType::F32), 1),
        param("y", ParamType::Ptr(DType::F32), 1),
        param("out", ParamType::PtrMut(DType::F32), 1),
        param("n", ParamType::Scalar(DType::I32), 1),
    ];
    let images = vec![
        image("nothing", ptx, Specialization::Divisible16, 128),
        image("nothing", ptx, Specialization::Generic, 128),
    ];
    let k = kernel("nothing", params, images);
    let (x, y, mut out) = (stream.zeros::<f32>(64)?, stream.zeros::<f32>(64)?, stream.zeros::<f32>(64)?);

    let (mut module, mut function) = (std::ptr::null_mut(), std::ptr::null_mut());
    // SAFETY: the runtime has loaded this library, and these are the functions' types.
    let library =
        unsafe { Library::new(if cfg!(windows) { "nvcuda.dll" } else { "libcuda.so.1" }) }.expect("the driver");
    // SAFETY: as above.
    let (load, find, launch) = unsafe {
        let load: Symbol<'_, LoadData> = library.get("cuModuleLoadData").expect("a function");
        let find: Symbol<'_, GetFunction> = library.get("cuModuleGetFunction").expect("a function");
        let launch: Symbol<'_, LaunchKernel> = library.get("cuLaunchKernel").expect("a function");
        (load, find, *launch)
    };
    // SAFETY: the text ends in NUL, and our context is current on this thread.
    unsafe {
        assert_eq!(load(&mut module, ptx.as_ptr().cast()), 0);
        assert_eq!(find(&mut function, module, c"nothing".as_ptr()), 0);
    }
    let raw_stream = stream.as_raw().expect("a handle");
    let (mut a, mut b, mut c, mut n) = (x.address(), y.address(), out.address(), 64i32);
    let mut raw = || {
        let mut values: [*mut c_void; 4] =
            [(&raw mut a).cast(), (&raw mut b).cast(), (&raw mut c).cast(), (&raw mut n).cast()];
        // SAFETY: the kernel has these parameters and touches nothing.
        let done =
            unsafe { launch(function, 1, 1, 1, 128, 1, 1, 0, raw_stream, values.as_mut_ptr(), std::ptr::null_mut()) };
        assert_eq!(done, 0);
    };
    let mut ours = || {
        let args = [x.as_ptr_arg(), y.as_ptr_arg(), out.as_ptr_mut_arg(), LaunchArg::scalar(64i32)];
        launch_of(k, args).launch(&stream, 1)
    };
    let (mut raw_times, mut our_times) = (Vec::new(), Vec::new());
    for _ in 0..201 {
        let start = Instant::now();
        (0..BATCH).for_each(|_| raw());
        raw_times.push(start.elapsed().as_secs_f64());
        stream.synchronize()?;
        let start = Instant::now();
        (0..BATCH).try_for_each(|_| ours())?;
        our_times.push(start.elapsed().as_secs_f64());
        stream.synchronize()?;
    }
    let median = |times: &mut Vec<f64>| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2] / BATCH as f64 * 1e9
    };
    let (raw, ours) = (median(&mut raw_times), median(&mut our_times));
    let build = if cfg!(debug_assertions) { "unoptimised" } else { "optimised" };
    println!("launch, {build} :: raw {raw:.0} ns, ours {ours:.0} ns, ratio {:.3}", ours / raw);
    Ok(())
}
