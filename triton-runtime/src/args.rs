//! Arguments of a kernel.

use crate::allocation::Allocation;
use crate::buffer::{Buffer, BufferSlice, BufferSliceMut, DeviceData, DeviceDataMut};
use crate::element::Element;
use crate::error::describe;
use crate::foreign::Foreign;
use crate::reach::Reach;
use crate::scratch::Scratch;
use crate::tensor::Tensor;
use crate::view::{Memory, View, ViewMut};
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use triton_ir::metadata::{Arg, ParamType, Promised, Specialization};
use triton_ir::types::Elem;

/// One argument of a launch: its value, its type, and its memory's owner; if that is a buffer, the launch orders with its other uses.
///
/// **Invariant:** one for a `Tensor` or `TensorMut` is only made of a [`View`] or [`ViewMut`], whose elements all lie
/// in the buffer, and those of a mutable one are distinct. So a kernel that stays in bounds of the extents stays in
/// bounds of the buffers, and a launch of views and scalars is safe.
///
/// **Invariant:** it is not copied. One mutable borrow of a buffer makes one argument, so that the arguments of a launch do
/// not alias unless all of them only read.
pub struct LaunchArg<'a> {
    /// What the kernel receives, zero-extended, in the first [`ParamType::words`].
    words: [u64; ParamType::MAX_WORDS],
    pub(crate) ty: ParamType,
    pub(crate) owner: Owner<'a>,
}

