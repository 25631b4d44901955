//! Buffers of `cust` as arguments of kernels.

use cust::memory::{DeviceBuffer, DeviceCopy};
use std::marker::PhantomData;
use triton::{AsPtr, AsPtrMut, DevicePtr, Element, LaunchArg};

/// A buffer of `cust` that is passed for a kernel's `Ptr<T>`; made by [`ptr`].
#[derive(Clone, Copy, Debug)]
pub struct Ptr<'a, T> {
    address: DevicePtr<T>,
    buffer: PhantomData<&'a T>,
}

/// A buffer of `cust` that is passed for a kernel's `PtrMut<T>`; made by [`ptr_mut`].
#[derive(Debug)]
pub struct PtrMut<'a, T> {
    address: DevicePtr<T>,
    buffer: PhantomData<&'a mut T>,
}

/// A buffer as the argument for a `Ptr<T>`.
pub fn ptr<T: Element + DeviceCopy>(buffer: &DeviceBuffer<T>) -> Ptr<'_, T> {
    Ptr { address: address(buffer), buffer: PhantomData }
}

/// A buffer as the argument for a `PtrMut<T>`.
pub fn ptr_mut<T: Element + DeviceCopy>(buffer: &mut DeviceBuffer<T>) -> PtrMut<'_, T> {
    PtrMut { address: address(buffer), buffer: PhantomData }
}

#[allow(unsafe_code, reason = "the address of a buffer that stays borrowed")]
fn address<T: Element + DeviceCopy>(buffer: &DeviceBuffer<T>) -> DevicePtr<T> {
    // SAFETY: the address is of the buffer's elements. How long it is used, and by how many programs at a time, is what
    // the caller of the launch vouches for.
    unsafe { DevicePtr::new(buffer.as_device_ptr().as_raw()) }
}

impl<T: Element> AsPtr<T> for Ptr<'_, T> {
    fn arg(&self) -> LaunchArg<'_> {
        self.address.arg()
    }
}

impl<T: Element> AsPtr<T> for PtrMut<'_, T> {
    fn arg(&self) -> LaunchArg<'_> {
        self.address.arg()
    }
}

impl<T: Element> AsPtrMut<T> for PtrMut<'_, T> {
    fn arg_mut(&mut self) -> LaunchArg<'_> {
        self.address.arg_mut()
    }
}
