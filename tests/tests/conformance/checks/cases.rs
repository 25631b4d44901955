//! The list of cases, and the report of one that fails.

use crate::case::{Case, Launch, Region, Run, Trial, untouched};
use crate::value::Expected;
use std::collections::HashSet;
use triton::Device;
use triton_core::sema::BUILTINS;
use triton_core::types::DType;

/// What is checked here.
pub const CHECKS: &[(&str, fn())] = &[
    ("every_function_is_covered", every_function_is_covered),
    ("names_are_unique", names_are_unique),
    ("differences_are_told", differences_are_told),
];

/// A function of the language cannot come without a case.
fn every_function_is_covered() {
    let covered = crate::list::covered();
    let missing: Vec<&str> = BUILTINS.iter().map(|b| b.name).filter(|name| !covered.contains(name)).collect();
    assert!(missing.is_empty(), "no case is there for {missing:?}: see the table in tests/tests/conformance/main.rs");
}

fn names_are_unique() {
    let cases = crate::list::cases();
    assert!(cases.len() >= 3000, "{} cases", cases.len());
    let mut seen = HashSet::new();
    let twice: Vec<&str> = cases.iter().map(|case| case.name.as_str()).filter(|name| !seen.insert(*name)).collect();
    assert!(twice.is_empty(), "{twice:?}");
}

/// The report of a launch that should leave these elements.
fn outcome(launch: Launch, after: [u64; 3]) -> String {
    let trial = move || {
        let x = Region::input(DType::I16, vec![1, 2, 0xffff]).skip(1);
        let out = Region::output(DType::I16, after.map(Expected::Bits).to_vec());
        Trial { regions: vec![x, out], numbers: vec![], grid: [1; 3], launch }
    };
    let stream = Device::cpu().stream().expect("the CPU has streams");
    let failure = Case::new("a case".to_string(), &[], trial).run(&stream).err();
    failure.map_or("passed".to_string(), |failure| failure.to_string())
}

fn write(run: &Run<'_>, at: usize, values: &[i16]) -> triton::Result<()> {
    let mut target = run.buffer_mut::<i16>(1);
    run.stream.copy_from_host(values, &mut target.slice_mut(at..at + values.len())?)
}

fn differences_are_told() {
    let copy: Launch = |run| {
        let values = run.stream.download(&run.buffer::<i16>(0).slice(run.range(0))?)?;
        write(run, run.range(1).start, &values)
    };
    assert_eq!(outcome(copy, [1, 2, 0xffff]), "passed");
    assert_eq!(outcome(copy, [1, 2, 3]), "memory 1, element 2 of inputs -1: found -1, expected 3");
    let nothing = [untouched(DType::I16); 3];
    let behind: Launch = |run| write(run, run.range(1).end, &[7]);
    assert!(outcome(behind, nothing).starts_with("memory 1, 1 elements past the end: found 7"));
    let before: Launch = |run| write(run, run.range(1).start - 2, &[7]);
    assert!(outcome(before, nothing).starts_with("memory 1, 2 elements before the start: found 7"));
    assert_eq!(outcome(|_| Ok(()), nothing), "passed");
    let refused = outcome(|run| run.buffer::<i16>(0).slice(100..).map(|_| ()), nothing);
    assert!(refused.contains("100"), "{refused}");
}
