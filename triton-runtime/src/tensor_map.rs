//! Tensor maps of the views of a launch: which views one can describe, and the description from which a device encodes it.

use triton_ir::metadata::{Image, MAX_RANK, MapElements, MapSwizzle, ParamType, TensorMap};
use triton_ir::types::DType;

/// The most tensor maps of an image that is launched: maps are encoded into memory on the stack. 31 would fill the 4 KiB of a
/// kernel's parameters.
pub(crate) const MAX_MAPS: usize = 16;

/// Bytes of which addresses and strides are multiples.
const ALIGNMENT: u64 = 16;

/// Strides in bytes are below this.
const STRIDE_LIMIT: u64 = 1 << 40;

/// A view and its boxes as `cuTensorMapEncodeTiled` takes them: the innermost dimension first, which is the view's last axis.
/// Entries past the rank are 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TiledView {
    pub(crate) dtype: DType,
    pub(crate) rank: usize,
    /// Of the first element, in bytes.
    pub(crate) address: u64,
    /// Elements of each dimension.
    pub(crate) sizes: [u64; MAX_RANK],
    /// Bytes from an element to the next one along each dimension but the innermost, whose elements are contiguous.
    pub(crate) strides: [u64; MAX_RANK - 1],
    /// Elements of a box along each dimension.
    pub(crate) boxes: [u32; MAX_RANK],
    pub(crate) swizzle: MapSwizzle,
    pub(crate) elements: MapElements,
}

impl TiledView {
    /// The description of a view whose words are these ([`ParamType::words`]); `None` where no tensor map can describe it: its
    /// address or a stride is not a multiple of 16 bytes, a stride is 0 or 2⁴⁰ bytes and more, it has no elements, or its last axis
    /// is not contiguous.
    pub(crate) fn new(map: &TensorMap, ty: ParamType, words: &[u64]) -> Option<TiledView> {
        pitch(ty, words)?;
        let ParamType::Tensor { dtype, rank, .. } = ty else { return None };
        let rank = usize::from(rank);
        let (&address, words) = words.split_first()?;
        let (extents, strides) = words.split_at_checked(rank)?;
        let mut tiled = TiledView {
            dtype,
            rank,
            address,
            sizes: [1; MAX_RANK],
            strides: [1; MAX_RANK - 1],
            boxes: [1; MAX_RANK],
            swizzle: map.swizzle,
            elements: map.elements,
        };
        for (dimension, axis) in (0..rank).rev().enumerate() {
            (tiled.sizes[dimension], tiled.boxes[dimension]) = (extents[axis], map.extents[axis]);
            if let Some(outer) = dimension.checked_sub(1) {
                tiled.strides[outer] = stride_bytes(extents[axis], strides[axis], dtype)?;
            }
        }
        Some(tiled)
    }
}

/// Bytes from an element to the next one along an axis that is not the last; `None` if no tensor map has such a stride.
#[inline]
fn stride_bytes(extent: u64, stride: u64, dtype: DType) -> Option<u64> {
    // Along an axis of one element the words have 0, and any stride is the same.
    let bytes = if extent == 1 { ALIGNMENT } else { stride.checked_mul(u64::from(dtype.bytes()))? };
    (bytes != 0 && bytes < STRIDE_LIMIT && bytes.is_multiple_of(ALIGNMENT)).then_some(bytes)
}

/// Bytes from a row of a view to the next one, 1 where it has one axis; `None` where no tensor map can describe it. Every launch asks it of each
/// view, while [`TiledView`] is made where a map is encoded.
///
/// A bulk copy to memory writes 16 bytes whole of which the map has some (measured on an H200), so that rows of a view that is written have whole
/// multiples of them: else it would overwrite what is behind the view.
#[inline]
fn pitch(ty: ParamType, words: &[u64]) -> Option<u64> {
    let ParamType::Tensor { dtype, rank, mutable } = ty else { return None };
    let (&address, words) = words.split_first()?;
    let (extents, strides) = words.split_at_checked(usize::from(rank))?;
    let ([outer @ .., last], [pitches @ .., 1]) = (extents, strides) else { return None };
    let has_elements = |extent: u64| (1..=i32::MAX as u64).contains(&extent);
    if !address.is_multiple_of(ALIGNMENT) || extents.len() > MAX_RANK || !has_elements(*last) {
        return None;
    }
    if mutable && !(last * u64::from(dtype.bytes())).is_multiple_of(ALIGNMENT) {
        return None;
    }
    let mut pitch = 1;
    for (&extent, &stride) in outer.iter().zip(pitches) {
        pitch = stride_bytes(extent, stride, dtype).filter(|_| has_elements(extent))?;
    }
    (outer.len() == pitches.len()).then_some(pitch)
}