/// Who has the memory of an argument.
#[derive(Clone, Copy)]
pub(crate) enum Owner<'a> {
    /// There is none, or it is not known.
    None,
    Buffer(&'a Arc<Allocation>),
    Foreign(Foreign<'a>),
}

impl<'a> LaunchArg<'a> {
    /// A number or `bool`.
    #[inline]
    pub fn scalar<T: Element>(value: T) -> LaunchArg<'a> {
        LaunchArg::word(value.to_bits(), ParamType::Scalar(T::DTYPE), Owner::None)
    }

    #[inline]
    fn word(bits: u64, ty: ParamType, owner: Owner<'a>) -> LaunchArg<'a> {
        let mut words = [0; ParamType::MAX_WORDS];
        words[0] = bits;
        LaunchArg { words, ty, owner }
    }

    /// The buffer of its memory.
    #[inline]
    pub(crate) fn allocation(&self) -> Option<&'a Arc<Allocation>> {
        if let Owner::Buffer(allocation) = self.owner { Some(allocation) } else { None }
    }

    /// The other owner of its memory.
    #[inline]
    pub(crate) fn foreign(&self) -> Option<Foreign<'a>> {
        if let Owner::Foreign(owner) = self.owner { Some(owner) } else { None }
    }

    /// What a kernel may access besides buffers: the memory that a view of another owner's reaches.
    pub(crate) fn reach(&self) -> Option<Reach> {
        let (Owner::Foreign(_), ParamType::Tensor { dtype, rank, .. }) = (self.owner, self.ty) else { return None };
        let (extents, strides) = self.words()[1..].split_at(usize::from(rank));
        if extents.contains(&0) {
            return None;
        }
        // It was checked that all elements are in the memory, so that none of this overflows.
        let last: u64 = extents.iter().zip(strides).map(|(extent, stride)| (extent - 1) * stride).sum();
        Some(Reach { address: self.bits(), bytes: (last + 1) * u64::from(dtype.bytes()) })
    }

    /// Address, extents and strides of a view, for a `Tensor<T, R>`.
    #[inline]
    pub fn tensor<T: Element, const R: usize, V: IntoView<'a, T, R>>(view: V) -> LaunchArg<'a> {
        LaunchArg::view(view.into_view(), false)
    }

    /// Address, extents and strides of a mutable view, for a `TensorMut<T, R>`.
    #[inline]
    pub fn tensor_mut<T: Element, const R: usize, V: IntoViewMut<'a, T, R>>(view: V) -> LaunchArg<'a> {
        LaunchArg::view(view.into_view_mut().into_read(), true)
    }

    /// The view is taken apart here, and not copied for the call.
    #[inline]
    fn view<T: Element, const R: usize>(view: View<'a, T, R>, mutable: bool) -> LaunchArg<'a> {
        // The rank is at most `MAX_RANK` for every view that can be made.
        let ty = ParamType::Tensor { dtype: T::DTYPE, rank: R as u8, mutable };
        LaunchArg::axes(view.memory(), view.bytes(), view.shape(), view.strides(), ty)
    }

    /// Not inlined: the driver evicts the code of a launch, so that each line of it is fetched again.
    #[inline(never)]
    fn axes<const R: usize>(
        memory: Memory<'a>,
        bytes: u64,
        shape: [usize; R],
        strides: [isize; R],
        ty: ParamType,
    ) -> LaunchArg<'a> {
        let owner = match memory {
            Memory::Buffer(allocation) => Owner::Buffer(allocation),
            Memory::Foreign(owner) => Owner::Foreign(owner),
            Memory::None(_) => Owner::None,
        };
        let mut arg = LaunchArg::word(memory.address(bytes), ty, owner);
        // By axes, whose number is known: a chain of iterators costs a launch several times as much.
        for axis in 0..R {
            arg.words[1 + axis] = shape[axis] as u64;
            // Along an axis of one element any stride is the same.
            let any = shape[axis] <= 1;
            arg.words[1 + R + axis] = if any { u64::from(axis + 1 == R) } else { strides[axis] as u64 };
        }
        arg
    }

    /// The values as the kernel receives them: one, but for a view its address, extents (`i32`) and strides in elements
    /// (`i64`).
    pub fn values(&self) -> impl Iterator<Item = Arg> {
        let is_address = self.ty.scalar().is_none();
        let value =
            move |(i, bits): (usize, &u64)| if i == 0 && is_address { Arg::Ptr(*bits) } else { Arg::Scalar(*bits) };
        self.words().iter().enumerate().map(value)
    }

    /// The bits of [`values`](LaunchArg::values).
    #[inline]
    pub(crate) fn words(&self) -> &[u64] {
        &self.words[..self.ty.words()]
    }

    /// The bits of the scalar or the address.
    #[inline]
    pub(crate) fn bits(&self) -> u64 {
        self.words[0]
    }

    /// The most specialized code that the value allows, by what is promised of it: see [`Specialization`].
    #[inline]
    pub(crate) fn specialization(&self, promised: Promised) -> Specialization {
        let divisible = |bits: u64| bits.is_multiple_of(16);
        if let Some(dtype) = self.ty.scalar() {
            // The low bits decide, whatever the sign and the width.
            return promised.kept_by(self.bits(), Elem::Num(dtype));
        }
        let aligned = divisible(self.bits());
        let ParamType::Tensor { dtype, rank, .. } = self.ty else {
            return if aligned { Specialization::Divisible16 } else { Specialization::UnitStride };
        };
        let (extents, strides) = self.words()[1..].split_at(usize::from(rank));
        let ([.., extent], [pitches @ .., 1]) = (extents, strides) else { return Specialization::Generic };
        // In bytes, which are a power of two an element: a division by the elements in 16 bytes is the slowest instruction of a launch.
        let is_whole = |elements: &u64| divisible(elements.wrapping_mul(u64::from(dtype.bytes())));
        if !aligned || !pitches.iter().all(is_whole) {
            return Specialization::UnitStride;
        }
        if is_whole(extent) { Specialization::Divisible16 } else { Specialization::Aligned16 }
    }
}

/// A struct of scalars that a kernel takes as one parameter: made by `#[triton::params]`.
#[diagnostic::on_unimplemented(
    message = "a kernel does not take a `{Self}`",
    note = "structs of numbers and `bool`s are taken: write `#[triton::params]` above it"
)]
pub trait Params {
    /// How many arguments it becomes.
    const COUNT: usize;
    /// Passes them, in the order of its fields.
    fn pass(self, to: &mut Slots<'_, '_>);
}

