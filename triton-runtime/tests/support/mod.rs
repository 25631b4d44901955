//! Records, folders and child processes for the tests.

#![allow(dead_code, reason = "each program of tests uses a part")]

pub mod copy;
pub mod tensor_maps;

use std::borrow::Cow;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use triton_ir::metadata::{
    Config, Image, KernelMetadata, ParamMetadata, ParamType, ProgramMap, Promised, Specialization, Target, Text,
};
use triton_ir::types::DType;
use triton_runtime::launch::mode::Safe;
use triton_runtime::{Kernel, Launch, LaunchArg};

/// An empty folder of its own, which goes when the value goes.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new() -> Folder {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("triton-runtime-{}-{}", std::process::id(), COUNT.fetch_add(1, Relaxed));
        let path = std::env::temp_dir().join(name);
        let mut builder = std::fs::DirBuilder::new();
        // The cache refuses a folder that others may write to, whatever the umask is.
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&path).expect("the temporary folder can be made");
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Runs the test `child` of this binary in a process of its own, where `CHILD` says which case it is.
pub fn child(case: &str, vars: &[(&str, &str)]) -> Output {
    let exe = std::env::current_exe().expect("the test binary has a path");
    let mut command = Command::new(exe);
    command.args(["child", "--exact", "--nocapture", "--test-threads=1"]).env("CHILD", case);
    command.envs(vars.iter().copied());
    command.output().expect("the test binary runs again")
}

/// The case that a child process is to run; `None` in the parent.
pub fn case() -> Option<String> {
    std::env::var("CHILD").ok()
}

/// Fails with the child's output unless it succeeded.
pub fn succeeded(case: &str, output: &Output) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "case {case}:\n{}\n{}", text(&output.stdout), text(&output.stderr));
}

/// A parameter that takes part in specialization.
pub fn param(name: &'static str, ty: ParamType, multiple_of: u32) -> ParamMetadata {
    ParamMetadata::new(Cow::Borrowed(name), ty, multiple_of, true, Promised::Divisible, Cow::Borrowed(&[]))
}

/// Code for `sm_80` with blocks of `threads`.
pub fn image(entry: &'static str, ptx: impl Into<Text>, specialization: Specialization, threads: u32) -> Image {
    let (target, programs, maps) = (Target::Sm80, ProgramMap::Identity, Cow::Borrowed(&[][..]));
    Image::new(
        target,
        specialization,
        0,
        entry.into(),
        ptx.into(),
        target.info().ptx_version,
        threads,
        [1; 3],
        0,
        false,
        false,
        programs,
        0,
        None,
        maps,
    )
}

/// A kernel of one config over these images. It lives as long as the process, as a kernel does.
pub fn kernel(instance: &'static str, params: Vec<ParamMetadata>, images: Vec<Image>) -> &'static Kernel {
    let config = Config::new(1, "".into(), images.into());
    made_of(KernelMetadata::new(instance.into(), instance.into(), params.into(), vec![config].into()))
}

/// A kernel of this metadata.
#[allow(unsafe_code, reason = "the code of these tests is written by hand")]
pub fn made_of(metadata: KernelMetadata) -> &'static Kernel {
    // SAFETY: the tests write code that keeps to its parameters, or look at the driver's calls alone.
    Box::leak(Box::new(unsafe { Kernel::new(metadata) }))
}

/// A launch that needs no `unsafe`, whatever the parameters are.
#[allow(unsafe_code, reason = "the code of these tests is written by hand")]
pub fn launch_of<'a, const N: usize>(kernel: &'static Kernel, args: [LaunchArg<'a>; N]) -> Launch<'a, Safe, N> {
    // SAFETY: the kernels of these tests keep to their buffers.
    unsafe { Launch::new(kernel, args) }
}

/// `fill(out: PtrMut<i32>, n: i32)`.
pub fn fill_params() -> Vec<ParamMetadata> {
    vec![param("out", ParamType::PtrMut(DType::I32), 1), param("n", ParamType::Scalar(DType::I32), 1)]
}
