//! Under which name a crate knows the façade: what its `Cargo.toml` says of `package = "triton-dsl"`.
//!
//! It is read line by line, not by a parser of TOML: that of `proc-macro-crate` is seven crates more, of thirty. What is not found has its own name.

use std::path::Path;

/// The package of the façade.
const PACKAGE: &str = "triton-dsl";

/// The name of the façade in the crate whose manifest lies in a folder; `None` where it has its own.
pub(crate) fn renamed(folder: &Path) -> Option<String> {
    let of_crate = std::fs::read_to_string(folder.join("Cargo.toml")).ok()?;
    let inherited = || {
        let above = folder.ancestors().filter_map(|folder| std::fs::read_to_string(folder.join("Cargo.toml")).ok());
        let workspace =
            above.into_iter().find(|text| entries(text).any(|entry| entry.table.starts_with("workspace")))?;
        name_in(&workspace).filter(|name| inherits(&of_crate, name))
    };
    name_in(&of_crate).or_else(inherited).map(|name| name.replace('-', "_"))
}

/// A line `key = value` of a table.
struct Entry<'t> {
    table: &'t str,
    key: &'t str,
    value: &'t str,
}

impl<'t> Entry<'t> {
    /// The dependency that it says something of, and what: `("tri", "package", "\"triton-dsl\"")` of `tri.package = "triton-dsl"` as of
    /// `package = "triton-dsl"` in `[dependencies.tri]`; nothing more than the name of `tri = { .. }`.
    fn of_dependency(&self) -> Option<(&'t str, &'t str)> {
        let (table, last) = self.table.rsplit_once('.').unwrap_or(("", self.table));
        if last.ends_with("dependencies") {
            return Some(self.key.split_once('.').map_or((self.key, ""), |(name, field)| (name, field.trim())));
        }
        table.ends_with("dependencies").then_some((last.trim_matches(['"', '\'']), self.key))
    }

    /// The value of a field of an inline table, or of the entry itself.
    fn field(&self, field: &str) -> Option<&'t str> {
        let (_, of) = self.of_dependency()?;
        if of == field {
            return Some(self.value);
        }
        let inside = self.value.strip_prefix('{')?.split(['{', '}', ',']);
        inside
            .filter_map(|pair| pair.split_once('='))
            .find(|(key, _)| key.trim() == field)
            .map(|(_, value)| value.trim())
    }
}

/// The entries of a manifest.
fn entries(text: &str) -> impl Iterator<Item = Entry<'_>> {
    let mut table = "";
    text.lines().filter_map(move |line| {
        let line = without_comment(line).trim();
        if let Some(header) = line.strip_prefix('[').and_then(|header| header.strip_suffix(']')) {
            table = header.trim();
            return Some(Entry { table, key: "", value: "" });
        }
        let (key, value) = line.split_once('=')?;
        Some(Entry { table, key: key.trim().trim_matches(['"', '\'']), value: value.trim() })
    })
}

/// A line up to its comment: a `#` that is not in a string.
fn without_comment(line: &str) -> &str {
    let mut quote = None;
    for (at, char) in line.char_indices() {
        match (quote, char) {
            (None, '#') => return &line[..at],
            (None, '"' | '\'') => quote = Some(char),
            (Some(open), close) if open == close => quote = None,
            (None | Some(_), _) => {}
        }
    }
    line
}

/// The name under which a manifest has the façade, if that is another one.
fn name_in(text: &str) -> Option<String> {
    let is_facade =
        |entry: &Entry<'_>| entry.field("package").is_some_and(|of| of.trim_matches(['"', '\'']) == PACKAGE);
    let (name, _) = entries(text).find(is_facade)?.of_dependency()?;
    Some(name.to_string())
}

/// Whether a crate takes a dependency from its workspace.
fn inherits(text: &str, name: &str) -> bool {
    entries(text).any(|entry| {
        entry.of_dependency().is_some_and(|(of, _)| of == name) && entry.field("workspace") == Some("true")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_however_it_is_written() {
        let written = [
            "[dependencies]\ntri = { package = \"triton-dsl\", version = \"0.1\" }",
            "[dependencies]\ntri={version='0.1',package='triton-dsl'} # the façade",
            "[dev-dependencies]\ntri.package = \"triton-dsl\"\ntri.version = \"0.1\"",
            "[dependencies.tri]\nversion = \"0.1\"\npackage = \"triton-dsl\"",
            "[target.'cfg(unix)'.dependencies.tri]\npackage = \"triton-dsl\"",
            "[dependencies]\n\"tri\" = { package = \"triton-dsl\", features = [\"sim\"] }",
        ];
        for text in written {
            assert_eq!(name_in(text).as_deref(), Some("tri"), "{text}");
        }
        let others = [
            "[dependencies]\ntriton-dsl = \"0.1\"",
            "[dependencies]\n# tri = { package = \"triton-dsl\" }",
            "[dependencies]\ntri = { package = \"triton-dsl-extras\" }",
            "[package.metadata.tri]\npackage = \"triton-dsl\"",
            "[package]\ndescription = \"# package = triton-dsl\"",
        ];
        for text in others {
            assert_eq!(name_in(text), None, "{text}");
        }
    }

    #[test]
    fn a_workspace_may_name_it() {
        for text in ["tri.workspace = true", "tri = { workspace = true, features = [\"sim\"] }"] {
            assert!(inherits(&format!("[dependencies]\n{text}"), "tri"), "{text}");
        }
        assert!(!inherits("[dependencies]\ntri = \"1\"\nother.workspace = true", "tri"));
    }
}
