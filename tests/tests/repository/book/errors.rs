//! The pages of error codes in `docs/src/errors/`: one for each code of the compiler's table, with an index of their titles.

use super::{compare, folder, names, text};
use std::fmt::Write;
use triton_core::diag::Code;

const HEAD: &str = "# Error codes

Every error and warning of the compiler has a code, in brackets at the end of its first line. A code never changes its meaning. Each
page says what is wrong, shows a wrong and a corrected kernel, and explains the rule. [Errors and checks](checks.md) says how to
read a message. What rustc finds by itself, such as an unknown variable, has rustc's code or none.

";

/// The blocks of the table, by what their codes begin with.
const PARTS: [(&str, &str); 3] =
    [("T00", "What a kernel is written with"), ("T01", "Types, shapes and values"), ("W", "Warnings")];

/// A code without a kernel that shows it.
const WITHOUT_EXAMPLE: &str = "T0199";

fn page(code: &str) -> String {
    text(&folder().join("errors").join(code.to_lowercase() + ".md"))
}

#[test]
fn every_code_has_a_page() {
    let mut codes: Vec<String> = Code::ALL.iter().map(|code| code.name().to_lowercase()).collect();
    codes.sort();
    assert_eq!(codes, names(&folder().join("errors")), "the codes of triton-core/src/diag.rs, and docs/src/errors/");
}

#[test]
fn index_is_current() {
    let mut index = HEAD.to_owned();
    for (prefix, part) in PARTS {
        let _ = write!(index, "## {part}\n\n");
        for code in Code::ALL.iter().map(|code| code.name()).filter(|code| code.starts_with(prefix)) {
            let page = page(code);
            let title = page.lines().next().and_then(|line| line.strip_prefix(&format!("# {code}: ")));
            let title = title.unwrap_or_else(|| panic!("the page of {code} begins with `# {code}: title`"));
            let _ = writeln!(index, "- [{code}](errors/{}.md): {title}", code.to_lowercase());
        }
        index.push('\n');
    }
    index.truncate(index.trim_end().len() + 1);
    compare("errors.md", &index);
}

/// Each page has one wrong example, which costs a run of rustc, a corrected one, and the message of its code, which is one that
/// the cases under `tests/messages` expect.
#[test]
fn messages_are_the_compilers() {
    let expected = triton_tests::annotate::expected();
    for code in Code::ALL.iter().map(|code| code.name()).filter(|&code| code != WITHOUT_EXAMPLE) {
        let page = page(code);
        let blocks = |language: &str| page.matches(&format!("\n```{language}\n")).count();
        assert_eq!(blocks("rust,compile_fail"), 1, "{code}: wrong examples");
        assert!(blocks("rust") > 0, "{code}: no corrected example");
        let (_, shown) = page.split_once("\n```text\n").unwrap_or_else(|| panic!("{code}: no message"));
        let (shown, _) = shown.split_once("\n```").expect("the end of the message");
        let first = shown.lines().next().unwrap_or_default();
        assert!(first.ends_with(&format!(" [{code}]")), "{code}: the message is of another code: {first}");
        for line in shown.lines().map(str::trim_start) {
            // rustc says of a warning which constant it is made of.
            let said = line.trim_start_matches("error: ").trim_start_matches("warning: ");
            let said = if said.starts_with("use of deprecated constant") {
                said.split_once("`: ").map_or(said, |(_, said)| said)
            } else {
                said
            };
            assert!(expected.contains(said), "{code}: no case under tests/messages expects `{line}`");
        }
    }
}
