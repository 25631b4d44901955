//! Stage 0 → 1: which block, then which thread has which elements.

pub mod partition;
pub mod pbqp;
pub mod place;
pub mod split;
