//! Which module names which: the paths of a crate's sources, resolved through `use` and re-exports.
//!
//! Read are tokens, so that paths in macros count, but for those by `$crate`. What a macro like `quote!` writes belongs to another crate, and test
//! modules are apart. A method that is called has no path, and is not followed.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};

/// A module, from the root of its crate: `["layout", "cost"]`. The root is empty.
pub(crate) type Module = Vec<String>;

/// A path in the source.
struct Written {
    module: Module,
    path: Vec<String>,
}

/// Where a path leads.
enum Place {
    /// To a module of the crate.
    Inside(Module),
    /// To another crate: the path from its name on, and the module that declares it.
    Outside(Vec<String>, Module),
}

/// One module that names another.
pub(crate) struct Reference {
    pub(crate) from: Module,
    pub(crate) to: Module,
    /// The file, and the path as it is written.
    pub(crate) location: String,
}

/// The sources of a crate.
#[derive(Default)]
pub(crate) struct Crate {
    modules: BTreeSet<Module>,
    files: BTreeMap<Module, String>,
    /// What `use` declares in a module: the name, and the path as it is written.
    aliases: BTreeMap<(Module, String), Vec<String>>,
    written: Vec<Written>,
}

/// How many re-exports a path may lead through.
const DEPTH: usize = 8;

/// Macros whose tokens are of another crate.
const WRITERS: &[&str] = &["quote", "quote_spanned", "parse_quote", "parse_quote_spanned"];

impl Crate {
    /// Reads files, each with its path from the crate's folder of sources on.
    pub(crate) fn read<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Crate {
        let mut all = Crate::default();
        for (path, text) in files {
            let mut module: Module = path.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
            if module.iter().any(|name| name == "tests") {
                continue;
            }
            if module.last().is_some_and(|last| ["mod", "lib", "main"].contains(&last.as_str())) {
                module.pop();
            }
            all.files.insert(module.clone(), path.to_owned());
            all.add(module.clone());
            let tokens: TokenStream = text.parse().unwrap_or_else(|error| panic!("{path}: {error}"));
            all.tokens(&module, tokens);
        }
        all
    }

    fn add(&mut self, module: Module) {
        for end in 0..=module.len() {
            self.modules.insert(module[..end].to_vec());
        }
    }

    fn tokens(&mut self, module: &Module, tokens: TokenStream) {
        let trees: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < trees.len() {
            let rest = &trees[at..];
            if is_test(rest) {
                at += item(&rest[2..]) + 2;
                continue;
            }
            at += match rest {
                [TokenTree::Ident(writer), TokenTree::Punct(bang), TokenTree::Group(_), ..]
                    if bang.as_char() == '!' && WRITERS.contains(&writer.to_string().as_str()) =>
                {
                    3
                }
                [TokenTree::Ident(word), TokenTree::Ident(name), TokenTree::Group(body), ..] if *word == "mod" => {
                    let mut inner = module.clone();
                    inner.push(name.to_string());
                    self.add(inner.clone());
                    self.tokens(&inner, body.stream());
                    3
                }
                [TokenTree::Ident(word), ..] if *word == "use" => 1 + self.tree(module, &rest[1..], &[]),
                [TokenTree::Ident(_), ..] => {
                    let (length, path) = path_of(rest);
                    // What stands behind a dot is a field or a method.
                    let dot = at > 0 && is_punct(&trees[at - 1], '.') && !(at > 1 && is_punct(&trees[at - 2], '.'));
                    // A path by `$crate` is written where its macro is expanded.
                    let expanded = at > 0 && is_punct(&trees[at - 1], '$') && path[0] == "crate";
                    if !dot && !expanded && path.len() > 1 {
                        self.written.push(Written { module: module.clone(), path });
                    }
                    length
                }
                [TokenTree::Group(group), ..] => {
                    self.tokens(module, group.stream());
                    1
                }
                _ => 1,
            };
        }
    }

