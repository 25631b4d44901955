//! Memory of a device of any element type, as bits.

use std::any::Any;
use std::cell::{Ref, RefCell, RefMut};
use triton::prelude::*;
use triton_core::types::DType;

/// A device buffer whose element type the caller does not know.
trait AnyBuffer {
    fn address(&self) -> u64;
    fn download(&self, stream: &Stream) -> triton::Result<Vec<u64>>;
    fn as_any(&self) -> &dyn Any;
    fn as_any_mut(&mut self) -> &mut dyn Any;
}

impl<T: Element> AnyBuffer for Buffer<T> {
    fn address(&self) -> u64 {
        Buffer::address(self)
    }

    fn download(&self, stream: &Stream) -> triton::Result<Vec<u64>> {
        Ok(stream.download(self)?.into_iter().map(T::to_bits).collect())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}

/// A buffer on a device.
pub struct Memory {
    buffer: RefCell<Box<dyn AnyBuffer>>,
    dtype: DType,
}

/// Runs `$body` with `$T` standing for the Rust type of `$dtype`.
macro_rules! with_type {
    ($dtype:expr, $T:ident => $body:expr) => {
        with_type!(@ $dtype, $T => $body; Bool bool, I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64, F16 f16, BF16 bf16, F32 f32, F64 f64)
    };
    (@ $dtype:expr, $T:ident => $body:expr; $($variant:ident $t:ty),*) => {
        match $dtype { $( DType::$variant => { type $T = $t; $body } )* }
    };
}

impl Memory {
    /// A buffer with these elements.
    ///
    /// # Errors
    /// Of the device.
    pub fn upload(stream: &Stream, dtype: DType, bits: &[u64]) -> triton::Result<Memory> {
        let buffer: Box<dyn AnyBuffer> = with_type!(dtype, T => {
            let values: Vec<T> = bits.iter().map(|&bits| <T as Element>::from_bits(bits)).collect();
            Box::new(stream.upload(&values)?)
        });
        Ok(Memory { buffer: RefCell::new(buffer), dtype })
    }

    /// What it holds.
    ///
    /// # Errors
    /// Of the device, also those of earlier launches.
    pub fn download(&self, stream: &Stream) -> triton::Result<Vec<u64>> {
        self.buffer.borrow().download(stream)
    }

    /// The address of an element.
    pub fn address(&self, element: usize) -> u64 {
        self.buffer.borrow().address() + element as u64 * u64::from(self.dtype.bytes())
    }

    /// The buffer, which must be of this type.
    pub fn typed<T: Element>(&self) -> Ref<'_, Buffer<T>> {
        Ref::map(self.buffer.borrow(), |buffer| buffer.as_any().downcast_ref().expect("a buffer of the kernel's type"))
    }

    /// The buffer, which must be of this type and not in use.
    pub fn typed_mut<T: Element>(&self) -> RefMut<'_, Buffer<T>> {
        RefMut::map(self.buffer.borrow_mut(), |buffer| {
            buffer.as_any_mut().downcast_mut().expect("a buffer of the kernel's type")
        })
    }
}
