//! Every message a user can meet at `cargo build`: cases under `tests/messages`, with the expected text beside them.
//!
//! `TRYBUILD=overwrite cargo test -p triton-tests --test messages` renews the expected texts.

use proc_macro2::{TokenStream, TokenTree};
use quote::quote;
use std::path::{Path, PathBuf};
use triton_core::diag::Code;

// Without cases that must pass, they are checked by a single `cargo check`.
#[test]
fn messages_are_as_expected() {
    trybuild::TestCases::new().compile_fail("messages/fail/*.rs");
}

/// Checks make no code, so that this error comes with builds alone.
#[test]
fn code_that_is_too_large_is_refused() {
    let kernels = [
        quote! {
            fn elements(x: Ptr<f32>, out: PtrMut<f32>) {
                let i = arange(0, 1048576);
                store(out + i, exp(load(x + i, true)), true);
            }
        },
        quote! {
            fn product(x: Ptr<f32>, out: PtrMut<f32>) {
                let i = arange(0, 1048576);
                let a = load(x + i, true).reshape([1024, 1024]);
                store(out + i, dot(a, a.transpose(), a).reshape([1048576]), true);
            }
        },
    ];
    let made = kernels.into_iter().map(|kernel| triton_syntax::kernel(quote!(num_warps = 1), kernel));
    let errors: Vec<String> = made.flat_map(compile_errors).map(|error| format!("error: {error}\n")).collect();
    let (file, errors) = (triton_tests::root().join("tests/messages/build/t0126_large_code.stderr"), errors.join("\n"));
    if std::env::var_os("BLESS").is_some_and(|v| v == "1") {
        std::fs::write(&file, &errors).expect("the expected text is written");
    }
    assert_eq!(text(&file), errors);
}

