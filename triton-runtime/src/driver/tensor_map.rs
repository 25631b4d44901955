//! Tensor maps as the driver encodes them, and the last ones of a loaded function.
//!
//! Encoding takes the driver more than 100 ns, and a program often launches a kernel with the views of the last time: a launch encodes
//! only what has changed since. It waits for no other thread. What it passes to the driver is a copy, since another launch may encode
//! anew while the driver reads.

use super::types::{
    CUtensorMap, CUtensorMapDataType as DataType, CUtensorMapFloatOOBfill as Fill, CUtensorMapInterleave as Interleave,
    CUtensorMapL2promotion as Promotion, CUtensorMapSwizzle as Swizzle,
};
use super::{Driver, cu};
use crate::error::Error;
use crate::tensor_map::TiledView;
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::sync::{Mutex, TryLockError};
use triton_ir::metadata::{MAX_RANK, MapElements, MapSwizzle, ParamType, TensorMap};
use triton_ir::types::DType;

/// The tensor maps that a loaded function takes, and what they were last encoded to.
#[derive(Debug)]
pub(crate) struct Maps {
    taken: Box<[(TensorMap, ParamType)]>,
    /// One for each map, under one lock: a launch takes it once.
    last: Mutex<Box<[Option<Encoded>]>>,
}

/// An encoded map, and the words of the view that it was encoded from: zeros follow them.
#[derive(Clone, Copy, Debug)]
struct Encoded {
    words: [u64; ParamType::MAX_WORDS],
    map: CUtensorMap,
}

impl Maps {
    /// Maps that are not encoded yet, each with the type of its parameter.
    pub(crate) fn new(taken: impl IntoIterator<Item = (TensorMap, ParamType)>) -> Maps {
        let taken: Box<[_]> = taken.into_iter().collect();
        let last = Mutex::new(taken.iter().map(|_| None).collect());
        Maps { taken, last }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.taken.is_empty()
    }

    /// The maps for the values of each argument, written to the first of `memory`.
    ///
    /// # Errors
    /// The driver's, when it does not take a map.
    #[inline]
    pub(super) fn encoded<'a>(
        &self,
        driver: &Driver,
        values: &[&[u64]],
        memory: &'a mut [MaybeUninit<CUtensorMap>],
    ) -> Result<impl Iterator<Item = &'a CUtensorMap> + use<'a>, Error> {
        // Another launch of this function that encodes at the moment is not waited for.
        let mut last = match self.last.try_lock() {
            Ok(last) => Some(last),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        };
        let mut last = last.as_mut().map(|last| last.iter_mut());
        for ((map, ty), to) in self.taken.iter().zip(memory.iter_mut()) {
            let view = values.get(map.param as usize).copied().unwrap_or_default();
            let kept = last.as_mut().and_then(Iterator::next);
            match kept {
                Some(Some(kept)) if kept.is_of(view) => to.write(kept.map),
                kept => {
                    let new = encode(driver, map, *ty, view)?;
                    if let Some(kept) = kept {
                        *kept = Some(Encoded::new(view, new));
                    }
                    to.write(new)
                }
            };
        }
        // SAFETY: the loop wrote a map to each of these: as many as are taken, or all that there is memory for.
        Ok(memory.iter().take(self.taken.len()).map(|map| unsafe { map.assume_init_ref() }))
    }
}

impl Encoded {
    #[cold]
    fn new(view: &[u64], map: CUtensorMap) -> Encoded {
        let mut words = [0; ParamType::MAX_WORDS];
        for (word, value) in words.iter_mut().zip(view) {
            *word = *value;
        }
        Encoded { words, map }
    }

    /// Whether it is of the view with these words. The type of the parameter says how many they are.
    #[inline]
    fn is_of(&self, view: &[u64]) -> bool {
        // Not by slices: to compare a few words, a call takes longer than they do.
        self.words.iter().zip(view).all(|(word, value)| word == value)
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
