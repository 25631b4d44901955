//! What was chosen before: a map that is nearly always read.

use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasherDefault, Hasher};
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
#[derive(Default)]
pub(crate) struct Memory(RwLock<HashMap<u64, Remembered, BuildHasherDefault<Same>>>);

impl Memory {
    /// One read lock, no allocation.
    #[inline]
    pub(crate) fn get(&self, hash: u64) -> Option<Remembered> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(&hash).copied()
    }

    pub(crate) fn set(&self, hash: u64, choice: Remembered) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(hash, choice);
    }

    pub(crate) fn forget(&self, hash: u64) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).remove(&hash);
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let map = self.0.read().unwrap_or_else(PoisonError::into_inner);
        write!(f, "Memory({} keys)", map.len())
    }
}
