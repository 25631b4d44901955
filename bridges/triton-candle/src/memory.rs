//! Candle's storage as views of ours, and memory of candle's for results: the one file with `unsafe`.
//!
//! **Invariant:** a [`Read`] borrows the storage, a [`Write`] borrows it exclusively, and both hold the guard of candle's memory until they are
//! dropped, which is after the launch was enqueued. The launch is on candle's own stream.

#![allow(unsafe_code, reason = "candle tells where its memory is, and that it lives")]

use crate::call::Call;
use crate::error::{dtype, unmerged, wrap};
use crate::layout::merge;
use crate::operation::{Operand, Output, Place};
#[cfg(feature = "cuda")]
use candle_core::cuda::cudarc::driver::{CudaSlice, DevicePtr, DevicePtrMut, DeviceRepr, SyncOnDrop};
#[cfg(feature = "cuda")]
use candle_core::cuda_backend::CudaDType;
use candle_core::{CpuStorage, DType, Layout, Result, Shape, Storage, Tensor, WithDType};
use triton::{View, ViewMut, bf16, f16};
use triton_kernels::Ids;

/// What an element is on a CUDA device.
#[cfg(feature = "cuda")]
pub trait OnCuda: CudaDType + DeviceRepr {}
#[cfg(feature = "cuda")]
impl<T: CudaDType + DeviceRepr> OnCuda for T {}
/// What an element is on a CUDA device: nothing without the feature `cuda`.
#[cfg(not(feature = "cuda"))]
pub trait OnCuda {}
#[cfg(not(feature = "cuda"))]
impl<T> OnCuda for T {}

/// An element type of candle's tensors and of kernels.
pub trait Element: triton::Element + WithDType + OnCuda {
    #[doc(hidden)]
    fn host_mut(storage: &mut CpuStorage) -> Option<&mut [Self]>;
}

macro_rules! elements {
    ($($t:ty = $variant:ident;)*) => {$(
        impl Element for $t {
            fn host_mut(storage: &mut CpuStorage) -> Option<&mut [$t]> {
                if let CpuStorage::$variant(values) = storage { Some(values) } else { None }
            }
        }
    )*};
}

elements! {
    f32 = F32;
    f16 = F16;
    bf16 = BF16;
    f64 = F64;
    u8 = U8;
    u32 = U32;
    i16 = I16;
    i32 = I32;
    i64 = I64;
}

enum Source<'a, T> {
    Host(&'a [T]),
    #[cfg(feature = "cuda")]
    Cuda {
        address: u64,
        len: usize,
        _guard: SyncOnDrop<'a>,
    },
}

/// A tensor that kernels read.
pub struct Read<'a, T> {
    call: &'a Call,
    op: &'static str,
    operand: &'static str,
    source: Source<'a, T>,
    layout: Option<&'a Layout>,
}

impl<'a, T: Element> Read<'a, T> {
    fn new(call: &'a Call, op: &'static str, operand: &'static str, of: Operand<'a>) -> Result<Read<'a, T>> {
        let source = match of.place {
            Place::Cpu(storage) => Source::Host(
                T::cpu_storage_as_slice(storage)
                    .map_err(|_| dtype(op, operand, of.dtype(), &[<T as WithDType>::DTYPE]))?,
            ),
            #[cfg(feature = "cuda")]
            Place::Cuda(storage) => {
                let slice = storage
                    .as_cuda_slice::<T>()
                    .map_err(|_| dtype(op, operand, of.dtype(), &[<T as WithDType>::DTYPE]))?;
                Source::of_slice(slice, call)
            }
        };
        Ok(Read { call, op, operand, source, layout: Some(of.layout) })
    }

    /// All elements of the storage, of which the view has none yet.
    fn base(&self) -> triton::Result<View<'_, T, 1>> {
        let device = self.call.stream().device();
        match &self.source {
            Source::Host(values) => View::from_slice(device, values, [0]),
            #[cfg(feature = "cuda")]
            // SAFETY: the slice has these elements, which it keeps while `self` borrows it; it was waited for on the stream of the
            // launch, and the guard tells candle of the launch when `self` is dropped.
            Source::Cuda { address, len, .. } => unsafe { View::from_raw_parts(device, *address, *len, [0], [1]) },
        }
    }

    /// The tensor with its last `R` − 1 axes, and those before as one: of a tensor of fewer axes the first ones have one element.
    ///
    /// # Errors
    /// If no single stride walks through the axes before.
    pub fn view<const R: usize>(&self) -> Result<View<'_, T, R>> {
        let layout = self.layout.ok_or_else(|| unmerged(self.op, self.operand, R))?;
        let (shape, strides) =
            merge::<R>(layout.dims(), layout.stride()).ok_or_else(|| unmerged(self.op, self.operand, R))?;
        self.strided(shape, strides, layout.start_offset())
    }

    /// Any axes from an element of the storage on.
    pub(crate) fn strided<const R: usize>(
        &self,
        shape: [usize; R],
        strides: [isize; R],
        offset: usize,
    ) -> Result<View<'_, T, R>> {
        // Without elements there is no first one.
        let offset = if shape.contains(&0) { 0 } else { offset };
        let view = self.base().and_then(|base| base.with_offset(offset)?.as_strided(shape, strides));
        view.map_err(wrap)
    }
}

