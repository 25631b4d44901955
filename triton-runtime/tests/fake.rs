//! Drivers that are missing, old or broken, and the calls made to one that works: all with a library of our own in the
//! driver's place, in child processes.
//!
//! The library is built by rustc; where there is none, the tests say that they were skipped.

#![cfg_attr(feature = "cudarc", allow(unsafe_code, reason = "what cudarc is lent"))]

#[path = "fake/cached.rs"]
mod cached;
#[path = "fake/capability.rs"]
mod capability;
#[cfg(feature = "cudarc")]
#[path = "fake/cudarc.rs"]
mod cudarc_shares;
#[path = "fake/graphs.rs"]
mod graphs;
#[path = "fake/peers.rs"]
mod peers;
#[path = "fake/prepared.rs"]
mod prepared;
#[path = "fake/programs.rs"]
mod programs;
#[path = "fake/scratch.rs"]
mod scratch;
mod support;
#[path = "fake/tensor_maps.rs"]
mod tensor_maps;
#[path = "fake/views.rs"]
mod views;
#[path = "fake/workspaces.rs"]
mod workspaces;

use std::path::Path;
use std::process::Command;
use std::time::Duration;
use support::{Folder, fill_params, image, kernel, launch_of, made_of, param, succeeded};
use triton_ir::metadata::{Config, KernelMetadata, ParamType, Specialization};
use triton_ir::types::DType;
use triton_runtime::{
    AsPtrArg, AsPtrMutArg, ComputeCapability, Device, Error, Kernel, LaunchArg, Pinned, Result, Stream,
};

/// The cases: a name for the child, and how the library behaves.
const CASES: &[(&str, &str)] = &[
    ("old", "old"),
    ("no-device", "no-device"),
    ("no-device", "no-count"),
    ("stub", "stub"),
    ("incomplete", ""),
    ("no-context", "no-context"),
    ("turing", "turing"),
    ("no-memory", "no-memory"),
    ("no-memory", "no-memory,no-pools"),
    ("fault", "fault"),
    ("assertion", "assertion"),
    ("no-jit", "no-jit"),
    ("works", ""),
    ("streams", ""),
    ("no-pools", "no-pools"),
    ("pinned", ""),
    ("events", "slow"),
    ("launch", ""),
    ("images", ""),
    ("shared-memory", ""),
    ("older-capability", ""),
    ("unknown-capability", ""),
    ("occupancy", "occupancy"),
    ("behind", "occupancy"),
    ("spills", "spills"),
    ("programs", "occupancy"),
    ("views", "views"),
    ("prepared", "views"),
    ("tensor-maps", "maps"),
    ("reported-tensor-maps", "maps,slot"),
    ("scratch", ""),
    ("scratch-without-pools", "no-pools"),
    ("fills", ""),
    ("workspaces", ""),
    ("workspaces-without-pools", "no-pools"),
    ("graphs", ""),
    ("captures-that-fail", ""),
    ("invalid-captures", "invalid-capture"),
    ("cache", ""),
    ("lines", ""),
    ("lines-by-environment", ""),
    ("devices", ""),
    ("many-devices", "many"),
    ("peers", ""),
    ("peers", "peers-enabled"),
    ("no-peers", "no-peers"),
    ("external", ""),
    #[cfg(feature = "cudarc")]
    ("cudarc-streams", ""),
    #[cfg(feature = "cudarc")]
    ("cudarc-slices", ""),
    #[cfg(feature = "cudarc")]
    ("cudarc-lends", ""),
];

#[test]
fn cases() {
    let (whole, old) = (Folder::new(), Folder::new());
    if !cfg!(target_os = "linux") || !build(&whole.0, &[]) || !build(&old.0, &["--cfg", "old"]) {
        println!("SKIPPED: no rustc to build a driver with");
        return;
    }
    for (case, mode) in CASES {
        // Where functions are missing, touching one would show.
        let library = if matches!(*case, "old" | "incomplete") || *mode == "no-device" { &old } else { &whole };
        let work = Folder::new();
        let log = work.0.join("log");
        let capability = match *case {
            "older-capability" => "8.6",
            "unknown-capability" => "sm_80",
            _ => "",
        };
        let vars = [
            ("LD_LIBRARY_PATH", library.0.to_str().unwrap_or_default()),
            ("FAKE_CUDA", mode),
            ("FAKE_CUDA_LOG", log.to_str().unwrap_or_default()),
            ("TRITON_DSL_CAPABILITY", capability),
            (
                "TRITON_DSL_CACHE_DIR",
                if matches!(*case, "cache" | "lines") { work.0.to_str().unwrap_or_default() } else { "" },
            ),
            ("TRITON_DSL_LINE_INFO", if *case == "lines-by-environment" { "1" } else { "0" }),
        ];
        succeeded(case, &support::child(case, &vars));
    }
}

