//! Tables and plots, ours beside the papers'.

pub mod acceptance;
pub mod choices;
#[cfg(feature = "jit")]
pub mod estimates;
pub mod mse;
#[cfg(feature = "plot")]
pub mod plot;
pub mod size;
pub mod speed;

/// A table as text: columns as wide as they need, numbers to the right.
///
/// ```
/// let rows = [vec!["M".to_owned(), "1".to_owned()], vec!["N".to_owned(), "16".to_owned()]];
/// assert_eq!(triton_tune::report::text(&["axis", "tile"], &rows), "axis  tile\nM        1\nN       16\n");
/// ```
#[must_use]
pub fn text(header: &[&str], rows: &[Vec<String>]) -> String {
    let cell = |row: &[String], column: usize| row.get(column).cloned().unwrap_or_default();
    let header: Vec<String> = header.iter().map(|name| (*name).to_owned()).collect();
    let widths: Vec<usize> = (0..header.len())
        .map(|column| rows.iter().chain([&header]).map(|row| cell(row, column).chars().count()).max().unwrap_or(0))
        .collect();
    let mut out = String::new();
    for row in [&header].into_iter().chain(rows) {
        let cells = widths.iter().enumerate().map(|(column, &width)| match column {
            0 => format!("{:width$}", cell(row, column)),
            _ => format!("{:>width$}", cell(row, column)),
        });
        out.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
        out.push('\n');
    }
    out
}