#[cfg(feature = "cuda")]
impl<'a, T> Source<'a, T> {
    fn of_slice<U>(slice: &'a CudaSlice<U>, call: &'a Call) -> Source<'a, T> {
        let (address, guard) = slice.device_ptr(call.theirs());
        Source::Cuda { address, len: slice.len(), _guard: guard }
    }
}

/// Numbers of rows or classes: candle's `u32` and `i64`, and `i32`.
pub(crate) enum ReadIds<'a> {
    I32(Read<'a, i32>),
    I64(Read<'a, i64>),
}

impl<'a> ReadIds<'a> {
    fn new(call: &'a Call, op: &'static str, operand: &'static str, of: Operand<'a>) -> Result<ReadIds<'a>> {
        let found = of.dtype();
        if found == DType::I32 {
            return Ok(ReadIds::I32(Read::new(call, op, operand, of)?));
        }
        if found == DType::I64 {
            return Ok(ReadIds::I64(Read::new(call, op, operand, of)?));
        }
        if found != DType::U32 {
            return Err(dtype(op, operand, found, &[DType::U32, DType::I32, DType::I64]));
        }
        // From 2³¹ on it is a negative number, which is out of range as the other was: extents are less than 2³¹.
        let source = match of.place {
            Place::Cpu(storage) => {
                let ids = u32::cpu_storage_as_slice(storage)?;
                // SAFETY: both types have the same size and alignment, and any bits are a value of either.
                Source::Host(unsafe { std::slice::from_raw_parts(ids.as_ptr().cast::<i32>(), ids.len()) })
            }
            #[cfg(feature = "cuda")]
            Place::Cuda(storage) => Source::of_slice(storage.as_cuda_slice::<u32>()?, call),
        };
        Ok(ReadIds::I32(Read { call, op, operand, source, layout: Some(of.layout) }))
    }

    pub(crate) fn view(&self) -> Result<Ids<'_>> {
        Ok(match self {
            ReadIds::I32(ids) => ids.view::<1>()?.into(),
            ReadIds::I64(ids) => ids.view::<1>()?.into(),
        })
    }
}

enum Target<'a, T> {
    Host(&'a mut [T]),
    #[cfg(feature = "cuda")]
    Cuda {
        address: u64,
        len: usize,
        _guard: SyncOnDrop<'a>,
    },
}

/// Memory that kernels write.
pub struct Write<'a, T> {
    call: &'a Call,
    target: Target<'a, T>,
}

impl<'a, T: Element> Write<'a, T> {
    /// The memory as an array in row-major order.
    ///
    /// # Errors
    /// If it has fewer elements.
    pub fn view_mut<const R: usize>(&mut self, shape: [usize; R]) -> Result<ViewMut<'_, T, R>> {
        self.strided_mut(shape, row_major(shape), 0)
    }

    /// The memory as an array of a candle's shape, with its last `R` − 1 axes, and those before as one.
    ///
    /// # Errors
    /// If it has fewer elements.
    pub fn rows_mut<const R: usize>(&mut self, shape: &Shape) -> Result<ViewMut<'_, T, R>> {
        let layout = Layout::contiguous(shape);
        let merged = merge::<R>(layout.dims(), layout.stride());
        let (shape, strides) = merged.ok_or_else(|| unmerged("output", "y", R))?;
        self.strided_mut(shape, strides, 0)
    }

    pub(crate) fn strided_mut<const R: usize>(
        &mut self,
        shape: [usize; R],
        strides: [isize; R],
        offset: usize,
    ) -> Result<ViewMut<'_, T, R>> {
        let device = self.call.stream().device();
        let base = match &mut self.target {
            Target::Host(values) => ViewMut::from_slice(device, values, [0]),
            #[cfg(feature = "cuda")]
            // SAFETY: as of `Read::base`, and the slice is borrowed exclusively.
            Target::Cuda { address, len, .. } => unsafe { ViewMut::from_raw_parts(device, *address, *len, [0], [1]) },
        };
        let offset = if shape.contains(&0) { 0 } else { offset };
        base.and_then(|base| base.with_offset(offset)?.as_strided(shape, strides)).map_err(wrap)
    }

    /// A tensor's storage, to be written in place.
    pub(crate) fn cpu(call: &'a Call, op: &'static str, storage: &'a mut CpuStorage) -> Result<Write<'a, T>> {
        use candle_core::backend::BackendStorage;
        let found = storage.dtype();
        let values = T::host_mut(storage).ok_or_else(|| dtype(op, "weight", found, &[<T as WithDType>::DTYPE]))?;
        Ok(Write { call, target: Target::Host(values) })
    }

    /// A tensor's storage on a CUDA device, to be written in place.
    #[cfg(feature = "cuda")]
    pub(crate) fn cuda(call: &'a Call, storage: &'a mut candle_core::CudaStorage) -> Result<Write<'a, T>> {
        Ok(Write { call, target: Target::of_slice(storage.as_cuda_slice_mut::<T>()?, call) })
    }
}

