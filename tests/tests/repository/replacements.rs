//! What errors say to write instead of an unknown name is in a file that is compiled, `tests/tests/devices/replacements.rs`.

use proc_macro2::TokenStream;
use triton_core::sema::replacements;

/// Words in a sentence, which do not replace anything by themselves.
const WORDS: &[&str] =
    &["%", "Option", "Result", "#[triton::function]", "#[multiple_of(16)]", "a", "b", "x", "bool", "exp", "sqrt"];

/// Code without comments and spaces.
fn bare(text: &str) -> String {
    let tokens: TokenStream = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
    tokens.to_string().split_whitespace().collect()
}

#[test]
fn replacements_are_compiled() {
    let read = |path: &str| std::fs::read_to_string(triton_tests::root().join(path)).expect(path);
    let compiled = bare(&read("tests/tests/devices/replacements.rs"));
    let library = read("triton-kernels/src/functions/mod.rs");
    let exported = |name: &str| {
        library.lines().any(|line| line.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name))
    };
    let mut missing = Vec::new();
    for (name, help) in replacements() {
        assert_eq!(help.matches('`').count() % 2, 0, "{name}: {help}");
        for code in help.split('`').skip(1).step_by(2) {
            let imported =
                code.trim_start_matches("use ").trim_end_matches(';').strip_prefix("triton_kernels::functions::");
            let known = match imported {
                Some(name) => exported(name),
                None => WORDS.contains(&code) || compiled.contains(&bare(code)),
            };
            if !known {
                missing.push(format!("{name}: `{code}`"));
            }
        }
    }
    assert!(missing.is_empty(), "not compiled by tests/tests/devices/replacements.rs:\n{}", missing.join("\n"));
}
