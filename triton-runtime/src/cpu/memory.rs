//! The memory of the CPU device as the interpreter sees it: all live buffers, and nothing else.

use super::registry::Registry;
use crate::driver::host::HostMemory;
use crate::lock;
use crate::reach::Reach;
use std::fmt;
use std::sync::{Arc, Mutex};
use triton_ir::interp::{Fault, Memory};

static REGISTRY: Mutex<Registry<Arc<HostMemory>>> = Mutex::new(Registry::new());

/// A new live block of zeros; `None` when there is no memory.
pub(crate) fn allocate(bytes: usize) -> Option<Arc<HostMemory>> {
    let block = Arc::new(HostMemory::new(bytes)?);
    let garbage = lock(&REGISTRY).insert(block.address(), block.clone());
    drop(garbage);
    Some(block)
}

/// The buffer is gone. The block itself lives until the launches are done that see it.
pub(crate) fn forget(block: &HostMemory) {
    let garbage = lock(&REGISTRY).remove(block.address());
    drop(garbage);
}

/// All buffers of the CPU device that are alive when [`CpuMemory::snapshot`] is called: what a kernel can reach there.
///
/// **Invariant:** for launches alone, which hold the borrows of the buffers that they pass. Users could otherwise
/// write memory that a host copy, which is not atomic, reads at the same time:
///
/// ```compile_fail
/// use triton_runtime::CpuMemory;
/// ```
///
/// Accesses are checked against the buffers' ends and the elements' natural alignment, and are relaxed atomics of the
/// element's width: programs that race leave one of the values.
#[derive(Clone)]
pub(crate) struct CpuMemory {
    /// Sorted by address, disjoint.
    blocks: Arc<[Arc<HostMemory>]>,
}

impl CpuMemory {
    /// The buffers alive now. They stay readable as long as this value lives.
    pub(crate) fn snapshot() -> CpuMemory {
        CpuMemory { blocks: lock(&REGISTRY).snapshot() }
    }

    /// The same, and memory of other owners.
    pub(crate) fn with(foreign: &[Reach]) -> CpuMemory {
        let memory = CpuMemory::snapshot();
        if foreign.is_empty() {
            return memory;
        }
        // What lies in a buffer is reached through it. Regions that touch are one, so that all stay disjoint.
        let end = |region: &Reach| region.address + region.bytes;
        let inside = |region: &Reach| {
            let buffer = memory.below(region.address);
            buffer.is_some_and(|buffer| end(region) <= buffer.address() + buffer.len() as u64)
        };
        let mut regions: Vec<Reach> =
            foreign.iter().copied().filter(|region| region.bytes > 0 && !inside(region)).collect();
        regions.sort_by_key(|region| region.address);
        let mut merged: Vec<Reach> = Vec::with_capacity(regions.len());
        for region in regions {
            match merged.last_mut() {
                Some(last) if region.address <= end(last) => last.bytes = end(last).max(end(&region)) - last.address,
                _ => merged.push(region),
            }
        }
        let foreign = merged.into_iter().filter_map(HostMemory::foreign).map(Arc::new);
        let mut blocks: Vec<Arc<HostMemory>> = memory.blocks.iter().cloned().chain(foreign).collect();
        blocks.sort_by_key(|block| block.address());
        CpuMemory { blocks: blocks.into() }
    }

    /// The block whose address is the last at or below this one.
    fn below(&self, address: u64) -> Option<&HostMemory> {
        let after = self.blocks.partition_point(|b| b.address() <= address);
        self.blocks[..after].last().map(|b| &**b)
    }

    /// Calls `access` for each element that is not masked off, with its block and offset. Accesses of one tile are mostly
    /// to one buffer, so the last block is tried first.
    #[inline]
    fn each<const W: usize>(
        &self,
        addresses: &[u64],
        mask: Option<&[u64]>,
        mut access: impl FnMut(usize, &HostMemory, usize) -> Option<()>,
    ) -> Result<(), Fault> {
        let Some(mut block) = self.blocks.first().map(|b| &**b) else {
            return match (0..addresses.len()).find(|&i| mask.is_none_or(|m| m[i] != 0)) {
                None => Ok(()),
                Some(i) => Err(self.fault(W, i, addresses[i])),
            };
        };
        let mut base = block.address();
        for (i, &address) in addresses.iter().enumerate() {
            if mask.is_some_and(|m| m[i] == 0) {
                continue;
            }
            // An address below the base wraps to an offset beyond every block.
            let offset = address.wrapping_sub(base) as usize;
            if access(i, block, offset).is_some() {
                continue;
            }
            block = self.below(address).ok_or_else(|| self.fault(W, i, address))?;
            base = block.address();
            access(i, block, (address - base) as usize).ok_or_else(|| self.fault(W, i, address))?;
        }
        Ok(())
    }

