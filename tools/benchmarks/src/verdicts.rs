//! From times to ratios and verdicts.

use crate::case::Case;
use crate::protocol::Work;
use crate::stats::{Spread, median, spread};
use crate::table;
use serde::Serialize;

/// The entry that is ours; every other is a peer.
const OURS: &str = "ours";

/// Least throughput of ours over the best copy of as many bytes.
const OF_COPY: f64 = 0.95;

/// Least throughput of ours over the best peer.
const OF_PEER: f64 = 1.0;

/// Fewest bytes of a row that counts: four times the L2 cache of an H200. Below, the caches are measured.
const COUNTS: u64 = 4 * 60_000_000;

/// An entry with everything that was measured of it.
#[derive(Clone, Debug, Serialize)]
pub struct Measured {
    /// Which.
    #[serde(flatten)]
    pub work: Work,
    /// How it was configured.
    pub note: String,
    /// The number of its side.
    pub side: usize,
    /// Milliseconds of each repetition of each block.
    pub ms: Vec<Vec<f64>>,
    /// Before and after the measurement.
    pub checks: Vec<Check>,
    /// Whether it could not be run.
    pub failed: bool,
}

/// A result beside its reference.
#[derive(Clone, Debug, Serialize)]
pub struct Check {
    /// Relative error, nothing if it is not a number.
    pub error: Option<f64>,
    /// What rounding explains.
    pub bound: f64,
    /// Elements outside the result that were written.
    pub stray: u64,
}

impl Check {
    /// Whether the result is right.
    pub fn passes(&self) -> bool {
        self.stray == 0 && self.error.is_some_and(|error| error <= self.bound)
    }
}

impl Measured {
    /// Whether it ran, was checked and is right.
    pub fn is_correct(&self) -> bool {
        !self.failed && !self.checks.is_empty() && self.checks.iter().all(Check::passes)
    }

    /// Milliseconds, the median of all repetitions.
    pub fn median(&self) -> Option<f64> {
        median(&self.ms.concat())
    }
}

/// A line of the table. Ratios are of throughput, taken block by block; above 1 is faster than the other.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The case.
    pub case: String,
    /// The implementation.
    pub entry: String,
    /// How it was configured.
    pub note: String,
    /// Milliseconds, the median of all repetitions; of a wrong or failed entry nothing counts.
    pub ms: Option<f64>,
    /// Compulsory bytes, or operations, over that time.
    pub rate: Option<f64>,
    /// The unit of the rate.
    pub unit: &'static str,
    /// Over the best copy of as many bytes.
    pub of_copy: Option<Spread>,
    /// Of our rows: the best peer, and the ratio to it.
    pub of_peer: Option<(String, Spread)>,
    /// Of our rows: `pass`, `≈` (the range contains the target) or `miss`; `-` where it does not count. Of every row: `WRONG`
    /// or `FAILED`.
    pub verdict: String,
}

