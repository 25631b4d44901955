//! Lowering of matrix products: operands as fragments or in shared memory, `mma.sync` and `wgmma`.

pub(crate) mod dot;
pub(crate) mod fragments;
pub(crate) mod wgmma;
