//! What was chosen before: a map that is nearly always read.

use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{PoisonError, RwLock};

/// The hash of a number that is a hash.
#[derive(Default)]
struct Same(u64);

impl Hasher for Same {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.0 = self.0.rotate_left(8) ^ u64::from(byte));
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

/// What was chosen for a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Remembered {
    pub(crate) index: u32,
    /// Whether measuring would tell no more.
    pub(crate) is_final: bool,
}

/// From the hash of a key to a choice. 64 bits do not meet by chance, and a wrong choice would still be one that fits.
///
/// In front of the map is a cache of few choices, each in one word with 54 bits of its hash: a launch that finds its own there takes no lock.
pub(crate) struct Memory {
    all: RwLock<HashMap<u64, Remembered, BuildHasherDefault<Same>>>,
    /// Changed under the lock of `all`. The low bits of a hash say where its choice is; 0 is none.
    recent: [AtomicU64; RECENT],
}

const RECENT: usize = 64;

/// The low bits of a word of [`Memory::recent`] hold the choice, the others are those of the hash.
const CHOICE: u64 = 0xffff;

impl Default for Memory {
    fn default() -> Memory {
        Memory { all: RwLock::default(), recent: [const { AtomicU64::new(0) }; RECENT] }
    }
}

impl Memory {
    /// No allocation; of a recent choice no lock, else one read lock.
    #[inline]
    pub(crate) fn get(&self, hash: u64) -> Option<Remembered> {
        let word = self.recent[hash as usize % RECENT].load(Relaxed);
        if word & !CHOICE == hash & !CHOICE && word & CHOICE != 0 {
            let choice = (word & CHOICE) - 1;
            return Some(Remembered { index: (choice >> 1) as u32, is_final: choice & 1 == 1 });
        }
        self.older(hash)
    }

    #[inline(never)]
    fn older(&self, hash: u64) -> Option<Remembered> {
        let all = self.all.read().unwrap_or_else(PoisonError::into_inner);
        let found = all.get(&hash).copied()?;
        self.note(hash, Some(found));
        Some(found)
    }

    pub(crate) fn set(&self, hash: u64, choice: Remembered) {
        let mut all = self.all.write().unwrap_or_else(PoisonError::into_inner);
        all.insert(hash, choice);
        self.note(hash, Some(choice));
    }

    pub(crate) fn forget(&self, hash: u64) {
        let mut all = self.all.write().unwrap_or_else(PoisonError::into_inner);
        all.remove(&hash);
        self.note(hash, None);
    }

    /// Puts a choice where its hash says, and nothing in place of one whose number has too many bits. The caller holds the lock.
    fn note(&self, hash: u64, choice: Option<Remembered>) {
        let word = choice.map(|choice| (u64::from(choice.index) << 1 | u64::from(choice.is_final)) + 1);
        let word = word.filter(|word| *word <= CHOICE).map_or(0, |word| hash & !CHOICE | word);
        self.recent[hash as usize % RECENT].store(word, Relaxed);
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = self.all.read().unwrap_or_else(PoisonError::into_inner);
        write!(f, "Memory({} keys)", all.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_recent_is_what_was_set_last() {
        let memory = Memory::default();
        let of = |index| Remembered { index, is_final: index % 2 == 0 };
        // As many as share each place, and choices of any number.
        let hashes: Vec<u64> = (1..=4 * RECENT as u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        let indices = [0, 1, 7, 32_766, 32_767, 32_768, u32::MAX];
        for (i, &hash) in hashes.iter().enumerate() {
            assert_eq!(memory.get(hash), None);
            memory.set(hash, of(indices[i % indices.len()]));
        }
        for _ in 0..2 {
            for (i, &hash) in hashes.iter().enumerate() {
                assert_eq!(memory.get(hash), Some(of(indices[i % indices.len()])));
            }
        }
        memory.set(hashes[3], of(5));
        assert_eq!(memory.get(hashes[3]), Some(of(5)));
        memory.forget(hashes[3]);
        assert_eq!(memory.get(hashes[3]), None);
    }
}
