//! Random programs: every pass leaves the result as it is, and code is made for them.

use triton_core::ir::print::print;
use triton_core::metadata::Specialization;
use triton_core::passes;
use triton_tests::numbers::Random;
use triton_tests::random::squares;
use triton_tests::run::run;

#[test]
fn passes_change_no_result() {
    let mut random = Random::new(99);
    for _ in 0..60 {
        let (mut func, elements) = squares::program(&mut random);
        let code = print(&func);
        let xs: Vec<String> = (0..elements).map(|i| format!("{}.0", (i * 37) % 61)).collect();
        let buffers = format!("; buffer x f32 {}\n; buffer out f32 zeros {elements}", xs.join(" "));
        let result = run(&format!("; test run\n; grid 1 1 1\n{buffers}\n; args x out\n{code}"));
        assert!(result.as_ref().is_ok_and(|r| !r.starts_with("error")), "{result:?}\n{code}");
        passes::run(passes::OPTIMISE, &mut func, Specialization::Generic).unwrap();
        triton_core::images(&func).unwrap_or_else(|e| panic!("{e}\n{code}"));
    }
}
