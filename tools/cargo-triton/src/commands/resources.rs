//! `cargo triton resources`.

use crate::error::{Error, Result};
use crate::inspect;
use crate::machine_code::Tools;
use crate::program::{Kernel, Target};
use crate::resources;
use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use std::path::Path;
use triton_core::metadata::Target as Gpu;

/// The options.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  cargo triton resources --example softmax --max-registers 128\n\nWith `ptxas` registers and spills are its own; without it registers are estimated, and of spills the compiler's warning is given."
)]
pub struct Args {
    /// Kernels, by name; all by default
    kernels: Vec<String>,
    #[command(flatten)]
    target: Target,
    /// Every image, in place of each target's that assumes most
    #[arg(long)]
    all_images: bool,
    /// Images for this target alone: sm_80, sm_90a
    #[arg(long)]
    gpu: Option<String>,
    /// The most registers of a thread
    #[arg(long)]
    max_registers: Option<u32>,
    /// The most bytes of shared memory of a block
    #[arg(long)]
    max_shared: Option<u32>,
    /// The least occupancy, from 0 to 1
    #[arg(long)]
    min_occupancy: Option<f64>,
    /// Do not fail where a kernel spills
    #[arg(long)]
    allow_spills: bool,
}

impl Args {
    pub(super) fn run(self) -> Result<()> {
        let program = self.target.read()?;
        let tools = Tools::find();
        let mut kernels: Vec<&Kernel> = Vec::new();
        if self.kernels.is_empty() {
            kernels.extend(&program.kernels);
        }
        for name in &self.kernels {
            kernels.extend(program.named(name)?);
        }
        if let Some(gpu) = &self.gpu
            && !Gpu::ALL.iter().any(|target| target.name() == gpu)
        {
            let names: Vec<&str> = Gpu::ALL.iter().map(|target| target.name()).collect();
            return Err(Error::Value(format!("--gpu {gpu}"), format!("targets are {}", names.join(", "))));
        }
        println!(
            "{:<44} {:<22} {:>7} {:>9} {:>7} {:>7} {:>6} {:>9}  limited by",
            "kernel", "image", "threads", "registers", "spilled", "shared", "blocks", "occupancy"
        );
        let (mut broken, mut spilled) = (0, Vec::new());
        for kernel in kernels {
            let images = inspect::images(kernel)?;
            let mut targets: Vec<Gpu> = Vec::new();
            for index in 0..images.len() {
                let target = images[index].target;
                let is_first = !targets.contains(&target);
                targets.push(target);
                if self.gpu.as_deref().is_some_and(|gpu| gpu != target.name()) || !(is_first || self.all_images) {
                    continue;
                }
                let inspection = inspect::inspect(kernel, images.clone(), index, None)?;
                let (of, _) = resources::of(&inspection, &tools)?;
                let warned = inspection.explained.lines().find(|line| line.contains("spilled to local memory"));
                let spills = of.spill_bytes.map_or(warned.is_some(), |bytes| bytes > 0);
                let over = |limit: Option<u32>, value: u32| limit.is_some_and(|limit| value > limit);
                let is_broken = spills && !self.allow_spills
                    || over(self.max_registers, of.registers)
                    || over(self.max_shared, of.shared_bytes)
                    || self.min_occupancy.is_some_and(|least| of.occupancy < least);
                broken += usize::from(is_broken);
                let shown = match (of.spill_bytes, warned) {
                    (Some(bytes), _) => bytes.to_string(),
                    (None, Some(_)) => "yes".into(),
                    (None, None) => "?".into(),
                };
                println!(
                    "{:<44} {:<22} {:>7} {:>9} {:>7} {:>7} {:>6} {:>8.0}%  {}{}",
                    kernel.to_string(),
                    inspect::name(inspection.image()),
                    of.threads,
                    format!("{}{}", if of.registers_by == "estimate" { "~" } else { "" }, of.registers),
                    shown,
                    of.shared_bytes,
                    of.blocks,
                    of.occupancy * 100.0,
                    of.limited_by,
                    if is_broken { "  <-" } else { "" },
                );
                if let Some(warned) = warned.filter(|_| spills) {
                    spilled.push((kernel, warned.to_string()));
                }
            }
        }
        for (kernel, warned) in spilled {
            eprint!("{}", rendered(kernel, &warned, &program.root));
        }
        if broken > 0 { Err(Error::Limits(broken)) } else { Ok(()) }
    }
}

/// A warning at its line of the source, as rustc shows one.
fn rendered(kernel: &Kernel, warned: &str, root: &Path) -> String {
    let (message, at) = crate::lines::described(warned.trim(), &kernel.func.sources.files);
    let title = format!("{kernel}: {message}");
    let at = at.and_then(|(file, line, column)| {
        let name = kernel.func.sources.files.get(file)?;
        let text = std::fs::read_to_string(root.join(name)).ok()?;
        let start: usize = text.split_inclusive('\n').take(line as usize - 1).map(str::len).sum();
        let of_line = text.get(start..)?.lines().next()?.to_string();
        let first = of_line.char_indices().nth(column as usize - 1).map_or(0, |(at, _)| at);
        Some((name.clone(), line as usize, of_line.clone(), first..of_line.len().max(first)))
    });
    let Some((name, line, text, span)) = at else { return format!("warning: {title}\n") };
    let snippet = Snippet::source(&text).line_start(line).path(&name).annotation(AnnotationKind::Primary.span(span));
    let group = Level::WARNING.primary_title(&title).element(snippet);
    format!("{}\n", Renderer::plain().render(&[group]))
}
