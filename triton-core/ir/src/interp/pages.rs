//! A sparse array by address: pages of slots, which are made when they are first asked for.
//!
//! A small direct-mapped cache of pages stands before the map. All of shared memory fits it, so that accesses to it hash nothing.

use std::collections::HashMap;
use std::ops::Range;

/// Slots of a page: a row of a tile, rather than a stretch of which most is never accessed.
const SLOTS: u64 = 256;
/// Entries of the cache.
const CACHED: usize = 1024;
/// No page has this number.
const NONE: u64 = u64::MAX;

/// A slot for every address.
pub(super) struct Pages<T> {
    pages: Vec<Box<[T]>>,
    /// The index of each page, by its number.
    index: HashMap<u64, usize>,
    /// Number and index of the page that was last asked for, by the low bits of its number; empty until there is one.
    recent: Vec<(u64, usize)>,
}

impl<T> Default for Pages<T> {
    fn default() -> Self {
        Pages { pages: Vec::new(), index: HashMap::new(), recent: Vec::new() }
    }
}

impl<T: Clone + Default> Pages<T> {
    /// Calls `f` with the slot of each address of a range, up to its first error.
    pub(super) fn each<E>(
        &mut self,
        addresses: Range<u64>,
        mut f: impl FnMut(&mut T) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut at = addresses.start;
        while at < addresses.end {
            let (number, first) = (at / SLOTS, at % SLOTS);
            let end = SLOTS.min(first + (addresses.end - at));
            self.page(number)[first as usize..end as usize].iter_mut().try_for_each(&mut f)?;
            at += end - first;
        }
        Ok(())
    }

    fn page(&mut self, number: u64) -> &mut [T] {
        let entry = number as usize % CACHED;
        let index = match self.recent.get(entry) {
            Some(&(cached, index)) if cached == number => index,
            Some(_) | None => {
                let index = *self.index.entry(number).or_insert_with(|| {
                    self.pages.push(vec![T::default(); SLOTS as usize].into());
                    self.pages.len() - 1
                });
                self.recent.resize(CACHED, (NONE, 0));
                self.recent[entry] = (number, index);
                index
            }
        };
        &mut self.pages[index]
    }
}
