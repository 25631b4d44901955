//! Random texts, and truncated texts: each becomes a module or an error, and soon.

use crate::{ptx_files, read};
use fastrand::Rng;
use triton_sim::parse::parse;

/// Pieces that mean something to the parser, and some that mean nothing.
const TOKENS: &str = "\
    .version .target sm_90a .address_size 64 .entry k ( ) { } [ ] < > , ; : :: | ! @ @! + - * / % & ^ ~ = _ .param .reg .shared \
    .global .const .local .extern .visible .func .align .ptr .b8 .b32 .u64 .f32 .pred .reqntid .maxnreg .loc .file .pragma \
    .section \"text\" \" %r<4> %r0 %p %tid .x %laneid x L L: mov .v4 call bra ret; vprintf WARP_SZ 0 1 0x 0xFFFFFFFFFFFFFFFF \
    18446744073709551615 4000000000 0f3F800000 0d 1.5 1e9 1e- 0b1 08 // /* */ é \u{0} @@DWARF << >> . .. $ # \\ ' ` ?";

fn token(rng: &mut Rng) -> &'static str {
    let tokens: Vec<_> = TOKENS.split(' ').collect();
    tokens[rng.usize(..tokens.len())]
}

/// Tokens without order.
fn soup(rng: &mut Rng) -> String {
    let mut text = if rng.bool() { ".version 8.0 .target sm_90a .entry k() {\n" } else { "" }.to_owned();
    for _ in 0..rng.usize(..200) {
        text.push_str(token(rng));
        text.push_str(["", " ", "\n", "\t"][rng.usize(..4)]);
    }
    text
}

/// A text with a few changes: pieces removed, repeated, moved, replaced.
fn mutated(rng: &mut Rng, seed: &str, other: &str) -> String {
    let mut text = seed.to_owned();
    for _ in 0..rng.usize(1..8) {
        let from = boundary(&text, rng.usize(..text.len() + 1));
        let to = boundary(&text, from + rng.usize(..40));
        let piece = match rng.u8(..4) {
            0 => String::new(),
            1 => token(rng).to_owned(),
            2 => text[from..to].repeat(2),
            _ => {
                let from = boundary(other, rng.usize(..other.len() + 1));
                other[from..boundary(other, from + rng.usize(..200))].to_owned()
            }
        };
        text.replace_range(from..to, &piece);
    }
    text
}

/// The next offset in a text where a character begins.
fn boundary(text: &str, at: usize) -> usize {
    (at..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len())
}

/// The shorter ones of the repository's kernels.
fn seeds() -> Vec<String> {
    let texts = ptx_files("tests/corpus").into_iter().chain(ptx_files("triton-sim/tests/parse/cases"));
    texts.map(|path| read(&path)).filter(|text| text.len() < 8000).collect()
}

/// Some are accepted, so that every part of the parser is reached, and an error is at a position of the text.
#[test]
fn no_text_makes_it_panic() {
    let seeds = seeds();
    let mut accepted = 0;
    for case in 0..3000 {
        let mut rng = Rng::with_seed(case);
        let text = if rng.u8(..3) == 0 {
            soup(&mut rng)
        } else {
            let (seed, other) = (rng.usize(..seeds.len()), rng.usize(..seeds.len()));
            mutated(&mut rng, &seeds[seed], &seeds[other])
        };
        match parse(&text) {
            Ok(_) => accepted += 1,
            Err(error) => {
                let line = text.split('\n').nth(error.line as usize - 1).expect("the error's line is in the text");
                assert!(error.column as usize <= line.chars().count() + 1, "case {case}: {error}");
            }
        }
    }
    assert!((50..2900).contains(&accepted), "{accepted} accepted");
}

#[test]
fn every_begin_of_a_text_is_read_or_refused() {
    for name in ["everything", "calls"] {
        let paths = ptx_files("triton-sim/tests/parse/cases");
        let path = paths.iter().find(|path| path.file_stem().is_some_and(|stem| stem == name)).expect("the case");
        let text = read(path);
        let refused = (0..text.len()).filter(|at| text.is_char_boundary(*at)).filter(|at| parse(&text[..*at]).is_err());
        assert!(refused.count() > text.len() / 2);
        assert!(parse(&text).is_ok());
    }
}

/// What is nested would overflow the stack. What copies the rest of a text for each token would allocate as much as its length
/// squared; the most is 125 bytes for each byte.
#[test]
fn long_texts_take_linear_memory() {
    const MANY: usize = 200_000;
    fn check(text: &str, accepted: bool) {
        let mut is_ok = !accepted;
        let counted = allocation_counter::measure(|| is_ok = parse(text).is_ok());
        assert_eq!(is_ok, accepted, "{}…", &text[..100]);
        let bytes = counted.bytes_total / text.len() as u64;
        assert!(bytes < 256, "{bytes} bytes for each byte of {}…", &text[..100]);
    }
    fn check_module(declarations: &str, accepted: bool) {
        check(&format!(".version 8.0 .target sm_90a {declarations}"), accepted);
    }
    fn check_body(statements: &str, accepted: bool) {
        check_module(&format!(".entry k(.param .u64 a) {{ .reg .b32 %r<9>; {statements} }}"), accepted);
    }
    let numbered = |text: fn(usize) -> String| (0..MANY).map(text).collect::<String>();
    check_body(&"mov.b32 %r0, %r1; ".repeat(MANY), true);
    check_body(&("{ ".repeat(60) + &"} ".repeat(60)).repeat(MANY / 60), true);
    check_body(&numbered(|i| format!("L{i}: bra L{};\n", MANY - 1 - i)), true);
    check_body(&format!("mov.b32 {{{} %r0}}, %r1;", "%r0, ".repeat(MANY)), true);
    check_body(&format!("mov.b32 %r0, 1{};", "+1".repeat(MANY)), true);
    check_body(&format!("mov.b32 %r0, {}1;", "(".repeat(MANY)), false);
    check_body(&format!("mov.b32 %r0, %{};", "x".repeat(MANY)), false);
    check_body(&format!("mov.b32 %r0, {};", "9".repeat(MANY)), false);
    check_body(&format!("mov.b32 %r0, 0.{};", "9".repeat(MANY)), true);
    check_body(&"/* ".repeat(MANY), false);
    check_body(&"{".repeat(MANY), false);
    check_module(&format!(".global .b8 x[] = {{{} 1}};", "1, ".repeat(MANY)), true);
    check_module(&format!(".global .b8 x[] = {};", "{".repeat(MANY)), false);
    check_module(&numbered(|i| format!(".entry k{i}() {{ ret; }}\n")), true);
    check_module(&numbered(|i| format!(".entry k{i}() {{ .reg .b32 %r<65000>; }}\n")), false);
    check_module(&numbered(|i| format!(".global .b8 x{i}[65536] = {{1}};\n")), true);
    check(&"\n".repeat(MANY), false);
    check(&"\"".repeat(MANY), false);
}
