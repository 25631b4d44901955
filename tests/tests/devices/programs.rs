//! Processes that launch a kernel once: code is compiled behind a launch, and exported for other processes.

use super::devices;
use std::path::{Path, PathBuf};
use std::process::Command;
use triton::prelude::*;
use triton::{LoadInfo, Program};

/// What a process is to do, and the folder that it has for it.
const TASK: &str = "TRITON_DSL_TEST_PROGRAM";

/// Softmax of rows of 4096. The assembler takes more registers of a thread than it needs, so that code for more blocks is tried.
#[triton::kernel(num_warps = 8)]
fn softmax(x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let row = x.load([program_id(0), 0], [1, 4096]);
    let e = exp(row - max_axis(row, 1).expand_dims(1));
    out.store([program_id(0), 0], e / sum_axis(e, 1).expand_dims(1));
}

/// A row of equal numbers.
fn launch(device: &Device) -> triton::Result<()> {
    let stream = device.stream()?;
    let x = stream.upload(&[3.0f32; 4096])?;
    let mut out = stream.zeros::<f32>(4096)?;
    softmax(x.view([1, 4096])?, out.view_mut([1, 4096])?).launch(&stream, 1)?;
    assert!(stream.download(&out)?.iter().all(|v| *v == 1.0 / 4096.0));
    Ok(())
}

/// A folder that is removed.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let folder = std::env::temp_dir().join(format!("triton-programs-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("the folder for temporary files is writable");
        Folder(folder)
    }

    fn entries(&self) -> usize {
        std::fs::read_dir(&self.0).map_or(0, |entries| entries.flatten().count())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Runs a task in a process of its own, with a cache of its own.
fn child(task: &str, cache: &Folder, file: &Path) {
    let output = Command::new(std::env::current_exe().expect("this is a program"))
        .args(["--exact", "programs::process", "--nocapture"])
        .env(TASK, format!("{task}={}", file.display()))
        .env("TRITON_DSL_CACHE_DIR", &cache.0)
        .env("CUDA_CACHE_DISABLE", "1")
        .output()
        .expect("it can be started");
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{task}: {}\n{text}", output.status);
}

/// What a child does; nothing in the process of all tests.
#[test]
fn process() -> triton::Result<()> {
    let Ok(task) = std::env::var(TASK) else { return Ok(()) };
    let device = Device::cuda(0)?;
    match task.split_once('=') {
        // It ends while better code is compiled.
        Some(("launch", _)) => launch(&device),
        Some(("export", file)) => {
            launch(&device)?;
            Ok(Program::loaded().write(file)?)
        }
        Some(("import", file)) => {
            let loaded: Vec<LoadInfo> = Program::read(file)?.load_all(&device)?;
            assert!(loaded.len() == 1 && loaded[0].links == 0 && loaded[0].kernel == "softmax", "{loaded:?}");
            println!("{}", loaded[0]);
            launch(&device)
        }
        _ => panic!("{task} is not a task"),
    }
}

#[test]
fn code_is_compiled_behind_a_launch_and_exported() -> triton::Result<()> {
    let folder = Folder::new("file");
    let file = folder.0.join("program");
    for device in devices() {
        launch(&device)?;
        if device.compute_capability().is_none() || device.is_sim() {
            assert_eq!(Program::default().load_all(&device)?, []);
            continue;
        }
        let cache = Folder::new("launch");
        child("launch", &cache, &file);
        assert_eq!(cache.entries(), 1, "the code that is kept is written before the process ends");

        let (cache, other) = (Folder::new("export"), Folder::new("import"));
        child("export", &cache, &file);
        assert_eq!(cache.entries(), 1);
        child("import", &other, &file);
        assert_eq!(other.entries(), 0, "nothing is compiled");
    }
    Ok(())
}
