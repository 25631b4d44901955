//! Collectives of GPUs, by NVIDIA's library NCCL.

use crate::backend::Backend;
use crate::error::{Error, Result};
use crate::exchange::Exchange;
use crate::meeting::Meeting;
use crate::options::Options;
use crate::place::Place;
use std::sync::Arc;
use triton::Device;

/// The backend of one rank, which meets the others.
pub(crate) fn connect(
    _device: &Device,
    _place: Place,
    _meeting: &Meeting,
    _options: Options,
) -> Result<Box<dyn Backend>> {
    Err(absent())
}

/// The backend of one rank of a process that has all of them, which exchange bytes so.
pub(crate) fn among(
    _device: &Device,
    _place: Place,
    _exchange: Arc<dyn Exchange>,
    _options: Options,
) -> Result<Box<dyn Backend>> {
    Err(absent())
}

fn absent() -> Error {
    Error::NoLibrary { reason: "this version does not load it".to_string() }
}
