//! The functions of the library in the compiler's tree, read once in a process.

use crate::context::Context;
use crate::read::items::{self, Writer};
use crate::read::library;
use std::sync::OnceLock;
use triton_core::ast;

/// Every function of the library. In a kernel these come before its own functions, so that their numbers are always the
/// same.
pub(crate) fn functions() -> &'static [ast::Function] {
    static FUNCTIONS: OnceLock<Vec<ast::Function>> = OnceLock::new();
    FUNCTIONS.get_or_init(|| {
        let mut cx = Context::of_library(library::names().to_vec());
        library::items().iter().filter_map(|item| items::function(&mut cx, item, Writer::Library)).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::functions;
    use crate::read::library;
    use triton_core::sema::BUILTINS;

    #[test]
    fn every_function_of_the_library_is_read() {
        let read: Vec<&str> = functions().iter().map(|function| function.name.name.as_str()).collect();
        assert_eq!(read, library::names(), "their numbers are their positions");
        let missing: Vec<&str> =
            BUILTINS.iter().filter(|b| b.is_library() && !read.contains(&b.name)).map(|b| b.name).collect();
        assert!(missing.is_empty(), "{missing:?} could not be read");
    }
}
