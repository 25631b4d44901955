//! The commands.

mod bench;
mod check;
mod doctor;
mod explain;
mod new;
mod resources;
mod show;
mod why;

use crate::error::Result;
use clap::Subcommand;

/// What is done.
#[derive(Debug, Subcommand)]
#[non_exhaustive]
pub enum Command {
    /// Write a page that links a kernel's source, IR, layouts, PTX, SASS, schedule and roofline
    Show(show::Args),
    /// List registers, shared memory, occupancy and spills of all kernels; fail where limits are not kept
    Resources(resources::Args),
    /// Run the launches of a program or test on the simulator: races, uninitialised memory, misused barriers
    Check(check::Args),
    /// Say which instance and image each call chose, and why not the others
    Why(why::Args),
    /// Time the kernels of two programs in turns
    Bench(bench::Args),
    /// Say whether kernels run on the GPU, and if not, why
    Doctor(doctor::Args),
    /// Explain the code of an error or a warning, as `T0102`
    Explain(explain::Args),
    /// Make a project with a kernel and its test
    New(new::Args),
    /// Run the tuner's commands, as `cargo triton tune show`
    #[command(disable_help_flag = true)]
    Tune {
        /// What `triton-tune` takes
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<std::ffi::OsString>,
    },
}

impl Command {
    /// Runs it.
    ///
    /// # Errors
    /// What failed, with how to fix it.
    pub fn run(self) -> Result<()> {
        match self {
            Command::Show(args) => args.run(),
            Command::Resources(args) => args.run(),
            Command::Check(args) => args.run(),
            Command::Why(args) => args.run(),
            Command::Bench(args) => args.run(),
            Command::Doctor(args) => args.run(),
            Command::Explain(args) => args.run(),
            Command::New(args) => args.run(),
            Command::Tune { args } => tune(args),
        }
    }
}

/// The tuner's own binary, which has its own version and needs.
fn tune(args: Vec<std::ffi::OsString>) -> Result<()> {
    use crate::error::Error;
    let failed = |why: String| Error::Tool { tool: "triton-tune".into(), why };
    let status = std::process::Command::new("triton-tune").args(args).status();
    let missing = |error: std::io::Error| {
        let is_missing = error.kind() == std::io::ErrorKind::NotFound;
        failed(if is_missing {
            "it is not installed: `cargo install triton-tune --features cli`".into()
        } else {
            error.to_string()
        })
    };
    let status = status.map_err(missing)?;
    if status.success() { Ok(()) } else { Err(failed(format!("it ended with {status}"))) }
}