/// Builds the library into a folder under the names that a loader may look for.
fn build(folder: &Path, flags: &[&str]) -> bool {
    let source = folder.join("fake_cuda.rs");
    std::fs::write(&source, include_str!("support/fake_cuda.rs")).expect("the folder is writable");
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let built = Command::new(rustc)
        .args(["--crate-type", "cdylib", "--edition", "2024", "--check-cfg", "cfg(old)", "-o"])
        .arg(folder.join("libcuda.so.1"))
        .args(flags)
        .arg(&source)
        .output();
    let Ok(output) = built else { return false };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    std::fs::copy(folder.join("libcuda.so.1"), folder.join("libcuda.so")).expect("the folder is writable");
    true
}

#[test]
fn child_process_cases() {
    // The list above and the dispatcher below agree.
    for (case, _) in CASES {
        assert!(dispatch(case).is_some(), "{case}");
    }
}

#[test]
fn child() {
    if let Some(case) = support::case() {
        dispatch(&case).expect("the case exists")().expect("no error");
    }
}

fn dispatch(case: &str) -> Option<fn() -> Result<()>> {
    Some(match case {
        "old" => old,
        "no-device" => no_device,
        "stub" => stub,
        "incomplete" => incomplete,
        "no-context" => no_context,
        "turing" => turing,
        "no-memory" => no_memory,
        "fault" => fault,
        "assertion" => assertion,
        "no-jit" => no_jit,
        "works" => works,
        "streams" => streams,
        "no-pools" => no_pools,
        "pinned" => pinned,
        "events" => events,
        "launch" => launch,
        "images" => images,
        "shared-memory" => capability::shared_memory,
        "older-capability" => capability::older,
        "unknown-capability" => capability::unknown,
        "occupancy" => occupancy,
        "behind" => programs::behind,
        "spills" => programs::spills,
        "programs" => programs::programs,
        "views" => views::views,
        "prepared" => prepared::prepared,
        "tensor-maps" => tensor_maps::tensor_maps,
        "reported-tensor-maps" => tensor_maps::reported_tensor_maps,
        "scratch" => scratch::scratch,
        "scratch-without-pools" => scratch::scratch_without_pools,
        "fills" => scratch::fills,
        "workspaces" => workspaces::workspaces,
        "workspaces-without-pools" => workspaces::without_pools,
        "graphs" => graphs::graphs,
        "captures-that-fail" => graphs::captures_that_fail,
        "invalid-captures" => graphs::invalid_captures,
        "cache" => cached::cache,
        "lines" => cached::lines,
        "lines-by-environment" => cached::lines_by_environment,
        "devices" => devices,
        "many-devices" => many_devices,
        "peers" => peers::peers,
        "no-peers" => peers::no_peers,
        "external" => peers::external,
        #[cfg(feature = "cudarc")]
        "cudarc-streams" => cudarc_shares::streams,
        #[cfg(feature = "cudarc")]
        "cudarc-slices" => cudarc_shares::slices,
        #[cfg(feature = "cudarc")]
        "cudarc-lends" => cudarc_shares::lends,
        _ => return None,
    })
}

/// The CPU was chosen, and the text says why.
fn falls_back(why: &str) {
    let best = Device::best();
    assert!(best.is_cpu());
    assert!(best.to_string().contains(why), "{best}");
}

/// What the library was asked since the last time.
fn log() -> Vec<String> {
    let path = std::env::var("FAKE_CUDA_LOG").expect("the parent sets it");
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    let _ = std::fs::remove_file(path);
    text.lines().map(str::to_string).collect()
}

fn id(stream: &Stream) -> usize {
    stream.as_raw().expect("a CUDA stream").addr()
}

fn old() -> Result<()> {
    let error = Device::cuda(0).unwrap_err();
    assert!(matches!(error, Error::DriverTooOld { found: 11040, needed: 12000, .. }));
    assert!(error.to_string().contains("it supports CUDA 11.4, but CUDA 12.0"), "{error}");
    falls_back("too old");
    Ok(())
}

