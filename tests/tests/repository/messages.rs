//! Every message that the compiler and the attributes can give has a case under `tests/messages`: the literal parts of the text of
//! each error that the sources construct are found in some expected text.

use std::path::{Path, PathBuf};
use syn::visit::{self, Visit};
use syn::{Expr, ExprCall, ExprLit, ExprMethodCall, Lit, Local, Macro, Pat};

/// Messages without a case, and why.
const WITHOUT: &[(&str, &str)] = &[
    ("this literal is not a number of `f32`", "every float literal is one"),
    ("this is called by the attributes of `triton`, not by hand", "no case does"),
];

/// The texts that are given to `Diagnostic::new`, `error` and `diagnostic`, with their codes.
#[derive(Default)]
struct Messages {
    found: Vec<(String, String)>,
    /// The texts that variables of this function hold.
    bound: Vec<(String, String)>,
}

impl Messages {
    fn constructed(&mut self, code: &Expr, message: &Expr) {
        let Expr::Path(code) = code else { return };
        let Some(code) = code.path.segments.last().map(|segment| segment.ident.to_string()) else { return };
        for text in self.texts(message) {
            self.found.push((code.clone(), text));
        }
    }

    /// The literals that an expression is made of: a literal, `format!`, a variable, the branches of an `if`.
    #[expect(clippy::wildcard_enum_match_arm, reason = "syn has some forty kinds of expressions")]
    fn texts(&self, message: &Expr) -> Vec<String> {
        match message {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => vec![text.value()],
            Expr::Macro(call) => literal_of(&call.mac).into_iter().collect(),
            Expr::Reference(reference) => self.texts(&reference.expr),
            Expr::MethodCall(call) => self.texts(&call.receiver),
            Expr::Path(path) => {
                let name = path.path.get_ident().map(ToString::to_string).unwrap_or_default();
                self.bound.iter().filter(|(bound, _)| *bound == name).map(|(_, text)| text.clone()).collect()
            }
            _ => Vec::new(),
        }
    }
}

fn literal_of(call: &Macro) -> Option<String> {
    let first = call.tokens.clone().into_iter().next()?;
    Some(syn::parse2::<syn::LitStr>(first.into()).ok()?.value())
}

struct Literals(Vec<String>);

impl<'a> Visit<'a> for Literals {
    fn visit_lit_str(&mut self, text: &'a syn::LitStr) {
        self.0.push(text.value());
    }
    fn visit_macro(&mut self, call: &'a Macro) {
        self.0.extend(literal_of(call));
    }
}

impl<'a> Visit<'a> for Messages {
    fn visit_item_fn(&mut self, item: &'a syn::ItemFn) {
        self.bound.clear();
        visit::visit_item_fn(self, item);
    }
    fn visit_impl_item_fn(&mut self, item: &'a syn::ImplItemFn) {
        self.bound.clear();
        visit::visit_impl_item_fn(self, item);
    }
    fn visit_item_mod(&mut self, item: &'a syn::ItemMod) {
        if item.ident != "tests" {
            visit::visit_item_mod(self, item);
        }
    }
    fn visit_local(&mut self, local: &'a Local) {
        visit::visit_local(self, local);
        if let (Pat::Ident(name), Some(init)) = (&local.pat, &local.init)
            && name.ident == "message"
        {
            let mut literals = Literals(Vec::new());
            literals.visit_expr(&init.expr);
            self.bound.extend(literals.0.into_iter().map(|text| ("message".to_owned(), text)));
        }
    }
    fn visit_expr_call(&mut self, call: &'a ExprCall) {
        visit::visit_expr_call(self, call);
        let function = if let Expr::Path(path) = &*call.func { path.path.segments.last() } else { None };
        if let (Some(function), [code, _, message]) = (function, &call.args.iter().collect::<Vec<_>>()[..])
            && function.ident == "new"
        {
            self.constructed(code, message);
        }
    }
    fn visit_expr_method_call(&mut self, call: &'a ExprMethodCall) {
        visit::visit_expr_method_call(self, call);
        if let [code, _, message] = &call.args.iter().collect::<Vec<_>>()[..]
            && (call.method == "error" || call.method == "diagnostic")
        {
            self.constructed(code, message);
        }
    }
}

/// Whether the parts of a text between its placeholders `{..}` appear in this order in one line.
fn shown(message: &str, line: &str) -> bool {
    let (mut parts, mut depth) = (vec![String::new()], 0);
    for c in message.replace("{{", "\u{1}").replace("}}", "\u{2}").chars() {
        match c {
            '{' => depth += 1,
            '}' => {
                depth -= 1;
                parts.push(String::new());
            }
            _ if depth > 0 => {}
            c => parts.last_mut().expect("a part").push(match c {
                '\u{1}' => '{',
                '\u{2}' => '}',
                c => c,
            }),
        }
    }
    let mut rest = line;
    parts.iter().all(|part| match rest.find(part.as_str()) {
        Some(at) => {
            rest = &rest[at + part.len()..];
            true
        }
        None => false,
    })
}

fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder of the repository").flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files(&path, extension));
        } else if path.extension().is_some_and(|e| e == extension) {
            found.push(path);
        }
    }
    found.sort();
    found
}

#[test]
fn every_message_has_a_case() {
    let root = &triton_tests::root();
    let text = |path: &PathBuf| std::fs::read_to_string(path).expect("a file of the repository");
    let expected = triton_tests::annotate::expected();
    let lines: Vec<&str> = expected.lines().collect();
    let (mut missing, mut count) = (Vec::new(), 0);
    for folder in ["triton-core/src", "triton-macros/syntax/src"] {
        for path in files(&root.join(folder), "rs") {
            let mut messages = Messages::default();
            messages.visit_file(&syn::parse_file(&text(&path)).expect("Rust"));
            for (code, message) in messages.found.iter().filter(|(code, _)| code != "T0199") {
                count += 1;
                let excused = WITHOUT.iter().any(|(without, _)| without == message);
                if !excused && !lines.iter().any(|line| shown(message, line)) {
                    missing.push(format!("{}: {code}: {message}", path.strip_prefix(root).unwrap_or(&path).display()));
                }
            }
        }
    }
    assert!(count > 150, "only {count} messages were found");
    missing.dedup();
    assert!(missing.is_empty(), "{} of {count} messages have no case:\n{}", missing.len(), missing.join("\n"));
}
