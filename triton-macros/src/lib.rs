//! The attribute `#[triton::kernel]`.
