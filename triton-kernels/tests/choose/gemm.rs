//! The choice and its memory, beside the pools of the library.

#[path = "../../src/gemm/choose.rs"]
mod choose;
#[path = "../../src/gemm/memory.rs"]
mod memory;

/// The library's pools.
mod pools {
    pub(crate) use triton_kernels::gemm::{Form, GemmElement, Precision};
}