    /// Reads what `use` declares, and returns how many trees that was.
    fn tree(&mut self, module: &Module, trees: &[TokenTree], before: &[String]) -> usize {
        let (mut at, mut path) = (0, before.to_vec());
        let mut name = None;
        while at < trees.len() {
            match &trees[at] {
                TokenTree::Ident(word) if *word == "as" => {
                    if let Some(TokenTree::Ident(alias)) = trees.get(at + 1) {
                        name = Some(alias.to_string());
                    }
                    at += 1;
                }
                TokenTree::Ident(word) => path.push(word.to_string()),
                TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                    let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                    let mut start = 0;
                    while start < inner.len() {
                        start += 1 + self.tree(module, &inner[start..], &path);
                    }
                    return at + 1;
                }
                TokenTree::Punct(punct) if matches!(punct.as_char(), ';' | ',') => break,
                TokenTree::Punct(_) | TokenTree::Group(_) | TokenTree::Literal(_) => {}
            }
            at += 1;
        }
        // `use layout::{self, Layout}`.
        if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
            path.pop();
        }
        if let Some(last) = path.last().cloned() {
            self.aliases.insert((module.clone(), name.unwrap_or(last)), path.clone());
            if path.len() > 1 {
                self.written.push(Written { module: module.clone(), path });
            }
        }
        at
    }

    /// Where a path in a module leads to; `None` for what is not a module's.
    fn resolve(&self, module: &Module, path: &[String], depth: usize) -> Option<Place> {
        let (first, rest) = path.split_first()?;
        let (mut at, mut rest) = match first.as_str() {
            "crate" => (Module::new(), rest),
            "self" => (module.clone(), rest),
            "super" => (module.split_last()?.1.to_vec(), rest),
            name => {
                let mut child = module.clone();
                child.push(name.to_owned());
                if self.modules.contains(&child) {
                    (child, rest)
                } else {
                    // A name that nothing declares is a crate's, or of the prelude.
                    let Some(alias) = self.alias(module, name).filter(|alias| *alias != path && depth > 0) else {
                        return Some(Place::Outside(path.to_vec(), module.clone()));
                    };
                    let path: Vec<String> = alias.iter().chain(rest).cloned().collect();
                    return self.resolve(module, &path, depth - 1);
                }
            }
        };
        while let Some((next, after)) = rest.split_first() {
            if next == "super" {
                at.pop()?;
                rest = after;
                continue;
            }
            at.push(next.clone());
            if !self.modules.contains(&at) {
                at.pop();
                // What a module re-exports is where it is defined.
                let alias = self.alias(&at, next).filter(|_| depth > 0);
                let path = alias.map(|alias| alias.iter().chain(after).cloned().collect::<Vec<_>>());
                return path.and_then(|path| self.resolve(&at, &path, depth - 1)).or(Some(Place::Inside(at)));
            }
            rest = after;
        }
        Some(Place::Inside(at))
    }

    /// The modules of the root.
    pub(crate) fn top(&self) -> BTreeSet<String> {
        self.modules.iter().filter(|module| module.len() == 1).map(|module| module[0].clone()).collect()
    }

    /// The modules at the roots of other crates that this one names, each with the module that names it and where. What a crate re-exports
    /// of another one is that one's.
    pub(crate) fn names_in(&self, others: &[(&str, &Crate)]) -> Vec<Reference> {
        let mut all = Vec::new();
        for Written { module, path } in &self.written {
            let mut place = self.resolve(module, path, DEPTH);
            let to = loop {
                let Some(Place::Outside(outside, _)) = place else { break None };
                let Some((_, other)) = others.iter().find(|(name, _)| *name == outside[0]) else { break None };
                let inside: Vec<String> =
                    ["crate".to_owned()].into_iter().chain(outside[1..].iter().cloned()).collect();
                place = other.resolve(&Module::new(), &inside, DEPTH);
                if let Some(Place::Inside(to)) = place {
                    break Some(to);
                }
            };
            let to = to.filter(|to| !to.is_empty());
            all.extend(to.map(|to| Reference { from: module.clone(), to, location: self.location(module, path) }));
        }
        all
    }

    fn location(&self, module: &Module, path: &[String]) -> String {
        let file = (0..=module.len()).rev().find_map(|end| self.files.get(&module[..end]));
        format!("{}, as `{}`", file.map_or("", String::as_str), path.join("::"))
    }

    fn alias(&self, module: &Module, name: &str) -> Option<&Vec<String>> {
        self.aliases.get(&(module.clone(), name.to_owned()))
    }

    /// Every module that names another one.
    pub(crate) fn references(&self) -> Vec<Reference> {
        let mut all = Vec::new();
        for Written { module, path } in &self.written {
            let Some(Place::Inside(to) | Place::Outside(_, to)) = self.resolve(module, path, DEPTH) else { continue };
            if to == *module {
                continue;
            }
            all.push(Reference { from: module.clone(), to, location: self.location(module, path) });
        }
        all
    }
}

/// The two modules of one folder that a reference leads from and to, as that folder's children; `None` within one of them.
pub(crate) fn siblings(reference: &Reference) -> Option<(Module, Module)> {
    let Reference { from, to, .. } = reference;
    let common = from.iter().zip(to).take_while(|(a, b)| a == b).count();
    (from.len() > common && to.len() > common).then(|| (from[..=common].to_vec(), to[..=common].to_vec()))
}

/// `#[cfg(test)]`, with whatever else it asks.
fn is_test(trees: &[TokenTree]) -> bool {
    let [TokenTree::Punct(hash), TokenTree::Group(attribute), ..] = trees else { return false };
    let words = attribute.stream().to_string().replace(' ', "");
    hash.as_char() == '#' && (words == "cfg(test)" || words == "test")
}

/// How many trees an item has: up to its body or its semicolon.
fn item(trees: &[TokenTree]) -> usize {
    let ends = |tree: &TokenTree| match tree {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        TokenTree::Punct(punct) => punct.as_char() == ';',
        TokenTree::Ident(_) | TokenTree::Literal(_) => false,
    };
    trees.iter().position(ends).map_or(trees.len(), |end| end + 1)
}

fn is_punct(tree: &TokenTree, wanted: char) -> bool {
    matches!(tree, TokenTree::Punct(punct) if punct.as_char() == wanted)
}

/// The path that trees begin with, and how many of them it is.
fn path_of(trees: &[TokenTree]) -> (usize, Vec<String>) {
    let (mut path, mut at) = (Vec::new(), 0);
    while let Some(TokenTree::Ident(name)) = trees.get(at) {
        path.push(name.to_string());
        at += 1;
        match trees.get(at..at + 2) {
            Some([a, b]) if is_punct(a, ':') && is_punct(b, ':') => at += 2,
            _ => break,
        }
    }
    (at.max(1), path)
}
