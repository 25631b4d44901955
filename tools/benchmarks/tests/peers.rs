//! The peers in Python: that they are read, and their use of cuBLASLt, with a library in Python in its place. Without Python, the tests say
//! that they were skipped.

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

#[test]
fn are_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = "import ast, sys\nfor name in sys.argv[1:]: ast.parse(open(name, encoding='utf-8').read(), name)";
    let files = ["peers.py", "cublaslt.py", "tutorials.py", "tutorial_kernels.py"].map(|name| folder.join(name));
    let Ok(output) = Command::new("python3").args(["-c", read]).args(files).output() else {
        println!("SKIPPED: no python3");
        return;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
