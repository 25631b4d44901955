//! Shadow memory of a few bytes.

use super::thread::Layer;
use super::{ConflictKind, Performer, Proxy, Record, Space, Who};

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
pub(super) struct Touch<'a> {
    /// Who does it.
    pub who: Who<'a>,
    /// What is remembered of it.
    pub mine: Record,
    /// Whether it writes what is there already.
    pub repeats: bool,
    /// Where.
    pub space: Space,
    /// How many unordered records are kept.
    pub most: usize,
}

/// What a cell finds: the earlier access, with only those lanes that conflict.
pub(super) type Found = Option<(ConflictKind, Record)>;

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
    pub fn touch(&mut self, touch: &Touch) -> Found {
        let mut found = None;
        if touch.mine.proxy == Proxy::Async {
            self.check_proxy(touch, &mut found);
        }
        let writes = touch.mine.kind.writes();
        self.writes.meet(touch, true, writes, &mut found);
        self.reads.meet(touch, writes, true, &mut found);
        let list = if writes { &mut self.writes } else { &mut self.reads };
        list.push(&touch.mine, touch.most);
        found
    }

    /// An access of the asynchronous proxy to what the generic one wrote before, without a fence between.
    fn check_proxy(&mut self, touch: &Touch, found: &mut Found) {
        let Some(last) = self.writes.last_mut().filter(|last| last.proxy == Proxy::Generic) else { return };
        let Touch { who, space, .. } = touch;
        // An unordered one is a race, unless both are strong.
        let lanes = who.unknown(Layer::Fenced(*space), last).to_some & !who.unknown(Layer::Known, last).to_some;
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
    fn meet(&mut self, touch: &Touch, conflict: bool, replace: bool, found: &mut Found) {
        match self {
            Records::None => {}
            Records::One(one) => {
                if !stays(one, touch, conflict, replace, found) {
                    *self = Records::None;
                }
            }
            Records::Many(spill) => {
                spill.records.retain_mut(|record| stays(record, touch, conflict, replace, found));
                match spill.records[..] {
                    [] => *self = Records::None,
                    [one] => *self = Records::One(one),
                    [..] => {}
                }
            }
        }
    }

    /// Appends one; the oldest goes if there are more than `most`.
    #[inline]
    fn push(&mut self, mine: &Record, most: usize) {
        match self {
            Records::None => *self = Records::One(*mine),
            Records::One(last) if last.differs_in_lanes(mine) => last.merge(mine),
            Records::One(one) => *self = Records::Many(Box::new(Spill { records: vec![*one, *mine] })),
            Records::Many(spill) => match spill.records.last_mut() {
                Some(last) if last.differs_in_lanes(mine) => last.merge(mine),
                Some(_) | None => {
                    if spill.records.len() >= most {
                        spill.records.remove(0);
                    }
                    spill.records.push(*mine);
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
fn stays(other: &mut Record, touch: &Touch, conflict: bool, replace: bool, found: &mut Found) -> bool {
    let mine = &touch.mine;
    let unknown = touch.who.unknown(Layer::Known, other);
    let excused = || mine.strong_with(other) || touch.repeats && mine.same_store(other);
    if conflict && unknown.to_some != 0 && !excused() {
        found.get_or_insert((ConflictKind::Race, Record { lanes: unknown.to_some, ..*other }));
        other.clock = 0;
    }
    // Who knows the access knows what its thread knew: any one of many, if their work has one agent.
    let one_for_all = matches!(touch.who.performer, Performer::Async { .. });
    let unknown = if one_for_all { unknown.to_some } else { unknown.to_all };
    let known = unknown == 0 || other.precedes(mine);
    !(replace && (other.clock == 0 || known && mine.as_strict_as(other)))
}