/// A row for each entry that was timed, is wrong or failed, in the order of the cases.
pub fn rows(cases: &[Case], entries: &[Measured]) -> Vec<Row> {
    let of_case = |name: &str| -> Vec<(&Measured, f64)> {
        let timed = entries.iter().filter(|e| e.work.case == name && e.is_correct());
        timed.filter_map(|e| Some((e, e.median()?))).collect()
    };
    let fastest = |list: &[(&Measured, f64)]| list.iter().min_by(|a, b| a.1.total_cmp(&b.1)).map(|(e, _)| (*e).clone());
    let mut rows = Vec::new();
    for case in cases {
        let (mut measured, copies) = (of_case(&case.name), of_case(&case.copy));
        measured.sort_by_key(|(entry, _)| (entry.side, entry.work.entry.clone()));
        let copy = fastest(&copies);
        let peers: Vec<_> = measured.iter().copied().filter(|(e, _)| e.work.entry != OURS).collect();
        let peer = fastest(&peers);
        let copy_case = cases.iter().find(|c| c.name == case.copy).unwrap_or(case);
        for (entry, ms) in measured {
            // Bytes over bytes: cases with a tail move a little less than their copy.
            let bytes = case.bytes as f64 / copy_case.bytes as f64;
            let of_copy = copy.as_ref().and_then(|copy| ratio(entry, copy, bytes));
            let ours = entry.work.entry == OURS;
            let of_peer = peer.as_ref().filter(|_| ours).and_then(|peer| {
                let spread = ratio(entry, peer, 1.0)?;
                Some((peer.work.entry.clone(), spread))
            });
            // Operations do not come from the caches.
            let verdict = match (ours, case.flops > 0 || case.bytes >= COUNTS) {
                (true, true) => verdict(&[(of_copy, OF_COPY), (of_peer.as_ref().map(|p| p.1), OF_PEER)]),
                (true, false) | (false, _) => "-",
            };
            rows.push(Row {
                case: case.name.clone(),
                entry: entry.work.entry.clone(),
                note: entry.note.clone(),
                ms: Some(ms),
                rate: Some(case.rate(ms)),
                unit: case.unit(),
                of_copy,
                of_peer,
                verdict: verdict.to_string(),
            });
        }
        for entry in entries.iter().filter(|entry| entry.work.case == case.name) {
            let wrong = entry.checks.iter().any(|check| !check.passes());
            if !wrong && !entry.failed {
                continue;
            }
            rows.push(Row {
                case: case.name.clone(),
                entry: entry.work.entry.clone(),
                note: entry.note.clone(),
                ms: None,
                rate: None,
                unit: case.unit(),
                of_copy: None,
                of_peer: None,
                verdict: if entry.failed { "FAILED" } else { "WRONG" }.to_string(),
            });
        }
    }
    rows
}

/// Throughput of one over that of another, block by block; `bytes` are those of the first over those of the other.
pub fn ratio(entry: &Measured, other: &Measured, bytes: f64) -> Option<Spread> {
    let blocks = entry.ms.iter().zip(&other.ms);
    let ratios: Vec<f64> = blocks.filter_map(|(a, b)| Some(bytes * median(b)? / median(a)?)).collect();
    spread(&ratios)
}

fn verdict(ratios: &[(Option<Spread>, f64)]) -> &'static str {
    let each = ratios.iter().filter_map(|(ratio, target)| {
        let ratio = (*ratio)?;
        Some(if ratio.median >= *target {
            "pass"
        } else if ratio.max >= *target {
            "≈"
        } else {
            "miss"
        })
    });
    // The worst of them, in the order of the list.
    let all: Vec<&str> = each.collect();
    ["miss", "≈", "pass"].into_iter().find(|v| all.contains(v)).unwrap_or("-")
}

/// The table.
pub fn render(rows: &[Row]) -> String {
    let range = |s: &Spread| format!("{:.3} [{:.3}–{:.3}]", s.median, s.min, s.max);
    let lines: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            vec![
                row.case.clone(),
                row.entry.clone(),
                row.note.clone(),
                row.ms.map(|ms| format!("{ms:.4}")).unwrap_or_default(),
                row.rate.map(|rate| rendered(rate, row.unit)).unwrap_or_default(),
                row.of_copy.as_ref().map(range).unwrap_or_default(),
                row.of_peer.as_ref().map(|(peer, s)| format!("{peer} {}", range(s))).unwrap_or_default(),
                row.verdict.clone(),
            ]
        })
        .collect();
    table::render(&["case", "entry", "configuration", "ms", "rate", "of copy", "over best peer", "verdict"], 3, &lines)
}

