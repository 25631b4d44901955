//! Code that is compiled behind a launch, and that of whole programs.

use super::{fill_params, image, kernel, launch_of, log, run};
use triton_ir::metadata::{Image, Specialization};
use triton_runtime::{AsPtrMutArg, Buffer, Device, Kernel, LaunchArg, LoadInfo, Program, Result};

/// An image whose blocks are few, for `wanted` of them.
fn wanting(entry: &'static str, ptx: &'static str, wanted: u32) -> Image {
    let mut image = image(entry, ptx, Specialization::Generic, 256);
    image.wanted_blocks = wanted;
    image
}

fn fill(ptx: &'static str, wanted: u32) -> &'static Kernel {
    kernel("fill", fill_params(), vec![wanting("fill", ptx, wanted)])
}

/// What is loaded of it.
fn info(kernel: &'static Kernel, out: &mut Buffer<i32>, device: &Device) -> Result<LoadInfo> {
    Ok(launch_of(kernel, [out.as_ptr_mut_arg(), LaunchArg::scalar(0)]).load(device)?.remove(0))
}

/// How many lines of the log begin so.
fn count(lines: &[String], start: &str) -> usize {
    lines.iter().filter(|line| line.starts_with(start)).count()
}

/// A launch does not wait for the second link, whose code the later ones run; a capture and a request for resources do.
pub fn behind() -> Result<()> {
    let device = Device::cuda(0)?;
    let stream = device.stream()?;
    let mut out = stream.zeros::<i32>(64)?;
    let kernel = fill("a\0", 8);
    log();
    run(kernel, &mut out, 64, &stream, 1)?;
    device.finish_compiling();
    let first = log();
    assert_eq!(
        (count(&first, "link"), count(&first, "function fill"), count(&first, "launch")),
        (2, 2, 1),
        "{first:?}"
    );
    run(kernel, &mut out, 64, &stream, 1)?;
    assert_eq!(log(), [format!("launch 1 1 1 x 256 + 0, n = 64 on {}", super::id(&stream))]);
    let found = info(kernel, &mut out, &device)?;
    assert_eq!((found.registers, found.links, found.cached), (48, 2, false), "{found}");
    assert_eq!(found.kernel, "fill");
    assert!(found.to_string().contains(" in 2 links, loaded in "), "{found}");

    let captured = fill("b\0", 8);
    log();
    stream.capture(|stream| run(captured, &mut out, 64, stream, 1))?;
    let all = log();
    let last = all.iter().rposition(|line| line == "link");
    let launch = all.iter().position(|line| line.starts_with("launch"));
    assert!(count(&all, "link") == 2 && last < launch, "the launch is of the code that is kept: {all:?}");
    Ok(())
}

/// The first code spills: the second one has the registers that it needs, and one link finds them.
pub fn spills() -> Result<()> {
    let device = Device::cuda(0)?;
    let mut out = device.stream()?.zeros::<i32>(64)?;
    log();
    let info = info(fill("a\0", 8), &mut out, &device)?;
    assert_eq!((info.registers, info.local_bytes, info.links), (64, 0, 2), "{info}");
    assert_eq!(count(&log(), "link"), 2);
    Ok(())
}

/// What a program has loaded is exported, and loaded without a compiler before kernels are launched.
pub fn programs() -> Result<()> {
    let device = Device::cuda(0)?;
    let stream = device.stream()?;
    let mut out = stream.zeros::<i32>(64)?;
    assert!(Program::loaded().is_empty());
    run(fill("a\0", 8), &mut out, 64, &stream, 1)?;
    run(fill("b\0", 0), &mut out, 64, &stream, 1)?;
    let file = std::env::temp_dir().join(format!("triton-fake-program-{}", std::process::id()));
    Program::loaded().write(&file)?;
    let program = Program::read(&file)?;
    std::fs::remove_file(&file).expect("it was written");
    assert_eq!(program.len(), 2);

    log();
    let infos = program.load_all(&device)?;
    let loaded = log();
    assert_eq!((count(&loaded, "link"), count(&loaded, "function fill")), (0, 2), "{loaded:?}");
    assert!(infos.iter().all(|info| info.cached && info.links == 0 && info.to_string().contains("; not compiled, ")));
    // Other kernels of the same code find it there.
    for (ptx, wanted) in [("a\0", 8), ("b\0", 0)] {
        run(fill(ptx, wanted), &mut out, 64, &stream, 1)?;
        let launched = log();
        assert_eq!((launched.len(), count(&launched, "launch")), (1, 1), "{launched:?}");
    }
    assert_eq!(program.load_all(&Device::cpu())?, []);
    Ok(())
}
