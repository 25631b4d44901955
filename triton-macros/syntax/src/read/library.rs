//! Functions of the language that are written in it: the texts in `library/`, and the number of each function.

use std::sync::OnceLock;
use syn::{File, Item, ItemFn};

/// The texts.
const TEXTS: &[&str] = &[include_str!("../../library/math.rs"), include_str!("../../library/math_f64.rs")];

/// The functions as they are written.
pub(crate) fn items() -> Vec<ItemFn> {
    let files = TEXTS.iter().filter_map(|text| syn::parse_str::<File>(text).ok());
    let items = files.flat_map(|file| file.items);
    items.filter_map(|item| if let Item::Fn(item) = item { Some(item) } else { None }).collect()
}

/// Their names.
pub(crate) fn names() -> &'static [String] {
    static NAMES: OnceLock<Vec<String>> = OnceLock::new();
    NAMES.get_or_init(|| items().iter().map(|item| item.sig.ident.to_string()).collect())
}

/// The number of a function of the library.
pub(crate) fn index(name: &str) -> Option<usize> {
    names().iter().position(|function| function == name)
}
