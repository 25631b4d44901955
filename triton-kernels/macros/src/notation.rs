//! The notation of contractions, `icaq,qbjk->abcijk`: a letter for each axis of the operands, and those of the output.
//!
//! It names no other file, so that what checks it while a program is compiled reads the same source.

use std::fmt;

/// The letters of the axes of two operands and of the output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notation {
    /// Of x and y.
    pub operands: [Vec<char>; 2],
    /// Of z.
    pub output: Vec<char>,
}

/// What is wrong with a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What was found.
    pub found: String,
    /// What was expected.
    pub expected: &'static str,
    /// What to do.
    pub fix: &'static str,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, but {} is expected; {}", self.found, self.expected, self.fix)
    }
}

/// Reads a text. Spaces mean nothing.
///
/// # Errors
/// A [`Fault`], unless it is two lists of letters, an arrow, and a list of some of those letters, each once.
pub fn parse(text: &str) -> Result<Notation, Fault> {
    let form = "one `->` between the operands and the output";
    let fault = |found: String, expected, fix| Err(Fault { found, expected, fix });
    let Some((inputs, output)) = text.split_once("->") else {
        return fault("there is no arrow".into(), form, "write the letters of the output after `->`: `ik,kj->ij`");
    };
    if output.contains("->") {
        return fault("there are two arrows".into(), form, "write one `->`, before the letters of the output");
    }
    let parts: Vec<&str> = inputs.split(',').collect();
    let &[x, y] = &parts[..] else {
        let found = format!("the number of operands is {}", parts.len());
        let fix = match parts.len() {
            1 => "write the letters of x and of y with a comma between them: `ik,kj->ij`",
            _ => "contract two of them into a buffer, and that one with the next",
        };
        return fault(found, "2", fix);
    };
    let notation = Notation { operands: [letters(x)?, letters(y)?], output: letters(output)? };
    for (i, letter) in notation.output.iter().enumerate() {
        if notation.output[..i].contains(letter) {
            let found = format!("the output has `{letter}` twice");
            return fault(found, "each letter once", "give the second axis a letter of its own");
        }
        if !notation.operands.iter().any(|of| of.contains(letter)) {
            let found = format!("the output has `{letter}`, which no operand has");
            return fault(found, "a letter of x or y", "leave it out, or name an axis of an operand so");
        }
    }
    Ok(notation)
}

/// The letters of one operand.
fn letters(text: &str) -> Result<Vec<char>, Fault> {
    let all = text.chars().filter(|c| !c.is_whitespace());
    let of = |c: char| match c.is_alphabetic() {
        true => Ok(c),
        false => {
            let fix = match c {
                '.' => "name the axes that `...` stands for, too: `bij,bjk->bik`",
                _ => "separate operands by a comma, and name axes by letters",
            };
            Err(Fault { found: format!("there is `{c}`"), expected: "a letter for each axis", fix })
        }
    };
    all.map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_read_and_spaces_are_not() {
        let notation = parse(" icaq, qbjk -> abcijk ").expect("it is right");
        let all = [&notation.operands[0], &notation.operands[1], &notation.output];
        assert_eq!(all.map(String::from_iter), ["icaq", "qbjk", "abcijk"]);
        assert!(parse(",->").expect("three scalars").operands.iter().all(Vec::is_empty));
        assert_eq!(String::from_iter(parse("αβ,β->α").expect("any letters").output), "α");
    }

    #[test]
    fn faults_say_what_to_do() {
        let fix = |text: &str| parse(text).expect_err("it is wrong").fix;
        assert!(fix("...ij,...jk->...ik").contains("`bij,bjk->bik`"));
        assert!(fix("ij,jk,kl->il").starts_with("contract two of them"));
        assert!(fix("ij->i").contains("`ik,kj->ij`"));
    }

    #[test]
    fn faults_name_what_was_found() {
        for (text, found) in [
            ("ik,kj", "there is no arrow"),
            ("ik,kj->ij->", "there are two arrows"),
            ("ik->i", "the number of operands is 1"),
            ("ik,kj,jl->il", "the number of operands is 3"),
            ("ik,k1->i", "there is `1`"),
            ("...ij,...jk->...ik", "there is `.`"),
            ("ik,kj->ii", "the output has `i` twice"),
            ("ik,kj->iz", "the output has `z`, which no operand has"),
        ] {
            let fault = parse(text).expect_err("it is wrong");
            assert_eq!(fault.found, found, "{text}");
            assert!(fault.to_string().contains("is expected; "), "{fault}");
        }
    }
}
