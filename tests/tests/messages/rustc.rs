//! Messages that rustc has a part in: `tests/messages/fail`, and of the library's macros `tests/messages/library`, with the expected text of rustc
//! 1.95.0 beside each case.
//!
//! Another version may word its own messages differently, so that there the texts are compared in CI alone.
//! `TRYBUILD=overwrite cargo test -p triton-tests --test messages` renews the expected texts.

/// The version that the expected texts are of.
const RUSTC: &str = "rustc 1.95.";

// Without cases that must pass, they are checked by a single `cargo check`.
#[test]
fn messages_are_as_expected() {
    let version = std::process::Command::new("rustc").arg("--version").output().expect("rustc runs");
    let version = String::from_utf8_lossy(&version.stdout).into_owned();
    if !version.starts_with(RUSTC) && std::env::var_os("CI").is_none() {
        eprintln!("skipped: the expected texts are of {RUSTC}x, and this is {}", version.trim());
        return;
    }
    let cases = trybuild::TestCases::new();
    cases.compile_fail("messages/fail/*.rs");
    cases.compile_fail("messages/library/*.rs");
}
