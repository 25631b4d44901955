//! Memory that a kernel on the CPU device may access besides buffers.

/// Bytes that are accessible as long as what they were made of is borrowed.
///
/// **Invariant:** it is made by an `unsafe` function, whose caller vouches for the memory, or of a borrowed slice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reach {
    pub(crate) address: u64,
    pub(crate) bytes: u64,
}
