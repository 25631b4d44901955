//! Descriptors against a chip, and against what copies put into shared memory.

use crate::hopper::{DataType, Descriptor, DescriptorError, Major, Piece, Swizzle, TensorMap};
use crate::matrix::Element;
use std::collections::HashSet;

/// The 64 bits of a descriptor with base offset 0.
fn bits(start: u32, leading: u32, stride: u32, swizzle: Swizzle) -> u64 {
    let field = |bytes: u32| u64::from(bytes & 0x3ffff) >> 4;
    let code = match swizzle {
        Swizzle::None => 0,
        Swizzle::B128 => 1,
        Swizzle::B64 => 2,
        Swizzle::B32 => 3,
    };
    field(start) | field(leading) << 16 | field(stride) << 32 | code << 62
}

/// Descriptors, and the addresses from which an H200 read elements (mn, k) = (0, 9), (3, 2), (45, 7), (127, 15) of a B of `f16`
/// with n = 128. Shared memory held its own addresses, A was the unit matrix.
#[test]
fn addresses_are_those_of_a_chip() {
    let cases = [
        (Major::K, 0x0000_0040_0180_0000, [6146, 52, 5214, 21630]),
        (Major::K, 0x0000_0040_0001_0008, [146, 180, 5342, 15630]),
        (Major::K, 0x0004_0080_0040_0000, [1026, 52, 10334, 31870]),
        (Major::K, 0x4000_0080_0040_0000, [18, 436, 10974, 31726]),
        (Major::K, 0x4000_0048_0090_0002, [50, 404, 6414, 18270]),
        (Major::K, 0x4004_0048_0090_0080, [2162, 2452, 8462, 20318]),
        (Major::K, 0x8000_0040_0001_0000, [18, 212, 5486, 15854]),
        (Major::K, 0x8000_0080_0040_0080, [2066, 2260, 12654, 33262]),
        (Major::K, 0x8002_0040_0001_0080, [2082, 2244, 7518, 17918]),
        (Major::K, 0xc000_0040_0180_0000, [18, 100, 5310, 15598]),
        (Major::K, 0xc000_0048_0090_0008, [130, 244, 6078, 17646]),
        (Major::K, 0xc00a_0040_0180_0002, [34, 132, 5326, 15630]),
        (Major::Mn, 0x0000_0080_0040_0000, [1040, 38, 10362, 31870]),
        (Major::Mn, 0x0000_0080_0040_0080, [3088, 2086, 12410, 33918]),
        (Major::Mn, 0x0004_0040_0180_0002, [6192, 70, 5274, 21662]),
        (Major::Mn, 0x4000_0080_0040_0000, [2192, 294, 938, 3982]),
        (Major::Mn, 0x4000_0080_0040_0002, [2224, 262, 906, 4126]),
        (Major::Mn, 0x4002_0080_0040_0080, [4224, 2326, 3002, 6046]),
        (Major::Mn, 0x8000_0080_0040_0000, [2112, 150, 1514, 5582]),
        (Major::Mn, 0x8000_0080_0040_0002, [2144, 182, 1482, 5662]),
        (Major::Mn, 0x800a_0040_0180_0002, [1104, 166, 6618, 20014]),
        (Major::Mn, 0xc000_0048_0090_0000, [1200, 70, 4842, 17534]),
        (Major::Mn, 0xc000_0080_0040_0080, [4128, 2118, 4330, 11502]),
        (Major::Mn, 0xc002_0040_0180_0000, [1072, 86, 12538, 44286]),
    ];
    for (major, bits, addresses) in cases {
        let descriptor = Descriptor::decode(bits).unwrap();
        let found = [(0, 9), (3, 2), (45, 7), (127, 15)].map(|(mn, k)| descriptor.address(major, Element::F16, mn, k));
        assert_eq!(found, addresses, "{bits:#018x}");
    }
}

#[test]
fn bits_are_decoded() {
    let descriptor = |leading, stride, swizzle| Descriptor { start: 0x400, leading, stride, base_offset: 0, swizzle };
    let cases = [
        (0x4000_0040_0001_0040, descriptor(16, 1024, Swizzle::B128)),
        (0x8000_0020_0001_0040, descriptor(16, 512, Swizzle::B64)),
        (0xc000_0010_0001_0040, descriptor(16, 256, Swizzle::B32)),
        (0x4000_0040_0200_0040, descriptor(8192, 1024, Swizzle::B128)),
        (0x000a_0000_0000_0040, Descriptor { base_offset: 5, ..descriptor(0, 0, Swizzle::None) }),
    ];
    for (bits, expected) in cases {
        assert_eq!(Descriptor::decode(bits), Ok(expected));
    }
    for bit in [14, 15, 30, 31, 46, 47, 48, 52, 57, 61] {
        let bits = 0x4000_0040_0001_0040 | 1 << bit;
        assert_eq!(Descriptor::decode(bits), Err(DescriptorError::Reserved(bits, 1 << bit)));
    }
}

/// Bytes of a line of the tensors below.
const LINE: u32 = 512;

/// A tensor of lines that are contiguous in global memory at address 0, and shared memory that parts of it go to.
struct Memory {
    global: Vec<u8>,
    shared: Vec<u8>,
}

impl Memory {
    fn new(lines: u32, shared: u32) -> Memory {
        let global = (0..lines * LINE).map(|i| (i.wrapping_mul(0x9e37_79b1) >> 24) as u8).collect();
        Memory { global, shared: vec![0; shared as usize] }
    }

