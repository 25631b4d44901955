//! Lowering of loops and branches, and of which program a block runs.

pub(crate) mod program;
pub(crate) mod regions;