/// Three digits or more, and the unit.
fn rendered(rate: f64, unit: &str) -> String {
    if rate < 100.0 { format!("{rate:.1} {unit}") } else { format!("{rate:.0} {unit}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::cases;

    fn measured(case: &str, entry: &str, ms: &[f64]) -> Measured {
        let check = Check { error: Some(0.0), bound: 0.0, stray: 0 };
        let (work, side) = (Work { case: case.into(), entry: entry.into() }, usize::from(entry != OURS));
        Measured {
            work,
            note: String::new(),
            side,
            ms: ms.iter().map(|t| vec![*t]).collect(),
            checks: vec![check],
            failed: false,
        }
    }

    #[test]
    fn verdicts() {
        // Times of our copy, of torch's, of our addition, of torch's; ours of copy, ours over torch, verdict.
        type Times = [f64; 3];
        type Line = ([Times; 4], [f64; 2], &'static str);
        let table: &[Line] = &[
            ([[1.0; 3], [2.0; 3], [1.0; 3], [1.0; 3]], [1.0, 1.0], "pass"),
            ([[2.0; 3], [1.0; 3], [1.0; 3], [1.0; 3]], [1.0, 1.0], "pass"),
            ([[1.0; 3], [1.0; 3], [1.02, 1.02, 0.99], [1.0; 3]], [1.0 / 1.02, 1.0 / 1.02], "≈"),
            ([[1.0; 3], [1.0; 3], [1.04; 3], [1.0; 3]], [1.0 / 1.04, 1.0 / 1.04], "miss"),
            ([[1.0; 3], [1.0; 3], [1.1; 3], [2.0; 3]], [1.0 / 1.1, 2.0 / 1.1], "miss"),
        ];
        let cases = cases(1 << 27, &[]);
        for (times, [of_copy, of_peer], verdict) in table {
            let entries = [
                measured("copy like add f32", "ours", &times[0]),
                measured("copy like add f32", "torch", &times[1]),
                measured("add f32 aligned", "ours", &times[2]),
                measured("add f32 aligned", "torch", &times[3]),
            ];
            let rows = rows(&cases, &entries);
            let row = rows.iter().find(|r| r.case == "add f32 aligned" && r.entry == "ours").expect("our row");
            let found = (row.of_copy.map(|s| s.median), row.of_peer.as_ref().map(|(_, s)| s.median));
            assert_eq!((found, row.verdict.as_str()), ((Some(*of_copy), Some(*of_peer)), *verdict), "{times:?}");
        }
    }

    #[test]
    fn every_peer_has_a_row() {
        let cases = cases(1 << 27, &["matmul f32 NT 1024^3".to_string()]);
        let times = [("triton sm_80", 2.0), ("triton", 3.0), ("ours", 1.0), ("torch", 4.0)];
        let entries = times.map(|(entry, ms)| measured("matmul f32 NT 1024^3", entry, &[ms; 3]));
        let rows = rows(&cases, &entries);
        let names: Vec<&str> = rows.iter().map(|row| row.entry.as_str()).collect();
        assert_eq!(names, ["ours", "torch", "triton", "triton sm_80"]);
        let best = rows[0].of_peer.as_ref().map(|(peer, ratio)| (peer.as_str(), ratio.median));
        assert_eq!((best, rows[0].verdict.as_str()), (Some(("triton sm_80", 2.0)), "pass"));
        assert!(rows[1..].iter().all(|row| row.of_peer.is_none() && row.verdict == "-"));
    }

    #[test]
    fn left_out() {
        let cases = cases(1 << 20, &[]);
        let wrong = |checks| Measured { checks, ..measured("add f16 tail", "ours", &[1.0]) };
        let stray = wrong(vec![Check { error: Some(0.0), bound: 0.0, stray: 1 }]);
        let nan = wrong(vec![Check { error: None, bound: 1.0, stray: 0 }]);
        let failed = Measured { failed: true, ..measured("add f16 tail", "ours", &[1.0]) };
        for (entry, verdict) in [(stray, "WRONG"), (nan, "WRONG"), (failed, "FAILED")] {
            let rows = rows(&cases, std::slice::from_ref(&entry));
            assert_eq!((rows.len(), rows[0].ms, rows[0].verdict.as_str()), (1, None, verdict), "{entry:?}");
        }
        for entry in [wrong(vec![]), measured("add f16 tail", "ours", &[])] {
            assert_eq!(rows(&cases, std::slice::from_ref(&entry)), [], "{entry:?}");
        }
        let small = rows(&cases, &[measured("copy f32", "ours", &[1.0])]);
        assert_eq!(small[0].verdict, "-", "a row that fits in the cache");
    }
}
