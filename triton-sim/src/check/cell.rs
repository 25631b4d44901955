//! Shadow memory of a few bytes.

use super::thread::Layer;
use super::{Accessor, ConflictKind, Performer, Proxy, Record, Space};

/// The last write, and the reads since. More of either only while nothing orders them: reads, writes of strong operations,
/// and those of equal values by one store.
#[derive(Clone, Debug, Default)]
pub(super) struct Cell {
    writes: Records,
    reads: Records,
}

const _: () = assert!(size_of::<Record>() == 24 && size_of::<Cell>() == 48);

/// Records of accesses that are not ordered, oldest first.
#[derive(Clone, Debug, Default)]
enum Records {
    #[default]
    None,
    One(Record),
    Many(Box<Spill>),
}

#[derive(Clone, Debug)]
struct Spill {
    records: Vec<Record>,
}

/// One instruction at one cell.
pub(super) struct CellAccess<'a> {
    /// Who does it.
    pub accessor: Accessor<'a>,
    /// What is remembered of it.
    pub current: Record,
    /// Whether it writes what is there already.
    pub repeats: bool,
    /// Where.
    pub space: Space,
    /// The rank of the block whose shared memory it is.
    pub rank: Option<u8>,
    /// How many unordered records are kept.
    pub max_records: usize,
}

/// What a cell finds: the earlier access, with only those lanes that conflict.
pub(super) type CellConflict = (ConflictKind, Record);

impl Cell {
    /// Whether anything was written.
    pub fn is_written(&self) -> bool {
        !matches!(self.writes, Records::None)
    }

    /// The last write.
    pub fn last_write(&self) -> Option<Record> {
        match &self.writes {
            Records::None => None,
            Records::One(one) => Some(*one),
            Records::Many(spill) => spill.records.last().copied(),
        }
    }

    /// Checks an access and records it. A reported conflict is settled: it counts as ordered from now on.
    #[inline(always)]
    pub fn access(&mut self, access: &CellAccess) -> Option<CellConflict> {
        let mut found = None;
        if access.current.proxy == Proxy::Async {
            self.check_proxy(access, &mut found);
        }
        let writes = access.current.kind.writes();
        self.writes.meet(access, true, writes, &mut found);
        self.reads.meet(access, writes, true, &mut found);
        let list = if writes { &mut self.writes } else { &mut self.reads };
        list.push(&access.current, access.max_records);
        found
    }

    /// An access of the asynchronous proxy to what the generic one wrote before, without a fence between.
    fn check_proxy(&mut self, access: &CellAccess, found: &mut Option<CellConflict>) {
        let Some(last) = self.writes.last_mut().filter(|last| last.proxy == Proxy::Generic) else { return };
        let &CellAccess { accessor, space, rank, .. } = access;
        // An unordered one is a race, unless both are strong.
        let lanes = accessor.unknown(Layer::Fenced(space), rank, last).to_some
            & !accessor.unknown(Layer::Known, rank, last).to_some;
        if lanes != 0 {
            *found = Some((ConflictKind::ProxyFence, Record { lanes, ..*last }));
            last.clock = 0;
        }
    }
}

impl Records {
    /// Looks for records that race with an access, if they `conflict` at all; and drops those that it stands for, if it
    /// will `replace` them: who knows the access knows them too.
    #[inline(always)]
    fn meet(&mut self, access: &CellAccess, conflict: bool, replace: bool, found: &mut Option<CellConflict>) {
        match self {
            Records::None => {}
            Records::One(one) => {
                if !keep(one, access, conflict, replace, found) {
                    *self = Records::None;
                }
            }
            Records::Many(spill) => {
                spill.records.retain_mut(|record| keep(record, access, conflict, replace, found));
                match spill.records[..] {
                    [] => *self = Records::None,
                    [one] => *self = Records::One(one),
                    [..] => {}
                }
            }
        }
    }

    /// Appends one; the oldest goes if there are more than `max_records`.
    #[inline]
    fn push(&mut self, current: &Record, max_records: usize) {
        match self {
            Records::None => *self = Records::One(*current),
            Records::One(last) if last.differs_in_lanes(current) => last.merge(current),
            Records::One(one) => *self = Records::Many(Box::new(Spill { records: vec![*one, *current] })),
            Records::Many(spill) => match spill.records.last_mut() {
                Some(last) if last.differs_in_lanes(current) => last.merge(current),
                Some(_) | None => {
                    if spill.records.len() >= max_records {
                        spill.records.remove(0);
                    }
                    spill.records.push(*current);
                }
            },
        }
    }

    fn last_mut(&mut self) -> Option<&mut Record> {
        match self {
            Records::None => None,
            Records::One(one) => Some(one),
            Records::Many(spill) => spill.records.last_mut(),
        }
    }
}

/// Checks one record against an access, and says whether it is still needed beside it.
#[inline(always)]
fn keep(
    other: &mut Record,
    access: &CellAccess,
    conflict: bool,
    replace: bool,
    found: &mut Option<CellConflict>,
) -> bool {
    let current = &access.current;
    let unknown = access.accessor.unknown(Layer::Known, access.rank, other);
    let excused = || current.strong_with(other) || access.repeats && current.same_store(other);
    if conflict && unknown.to_some != 0 && !excused() {
        found.get_or_insert((ConflictKind::Race, Record { lanes: unknown.to_some, ..*other }));
        other.clock = 0;
    }
    // Who knows the access knows what its thread knew: any one of many, if their work has one agent.
    let one_for_all = matches!(access.accessor.performer, Performer::Async { .. });
    let unknown = if one_for_all { unknown.to_some } else { unknown.to_all };
    let known = unknown == 0 || other.precedes(current);
    !(replace && (other.clock == 0 || known && current.as_strict_as(other)))
}
