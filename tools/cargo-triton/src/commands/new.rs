//! `cargo triton new`.

use crate::error::{Error, Result, at};
use std::path::PathBuf;

/// The options.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  cargo triton new saxpy && cd saxpy && cargo test && cargo triton show scale --run")]
pub struct Args {
    /// The folder of the project, whose last part is its name
    path: PathBuf,
    /// A folder with the sources of triton-dsl, in place of the published crate
    #[arg(long)]
    triton: Option<PathBuf>,
}

const FILES: [(&str, &str); 4] = [
    ("Cargo.toml", include_str!("../new/Cargo.toml.txt")),
    ("src/lib.rs", include_str!("../new/lib.rs.txt")),
    ("src/main.rs", include_str!("../new/main.rs.txt")),
    ("tests/kernels.rs", include_str!("../new/kernels.rs.txt")),
];

impl Args {
    pub(super) fn run(self) -> Result<()> {
        let name = self.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
        if !is_name {
            let why = "a package's name begins with a letter, and has letters, digits, `-` and `_`".into();
            return Err(Error::Value(name, why));
        }
        if self.path.exists() {
            return Err(Error::Value(self.path.display().to_string(), "it exists already: name another folder".into()));
        }
        let source = match &self.triton {
            Some(folder) => {
                let folder = at(folder, folder.canonicalize())?;
                format!("path = {:?}", folder.display().to_string())
            }
            None => format!("version = {:?}", env!("CARGO_PKG_VERSION")),
        };
        for (file, text) in FILES {
            let path = self.path.join(file);
            if let Some(folder) = path.parent() {
                at(folder, std::fs::create_dir_all(folder))?;
            }
            let text = text.replace("{{name}}", &name).replace("{{crate}}", &name.replace('-', "_"));
            at(&path, std::fs::write(&path, text.replace("{{source}}", &source)))?;
        }
        println!(
            "{}: `cargo test` tests its kernel, `cargo run` runs it, `cargo triton show scale --run` shows it",
            self.path.display()
        );
        Ok(())
    }
}