fn no_device() -> Result<()> {
    assert!(matches!(Device::cuda(3).unwrap_err(), Error::NoDevice { index: 3, count: 0, .. }));
    falls_back("sees no device");
    Ok(())
}

fn stub() -> Result<()> {
    assert!(matches!(Device::cuda(0), Err(Error::NoDriver { reason, .. }) if reason.contains("stub")));
    falls_back("stub");
    Ok(())
}

fn incomplete() -> Result<()> {
    assert!(matches!(Device::cuda(0), Err(Error::NoDriver { reason, .. }) if reason.contains("has no function cu")));
    falls_back("no function");
    Ok(())
}

fn no_context() -> Result<()> {
    let error = Device::cuda(0).unwrap_err();
    assert!(matches!(error, Error::Driver { call: "cuDevicePrimaryCtxRetain", code: 46, .. }), "{error}");
    falls_back("cuDevicePrimaryCtxRetain");
    Ok(())
}

fn turing() -> Result<()> {
    falls_back("compute capability 7.5");
    let (stream, kernel) = (Device::cuda(0)?.stream()?, fill());
    let mut out = stream.zeros::<i32>(4)?;
    let error = run(kernel, &mut out, 4, &stream, 1).unwrap_err();
    let Error::NoImage { capability, targets, .. } = &error else { panic!("{error}") };
    assert_eq!((*capability, targets.as_str()), (ComputeCapability::new(7, 5), "sm_80"));
    Ok(())
}

fn no_memory() -> Result<()> {
    let stream = Device::cuda(0)?.stream()?;
    let error = stream.zeros::<f32>(1000).unwrap_err();
    let Error::OutOfMemory { requested: 4000, free, total, device, .. } = error else { panic!("{error}") };
    assert_eq!((free, total, device.as_str()), (1 << 30, 1 << 30, "Fake GPU (CUDA device 0)"));
    assert!(log().contains(&"context-synchronize".to_string()), "a second try comes after waiting");
    assert!(stream.zeros::<f32>(0)?.is_empty(), "no bytes need no memory");
    Ok(())
}

fn fault() -> Result<()> {
    let stream = Device::cuda(0)?.stream()?;
    let error = stream.synchronize().unwrap_err();
    assert!(matches!(error, Error::Device { call: "cuStreamSynchronize", .. }), "{error}");
    assert!(error.to_string().contains("compute-sanitizer"), "{error}");
    Ok(())
}

fn no_jit() -> Result<()> {
    let stream = Device::cuda(0)?.stream()?;
    let mut out = stream.zeros::<i32>(4)?;
    for _ in 0..2 {
        let error = run(fill(), &mut out, 4, &stream, 1).unwrap_err();
        assert!(matches!(&error, Error::Jit { log, .. } if log.contains("line 7")), "{error}");
    }
    Ok(())
}

fn works() -> Result<()> {
    let device = Device::best();
    assert_eq!(device.to_string(), "Fake GPU (CUDA device 0)");
    assert_eq!((device.compute_capability(), device.multiprocessors()), (Some(ComputeCapability::new(9, 0)), 132));
    assert_eq!((device.total_memory(), device.driver_version()), (Some(1 << 30), Some(12080)));
    assert!(matches!(Device::cuda(7).unwrap_err(), Error::NoDevice { index: 7, count: 2, .. }));
    let stream = device.stream()?;
    let x = stream.upload(&[1u16, 2, 3])?;
    let mut y = stream.zeros::<u16>(3)?;
    assert_eq!(stream.download(&y)?, [0, 0, 0]);
    stream.copy(&x.slice(1..)?, &mut y.slice_mut(..2)?)?;
    assert_eq!(stream.download(&y)?, [2, 3, 0]);
    let bytes = stream.upload(&[true, false])?;
    assert_eq!(stream.download(&bytes)?, [true, false]);
    let error = stream.zeros::<f64>(1 << 40).unwrap_err();
    assert!(matches!(error, Error::OutOfMemory { requested: 0x800_0000_0000, .. }), "{error}");
    Ok(())
}

