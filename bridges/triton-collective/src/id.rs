//! The name of a world: 128 bytes that all of its ranks have.

use std::fmt;
use std::hash::{BuildHasher, Hasher, RandomState};

/// The name of a world, which rank 0 makes and gives to the others by whatever means the program has: by a variable to threads, by a file or a
/// message to processes.
///
/// On the CPU and the simulator it names a world of one process, whose ranks are threads. On GPUs its bytes are those of an `ncclUniqueId`:
/// [`Id::of_gpus`].
///
/// ```
/// use triton_collective::Id;
///
/// let id = Id::new();
/// assert_eq!(Id::from_bytes(*id.as_bytes()), id);
/// assert_ne!(Id::new(), id);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Id([u8; 128]);

impl Id {
    /// A new one, which no other world has.
    #[expect(clippy::new_without_default, reason = "two of them differ")]
    pub fn new() -> Id {
        let mut bytes = [0; 128];
        for word in bytes.chunks_exact_mut(8) {
            word.copy_from_slice(&random().to_le_bytes());
        }
        Id(bytes)
    }

    /// The one of these bytes.
    pub fn from_bytes(bytes: [u8; 128]) -> Id {
        Id(bytes)
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8; 128] {
        &self.0
    }
}

/// A number that is not used twice: the system's entropy is in the keys of the standard library's hasher.
pub(crate) fn random() -> u64 {
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    hasher.finish()
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Id(")?;
        self.0[..8].iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
        f.write_str("..)")
    }
}
