//! Measured speeds in README.md and the book, from the tables of RESULTS.md alone: `tools/benchmarks/speed.tsv` says which rows are shown.
//!
//! A page has the tables between markers. `<!-- speed: peer -->` is followed by all rows of one table, `<!-- speed: peer: a; b -->` by the
//! rows of these labels, and either by `<!-- end -->`. The picture `pictures/speed.svg` shows the rows beside the peers.

#[path = "speed/draw.rs"]
mod draw;

use super::{compare, files, folder, text};
use std::fmt::Write;

/// A row of what is shown: ratios of one kind of kernels.
pub struct Row {
    /// Beside what: `peer`, `copy`.
    table: String,
    group: String,
    label: String,
    peer: String,
    /// The ratio of each case, by its name.
    ratios: Vec<(String, f64)>,
    /// The mean that the table says, from ratios of more digits than it shows.
    mean: Option<f64>,
    /// Of how many cases a table says the mean and the least alone.
    summed: Option<usize>,
    dates: Vec<String>,
}

impl Row {
    fn values(&self) -> impl Iterator<Item = f64> + '_ {
        self.ratios.iter().map(|(_, ratio)| *ratio)
    }

    fn cases(&self) -> usize {
        self.summed.unwrap_or(self.ratios.len())
    }

    fn mean(&self) -> f64 {
        let mean = self.mean.filter(|_| self.dates.len() == 1);
        mean.unwrap_or_else(|| (self.values().map(f64::ln).sum::<f64>() / self.ratios.len() as f64).exp())
    }

    fn least(&self) -> f64 {
        self.values().fold(f64::INFINITY, f64::min)
    }

    /// `None` where the table does not say it.
    fn most(&self) -> Option<f64> {
        self.summed.is_none().then(|| self.values().fold(0.0, f64::max))
    }
}

/// The rows that `tools/benchmarks/speed.tsv` asks for.
fn rows() -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for line in text(&triton_tests::root().join("tools/benchmarks/speed.tsv")).lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let [table, group, label, peer, file, section, column, wanted, date] = fields[..] else {
            assert!(line.starts_with('#'), "tools/benchmarks/speed.tsv: not nine fields: {line}");
            continue;
        };
        if table == "table" {
            continue;
        }
        let page = text(&triton_tests::root().join(file));
        let part = section.split(" > ").fold(page.as_str(), |page, heading| part(page, heading));
        let head = page.split("\n## ").next().unwrap_or_default();
        let date_is_there = part.contains(date) || head.contains(date) || above(&page, section).contains(date);
        assert!(date_is_there, "{file}, {section}: it was not measured on {date}");
        let mut columns = column.split(" + ");
        let column = columns.next().unwrap_or_default();
        let mut found = ratios(part, column, wanted);
        let (by, _) = wanted.split_once('=').expect("a condition");
        let mut mean = ratios(part, column, &format!("{by}=geometric mean")).first().map(|(_, mean)| *mean);
        let mut summed = None;
        if let (Some(least), Some(cases)) = (columns.next(), columns.next()) {
            mean = found.first().map(|(_, mean)| *mean);
            found = ratios(part, least, wanted);
            summed = cell(part, cases, wanted).first().and_then(|(_, cases)| cases.parse().ok());
            assert!(summed.is_some(), "{file}, {section}: no number of cases in `{cases}`");
        }
        assert!(!found.is_empty(), "{file}, {section}: no row of {wanted} has a ratio in `{column}`");

        let at = rows.iter().position(|row| row.table == table && row.label == label).unwrap_or_else(|| {
            let [table, group, label, peer] = [table, group, label, peer].map(str::to_owned);
            rows.push(Row { table, group, label, peer, ratios: Vec::new(), mean, summed, dates: Vec::new() });
            rows.len() - 1
        });
        let row = &mut rows[at];
        row.ratios.retain(|(case, _)| found.iter().all(|(newer, _)| newer != case));
        row.ratios.extend(found);
        row.dates.push(date.to_owned());
    }
    rows
}

/// The part of a page under a heading: `## Name`, `### Name` or `**Name**`.
fn part<'a>(page: &'a str, heading: &str) -> &'a str {
    let marks = [("\n## ", "\n"), ("\n### ", "\n"), ("\n**", "**\n")];
    let found = marks.iter().enumerate().find_map(|(level, (open, close))| {
        let (_, rest) = page.split_once(&format!("{open}{heading}{close}"))?;
        let end = marks[..=level].iter().filter_map(|(open, _)| rest.find(open)).min();
        Some(&rest[..end.unwrap_or(rest.len())])
    });
    found.unwrap_or_else(|| panic!("no heading is called `{heading}`"))
}

/// The text of the section of the second level that has a heading of the third, before its first one.
fn above<'a>(page: &'a str, section: &str) -> &'a str {
    let heading = format!("\n### {}\n", section.split(" > ").next().unwrap_or_default());
    let section = page.split("\n## ").find(|section| section.contains(&heading)).unwrap_or_default();
    section.split("\n### ").next().unwrap_or_default()
}

/// The cells of a line of a table.
fn cells(line: &str) -> Vec<&str> {
    line.trim_matches('|').split('|').map(str::trim).collect()
}

