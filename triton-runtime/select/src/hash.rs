//! Hashes of keys, names and lists: of words and of bytes, the same on every machine.

/// An odd number without a pattern: the fraction of the golden ratio.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// Another word. For a given hash different words give different results.
#[inline]
pub(crate) fn add(hash: u64, word: u64) -> u64 {
    let product = (hash ^ word).wrapping_mul(FACTOR);
    // The high bits of a product depend on all bits of its factors, the low ones on few.
    product ^ (product >> 32)
}

/// A key, in a list of candidates of this number.
#[inline]
pub(crate) fn key(list: u64, key: &[i64]) -> u64 {
    let hash = key.iter().fold(add(FACTOR, list), |hash, &word| add(hash, word as u64));
    add(hash, key.len() as u64)
}

/// Bytes.
pub(crate) fn bytes(bytes: &[u8]) -> u64 {
    let mut hash = add(FACTOR, bytes.len() as u64);
    for chunk in bytes.chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        hash = add(hash, u64::from_le_bytes(word));
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn keys_differ() {
        let sides = [0, 1, 2, 15, 16, 17, 64, 1000, 4096, 8192, -1, i64::MIN];
        let mut seen = HashSet::new();
        for list in [0, 1, 0x7f00_0000_1000] {
            for (a, b, c) in sides.iter().flat_map(|a| sides.iter().flat_map(move |b| sides.map(|c| (*a, *b, c)))) {
                assert!(seen.insert(key(list, &[a, b, c])), "{list} {a} {b} {c}");
            }
            assert!(seen.insert(key(list, &[])) && seen.insert(key(list, &[0])) && seen.insert(key(list, &[0, 0])));
        }
    }

    #[test]
    fn bytes_differ() {
        let all: HashSet<u64> =
            ["", "a", "b", "ab", "ba", "abcdefgh", "abcdefghi", "\0"].map(|s| bytes(s.as_bytes())).into();
        assert_eq!(all.len(), 8);
    }
}
