//! Access of one device to memory of another.

use super::context::Context;
use super::cu;
use super::memory::DeviceMemory;
use super::stream::RawStream;
use super::types::{CUmemAccess_flags, CUmemAccessDesc, CUmemLocation, CUmemLocationType};
use crate::error::Error;
use crate::lock;
use std::ffi::c_int;

/// CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED: by us, or by another library of the process.
const ALREADY_ENABLED: c_int = 704;

impl Context {
    /// Whether the hardware has a way from this device to memory of another.
    pub(crate) fn can_access(&self, peer: &Context) -> Result<bool, Error> {
        let mut can: c_int = 0;
        // SAFETY: the pointer is to an integer, and the devices are valid.
        unsafe { cu!(self.driver, cuDeviceCanAccessPeer(&mut can, self.number(), peer.number())) }?;
        Ok(can != 0)
    }

    /// Lets this device access what another has allocated, and will.
    pub(crate) fn enable_access(&self, peer: &Context) -> Result<(), Error> {
        let mut peers = lock(&self.peers);
        if peers.contains(&peer.ordinal) {
            return Ok(());
        }
        self.enter()?;
        // SAFETY: the other context is alive; 0 is the only flag there is.
        let code = unsafe { (self.driver.api.cuCtxEnablePeerAccess)(peer.pointer().cast(), 0) };
        if code != ALREADY_ENABLED {
            self.driver.check("cuCtxEnablePeerAccess", code)?;
        }
        // Memory of a pool is apart from the context's.
        if let Some(pool) = peer.pool {
            let location = CUmemLocation { type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, id: self.number() };
            let access = CUmemAccessDesc { location, flags: CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE };
            // SAFETY: the pool is alive, and the pointer is to one description.
            unsafe { cu!(self.driver, cuMemPoolSetAccess(pool.0, &access, 1)) }?;
        }
        peers.push(peer.ordinal);
        Ok(())
    }
}

impl DeviceMemory {
    /// Enqueues a copy from memory of another device, on a stream of that.
    pub(crate) fn copy_from_peer(
        &self,
        offset: usize,
        source: &DeviceMemory,
        source_offset: usize,
        bytes: usize,
        stream: &RawStream,
    ) -> Result<(), Error> {
        let (to, from) = (self.at(offset, bytes)?, source.at(source_offset, bytes)?);
        if bytes == 0 {
            return Ok(());
        }
        let (target, origin) = (self.context.pointer().cast(), source.context.pointer().cast());
        stream.context.enter()?;
        // SAFETY: both ranges lie in their allocations, which are of these contexts.
        unsafe { cu!(stream.context.driver, cuMemcpyPeerAsync(to, target, from, origin, bytes, stream.handle.0)) }
    }
}
