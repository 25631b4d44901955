//! The surroundings of an item in its file: an attribute is only given its own item, and two mistakes are only visible
//! from outside.
//!
//! A kernel in an `impl` expands to items that an `impl` cannot hold, and a function without its attribute has no macro for
//! kernels: rustc's errors would be about generated items. The file is read once for each crate that is built. A token
//! of a parsed text has no position, so an item is found by its text; one that is not found, such as one that a macro
//! writes, is rustc's to judge.

use crate::context::Context;
use crate::environment;
use proc_macro2::Span;
use quote::ToTokens;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use syn::visit::{self, Visit};
use syn::{Attribute, Block, File, ImplItemFn, Item, ItemConst, ItemFn, ItemMod, Path, Signature, Stmt, TraitItemFn};
use triton_core::diag::Code;

/// An item's location in its file.
#[derive(Clone)]
struct Found {
    /// Whether an `impl` or a `trait` holds it.
    associated: bool,
    /// Items declared around it without an attribute of `triton`: names, and the kind of each.
    plain: BTreeMap<String, Plain>,
}

#[derive(Clone, Copy)]
enum Plain {
    Function,
    Constant,
    Struct,
}

impl Plain {
    /// What it is called, and the attribute that it lacks.
    fn describe(self) -> (&'static str, &'static str) {
        match self {
            Plain::Function => ("function", "function"),
            Plain::Constant => ("constant", "constant"),
            Plain::Struct => ("struct", "params"),
        }
    }
}

/// The items of a file by their texts; `None` for a repeated text.
type Index = BTreeMap<String, Option<Found>>;

/// Reports a kernel or function that is in an `impl` or a `trait`, and says whether it does.
pub(crate) fn refuse_associated(cx: &mut Context, written: &ItemFn, what: &str) -> bool {
    let name = &written.sig.ident;
    if environment::column(name.span()) <= 1
        || !found(name.span(), &text(&written.sig, &written.block)).is_some_and(|f| f.associated)
    {
        return false;
    }
    let problem =
        cx.diagnostic(Code::T0002, name, format!("{what} must be in a module or a function, not in an `impl`"));
    cx.report(problem.help("move it out of the `impl`, and pass what it needs as parameters"));
    true
}

/// Reports what a function uses that is declared beside it without its attribute, and leaves the rest. Returns whether
/// there is a struct among it, so that no signature can be made of the function's.
pub(crate) fn refuse_plain_uses(cx: &mut Context, written: &ItemFn, uses: &mut Vec<Path>) -> bool {
    report(cx, uses, written.sig.ident.span(), &text(&written.sig, &written.block))
}

/// The same for a constant.
pub(crate) fn refuse_plain_uses_of_constant(cx: &mut Context, written: &ItemConst, uses: &mut Vec<Path>) -> bool {
    report(cx, uses, written.ident.span(), &text_of_constant(written))
}

/// Whether a constant that a function uses may have the attribute: it is not declared in the same file without it.
pub(crate) fn may_be_for_kernels(written: &ItemFn, path: &Path) -> bool {
    let found = found(written.sig.ident.span(), &text(&written.sig, &written.block));
    found.is_some_and(|found| path.get_ident().is_none_or(|name| !found.plain.contains_key(&name.to_string())))
}

fn report(cx: &mut Context, uses: &mut Vec<Path>, span: Span, text: &str) -> bool {
    if uses.iter().all(|path| path.get_ident().is_none()) {
        return false;
    }
    let (Some(found), mut structs) = (found(span, text), false) else { return false };
    uses.retain(|path| {
        let plain = path.get_ident().and_then(|name| Some((name, found.plain.get(&name.to_string())?)));
        let Some((name, plain)) = plain else { return true };
        structs |= matches!(plain, Plain::Struct);
        let (what, attribute) = plain.describe();
        let problem = cx.diagnostic(Code::T0129, name, format!("the {what} `{name}` is not known to kernels"));
        cx.report(problem.help(format!("write `#[triton::{attribute}]` above it")));
        false
    });
    structs
}

