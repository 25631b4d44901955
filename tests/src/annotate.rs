//! Cases of messages: a file of kernels whose messages stand below the lines that they are about.
//!
//! ```text
//!     x + row
//!     //~ `+`: cannot add `tile of f32[64]` and `tile of f32[32]` [T0103]
//!     //~   help: shapes broadcast from the right: ..
//! ```
//! After `//~` stand the tokens that the message points at, and its text as a user gets it.

use crate::expand::{Message, expand};

/// What an annotation begins with.
const MARK: &str = "//~";

/// The messages of a case; names of files in them are `name`.
///
/// # Errors
/// The case cannot be expanded without rustc.
pub fn messages(text: &str, name: &str) -> Result<Vec<Message>, String> {
    let mut expansion = expand(text)?;
    if let Some(missing) = expansion.unresolved.first() {
        return Err(format!("only rustc can say what `{missing}` is"));
    }
    // How a text is called that comes from no file.
    for message in &mut expansion.messages {
        while let Some((before, after)) = message.text.split_once("<parsed string ") {
            let after = after.split_once('>').map_or("", |(_, after)| after);
            message.text = format!("{before}{name}{after}");
        }
    }
    Ok(expansion.messages)
}

/// The case with the annotations that it should have.
///
/// # Errors
/// The case cannot be expanded without rustc.
pub fn annotate(text: &str, name: &str) -> Result<String, String> {
    // Notes name lines, which annotations shift.
    let mut text = text.to_owned();
    for _ in 0..4 {
        let next = annotated(&text, &messages(&text, name)?);
        if next == text {
            return Ok(text);
        }
        text = next;
    }
    Err("the annotations do not settle".into())
}

/// The case with these annotations in place of its own.
pub fn annotated(text: &str, messages: &[Message]) -> String {
    let mut out = String::new();
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim_start().starts_with(MARK)) {
        out.push_str(line);
        out.push('\n');
        let indent: String = line.chars().take_while(|c| c.is_whitespace()).collect();
        for message in messages.iter().filter(|message| message.start.0 == number) {
            let mut lines = message.text.lines();
            out +=
                &format!("{indent}{MARK} {}: {}\n", tokens(line, message), lines.next().unwrap_or_default().trim_end());
            lines.for_each(|more| out += &format!("{indent}{MARK}   {}\n", more.trim()));
        }
    }
    out
}

/// The tokens that a message points at.
fn tokens(line: &str, message: &Message) -> String {
    let ((first, start), (last, end)) = (message.start, message.end);
    let length = if first == last { end - start } else { usize::MAX };
    let shown: String = line.chars().skip(start).take(length).collect();
    let shown = shown.trim_end();
    let before: String = line.chars().take(start).collect();
    let more = if first == last { "" } else { " .." };
    let column = if before.contains(shown) { format!(" in column {}", start + 1) } else { String::new() };
    format!("`{shown}{more}`{column}")
}

/// What all cases under `messages` expect, as one text.
pub fn expected() -> String {
    let texts = |folder: &str, extension: &'static str| {
        let folder = crate::root().join("tests/messages").join(folder);
        let paths = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let paths = paths.filter(move |path| path.extension().is_some_and(|e| e == extension));
        paths.filter_map(|path| std::fs::read_to_string(path).ok())
    };
    let annotations = |text: String| -> String {
        let lines = text.lines().filter_map(|line| line.trim_start().strip_prefix(MARK));
        lines.map(|line| format!("{}\n", line.trim())).collect()
    };
    texts("codes", "rs").map(annotations).chain(texts("fail", "stderr")).collect()
}
