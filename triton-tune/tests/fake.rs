//! What measuring asks of a GPU's driver, by a library in the driver's place that writes down its calls: that of `triton-runtime/tests/`. It runs in
//! child processes.
//!
//! The library is built by rustc; where there is none, the test says that it was skipped.

#[path = "tuner/support/mod.rs"]
#[allow(dead_code, reason = "the other program of tests uses all of it")]
mod support;

use std::path::Path;
use std::process::Command;
use support::Folder;
use triton::prelude::*;
use triton_tune::Tuner;

/// x = 2x + 1 over a pointer and a number, which is what the library looks at.
#[triton::kernel(tune = [BLOCK], configs = [(BLOCK = 64, num_warps = 1), (BLOCK = 64, num_warps = 2), (BLOCK = 128, num_warps = 4)])]
fn update_at<const BLOCK: i32>(x: PtrMut<f32>, n: i32) {
    let i = program_id(0) * BLOCK + arange(0, BLOCK);
    store(x + i, load(x + i, i < n) * 2.0 + 1.0, i < n);
}

const N: usize = 200;

/// Builds the library into a folder under the names that a loader may look for.
fn build(folder: &Path) -> bool {
    let source = folder.join("fake_cuda.rs");
    let text = include_str!("../../triton-runtime/tests/support/fake_cuda.rs");
    std::fs::write(&source, text).expect("the folder is writable");
    let library = folder.join("libcuda.so.1");
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let mut command = Command::new(rustc);
    command.args(["--crate-type", "cdylib", "--edition", "2024", "--check-cfg", "cfg(old)", "-o"]);
    let Ok(output) = command.arg(&library).arg(&source).output() else { return false };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    std::fs::copy(library, folder.join("libcuda.so")).expect("the folder is writable");
    true
}

/// Runs the test `child` in a process of its own, where `CHILD` says what is expected; the calls of its driver.
fn calls_of(case: &str, library: &Folder, cache: &Folder, mode: &str) -> Vec<String> {
    let log = cache.0.join("log");
    let _ = std::fs::remove_file(&log);
    let exe = std::env::current_exe().expect("the test binary has a path");
    let mut command = Command::new(exe);
    command.args(["child", "--exact", "--nocapture", "--test-threads=1"]).env("CHILD", case).env("FAKE_CUDA", mode);
    command.env("LD_LIBRARY_PATH", &library.0).env("FAKE_CUDA_LOG", &log).env("TRITON_DSL_CACHE_DIR", &cache.0);
    let output = command.env_remove("TRITON_DSL_TUNE").output().expect("the test binary runs again");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{case}:\n{}\n{}", text(&output.stdout), text(&output.stderr));
    std::fs::read_to_string(log).unwrap_or_default().lines().map(str::to_string).collect()
}

fn count(log: &[String], start: &str) -> usize {
    log.iter().filter(|line| line.starts_with(start)).count()
}

#[test]
fn processes() {
    let (library, cache) = (Folder::new(), Folder::new());
    if !cfg!(target_os = "linux") || !build(&library.0) {
        println!("SKIPPED: no rustc to build a driver with");
        return;
    }
    let log = calls_of("launch", &library, &cache, "");
    // Every launch takes 1.5 ms there: two that do not count and three batches of one, of three members; then the winner once.
    assert_eq!(count(&log, "launch"), 3 * 5 + 1, "{log:#?}");
    assert_eq!(count(&log, "record"), 3 * 5 * 2, "{log:#?}");
    assert_eq!(count(&log, "link"), 3, "the code of each is compiled once: {log:#?}");
    // The argument is copied aside, and back before each member and at the end.
    assert_eq!(count(&log, "copy"), 1 + 3 + 1, "{log:#?}");
    let last = |start: &str| log.iter().rposition(|line| line.starts_with(start));
    assert!(last("copy") < last("launch") && last("record") < last("copy"), "{log:#?}");
    assert_eq!(last("copy").map(|at| count(&log[at..], "launch")), Some(1), "{log:#?}");

    // A second process has the times, and the machine code.
    let files = std::fs::read_dir(cache.0.join("tune")).expect("the folder of times").flatten();
    let names: Vec<String> = files.map(|file| file.file_name().to_string_lossy().into_owned()).collect();
    assert_eq!(names, ["fake-gpu-9.0-132-multiprocessors-driver-12080.tsv"]);
    let log = calls_of("launch", &library, &cache, "");
    assert_eq!(["launch", "record", "link", "copy"].map(|call| count(&log, call)), [1, 0, 0, 0], "{log:#?}");

    // Where nothing can be compiled the error names each member; nothing is launched.
    let log = calls_of("refused", &library, &Folder::new(), "no-jit");
    assert_eq!(count(&log, "launch"), 0, "{log:#?}");
}

/// A part of the error that a case ends in; an empty one if it succeeds.
fn expected(case: &str) -> Option<&'static str> {
    match case {
        "launch" => Some(""),
        "refused" => Some("every member of the pool `update_at` that fits the call failed: BLOCK="),
        _ => None,
    }
}

#[test]
fn child() {
    let Ok(case) = std::env::var("CHILD") else { return };
    let expected = expected(&case).expect("the case exists");
    let error = launch().err().map(|error| error.to_string()).unwrap_or_default();
    assert!(error.is_empty() == expected.is_empty() && error.contains(expected), "{case}: {error}");
}

#[allow(unsafe_code, reason = "a kernel over raw pointers")]
fn launch() -> Result<(), Box<dyn std::error::Error>> {
    let device = Device::cuda(0)?;
    let tuner = Tuner::new(&device)?;
    let stream = device.stream()?;
    let mut x = stream.upload(&[1.0f32; N])?;
    let tuned = update_at_tuned(&mut x, N as i32).with(&tuner);
    // SAFETY: the mask keeps every access below N.
    unsafe { tuned.launch(&stream, |choice| N.div_ceil(choice.BLOCK as usize))? };
    stream.synchronize()?;
    Ok(())
}