/// Room for arguments that are passed one after the other.
pub struct Slots<'s, 'a>(std::slice::IterMut<'s, LaunchArg<'a>>);

impl<'a> Slots<'_, 'a> {
    /// Passes the next argument.
    pub fn put(&mut self, arg: LaunchArg<'a>) {
        if let Some(slot) = self.0.next() {
            *slot = arg;
        }
    }

    /// As many arguments as `fill` passes.
    pub fn gather<const N: usize>(fill: impl FnOnce(&mut Slots<'_, 'a>)) -> [LaunchArg<'a>; N] {
        let mut args = std::array::from_fn(|_| LaunchArg::scalar(false));
        fill(&mut Slots(args.iter_mut()));
        args
    }
}

impl fmt::Debug for LaunchArg<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LaunchArg({}:", describe(self.ty))?;
        self.values().try_for_each(|value| write!(f, " {value:?}"))?;
        write!(f, ")")
    }
}

mod sealed {
    /// Only our buffers, views and pointers: a safe launch relies on what their arguments borrow.
    pub trait Sealed {}
}

impl<T: Element> sealed::Sealed for Buffer<T> {}
impl<T: Element> sealed::Sealed for BufferSlice<'_, T> {}
impl<T: Element> sealed::Sealed for BufferSliceMut<'_, T> {}
impl<T: Element> sealed::Sealed for Scratch<T> {}
impl<T: Element> sealed::Sealed for DevicePtr<'_, T> {}
impl<T: Element> sealed::Sealed for DevicePtrMut<'_, T> {}
impl<T: Element, const R: usize> sealed::Sealed for View<'_, T, R> {}
impl<T: Element, const R: usize> sealed::Sealed for ViewMut<'_, T, R> {}
impl<T: Element, const R: usize> sealed::Sealed for &View<'_, T, R> {}
impl<T: Element, const R: usize> sealed::Sealed for &ViewMut<'_, T, R> {}
impl<T: Element, const R: usize> sealed::Sealed for &mut ViewMut<'_, T, R> {}
impl<T: Element, const R: usize> sealed::Sealed for Tensor<T, R> {}
impl<T: Element, const R: usize> sealed::Sealed for &Tensor<T, R> {}
impl<T: Element, const R: usize> sealed::Sealed for &mut Tensor<T, R> {}

/// What can be passed for a `Ptr<T>`: a buffer, a slice of one, a [`Tensor`], or a [`DevicePtr`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be passed for a `Ptr<{T}>`",
    label = "expected a device buffer of `{T}`",
    note = "make one by `stream.upload(..)` or `stream.zeros(..)`"
)]
pub trait AsPtrArg<T: Element>: sealed::Sealed {
    /// The argument.
    fn as_ptr_arg(&self) -> LaunchArg<'_>;
}

/// What can be passed for a `PtrMut<T>`: a buffer, a mutable slice of one, a [`Tensor`], or a [`DevicePtrMut`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be passed for a `PtrMut<{T}>`",
    label = "expected a mutable device buffer of `{T}`",
    note = "make one by `stream.upload(..)` or `stream.zeros(..)`, and pass `&mut` of it"
)]
pub trait AsPtrMutArg<T: Element>: sealed::Sealed {
    /// The argument.
    fn as_ptr_mut_arg(&mut self) -> LaunchArg<'_>;
}

/// What kernels take for a `Tensor<T, R>`, and operations to read: a [`Tensor`] by reference, or a view, by value or by reference.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tensor of `{T}` with {R} dimensions, nor a view of one",
    label = "expected `&Tensor<{T}, {R}>` or `View<'_, {T}, {R}>`",
    note = "a buffer has no shape: pass `buffer.view([..])?`, with an extent for each dimension, or make it `buffer.into_tensor([..])?`"
)]
pub trait IntoView<'a, T, const R: usize>: sealed::Sealed {
    /// The view.
    fn into_view(self) -> View<'a, T, R>;
}