/// The texts of the `compile_error!` among tokens.
fn compile_errors(tokens: TokenStream) -> Vec<String> {
    let mut found = Vec::new();
    let mut trees = tokens.into_iter().peekable();
    while let Some(tree) = trees.next() {
        match tree {
            TokenTree::Ident(name) if name == "compile_error" => {
                trees.next();
                if let Some(TokenTree::Group(text)) = trees.next() {
                    found.extend(syn::parse2::<syn::LitStr>(text.stream()).map(|text| text.value()));
                }
            }
            TokenTree::Group(group) => found.extend(compile_errors(group.stream())),
            TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
    found
}

#[test]
fn every_code_has_a_case() {
    let cases = files("rs");
    let names: Vec<_> = cases.iter().filter_map(|path| path.file_stem()?.to_str()).collect();
    // One has a test above, and a mistake of the compiler has no kernel that shows it.
    let missing = Code::ALL.iter().filter(|code| !matches!(code, Code::T0126 | Code::T0199)).map(|code| code.name());
    let missing: Vec<_> = missing.filter(|code| !names.iter().any(|n| n.starts_with(&code.to_lowercase()))).collect();
    assert!(missing.is_empty(), "no case in tests/messages/fail for {missing:?}");
    // A case is named after the code that its expected text shows.
    for path in files("stderr") {
        let name = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_uppercase();
        let code = name.split('_').next().unwrap_or_default();
        if Code::ALL.iter().any(|known| known.name() == code) {
            assert!(text(&path).contains(&format!("[{code}]")), "{} does not show {code}", path.display());
        }
    }
}

#[test]
fn no_message_shows_the_inside() {
    let inside = [
        "triton_core",
        "triton_macros",
        "triton_syntax",
        "proc_macro",
        "__private",
        "Diagnostic",
        "panicked",
        "lang::op",
        "the_kernel_",
        "was_compiled_for",
        "E0080",
    ];
    for path in files("stderr") {
        for line in text(&path).lines() {
            // The net that catches what neither the compiler nor rustc reports speaks through const evaluation.
            let line = line.replace("evaluation panicked:", "");
            let found = inside.iter().find(|name| line.contains(**name));
            assert!(found.is_none(), "{} shows {found:?}: {line}", path.display());
        }
    }
}

/// An error points at a call of each function of the language.
#[test]
fn every_function_has_a_case() {
    let shown: String = files("stderr").iter().map(|path| text(path)).collect();
    let called = |name: &str| {
        ["(", "::<"].iter().any(|open| {
            let call = format!("{name}{open}");
            // Not the end of another name, and no help that says how to write it.
            shown.lines().filter(|line| line.contains(" | ")).any(|line| {
                line.match_indices(&call)
                    .any(|(at, _)| !line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_'))
            })
        })
    };
    let missing: Vec<_> = triton_core::sema::BUILTINS.iter().map(|b| b.name).filter(|name| !called(name)).collect();
    assert!(missing.is_empty(), "no case in tests/messages/fail shows an error at {missing:?}");
}

/// What users of Triton or Rust type: on each line with `//~ TOKENS` there is exactly one error. It points at these
/// tokens, and says how to fix it.
#[test]
fn every_mistake_has_one_error_and_a_help() {
    let (mut count, mut failures) = (0, Vec::new());
    for case in files("rs").into_iter().filter(|path| path.to_string_lossy().contains("mistakes_")) {
        let errors = errors(&text(&case.with_extension("stderr")));
        for (number, line) in (1..).zip(text(&case).lines()) {
            let Some((code, tokens)) = line.split_once("//~") else { continue };
            let (tokens, place) = (tokens.trim(), format!("{}:{number}", case.display()));
            let found: Vec<_> = errors.iter().filter(|error| error.line == number).collect();
            count += 1;
            let [error] = found[..] else {
                failures.push(format!("{place}: {} errors", found.len()));
                continue;
            };
            let start = code.char_indices().nth(error.column - 1).map_or(code.len(), |(at, _)| at);
            let shown: String = code[start..].chars().take(error.length).collect();
            if shown.trim() != tokens {
                failures.push(format!("{place}: points at `{shown}`, not at `{tokens}`"));
            }
            if !error.has_help {
                failures.push(format!("{place}: no help"));
            }
        }
        let marked = |line: usize| text(&case).lines().nth(line - 1).is_some_and(|line| line.contains("//~"));
        let others = errors.iter().filter(|error| !marked(error.line));
        failures.extend(others.map(|error| format!("{}:{}: a consequential error", case.display(), error.line)));
    }
    assert!(count >= 100, "only {count} mistakes");
    assert!(failures.is_empty(), "of {count} mistakes:\n{}", failures.join("\n"));
}

/// An error of an expected text.
struct Shown {
    line: usize,
    column: usize,
    /// Characters that are underlined in the first line.
    length: usize,
    has_help: bool,
}

fn errors(text: &str) -> Vec<Shown> {
    let mut errors: Vec<Shown> = Vec::new();
    let mut within = false;
    for line in text.lines() {
        if !line.starts_with([' ', '|']) && !line.chars().next().is_some_and(|c| c.is_ascii_digit()) && !line.is_empty()
        {
            within = line.starts_with("error") && !line.starts_with("error: could not compile");
            if within {
                errors.push(Shown { line: 0, column: 0, length: 0, has_help: false });
            }
        }
        let Some(error) = errors.last_mut().filter(|_| within) else { continue };
        error.has_help |= line.trim_start().starts_with("help: ") || line.contains("= help: ");
        if let (0, Some((_, place))) = (error.line, line.split_once("--> ")) {
            let mut numbers = place.rsplit(':').filter_map(|number| number.parse().ok());
            (error.column, error.line) = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
        } else if error.length == 0 && line.contains("| ") {
            error.length = line.chars().filter(|&c| c == '^').count();
        }
    }
    errors
}

fn files(extension: &str) -> Vec<PathBuf> {
    let folder = triton_tests::root().join("tests/messages/fail");
    let entries = std::fs::read_dir(&folder).expect("the folder of cases");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut paths: Vec<_> = paths.filter(|path| path.extension().is_some_and(|e| e == extension)).collect();
    paths.sort();
    paths
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).expect("an expected text")
}
