//! What measures launches, with a library of our own in the driver's place: it launches nothing, so that every result is wrong, which
//! must be said after everything was measured. The library is built by rustc; without one, the test says that it was skipped.

#![cfg(target_os = "linux")]

use std::path::{Path, PathBuf};
use std::process::Command;

/// A temporary folder of this test, which goes when the value goes.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Builds the runtime's stand-in for the driver under the names that a loader may look for; whether there is a rustc to do so.
fn build(folder: &Path) -> bool {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../triton-runtime/tests/support/fake_cuda.rs");
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let library = folder.join("libcuda.so.1");
    let built = Command::new(rustc)
        .args(["--crate-type", "cdylib", "--edition", "2024", "--check-cfg", "cfg(old)", "-o"])
        .arg(&library)
        .arg(source)
        .output();
    let Ok(output) = built else { return false };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    std::fs::copy(library, folder.join("libcuda.so")).expect("the folder is writable");
    true
}

/// Runs the benchmark with the stand-in: what it printed on both outputs. It fails, since no kernel ran.
fn run(folder: &Path, mode: &str, args: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_triton-bench"));
    command.args(args).env("LD_LIBRARY_PATH", folder).env("TRITON_DSL_CACHE_DIR", "").env("FAKE_CUDA", mode);
    let output = command.output().expect("the benchmark runs");
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{args:?}: {text}");
    text.into_owned()
}

#[test]
fn launches() {
    let folder = Folder(std::env::temp_dir().join(format!("triton-bench-launch-{}", std::process::id())));
    std::fs::create_dir_all(&folder.0).expect("the temporary folder can be made");
    if !build(&folder.0) {
        println!("SKIPPED: no rustc to build a driver with");
        return;
    }
    // Arguments, what goes wrong with the driver, and what is printed.
    let counters = ["papers", "--table", "counters", "--flush-mib", "1", "--seed", "1", "--blocks", "1", "--reps", "1"];
    let (warm, first) = (["launch", "--blocks", "2", "--launches", "5"], ["first-launch", "--reps", "2"]);
    let table: &[(&[&str], &str, &[&str])] = &[
        (
            &warm,
            "",
            &[
                "| add, 4 arguments ",
                "| matmul::<bf16, 128, 256, 64>, 3 tensor maps ",
                "| pooled::<128, 256, 64>, 3 tensor maps ",
                "| two_products, 4 tensor maps ",
                "WRONG: `add` computed something else than 1 + 2; the product of ones is not K; the product of ones by a pool is",
            ],
        ),
        (&warm, "no-jit", &["line 7"]),
        (&first, "", &["| add f32 512            | warm  ", "| matmul bf16 128x256x64 | empty ", "WRONG: what "]),
        (
            &counters,
            "",
            &[
                "| f32  | 64x16x32 split in 9 | 64x16x32 |        9 |        1 |      720 | sm_90a |      64 |       1 | ",
                " |        32 |           0 |     16 |      50 % |",
                "WRONG: ours in `matmul f32 2560x32x2560`",
            ],
        ),
        (&first, "no-device", &["no CUDA device"]),
        (&first, "no-jit", &["line 7"]),
    ];
    for (args, mode, texts) in table {
        let text = run(&folder.0, mode, args);
        for expected in *texts {
            assert!(text.contains(expected), "{args:?} {mode}: expected {expected:?} in {text}");
        }
    }
}
