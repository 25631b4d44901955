//! Lowering of accesses: global memory through pointers and views, shared memory, and rings that copies fill.

pub(crate) mod atomic;
pub(crate) mod bulk;
pub(crate) mod cluster;
pub(crate) mod cut;
pub(crate) mod global;
pub(crate) mod ring;
pub(crate) mod shared;
pub(crate) mod stepped;
pub(crate) mod view;
