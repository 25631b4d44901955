//! Where mutations begin: every kernel and function of the repository's examples, tests and benchmarks.

use proc_macro2::TokenStream;
use quote::ToTokens;
use std::path::{Path, PathBuf};
use syn::visit::{self, Visit};

/// An item with its attribute's arguments.
#[derive(Clone, Debug)]
pub struct Seed {
    /// Between the attribute's parentheses.
    pub args: TokenStream,
    /// The item without the attribute.
    pub item: TokenStream,
}

/// Every item of the repository that one of the attributes stands on, in the order of the files' names.
pub fn seeds() -> Vec<Seed> {
    let root = crate::root();
    let mut found = Found(Vec::new());
    for folder in ["examples", "tests", "tools/benchmarks/src"] {
        for file in rust_files(&root.join(folder)) {
            let text = std::fs::read_to_string(file).unwrap_or_default();
            if let Ok(file) = syn::parse_file(&text) {
                found.visit_file(&file);
            }
        }
    }
    found.0
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    let files = paths.into_iter().flat_map(|path| {
        let target = path.file_name().is_some_and(|name| name == "target");
        match path.extension() {
            Some(extension) if extension == "rs" => vec![path],
            _ if path.is_dir() && !target => rust_files(&path),
            _ => Vec::new(),
        }
    });
    files.collect()
}

struct Found(Vec<Seed>);

impl Found {
    fn add(&mut self, attrs: &[syn::Attribute], item: &impl ToTokens) {
        let names = ["kernel", "function", "constant", "params"];
        let own = |attr: &&syn::Attribute| {
            attr.path().segments.len() == 2 && names.iter().any(|name| attr.path().segments[1].ident == name)
        };
        let Some(attr) = attrs.iter().find(own) else { return };
        let args = if let syn::Meta::List(list) = &attr.meta { list.tokens.clone() } else { TokenStream::new() };
        self.0.push(Seed { args, item: item.to_token_stream() });
    }
}

impl<'a> Visit<'a> for Found {
    fn visit_item_fn(&mut self, item: &'a syn::ItemFn) {
        let mut bare = item.clone();
        bare.attrs.clear();
        self.add(&item.attrs, &bare);
        visit::visit_item_fn(self, item);
    }

    fn visit_item_const(&mut self, item: &'a syn::ItemConst) {
        let mut bare = item.clone();
        bare.attrs.clear();
        self.add(&item.attrs, &bare);
    }

    fn visit_item_struct(&mut self, item: &'a syn::ItemStruct) {
        let mut bare = item.clone();
        bare.attrs.clear();
        self.add(&item.attrs, &bare);
    }
}
