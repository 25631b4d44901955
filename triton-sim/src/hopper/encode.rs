//! Tensor maps as 128 bytes, so that they travel through parameters and memory as the driver's do.

use super::{DataType, Fill, L2Promotion, Swizzle, TensorMap};

/// Bytes of a tensor map.
const BYTES: usize = 128;

/// What the bytes begin with.
const MAGIC: [u8; 8] = *b"sim-tmap";

/// Where the words of the dimensions begin.
const AXES: usize = 32;

/// Words of a dimension: size, stride, and the box's span and step in one byte each, less one.
const AXIS_BYTES: usize = 18;

const SWIZZLES: [Swizzle; 4] = [Swizzle::None, Swizzle::B32, Swizzle::B64, Swizzle::B128];
const PROMOTIONS: [L2Promotion; 4] = [L2Promotion::None, L2Promotion::B64, L2Promotion::B128, L2Promotion::B256];
const FILLS: [Fill; 2] = [Fill::Zeros, Fill::Nan];

impl TensorMap {
    /// The 128 bytes that stand for the map: a magic word, a checksum of the rest, the tensor's address, one byte for each of
    /// type, rank, swizzle, promotion and filling, and the dimensions. Numbers are little-endian.
    pub fn encode(&self) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[16..24].copy_from_slice(&self.address.to_le_bytes());
        bytes[24] = self.data_type as u8;
        bytes[25] = self.axes.len() as u8;
        bytes[26] = self.swizzle as u8;
        bytes[27] = self.l2_promotion as u8;
        bytes[28] = self.fill as u8;
        for (axis, slot) in self.axes.iter().zip(bytes[AXES..].chunks_exact_mut(AXIS_BYTES)) {
            slot[..8].copy_from_slice(&axis.size.to_le_bytes());
            slot[8..16].copy_from_slice(&axis.stride.to_le_bytes());
            slot[16] = (axis.span - 1) as u8;
            slot[17] = (axis.step - 1) as u8;
        }
        let checksum = checksum(&bytes[16..]);
        bytes[8..16].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// Reads what [`TensorMap::encode`] wrote; none if it is anything else. Bytes after the 128 are ignored.
    pub fn decode(bytes: &[u8]) -> Option<TensorMap> {
        let bytes = bytes.get(..BYTES)?;
        let word = |at: usize| Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
        if bytes[..8] != MAGIC || word(8)? != checksum(&bytes[16..]) {
            return None;
        }
        let rank = usize::from(bytes[25]);
        let mut axes = Vec::new();
        for slot in (AXES..).step_by(AXIS_BYTES).take(rank) {
            let (span, step) = (*bytes.get(slot + 16)?, *bytes.get(slot + 17)?);
            axes.push((word(slot)?, word(slot + 8)?, u32::from(span) + 1, u32::from(step) + 1));
        }
        let sizes: Vec<_> = axes.iter().map(|axis| axis.0).collect();
        let strides: Vec<_> = axes.iter().skip(1).map(|axis| axis.1).collect();
        let spans: Vec<_> = axes.iter().map(|axis| axis.2).collect();
        let steps: Vec<_> = axes.iter().map(|axis| axis.3).collect();
        let data_type = *DataType::ALL.get(usize::from(bytes[24]))?;
        TensorMap::tiled(data_type, word(16)?, &sizes, &strides, &spans)
            .element_strides(&steps)
            .swizzle(*SWIZZLES.get(usize::from(bytes[26]))?)
            .l2_promotion(*PROMOTIONS.get(usize::from(bytes[27]))?)
            .fill(*FILLS.get(usize::from(bytes[28]))?)
            .build()
            .ok()
    }
}

/// FNV-1a.
fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