/// The type and the words of an argument.
type Value<'a> = (ParamType, &'a [u64]);

/// Whether a launch with these arguments can take an image, as far as its tensor maps go.
#[inline]
pub(crate) fn can_take(image: &Image, args: &[Value<'_>]) -> bool {
    let maps = &image.tensor_maps;
    describe_all(maps, args) && image.takes_pitches(pitches(maps, args).flatten())
}

/// Bytes from a row to the next one of the view of each map, if the map can describe it.
fn pitches<'m>(maps: &'m [TensorMap], args: &'m [Value<'_>]) -> impl Iterator<Item = Option<u64>> {
    maps.iter().map(|map| args.get(map.param as usize).and_then(|&(ty, words)| pitch(ty, words)))
}

/// Whether each map has a view that it can describe.
fn describe_all(maps: &[TensorMap], args: &[Value<'_>]) -> bool {
    maps.len() <= MAX_MAPS && pitches(maps, args).all(|pitch| pitch.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tiled(dtype: DType, words: &[u64]) -> Option<TiledView> {
        let rank = u8::try_from(words.len() / 2).expect("a rank");
        let map = TensorMap::new(0, [2, 3, 4, 5, 6], MapSwizzle::B64, MapElements::Bits);
        TiledView::new(&map, ParamType::Tensor { dtype, rank, mutable: false }, words)
    }

    #[test]
    fn dimensions_are_the_axes_from_the_last() {
        let expected = TiledView {
            dtype: DType::BF16,
            rank: 3,
            address: 0x1230,
            sizes: [9, 8, 7, 1, 1],
            strides: [32, 1024, 1, 1],
            boxes: [4, 3, 2, 1, 1],
            swizzle: MapSwizzle::B64,
            elements: MapElements::Bits,
        };
        assert_eq!(tiled(DType::BF16, &[0x1230, 7, 8, 9, 512, 16, 1]), Some(expected));
        let line = TiledView { rank: 1, sizes: [5, 1, 1, 1, 1], strides: [1; 4], boxes: [2, 1, 1, 1, 1], ..expected };
        assert_eq!(tiled(DType::BF16, &[0x1230, 5, 1]), Some(line));
        // Along axes of one element there are 16 bytes, whatever the words say.
        let ones = TiledView { sizes: [9, 1, 1, 1, 1], strides: [16, 16, 1, 1], ..expected };
        assert_eq!(tiled(DType::BF16, &[0x1230, 1, 1, 9, 0, 3, 1]), Some(ones));
        assert_eq!(
            tiled(DType::F64, &[0, 3, 3, 3, 3, 3, 8, 6, 4, 2, 1]).map(|tiled| tiled.strides),
            Some([16, 32, 48, 64])
        );
    }

    #[test]
    fn views_that_no_map_describes() {
        let most = i32::MAX as u64;
        let below = (1 << 40) / 4 - 4;
        for (words, legal) in [
            ([0x1000, 8, 8, 8, 1], true),
            ([0x1008, 8, 8, 8, 1], false),
            ([0x1000, 8, 8, 6, 1], false),
            ([0x1000, 8, 8, 0, 1], false),
            ([0x1000, 1, 8, 0, 1], true),
            ([0x1000, 8, 1, 8, 1], true),
            ([0x1000, 0, 8, 8, 1], false),
            ([0x1000, 8, 0, 8, 1], false),
            ([0x1000, most, most, 4, 1], true),
            ([0x1000, most + 1, 8, 8, 1], false),
            ([0x1000, 8, 8, below, 1], true),
            ([0x1000, 8, 8, below + 4, 1], false),
            ([0x1000, 8, 8, 1 << 62, 1], false),
            ([0x1000, 8, 8, 1, 8], false),
        ] {
            assert_eq!(tiled(DType::F32, &words).is_some(), legal, "{words:?}");
        }
        let map = TensorMap::new(0, [1; MAX_RANK], MapSwizzle::None, MapElements::Bits);
        assert_eq!(TiledView::new(&map, ParamType::Ptr(DType::F32), &[0x1000]), None);
    }

    #[test]
    fn each_map_has_its_view() {
        let args = [(ParamType::Scalar(DType::I32), &[1][..])];
        let map = |param| TensorMap::new(param, [1; MAX_RANK], MapSwizzle::None, MapElements::Bits);
        assert!(describe_all(&[], &args));
        assert!(!describe_all(&[map(0)], &args), "a scalar");
        assert!(!describe_all(&[map(1)], &args), "no argument");
    }
}
