//! Programs without mistakes compute what the PTX ISA says, in every order of their warps, and nothing is reported.

mod common;

use common::{Case, programs, without};

fn failures(text: &str) -> Result<Vec<String>, String> {
    let case = Case::parse(text)?;
    let marked = without(text, "good") != without(text, "bad");
    if marked || !case.faults.is_empty() || !case.words.is_empty() {
        return Err("programs with mistakes belong to the other folder".to_owned());
    }
    let mut failures = Vec::new();
    for seed in 1..=4 {
        let complaints = case.run(text, seed).map_or_else(|e| vec![e], |run| case.complaints(&run));
        failures.extend(complaints.into_iter().map(|c| format!("seed {seed}: {c}")));
    }
    Ok(failures)
}

#[test]
fn programs_compute_what_they_should() {
    let programs = programs("ptx");
    assert!(programs.len() >= 25, "only {} programs", programs.len());
    let mut all = Vec::new();
    for (name, text) in programs {
        let found = failures(&text).unwrap_or_else(|e| vec![e]);
        all.extend(found.into_iter().map(|f| format!("{name}: {f}")));
    }
    assert!(all.is_empty(), "{} failures\n{}", all.len(), all.join("\n"));
}
