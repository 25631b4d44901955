//! PTX as text, and what a module declares beside its instructions.

pub(crate) mod footprint;
pub(crate) mod lines;
pub(crate) mod locations;
pub mod print;
