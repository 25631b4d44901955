//! Memory that another owner has: another library's on the GPU, a slice of the host on the CPU device.

use crate::device::{Backend, Device};
use crate::element::Element;
use crate::error::{Error, Result};
use crate::region::Region;

/// Memory of another owner.
#[derive(Clone, Copy)]
pub(crate) struct Foreign<'a> {
    pub(crate) device: &'a Device,
    region: Region,
    /// Whether it is a borrowed slice, which a graph cannot hold.
    pub(crate) is_borrowed: bool,
}

impl<'a> Foreign<'a> {
    /// Elements from an address on.
    pub(crate) fn new<T: Element>(
        device: &'a Device,
        address: u64,
        len: usize,
        is_borrowed: bool,
    ) -> Result<Foreign<'a>> {
        let refused = |reason: String| Error::Foreign { address, device: device.to_string(), reason };
        let bytes =
            (len as u64).checked_mul(size_of::<T>() as u64).filter(|bytes| address.checked_add(*bytes).is_some());
        let Some(bytes) = bytes else {
            return Err(refused(format!("{len} elements of {} bytes reach past the last address", size_of::<T>())));
        };
        if bytes > 0 {
            if address == 0 {
                return Err(refused(format!("the address is null, but the view may access {len} elements")));
            }
            if !address.is_multiple_of(size_of::<T>() as u64) {
                return Err(refused(format!(
                    "the address is not a multiple of the {} bytes of an element",
                    size_of::<T>()
                )));
            }
            if let Backend::Cuda(context) = device.backend() {
                context.check_address(address).map_err(refused)?;
            }
        }
        Ok(Foreign { device, region: Region { address, bytes }, is_borrowed })
    }

    /// A slice of the host.
    pub(crate) fn of_slice<T: Element>(device: &'a Device, address: u64, len: usize) -> Result<Foreign<'a>> {
        if !device.is_cpu() {
            let reason = "a slice of the host is memory of the CPU device alone; copy it with stream.upload(..)";
            return Err(Error::Foreign { address, device: device.to_string(), reason: reason.to_string() });
        }
        Foreign::new::<T>(device, address, len, true)
    }

    #[inline]
    pub(crate) fn address(&self) -> u64 {
        self.region.address
    }

    /// Rejects another device.
    #[inline]
    pub(crate) fn check(&self, device: &Device, what: impl FnOnce() -> String) -> Result<()> {
        if self.device == device {
            return Ok(());
        }
        Err(Error::WrongDevice { what: what(), found: self.device.to_string(), expected: device.to_string() })
    }

    /// The bytes that a kernel may access.
    pub(crate) fn region(&self) -> Region {
        self.region
    }

    /// Some of its bytes, which lie inside.
    pub(crate) fn part(&self, offset: u64, bytes: u64) -> Foreign<'a> {
        Foreign { region: Region { address: self.region.address + offset, bytes }, ..*self }
    }
}
