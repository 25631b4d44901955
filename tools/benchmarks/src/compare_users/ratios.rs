//! The table of `users`: ours beside Triton's, and beside the other peers.

use crate::stats::Spread;
use crate::table;
use crate::users::{Case, Spelling};
use crate::verdicts::{Measured, ratio};
use serde::Serialize;

/// The entry of Triton's kernels.
const TRITON: &str = "triton";

/// A time and what it means.
#[derive(Clone, Debug, Serialize)]
pub struct Timed {
    /// The implementation.
    entry: String,
    /// Microseconds, the median of all repetitions; of a wrong or failed entry nothing counts.
    us: Option<f64>,
    /// GB/s or TFLOP/s at that time.
    rate: Option<f64>,
    /// `WRONG` or `FAILED`, else empty.
    fault: &'static str,
    /// Throughput over Triton's, block by block; above 1 is faster.
    over_triton: Option<Spread>,
}

/// A row of the table.
#[derive(Clone, Debug, Serialize)]
pub struct Line {
    /// The row.
    case: String,
    /// The unit of the rates.
    unit: &'static str,
    /// Every implementation, ours first.
    timed: Vec<Timed>,
}

impl Line {
    /// What was measured of a row.
    pub fn new(case: &Case, entries: &[Measured]) -> Line {
        let of_case: Vec<&Measured> = entries.iter().filter(|entry| entry.work.case == case.name).collect();
        let is_triton = |entry: &&&Measured| entry.work.entry == TRITON && entry.is_correct();
        let triton = of_case.iter().find(is_triton).copied();
        let timed = |entry: &&Measured| {
            let us = entry.median().filter(|_| entry.is_correct()).map(|ms| ms * 1e3);
            let is_wrong = entry.checks.iter().any(|check| !check.passes());
            Timed {
                entry: entry.work.entry.clone(),
                us,
                rate: us.map(|us| case.rate(us / 1e3)),
                fault: match (entry.failed, is_wrong) {
                    (true, _) => "FAILED",
                    (false, true) => "WRONG",
                    (false, false) => "",
                },
                over_triton: triton.filter(|_| us.is_some()).and_then(|triton| ratio(entry, triton, 1.0)),
            }
        };
        Line { case: case.name.clone(), unit: case.unit(), timed: of_case.iter().map(timed).collect() }
    }

    fn of(&self, entry: &str) -> Option<&Timed> {
        self.timed.iter().find(|timed| timed.entry == entry)
    }
}

/// `12.3 (456)`: microseconds, and the rate.
fn cell(timed: Option<&Timed>) -> String {
    match timed {
        None => "-".to_string(),
        Some(Timed { us: Some(us), rate: Some(rate), .. }) => format!("{us:.1} ({rate:.0})"),
        Some(Timed { fault, .. }) => (*fault).to_string(),
    }
}

/// The table as text: microseconds, with rates behind them in brackets.
pub fn render(lines: &[Line]) -> String {
    let [pointers, views] = Spelling::ALL.map(Spelling::name);
    let over = |timed: Option<&Timed>| {
        let spread = timed.and_then(|timed| timed.over_triton);
        spread.map_or("-".to_string(), |s| format!("{:.3} [{:.3}, {:.3}]", s.median, s.min, s.max))
    };
    let row = |line: &Line| {
        let is_other = |timed: &&Timed| ![pointers, views, TRITON].contains(&timed.entry.as_str());
        let others: Vec<String> =
            line.timed.iter().filter(is_other).map(|timed| format!("{} {}", timed.entry, cell(Some(timed)))).collect();
        vec![
            line.case.clone(),
            line.unit.to_string(),
            cell(line.of(pointers)),
            cell(line.of(views)),
            cell(line.of(TRITON)),
            if others.is_empty() { "-".to_string() } else { others.join(", ") },
            over(line.of(pointers)),
            over(line.of(views)),
        ]
    };
    let rows: Vec<Vec<String>> = lines.iter().map(row).collect();
    let head = [
        "row",
        "rate",
        "pointers us",
        "views us",
        "Triton us",
        "others us",
        "pointers over Triton",
        "views over Triton",
    ];
    table::render(&head, 2, &rows)
}

/// Which instance each entry runs, as text.
pub fn instances(entries: &[Measured]) -> String {
    let row = |entry: &Measured| vec![entry.work.case.clone(), entry.work.entry.clone(), entry.note.clone()];
    let rows: Vec<Vec<String>> = entries.iter().map(row).collect();
    table::render(&["row", "entry", "instance"], 3, &rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Work;
    use crate::users::cases;
    use crate::verdicts::Check;

    #[test]
    fn lines() {
        let case = cases(64, &["add".to_string()]).remove(0);
        let measured = |entry: &str, ms: &[f64], error: f64, failed: bool| Measured {
            work: Work { case: case.name.clone(), entry: entry.to_string() },
            note: String::new(),
            side: 0,
            ms: ms.iter().map(|ms| vec![*ms]).collect(),
            checks: vec![Check { error: Some(error), bound: 0.5, stray: 0 }],
            failed,
        };
        let entries = [
            measured("pointers", &[2.0, 4.0, 2.0], 0.0, false),
            measured("views", &[1.0, 1.0, 1.0], 0.6, false),
            measured("triton", &[1.0, 1.0, 1.0], 0.1, false),
            measured("torch", &[], 0.0, true),
        ];
        let line = Line::new(&case, &entries);
        let over = line.of("pointers").and_then(|timed| timed.over_triton).expect("a ratio");
        assert_eq!((over.median, over.min, over.max), (0.5, 0.25, 0.5));
        let text = render(&[line]);
        let cells: Vec<&str> = text.lines().nth(2).expect("a row").split('|').map(str::trim).collect();
        let expected =
            ["01 add f32 64", "GB/s", "2000.0 (0)", "WRONG", "1000.0 (0)", "torch FAILED", "0.500 [0.250, 0.500]", "-"];
        assert_eq!(cells[1..9], expected);
    }
}
