//! What can go wrong, each with how to fix it.

use std::path::PathBuf;

/// A command that failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Cargo did not build the program; it has said why.
    #[error("the program was not built: see cargo's message above")]
    Build,
    /// Cargo could not be run, or its answer not read.
    #[error("`cargo {command}` failed: {why}")]
    Cargo {
        /// The subcommand.
        command: String,
        /// Why.
        why: String,
    },
    /// A build made no program.
    #[error("there is no program to look into: name one by `--example NAME`, `--test NAME` or `--bin NAME`{}", candidates(.0))]
    NoProgram(Vec<String>),
    /// A program has no kernels.
    #[error(
        "{} has no kernels, or is not an executable: a program has the kernels that it may launch, of the crates that it uses too; name another by `--example NAME`, `--test NAME` or `--bin NAME`",
        .0.display()
    )]
    NoKernels(PathBuf),
    /// Kernels of another version.
    #[error(
        "the kernels of {} were made by triton-dsl {found}, and this is cargo-triton {}: `cargo install cargo-triton --version {found}` installs the one for them",
        .program.display(), env!("CARGO_PKG_VERSION")
    )]
    Version {
        /// The program.
        program: PathBuf,
        /// Its version.
        found: String,
    },
    /// No kernel has a name.
    #[error(
        "the program has no kernel `{asked}`, or never launches it; it has {}; `cargo triton resources` lists all instances",
        .known.join(", ")
    )]
    NoKernel {
        /// What was asked for.
        asked: String,
        /// Names that are like it.
        known: Vec<String>,
    },
    /// The source has changed since a program was built.
    #[error("{} is newer than {}: build it again, or leave `--program` out, and cargo does", .file.display(), .program.display())]
    Stale {
        /// The source.
        file: PathBuf,
        /// The program.
        program: PathBuf,
    },
    /// No image is called so.
    #[error("`{instance}` has no image `{asked}`{}", candidates(.known))]
    NoImage {
        /// The kernel.
        instance: String,
        /// What was asked for.
        asked: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// IR that the compiler does not understand or compile.
    #[error("`{instance}`: {why}; please report this kernel")]
    Compiler {
        /// The kernel.
        instance: String,
        /// What the compiler said.
        why: String,
    },
    /// A tool of NVIDIA's failed.
    #[error("`{tool}` failed: {why}")]
    Tool {
        /// Its name.
        tool: String,
        /// What it said.
        why: String,
    },
    /// A program told of its launches in a way that is not understood.
    #[error("{} tells of its launches as another triton-dsl does: build it again with the sources of this cargo-triton", .0.display())]
    Trace(PathBuf),
    /// A program that was run failed.
    #[error("the program ended with {0}: what it launched until then is taken")]
    Run(String),
    /// A program launched nothing.
    #[error(
        "the program launched no kernel{0}: name an example or test that does, or give the program arguments after `--`"
    )]
    NoLaunch(String),
    /// A limit of `resources` is not kept.
    #[error("images above that spill or exceed a limit: {0}, marked `<-`")]
    Limits(usize),
    /// `check` found something.
    #[error("launches above in which something was found: {0}")]
    Found(usize),
    /// An error code that does not exist.
    #[error(
        "there is no `{0}`: codes are T0001 to T0199 for errors and W0001 to W0099 for warnings, as `[T0102]` at the end of a message"
    )]
    NoCode(String),
    /// A value of an option.
    #[error("`{0}`: {1}")]
    Value(String, String),
    /// A file.
    #[error("{}: {why}", .path.display())]
    File {
        /// Its path.
        path: PathBuf,
        /// Why.
        why: std::io::Error,
    },
}

/// The result of a command.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A list behind a message.
fn candidates(known: &[String]) -> String {
    match known {
        [] => String::new(),
        _ => format!(": {}", known.join(", ")),
    }
}

/// Names the path of a failure.
pub fn at<T>(path: impl Into<PathBuf>, result: std::io::Result<T>) -> Result<T> {
    result.map_err(|why| Error::File { path: path.into(), why })
}
