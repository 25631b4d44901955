//! Buffers of `cust` as arguments of kernels.

use cust::memory::{DeviceBuffer, DeviceCopy};
use triton::{DevicePtr, DevicePtrMut, Element};

/// A buffer as the argument for a `Ptr<T>`.
#[allow(unsafe_code, reason = "the address of a buffer that stays borrowed")]
pub fn ptr<T: Element + DeviceCopy>(buffer: &DeviceBuffer<T>) -> DevicePtr<'_, T> {
    // SAFETY: the address is of the buffer's elements, and the buffer stays borrowed. How long a launch uses it, and what
    // else does, is what the caller of the launch vouches for.
    unsafe { DevicePtr::new(buffer.as_device_ptr().as_raw()) }
}

/// A buffer as the argument for a `PtrMut<T>`.
#[allow(unsafe_code, reason = "the address of a buffer that stays borrowed")]
pub fn ptr_mut<T: Element + DeviceCopy>(buffer: &mut DeviceBuffer<T>) -> DevicePtrMut<'_, T> {
    // SAFETY: as above; the borrow is exclusive.
    unsafe { DevicePtrMut::new(buffer.as_device_ptr().as_raw()) }
}
