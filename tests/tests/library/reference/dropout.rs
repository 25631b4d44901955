//! Dropout in plain Rust: Philox, and which elements stay.

/// Of p, as many 65536ths as are nearest.
fn below(p: f32) -> u32 {
    ((p * 65536.0).round() as u32).min(65535)
}

/// What is left is multiplied by this, in `f32`.
pub fn scale(p: f32) -> f64 {
    f64::from(65536.0 / (65536 - below(p)) as f32)
}

/// Philox-4x32-10.
pub fn philox(counter: [u32; 4], key: [u32; 2]) -> [u32; 4] {
    let ([mut a, mut b, mut c, mut d], [mut k, mut l]) = (counter, key);
    for _ in 0..10 {
        let (p, q) = (u64::from(a) * 0xd251_1f53, u64::from(c) * 0xcd9e_8d57);
        (a, b, c, d) = ((q >> 32) as u32 ^ b ^ k, q as u32, (p >> 32) as u32 ^ d ^ l, p as u32);
        (k, l) = (k.wrapping_add(0x9e37_79b9), l.wrapping_add(0xbb67_ae85));
    }
    [a, b, c, d]
}

/// Whether an element stays.
pub fn stays([i, j]: [usize; 2], columns: usize, p: f32, seed: u64, offset: u64) -> bool {
    let counter = offset.wrapping_add((i * columns.div_ceil(8) + j / 8) as u64);
    let words = philox([counter as u32, (counter >> 32) as u32, 0, 0], [seed as u32, (seed >> 32) as u32]);
    words[j % 8 / 2] >> (16 * (j % 2)) & 0xffff >= below(p)
}
