//! Pieces of copies, against a loop over the elements of the box that says what an H200 was seen to do.

use crate::hopper::{CopyError, DataType, Fill, Piece, Swizzle, TensorMap};
use std::collections::BTreeMap;

const BASE: u64 = 0x10_0000;

/// Every byte that a copy touches: shared address → global address, or none outside the tensor.
fn bytes(map: &TensorMap, coordinates: &[i32], shared: u32) -> BTreeMap<u32, Option<u64>> {
    let mut touched = BTreeMap::new();
    map.for_each_piece(coordinates, shared, false, |Piece { shared, global, bytes }| {
        assert!((1..=16).contains(&bytes));
        for i in 0..bytes {
            let before = touched.insert(shared + i, global.map(|address| address + u64::from(i)));
            assert_eq!(before, None, "shared byte {} twice", shared + i);
        }
    })
    .unwrap();
    assert_eq!(touched.len() as u32, map.box_bytes());
    touched
}

/// The same, element by element.
fn expected(map: &TensorMap, coordinates: &[i32], shared: u32) -> BTreeMap<u32, Option<u64>> {
    let element = map.data_type().bytes();
    let axes = map.axes();
    let counts: Vec<u32> = axes.iter().map(|axis| axis.span.div_ceil(axis.step)).collect();
    let pitch = if map.swizzle() == Swizzle::None { counts[0] * element } else { map.swizzle().span() };
    let mut touched = BTreeMap::new();
    for number in 0..counts.iter().product() {
        let (mut rest, mut global, mut row) = (number / counts[0], Some(map.address()), 0);
        let mut scale = 1;
        for (i, axis) in axes.iter().enumerate() {
            let at = if i == 0 { number % counts[0] } else { rest % counts[i] };
            if i > 0 {
                row += at * scale;
                scale *= counts[i];
                rest /= counts[i];
            }
            let index = i64::from(coordinates[i]) + i64::from(at * axis.step);
            let inside = (0..axis.size as i64).contains(&index);
            global = global.filter(|_| inside).map(|g| g + index as u64 * axis.stride);
        }
        let linear = shared + row * pitch + number % counts[0] * element;
        for byte in 0..element {
            touched.insert(map.swizzle().apply(linear + byte), global.map(|g| g + u64::from(byte)));
        }
    }
    touched
}

