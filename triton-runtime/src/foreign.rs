//! Memory that another owner has: another library's on the GPU, a slice of the host on the CPU device.

use crate::device::{Backend, Device};
use crate::element::Element;
use crate::error::{Error, Result};

/// Another owner of a view's memory. Where its elements are, the view's layout says: at addresses in place of offsets into a buffer.
#[derive(Clone, Copy)]
pub(crate) enum Foreign<'a> {
    /// The caller of an `unsafe` function vouches for it.
    Vouched(&'a Device),
    /// A borrowed slice of the host, which a graph cannot hold.
    Borrowed(&'a Device),
}

impl<'a> Foreign<'a> {
    /// The owner of `len` elements from an address on, which are checked as far as that can be.
    pub(crate) fn new<T: Element>(device: &'a Device, address: u64, len: usize) -> Result<Foreign<'a>> {
        check::<T>(device, address, len)?;
        Ok(Foreign::Vouched(device))
    }

    /// That of a slice of the host.
    pub(crate) fn of_slice<T: Element>(device: &'a Device, address: u64, len: usize) -> Result<Foreign<'a>> {
        if !device.is_cpu() {
            let reason = "a slice of the host is memory of the CPU device alone; copy it with stream.upload(..)";
            return Err(Error::Foreign { address, device: device.to_string(), reason: reason.to_string() });
        }
        check::<T>(device, address, len)?;
        Ok(Foreign::Borrowed(device))
    }

    #[inline]
    pub(crate) fn device(self) -> &'a Device {
        let (Foreign::Vouched(device) | Foreign::Borrowed(device)) = self;
        device
    }

    /// Whether it is a borrowed slice.
    pub(crate) fn is_borrowed(self) -> bool {
        matches!(self, Foreign::Borrowed(_))
    }

    /// Rejects another device.
    pub(crate) fn check(self, device: &Device, what: impl FnOnce() -> String) -> Result<()> {
        let found = self.device();
        if found == device {
            return Ok(());
        }
        Err(Error::WrongDevice { what: what(), found: found.to_string(), expected: device.to_string() })
    }
}

/// Rejects addresses that elements of a device cannot have.
fn check<T: Element>(device: &Device, address: u64, len: usize) -> Result<()> {
    let (refused, size) =
        (|reason| Error::Foreign { address, device: device.to_string(), reason }, size_of::<T>() as u64);
    if (len as u64).checked_mul(size).is_none_or(|bytes| address.checked_add(bytes).is_none()) {
        return Err(refused(format!("{len} elements of {size} bytes reach past the last address")));
    }
    if len == 0 {
        return Ok(());
    }
    if address == 0 {
        return Err(refused(format!("the address is null, but the view may access {len} elements")));
    }
    if !address.is_multiple_of(size) {
        return Err(refused(format!("the address is not a multiple of the {size} bytes of an element")));
    }
    if let Backend::Cuda(context) = device.backend() {
        context.check_address(address).map_err(refused)?;
    }
    Ok(())
}
