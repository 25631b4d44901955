//! Tables for reading: Markdown that is also aligned.

/// A table with a head; the first `left` columns are aligned left, the others right.
pub fn render(head: &[&str], left: usize, rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
        cells.chain([head[column].chars().count(), 3]).max().unwrap_or(3)
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let line = |cells: &[&str]| {
        let mut text = String::from("|");
        for (column, &width) in widths.iter().enumerate() {
            let cell = cells.get(column).copied().unwrap_or_default();
            text += &if column < left { format!(" {cell:<width$} |") } else { format!(" {cell:>width$} |") };
        }
        text + "\n"
    };
    let rule: Vec<String> = (widths.iter().enumerate())
        .map(|(column, &w)| if column < left { "-".repeat(w) } else { "-".repeat(w - 1) + ":" })
        .collect();
    let mut text = line(head) + &line(&rule.iter().map(String::as_str).collect::<Vec<_>>());
    for row in rows {
        text += &line(&row.iter().map(String::as_str).collect::<Vec<_>>());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rendered() {
        let rows = [vec!["add f32".to_string(), "0.37".to_string()], vec!["×".to_string()]];
        let expected = "\
| case    |   ms |
| ------- | ---: |
| add f32 | 0.37 |
| ×       |      |
";
        assert_eq!(render(&["case", "ms"], 1, &rows), expected);
    }
}
