//! `cargo triton doctor`.

use crate::error::Result;
use crate::machine_code::{MISSING, Tools};
use crate::program::Target;
use std::path::Path;
use triton_core::embed::Header;
use triton_runtime::Device;
use triton_runtime::cache::Cache;

/// The options.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  cargo triton doctor\n\nIt builds nothing; a line that begins with `!` says what to fix."
)]
pub struct Args {
    #[command(flatten)]
    target: Target,
}

/// A finding, and whether it is to be fixed.
struct Finding(bool, String);

impl Args {
    pub(super) fn run(self) -> Result<()> {
        let mut findings =
            vec![Finding(false, format!("cargo-triton {}, for kernels of the same version", Header::VERSION))];
        findings.extend(devices());
        findings.extend(cache());
        findings.extend(profile(&self.target.root().join("Cargo.toml")));
        findings.extend(tools(&Tools::find()));
        findings.extend(variables());
        for Finding(is_wrong, text) in findings {
            println!("{} {text}", if is_wrong { '!' } else { ' ' });
        }
        Ok(())
    }
}

/// Where `Device::best()` runs kernels.
fn devices() -> Vec<Finding> {
    let best = Device::best();
    let mut findings = vec![match best.is_cpu() {
        true => Finding(true, format!("kernels run on the CPU: {best}")),
        false => Finding(false, format!("kernels run on {best}")),
    }];
    for device in Device::all().into_iter().filter(|device| !device.is_cpu()) {
        let capability = device.compute_capability().map_or("?".into(), |of| of.to_string());
        let version = device.driver_version().map_or("?".into(), |of| format!("{}.{}", of / 1000, of % 1000 / 10));
        let memory = device.total_memory().unwrap_or(0) >> 20;
        let text = format!(
            "{device}: compute capability {capability}, {} multiprocessors, {memory} MiB, driver for CUDA {version}",
            device.multiprocessors()
        );
        findings.push(Finding(false, text));
    }
    findings
}

/// Where machine code is kept.
fn cache() -> Vec<Finding> {
    let Some(cache) = Cache::from_env() else {
        let why = "machine code is not kept: neither TRITON_DSL_CACHE_DIR nor HOME is set; each process compiles its kernels again";
        return vec![Finding(true, why.into())];
    };
    let folder = cache.folder();
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let sizes: Vec<u64> = files.filter_map(|file| file.metadata().ok().map(|data| data.len())).collect();
    let (count, mib) = (sizes.len(), sizes.iter().sum::<u64>() >> 20);
    let probe = folder.join(".doctor");
    let written = std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(&probe, ""))
        .and_then(|()| std::fs::remove_file(&probe));
    vec![match written {
        Ok(()) => Finding(
            false,
            format!("cache of machine code: {}, {count} files, {mib} of {} MiB", folder.display(), cache.limit() >> 20),
        ),
        Err(error) => Finding(
            true,
            format!(
                "cache of machine code: {} cannot be written: {error}; name another by TRITON_DSL_CACHE_DIR",
                folder.display()
            ),
        ),
    }]
}

/// Whether the CPU device is optimised in debug builds of the workspace.
fn profile(manifest: &Path) -> Vec<Finding> {
    let Ok(text) = std::fs::read_to_string(manifest) else {
        return vec![Finding(false, "no Cargo.toml here: profiles were not looked at".into())];
    };
    let has = |section: &str| {
        let body = text.split_once(&format!("[{section}]")).map(|(_, rest)| rest.split("\n[").next().unwrap_or(rest));
        body.is_some_and(|body| body.lines().any(|line| line.trim_start().starts_with("opt-level")))
    };
    let wanted = ["profile.dev.package.triton-ir", "profile.dev.package.triton-runtime"];
    let missing: Vec<String> =
        wanted.iter().filter(|section| !has(section)).map(|section| format!("`[{section}]`")).collect();
    let found = match missing.is_empty() {
        true => "the CPU device is optimised in debug builds".to_string(),
        false => format!(
            "kernels on the CPU device are slow in debug builds; where they run long, give {} `opt-level = 3`",
            missing.join(" and ")
        ),
    };
    vec![Finding(false, format!("{}: {found}", manifest.display()))]
}

fn tools(tools: &Tools) -> Vec<Finding> {
    let shown = |path: Option<&Path>| path.map_or("not found".to_string(), |path| path.display().to_string());
    let found = format!("ptxas {}, nvdisasm {}", shown(tools.ptxas()), shown(tools.nvdisasm()));
    let all = tools.ptxas().is_some() && tools.nvdisasm().is_some();
    vec![if all { Finding(false, found) } else { Finding(true, format!("{found}: {MISSING}")) }]
}

/// Variables that change what programs do.
fn variables() -> Vec<Finding> {
    let meanings = [
        ("CUDA_VISIBLE_DEVICES", "programs see these GPUs alone"),
        ("TRITON_DSL_CAPABILITY", "GPUs are taken for older ones"),
        ("TRITON_DSL_LINE_INFO", "machine code has line tables"),
        ("TRITON_DSL_TUNE", "tuners do this"),
        ("TRITON_DSL_TRACE", "programs write what they launch"),
    ];
    let set = meanings.iter().filter_map(|(name, meaning)| {
        let value = std::env::var(name).ok()?;
        Some(Finding(false, format!("{name}={value}: {meaning}")))
    });
    set.collect()
}
