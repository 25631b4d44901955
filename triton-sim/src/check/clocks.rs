//! Vector clocks that many threads share until one of them changes (copy on write).

use super::lanes_of;
use std::rc::Rc;

/// For each agent of one cluster the last clock that is known; 0 beyond the end. A clone is a reference.
#[derive(Clone, Debug, Default)]
pub struct Clocks(Option<Rc<Vec<u32>>>);

impl Clocks {
    /// The last clock of this agent that is known.
    pub fn get(&self, agent: u32) -> u32 {
        self.as_slice().get(agent as usize).copied().unwrap_or(0)
    }

    /// Adds an epoch.
    pub fn set(&mut self, agent: u32, clock: u32) {
        if self.get(agent) < clock {
            let clocks = Rc::make_mut(self.0.get_or_insert_default());
            if clocks.len() <= agent as usize {
                clocks.resize(agent as usize + 1, 0);
            }
            clocks[agent as usize] = clock;
        }
    }

    /// Merges another one. If either covers both, nothing is copied.
    pub fn join(&mut self, other: &Clocks) {
        if self.ptr_eq(other) {
            return;
        }
        let (ours, theirs) = (self.as_slice(), other.as_slice());
        let mut news = theirs.len() > ours.len();
        let mut more = ours.len() > theirs.len();
        for (a, b) in ours.iter().zip(theirs) {
            news |= b > a;
            more |= a > b;
        }
        if news && !more {
            *self = other.clone();
        } else if news {
            let ours = Rc::make_mut(self.0.get_or_insert_default());
            ours.resize(ours.len().max(theirs.len()), 0);
            for (a, b) in ours.iter_mut().zip(theirs) {
                *a = (*a).max(*b);
            }
        }
    }

    /// Whether both are one vector in memory: cheap, and true of most that are equal.
    pub fn ptr_eq(&self, other: &Clocks) -> bool {
        match (&self.0, &other.0) {
            (Some(a), Some(b)) => Rc::ptr_eq(a, b),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        }
    }

    fn as_slice(&self) -> &[u32] {
        self.0.as_ref().map_or(&[], |clocks| clocks.as_slice())
    }

    /// Those of these lanes of a group of 32 agents of which this clock is not known.
    fn unknown(&self, group: u32, lanes: u32, clock: u32) -> u32 {
        if lanes.is_power_of_two() {
            return if self.get(group * 32 + lanes.trailing_zeros()) >= clock { 0 } else { lanes };
        }
        lanes_of(lanes).filter(|lane| self.get(group * 32 + lane) < clock).fold(0, |mask, lane| mask | 1 << lane)
    }
}

/// The epochs that are known: those of the own cluster in one vector, those of others beside it. A clone is a reference.
#[derive(Clone, Debug)]
pub struct VectorClock {
    cluster: u32,
    home: Clocks,
    /// By cluster, rising. They come through global memory only, and most programs have none.
    others: Option<Rc<Vec<(u32, Clocks)>>>,
}

impl VectorClock {
    /// A thread of this cluster knows nothing yet.
    pub fn new(cluster: u32) -> VectorClock {
        VectorClock { cluster, home: Clocks::default(), others: None }
    }

    /// Whether an epoch of an agent of this cluster is known.
    pub fn contains(&self, cluster: u32, agent: u32, clock: u32) -> bool {
        self.unknown(cluster, agent / 32, 1 << (agent % 32), clock) == 0
    }

    /// Those of these lanes of a group of 32 agents of which this clock is not known.
    #[inline]
    pub fn unknown(&self, cluster: u32, group: u32, lanes: u32, clock: u32) -> u32 {
        if cluster == self.cluster {
            return self.home.unknown(group, lanes, clock);
        }
        let others = self.others.as_ref().map_or(&[][..], |others| others.as_slice());
        match others.binary_search_by_key(&cluster, |(c, _)| *c) {
            Ok(at) => others[at].1.unknown(group, lanes, clock),
            Err(_) if clock == 0 => 0,
            Err(_) => lanes,
        }
    }

    /// Adds an epoch of an agent of this cluster.
    pub fn set(&mut self, cluster: u32, agent: u32, clock: u32) {
        if !self.contains(cluster, agent, clock) {
            self.of_mut(cluster).set(agent, clock);
        }
    }

    /// Merges another one.
    pub fn join(&mut self, other: &VectorClock) {
        if self.cluster == other.cluster {
            self.home.join(&other.home);
        } else if !other.home.as_slice().is_empty() {
            self.of_mut(other.cluster).join(&other.home);
        }
        match (&self.others, &other.others) {
            (Some(a), Some(b)) if Rc::ptr_eq(a, b) => {}
            (None, Some(_)) if self.cluster == other.cluster => self.others.clone_from(&other.others),
            (_, others) => {
                for (cluster, clocks) in others.iter().flat_map(|others| others.iter()) {
                    self.of_mut(*cluster).join(clocks);
                }
            }
        }
    }

    /// Whether both are the same vectors in memory.
    #[inline]
    pub fn ptr_eq(&self, other: &VectorClock) -> bool {
        let others = match (&self.others, &other.others) {
            (Some(a), Some(b)) => Rc::ptr_eq(a, b),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        others && self.cluster == other.cluster && self.home.ptr_eq(&other.home)
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.others.is_none() && self.home.as_slice().is_empty()
    }

    fn of_mut(&mut self, cluster: u32) -> &mut Clocks {
        if cluster == self.cluster {
            return &mut self.home;
        }
        let others = Rc::make_mut(self.others.get_or_insert_default());
        let at = match others.binary_search_by_key(&cluster, |(c, _)| *c) {
            Ok(at) => at,
            Err(at) => {
                others.insert(at, (cluster, Clocks::default()));
                at
            }
        };
        &mut others[at].1
    }
}
