//! A table of the papers from what was measured: ours over each peer, row by row, and the geometric mean.

use crate::case::{Case, DType};
use crate::coordinator::ROWS;
use crate::papers::rows::Row;
use crate::stats::Spread;
use crate::table;
use crate::verdicts::{Measured, ratio};
use serde::Serialize;

/// The peers: PyTorch, which runs what cuBLAS chooses, and the fastest algorithm that cuBLASLt offers.
pub const PEERS: [&str; 2] = ["torch", "cublasLt"];

/// What ours is compared with: the peers, and what the rows of the library's table choose, if it was measured.
const OTHERS: [&str; 3] = [PEERS[0], PEERS[1], ROWS];

/// Least ratio of a row that counts as faster.
const FASTER: f64 = 1.03;

/// A row of the paper with what was measured.
#[derive(Debug, Serialize)]
pub struct Line {
    #[serde(flatten)]
    row: Row,
    /// The instance of ours.
    instance: String,
    /// Of ours and of each of the others; nothing of what was not measured.
    ms: [Option<f64>; 4],
    /// How each of the others was configured.
    notes: [String; 3],
    /// Throughput of ours over each of the others', block by block.
    over: [Option<Spread>; 3],
    /// What is wrong: an entry whose result is not what it should be, or that could not be run.
    wrong: Vec<String>,
}

impl Line {
    /// Looks a row up in what was measured.
    pub fn new(row: Row, entries: &[Measured]) -> Line {
        let find = |name: &str| {
            let of_row = |entry: &&Measured| entry.work.case == row.case.name && entry.work.entry == name;
            entries.iter().find(of_row)
        };
        let all = [find("ours"), find(OTHERS[0]), find(OTHERS[1]), find(OTHERS[2])];
        let right = all.map(|entry| entry.filter(|entry| entry.is_correct()));
        let over = [right[1], right[2], right[3]].map(|other| ratio(right[0]?, other?, 1.0));
        let note = |entry: Option<&Measured>| entry.map_or(String::new(), |entry| entry.note.clone());
        let wrong = all.into_iter().flatten().filter(|entry| !entry.is_correct()).map(|entry| entry.work.entry.clone());
        Line {
            instance: note(all[0]),
            ms: right.map(|entry| entry?.median()),
            notes: [note(all[1]), note(all[2]), note(all[3])],
            over,
            wrong: wrong.collect(),
            row,
        }
    }

    /// In the columns of [`HEAD`].
    fn cells(&self) -> Vec<String> {
        let Case { shape: [m, n, k], layouts, .. } = self.row.case;
        let number = |value: Option<f64>, digits: usize| value.map_or(String::new(), |v| format!("{v:.digits$}"));
        let us = |i: usize| number(self.ms[i].map(|ms| ms * 1e3), 1);
        let range = |s: &Spread| format!("{:.2} [{:.2}–{:.2}]", s.median, s.min, s.max);
        let over = |i: usize| self.over[i].as_ref().map(range).unwrap_or_default();
        let instance = if self.wrong.is_empty() {
            self.instance.clone()
        } else {
            format!("WRONG OR FAILED: {}", self.wrong.join(", "))
        };
        vec![
            self.row.group.to_string(),
            format!("{m}x{n}x{k} {layouts:?}"),
            instance,
            us(0),
            number(self.ms[0].map(|ms| self.row.case.rate(ms)), 1),
            us(1),
            over(0),
            us(2),
            over(1),
            self.row.printed.to_string(),
            self.notes[2].clone(),
            over(2),
        ]
    }
}

/// Of a table and a peer: how ours compares over all rows.
#[derive(Debug, PartialEq, Serialize)]
pub struct Summary {
    /// What ours is compared with.
    other: &'static str,
    /// Rows with a ratio.
    rows: usize,
    /// Geometric mean of their medians.
    mean: f64,
    /// The least.
    least: f64,
    /// Rows of at least [`FASTER`].
    faster: usize,
}