#[cfg(feature = "cuda")]
impl<'a, T: DeviceRepr> Target<'a, T> {
    fn of_slice(slice: &'a mut CudaSlice<T>, call: &'a Call) -> Target<'a, T> {
        let len = slice.len();
        let (address, guard) = slice.device_ptr_mut(call.theirs());
        Target::Cuda { address, len, _guard: guard }
    }
}

/// The strides of row-major order.
pub(crate) fn row_major<const R: usize>(shape: [usize; R]) -> [isize; R] {
    let mut strides = [1isize; R];
    for axis in (1..R).rev() {
        strides[axis - 1] = strides[axis].saturating_mul(isize::try_from(shape[axis]).unwrap_or(isize::MAX));
    }
    strides
}

enum Elements<T> {
    Host(Vec<T>),
    #[cfg(feature = "cuda")]
    Cuda(CudaSlice<T>),
}

/// Memory for a result: a vector, or of candle's pool.
pub struct Memory<T>(Elements<T>);

impl<T: Element> Memory<T> {
    /// To be written by a launch.
    pub fn write<'a>(&'a mut self, call: &'a Call) -> Write<'a, T> {
        let target = match &mut self.0 {
            Elements::Host(values) => Target::Host(values),
            #[cfg(feature = "cuda")]
            Elements::Cuda(slice) => Target::of_slice(slice, call),
        };
        Write { call, target }
    }

    /// To be read by a launch.
    pub(crate) fn read<'a>(&'a self, call: &'a Call, op: &'static str) -> Read<'a, T> {
        let source = match &self.0 {
            Elements::Host(values) => Source::Host(values),
            #[cfg(feature = "cuda")]
            Elements::Cuda(slice) => Source::of_slice(slice, call),
        };
        Read { call, op, operand: "statistics", source, layout: None }
    }

    fn into_storage(self, call: &Call) -> Storage {
        match self.0 {
            Elements::Host(values) => Storage::Cpu(T::to_cpu_storage_owned(values)),
            #[cfg(feature = "cuda")]
            Elements::Cuda(slice) => {
                Storage::Cuda(candle_core::CudaStorage::wrap_cuda_slice(slice, call.cuda().clone()))
            }
            #[cfg(not(feature = "cuda"))]
            #[allow(unreachable_patterns, reason = "`call` is of use with the feature `cuda` alone")]
            _ => unreachable!("{}", call.stream().device()),
        }
    }

    /// What candle takes of an operation.
    pub fn into_output(self, call: &Call) -> Output {
        Output(self.into_storage(call))
    }

    /// A tensor without a gradient.
    pub(crate) fn into_tensor(self, call: &Call, shape: impl Into<Shape>) -> Tensor {
        Tensor::from_storage(self.into_storage(call), shape, candle_core::op::BackpropOp::none(), false)
    }
}

impl Call {
    /// A tensor that kernels read, by its name in messages.
    ///
    /// # Errors
    /// If its elements have another type.
    pub fn read<'a, T: Element>(
        &'a self,
        op: &'static str,
        operand: &'static str,
        of: Operand<'a>,
    ) -> Result<Read<'a, T>> {
        Read::new(self, op, operand, of)
    }

    pub(crate) fn ids<'a>(&'a self, op: &'static str, operand: &'static str, of: Operand<'a>) -> Result<ReadIds<'a>> {
        ReadIds::new(self, op, operand, of)
    }

    /// Memory whose values are unspecified on a GPU, for a launch that writes all of it.
    ///
    /// # Errors
    /// If there is too little memory.
    pub fn fresh<T: Element>(&self, len: usize) -> Result<Memory<T>> {
        #[cfg(feature = "cuda")]
        if self.is_cuda() {
            // SAFETY: the launch that follows writes all elements; where an extent is 0 nothing reads the one that is there.
            return Ok(Memory(Elements::Cuda(unsafe { self.cuda().alloc::<T>(len.max(1))? })));
        }
        self.host(len)
    }

    /// Memory that is zero, of `f32`.
    pub(crate) fn zeros(&self, len: usize) -> Result<Memory<f32>> {
        #[cfg(feature = "cuda")]
        if self.is_cuda() {
            return Ok(Memory(Elements::Cuda(self.cuda().alloc_zeros::<f32>(len.max(1))?)));
        }
        self.host(len)
    }

    fn host<T: Element>(&self, len: usize) -> Result<Memory<T>> {
        let mut values = Vec::new();
        values.try_reserve_exact(len).map_err(wrap)?;
        values.resize(len, T::from_f64(0.0));
        Ok(Memory(Elements::Host(values)))
    }
}
