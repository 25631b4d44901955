//! Lines of text with the place in the source that each is of.

use serde::Serialize;

/// A file, a line and a column, from 0, 1 and 1.
pub type At = (usize, u32, u32);

/// A line, with its place: `["v3 = add v1, v2", [0, 12, 5]]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Line(pub String, pub Option<At>);

/// The lines of IR, whose positions stand behind them: `v3 = add v1, v2 : i32 @0:12:5`.
pub fn of_ir(text: &str) -> Vec<Line> {
    let line = |line: &str| match line.rsplit_once(" @").and_then(|(code, at)| Some((code, position(at)?))) {
        Some((code, at)) => Line(code.to_string(), Some(at)),
        None => Line(line.to_string(), None),
    };
    text.lines().map(line).collect()
}

/// The lines of PTX, whose positions stand before them: `.loc 1 12 5`. Files are named by `.file`, in the order of `files`.
pub fn of_ptx(text: &str, files: &[String]) -> Vec<Line> {
    let numbers: Vec<(u32, usize)> = text
        .lines()
        .filter_map(|line| {
            let (number, name) = line.trim().strip_prefix(".file")?.trim().split_once(' ')?;
            let file = files.iter().position(|file| file == name.trim().trim_matches('"'))?;
            Some((number.parse().ok()?, file))
        })
        .collect();
    let mut at = None;
    let line = |line: &str| {
        let code = line.trim();
        if let Some(place) = code.strip_prefix(".loc") {
            let mut words =
                place.split([' ', ',', '\t']).filter(|word| !word.is_empty()).map(|word| word.parse::<u32>().ok());
            let mut next = || words.next().flatten();
            let place = next().zip(next()).zip(next());
            let file = |number| numbers.iter().find(|(of, _)| *of == number).map(|(_, file)| *file);
            at = place.and_then(|((number, line), column)| Some((file(number)?, line, column.max(1))));
        }
        let is_code = code.ends_with(';') && !code.starts_with('.') && !code.starts_with("//");
        Line(line.to_string(), at.filter(|_| is_code))
    };
    text.lines().map(line).collect()
}

/// The place that a description names, and what is before it: `load v2 @src/lib.rs:12:5`.
pub fn described(text: &str, files: &[String]) -> (String, Option<At>) {
    let Some((before, place)) = text.rsplit_once(" @") else { return (text.to_string(), None) };
    let (place, rest) =
        place.split_once(',').map_or((place, String::new()), |(place, rest)| (place, format!(",{rest}")));
    let mut parts = place.rsplitn(3, ':');
    let column = parts.next().and_then(|column| column.parse().ok());
    let line = parts.next().and_then(|line| line.parse().ok());
    let file = parts.next().and_then(|name| files.iter().position(|file| file == name));
    match file.zip(line).zip(column) {
        Some(((file, line), column)) => (format!("{before}{rest}"), Some((file, line, column))),
        None => (text.to_string(), None),
    }
}

fn position(text: &str) -> Option<At> {
    // Behind it may be the call that it was inlined by: `1:3:7 in c1`.
    let mut parts = text.split(' ').next()?.split(':');
    let (file, line, column) = (parts.next()?, parts.next()?, parts.next()?);
    Some((file.parse().ok()?, line.parse().ok()?, column.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::{Line, described, of_ir, of_ptx};

    #[test]
    fn lines_know_their_places() {
        let line = |text: &str, at| Line(text.into(), at);
        assert_eq!(
            of_ir("  v1 = add v0, v0 : i32 @1:2:3\n}"),
            [line("  v1 = add v0, v0 : i32", Some((1, 2, 3))), line("}", None)]
        );
        let files = ["a.rs".to_string(), "b.rs".to_string()];
        let ptx = ".file 1 \"b.rs\"\n  .loc 1 7 0\n  add.s32 %r1, %r1, %r2;\n$L1:\n  .loc 1 9 2, function_name F, inlined_at 1 7 3\n  ret;";
        let at: Vec<_> = of_ptx(ptx, &files).into_iter().map(|Line(_, at)| at).collect();
        assert_eq!(at, [None, None, Some((1, 7, 1)), None, None, Some((1, 9, 2))]);
        let (text, at) = described("in its own turn: f16[4] @b.rs:3:4, as it is", &files);
        assert_eq!((text.as_str(), at), ("in its own turn: f16[4], as it is", Some((1, 3, 4))));
        assert_eq!(described("3 stages @c.rs:1:1", &files), ("3 stages @c.rs:1:1".to_string(), None));
    }
}