/// The first number with a decimal point of each cell that is wanted, with the name of its row.
fn ratios(part: &str, column: &str, wanted: &str) -> Vec<(String, f64)> {
    let ratio = |cell: &str| {
        let mut words = cell.split(' ').filter(|word| word.contains('.'));
        words.find_map(|word| word.trim_end_matches(',').parse().ok())
    };
    let cells = cell(part, column, wanted).into_iter();
    cells.filter_map(|(name, cell)| Some((name, ratio(cell)?))).collect()
}

/// The cells of a column in the rows that are wanted, each with the cells that name its row.
fn cell<'a>(part: &'a str, column: &str, wanted: &str) -> Vec<(String, &'a str)> {
    // `dx 2` is the second column of that name.
    let (name, number) = column.strip_suffix(" 2").map_or((column, 0), |name| (name, 1));
    let mut found = Vec::new();
    let mut header: Vec<&str> = Vec::new();
    for line in part.lines() {
        if !line.starts_with('|') {
            header.clear();
            continue;
        }
        let cells = cells(line);
        if header.is_empty() {
            header = cells;
            continue;
        }
        let Some((at, _)) = header.iter().enumerate().filter(|(_, title)| **title == name).nth(number) else {
            continue;
        };
        let fits = wanted.split("; ").all(|condition| {
            let (title, patterns) = condition.split_once('=').expect("a condition `column=names`");
            let cell = header.iter().position(|found| *found == title).and_then(|at| cells.get(at));
            cell.is_some_and(|cell| patterns.split('|').any(|pattern| matches(cell, pattern)))
        });
        if let Some(cell) = cells.get(at).filter(|_| fits) {
            // Where the first column is not of cases, the second one names the row, too.
            let named = if header[0] == "case" { cells[0].to_owned() } else { cells[..2].join(" ") };
            found.push((named, *cell));
        }
    }
    found
}

/// Whether a name begins as a pattern says, in which `*` stands for anything.
fn matches(name: &str, pattern: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|start| name.strip_prefix(start)) else { return false };
    parts.all(|part| match rest.find(part) {
        Some(at) => {
            rest = &rest[at + part.len()..];
            true
        }
        None => false,
    })
}

/// The table that a marker asks for: `peer`, or `peer: label; label`.
fn table(rows: &[Row], wanted: &str) -> String {
    let (name, labels) = wanted.split_once(": ").map_or((wanted, None), |(name, labels)| (name, Some(labels)));
    let labels: Option<Vec<&str>> = labels.map(|labels| labels.split("; ").collect());
    let chosen: Vec<&Row> = match &labels {
        None => rows.iter().filter(|row| row.table == name).collect(),
        Some(labels) => {
            let find = |label: &&str| rows.iter().find(|row| row.table == name && row.label == *label);
            labels.iter().map(|label| find(label).unwrap_or_else(|| panic!("no row is called `{label}`"))).collect()
        }
    };
    assert!(!chosen.is_empty(), "no row is of the table `{name}`");
    let mut out =
        "| kernels | over | cases | geometric mean | least | most | measured |\n|---|---|---:|---:|---:|---:|---|\n"
            .to_owned();
    for row in chosen {
        let Row { label, peer, dates, .. } = row;
        let (cases, mean, least) = (row.cases(), row.mean(), row.least());
        let most = row.most().map_or_else(String::new, |most| format!("{most:.2}"));
        let dates = dates.join(", ");
        let _ = writeln!(out, "| {label} | {peer} | {cases} | {mean:.2} | {least:.2} | {most} | {dates} |");
    }
    out
}

/// A page with its tables as they should be.
fn renewed(page: &str, rows: &[Row]) -> String {
    let mut parts = page.split("<!-- speed: ");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (wanted, rest) = part.split_once(" -->\n").expect("the end of a marker");
        let (_, after) = rest.split_once("<!-- end -->").unwrap_or_else(|| panic!("`{wanted}` has no end"));
        let _ = write!(out, "<!-- speed: {wanted} -->\n\n{}\n<!-- end -->{after}", table(rows, wanted));
    }
    out
}

#[test]
fn shown_speeds_are_those_of_the_results() {
    let rows = rows();
    let mut shown = 0;
    for (name, path, page) in files() {
        shown += page.matches("<!-- speed: ").count();
        let expected = renewed(&page, &rows);
        // README.md is beside the book.
        let path = if path.starts_with(folder()) { format!("{name}.md") } else { format!("../../{name}.md") };
        compare(&path, &expected);
    }
    assert!(shown >= 3, "only {shown} tables of speeds are shown");
    compare("pictures/speed.svg", &draw::picture(&rows));
}

#[test]
fn rows_are_found_by_their_names() {
    let page = "\n## One\n\nOn 2026-01-02.\n\n| case | a | b | a |\n|---|---|---|---|\n| x 1^3 | 0.5 (7) | t 1.5 [1.0] | 2.0 |\n| x 2 | 0.25 | | |\n\n## Two\n";
    let of = |column, wanted| ratios(part(page, "One"), column, wanted);
    assert_eq!(of("a", "case=x"), [("x 1^3".to_owned(), 0.5), ("x 2".to_owned(), 0.25)]);
    assert_eq!(of("a 2", "case=x*^3"), [("x 1^3".to_owned(), 2.0)]);
    assert_eq!(of("b", "case=y|x"), [("x 1^3".to_owned(), 1.5)]);
    assert_eq!(of("b", "case=x; a=0.25"), []);
}