/// Uses of one buffer on several streams are ordered by events; on one stream there are none.
fn streams() -> Result<()> {
    let device = Device::cuda(0)?;
    let (a, b, c) = (device.stream()?, device.stream()?, device.stream()?);
    let (ia, ib, ic) = (id(&a), id(&b), id(&c));
    let ordering = || log().into_iter().filter(|l| !l.starts_with("synchronize")).collect::<Vec<_>>();
    let mut x = a.upload(&[1i32])?;
    let mut values = [0];
    a.copy_to_host(&x, &mut values)?;
    assert_eq!(ordering(), [format!("allocate on {ia}"), format!("upload on {ia}"), format!("download on {ia}")]);

    for round in 0..2 {
        b.copy_to_host(&x, &mut values)?;
        let waited = [format!("record on {ia}"), format!("wait on {ib}"), format!("download on {ib}")];
        assert_eq!(ordering(), waited[if round == 0 { 0.. } else { 2.. }], "a reader waits once");
    }
    c.copy_to_host(&x, &mut values)?;
    ordering();
    c.copy_from_host(&[2], &mut x)?;
    let wait_c = format!("wait on {ic}");
    let expected =
        [format!("record on {ia}"), wait_c.clone(), format!("record on {ib}"), wait_c, format!("upload on {ic}")];
    assert_eq!(ordering(), expected, "a write waits for the writer and every reader");

    a.copy_to_host(&x, &mut values)?;
    assert_eq!(values, [2]);
    drop((a, b));
    ordering();
    drop(x);
    let freed = [format!("record on {ia}"), format!("wait on {ic}"), format!("free on {ic}"), format!("destroy {ia}")];
    assert_eq!(ordering(), freed, "a stream lives until the buffers used on it are gone");
    Ok(())
}

fn no_pools() -> Result<()> {
    let device = Device::cuda(0)?;
    let (a, b) = (device.stream()?, device.stream()?);
    let x = a.upload(&[1i32])?;
    assert_eq!(b.download(&x)?, [1]);
    log();
    drop(x);
    assert_eq!(log(), [format!("synchronize {}", id(&a)), format!("synchronize {}", id(&b)), "free".to_string()]);
    Ok(())
}

fn pinned() -> Result<()> {
    let device = Device::cuda(0)?;
    let (a, b) = (device.stream()?, device.stream()?);
    let mut x = a.zeros::<bool>(2)?;
    let mut host = Pinned::from_slice(&device, &[true, false])?;
    log();
    a.upload_pinned(&host, &mut x)?;
    host.as_slice()?;
    assert_eq!(log(), [format!("upload on {}", id(&a)), format!("record on {}", id(&a))], "reading needs no wait");
    host.as_mut_slice()?[1] = true;
    assert_eq!(log(), ["event-synchronize"], "writing waits");
    b.download_pinned(&x, &mut host)?;
    log();
    assert_eq!(host.as_slice()?, [true, false]);
    assert_eq!(log(), ["event-synchronize"], "reading waits for what fills it");
    a.upload_pinned(&host, &mut x)?;
    log();
    drop(host);
    assert_eq!(log(), ["event-synchronize", "free-host"], "dropping waits");
    let short = Pinned::<bool>::zeros(&device, 1)?;
    assert!(matches!(a.upload_pinned(&short, &mut x), Err(Error::Length { source_len: 1, len: 2, .. })));
    Ok(())
}

fn events() -> Result<()> {
    let device = Device::cuda(0)?;
    let (a, b) = (device.stream()?, device.stream()?);
    let start = a.record_timed_event()?;
    let end = a.record_timed_event()?;
    assert!(!end.is_done()?, "the library is slow");
    assert!(!a.is_done()?, "the library is slow");
    assert_eq!(end.since(&start)?, Duration::from_micros(1500));
    assert!(matches!(a.record_event()?.since(&start), Err(Error::Timing { .. })));
    b.wait(&end)?;
    Device::cpu().stream()?.wait(&end)?;
    b.wait(&Device::cpu().stream()?.record_event()?)?;
    Ok(())
}

