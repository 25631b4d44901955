//! The kernels of attention.
//!
//! Scores live in registers, a tile at a time, and are never stored (Dao, Fu, Ermon, Rudra and Ré, "FlashAttention: fast and memory-efficient exact
//! attention with IO-awareness", 2022, algorithms 1 and 4; Dao, "FlashAttention-2", 2023, for the order of loops). Key j is seen by query i if
//! i + shift − left ≤ j ≤ i + shift + right, where shift is the number of keys less that of queries: the last query sees the last key.

pub(super) mod backward;
pub(super) mod forward;
mod functions;
