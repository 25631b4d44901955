//! The 16-bit floats as bits: `f16` (IEEE 754 binary16) and `bf16` (the upper half of an `f32`).
//!
//! Written here, since this crate has no dependencies: with one, whose features differ between a build's host and its target,
//! Cargo compiles it twice for every user. The results are those of the crate `half` to the bit, which a test holds.

/// What an `f32` of 2^−14 has in its bits beyond those of the same `f16`: the difference of the exponents' biases.
const REBIAS: u32 = (127 - 15) << 23;

/// The `f32` of an `f16`, exactly. A NaN becomes quiet.
pub const fn f16_to_f32(bits: u16) -> f32 {
    let (sign, magnitude) = ((bits as u32 & 0x8000) << 16, bits as u32 & 0x7fff);
    let wide = match magnitude {
        0x7c01.. => 0x7fc0_0000 | (magnitude << 13),
        0x7c00 => f32::INFINITY.to_bits(),
        0x0400.. => (magnitude << 13) + REBIAS,
        // Subnormal: a multiple of 2^−24.
        _ => (magnitude as f32 / (1 << 24) as f32).to_bits(),
    };
    f32::from_bits(sign | wide)
}

/// The `f16` next to an `f32`, ties to even. A NaN becomes quiet.
pub const fn f16_from_f32(x: f32) -> u16 {
    let (sign, magnitude) = ((x.to_bits() >> 16) as u16 & 0x8000, x.to_bits() & 0x7fff_ffff);
    let near = match magnitude {
        0x7f80_0001.. => 0x7e00 | ((magnitude >> 13) & 0x3ff),
        0x3880_0000.. => {
            let near = to_even(magnitude - REBIAS, 13);
            if near < 0x7c00 { near } else { 0x7c00 }
        }
        // Below 2^−14: near 0.5 the `f32` are as far apart as these, so that the addition rounds.
        _ => (f32::from_bits(magnitude) + 0.5).to_bits() - 0.5f32.to_bits(),
    };
    sign | near as u16
}

/// The `f32` of a `bf16`, exactly. A NaN becomes quiet.
pub const fn bf16_to_f32(bits: u16) -> f32 {
    let quiet = if bits & 0x7fff > 0x7f80 { 0x0040 } else { 0 };
    f32::from_bits(((bits | quiet) as u32) << 16)
}

/// The `bf16` next to an `f32`, ties to even. A NaN becomes quiet.
pub const fn bf16_from_f32(x: f32) -> u16 {
    if x.is_nan() { (x.to_bits() >> 16) as u16 | 0x0040 } else { to_even(x.to_bits(), 16) as u16 }
}

/// A number without its last bits, rounded to the nearest, ties to even.
const fn to_even(x: u32, bits: u32) -> u32 {
    let odd = (x >> bits) & 1;
    (x + (1 << (bits - 1)) - 1 + odd) >> bits
}

#[cfg(test)]
mod tests {
    use super::{bf16_from_f32, bf16_to_f32, f16_from_f32, f16_to_f32};
    use half::{bf16, f16};

    #[test]
    fn every_number_widens_as_in_the_crate_half() {
        for bits in 0..=u16::MAX {
            assert_eq!(f16_to_f32(bits).to_bits(), f16::from_bits(bits).to_f32().to_bits(), "f16 {bits:#x}");
            assert_eq!(bf16_to_f32(bits).to_bits(), bf16::from_bits(bits).to_f32().to_bits(), "bf16 {bits:#x}");
        }
    }

    #[test]
    fn numbers_round_as_in_the_crate_half() {
        let check = |bits: u32| {
            let x = f32::from_bits(bits);
            assert_eq!(f16_from_f32(x), f16::from_f32(x).to_bits(), "f16 of {bits:#x}");
            assert_eq!(bf16_from_f32(x), bf16::from_f32(x).to_bits(), "bf16 of {bits:#x}");
        };
        // Every number of 16 bits, the middle to the next one, and what lies beside both.
        for bits in 0..=u16::MAX {
            for exact in [f16_to_f32(bits).to_bits(), u32::from(bits) << 16] {
                for middle in [0, 1 << 11, 1 << 12, 1 << 14, 1 << 15] {
                    for bits in [exact.wrapping_add(middle), exact.wrapping_sub(middle)] {
                        [bits.wrapping_sub(1), bits, bits.wrapping_add(1)].into_iter().for_each(check);
                    }
                }
            }
        }
        (0..=u32::MAX).step_by(4099).for_each(check);
    }
}