/// The driver says that a kernel has failed; memory on the host says why.
fn assertion() -> Result<()> {
    let ir = "source \"src/k.rs\"\ntext \"one\"\ntext \"n is small\"\nkernel fill(v0 out: ptr<mut i32>, v1 n: i32) warps 1 {\n  \
              v2 = eq v1, v1 : bool\n  assert v2, $0 @0:7:5\n  assert v2, $1 @0:9:5\n}\n";
    let mut checked = image("fill", "fill", Specialization::Generic, 32);
    checked.has_assert_buffer = true;
    let config = Config::new(1, ir.into(), vec![checked].into());
    let params = fill_params().into();
    let kernel = made_of(KernelMetadata::new("fill".into(), "fill".into(), params, vec![config].into()));
    let stream = Device::cuda(0)?.stream()?;
    let mut out = stream.zeros::<i32>(8)?;
    let args = [out.as_ptr_mut_arg(), LaunchArg::scalar(6i32)];
    launch_of(kernel, args).launch(&stream, 1)?;
    for _ in 0..2 {
        let error = stream.synchronize().unwrap_err();
        assert!(matches!(&error, Error::DeviceAssert { line: 9, program: [6, 5, 4], .. }), "{error:?}");
        assert_eq!(error.to_string(), "src/k.rs:9: kernel `fill`, program (6, 5, 4): assertion failed: n is small");
    }
    Ok(())
}

fn fill() -> &'static Kernel {
    kernel(
        "fill",
        fill_params(),
        vec![
            image("special", "s\0", Specialization::Divisible16, 64),
            image("general", "g\0", Specialization::Generic, 32),
        ],
    )
}

fn run(k: &'static Kernel, out: &mut impl AsPtrMutArg<i32>, n: i32, stream: &Stream, grid: i32) -> Result<()> {
    launch_of(k, [out.as_ptr_mut_arg(), LaunchArg::scalar(n)]).launch(stream, grid)
}

/// The driver's compiler takes 56 registers: 4 blocks of 256 threads. Five have 48 without a spill; more would have less than three
/// quarters of the registers. An image with a bound of its own is compiled once.
fn occupancy() -> Result<()> {
    let device = Device::cuda(0)?;
    let stream = device.stream()?;
    let mut out = stream.zeros::<i32>(64)?;
    let bounded = Some(64);
    for (wanted, bound, registers, links) in
        [(8, None, 48, 2), (5, None, 48, 2), (4, None, 56, 1), (0, None, 56, 1), (8, bounded, 56, 1)]
    {
        let mut image = image("fill", "fill", Specialization::Generic, 256);
        (image.wanted_blocks, image.max_registers) = (wanted, bound);
        let kernel = kernel("fill", fill_params(), vec![image]);
        log();
        let infos = launch_of(kernel, [out.as_ptr_mut_arg(), LaunchArg::scalar(0)]).load(&device)?;
        let found: Vec<u32> = infos.iter().map(|info| info.registers).collect();
        let linked = log().iter().filter(|line| *line == "link").count();
        assert_eq!((found, linked), (vec![registers], links), "{wanted}");
    }
    Ok(())
}

fn launch() -> Result<()> {
    let device = Device::cuda(0)?;
    let (a, b) = (device.stream()?, device.stream()?);
    let kernel = fill();
    let mut out = a.zeros::<i32>(64)?;
    log();
    run(kernel, &mut out, -32, &a, 3)?;
    let launched = format!("launch 3 1 1 x 64 + 0, n = -32 on {}", id(&a));
    assert_eq!(log(), ["link".to_string(), "function special".to_string(), launched.clone()]);
    run(kernel, &mut out, -32, &a, 3)?;
    assert_eq!(log(), [launched], "the second launch is one call");
    run(kernel, &mut out, 33, &a, 1)?;
    assert!(log().contains(&"function general".to_string()));
    run(kernel, &mut out.slice_mut(1..)?, 32, &a, 1)?;
    assert_eq!(log(), [format!("launch 1 1 1 x 32 + 0, n = 32 on {}", id(&a))], "a misaligned slice");
    run(kernel, &mut out, 32, &b, 1)?;
    assert_eq!(log()[..2], [format!("record on {}", id(&a)), format!("wait on {}", id(&b))]);
    run(kernel, &mut out, 32, &b, 0)?;
    assert!(log().is_empty(), "an empty grid launches nothing");

    let infos = launch_of(kernel, [out.as_ptr_mut_arg(), LaunchArg::scalar(0)]).load(&device)?;
    let seen: Vec<_> = infos.iter().map(|i| (i.specialization, i.registers, i.log.contains("32 registers"))).collect();
    assert_eq!(seen, [(Specialization::Generic, 32, true), (Specialization::Divisible16, 32, true)]);

    let mut clustered = image("clustered", "c\0", Specialization::Generic, 128);
    clustered.cluster = [2, 1, 1];
    let clustered = support::kernel("clustered", fill_params(), vec![clustered]);
    run(clustered, &mut out, 1, &a, 3)?;
    assert_eq!(log().last().map(String::as_str), Some("launch-cluster 6 1 1 x 128"), "two blocks a program");
    assert!(matches!(run(clustered, &mut out, 1, &a, i32::MAX), Err(Error::Grid { axis: 'x', .. })));
    // The device runs no clusters of 16 blocks.
    let mut refused = image("refused", "c\0", Specialization::Generic, 128);
    refused.cluster = [16, 1, 1];
    let alone = support::kernel("alone", fill_params(), vec![refused.clone()]);
    assert!(matches!(run(alone, &mut out, 1, &a, 3), Err(Error::Cluster { blocks: 16, .. })));
    let both =
        support::kernel("both", fill_params(), vec![refused, image("single", "s\0", Specialization::Generic, 128)]);
    run(both, &mut out, 1, &a, 3)?;
    assert!(log().last().is_some_and(|launch| launch.starts_with("launch 3 1 1 x 128")));
    Ok(())
}

