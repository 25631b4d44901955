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

/// Keywords of Rust, which no crate can be named by.
const KEYWORDS: &[&str] = &[
    "as", "async", "await", "box", "break", "const", "continue", "crate", "do", "dyn", "else", "enum", "extern",
    "false", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "match", "mod", "move", "mut", "priv", "pub",
    "ref", "return", "self", "static", "struct", "super", "test", "trait", "true", "try", "type", "unsafe", "use",
    "virtual", "where", "while", "yield",
];

const FILES: [(&str, &str); 5] = [
    (".gitignore", "/target\n"),
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
        let is_taken = KEYWORDS.contains(&&*name) || name.starts_with("triton");
        if !is_name || is_taken {
            let why = "a package's name begins with a letter, has letters, digits, `-` and `_`, is not a keyword of Rust, and does not begin with `triton`".into();
            return Err(Error::Value(name, why));
        }
        if self.path.exists() {
            return Err(Error::Value(self.path.display().to_string(), "it exists already: name another folder".into()));
        }
        let source = match &self.triton {
            Some(folder) => {
                let missing = |why| Error::Value(format!("--triton {}", folder.display()), format!("{why}"));
                let folder = folder.canonicalize().map_err(missing)?;
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
