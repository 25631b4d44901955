//! Where the macro runs: under rustc or in an editor, and under which name the façade is known.

use crate::manifest;
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use std::path::Path;
use std::sync::OnceLock;
use triton_core::hash::fnv1a;

/// The variable that names the folder for dumps.
pub(crate) const DUMP_FOLDER: &str = "TRITON_DSL_DUMP_DIR";

/// The variable that names the folder in which compiled kernels are kept.
pub(crate) const BUILD_CACHE: &str = "TRITON_DSL_BUILD_CACHE";

/// Whether the expansion is for rust-analyzer, which needs names and types at once, and no code.
///
/// The process name tells. A `cfg` would not do, because the compiler of the user's crate warns of one it does not
/// know, and the editor looks into both branches; nor would a variable of the environment, which a build started by an
/// editor inherits.
pub(crate) fn in_editor() -> bool {
    let name = std::env::current_exe().ok().and_then(|path| path.file_stem().map(|s| s.to_string_lossy().into_owned()));
    name.is_some_and(|name| name.contains("rust-analyzer"))
}

/// Whether what is compiled has no code in the end, as for `cargo check`, clippy and rustdoc: then kernels need none.
///
/// Cargo has no variable that tells, but asks rustc for metadata alone. With a folder for dumps, code is made in any case.
pub(crate) fn only_checks() -> bool {
    if !proc_macro::is_available() || std::env::var_os(DUMP_FOLDER).is_some() {
        return false;
    }
    let process = std::env::current_exe().unwrap_or_default();
    let emitted = std::env::args().find_map(|arg| arg.strip_prefix("--emit=").map(str::to_owned));
    process.file_stem().is_some_and(|name| name == "rustdoc")
        || emitted.is_some_and(|kinds| kinds.split(',').all(|kind| matches!(kind, "dep-info" | "metadata")))
}

/// A hash of the compiler, and of this crate: of their sources, where they were when they were built. `None` if they are not there any more.
pub(crate) fn compiler() -> Option<u64> {
    static COMPILER: OnceLock<Option<u64>> = OnceLock::new();
    let hash = || {
        let mut files = Vec::new();
        for folder in triton_core::SOURCES.iter().chain(&[concat!(env!("CARGO_MANIFEST_DIR"), "/src")]) {
            sources(Path::new(folder), "", &mut files).ok()?;
        }
        files.sort_unstable();
        Some(fnv1a(files.iter().flat_map(|(name, text)| name.bytes().chain(text.iter().copied()))))
    };
    *COMPILER.get_or_init(hash)
}

/// The files below a folder, each by its path there.
fn sources(folder: &Path, inside: &str, files: &mut Vec<(String, Vec<u8>)>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let (path, name) = (entry.path(), format!("{inside}/{}", entry.file_name().to_string_lossy()));
        match entry.file_type()?.is_dir() {
            true => sources(&path, &name, files)?,
            false => files.push((name, std::fs::read(&path)?)),
        }
    }
    Ok(())
}

/// The path of the façade in the user's crate, also under a renamed dependency.
pub(crate) fn root() -> TokenStream {
    let renamed = std::env::var_os("CARGO_MANIFEST_DIR").and_then(|folder| manifest::renamed(folder.as_ref()));
    // The façade knows itself as `triton`, too.
    let name = renamed.and_then(|name| syn::parse_str::<Ident>(&name).ok());
    let name = name.unwrap_or_else(|| Ident::new("triton", Span::call_site()));
    quote!(::#name)
}

/// The crate that is being built.
pub(crate) fn home() -> String {
    let part = |name: &str| std::env::var(name).unwrap_or_default();
    format!("{} {}", part("CARGO_CRATE_NAME"), part("CARGO_PKG_VERSION"))
}

/// The file that a token is written in; `None` for a parsed text.
pub(crate) fn file(span: Span) -> Option<std::path::PathBuf> {
    span.local_file()
}

/// The column of a token, from 1.
pub(crate) fn column(span: Span) -> usize {
    span.start().column + 1
}

/// File, line and column of a token, as a text. Of the file only its name: where a crate is must not show in what is
/// generated from it.
pub(crate) fn location(span: Span) -> String {
    let (path, start) = (span.file(), span.start());
    let file = Path::new(&path).file_name().unwrap_or_default();
    format!("{}:{}:{}", file.display(), start.line, start.column + 1)
}
