//! Programs that were mutated at random are rejected, reported or run; they do not panic, and they end.

mod common;

use common::{Case, programs};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Numbers that are likely to be at some border.
const NUMBERS: [&str; 12] = ["0", "1", "2", "3", "7", "16", "31", "32", "64", "-1", "0x7fffffff", "0xffffffffffffffff"];

/// Another text: some of its words are replaced by others of it or by numbers, some lines are deleted, repeated or
/// swapped.
fn change(text: &str, rng: &mut fastrand::Rng) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
    let body = lines.iter().position(|l| l.trim() == "{").unwrap_or(0) + 1;
    for _ in 0..rng.usize(1..4) {
        let at = rng.usize(body..lines.len());
        let other = rng.usize(body..lines.len());
        match rng.u32(..8) {
            0 => {
                lines.remove(at);
            }
            1 => lines.insert(at, lines[other].clone()),
            2 => lines.swap(at, other),
            _ => lines[at] = change_word(&lines[at], &lines[other], rng),
        }
        if lines.len() <= body {
            break;
        }
    }
    lines.join("\n")
}

/// A line with one word replaced by one of another line, or by a number.
fn change_word(line: &str, other: &str, rng: &mut fastrand::Rng) -> String {
    let words = |line: &str| -> Vec<String> {
        let is_word = |c: char| c.is_alphanumeric() || "%_.:".contains(c);
        let mut out: Vec<String> = Vec::new();
        for c in line.chars() {
            match out.last_mut() {
                Some(last) if is_word(c) && last.chars().all(is_word) => last.push(c),
                Some(_) | None => out.push(c.to_string()),
            }
        }
        out
    };
    let (mut mine, others) = (words(line), words(other));
    let picks: Vec<usize> = (0..mine.len()).filter(|&i| mine[i].chars().any(char::is_alphanumeric)).collect();
    let Some(&at) = rng.choice(&picks) else { return line.to_string() };
    mine[at] = match rng.choice(&others) {
        Some(word) if rng.bool() => word.clone(),
        Some(_) | None => rng.choice(NUMBERS).unwrap_or("0").to_string(),
    };
    mine.concat()
}

#[test]
fn changed_programs_do_not_panic_and_end() {
    let mut rng = fastrand::Rng::with_seed(1);
    let mut failures = Vec::new();
    for folder in ["ptx", "faults"] {
        for (name, text) in programs(folder) {
            let case = Case::parse(&text).expect("a header");
            for _ in 0..4 {
                let changed = change(&text, &mut rng);
                if catch_unwind(AssertUnwindSafe(|| case.run(&changed, 1).map(|run| run.outcome.reports.len())))
                    .is_err()
                {
                    failures.push(format!("{name}:\n{changed}"));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{} panics; the first of {}", failures.len(), failures[0]);
}
