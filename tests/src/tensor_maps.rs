//! The tensor maps that a launch of a case passes, as the simulator encodes them.

use triton_core::ir::{Function, View};
use triton_core::metadata::{Arg, Image, MapElements, MapSwizzle, TensorMap as Map};
use triton_core::types::{DType, Elem};
use triton_sim::hopper::{DataType, Swizzle, TensorMap};

/// The bytes of each map of an image, for the values of the function's parameters; `None` where no map describes a view, and a launch takes
/// another image.
pub fn encode(image: &Image, func: &Function, args: &[Arg]) -> Option<Vec<Vec<u8>>> {
    let views = views(image, func, args)?;
    let encode = |(map, (dtype, words)): (&Map, &Words)| {
        let rank = words.len() / 2;
        let (sizes, strides) = (&words[1..=rank], &words[1 + rank..]);
        let reversed = |values: &[u64]| values.iter().rev().copied().collect::<Vec<u64>>();
        let bytes: Vec<u64> = reversed(&strides[..rank - 1]).iter().map(|s| s * u64::from(dtype.bytes())).collect();
        let boxes: Vec<u32> = map.extents[..rank].iter().rev().copied().collect();
        let built = TensorMap::tiled(data_type(*dtype, map.elements), words[0], &reversed(sizes), &bytes, &boxes);
        let swizzle = match map.swizzle {
            MapSwizzle::None => Swizzle::None,
            MapSwizzle::B32 => Swizzle::B32,
            MapSwizzle::B64 => Swizzle::B64,
            MapSwizzle::B128 => Swizzle::B128,
        };
        Some(built.swizzle(swizzle).build().ok()?.encode().to_vec())
    };
    image.tensor_maps.iter().zip(&views).map(encode).collect()
}

/// Whether a launch takes an image of these views, as far as the bytes between their rows go.
pub fn takes_pitches(image: &Image, func: &Function, args: &[Arg]) -> bool {
    let pitch = |(dtype, words): &Words| words[words.len() - 2] * u64::from(dtype.bytes());
    views(image, func, args).is_some_and(|views| image.takes_pitches(views.iter().map(pitch)))
}

/// A view: the type of its elements, its address, its extents and its strides.
type Words = (DType, Vec<u64>);

/// The view of each map.
fn views(image: &Image, func: &Function, args: &[Arg]) -> Option<Vec<Words>> {
    let position = |value| func.params.iter().position(|param| param.value == value);
    // The first parameter of the code of each of the user's.
    let views = |view: &&View| position(view.base).is_some();
    let views: Vec<&View> = func.views.iter().filter(views).collect();
    let mut firsts = Vec::new();
    let mut word = 0;
    while word < func.params.len() {
        firsts.push(word);
        let view = views.iter().find(|view| view.base == func.params[word].value);
        word += view.map_or(1, |view| 1 + 2 * view.extents.len());
    }
    let of_map = |map: &Map| {
        let first = *firsts.get(map.param as usize)?;
        let view = views.iter().find(|view| view.base == func.params[first].value)?;
        let Elem::Ptr { pointee: dtype, .. } = func.ty(view.base).elem else { return None };
        let words = args[first..first + 1 + 2 * view.extents.len()].iter().map(|arg| arg.bits()).collect();
        Some((dtype, words))
    };
    image.tensor_maps.iter().map(of_map).collect()
}

/// Where copies move bits, which type of a width it is does not matter.
fn data_type(dtype: DType, elements: MapElements) -> DataType {
    if elements == MapElements::Tf32 {
        return DataType::Tf32;
    }
    match dtype.bytes() {
        1 => DataType::U8,
        2 => DataType::U16,
        4 => DataType::U32,
        _ => DataType::U64,
    }
}
