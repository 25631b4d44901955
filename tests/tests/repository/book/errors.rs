//! The page of error codes: each with its line from the compiler's table, and an example from the cases under `tests/messages`.

use super::{compare, text};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use triton_core::diag::Code;

const HEAD: &str = "# Error codes

Every error of the compiler has a code, in brackets at the end of its first line. A code never changes its meaning. This page
has one example for each; other mistakes of the same kind have the same code and other words. How messages read is in
[Errors and checks](checks.md). What rustc finds by itself, such as unknown names, has rustc's codes or none.

";

/// The first code of each part of the table, with the part's title.
const PARTS: [(Code, &str); 3] = [
    (Code::T0001, "What a kernel is written with"),
    (Code::T0101, "Types, shapes and values"),
    (Code::W0001, "Warnings, where a kernel has `warnings = true`"),
];

#[test]
fn error_codes_are_current() {
    let mut page = HEAD.to_owned();
    for &code in Code::ALL {
        if let Some((_, title)) = PARTS.iter().find(|(first, _)| *first == code) {
            let _ = write!(page, "## {title}\n\n");
        }
        let _ = write!(page, "### {}\n\n{}.\n\n", code.name(), sentence(code.summary()));
        if code == Code::T0199 {
            page.push_str("No kernel is known that shows it. If you have one, please report it.\n\n");
            continue;
        }
        let example = example(code);
        let _ = write!(page, "```rs\n{}\n```\n\n```text\n{}\n```\n\n", example.source, example.message);
    }
    page.truncate(page.trim_end().len());
    page.push('\n');
    compare("errors.md", &page);
}

