//! "Did you mean": the nearest of a few names.

/// The candidate that `name` is most likely a misspelling of.
pub(crate) fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = name.chars().count().div_ceil(3).max(1);
    let scored = candidates.into_iter().map(|c| (distance(&name.to_lowercase(), &c.to_lowercase()), c));
    scored.filter(|(d, _)| *d <= limit).min_by_key(|(d, _)| *d).map(|(_, c)| c)
}

/// The names in backquotes with commas: `` `a`, `b` ``.
pub(crate) fn quoted<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    names.into_iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ")
}

/// Insertions, deletions and replacements between two words.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn near_names_are_found() {
        let names = ["num_warps", "configs", "crate"];
        assert_eq!(nearest("num_wraps", names), Some("num_warps"));
        assert_eq!(nearest("config", names), Some("configs"));
        assert_eq!(nearest("BLOCK", names), None);
        assert_eq!(nearest("flot32", ["f32", "f64"]), None);
    }
}
