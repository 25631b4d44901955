//! The images of a kernel, and the vendor's tools: `ptxas` assembles PTX, `nvdisasm` prints the instructions that came out.
//!
//! A tool is looked for in its variable (`$PTXAS`, `$NVDISASM`), then on the path. Where `CI` is set its absence is a failure;
//! elsewhere the task says that it was skipped.

use crate::Outcome;
use std::path::{Path, PathBuf};
use std::process::Command;
use triton_core::ir::parse::parse;
use triton_core::metadata::{Image, Target};
use triton_core::passes::{self, Env};

/// Devices that every image for `sm_80` is assembled for.
const ARCHITECTURES: &[&str] = &["sm_80", "sm_90a"];

/// Devices that an image is assembled for.
pub fn architectures(target: Target) -> Vec<&'static str> {
    if target.info().exact { vec![target.name()] } else { ARCHITECTURES.to_vec() }
}

/// A program of the vendor.
pub struct Tool {
    name: &'static str,
    variable: &'static str,
}

pub const PTXAS: Tool = Tool { name: "ptxas", variable: "PTXAS" };
pub const NVDISASM: Tool = Tool { name: "nvdisasm", variable: "NVDISASM" };

impl Tool {
    /// Its path; `None` if the task is to be skipped.
    pub fn require(&self, task: &str) -> Outcome<Option<PathBuf>> {
        let found = self.find();
        if found.is_none() {
            let missing = format!("{} is neither in ${} nor on the path", self.name, self.variable);
            if std::env::var_os("CI").is_some() {
                return Err(missing);
            }
            println!("{task}: skipped, {missing}");
        }
        Ok(found)
    }

    fn find(&self) -> Option<PathBuf> {
        if let Some(path) = std::env::var_os(self.variable) {
            return Some(PathBuf::from(path));
        }
        let path = std::env::var_os("PATH")?;
        std::env::split_paths(&path).map(|dir| dir.join(self.name)).find(|candidate| candidate.is_file())
    }
}

/// The images of tile IR at stage 0, as it is embedded.
pub fn images(ir: &str) -> Outcome<Vec<Image>> {
    let mut func = parse(ir).map_err(|e| e.to_string())?;
    passes::run(passes::OPTIMISE, &mut func, &Env::portable())?;
    triton_core::images(&func).map_err(|e| e.to_string())
}

/// What the assembler reports of a kernel.
#[derive(Debug, PartialEq, Eq)]
pub struct Resources {
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes of the stores to local memory that spilled registers need, as they stand in the code.
    pub spill_stores: u32,
    /// Bytes of the loads.
    pub spill_loads: u32,
}

/// Assembles a file of PTX to a cubin.
pub fn assemble(ptxas: &Path, ptx: &Path, arch: &str, cubin: &Path) -> Outcome<Resources> {
    let run = Command::new(ptxas)
        .args(["-v", "-arch", arch, "-o"])
        .args([cubin, ptx])
        .output()
        .map_err(|e| format!("{}: {e}", ptxas.display()))?;
    let log = String::from_utf8_lossy(&run.stderr);
    let failure = |what: &str| format!("{} on {arch}:{what}\n{log}", ptx.display());
    if !run.status.success() {
        return Err(failure(""));
    }
    // C7510 and its neighbours: products that wait for one another.
    if log.contains("wgmma") {
        return Err(failure(" ptxas says of `wgmma` that"));
    }
    resources(&log).ok_or_else(|| failure(" ptxas does not report registers and spills as version 13.0 does"))
}

fn resources(log: &str) -> Option<Resources> {
    let number_before = |words: &str| log.split_once(words)?.0.split_whitespace().last()?.parse().ok();
    Some(Resources {
        registers: number_before(" registers")?,
        spill_stores: number_before(" bytes spill stores")?,
        spill_loads: number_before(" bytes spill loads")?,
    })
}

/// A folder for what goes through the tools, which is removed in the end.
pub struct Scratch(PathBuf);

impl Scratch {
    pub fn new(task: &str) -> Outcome<Scratch> {
        let folder = std::env::temp_dir().join(format!("triton-{task}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        Ok(Scratch(folder))
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub fn write(&self, name: &str, text: &str) -> Outcome<PathBuf> {
        let file = self.file(name);
        std::fs::write(&file, text).map_err(|e| format!("{}: {e}", file.display()))?;
        Ok(file)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn the_log_of_ptxas_is_read() {
    let log = "ptxas info    : 0 bytes gmem\nptxas info    : Compiling entry function 'f' for 'sm_90a'\n\
        ptxas info    : Function properties for f\n    24 bytes stack frame, 20 bytes spill stores, 28 bytes spill loads\n\
        ptxas info    : Used 32 registers, used 1 barriers, 24 bytes cumulative stack size\n";
    assert_eq!(resources(log), Some(Resources { registers: 32, spill_stores: 20, spill_loads: 28 }));
    assert_eq!(resources("ptxas info    : 0 bytes gmem\n"), None);
}
