//! What can be passed to a kernel.

use crate::buffer::{Buffer, BufferSlice, BufferSliceMut, DeviceData, DeviceDataMut};
use crate::element::Element;
use crate::uses::Core;
use std::fmt;
use std::marker::PhantomData;
use triton_core::record::{Arg, ParamType};

/// One argument of a launch: its value, its type, and the buffer behind it, which the launch orders with its other uses.
#[derive(Clone, Copy)]
pub struct LaunchArg<'a> {
    pub(crate) value: Arg,
    pub(crate) ty: ParamType,
    pub(crate) core: Option<&'a Core>,
}

impl<'a> LaunchArg<'a> {
    /// A number or `bool`.
    pub fn scalar<T: Element>(value: T) -> LaunchArg<'a> {
        LaunchArg { value: Arg::Scalar(value.to_bits()), ty: ParamType::Scalar(T::DTYPE), core: None }
    }

    /// The value as the kernel receives it.
    pub fn value(&self) -> Arg {
        self.value
    }
}

impl fmt::Debug for LaunchArg<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LaunchArg({:?}: {:?})", self.value, self.ty)
    }
}

/// What can be passed for a `Ptr<T>`: a buffer, a slice of one, or a [`DevicePtr`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be passed for a `Ptr<{T}>`",
    label = "expected a device buffer of `{T}`",
    note = "make one by `stream.upload(..)` or `stream.zeros(..)`"
)]
pub trait AsPtr<T: Element> {
    /// The argument.
    fn arg(&self) -> LaunchArg<'_>;
}

/// What can be passed for a `PtrMut<T>`: a buffer, a mutable slice of one, or a [`DevicePtr`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be passed for a `PtrMut<{T}>`",
    label = "expected a mutable device buffer of `{T}`",
    note = "make one by `stream.upload(..)` or `stream.zeros(..)`, and pass `&mut` of it"
)]
pub trait AsPtrMut<T: Element> {
    /// The argument.
    fn arg_mut(&mut self) -> LaunchArg<'_>;
}

#[diagnostic::do_not_recommend]
impl<T: Element> AsPtr<T> for BufferSlice<'_, T> {
    #[inline]
    fn arg(&self) -> LaunchArg<'_> {
        LaunchArg { value: Arg::Ptr(self.address()), ty: ParamType::Ptr(T::DTYPE), core: Some(self.core()) }
    }
}

#[diagnostic::do_not_recommend]
impl<T: Element> AsPtr<T> for BufferSliceMut<'_, T> {
    #[inline]
    fn arg(&self) -> LaunchArg<'_> {
        LaunchArg { value: Arg::Ptr(self.address()), ty: ParamType::Ptr(T::DTYPE), core: Some(self.core()) }
    }
}

#[diagnostic::do_not_recommend]
impl<T: Element> AsPtrMut<T> for BufferSliceMut<'_, T> {
    #[inline]
    fn arg_mut(&mut self) -> LaunchArg<'_> {
        LaunchArg { value: Arg::Ptr(self.address()), ty: ParamType::PtrMut(T::DTYPE), core: Some(self.core()) }
    }
}

#[diagnostic::do_not_recommend]
impl<T: Element> AsPtr<T> for Buffer<T> {
    #[inline]
    fn arg(&self) -> LaunchArg<'_> {
        let core = self.as_slice().core();
        LaunchArg { value: Arg::Ptr(core.address()), ty: ParamType::Ptr(T::DTYPE), core: Some(core) }
    }
}

#[diagnostic::do_not_recommend]
impl<T: Element> AsPtrMut<T> for Buffer<T> {
    #[inline]
    fn arg_mut(&mut self) -> LaunchArg<'_> {
        let core = self.as_mut_slice().core();
        LaunchArg { value: Arg::Ptr(core.address()), ty: ParamType::PtrMut(T::DTYPE), core: Some(core) }
    }
}

/// An address that another library owns. Nothing is known of its device, length or streams: order its uses by events.
///
/// On the CPU device a kernel can reach buffers of this crate only.
pub struct DevicePtr<T> {
    address: u64,
    element: PhantomData<T>,
}

impl<T: Element> DevicePtr<T> {
    /// Elements at an address.
    ///
    /// # Safety
    /// As long as a launch with this pointer may run, the address is of elements of `T` on the launch's device, as many as
    /// the kernel accesses; if the kernel writes them, nobody else uses them meanwhile.
    #[allow(unsafe_code, reason = "the caller must vouch for the address")]
    pub unsafe fn new(address: u64) -> DevicePtr<T> {
        DevicePtr { address, element: PhantomData }
    }

    /// The address.
    pub fn address(&self) -> u64 {
        self.address
    }
}

impl<T> Clone for DevicePtr<T> {
    fn clone(&self) -> DevicePtr<T> {
        *self
    }
}

impl<T> Copy for DevicePtr<T> {}

impl<T> fmt::Debug for DevicePtr<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DevicePtr<{}>({:#x})", std::any::type_name::<T>(), self.address)
    }
}

#[diagnostic::do_not_recommend]
impl<T: Element> AsPtr<T> for DevicePtr<T> {
    fn arg(&self) -> LaunchArg<'_> {
        LaunchArg { value: Arg::Ptr(self.address), ty: ParamType::Ptr(T::DTYPE), core: None }
    }
}

#[diagnostic::do_not_recommend]
impl<T: Element> AsPtrMut<T> for DevicePtr<T> {
    fn arg_mut(&mut self) -> LaunchArg<'_> {
        LaunchArg { value: Arg::Ptr(self.address), ty: ParamType::PtrMut(T::DTYPE), core: None }
    }
}
