//! What a launch costs the host once its shapes were launched before: no memory of the device, no copy, no waiting, and no memory of the host.
//!
//! Counted beside the runtime's own driver for tests, which does nothing: the CPU device would count its interpreter. The driver is built by rustc,
//! and writes down each call; where there is no rustc, the test says that it was skipped.
#![allow(dead_code, unused_imports, reason = "`library` uses the rest of its files")]

#[path = "library/conv/mod.rs"]
mod conv;
#[path = "library/declared.rs"]
mod declared;
#[path = "library/graphs/mod.rs"]
mod graphs;
#[path = "library/harness/mod.rs"]
mod harness;
#[path = "library/reference/mod.rs"]
mod reference;
#[path = "library/rows/mod.rs"]
mod rows;

use harness::{Failure, Form, Outcome, Random};
use std::path::{Path, PathBuf};
use std::process::Command;
use triton::prelude::*;
use triton_kernels::contract::contract;
use triton_kernels::linear::gemm;
use triton_tests::root;

/// Where the child finds the log of the driver.
const LOG: &str = "FAKE_CUDA_LOG";

/// Builds the driver into a folder, if there is a compiler.
fn build(folder: &Path) -> bool {
    let source = root().join("triton-runtime/tests/support/fake_cuda.rs");
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let built = Command::new(rustc)
        .args(["--crate-type", "cdylib", "--edition", "2024", "--check-cfg", "cfg(old)", "-o"])
        .arg(folder.join("libcuda.so.1"))
        .arg(source)
        .output();
    let Ok(output) = built else { return false };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    true
}

#[test]
fn launches_after_the_first() {
    let folder = std::env::temp_dir().join(format!("triton-launches-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder of its own");
    if cfg!(target_os = "linux") && build(&folder) {
        let child = Command::new(std::env::current_exe().expect("this test"))
            .args(["--exact", "child", "--nocapture"])
            .envs([("LD_LIBRARY_PATH", folder.as_path()), ("TRITON_DSL_CACHE_DIR", Path::new(""))])
            .env(LOG, folder.join("log"))
            .env("FAKE_CUDA", "wide-clusters")
            .output();
        let output = child.expect("the child starts");
        let said = String::from_utf8_lossy(&output.stdout);
        println!("{said}");
        assert!(output.status.success() && said.contains("launches of"), "{}", String::from_utf8_lossy(&output.stderr));
    } else {
        println!("SKIPPED: no rustc to build a driver with");
    }
    drop(std::fs::remove_dir_all(folder));
}

/// In a process that finds the driver.
#[test]
fn child() {
    if let Some(log) = std::env::var_os(LOG) {
        let log = PathBuf::from(log);
        let failures = costs(&log).and_then(|failures| errors_in_captures().map(|()| failures));
        match failures {
            Ok(failures) => assert!(failures.is_empty(), "{}", failures.join("\n")),
            Err(failure) => panic!("{}", failure.0),
        }
    }
}

/// What the driver did since this was last asked.
fn calls(log: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    std::fs::write(log, "").expect("the log can be emptied");
    text.lines().map(str::to_owned).collect()
}

/// Each launch that costs more than it may, in words.
fn costs(log: &Path) -> Outcome<Vec<String>> {
    let stream = Device::cuda(0)?.stream()?;
    let (mut failures, forms) = (Vec::new(), graphs::forms());
    for form in &forms {
        let named = |error: triton_kernels::Error| Failure(format!("{}: {error}", form.name));
        let mut ready = (form.make)(&stream, &mut Random::with_seed(1))?;
        ready.launch(&stream).map_err(named)?;
        calls(log);
        ready.launch(&stream).map_err(named)?;
        let costly = ["allocate", "free", "upload", "download", "synchronize", "clear", "wait", "link"];
        let found: Vec<String> =
            calls(log).into_iter().filter(|call| costly.iter().any(|costly| call.contains(costly))).collect();
        if !found.is_empty() {
            failures.push(format!("{}: {found:?}", form.name));
        }
        // The first launch may have left memory that later ones share out in another way, and the runtime keeps a launch when it is made
        // the second time.
        ready.launch(&stream).map_err(named)?;
        let mut again = Ok(());
        let info = allocation_counter::measure(|| again = ready.launch(&stream));
        again?;
        if info.count_total > 0 {
            failures.push(format!("{}: {} allocations of the host", form.name, info.count_total));
        }
    }
    println!("launches of {} forms, {} too costly", forms.len(), failures.len());
    failures.iter().for_each(|failure| println!("{failure}"));
    Ok(failures)
}

/// An error in a capture names the operation that it is of: the driver has a GiB of memory, and these want more.
fn errors_in_captures() -> Outcome {
    let stream = Device::cuda(0)?.stream()?;
    let (side, depth) = (8192, 2048);
    let (x, mut y) = (stream.uninit::<bf16>(side * depth)?, stream.uninit::<bf16>(side * side)?);
    let failed = stream.capture(|captured| {
        let c = y.view_mut([side, side])?;
        let product = gemm(x.view([side, depth])?, x.view([depth, side])?, c).splits(8).deterministic(true);
        Ok(product.launch(captured)?)
    });
    let message = triton_kernels::Error::from(failed.err().ok_or("it has the memory")?).to_string();
    assert!(message.starts_with("`gemm`: memory for intermediate results: "), "{message}");
    // Other errors do already, and come back as they were.
    let failed = stream.capture(|captured| {
        Ok(contract("ik,kj->i", x.view([64, 2])?, x.view([3, 64])?, y.view_mut([64])?).launch(captured)?)
    });
    let message = triton_kernels::Error::from(failed.err().ok_or("`k` has two extents")?).to_string();
    assert!(message.starts_with("`contract`: "), "{message}");
    Ok(())
}

/// Every operation that a family exports has forms. Other functions are in the list.
#[test]
fn every_operation_has_forms() {
    const OTHERS: [&str; 5] = ["instances", "instances_of", "of_rank", "of_rank_mut", "superblock"];
    let forms = graphs::forms();
    let mut operations = vec!["to_dense".to_string()];
    let modules = [
        "activation",
        "attention",
        "contract",
        "conv",
        "embedding",
        "index",
        "linear",
        "loss",
        "norm",
        "optim",
        "pool",
        "recurrent",
        "reduce",
        "sparse",
    ];
    for module in modules {
        let path = root().join("triton-kernels/src").join(module).join("mod.rs");
        let source = std::fs::read_to_string(path).expect("the module");
        let exports = source.split("pub use ").skip(1).filter_map(|rest| rest.split(';').next());
        for exported in exports {
            let words = exported.split([',', '{', '}', '\n']).flat_map(|item| item.rsplit("::").next());
            let names = words.map(str::trim).filter(|word| word.starts_with(|c: char| c.is_ascii_lowercase()));
            operations.extend(names.filter(|name| !OTHERS.contains(name)).map(str::to_owned));
        }
    }
    for module in ["dropout.rs", "softmax.rs"] {
        let source = std::fs::read_to_string(root().join("triton-kernels/src").join(module)).expect("the module");
        let names = source.split("\npub fn ").skip(1).filter_map(|rest| rest.split(['<', '(']).next());
        operations.extend(names.map(str::to_owned));
    }
    assert!(operations.len() > 40, "{operations:?}");
    for operation in &operations {
        let is = |form: &&Form| form.name.split([' ', ',']).next() == Some(operation);
        let count = forms.iter().filter(is).count();
        assert!(count >= 2, "`{operation}` has {count} forms");
    }
    println!("{} operations, {} forms", operations.len(), forms.len());
}
