//! Functions of the language that are written in it: read from `library/`, once in a process.

use crate::context::Context;
use crate::read::items::{self, Writer};
use std::sync::OnceLock;
use triton_core::ast;

/// The texts.
const TEXTS: &[&str] = &[include_str!("../../library/math.rs")];

/// Every function of the library. In a kernel these come before its own functions, so that their numbers are always the
/// same.
pub(crate) fn functions() -> &'static [ast::Function] {
    static FUNCTIONS: OnceLock<Vec<ast::Function>> = OnceLock::new();
    FUNCTIONS.get_or_init(|| {
        let files = TEXTS.iter().filter_map(|text| syn::parse_str::<syn::File>(text).ok());
        let items: Vec<_> = files.flat_map(|file| file.items).collect();
        let items: Vec<_> =
            items.iter().filter_map(|item| if let syn::Item::Fn(item) = item { Some(item) } else { None }).collect();
        let names: Vec<String> = items.iter().map(|item| item.sig.ident.to_string()).collect();
        let mut cx = Context::of_library(names);
        items.iter().filter_map(|item| items::function(&mut cx, item, Writer::Library)).collect()
    })
}

/// The number of a function of the library.
pub(crate) fn index(name: &str) -> Option<usize> {
    functions().iter().position(|function| function.name.name == name)
}

#[cfg(test)]
mod tests {
    use super::functions;
    use triton_core::sema::BUILTINS;

    #[test]
    fn every_function_of_the_library_is_read() {
        let read: Vec<&str> = functions().iter().map(|function| function.name.name.as_str()).collect();
        let missing: Vec<&str> =
            BUILTINS.iter().filter(|b| b.is_library() && !read.contains(&b.name)).map(|b| b.name).collect();
        assert!(missing.is_empty(), "{missing:?} could not be read");
    }
}
