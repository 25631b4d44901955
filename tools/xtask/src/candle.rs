//! `candle` and `candle host`: the bridge to candle, tested on the CPU, and built for a GPU host.
//!
//! candle with its feature `cuda` links five libraries of the toolkit, and has `nvcc` compile its own kernels. Tests of the CPU need
//! neither: they are linked with stand-ins, and a crate without code stands for `candle-kernels`. Programs for a GPU host are compiled by
//! the `nvcc` that the vendor publishes for Python, for which the host needs no toolkit either, but the libraries.

use crate::stub::{self, Library};
use crate::{Outcome, executables, output, root};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The crates of the bridge are a workspace.
const BRIDGE: &str = "bridges/triton-candle";

/// Where stand-ins are.
const STUB: &str = "target/candle-stub";

/// The libraries that candle links: their names, the numbers of their interfaces in CUDA 13, and the modules of `cudarc` with the bindings.
const LIBRARIES: [(&str, u32, &str); 5] = [
    ("cuda", 1, "driver"),
    ("cublas", 13, "cublas"),
    ("cublasLt", 13, "cublaslt"),
    ("curand", 10, "curand"),
    ("nvrtc", 13, "nvrtc"),
];

/// Parts of the toolkit, as the vendor publishes them for Python.
const TOOLKIT: [&str; 5] = [
    "nvidia-cuda-nvcc==13.0.88",
    "nvidia-nvvm==13.0.88",
    "nvidia-cuda-crt==13.0.88",
    "nvidia-cuda-runtime==13.0.96",
    "nvidia-cuda-cccl==13.0.85",
];

/// Tests the bridge on the CPU, with its CUDA half in the program.
pub fn test(options: &[&str]) -> Outcome {
    stubs()?;
    run(cargo(&["test", "--locked", "--features", "cuda"]).args(options))
}

fn run(cargo: &mut Command) -> Outcome {
    cargo.arg("--target-dir").arg(root().join("target/candle"));
    let status = cargo.status().map_err(|error| format!("{cargo:?}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{cargo:?} failed: {status}")) }
}

/// Builds tests and programs for a GPU host, in `target/candle-host/`.
///
/// There `LD_LIBRARY_PATH` names the libraries of CUDA 13, and `TRITON_CANDLE_DEVICE=cuda` has tests run on the GPU.
pub fn host() -> Outcome {
    stubs()?;
    let toolkit = toolkit()?;
    let kernels = kernels()?;
    // Another candle-kernels changes the lock file, which is put back.
    let lock = root().join(BRIDGE).join("Cargo.lock");
    let locked = std::fs::read(&lock).map_err(|e| format!("{}: {e}", lock.display()))?;
    let build = |args: &[&str]| {
        let mut cargo = cargo(args);
        cargo
            .args(["--release", "--workspace", "--features", "cuda", "--message-format=json-render-diagnostics"])
            .arg("--config")
            .arg(format!("patch.crates-io.candle-kernels.path=\"{}\"", kernels.display()))
            .arg("--target-dir")
            .arg(root().join("target/candle"))
            .envs([("CUDA_PATH", &toolkit), ("NVCC", &toolkit.join("bin/nvcc"))])
            .envs([("CUDA_COMPUTE_CAP", "90"), ("CARGO_PROFILE_RELEASE_STRIP", "true")]);
        executables(&mut cargo)
    };
    let built = build(&["test", "--no-run", "--tests"]).and_then(|tests| Ok([tests, build(&["build", "--examples"])?]));
    std::fs::write(&lock, locked).map_err(|e| format!("{}: {e}", lock.display()))?;
    let dir = root().join("target/candle-host");
    std::fs::create_dir_all(&dir).map_err(|e| format!("{}: {e}", dir.display()))?;
    let mut count = 0;
    for file in built?.into_iter().flatten() {
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        // Cargo appends a hash to tests.
        let name = name.rsplit_once('-').map_or(&*name, |(name, _)| name);
        std::fs::copy(&file, dir.join(name)).map_err(|e| format!("{}: {e}", file.display()))?;
        count += 1;
    }
    println!("candle: {count} programs in {}", dir.display());
    Ok(())
}

/// Cargo in the bridge's folder, where linkers find the stand-ins and programs start with them.
fn cargo(args: &[&str]) -> Command {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(args).current_dir(root().join(BRIDGE));
    cargo.env("CUDA_HOME", root().join(STUB)).env("LD_LIBRARY_PATH", root().join(STUB).join("run"));
    cargo
}

fn stubs() -> Outcome {
    let bindings = stub::source(&root().join(BRIDGE), "cudarc")?;
    for (name, version, module) in LIBRARIES {
        let functions = stub::declared(&bindings.join(module).join("sys/mod.rs"), "fn ")?;
        stub::library(&root().join(STUB), &Library { name, version, functions })?;
    }
    Ok(())
}

/// The folder of `nvcc`, downloaded once.
fn toolkit() -> Result<PathBuf, String> {
    let dir = root().join("target/cuda-13.0");
    let cuda = dir.join("nvidia/cu13");
    if cuda.join("bin/nvcc").exists() {
        return Ok(cuda);
    }
    let pip = ["-m", "pip", "download", "--quiet", "--no-deps", "--dest"];
    output(Command::new("python3").args(pip).arg(&dir).args(TOOLKIT))?;
    let wheels = std::fs::read_dir(&dir).map_err(|e| format!("{}: {e}", dir.display()))?;
    for wheel in wheels.flatten().map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|e| e == "whl"))
    {
        output(Command::new("python3").args(["-m", "zipfile", "-e"]).args([&wheel, &dir]))?;
    }
    // Archives of Python have no permissions, and linkers look for a library without its number.
    output(Command::new("chmod").args(["-R", "a+x"]).args([cuda.join("bin"), cuda.join("nvvm/bin")]))?;
    let linked = cuda.join("lib/libcudart.so");
    std::fs::copy(cuda.join("lib/libcudart.so.13"), &linked).map_err(|e| format!("{}: {e}", linked.display()))?;
    Ok(cuda)
}

/// The sources of candle's kernels, which the bridge's own manifest replaces.
fn kernels() -> Result<PathBuf, String> {
    let dir = root().join("target/candle-kernels");
    let failed = |e: std::io::Error| format!("{}: {e}", dir.display());
    std::fs::create_dir_all(dir.join("src")).map_err(failed)?;
    std::fs::write(dir.join("src/lib.rs"), "").map_err(failed)?;
    let manifest = "[package]\nname = \"finds\"\n[workspace]\n[dependencies]\ncandle-kernels = \"=0.11.1\"\n";
    std::fs::write(dir.join("Cargo.toml"), manifest).map_err(failed)?;
    let source = stub::source(&dir, "candle-kernels")?;
    Ok(source.parent().map_or_else(PathBuf::new, Path::to_path_buf))
}