/// What kernels take for a `TensorMut<T, R>`, and operations to write: a [`Tensor`] by mutable reference, or a mutable view, by value or by
/// mutable reference.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a mutable tensor of `{T}` with {R} dimensions, nor a mutable view of one",
    label = "expected `&mut Tensor<{T}, {R}>` or `ViewMut<'_, {T}, {R}>`",
    note = "a buffer has no shape: pass `buffer.view_mut([..])?`, with an extent for each dimension, or make it `buffer.into_tensor([..])?`"
)]
pub trait IntoViewMut<'a, T, const R: usize>: sealed::Sealed {
    /// The view.
    fn into_view_mut(self) -> ViewMut<'a, T, R>;
}

#[diagnostic::do_not_recommend]
impl<T: Element> AsPtrArg<T> for BufferSlice<'_, T> {
    #[inline]
    fn as_ptr_arg(&self) -> LaunchArg<'_> {
        LaunchArg::word(self.address(), ParamType::Ptr(T::DTYPE), Owner::Buffer(self.allocation()))
    }
}

#[diagnostic::do_not_recommend]
impl<T: Element> AsPtrArg<T> for BufferSliceMut<'_, T> {
    #[inline]
    fn as_ptr_arg(&self) -> LaunchArg<'_> {
        LaunchArg::word(self.address(), ParamType::Ptr(T::DTYPE), Owner::Buffer(self.allocation()))
    }
}

#[diagnostic::do_not_recommend]
impl<T: Element> AsPtrMutArg<T> for BufferSliceMut<'_, T> {
    #[inline]
    fn as_ptr_mut_arg(&mut self) -> LaunchArg<'_> {
        LaunchArg::word(self.address(), ParamType::PtrMut(T::DTYPE), Owner::Buffer(self.allocation()))
    }
}

#[diagnostic::do_not_recommend]
impl<T: Element> AsPtrArg<T> for Buffer<T> {
    #[inline]
    fn as_ptr_arg(&self) -> LaunchArg<'_> {
        let allocation = self.as_slice().allocation();
        LaunchArg::word(allocation.address(), ParamType::Ptr(T::DTYPE), Owner::Buffer(allocation))
    }
}

#[diagnostic::do_not_recommend]
impl<T: Element> AsPtrMutArg<T> for Buffer<T> {
    #[inline]
    fn as_ptr_mut_arg(&mut self) -> LaunchArg<'_> {
        let allocation = self.as_mut_slice().allocation();
        LaunchArg::word(allocation.address(), ParamType::PtrMut(T::DTYPE), Owner::Buffer(allocation))
    }
}

/// The types that are a view, and how.
macro_rules! into_view {
    ($into:ident::$method:ident -> $view:ident: $($ty:ty = |$it:ident| $value:expr;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<'a, T: Element, const R: usize> $into<'a, T, R> for $ty {
            #[inline]
            fn $method(self) -> $view<'a, T, R> {
                let $it = self;
                $value
            }
        }
    )*};
}

into_view! {
    IntoView::into_view -> View:
    View<'a, T, R> = |view| view;
    &'a View<'_, T, R> = |view| *view;
    ViewMut<'a, T, R> = |view| view.into_read();
    &'a ViewMut<'_, T, R> = |view| view.as_view();
    &'a Tensor<T, R> = |tensor| tensor.as_view();
}

into_view! {
    IntoViewMut::into_view_mut -> ViewMut:
    ViewMut<'a, T, R> = |view| view;
    &'a mut ViewMut<'_, T, R> = |view| view.reborrow();
    &'a mut Tensor<T, R> = |tensor| tensor.as_view_mut();
}

