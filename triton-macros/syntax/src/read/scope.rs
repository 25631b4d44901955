//! Functions that nothing can have brought into scope, told from the text of the file.
//!
//! A function for kernels is asked for by the hidden macro of its name, and of one that does not exist rustc says that it cannot find a
//! macro, which the user never called. A name is in scope only if the file declares or imports it, imports everything of some module, or
//! has a macro write its items. If none of that can be, the error is ours, with what to write instead; in every other case it is rustc's.

use crate::context::Context;
use crate::environment;
use crate::read::suggest::nearest;
use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use syn::Path;
use syn::ext::IdentExt;
use triton_core::diag::Code;
use triton_core::sema::{BUILTINS, replacement, reserved};

/// Reports the functions among these that cannot be in scope, and leaves the rest.
pub(crate) fn refuse_unknown(cx: &mut Context, uses: &mut Vec<Path>) {
    uses.retain(|path| {
        let Some(name) = path.get_ident() else { return true };
        let text = name.unraw().to_string();
        // Of a reserved name the reader of the body says what to write, wherever the name is from.
        if reserved(&text).is_some() || !cannot_be_in_scope(name) {
            return true;
        }
        let help = match (replacement(&text), nearest(&text, BUILTINS.iter().map(|builtin| builtin.name))) {
            (Some(help), _) => help.to_owned(),
            (None, Some(near)) => format!("did you mean `{near}`?"),
            (None, None) => {
                "import it with `use`; a function that kernels call is marked `#[triton::function]`".to_owned()
            }
        };
        let problem = cx.diagnostic(Code::T0129, name, format!("there is no function `{text}` in scope"));
        cx.report(problem.help(help));
        false
    });
}

/// What a file may bring into scope.
#[derive(Debug, Default)]
struct Names {
    /// Every name that stands for anything but a call of it.
    mentioned: BTreeSet<String>,
    /// Whether names that the file does not mention may be in scope.
    open: bool,
    lines: Vec<String>,
}

fn cannot_be_in_scope(name: &Ident) -> bool {
    let Some(names) = names(name.span()) else { return false };
    let text = name.unraw().to_string();
    names.has(name.span(), &text) && !names.open && !names.mentioned.contains(&text)
}

/// The names of the file of a token, read once for each crate that is built.
fn names(span: Span) -> Option<Arc<Names>> {
    static FILES: Mutex<BTreeMap<PathBuf, Option<Arc<Names>>>> = Mutex::new(BTreeMap::new());
    let path = environment::file(span)?;
    let mut files = FILES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = files.get(&path) {
        return known.clone();
    }
    let read = std::fs::read_to_string(&path).ok().and_then(|text| Names::of(&text)).map(Arc::new);
    files.insert(path, read.clone());
    read
}

/// Macros that declare no items.
const HARMLESS: &[&str] = &[
    "assert",
    "assert_eq",
    "assert_ne",
    "debug_assert",
    "debug_assert_eq",
    "debug_assert_ne",
    "println",
    "print",
    "eprintln",
    "eprint",
    "panic",
    "todo",
    "unreachable",
    "unimplemented",
    "vec",
    "format",
    "write",
    "writeln",
    "dbg",
    "matches",
    "env",
    "concat",
    "stringify",
    "compile_error",
    "thread_local",
];

impl Names {
    /// `None` if the text is not Rust.
    fn of(text: &str) -> Option<Names> {
        let tokens: TokenStream = text.parse().ok()?;
        let mut names = Names { lines: text.lines().map(str::to_owned).collect(), ..Names::default() };
        let mut macros = BTreeMap::new();
        declared_macros(&tokens, &mut macros);
        names.walk(tokens, 0, &macros);
        // The text of an `include!` has the names of the file that includes it.
        names.open |= !names.mentioned.contains("prelude");
        Some(names)
    }

    /// Whether the name is written at this location: the lines of an example in a comment are counted otherwise.
    fn has(&self, span: Span, name: &str) -> bool {
        let Some(line) = span.start().line.checked_sub(1).and_then(|line| self.lines.get(line)) else { return false };
        let rest: String = line.chars().skip(span.start().column).collect();
        !line.trim_start().starts_with("//") && rest.strip_prefix("r#").unwrap_or(&rest).starts_with(name)
    }

