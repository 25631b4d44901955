//! `cargo triton explain`.

use crate::error::{Error, Result};

/// The options.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  cargo triton explain T0102")]
pub struct Args {
    /// The code at the end of a message
    code: String,
}

macro_rules! pages {
    ($($code:literal)*) => { &[$(($code, include_str!(concat!("../errors/", $code, ".md")))),*] };
}

/// The book's pages of the errors and warnings.
const PAGES: &[(&str, &str)] = pages!(
    "t0001" "t0002" "t0003" "t0004" "t0005" "t0006" "t0007" "t0008" "t0009" "t0010" "t0011" "t0012" "t0013" "t0014" "t0015" "t0016" "t0017"
    "t0018" "t0101" "t0102" "t0103" "t0104" "t0105" "t0106" "t0107" "t0108" "t0109" "t0110" "t0111" "t0112" "t0113" "t0114" "t0115" "t0116"
    "t0117" "t0118" "t0119" "t0120" "t0121" "t0122" "t0123" "t0124" "t0125" "t0126" "t0127" "t0128" "t0129" "t0130" "t0199" "w0001" "w0002"
    "w0003" "w0004" "w0005"
);

impl Args {
    pub(super) fn run(self) -> Result<()> {
        let code = self.code.trim_matches(['[', ']']).to_ascii_lowercase();
        let page = PAGES.iter().find(|(of, _)| *of == code).map(|(_, text)| *text);
        println!("{}", shown(page.ok_or(Error::NoCode(self.code))?));
        Ok(())
    }
}

/// A page without the lines of its examples that the book hides.
fn shown(page: &str) -> String {
    let mut is_code = false;
    let mut text = String::new();
    for line in page.lines() {
        let fence = line.starts_with("```");
        is_code ^= fence;
        if is_code && (line == "#" || line.starts_with("# ")) {
            continue;
        }
        text.push_str(if fence && line.len() > 3 { "```" } else { line });
        text.push('\n');
    }
    text.trim_end().to_string()
}

#[cfg(test)]
mod tests {
    use super::{PAGES, shown};
    use triton_core::diag::Code;

    #[test]
    fn every_code_has_its_page() {
        let codes: Vec<String> = Code::ALL.iter().map(|code| format!("{code:?}").to_ascii_lowercase()).collect();
        let pages: Vec<&str> = PAGES.iter().map(|(code, _)| *code).collect();
        assert_eq!(pages, codes);
    }

    #[test]
    fn hidden_lines_are_left_out() {
        assert_eq!(shown("# Title\n```rust,ignore\n# use a;\nfn f() {}\n```\n"), "# Title\n```\nfn f() {}\n```");
    }
}
