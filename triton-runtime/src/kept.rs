//! Memory that a stream keeps between those that it lends it to.
//!
//! It names no stream, which owns what is kept.

use crate::driver::stream::RawStream;
use std::any::Any;
use std::sync::Arc;

/// What owns memory.
pub(crate) trait Keep: Any + Send + Sync {
    /// Its bytes.
    fn bytes(&self) -> usize;

    /// The address of the first one.
    fn address(&self) -> u64;

    /// Frees it in the order of the stream that has kept it.
    fn free(&mut self, stream: Option<&RawStream>);
}

/// Shared with graphs alone.
pub(crate) type Owner = Arc<dyn Keep>;

/// Kinds of memory that differ in their contents alone.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Lent {
    /// Zero.
    Scratch,
    /// Unspecified.
    Workspace,
}

/// How many arrays of constants are kept.
const MOST: usize = 64;

/// How many bytes of them all.
const MOST_BYTES: usize = 1 << 20;

/// Numbers on the host, and in the memory of the device.
pub(crate) struct Numbers {
    pub(crate) contents: Box<[u8]>,
    pub(crate) owner: Owner,
}

/// Memory by kind.
#[derive(Default)]
pub(crate) struct Kept {
    scratch: Vec<Owner>,
    workspace: Vec<Owner>,
    /// Those that came back first in front.
    constants: Vec<Numbers>,
}

impl Kept {
    /// Takes everything.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = Owner> {
        let constants = self.constants.drain(..).map(|numbers| numbers.owner);
        self.scratch.drain(..).chain(self.workspace.drain(..)).chain(constants)
    }

    fn of(&mut self, kind: Lent) -> &mut Vec<Owner> {
        match kind {
            Lent::Scratch => &mut self.scratch,
            Lent::Workspace => &mut self.workspace,
        }
    }

    /// Takes the smallest that has as many bytes; of equal ones always the same, since a launch of the same arguments is made again for less.
    pub(crate) fn take(&mut self, kind: Lent, bytes: usize) -> Option<Owner> {
        let all = self.of(kind);
        let fitting = (0..all.len()).filter(|&i| all[i].bytes() >= bytes);
        fitting.min_by_key(|&i| (all[i].bytes(), all[i].address())).map(|index| all.swap_remove(index))
    }

    /// Takes the largest.
    pub(crate) fn take_largest(&mut self, kind: Lent) -> Option<Owner> {
        let all = self.of(kind);
        (0..all.len()).max_by_key(|&i| all[i].bytes()).map(|index| all.swap_remove(index))
    }

    pub(crate) fn push(&mut self, kind: Lent, owner: Owner) {
        self.of(kind).push(owner);
    }

    /// Takes constants of these bytes.
    pub(crate) fn take_constants(&mut self, bytes: &[u8]) -> Option<Numbers> {
        let index = self.constants.iter().position(|numbers| *numbers.contents == *bytes)?;
        Some(self.constants.remove(index))
    }

    /// Keeps constants, and returns the ones that were there longest where that is too much.
    pub(crate) fn push_constants(&mut self, numbers: Numbers) -> Option<Owner> {
        self.constants.push(numbers);
        let bytes: usize = self.constants.iter().map(|numbers| numbers.contents.len()).sum();
        let is_too_much = self.constants.len() > MOST || bytes > MOST_BYTES;
        is_too_much.then(|| self.constants.remove(0).owner)
    }
}
