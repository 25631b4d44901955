//! The memory of a simulated device.

use std::ops::Range;

/// Address of the first allocation.
const FIRST: u64 = 0x7000_0000_0000;

/// Allocations begin at multiples of this, and at least that many bytes lie between two.
const GAP: u64 = 0x1000;

/// Global memory. Allocations are far apart and addresses are never reused, so that every access past an
/// end, or to freed memory, is reported.
///
/// ```
/// let mut memory = triton_sim::Memory::new();
/// let address = memory.alloc(8)?;
/// memory.write(address + 4, &[1, 2, 3, 4])?;
/// assert_eq!(memory.read(address, 8)?, [0, 0, 0, 0, 1, 2, 3, 4]);
/// memory.free(address)?;
/// assert!(memory.read(address, 8).is_err());
/// # Ok::<(), triton_sim::MemoryError>(())
/// ```
#[derive(Debug, Default)]
pub struct Memory {
    /// In the order of their addresses.
    allocations: Vec<Allocation>,
}

#[derive(Debug)]
struct Allocation {
    start: u64,
    bytes: u64,
    /// `None` when it was freed.
    data: Option<Vec<u8>>,
}

/// Why memory cannot be accessed by the host.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MemoryError {
    /// Nothing is allocated there.
    #[error("no {bytes} bytes are allocated at {address:#x}")]
    NotAllocated {
        /// First byte.
        address: u64,
        /// How many.
        bytes: u64,
    },
    /// The host does not have that much memory.
    #[error("the host has no {bytes} bytes")]
    TooLarge {
        /// How many.
        bytes: u64,
    },
}

/// What lies at an address.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Lookup {
    /// Bytes of an allocation: its number, the first byte in it.
    Inside(usize, usize),
    /// They were freed.
    Freed,
    /// Nothing; what lies near, in words.
    Outside(String),
}

impl Memory {
    /// Memory that nothing is allocated in.
    pub fn new() -> Memory {
        Memory::default()
    }

    /// Allocates this many zero bytes; the address is a multiple of 4096.
    ///
    /// # Errors
    /// The host does not have that much memory.
    pub fn alloc(&mut self, bytes: u64) -> Result<u64, MemoryError> {
        let start = self.allocations.last().map_or(FIRST, |a| (a.start + a.bytes).next_multiple_of(GAP) + GAP);
        let length = usize::try_from(bytes).ok().filter(|&n| Vec::<u8>::new().try_reserve_exact(n).is_ok());
        let data = Some(vec![0; length.ok_or(MemoryError::TooLarge { bytes })?]);
        self.allocations.push(Allocation { start, bytes, data });
        Ok(start)
    }

    /// Frees what [`Memory::alloc`] gave.
    ///
    /// # Errors
    /// Nothing is allocated at exactly this address.
    pub fn free(&mut self, address: u64) -> Result<(), MemoryError> {
        let found = self.allocations.binary_search_by_key(&address, |a| a.start).ok();
        match found.and_then(|index| self.allocations[index].data.take()) {
            Some(_) => Ok(()),
            None => Err(MemoryError::NotAllocated { address, bytes: 0 }),
        }
    }

    /// Bytes of one allocation.
    ///
    /// # Errors
    /// They do not lie in one.
    pub fn read(&self, address: u64, bytes: u64) -> Result<&[u8], MemoryError> {
        match self.find(address, bytes) {
            Lookup::Inside(index, offset) => Ok(self.bytes(index, offset..offset + bytes as usize)),
            Lookup::Freed | Lookup::Outside(_) => Err(MemoryError::NotAllocated { address, bytes }),
        }
    }

    /// Overwrites bytes of one allocation.
    ///
    /// # Errors
    /// They do not lie in one.
    pub fn write(&mut self, address: u64, data: &[u8]) -> Result<(), MemoryError> {
        let bytes = data.len() as u64;
        match self.find(address, bytes) {
            Lookup::Inside(index, offset) => {
                self.bytes_mut(index, offset..offset + data.len()).copy_from_slice(data);
                Ok(())
            }
            Lookup::Freed | Lookup::Outside(_) => Err(MemoryError::NotAllocated { address, bytes }),
        }
    }

    /// What these bytes are part of.
    pub(crate) fn find(&self, address: u64, bytes: u64) -> Lookup {
        // The last allocation that begins at the address or before.
        let after = self.allocations.partition_point(|a| a.start <= address);
        let before = after.checked_sub(1).map(|index| (index, &self.allocations[index]));
        if let Some((index, a)) = before {
            let offset = address - a.start;
            if offset.checked_add(bytes).is_some_and(|end| end <= a.bytes) {
                return if a.data.is_some() { Lookup::Inside(index, offset as usize) } else { Lookup::Freed };
            }
        }
        let mut near = Vec::new();
        if let Some((_, a)) = before {
            let distance = address - a.start;
            near.push(match distance.checked_sub(a.bytes) {
                Some(past) => format!("{past} bytes past the end of the {} bytes at {:#x}", a.bytes, a.start),
                None => format!("{distance} bytes into the {} bytes at {:#x}", a.bytes, a.start),
            });
        }
        if let Some(a) = self.allocations.get(after)
            && a.start - address < GAP
        {
            near.push(format!("{} bytes before the {} bytes at {:#x}", a.start - address, a.bytes, a.start));
        }
        let near = near.join(", ");
        Lookup::Outside(if near.is_empty() { "nothing is allocated near it".to_string() } else { near })
    }

    /// Bytes of an allocation that [`Memory::find`] gave; none if it was freed meanwhile.
    pub(crate) fn bytes(&self, index: usize, range: Range<usize>) -> &[u8] {
        self.allocations[index].data.as_deref().and_then(|data| data.get(range)).unwrap_or_default()
    }

    /// The same, to write.
    pub(crate) fn bytes_mut(&mut self, index: usize, range: Range<usize>) -> &mut [u8] {
        self.allocations[index].data.as_deref_mut().and_then(|data| data.get_mut(range)).unwrap_or_default()
    }

    /// Bytes of an allocation.
    pub(crate) fn size(&self, index: usize) -> u64 {
        self.allocations[index].bytes
    }

    /// First address of an allocation.
    pub(crate) fn start(&self, index: usize) -> u64 {
        self.allocations[index].start
    }
}