fn sentence(summary: &str) -> String {
    let mut letters = summary.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// The plainest case of each code that has several; of others the first is shown.
const SHOWN: [&str; 21] = [
    "t0001_match",
    "t0002_self_parameter",
    "t0003_return_type",
    "t0005_function_types",
    "t0006_lifetime",
    "t0007_unknown_option",
    "t0008_option_values",
    "t0101_argument_count",
    "t0102_element_types",
    "t0103_shapes",
    "t0104_operator",
    "t0105_mask",
    "t0107_not_known",
    "t0108_tile_size",
    "t0109_read_only",
    "t0110_stored_type",
    "t0112_literals",
    "t0115_annotation",
    "t0118_nesting",
    "t0119_type_arguments",
    "t0123_shapes",
];

/// The longest line that is shown whole.
const WIDTH: usize = 130;

struct Example {
    source: String,
    message: String,
}

/// The first error with this code in one of its cases, and the item that it is in.
fn example(code: Code) -> Example {
    let cases = cases(&code.name().to_lowercase());
    let case = cases.iter().find(|case| SHOWN.contains(&name(case))).or(cases.first());
    let case = case.unwrap_or_else(|| panic!("{code} has a case"));
    let (source, messages) = (text(&case.with_extension("rs")), text(&case.with_extension("stderr")));
    let errors: Vec<&str> = messages.split("\n\n").filter(|part| part.starts_with("error")).collect();
    let shown = errors.iter().find(|error| error.contains(&format!("[{}]", code.name())));
    let shown = shown.unwrap_or_else(|| panic!("{} shows {code}", case.display()));
    let at = line_of(shown);
    let others: Vec<usize> = errors.iter().map(|error| line_of(error)).filter(|&line| line != at).collect();
    let mut message = without_places(shown);
    if code >= Code::W0001 {
        // The case turns warnings into errors.
        message = message.replacen("error", "warning", 1).replace("\n       ", "\n         ");
    }
    Example { source: item(&source, at, &others), message }
}

fn name(case: &Path) -> &str {
    case.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default()
}

/// The cases under `tests/messages/fail` whose name begins so, in order.
fn cases(prefix: &str) -> Vec<PathBuf> {
    let folder = triton_tests::root().join("tests/messages/fail");
    let files = std::fs::read_dir(folder).expect("the folder of cases").flatten().map(|entry| entry.path());
    let of_code = |path: &PathBuf| path.extension().is_some_and(|e| e == "stderr") && name(path).starts_with(prefix);
    let mut files: Vec<PathBuf> = files.filter(of_code).collect();
    files.sort();
    files
}

/// The line, from 1, that an error points to: `--> file:LINE:column`.
fn line_of(error: &str) -> usize {
    let place = error.lines().find_map(|line| line.trim_start().strip_prefix("--> ")).expect("an error has a place");
    place.rsplit(':').nth(1).and_then(|line| line.parse().ok()).expect("a place has a line")
}

/// The item around a line: the lines between blank ones, without what other errors are about. Before it, the functions and
/// constants that it mentions.
fn item(source: &str, at: usize, others: &[usize]) -> String {
    let lines: Vec<&str> = source.lines().collect();
    let first = lines[..at].iter().rposition(|line| line.is_empty()).map_or(0, |blank| blank + 1);
    let last = lines[at..].iter().position(|line| line.is_empty()).map_or(lines.len(), |blank| at + blank);
    let mut shown: Vec<String> = Vec::new();
    let mut number = first;
    while number < last {
        let end = number + left_out(&lines[number..last], |line| others.contains(&(number + line + 1)));
        let line = lines[number];
        if end > number && !(number..end).contains(&(at - 1)) {
            let gap = format!("{}// ..", &line[..line.len() - line.trim_start().len()]);
            if shown.last() != Some(&gap) {
                shown.push(gap);
            }
            number = end;
            continue;
        }
        if !line.starts_with("//!") && !line.starts_with("use ") {
            shown.push(shorter(line));
        }
        number += 1;
    }
    let shown = shown.join("\n");
    let earlier = lines[..first].join("\n");
    let mentioned = earlier.split("\n\n").filter(|item| mentions(&shown, item));
    mentioned.map(|item| format!("{}\n\n", item.trim_end())).collect::<String>() + &shown
}

/// How many of the lines, from the first on, are a statement that another error is about; 0 if the first is not.
fn left_out(lines: &[&str], wrong: impl Fn(usize) -> bool) -> usize {
    let line = lines[0];
    if !line.starts_with("    ") || !wrong(0) {
        return 0;
    }
    if line.ends_with('{') {
        let end = format!("{}}}", &line[..line.len() - line.trim_start().len()]);
        return lines.iter().position(|line| *line == end).map_or(0, |last| last + 1);
    }
    let open = line.matches(['(', '[', '{']).count();
    usize::from(line.ends_with([';', ',']) && open == line.matches([')', ']', '}']).count())
}

/// Whether one of the lines of an item declares a name that the text has.
fn mentions(text: &str, item: &str) -> bool {
    let names = item.lines().filter_map(|line| {
        let rest = ["fn ", "const ", "struct "].iter().find_map(|keyword| line.strip_prefix(keyword))?;
        rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()
    });
    let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    !item.contains("#[triton::kernel") && names.into_iter().any(|name| words.contains(&name))
}

fn shorter(line: &str) -> String {
    let letters: Vec<char> = line.chars().collect();
    if letters.len() <= WIDTH {
        return line.to_owned();
    }
    let text = |letters: &[char]| letters.iter().collect::<String>();
    format!("{} .. {}", text(&letters[..48]), text(&letters[letters.len() - 24..]))
}

/// A message without file names and line numbers, which are those of the case.
fn without_places(error: &str) -> String {
    let mut lines = Vec::new();
    // What rustc adds by itself, about macros and the lint level, comes last.
    for line in error.lines().take_while(|line| !line.starts_with("note: ") && !line.starts_with("...")) {
        let bar = line.find('|').filter(|&bar| line[..bar].chars().all(|c| c == ' ' || c.is_ascii_digit()));
        match bar {
            _ if line.trim_start().starts_with("--> ") => {}
            Some(bar) if line[bar + 1..].is_empty() => {}
            Some(bar) => lines.push(format!("  {}", &line[bar..])),
            None => lines.push(line.to_owned()),
        }
    }
    // Nothing is seen of a line that does not fit.
    if lines.iter().any(|line| line.starts_with("  |") && line.len() > WIDTH) {
        lines.retain(|line| !line.starts_with("  |"));
    }
    lines.join("\n")
}
