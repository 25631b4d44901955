//! Tensor maps as the driver encodes them, and the last ones of a loaded function.
//!
//! Encoding takes the driver more than 100 ns, and a program often launches a kernel with the views of the last time: a launch encodes
//! only what has changed since. It waits for no other thread.

use super::{Driver, cu};
use crate::error::Error;
use crate::tensor_map::TiledView;
use cudarc::driver::sys::{
    CUtensorMap, CUtensorMapDataType as DataType, CUtensorMapFloatOOBfill as Fill, CUtensorMapInterleave as Interleave,
    CUtensorMapL2promotion as Promotion, CUtensorMapSwizzle as Swizzle,
};
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::sync::{Mutex, TryLockError};
use triton_core::metadata::{MAX_RANK, MapElements, MapSwizzle, ParamType, TensorMap};
use triton_core::types::DType;

/// A tensor map that a loaded function takes, and what it was last encoded to.
#[derive(Debug)]
pub(crate) struct MapSlot {
    map: TensorMap,
    ty: ParamType,
    last: Mutex<Option<Encoded>>,
}

/// An encoded map, and the words of the view that it was encoded from: zeros follow them.
#[derive(Clone, Copy, Debug)]
struct Encoded {
    words: [u64; ParamType::MAX_WORDS],
    map: CUtensorMap,
}

impl MapSlot {
    /// A map that is not encoded yet, of a parameter of this type.
    pub(crate) fn new(map: TensorMap, ty: ParamType) -> MapSlot {
        MapSlot { map, ty, last: Mutex::new(None) }
    }

    /// The map for the values of each argument.
    ///
    /// # Errors
    /// The driver's, when it does not take the map.
    pub(super) fn encoded(&self, driver: &Driver, values: &[&[u64]]) -> Result<CUtensorMap, Error> {
        let view = values.get(self.map.param as usize).copied().unwrap_or_default();
        let mut words = [0; ParamType::MAX_WORDS];
        for (word, value) in words.iter_mut().zip(view) {
            *word = *value;
        }
        // Another launch of this function that encodes at the moment is not waited for.
        let mut last = match self.last.try_lock() {
            Ok(last) => Some(last),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        };
        if let Some(last) = last.as_ref().and_then(|last| last.as_ref()).filter(|last| last.words == words) {
            return Ok(last.map);
        }
        let map = encode(driver, &self.map, self.ty, view)?;
        if let Some(last) = &mut last {
            **last = Some(Encoded { words, map });
        }
        Ok(map)
    }
}

/// The driver's bytes of a map of a view.
#[inline(never)]
fn encode(driver: &Driver, map: &TensorMap, ty: ParamType, view: &[u64]) -> Result<CUtensorMap, Error> {
    const CALL: &str = "cuTensorMapEncodeTiled";
    // Launches take images only whose maps describe their views, so that this is a mistake in the image.
    let invalid = || Error::Driver { call: CALL, code: 1, message: "a view that no tensor map describes".to_string() };
    let tiled = TiledView::new(map, ty, view).ok_or_else(invalid)?;
    let mut encoded = MaybeUninit::<CUtensorMap>::uninit();
    let element_strides = [1; MAX_RANK];
    // SAFETY: the first pointer is to the memory of a map, aligned as one. The lists have at least as many entries as the rank asks
    // for, of strides one fewer, and are only read. The address is of a buffer and is not accessed.
    unsafe {
        cu!(
            driver,
            cuTensorMapEncodeTiled(
                encoded.as_mut_ptr(),
                data_type(tiled.dtype, tiled.elements),
                tiled.rank as u32,
                std::ptr::without_provenance_mut::<c_void>(tiled.address as usize),
                tiled.sizes.as_ptr(),
                tiled.strides.as_ptr(),
                tiled.boxes.as_ptr(),
                element_strides.as_ptr(),
                Interleave::CU_TENSOR_MAP_INTERLEAVE_NONE,
                swizzle(tiled.swizzle),
                Promotion::CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
                Fill::CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
            )
        )
    }?;
    // SAFETY: the call that fills it succeeded.
    Ok(unsafe { encoded.assume_init() })
}

/// The type of the elements. Where copies move bits, signs and `bool` do not matter.
fn data_type(dtype: DType, elements: MapElements) -> DataType {
    match dtype {
        DType::F32 if elements == MapElements::Tf32 => DataType::CU_TENSOR_MAP_DATA_TYPE_TFLOAT32,
        DType::Bool | DType::I8 | DType::U8 => DataType::CU_TENSOR_MAP_DATA_TYPE_UINT8,
        DType::I16 | DType::U16 => DataType::CU_TENSOR_MAP_DATA_TYPE_UINT16,
        DType::I32 => DataType::CU_TENSOR_MAP_DATA_TYPE_INT32,
        DType::U32 => DataType::CU_TENSOR_MAP_DATA_TYPE_UINT32,
        DType::I64 => DataType::CU_TENSOR_MAP_DATA_TYPE_INT64,
        DType::U64 => DataType::CU_TENSOR_MAP_DATA_TYPE_UINT64,
        DType::F16 => DataType::CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
        DType::BF16 => DataType::CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
        DType::F32 => DataType::CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
        DType::F64 => DataType::CU_TENSOR_MAP_DATA_TYPE_FLOAT64,
    }
}

fn swizzle(swizzle: MapSwizzle) -> Swizzle {
    match swizzle {
        MapSwizzle::None => Swizzle::CU_TENSOR_MAP_SWIZZLE_NONE,
        MapSwizzle::B32 => Swizzle::CU_TENSOR_MAP_SWIZZLE_32B,
        MapSwizzle::B64 => Swizzle::CU_TENSOR_MAP_SWIZZLE_64B,
        MapSwizzle::B128 => Swizzle::CU_TENSOR_MAP_SWIZZLE_128B,
    }
}
