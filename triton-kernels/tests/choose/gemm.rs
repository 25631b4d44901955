//! The choice and its memory, beside the pools of the library.

#[path = "../../src/linear/choose.rs"]
mod choose;
#[path = "../../src/linear/memory.rs"]
mod memory;

/// The library's pools.
mod pools {
    pub(crate) use triton_kernels::linear::{Form, GemmElement, Precision, Told};
}
