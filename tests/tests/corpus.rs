//! Runs every text test of the compiler.

#[test]
fn cases() {
    let folder = triton_tests::root().join("tests/corpus");
    match triton_tests::corpus::run_all(&folder) {
        Ok(count) => assert!(count >= 20, "only {count} cases were found"),
        Err(failures) => panic!("{} cases failed:\n\n{}", failures.len(), failures.join("\n\n")),
    }
}