#[test]
fn a_copy_touches_what_the_elements_of_its_box_say() {
    let swizzles = [(Swizzle::None, 16), (Swizzle::B32, 32), (Swizzle::B64, 64), (Swizzle::B128, 128)];
    for data_type in [DataType::U8, DataType::Bf16, DataType::F32, DataType::F64] {
        let element = data_type.bytes();
        for (swizzle, span) in swizzles {
            for row_bytes in [16, 32, 64, 128] {
                if swizzle != Swizzle::None && row_bytes > span {
                    continue;
                }
                for step in [1, 2, 3] {
                    let map = TensorMap::tiled(data_type, BASE, &[37, 20], &[512], &[row_bytes / element, 10])
                        .swizzle(swizzle)
                        .element_strides(&[2, step])
                        .build()
                        .unwrap();
                    let wide = 16 / element as i32;
                    for (x, y) in [(0, 0), (-wide, -2), (wide, 7), (2 * wide, 15), (400, 0), (0, 30), (-400, -30)] {
                        for shared in [0, 128, 640] {
                            assert_eq!(bytes(&map, &[x, y], shared), expected(&map, &[x, y], shared));
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn boxes_have_up_to_five_dimensions() {
    let one = TensorMap::tiled(DataType::Bf16, BASE, &[37], &[], &[64]).build().unwrap();
    // A panel of 64 columns after the other, as a third dimension with a smaller stride than the second.
    let panels = TensorMap::tiled(DataType::Bf16, BASE, &[64, 30, 4], &[512, 128], &[64, 16, 2])
        .swizzle(Swizzle::B128)
        .build()
        .unwrap();
    let five = TensorMap::tiled(DataType::F32, BASE, &[7, 3, 4, 5, 6], &[32, 96, 384, 1920], &[8, 2, 3, 2, 4])
        .element_strides(&[1, 1, 2, 1, 3])
        .build()
        .unwrap();
    let cases: [(&TensorMap, &[i32]); 6] = [
        (&one, &[8]),
        (&one, &[-16]),
        (&panels, &[0, 16, 2]),
        (&panels, &[0, 20, 3]),
        (&five, &[0, 0, 0, 0, 0]),
        (&five, &[4, -1, 2, 4, -1]),
    ];
    for (map, coordinates) in cases {
        assert_eq!(bytes(map, coordinates, 1024), expected(map, coordinates, 1024), "{map:?} {coordinates:?}");
    }
}

/// Read off an H200: rows of 32 bytes with a swizzle of 64 bytes lie 64 bytes apart, and the tensor ends inside of a chunk.
#[test]
fn short_rows_of_a_swizzle_have_its_pitch() {
    let map =
        TensorMap::tiled(DataType::U16, BASE, &[117, 64], &[256], &[16, 3]).swizzle(Swizzle::B64).build().unwrap();
    assert_eq!((map.box_bytes(), map.shared_bytes()), (96, 192));
    let mut pieces = Vec::new();
    map.for_each_piece(&[104, 62], 128, false, |piece| pieces.push(piece)).unwrap();
    let piece = |shared, global: Option<u64>, bytes| Piece { shared, global, bytes };
    let row = |y: u64| Some(BASE + y * 256 + 208);
    let next = |y: u64| Some(BASE + y * 256 + 224);
    assert_eq!(
        pieces,
        [
            piece(128 + 16, row(62), 16),
            piece(128, next(62), 10),
            piece(128 + 10, None, 6),
            piece(128 + 64 + 16, row(63), 16),
            piece(128 + 64, next(63), 10),
            piece(128 + 64 + 10, None, 6),
            piece(256 + 32, None, 16),
            piece(256 + 48, None, 16),
        ]
    );
}

/// Read off an H200: of rows of 1 to 9 numbers of 16 bits, a store writes 8 or 16 numbers each.
#[test]
fn a_store_writes_whole_chunks() {
    for (columns, written) in [(1, 16), (7, 16), (8, 16), (9, 32)] {
        let map = TensorMap::tiled(DataType::U16, BASE, &[columns, 3], &[128], &[64, 16]).build().unwrap();
        let mut bytes = 0;
        let count = |piece: Piece| bytes += if piece.global.is_some() { piece.bytes } else { 0 };
        map.for_each_piece(&[0, 0], 0, true, count).unwrap();
        assert_eq!(bytes, 3 * written, "{columns} columns");
    }
}

#[test]
fn a_copy_that_the_chip_refuses_is_an_error() {
    let map = TensorMap::tiled(DataType::U16, BASE, &[120, 64], &[256], &[8, 8]).build().unwrap();
    let cases: [(&[i32], u32, CopyError); 7] = [
        (&[], 0, CopyError::Rank { found: 0, expected: 2 }),
        (&[0], 0, CopyError::Rank { found: 1, expected: 2 }),
        (&[0, 0, 0], 0, CopyError::Rank { found: 3, expected: 2 }),
        (&[0, 0], 64, CopyError::Shared(64)),
        (&[4, 0], 0, CopyError::Coordinate { coordinate: 4, bytes: 8 }),
        (&[-3, 0], 0, CopyError::Coordinate { coordinate: -3, bytes: -6 }),
        (&[0, 0], u32::MAX - 127, CopyError::Overflow(u32::MAX - 127)),
    ];
    for (coordinates, shared, error) in cases {
        let result = map.for_each_piece(coordinates, shared, false, |piece| panic!("{piece:?}"));
        assert_eq!(result, Err(error));
    }
}

#[test]
fn types_say_what_a_load_does_to_values() {
    for data_type in DataType::ALL {
        let map = TensorMap::tiled(data_type, BASE, &[64], &[], &[16]);
        let zeros = map.clone().build().unwrap();
        assert_eq!(zeros.rounds_to_tf32(), matches!(data_type, DataType::Tf32 | DataType::Tf32Ftz));
        assert_eq!(zeros.fill_pattern(), 0);
        if data_type.is_float() {
            assert_eq!(map.fill(Fill::Nan).build().unwrap().fill_pattern(), 0x7ff7);
        }
    }
}

/// Addresses past the last one saturate to it; nothing is allocated there.
#[test]
fn far_addresses_do_not_wrap() {
    let map = TensorMap::tiled(DataType::U8, 0, &[16, 1 << 32], &[(1 << 40) - 16], &[16, 1]).build().unwrap();
    let mut found = Vec::new();
    map.for_each_piece(&[0, i32::MAX], 0, false, |piece| found.push(piece.global)).unwrap();
    assert_eq!(found, [Some(u64::MAX)]);
}