/// The summaries of a table, of what it has.
pub fn summaries(lines: &[Line]) -> Vec<Summary> {
    let of_one = |(i, other): (usize, &'static str)| {
        let ratios: Vec<f64> = lines.iter().filter_map(|line| Some(line.over[i]?.median)).collect();
        let least = ratios.iter().copied().reduce(f64::min)?;
        let mean = (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp();
        let faster = ratios.iter().filter(|ratio| **ratio >= FASTER).count();
        Some(Summary { other, rows: ratios.len(), mean, least, faster })
    };
    OTHERS.into_iter().enumerate().filter_map(of_one).collect()
}

/// The columns; the last two only where the choice of the table's rows was measured.
const HEAD: [&str; 12] = [
    "rows",
    "M x N x K",
    "ours",
    "µs",
    "TFLOP/s",
    "cuBLAS µs",
    "over cuBLAS",
    "cuBLASLt µs",
    "over cuBLASLt",
    "paper",
    "by the table's rows",
    "over these",
];

/// The rows of one element type, and below them the summaries.
pub fn render(dtype: DType, lines: &[Line]) -> String {
    let columns = if lines.iter().any(|line| line.over[2].is_some()) { HEAD.len() } else { HEAD.len() - 2 };
    let rows: Vec<Vec<String>> = lines.iter().map(|line| line.cells()[..columns].to_vec()).collect();
    let mut text = format!("{}\n\n{}", dtype.name(), table::render(&HEAD[..columns], 3, &rows));
    for Summary { other, rows, mean, least, faster } in summaries(lines) {
        text += &format!(
            "\nover {other}: geometric mean {mean:.3}, least {least:.3}, {faster} of {rows} rows at least {FASTER}"
        );
    }
    text.trim_end().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::papers::rows::{Table, rows};
    use crate::protocol::Work;
    use crate::verdicts::Check;

    fn measured(case: &str, entry: &str, ms: &[f64]) -> Measured {
        Measured {
            work: Work { case: case.into(), entry: entry.into() },
            note: format!("{entry}'s"),
            side: usize::from(entry != "ours"),
            ms: ms.iter().map(|t| vec![*t]).collect(),
            checks: vec![Check { error: Some(0.0), bound: 0.0, stray: 0 }],
            failed: false,
        }
    }

    #[test]
    fn ratios_and_means() {
        let rows = rows(Table::Covariance, DType::F32, 1 << 27);
        let names: Vec<&str> = rows.iter().map(|row| row.case.name.as_str()).collect();
        let mut entries = vec![
            measured(names[0], "ours", &[1.0, 1.0, 1.0]),
            measured(names[0], "torch", &[4.0, 2.0, 4.0]),
            measured(names[0], "cublasLt", &[1.02; 3]),
            measured(names[1], "ours", &[1.0; 3]),
            measured(names[1], "torch", &[1.0; 3]),
            measured(names[2], "ours", &[1.0; 3]),
            measured(names[2], "torch", &[9.0; 3]),
        ];
        // What is wrong has no time and no ratio.
        entries[6].checks[0].stray = 1;
        let lines: Vec<Line> = rows.iter().cloned().map(|row| Line::new(row, &entries)).collect();
        assert_eq!(
            summaries(&lines),
            [
                Summary { other: "torch", rows: 2, mean: 2.0, least: 1.0, faster: 1 },
                Summary { other: "cublasLt", rows: 1, mean: 1.02f64.ln().exp(), least: 1.02, faster: 0 },
            ]
        );
        let text = render(DType::F32, &lines);
        for expected in [
            "| covariance | 64x64x4096 NT   | ours's                 | 1000.0 |     0.0 |    4000.0 | 4.00 [2.00–4.00] |",
            "WRONG OR FAILED: torch",
            "over torch: geometric mean 2.000, least 1.000, 1 of 2 rows at least 1.03\n",
        ] {
            assert!(text.contains(expected), "expected {expected:?} in {text}");
        }
        assert!(!text.contains("by the table's rows"), "it was not measured: {text}");
        assert!(summaries(&[]).is_empty());

        entries.push(measured(names[1], ROWS, &[1.5; 3]));
        let lines: Vec<Line> = rows.iter().cloned().map(|row| Line::new(row, &entries)).collect();
        let text = render(DType::F32, &lines);
        assert!(text.contains("rows's | 1.50 [1.50–1.50] |"), "{text}");
        assert!(text.contains("over rows: geometric mean 1.500, least 1.500, 1 of 1 rows"), "{text}");
    }
}