    /// Looks through tokens that are `depth` modules deep in the file.
    fn walk(&mut self, tokens: TokenStream, depth: usize, macros: &BTreeMap<String, Declared>) {
        let trees: Vec<TokenTree> = tokens.into_iter().collect();
        for (at, tree) in trees.iter().enumerate() {
            let before = |n: usize| at.checked_sub(n).and_then(|at| trees.get(at));
            match tree {
                TokenTree::Ident(name) => {
                    let text = name.unraw().to_string();
                    let declares = matches!(before(1), Some(TokenTree::Ident(word)) if *word == "fn");
                    let method = is_punct(before(1), '.');
                    if declares || !(method || is_called(&trees[at + 1..])) {
                        self.mentioned.insert(text.clone());
                    }
                    if is_punct(trees.get(at + 1), '!') && text != "macro_rules" {
                        self.open |=
                            !HARMLESS.contains(&text.as_str()) && !matches!(macros.get(&text), Some(d) if !d.opaque);
                    }
                }
                TokenTree::Punct(star) if star.as_char() == '*' && is_path(before(1), before(2)) => {
                    self.open |= !is_harmless_glob(&trees[..at - 2], depth);
                }
                TokenTree::Group(group) => {
                    // `use a::{b, *};`
                    let list = group.delimiter() == Delimiter::Brace && is_path(before(1), before(2));
                    self.open |= list && group.stream().into_iter().any(|tree| is_punct(Some(&tree), '*'));
                    // What a macro calls is looked up where it is used.
                    if matches!(before(3), Some(TokenTree::Ident(word)) if *word == "macro_rules") {
                        self.mentioned.extend(flattened(&group.stream()));
                    }
                    // The names that such a macro is given it only calls.
                    let called = if is_punct(before(1), '!') { before(2) } else { None };
                    let known = called.and_then(|name| macros.get(&name.to_string()));
                    if known.is_some_and(|declared| declared.only_calls) && !declares_items(&group.stream()) {
                        continue;
                    }
                    let module = matches!(before(2), Some(TokenTree::Ident(word)) if *word == "mod");
                    self.walk(group.stream(), depth + usize::from(module), macros);
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
        }
    }
}

/// What a `macro_rules!` of the file may do with names.
struct Declared {
    /// It calls macros that are not known.
    opaque: bool,
    /// It takes names, types and expressions, and declares nothing that is called so.
    only_calls: bool,
}

fn declared_macros(tokens: &TokenStream, found: &mut BTreeMap<String, Declared>) {
    let trees: Vec<TokenTree> = tokens.clone().into_iter().collect();
    for (at, tree) in trees.iter().enumerate() {
        if let TokenTree::Group(group) = tree {
            let before = |n: usize| at.checked_sub(n).map(|at| trees[at].to_string());
            if before(3).as_deref() == Some("macro_rules") {
                let flat = flattened(&group.stream());
                let has = |words: &[&str]| flat.windows(words.len()).any(|found| found == words);
                let kinds = ["tt", "item", "block", "stmt", "meta"];
                let takes_tokens = kinds.iter().any(|kind| has(&[":", kind]));
                let words = ["fn", "as", "use", "const", "static", "struct", "enum", "type", "trait"];
                let declares = words.iter().any(|word| has(&[word, "$"]));
                let uses = flat
                    .iter()
                    .enumerate()
                    .filter(|(_, word)| *word == "use")
                    .any(|(at, _)| flat[at..].iter().take_while(|word| *word != ";").any(|word| word == "$"));
                let calls = flat.windows(2).filter(|pair| pair[1] == "!").map(|pair| pair[0].as_str());
                let opaque =
                    calls.clone().any(|name| !HARMLESS.contains(&name) && name.starts_with(char::is_alphabetic));
                let only_calls = !(takes_tokens || declares || uses || opaque);
                found.insert(before(1).unwrap_or_default(), Declared { opaque, only_calls });
            }
            declared_macros(&group.stream(), found);
        }
    }
}

fn flattened(tokens: &TokenStream) -> Vec<String> {
    let flat = |tree: TokenTree| match tree {
        TokenTree::Group(group) => flattened(&group.stream()),
        TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => vec![tree.to_string()],
    };
    tokens.clone().into_iter().flat_map(flat).collect()
}

fn declares_items(tokens: &TokenStream) -> bool {
    flattened(tokens).iter().any(|word| matches!(word.as_str(), "fn" | "use" | "macro_rules"))
}

fn is_punct(tree: Option<&TokenTree>, wanted: char) -> bool {
    matches!(tree, Some(TokenTree::Punct(punct)) if punct.as_char() == wanted)
}

/// Whether these are the two tokens of `::`, the last one first.
fn is_path(last: Option<&TokenTree>, first: Option<&TokenTree>) -> bool {
    is_punct(last, ':') && is_punct(first, ':')
}

/// Whether what follows a name calls it: `(..)`, `::<..>(..)`.
fn is_called(after: &[TokenTree]) -> bool {
    match after {
        [TokenTree::Group(group), ..] => group.delimiter() == Delimiter::Parenthesis,
        [a, b, c, ..] => is_path(Some(b), Some(a)) && is_punct(Some(c), '<'),
        _ => false,
    }
}

/// Whether all that a path brings into scope is known: the language, the standard library, and a module around that is in this file.
fn is_harmless_glob(before: &[TokenTree], depth: usize) -> bool {
    let of_path =
        |tree: &&TokenTree| matches!(tree, TokenTree::Ident(word) if *word != "use") || is_punct(Some(tree), ':');
    let path = before.iter().rev().take_while(of_path);
    let mut path: Vec<String> =
        path.filter(|tree| matches!(tree, TokenTree::Ident(_))).map(ToString::to_string).collect();
    path.reverse();
    let facade = environment::root().into_iter().last().map(|name| name.to_string());
    match path.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["std" | "core" | "alloc", ..] => true,
        [first, "prelude" | "lang"] => first == "triton" || facade.as_deref() == Some(first),
        ref supers => !supers.is_empty() && supers.len() <= depth && supers.iter().all(|word| *word == "super"),
    }
}

#[cfg(test)]
mod tests {
    use super::Names;

