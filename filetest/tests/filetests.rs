//! Runs every text test of the compiler.

use std::path::Path;

#[test]
fn cases() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases");
    match triton_filetest::run_all(&folder) {
        Ok(count) => assert!(count >= 20, "only {count} cases were found"),
        Err(failures) => panic!("{} cases failed:\n\n{}", failures.len(), failures.join("\n\n")),
    }
}
