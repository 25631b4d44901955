//! The instructions so far, and what is done to them once a kernel is complete: nothing here knows the IR.

pub(crate) mod coalesce;
pub(crate) mod dce;
pub(crate) mod emitter;
pub(crate) mod hold;
pub(crate) mod packed;
pub(crate) mod proxy;
pub(crate) mod registers;
