//! Attention whose scores are computed in some blocks only (Tillet, "Blocked algorithms for neural networks", 2020, chapter 6).

mod pattern;
mod superblock;

pub use pattern::BlockMask;
pub use superblock::{Partition, SuperBlock, superblock};
