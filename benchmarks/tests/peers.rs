//! The peers' use of cuBLASLt, with a library in Python in its place. Without Python, the test says that it was skipped.

use std::path::Path;
use std::process::Command;

#[test]
fn cublaslt() {
    let test = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cublaslt_test.py");
    // What Python would write beside the sources.
    let output = Command::new("python3").arg(test).env("PYTHONDONTWRITEBYTECODE", "1").output();
    let Ok(output) = output else {
        println!("SKIPPED: no python3");
        return;
    };
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("\nOK"), "{text}");
}
