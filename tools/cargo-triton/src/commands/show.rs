//! `cargo triton show`.

use crate::advice::Advice;
use crate::error::{Error, Result, at};
use crate::inspect;
use crate::machine_code::Tools;
use crate::page::Page;
use crate::program::{Kernel, Target};
use crate::trace::{Contents, Trace};
use std::path::PathBuf;

/// The options.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  cargo triton show softmax --example softmax --run\n\nThe page needs no network. Without `--run` it has no timeline and no roofline, which are of a launch."
)]
pub struct Args {
    /// The kernel: `softmax` for all of its instances, `softmax::<f32, 1024>` for one, `..#1` for one config of it
    kernel: String,
    #[command(flatten)]
    target: Target,
    /// The image, as `sm_90a aligned16`: by default the one that the launch takes, or else the best
    #[arg(long)]
    image: Option<String>,
    /// Run the program, and show the largest launch of the kernel
    #[arg(long)]
    run: bool,
    /// The folder of the pages: by default `triton` in cargo's target folder
    #[arg(long)]
    out: Option<PathBuf>,
    /// Arguments of the program
    #[arg(last = true)]
    args: Vec<String>,
}

impl Args {
    pub(super) fn run(self) -> Result<()> {
        let program = self.target.read()?;
        let tools = Tools::find();
        let named = program.named(&self.kernel)?;
        let trace = if self.run { Trace::of(&program.path, &self.args, Contents::Left)? } else { Trace::default() };
        let launched = |kernel: &&&Kernel| trace.launches.iter().any(|launch| launch.is_of(kernel));
        // Of a kernel that was launched, the instances that were are meant.
        let some: Vec<&Kernel> = named.iter().filter(launched).copied().collect();
        if self.run && some.is_empty() {
            return Err(Error::NoLaunch(format!(" `{}`", self.kernel)));
        }
        let kernels = if some.is_empty() { named } else { some };
        let out = self.out.unwrap_or_else(|| program.target().join("triton"));
        at(&out, std::fs::create_dir_all(&out))?;
        if let Some(status) = &trace.failure {
            eprintln!("warning: {}", Error::Run(status.clone()));
        }
        for kernel in kernels {
            let launch =
                trace.launches.iter().filter(|launch| launch.is_of(kernel)).max_by_key(|launch| launch.bytes());
            let images = inspect::images(kernel)?;
            let shown = inspect::choose(kernel, &images, self.image.as_deref(), launch)?;
            let args = launch.map(|launch| launch.values(kernel));
            let inspection = inspect::inspect(kernel, images, shown, args.as_deref())?;
            let page = Page::of(&program, &inspection, launch, &tools)?;
            let path = out.join(file_name(&kernel.to_string()));
            page.write(&path)?;
            println!("{}: {}", path.display(), inspect::name(inspection.image()));
            let mut told: Vec<String> = Vec::new();
            for advice in page.advice() {
                let line = lines(kernel, advice);
                if !told.contains(&line) {
                    println!("{line}");
                    told.push(line);
                }
            }
        }
        Ok(())
    }
}

/// Advice as two lines.
fn lines(kernel: &Kernel, advice: &Advice) -> String {
    let file = |index: usize| kernel.func.sources.files.get(index);
    let at = advice.at.and_then(|(index, line, _)| Some(format!(" ({}:{line})", file(index)?)));
    let code = advice.code.as_ref().map_or(String::new(), |code| format!("[{code}] "));
    let help = advice.help.as_ref().map_or(String::new(), |help| format!("\n    {help}"));
    format!("  {code}{}{}{help}", advice.text, at.unwrap_or_default())
}

/// A file for an instance: `softmax-f32-1024.html`.
fn file_name(instance: &str) -> String {
    let mut name = String::new();
    for c in instance.chars() {
        if c.is_ascii_alphanumeric() || c == '_' {
            name.push(c);
        } else if !name.ends_with('-') {
            name.push('-');
        }
    }
    format!("{}.html", name.trim_end_matches('-'))
}

#[cfg(test)]
mod tests {
    use super::file_name;

    #[test]
    fn files_are_named_by_the_instance() {
        assert_eq!(file_name("softmax::<f32, 1024>#1"), "softmax-f32-1024-1.html");
        assert_eq!(file_name("add"), "add.html");
    }
}
