//! Every known mistake is reported where it is, whatever the order of the warps, and its correct twin is not.

mod common;

use common::{Case, marks, programs, show, without};

/// What is wrong about a run of the faulty program.
fn missed(case: &Case, text: &str, seed: u64) -> Result<(), String> {
    let run = case.run(text, seed)?;
    let wanted = case.faults.join(" or ");
    let first = run.outcome.reports.first().ok_or_else(|| format!("no report; expected {wanted}"))?;
    let shown = show(first);
    if !case.faults.iter().any(|f| f == first.fault.name()) {
        return Err(format!("{} instead of {wanted}: {shown}", first.fault.name()));
    }
    let here: Vec<usize> =
        (1..).zip(text.lines()).filter(|(_, l)| marks(l).any(|m| m == "here")).map(|(n, _)| n).collect();
    if !here.is_empty() && !here.contains(&(first.site.pos.line as usize)) {
        return Err(format!("line {} instead of {here:?}: {shown}", first.site.pos.line));
    }
    match case.words.iter().find(|w| !shown.contains(*w)) {
        Some(word) => Err(format!("without the word `{word}`: {shown}")),
        None => Ok(()),
    }
}

fn failures(text: &str) -> Result<Vec<String>, String> {
    let case = Case::parse(text)?;
    let (correct, faulty) = (without(text, "bad"), without(text, "good"));
    if correct == faulty || case.faults.is_empty() {
        return Err("mark what is wrong with `good` and `bad`, and say which fault to `expect`".to_owned());
    }
    let mut failures = Vec::new();
    for seed in 1..=4 {
        failures.extend(missed(&case, &faulty, seed).err().map(|e| format!("seed {seed}: {e}")));
        let complaints = case.run(&correct, seed).map_or_else(|e| vec![e], |run| case.complaints(&run));
        failures.extend(complaints.into_iter().map(|c| format!("seed {seed}, the correct twin: {c}")));
    }
    Ok(failures)
}

#[test]
fn mistakes_are_reported_and_their_twins_are_not() {
    let programs = programs("faults");
    assert!(programs.len() >= 75, "only {} programs", programs.len());
    let mut all = Vec::new();
    for (name, text) in programs {
        let found = failures(&text).unwrap_or_else(|e| vec![e]);
        all.extend(found.into_iter().map(|f| format!("{name}: {f}")));
    }
    assert!(all.is_empty(), "{} failures\n{}", all.len(), all.join("\n"));
}