    fn may_be(text: &str) -> bool {
        let names = Names::of(&format!("use triton::prelude::*; {text}")).expect("Rust");
        names.open || names.mentioned.contains("rand")
    }

    #[test]
    fn a_name_that_is_only_called_is_not_in_scope() {
        for text in [
            "fn k() { rand(1); }",
            "fn k() { rand::<f32>(1); }",
            "fn k() { x.rand(1); y.rand }",
            "fn k() { other::rand(1); }",
            "mod tests { use super::*; fn k() { rand(1); } }",
            "use std::collections::*; fn k() { let a = 2 * rand(1); vec![1] }",
            "macro_rules! kernels { ($($n:ident)*) => { $(mod $n { fn k() { $n(1); } })* } } kernels!(rand);",
        ] {
            assert!(!may_be(text), "{text}");
        }
    }

    #[test]
    fn a_name_that_a_file_may_declare_or_import_is_left_to_rustc() {
        for text in [
            "use triton_kernels::functions::rand;",
            "use triton_kernels::functions::{philox, rand as noise};",
            "use triton_kernels::functions::*;",
            "use triton_kernels::{functions::{philox, *}};",
            "use super::*;",
            "mod a { mod b { use super::super::super::*; } }",
            "use crate::prelude::*;",
            "fn rand() {}",
            "fn k(rand: i32) { rand(1); }",
            "fn k() { map(x, rand); }",
            "include!(\"functions.rs\");",
            "macro_rules! kernels { () => { fn k() { rand(1); } } }",
            "my_functions! {}",
            "macro_rules! function { ($n:ident) => { fn $n() {} } } function!(rand);",
            "macro_rules! imports { ($n:ident) => { use a::{b, $n}; } } imports!(rand);",
            "macro_rules! passes { ($($t:tt)*) => { $($t)* } } passes! { fn rand() {} }",
            "macro_rules! hides { () => { other! {} } } hides!();",
        ] {
            assert!(may_be(text), "{text}");
        }
    }
}