/// Of two images that assume the same the first is launched and loaded: the order is that of their targets.
fn images() -> Result<()> {
    let device = Device::cuda(0)?;
    let stream = device.stream()?;
    let mut out = stream.zeros::<i32>(64)?;
    let image = |entry, specialization, threads| image(entry, "i\0", specialization, threads);
    let (strong, weak) = (Specialization::Divisible16, Specialization::Generic);
    let images = vec![image("first", strong, 64), image("second", strong, 96), image("third", weak, 32)];
    let kernel = kernel("images", fill_params(), images);
    log();
    run(kernel, &mut out, 32, &stream, 1)?;
    assert_eq!(log()[1..], ["function first".to_string(), format!("launch 1 1 1 x 64 + 0, n = 32 on {}", id(&stream))]);
    run(kernel, &mut out, 33, &stream, 1)?;
    assert_eq!(log()[1..], ["function third".to_string(), format!("launch 1 1 1 x 32 + 0, n = 33 on {}", id(&stream))]);
    let infos = launch_of(kernel, [out.as_ptr_mut_arg(), LaunchArg::scalar(0)]).load(&device)?;
    assert_eq!(infos.len(), 2);
    Ok(())
}

fn devices() -> Result<()> {
    let (first, second) = (Device::cuda(0)?, Device::cuda(1)?);
    assert_ne!(first, second);
    let (a, b) = (first.stream()?, second.stream()?);
    let x = a.upload(&[1i32])?;
    let mut y = b.upload(&[1i32])?;
    log();
    let wrong = |result: Result<()>| assert!(matches!(&result, Err(Error::WrongDevice { .. })), "{result:?}");
    wrong(b.copy(&x, &mut y));
    wrong(b.copy_from_host(&[1], &mut a.zeros::<i32>(1)?));
    wrong(b.download(&x).map(drop));
    wrong(Device::cpu().stream()?.download(&x).map(drop));
    let cpu = Device::cpu().stream()?.upload(&[1i32])?;
    wrong(a.download(&cpu).map(drop));
    let params = vec![param("x", ParamType::Ptr(DType::I32), 1), param("n", ParamType::Scalar(DType::I32), 1)];
    let reader = kernel("reader", params, vec![image("reader", "r\0", Specialization::Generic, 32)]);
    let launch = launch_of(reader, [x.as_ptr_arg(), LaunchArg::scalar(1)]);
    let error = launch.launch(&b, 1).unwrap_err();
    assert!(error.to_string().contains("argument `x` of `reader` is on Fake GPU (CUDA device 0)"), "{error}");
    assert!(!log().iter().any(|l| l.starts_with("launch") || l.starts_with("wait")), "nothing was enqueued");
    Ok(())
}

/// Functions are found for every device, however many there are.
fn many_devices() -> Result<()> {
    let kernel = fill();
    for index in [0, 15, 16, 19, 16, 0] {
        let stream = Device::cuda(index)?.stream()?;
        let mut out = stream.zeros::<i32>(4)?;
        run(kernel, &mut out, 16, &stream, 1)?;
    }
    let loaded = log().iter().filter(|l| l.starts_with("function")).count();
    assert_eq!(loaded, 4, "once a device");
    assert!(matches!(Device::cuda(20).unwrap_err(), Error::NoDevice { index: 20, count: 20, .. }));
    Ok(())
}
