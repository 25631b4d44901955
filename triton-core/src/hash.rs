//! The hash of names: of hidden items, of files.

/// FNV-1a of 64 bits (Fowler, Noll and Vo). It is well distributed, the same on every machine, and not cryptographic.
pub fn fnv1a(bytes: impl IntoIterator<Item = u8>) -> u64 {
    bytes
        .into_iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

#[test]
fn known_hashes() {
    // From the reference implementation's test vectors.
    assert_eq!(fnv1a([]), 0xcbf2_9ce4_8422_2325);
    assert_eq!(fnv1a(*b"a"), 0xaf63_dc4c_8601_ec8c);
    assert_eq!(fnv1a(*b"foobar"), 0x8594_4171_f739_67e8);
}