#[diagnostic::do_not_recommend]
impl<T: Element, const R: usize> AsPtrArg<T> for Tensor<T, R> {
    #[inline]
    fn as_ptr_arg(&self) -> LaunchArg<'_> {
        self.buffer().as_ptr_arg()
    }
}

#[diagnostic::do_not_recommend]
impl<T: Element, const R: usize> AsPtrMutArg<T> for Tensor<T, R> {
    #[inline]
    fn as_ptr_mut_arg(&mut self) -> LaunchArg<'_> {
        self.buffer_mut().as_ptr_mut_arg()
    }
}

#[diagnostic::do_not_recommend]
impl<T: Element> AsPtrMutArg<T> for Scratch<T> {
    #[inline]
    fn as_ptr_mut_arg(&mut self) -> LaunchArg<'_> {
        let allocation = self.as_mut_slice().allocation();
        LaunchArg::word(allocation.address(), ParamType::PtrMut(T::DTYPE), Owner::Buffer(allocation))
    }
}

/// An address of elements that another library owns, for a kernel to read, valid while `'a` lasts. Its device and length are
/// unknown: order its uses by events.
///
/// On the CPU device a kernel reaches through it buffers of this crate only; a view of other memory is made by [`View::from_raw_parts`].
pub struct DevicePtr<'a, T> {
    address: u64,
    element: PhantomData<&'a T>,
}

/// An address of elements that another library owns, for a kernel to read and write, valid while `'a` lasts. Its device and
/// length are unknown: order its uses by events.
///
/// On the CPU device a kernel reaches through it buffers of this crate only; a view of other memory is made by [`View::from_raw_parts`].
pub struct DevicePtrMut<'a, T> {
    address: u64,
    element: PhantomData<&'a mut T>,
}

impl<'a, T: Element> DevicePtr<'a, T> {
    /// Elements at an address.
    ///
    /// # Safety
    /// While `'a` lasts, and as long as a launch with this pointer may run, the address is of elements of `T` on the launch's
    /// device, as many as the kernel accesses, and nothing writes them.
    #[allow(unsafe_code, reason = "the caller must vouch for the address")]
    pub unsafe fn new(address: u64) -> DevicePtr<'a, T> {
        DevicePtr { address, element: PhantomData }
    }
}

impl<'a, T: Element> DevicePtrMut<'a, T> {
    /// Elements at an address.
    ///
    /// # Safety
    /// While `'a` lasts, and as long as a launch with this pointer may run, the address is of elements of `T` on the launch's
    /// device, as many as the kernel accesses; if the kernel writes them, nothing else accesses them meanwhile.
    #[allow(unsafe_code, reason = "the caller must vouch for the address")]
    pub unsafe fn new(address: u64) -> DevicePtrMut<'a, T> {
        DevicePtrMut { address, element: PhantomData }
    }
}

macro_rules! pointer {
    ($($name:ident)*) => {$(
        impl<T> $name<'_, T> {
            /// The address.
            pub fn address(&self) -> u64 {
                self.address
            }
        }

        impl<T> fmt::Debug for $name<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}<{}>({:#x})", stringify!($name), std::any::type_name::<T>(), self.address)
            }
        }

        #[diagnostic::do_not_recommend]
        impl<T: Element> AsPtrArg<T> for $name<'_, T> {
            #[inline]
            fn as_ptr_arg(&self) -> LaunchArg<'_> {
                LaunchArg::word(self.address, ParamType::Ptr(T::DTYPE), Owner::None)
            }
        }
    )*};
}

pointer!(DevicePtr DevicePtrMut);

impl<T> Clone for DevicePtr<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for DevicePtr<'_, T> {}

#[diagnostic::do_not_recommend]
impl<T: Element> AsPtrMutArg<T> for DevicePtrMut<'_, T> {
    #[inline]
    fn as_ptr_mut_arg(&mut self) -> LaunchArg<'_> {
        LaunchArg::word(self.address, ParamType::PtrMut(T::DTYPE), Owner::None)
    }
}
