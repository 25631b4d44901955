//! What was written: options, signature and body, from `syn` to the compiler's tree.
//!
//! Everything here judges one item by itself. What it names elsewhere is in [`Context::names`](crate::context::Context), by number,
//! and what is not part of the language is reported at its span.

pub(crate) mod body;
pub(crate) mod configure;
pub(crate) mod depth;
pub(crate) mod instances;
pub(crate) mod items;
pub(crate) mod library;
pub(crate) mod options;
pub(crate) mod path;
mod reject;
pub(crate) mod scope;
pub(crate) mod signature;
pub(crate) mod stages;
mod suggest;
pub(crate) mod surroundings;
pub(crate) mod tune;
