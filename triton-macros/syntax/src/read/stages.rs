//! `#[stages(n)]` before a `for`: how many tiles of a product's operand its loop holds at a time.

use syn::{Attribute, Expr};

/// Whether an attribute is this one.
pub(crate) fn is_stages(attr: &Attribute) -> bool {
    attr.path().is_ident("stages")
}

/// What stands between its parentheses, if that is one expression.
pub(crate) fn number(attr: &Attribute) -> Option<Expr> {
    attr.parse_args().ok()
}
