//! Launches that were made before, as the driver takes them.
//!
//! A program launches a kernel with the arguments of an earlier launch again and again: each layer of a network in each step. Which code they take, how
//! many blocks run, the tensor maps and the pointers to parameters follow from the arguments and the grid alone. They are kept, so that such a launch
//! compares its arguments and calls the driver. The driver evicts our code from the core's caches each time, so that what is not run is worth
//! more than its instructions.
//!
//! A launch that is made once is not kept: the first one leaves its hash, and the second one is kept.

use super::Driver;
use super::module::Function;
use super::stream::RawStream;
use super::tensor_map::Maps;
use super::types::CUtensorMap;
use crate::error::Error;
use crate::tensor_map::MAX_MAPS;
use std::ffi::c_void;
use std::fmt;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard};
use triton_ir::metadata::ParamType;

/// Launches that are kept of a config.
const SLOTS: usize = 16;

/// Launches of a config of a kernel on a context.
#[derive(Debug, Default)]
pub(crate) struct Prepared {
    slots: [Slot; SLOTS],
}

/// The place of the launches whose hashes end alike.
#[derive(Debug, Default)]
struct Slot {
    /// The hash of what is kept, to be told without the lock; 0 of nothing.
    hash: AtomicU64,
    /// That of the last launch that was not found here.
    seen: AtomicU64,
    kept: Mutex<Option<Kept>>,
}

/// A launch: its arguments and grid, and what follows from them.
pub(crate) struct Kept {
    programs: [u32; 3],
    types: Box<[ParamType]>,
    function: &'static Function,
    blocks: [u32; 3],
    /// The words of all arguments; then, if the code takes them, the numbers of programs and the slot for assertions.
    ///
    /// Not boxed, as the maps: a box that is moved would claim its memory for itself, which the pointers name.
    words: Vec<u64>,
    /// Where the code's words begin that are not of arguments.
    of_arguments: usize,
    /// Never read but through the pointers.
    _maps: Vec<CUtensorMap>,
    /// To the words and the maps, in the order of the parameters.
    pointers: Box<[*mut c_void]>,
}

// SAFETY: the pointers are into its own vectors, which nothing else names and which nothing changes.
unsafe impl Send for Kept {}

/// What is kept of a launch beside its arguments.
pub(crate) struct Parts<'p> {
    pub(crate) function: &'static Function,
    pub(crate) maps: &'p Maps,
    pub(crate) programs: [u32; 3],
    pub(crate) blocks: [u32; 3],
    /// The numbers of programs, and the slot for assertions, of code that takes them.
    pub(crate) more: &'p [u64],
}

impl Prepared {
    /// The launch that is kept for these arguments, each with its type. Another thread that has it is not waited for.
    #[inline]
    pub(crate) fn find<'v>(
        &self,
        hash: u64,
        programs: [u32; 3],
        args: impl Iterator<Item = (ParamType, &'v [u64])>,
    ) -> Option<Again<'_>> {
        let slot = &self.slots[hash as usize % SLOTS];
        if slot.hash.load(Relaxed) != hash {
            return None;
        }
        let kept = slot.kept.try_lock().ok()?;
        let is_same = kept.as_ref().is_some_and(|kept| kept.programs == programs && kept.is_of(args));
        is_same.then_some(Again(kept))
    }

    /// Takes down a launch that was made and not found: it is kept if the last one in its place was the same.
    #[inline]
    pub(crate) fn note(&self, hash: u64, keep: impl FnOnce() -> Option<Kept>) {
        let slot = &self.slots[hash as usize % SLOTS];
        if slot.seen.swap(hash, Relaxed) == hash {
            slot.keep(hash, keep);
        }
    }
}

impl Slot {
    #[cold]
    #[inline(never)]
    fn keep(&self, hash: u64, keep: impl FnOnce() -> Option<Kept>) {
        if let Ok(mut kept) = self.kept.try_lock() {
            *kept = keep();
            self.hash.store(if kept.is_some() { hash } else { 0 }, Relaxed);
        }
    }
}

impl Kept {
    /// A launch with these arguments, each with its type; `None` if the driver does not take a tensor map.
    pub(crate) fn new<'v>(
        driver: &Driver,
        args: impl Iterator<Item = (ParamType, &'v [u64])> + Clone,
        parts: &Parts<'_>,
    ) -> Option<Kept> {
        let (types, values): (Vec<ParamType>, Vec<&[u64]>) = args.unzip();
        let mut memory = [const { MaybeUninit::<CUtensorMap>::uninit() }; MAX_MAPS];
        let maps: Vec<CUtensorMap> = parts.maps.encoded(driver, &values, &mut memory).ok()?.copied().collect();
        let mut words = values.concat();
        let of_arguments = words.len();
        words.extend(parts.more);
        let (of_values, of_more) = words.split_at(of_arguments);
        let pointer = |word: &u64| std::ptr::from_ref(word).cast_mut().cast::<c_void>();
        let of_maps = maps.iter().map(|map| std::ptr::from_ref(map).cast_mut().cast());
        let pointers = of_values.iter().map(pointer).chain(of_maps).chain(of_more.iter().map(pointer)).collect();
        let Parts { function, programs, blocks, .. } = *parts;
        Some(Kept { programs, types: types.into(), function, blocks, of_arguments, pointers, words, _maps: maps })
    }

    /// Whether it is of these arguments.
    #[inline]
    fn is_of<'v>(&self, args: impl Iterator<Item = (ParamType, &'v [u64])>) -> bool {
        let mut words = self.words[..self.of_arguments].iter();
        let mut types = self.types.iter();
        for (ty, values) in args {
            if types.next() != Some(&ty) || !values.iter().all(|value| words.next() == Some(value)) {
                return false;
            }
        }
        types.len() == 0 && words.len() == 0
    }
}

/// A launch that is about to be made again.
pub(crate) struct Again<'s>(MutexGuard<'s, Option<Kept>>);

impl Again<'_> {
    /// Enqueues it.
    ///
    /// # Errors
    /// The driver's.
    #[inline]
    pub(crate) fn launch(&self, stream: &RawStream) -> Result<(), Error> {
        let Some(kept) = &*self.0 else { return Ok(()) };
        stream.context.enter()?;
        // SAFETY: there is a pointer for each parameter of the kernel, to a word or an encoded map, which live as long as the lock is held; the
        // driver reads them only.
        unsafe { kept.function.enqueue(stream, kept.blocks, kept.pointers.as_ptr().cast_mut()) }
    }
}

impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Kept({:?}, {:?})", self.programs, &self.words[..self.of_arguments])
    }
}
