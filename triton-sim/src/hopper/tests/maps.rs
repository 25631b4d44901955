//! Rules of tensor maps, and their bytes.

use crate::hopper::{DataType, Fill, Interleave, L2Promotion, Swizzle, TensorMap, TensorMapBuilder, TensorMapError};

/// A map of `u16` with 64 rows of 120 elements, of which the box takes 8 × 8.
fn plain() -> TensorMapBuilder {
    TensorMap::tiled(DataType::U16, 0x1000, &[120, 64], &[256], &[8, 8])
}

/// The cases of a driver (CUDA 13.0): what it takes and what it refuses, but for addresses above 2^56.
#[test]
fn a_map_keeps_the_rules_of_the_driver() {
    use TensorMapError as E;
    let tiled = |sizes: &[u64], strides: &[u64], boxes: &[u32]| {
        TensorMap::tiled(DataType::U16, 0x1000, sizes, strides, boxes).build().err()
    };
    let two = |sizes: [u64; 2], stride: u64, boxes: [u32; 2]| tiled(&sizes, &[stride], &boxes);
    let typed = |data_type, width: u32| TensorMap::tiled(data_type, 0x1000, &[120, 64], &[256], &[width, 1]);
    let swizzled = |swizzle, width: u32| typed(DataType::U16, width).swizzle(swizzle).build().err();
    let cases = [
        (plain().build().err(), None),
        (tiled(&[], &[], &[]), Some(E::Rank(0))),
        (tiled(&[64; 6], &[128; 5], &[8; 6]), Some(E::Rank(6))),
        (tiled(&[64], &[], &[8]), None),
        (tiled(&[64; 5], &[128; 4], &[8, 8, 4, 4, 4]), None),
        (tiled(&[64; 2], &[], &[8; 2]), Some(E::Length { list: "strides", found: 0, expected: 1 })),
        (tiled(&[64; 2], &[128], &[8; 3]), Some(E::Length { list: "box sizes", found: 3, expected: 2 })),
        (
            plain().element_strides(&[1]).build().err(),
            Some(E::Length { list: "element strides", found: 1, expected: 2 }),
        ),
        (plain().interleave(Interleave::B16).build().err(), Some(E::Interleave)),
        (plain().interleave(Interleave::B32).build().err(), Some(E::Interleave)),
        (TensorMap::tiled(DataType::U8, 0x1008, &[64], &[], &[16]).build().err(), Some(E::Address(0x1008))),
        (two([0, 64], 256, [8, 8]), Some(E::Size { axis: 0, found: 0 })),
        (two([1 << 32, 64], 256, [8, 8]), None),
        (two([64, (1 << 32) + 1], 256, [8, 8]), Some(E::Size { axis: 1, found: (1 << 32) + 1 })),
        (two([120, 64], 264, [8, 8]), Some(E::Stride { axis: 1, found: 264 })),
        (two([120, 64], 1 << 40, [8, 8]), Some(E::Stride { axis: 1, found: 1 << 40 })),
        (two([120, 64], (1 << 40) - 16, [8, 8]), None),
        (two([120, 64], 0, [8, 8]), None),
        (tiled(&[64; 3], &[1024, 128], &[8; 3]), None),
        (two([120, 64], 256, [256, 256]), None),
        (two([120, 64], 256, [257, 1]), Some(E::Box { axis: 0, found: 257 })),
        (two([120, 64], 256, [8, 0]), Some(E::Box { axis: 1, found: 0 })),
        (two([120, 64], 256, [12, 1]), Some(E::InnerBytes(24))),
        (plain().element_strides(&[0, 1]).build().err(), Some(E::ElementStride { axis: 0, found: 0 })),
        (plain().element_strides(&[8, 8]).build().err(), None),
        (plain().element_strides(&[1, 9]).build().err(), Some(E::ElementStride { axis: 1, found: 9 })),
        (swizzled(Swizzle::B128, 64), None),
        (swizzled(Swizzle::B128, 72), Some(E::SwizzleSpan { found: 144, span: 128 })),
        (swizzled(Swizzle::B64, 40), Some(E::SwizzleSpan { found: 80, span: 64 })),
        (swizzled(Swizzle::B32, 24), Some(E::SwizzleSpan { found: 48, span: 32 })),
        (tiled(&[64; 3], &[128, 8192], &[256; 3]), Some(E::BoxBytes(1 << 25))),
        (tiled(&[64; 5], &[128; 4], &[256; 5]), Some(E::BoxBytes(1 << 41))),
        (typed(DataType::U16, 8).fill(Fill::Nan).build().err(), Some(E::NanFill(DataType::U16))),
        (typed(DataType::F16, 8).fill(Fill::Nan).build().err(), None),
        (typed(DataType::Tf32, 8).fill(Fill::Nan).build().err(), None),
        (typed(DataType::U8, 8).build().err(), Some(E::InnerBytes(8))),
        (typed(DataType::F64, 2).build().err(), None),
    ];
    for (i, (found, expected)) in cases.into_iter().enumerate() {
        assert_eq!(found, expected, "case {i}");
    }
}

#[test]
fn a_message_says_what_was_found_and_what_is_expected() {
    let message = |error: TensorMapError| error.to_string();
    assert_eq!(
        message(TensorMapError::Stride { axis: 1, found: 264 }),
        "the stride of dimension 1 is 264 bytes, expected a multiple of 16 below 2^40"
    );
    assert_eq!(
        message(TensorMapError::Length { list: "strides", found: 0, expected: 1 }),
        "there are 0 strides, expected 1"
    );
}

#[test]
fn a_map_survives_its_bytes() {
    let maps = [
        plain(),
        TensorMap::tiled(DataType::Tf32Ftz, u64::MAX - 15, &[1 << 32; 5], &[(1 << 40) - 16; 4], &[4, 8, 8, 8, 8])
            .element_strides(&[1, 2, 3, 4, 8])
            .swizzle(Swizzle::B128)
            .l2_promotion(L2Promotion::B256)
            .fill(Fill::Nan),
        TensorMap::tiled(DataType::U8, 16, &[1], &[], &[256]).l2_promotion(L2Promotion::B64),
    ];
    for map in maps {
        let map = map.build().unwrap();
        let bytes = map.encode();
        assert_eq!(TensorMap::decode(&bytes), Some(map.clone()));
        assert_eq!(TensorMap::decode(&[&bytes[..], &[7; 9]].concat()), Some(map));
        assert_eq!(TensorMap::decode(&bytes[..127]), None);
        for i in 0..bytes.len() {
            let mut other = bytes;
            other[i] ^= 1 << (i % 8);
            assert_eq!(TensorMap::decode(&other), None, "byte {i}");
        }
    }
    assert_eq!(TensorMap::decode(&[0; 128]), None);
}