    /// Loads the box at element `x` of the first line to a shared address.
    fn load(&mut self, map: &TensorMap, x: u32, at: u32) {
        map.for_each_piece(&[x as i32, 0], at, false, |Piece { shared, global, bytes }| {
            let from = global.unwrap() as usize;
            self.shared[shared as usize..][..bytes as usize].copy_from_slice(&self.global[from..][..bytes as usize]);
        })
        .unwrap();
    }

    /// Reads an operand through a descriptor: each chunk has the bytes of the tensor, from `k0` on, and none is missing.
    fn check(&self, bits: u64, major: Major, element: Element, extent: u32, k0: u32) {
        let name = format!("{bits:#x} {major:?} {element} {extent} {k0}");
        let descriptor = Descriptor::decode(bits).unwrap();
        let wide = 16 / element.bytes();
        let mut chunks = HashSet::new();
        for chunk in descriptor.chunks(major, element, extent) {
            let (line, at) = match major {
                Major::K => (chunk.mn, k0 + chunk.k),
                Major::Mn => (k0 + chunk.k, chunk.mn),
            };
            let expected = &self.global[(line * LINE + at * element.bytes()) as usize..][..16];
            assert_eq!(&self.shared[chunk.address as usize..][..16], expected, "{name}: {chunk:?}");
            for i in 0..wide {
                let (mn, k) = if major == Major::K { (chunk.mn, chunk.k + i) } else { (chunk.mn + i, chunk.k) };
                assert!(mn < extent && k < 32 / element.bytes(), "{name}: {chunk:?}");
                assert_eq!(descriptor.address(major, element, mn, k), chunk.address + i * element.bytes(), "{name}");
            }
            assert!(chunks.insert((chunk.mn, chunk.k)), "{name}: {chunk:?} twice");
        }
        assert_eq!(chunks.len() as u32, extent * 2, "{name}");
    }
}

const TYPES: [(Element, DataType); 6] = [
    (Element::Bf16, DataType::Bf16),
    (Element::F16, DataType::F16),
    (Element::Tf32, DataType::F32),
    (Element::E4m3, DataType::U8),
    (Element::S8, DataType::U8),
    (Element::U8, DataType::U8),
];

/// Every swizzle, at a start of its pattern and, since addresses are absolute, at any multiple of 128.
const SWIZZLES: [Swizzle; 4] = [Swizzle::None, Swizzle::B32, Swizzle::B64, Swizzle::B128];
const STARTS: [u32; 3] = [1024, 1024 + 128, 5 * 128];

/// K-major: panels of one swizzle row of K, one below the other.
#[test]
fn products_read_what_copies_wrote_k_major() {
    for (element, data_type) in TYPES {
        for swizzle in SWIZZLES {
            for extent in (8..=256u32).step_by(8) {
                let start = STARTS[extent as usize / 8 % 3];
                let (span, step) = (swizzle.span(), 32 / element.bytes());
                let sizes = [u64::from(LINE / element.bytes()), 256];
                let map = TensorMap::tiled(data_type, 0, &sizes, &[u64::from(LINE)], &[span / element.bytes(), extent])
                    .swizzle(swizzle)
                    .build()
                    .unwrap();
                let panel = extent * span;
                let mut memory = Memory::new(256, start + 256 / span * panel);
                for i in 0..256 / span {
                    memory.load(&map, i * span / element.bytes(), start + i * panel);
                }
                for k0 in (0..256 / element.bytes()).step_by(step as usize) {
                    let byte = k0 * element.bytes();
                    let at = start + byte / span * panel + byte % span;
                    let bits = bits(at, panel, 8 * span, swizzle);
                    memory.check(bits, Major::K, element, extent, k0);
                }
            }
        }
    }
}

/// MN-major, 16 bits: panels of one swizzle row of MN and 64 K, as attention stores V.
#[test]
fn products_read_what_copies_wrote_mn_major() {
    const K: u32 = 64;
    for (element, data_type) in TYPES.into_iter().filter(|(element, _)| element.bytes() == 2) {
        for swizzle in SWIZZLES {
            let span = swizzle.span();
            let map = TensorMap::tiled(data_type, 0, &[256, K.into()], &[LINE.into()], &[span / 2, K])
                .swizzle(swizzle)
                .build()
                .unwrap();
            for extent in (8..=256u32).step_by(8) {
                let start = STARTS[extent as usize / 8 % 3];
                let (panels, panel) = ((extent * 2).div_ceil(span), K * span);
                let mut memory = Memory::new(K, start + panels * panel);
                for i in 0..panels {
                    memory.load(&map, i * span / 2, start + i * panel);
                }
                // Without a swizzle, the two offsets change their roles.
                let (leading, stride) = if swizzle == Swizzle::None { (8 * span, panel) } else { (panel, 8 * span) };
                for k0 in (0..K).step_by(16) {
                    let bits = bits(start + k0 * span, leading, stride, swizzle);
                    memory.check(bits, Major::Mn, element, extent, k0);
                }
            }
        }
    }
}

/// Without a swizzle: core matrices of 8 × 16 bytes that a kernel stores itself, in the order that it likes.
#[test]
fn core_matrices_lie_anywhere() {
    for (element, extent) in [(Element::Tf32, 64), (Element::Bf16, 64), (Element::S8, 256)] {
        // Both cores of a row of K beside each other.
        let (leading, stride) = (128, 256);
        let mut memory = Memory::new(256, extent * 32);
        for line in 0..extent {
            for byte in 0..32 {
                let core = line / 8 * stride + byte / 16 * leading;
                let at = core + line % 8 * 16 + byte % 16;
                memory.shared[at as usize] = memory.global[(line * LINE + byte) as usize];
            }
        }
        let bits = bits(0, leading, stride, Swizzle::None);
        memory.check(bits, Major::K, element, extent, 0);
    }
}
