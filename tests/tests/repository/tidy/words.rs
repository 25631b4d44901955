//! The words of the project: where the field has a term, messages, documentation and comments use it. Phrases that hide
//! one, or that are not English, are refused; the book's glossary has the terms.

use std::collections::HashMap;

/// Refused phrases, in lower case, and what to write. A `|` is left out: it keeps this file from refusing itself.
const REFUSED: &[(&str, &str)] = &[
    ("is n|o", "is not a"),
    ("are n|o", "are not"),
    ("behind the e|nd", "past the end"),
    ("behind the b|egin", "after the start"),
    ("behind the p|oint", "mantissa bits, or after the decimal point"),
    ("behind the l|oop", "after the loop"),
    ("the b|egin", "the start"),
    ("its b|egin", "its start"),
    ("so m|any", "this many, or the number"),
    ("m|end", "fix"),
    ("m|ends", "fixes"),
    ("m|ended", "fixed"),
    ("no|body", "nothing, or no thread"),
    ("some|body", "what it is"),
    ("some|one", "what it is"),
    ("who|ever", "what it is"),
    ("known while c|ompiling", "a compile-time constant"),
    ("known while it is c|ompiled", "a compile-time constant"),
    ("outside o|f", "outside"),
    ("turn of the l|oop", "iteration"),
    ("turns of the l|oop", "iterations"),
    ("turns of its l|oop", "iterations"),
    ("by e|ights", "in units of eight"),
    ("twice t|here", "repeated"),
    ("stands n|owhere", "has no layout"),
    ("words of o|urs", "our own message"),
];

/// What may precede `is n|o`: "there is no driver".
const BEFORE: &[&str] = &["there", "here"];
/// What may follow it: "is no longer".
const AFTER: &[&str] = &["longer", "more", "less", "fewer", "better", "worse", "larger", "smaller"];

/// The words of a text with their lines, without what marks comments: a phrase may go on in the next line.
fn words(text: &str) -> Vec<(usize, &str)> {
    let mut words = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim_start().trim_start_matches(['/', '!']);
        words.extend(line.split(' ').filter(|word| !word.is_empty()).map(|word| (number, word)));
    }
    words
}

/// A word in lower case without the marks around it.
fn bare(word: &str) -> String {
    word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase()
}

/// A word in lower case without the marks before it, nor a call: `there` of `format!("there`. Marks after it stay: a
/// phrase does not go on in the next sentence.
fn open(word: &str) -> String {
    let start = word.rfind(['(', '"', '`', '[']).map_or(0, |mark| mark + 1);
    word[start..].to_lowercase()
}

/// Refused phrases of a text: line, phrase and what to write.
pub fn refused(text: &str) -> Vec<(usize, String, &'static str)> {
    let mut phrases: HashMap<String, Vec<(String, &str)>> = HashMap::new();
    for (phrase, better) in REFUSED {
        let phrase = phrase.replace('|', "");
        let last = phrase.rsplit(' ').next().unwrap_or_default().to_owned();
        phrases.entry(last).or_default().push((phrase, *better));
    }
    let words = words(text);
    let mut found = Vec::new();
    for (at, &(line, word)) in words.iter().enumerate() {
        let last = bare(word);
        for (phrase, better) in phrases.get(&last).into_iter().flatten() {
            let parts: Vec<&str> = phrase.split(' ').collect();
            let Some(start) = (at + 1).checked_sub(parts.len()) else { continue };
            let first = words[start..at].iter().map(|(_, word)| open(word));
            if !first.chain([last.clone()]).eq(parts.iter().map(|part| (*part).to_owned())) {
                continue;
            }
            let before = start.checked_sub(1).map(|before| open(words[before].1)).unwrap_or_default();
            let after = words.get(at + 1).map(|(_, word)| bare(word)).unwrap_or_default();
            let english = BEFORE.contains(&before.as_str()) || AFTER.contains(&after.as_str());
            if !(last == "no" && english) {
                found.push((line, phrase.clone(), *better));
            }
        }
    }
    found
}

#[test]
fn refused_phrases_are_reported_with_their_line() {
    let refuse = |text: &str| refused(&text.replace('|', "")).into_iter().map(|(line, ..)| line).collect::<Vec<_>>();
    assert_eq!(refuse("/// Fine.\n/// `x` is n|o pointer.\n"), [2]);
    assert_eq!(refuse("    // What is\n    // n|o number.\n"), [2]);
    assert_eq!(refuse("\"{n} bytes behind the e|nd\"\n\n(No|body waits.)\n"), [1, 3]);
    assert_eq!(refuse("How to m|end it: take so m|any."), [1, 1]);
    assert_eq!(refuse("There is no driver, and it is no longer an error. Is it? No."), [] as [usize; 0]);
    assert_eq!(refuse("amended; let begin = 1; self.begin(); there are no more"), [] as [usize; 0]);
}