    fn load_all<const W: usize>(&self, addresses: &[u64], mask: Option<&[u64]>, out: &mut [u64]) -> Result<(), Fault> {
        self.each::<W>(addresses, mask, |i, block, offset| {
            out[i] = block.load::<W>(offset)?;
            Some(())
        })
    }

    fn store_all<const W: usize>(&self, addresses: &[u64], mask: Option<&[u64]>, values: &[u64]) -> Result<(), Fault> {
        self.each::<W>(addresses, mask, |i, block, offset| block.store::<W>(offset, values[i]))
    }

    fn update_all<const W: usize>(
        &self,
        addresses: &[u64],
        mask: Option<&[u64]>,
        replace: &dyn Fn(usize, u64) -> u64,
        out: &mut [u64],
    ) -> Result<(), Fault> {
        self.each::<W>(addresses, mask, |i, block, offset| {
            out[i] = block.update::<W>(offset, |old| replace(i, old))?;
            Some(())
        })
    }

    #[cold]
    fn fault(&self, width: usize, element: usize, address: u64) -> Fault {
        Fault { element, address, reason: self.reason(width as u64, address) }
    }

    /// Why an access fails, as the end of a sentence.
    fn reason(&self, width: u64, address: u64) -> String {
        let after = self.blocks.partition_point(|b| b.address() <= address);
        let below = self.blocks[..after].last().map(|b| (address - b.address(), b.len() as u64));
        if let Some((offset, len)) = below
            && offset < len
        {
            if !address.is_multiple_of(width) {
                return format!(
                    "not aligned to the {width} bytes of an element (byte {offset} of a buffer of {len} bytes)"
                );
            }
            return format!(
                "the last {} of its {width} bytes lie past the end of a buffer of {len} bytes",
                offset + width - len
            );
        }
        let past = below.map(|(offset, len)| (offset - len, len));
        let before = self.blocks.get(after).map(|b| (b.address() - address, b.len() as u64));
        match (past, before) {
            (Some((gap, len)), other) if other.is_none_or(|(far, _)| gap <= far) => match gap {
                0 => format!("just past the end of a buffer of {len} bytes"),
                _ => format!("{} past the end of a buffer of {len} bytes", bytes(gap)),
            },
            (_, Some((gap, len))) => format!("{} before the start of a buffer of {len} bytes", bytes(gap)),
            (_, None) => "outside every buffer: the CPU device has none".to_string(),
        }
    }
}

fn bytes(n: u64) -> String {
    if n == 1 { "1 byte".to_string() } else { format!("{n} bytes") }
}

impl Memory for CpuMemory {
    fn load(&self, width: u32, addresses: &[u64], mask: Option<&[u64]>, out: &mut [u64]) -> Result<(), Fault> {
        match width {
            1 => self.load_all::<1>(addresses, mask, out),
            2 => self.load_all::<2>(addresses, mask, out),
            4 => self.load_all::<4>(addresses, mask, out),
            8 => self.load_all::<8>(addresses, mask, out),
            other => Err(no_width(other, addresses)),
        }
    }

    fn store(&self, width: u32, addresses: &[u64], mask: Option<&[u64]>, values: &[u64]) -> Result<(), Fault> {
        match width {
            1 => self.store_all::<1>(addresses, mask, values),
            2 => self.store_all::<2>(addresses, mask, values),
            4 => self.store_all::<4>(addresses, mask, values),
            8 => self.store_all::<8>(addresses, mask, values),
            other => Err(no_width(other, addresses)),
        }
    }

    fn update(
        &self,
        width: u32,
        addresses: &[u64],
        mask: Option<&[u64]>,
        replace: &dyn Fn(usize, u64) -> u64,
        out: &mut [u64],
    ) -> Result<(), Fault> {
        match width {
            1 => self.update_all::<1>(addresses, mask, replace, out),
            2 => self.update_all::<2>(addresses, mask, replace, out),
            4 => self.update_all::<4>(addresses, mask, replace, out),
            8 => self.update_all::<8>(addresses, mask, replace, out),
            other => Err(no_width(other, addresses)),
        }
    }

    fn print(&self, lines: &str) {
        print!("{lines}");
    }
}

fn no_width(width: u32, addresses: &[u64]) -> Fault {
    let address = addresses.first().copied().unwrap_or(0);
    Fault { element: 0, address, reason: format!("no element has {width} bytes (1, 2, 4 or 8 are possible)") }
}

impl fmt::Debug for CpuMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CpuMemory({} buffers)", self.blocks.len())
    }
}

#[cfg(test)]
mod tests;
