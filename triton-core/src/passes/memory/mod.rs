//! Stage 1 → 2: what is in shared memory and when: exchanges, rings, order, waits, barriers.

pub mod allocate;
mod carry;
pub mod exchange;
pub mod map_programs;
pub mod multicast;
pub mod persist;
pub mod prefetch;
pub mod schedule;
pub mod sync;
pub mod wait;
mod warpgroup;
