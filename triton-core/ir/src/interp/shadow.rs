//! Shadow memory: what was done to each byte that later accesses may race with.
//!
//! A cell of 16 bytes has the last write, and the accesses since then: none, one, or a list elsewhere. The list is needed where
//! several threads read a byte concurrently (FastTrack's read vector), or update it by one commuting kind. An access that
//! happens before a later one of its kind is forgotten, since whatever follows the later one follows it, too.
//!
//! **Two threads of a warp represent all** that accessed a byte at one time of the warp, by the same kind of access. Let a third
//! one be unordered with an access by a thread x: then x is another thread, and the clock of its warp lacks this time. One of the
//! two is not x either, and its time is the same: that one is unordered with x. One alone would not do: it may be x itself.
//!
//! The accesses of one operation are simultaneous: all of them are checked against earlier operations' before the first write
//! among them is remembered, so that they are never compared with each other. If several threads write a byte so, the last one is
//! the cell's write, and the others are in its list.

use super::clock::{Epoch, Now};
use super::pages::Pages;
use crate::ops::kinds::AtomicKind;
use std::convert::Infallible;
use std::ops::Range;

/// The kind of access to a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AccessKind {
    Read,
    Write,
    /// An update that commutes with others of its kind.
    Update(AtomicKind),
}

impl AccessKind {
    pub(super) fn word(self) -> &'static str {
        match self {
            AccessKind::Read => "reads",
            AccessKind::Write => "writes",
            AccessKind::Update(_) => "updates",
        }
    }

    /// Whether the order of two accesses of these kinds matters.
    fn conflicts(self, other: AccessKind) -> bool {
        self == AccessKind::Write || self != other
    }
}

/// An access by a thread: an [`Epoch`] and what was done, in 8 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Access {
    time: u32,
    agent: u16,
    lane: u8,
    pub(super) kind: AccessKind,
}

impl Access {
    fn new(epoch: Epoch, kind: AccessKind) -> Access {
        let Epoch { time, agent, lane } = epoch;
        Access { time, agent, lane, kind }
    }

    pub(super) fn epoch(&self) -> Epoch {
        Epoch { time: self.time, agent: self.agent, lane: self.lane }
    }

    fn races(&self, now: &Now, kind: AccessKind) -> bool {
        self.kind.conflicts(kind) && !now.follows(self.epoch())
    }
}

/// The accesses since the last write.
#[derive(Clone, Copy, Default)]
enum Since {
    #[default]
    Nothing,
    One(Access),
    /// This list.
    Many(u32),
}

/// A byte.
#[derive(Clone, Copy, Default)]
struct Cell {
    /// The last write; before the program if there is none.
    write: Epoch,
    since: Since,
}

const _: () = assert!(size_of::<Cell>() == 16);

impl Cell {
    /// The earlier access that this one is not ordered with: a write rather than an update, an update rather than a read.
    fn race(&self, lists: &Lists, now: &Now, kind: AccessKind) -> Option<Access> {
        if !now.follows(self.write) {
            return Some(Access::new(self.write, AccessKind::Write));
        }
        match self.since {
            Since::Nothing => None,
            Since::One(access) => Some(access).filter(|access| access.races(now, kind)),
            Since::Many(list) => {
                let mut racing = lists.get(list).iter().filter(|access| access.races(now, kind));
                let first = racing.clone().find(|access| access.kind != AccessKind::Read);
                first.or_else(|| racing.next()).copied()
            }
        }
    }

    /// Remembers an access that races with none of an earlier operation.
    fn remember(&mut self, lists: &mut Lists, now: &Now, kind: AccessKind) {
        if kind != AccessKind::Write {
            return self.insert(lists, now, Access::new(now.epoch, kind));
        }
        // What this write does not follow was written by the same operation: it would be a race otherwise.
        let before = std::mem::replace(&mut self.write, now.epoch);
        match self.since {
            Since::One(access) if now.follows(access.epoch()) => self.since = Since::Nothing,
            Since::Many(list) if lists.forget(list, now) => self.since = Since::Nothing,
            Since::Nothing | Since::One(_) | Since::Many(_) => {}
        }
        if !now.follows(before) {
            self.insert(lists, now, Access::new(before, AccessKind::Write));
        }
    }

    /// Adds an access to those since the write.
    fn insert(&mut self, lists: &mut Lists, now: &Now, new: Access) {
        match self.since {
            Since::Nothing => self.since = Since::One(new),
            Since::One(old) if old.kind == new.kind && now.follows(old.epoch()) => self.since = Since::One(new),
            Since::One(old) => self.since = Since::Many(lists.make(old, new)),
            Since::Many(list) => lists.insert(list, now, new),
        }
    }
}

/// The lists of cells with several accesses since the write.
#[derive(Default)]
struct Lists {
    lists: Vec<Vec<Access>>,
    /// Those that no cell has.
    free: Vec<u32>,
}

impl Lists {
    fn get(&self, list: u32) -> &[Access] {
        self.lists.get(list as usize).map_or(&[], Vec::as_slice)
    }

    fn make(&mut self, first: Access, second: Access) -> u32 {
        let list = self.free.pop().unwrap_or_else(|| {
            self.lists.push(Vec::new());
            self.lists.len() as u32 - 1
        });
        if let Some(list) = self.lists.get_mut(list as usize) {
            list.extend([first, second]);
        }
        list
    }

    /// Takes out of a list what an access follows; whether nothing is left, and the list is free.
    fn forget(&mut self, index: u32, now: &Now) -> bool {
        let Some(list) = self.lists.get_mut(index as usize) else { return true };
        list.retain(|access| !now.follows(access.epoch()));
        if list.is_empty() {
            self.free.push(index);
        }
        list.is_empty()
    }

    fn insert(&mut self, list: u32, now: &Now, new: Access) {
        let Some(list) = self.lists.get_mut(list as usize) else { return };
        let alike = |old: &Access| (old.time, old.agent, old.kind) == (new.time, new.agent, new.kind);
        let represents = list.iter().filter(|old| alike(old));
        if represents.clone().any(|old| old.lane == new.lane) || represents.count() >= 2 {
            return;
        }
        list.retain(|old| old.kind != new.kind || !now.follows(old.epoch()));
        list.push(new);
    }
}

/// The cells of one kind of memory.
#[derive(Default)]
pub(super) struct Shadow {
    cells: Pages<Cell>,
    lists: Lists,
}

impl Shadow {
    /// Checks an access by a thread to these bytes.
    ///
    /// # Errors
    /// An earlier access that it is not ordered with.
    pub(super) fn check(&mut self, bytes: Range<u64>, now: &Now, kind: AccessKind) -> Result<(), Access> {
        self.cells.each(bytes, |cell| cell.race(&self.lists, now, kind).map_or(Ok(()), Err))
    }

    /// A copy to these bytes is done: it is a write of the thread that issued it. Nothing else can have accessed them since it began.
    pub(super) fn land(&mut self, bytes: Range<u64>, now: &Now) {
        let Ok(()) = self.cells.each(bytes, |cell| -> Result<(), Infallible> {
            cell.write = now.epoch;
            Ok(())
        });
    }

    /// Remembers an access that was checked.
    pub(super) fn remember(&mut self, bytes: Range<u64>, now: &Now, kind: AccessKind) {
        let Ok(()) = self.cells.each(bytes, |cell| -> Result<(), Infallible> {
            cell.remember(&mut self.lists, now, kind);
            Ok(())
        });
    }
}

#[cfg(test)]
mod tests;
