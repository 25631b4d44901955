//! Tensor maps as the simulator encodes them.

use crate::tensor_map::TiledView;
use triton_ir::metadata::{MapElements, MapSwizzle, ParamMetadata, TensorMap};
use triton_ir::types::DType;
use triton_sim::hopper::{self, DataType, L2Promotion, Swizzle};

/// The bytes of a map for the values of each argument; else why there are none. A launch takes an image only if its maps describe
/// their views: what is left is a box that breaks the rules.
pub(super) fn encode(map: &TensorMap, params: &[ParamMetadata], values: &[&[u64]]) -> Result<Vec<u8>, String> {
    let index = map.param as usize;
    let view = params.get(index).zip(values.get(index)).and_then(|(param, words)| TiledView::new(map, param.ty, words));
    let view = view.ok_or_else(|| format!("no tensor map describes argument {index}"))?;
    let (rank, outer) = (view.rank, view.rank.saturating_sub(1));
    let (sizes, strides, boxes) = (&view.sizes[..rank], &view.strides[..outer], &view.boxes[..rank]);
    let map = hopper::TensorMap::tiled(data_type(view.dtype, view.elements), view.address, sizes, strides, boxes)
        .swizzle(swizzle(view.swizzle))
        .l2_promotion(L2Promotion::B128)
        .build();
    map.map(|map| map.encode().to_vec()).map_err(|error| format!("the tensor map of argument {index}: {error}"))
}

/// The type of the elements. Where copies move bits, signs and `bool` do not matter.
fn data_type(dtype: DType, elements: MapElements) -> DataType {
    match dtype {
        DType::F32 if elements == MapElements::Tf32 => DataType::Tf32,
        DType::Bool | DType::I8 | DType::U8 => DataType::U8,
        DType::I16 | DType::U16 => DataType::U16,
        DType::I32 => DataType::S32,
        DType::U32 => DataType::U32,
        DType::I64 => DataType::S64,
        DType::U64 => DataType::U64,
        DType::F16 => DataType::F16,
        DType::BF16 => DataType::Bf16,
        DType::F32 => DataType::F32,
        DType::F64 => DataType::F64,
    }
}

fn swizzle(swizzle: MapSwizzle) -> Swizzle {
    match swizzle {
        MapSwizzle::None => Swizzle::None,
        MapSwizzle::B32 => Swizzle::B32,
        MapSwizzle::B64 => Swizzle::B64,
        MapSwizzle::B128 => Swizzle::B128,
    }
}
