//! Stage 1 → 2: what is in shared memory and when: exchanges, rings, order, waits, barriers.

pub mod allocate;
mod drain;
pub mod exchange;
pub mod map_programs;
pub mod multicast;
pub mod persist;
mod prefetch_fragments;
pub mod schedule;
pub mod stage_rows;
pub mod sync;
pub mod wait;
mod warpgroup;
