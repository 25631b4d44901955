//! Runs every text test of the compiler.

use triton_core::passes;

#[test]
fn cases() {
    let folder = triton_tests::root().join("tests/corpus");
    match triton_tests::corpus::run_all(&folder) {
        Ok(count) => assert!(count >= 20, "only {count} cases were found"),
        Err(failures) => panic!("{} cases failed:\n\n{}", failures.len(), failures.join("\n\n")),
    }
}

/// Those of `LAY_OUT` are together in the cases of `layout`, and `specialise` is in those of `ptx`.
#[test]
fn passes_have_cases() {
    let folder = triton_tests::root().join("tests/corpus/pass");
    let cases: Vec<String> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap())
        .collect();
    for pass in [passes::RELAX, passes::OPTIMISE, passes::SYNCHRONIZE].into_iter().flatten() {
        let is_of = |case: &String| {
            let named = case.lines().next().and_then(|line| line.strip_prefix("; test pass="));
            named.and_then(|named| named.split(' ').next()) == Some(pass.name)
        };
        assert!(cases.iter().any(is_of), "`{}` has no case in tests/corpus/pass", pass.name);
    }
}