fn text(sig: &Signature, block: &Block) -> String {
    format!("{} {}", sig.to_token_stream(), block.to_token_stream())
}

fn text_of_constant(item: &ItemConst) -> String {
    format!("const {} {}", item.ident, item.expr.to_token_stream())
}

/// Where the file of this token has an item of this text.
fn found(span: Span, text: &str) -> Option<Found> {
    static FILES: Mutex<BTreeMap<PathBuf, Arc<Index>>> = Mutex::new(BTreeMap::new());
    let path = environment::file(span)?;
    let mut files = FILES.lock().unwrap_or_else(PoisonError::into_inner);
    let index = match files.get(&path) {
        Some(index) => Arc::clone(index),
        None => {
            let read = std::fs::read_to_string(&path).ok().and_then(|text| syn::parse_file(&text).ok());
            let index = Arc::new(read.map(|file| index(&file)).unwrap_or_default());
            files.insert(path, Arc::clone(&index));
            index
        }
    };
    index.get(text)?.clone()
}

fn index(file: &File) -> Index {
    let mut search = Search { scopes: vec![plain(file.items.iter())], index: Index::new() };
    visit::visit_file(&mut search, file);
    search.index
}

/// The items that kernels do not know. An attribute that may be one of ours under another name makes an item one they may know.
fn plain<'a>(items: impl Iterator<Item = &'a Item>) -> BTreeMap<String, Plain> {
    let harmless =
        ["doc", "allow", "expect", "warn", "deny", "cfg", "inline", "must_use", "derive", "deprecated", "repr"];
    let bare = |attrs: &[Attribute]| attrs.iter().all(|attr| harmless.iter().any(|name| attr.path().is_ident(name)));
    let mut found = BTreeMap::new();
    for item in items {
        #[allow(clippy::wildcard_enum_match_arm, reason = "syn's enum is not exhaustive")]
        let (attrs, name, what) = match item {
            Item::Fn(item) => (&item.attrs, &item.sig.ident, Plain::Function),
            Item::Const(item) => (&item.attrs, &item.ident, Plain::Constant),
            Item::Struct(item) => (&item.attrs, &item.ident, Plain::Struct),
            _ => continue,
        };
        if bare(attrs) {
            found.insert(name.to_string(), what);
        } else {
            found.remove(&name.to_string());
        }
    }
    found
}

struct Search {
    /// What the modules and blocks around declare, from the outside in.
    scopes: Vec<BTreeMap<String, Plain>>,
    index: Index,
}

impl Search {
    fn add(&mut self, text: String, associated: bool) {
        let plain =
            self.scopes.iter().flat_map(|scope| scope.iter().map(|(name, what)| (name.clone(), *what))).collect();
        self.index.entry(text).and_modify(|found| *found = None).or_insert(Some(Found { associated, plain }));
    }
}

impl<'a> Visit<'a> for Search {
    fn visit_item_mod(&mut self, module: &'a ItemMod) {
        // A module does not see what is around it.
        let items = module.content.iter().flat_map(|(_, items)| items);
        let outside = std::mem::replace(&mut self.scopes, vec![plain(items)]);
        visit::visit_item_mod(self, module);
        self.scopes = outside;
    }

    fn visit_block(&mut self, block: &'a Block) {
        self.scopes
            .push(plain(block.stmts.iter().filter_map(|s| if let Stmt::Item(item) = s { Some(item) } else { None })));
        visit::visit_block(self, block);
        self.scopes.pop();
    }

    fn visit_item_fn(&mut self, item: &'a ItemFn) {
        self.add(text(&item.sig, &item.block), false);
        visit::visit_item_fn(self, item);
    }

    fn visit_item_const(&mut self, item: &'a ItemConst) {
        self.add(text_of_constant(item), false);
        visit::visit_item_const(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'a ImplItemFn) {
        self.add(text(&item.sig, &item.block), true);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'a TraitItemFn) {
        if let Some(block) = &item.default {
            self.add(text(&item.sig, block), true);
        }
        visit::visit_trait_item_fn(self, item);
    }
}
