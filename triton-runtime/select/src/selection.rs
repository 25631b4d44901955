//! The order in which what is known is asked.

use crate::candidate::{Candidates, Members};
use crate::hash;
use crate::known::Known;
use crate::memory::{Memory, Remembered};
use crate::nearest::distance;
use crate::predict::Rank;
use crate::table::{Record, Table, device_name};
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};
use triton::selection::{Call, Explained, Selector};
use triton::{Device, Error, Result};

/// Why a candidate was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Source {
    /// It was chosen for the same key before.
    Memory,
    /// It is the fastest that was measured on this machine.
    Store,
    /// It is the fastest of a table that the program embeds.
    Table,
    /// It was measured just now.
    Measured,
    /// A model predicts that it is the fastest.
    Model,
    /// It is the fastest for the nearest key of the tables.
    Nearest,
    /// It is what the library that launches chooses by itself.
    Prior,
    /// It is the first that fits.
    First,
}

impl Source {
    /// In words.
    pub fn reason(self) -> &'static str {
        match self {
            Source::Memory => "it was chosen for the same key before",
            Source::Store => "it is the fastest that was measured on this machine",
            Source::Table => "it is the fastest of the embedded table",
            Source::Measured => "it is the fastest that was measured just now",
            Source::Model => "a model predicts that it is the fastest",
            Source::Nearest => "it is the fastest for the nearest key of the tables",
            Source::Prior => "it is what its library chooses",
            Source::First => "it is the first that fits",
        }
    }
}

/// A choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Chosen {
    /// The number of the candidate.
    pub index: usize,
    /// Why.
    pub source: Source,
}

impl Chosen {
    /// A choice.
    pub fn new(index: usize, source: Source) -> Chosen {
        Chosen { index, source }
    }

    /// Whether measuring would tell no more: it was measured.
    pub fn is_final(self) -> bool {
        match self.source {
            Source::Store | Source::Table | Source::Measured => true,
            Source::Memory | Source::Model | Source::Nearest | Source::Prior | Source::First => false,
        }
    }
}

/// Chooses among candidates by what is known, on one device. See the [crate](crate) for the order.
#[derive(Debug)]
pub struct Selection {
    device: Device,
    name: String,
    memory: Memory,
    known: RwLock<HashMap<u64, Arc<Known>>>,
    store: RwLock<Table>,
    tables: Vec<Table>,
    models: Vec<Box<dyn Rank>>,
}

impl Selection {
    /// One that knows nothing: it chooses the first candidate that fits.
    pub fn new(device: &Device) -> Selection {
        let name = device_name(device);
        Selection {
            device: device.clone(),
            memory: Memory::default(),
            known: RwLock::default(),
            store: RwLock::new(Table::new(&*name)),
            name,
            tables: Vec::new(),
            models: Vec::new(),
        }
    }

    /// Chooses as on another kind of device, of which tables are then taken for this one's: where a program is to choose the same on all devices.
    ///
    /// ```
    /// use triton::Device;
    /// use triton_select::{Selection, Table};
    ///
    /// let table = Table::new("NVIDIA H200, 9.0, 132 multiprocessors");
    /// let everywhere = Selection::new(&Device::best()).as_of(table.device()).table(table);
    /// ```
    pub fn as_of(self, device: &str) -> Selection {
        let name = device.to_string();
        Selection { store: RwLock::new(Table::new(device)), name, ..self }
    }

    /// Adds a table that the program embeds. One of another kind of device is asked for the nearest key only, after the others.
    pub fn table(mut self, table: Table) -> Selection {
        self.tables.push(table);
        self
    }

    /// Adds a model. The first that is for some candidates is asked for them.
    pub fn model(mut self, model: impl Rank + 'static) -> Selection {
        self.models.push(Box::new(model));
        self
    }

    /// Adds what was measured on this machine. A table of another kind of device changes nothing, and is `false`.
    pub fn add_measured(&self, table: &Table) -> bool {
        let is_ours = table.is_of(&self.name);
        if is_ours {
            self.store.write().unwrap_or_else(PoisonError::into_inner).merge(table);
        }
        is_ours
    }

    /// The device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The kind of device that it chooses as: see [`as_of`](Selection::as_of).
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What was measured on this machine.
    pub fn measured(&self) -> RwLockReadGuard<'_, Table> {
        self.store.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a time that was measured on this machine. `false` if it cannot be one: see [`Table::insert`].
    pub fn insert(&self, record: Record) -> bool {
        self.store.write().unwrap_or_else(PoisonError::into_inner).insert(record)
    }

    /// What is known of candidates, found out at the first call.
    pub fn known(&self, candidates: &dyn Candidates) -> Arc<Known> {
        let id = candidates.id();
        if let Some(known) = self.known.read().unwrap_or_else(PoisonError::into_inner).get(&id) {
            return known.clone();
        }
        // Not under the lock: it takes long, and a model may select.
        let known = Arc::new(Known::new(candidates, &self.models));
        self.known.write().unwrap_or_else(PoisonError::into_inner).entry(id).or_insert(known).clone()
    }

    /// What was chosen for a key before, if it fits this call. One read lock, no allocation.
    ///
    /// `measure` says that the caller would rather measure than run what was guessed.
    #[inline]
    pub fn remembered(&self, candidates: &(impl Candidates + ?Sized), key: &[i64], measure: bool) -> Option<usize> {
        let found = self.memory.get(hash::key(candidates.id(), key))?;
        let index = found.index as usize;
        ((found.is_final || !measure) && candidates.fits(index)).then_some(index)
    }

    /// Takes down a choice for calls with the same key, which is final if measuring would tell no more, unless there is one that is final: it did not fit this call alone.
    pub fn remember(&self, candidates: &dyn Candidates, key: &[i64], index: usize, is_final: bool) {
        let hash = hash::key(candidates.id(), key);
        let Ok(index) = u32::try_from(index) else { return };
        if !self.memory.get(hash).is_some_and(|before| before.is_final) {
            self.memory.set(hash, Remembered { index, is_final });
        }
    }

    /// Takes down that a candidate could not be loaded or launched: it is not chosen again for this key.
    pub fn fail(&self, candidates: &dyn Candidates, key: &[i64], index: usize) {
        let hash = hash::key(candidates.id(), key);
        self.known(candidates).fail(hash, index);
        self.memory.forget(hash);
    }

    /// Whether a candidate may run, and has not failed.
    pub fn works(&self, known: &Known, candidates: &dyn Candidates, key: &[i64], index: usize) -> bool {
        candidates.fits(index) && !known.has_failed(hash::key(candidates.id(), key), index)
    }

    /// The fastest candidate for exactly this key: of what was measured on this machine, else of the tables of this kind of device.
    pub fn recorded(&self, known: &Known, candidates: &dyn Candidates, key: &[i64]) -> Option<Chosen> {
        let of = |table: &Table| self.fastest(table, known, candidates, key, key);
        if let Some(index) = of(&self.measured()) {
            return Some(Chosen::new(index, Source::Store));
        }
        let ours = self.tables.iter().filter(|table| table.is_of(&self.name));
        ours.into_iter().find_map(of).map(|index| Chosen::new(index, Source::Table))
    }

    /// Of how many candidates a time was measured for this key on this machine, of their code as it is now. One that failed counts.
    pub fn measured_count(&self, known: &Known, key: &[i64]) -> usize {
        let store = self.measured();
        store.times(known.op(), key).iter().filter(|(name, time)| known.find(name, time.fingerprint).is_some()).count()
    }

    /// The time of a candidate that was measured on this machine, in microseconds, if its code is still the same. Infinite if it failed.
    pub fn time(&self, known: &Known, key: &[i64], index: usize) -> Option<f64> {
        self.time_in(&self.measured(), known, key, index)
    }

    /// The same of a table.
    fn time_in(&self, table: &Table, known: &Known, key: &[i64], index: usize) -> Option<f64> {
        let times = table.times(known.op(), key);
        times.iter().find(|(name, time)| known.find(name, time.fingerprint) == Some(index)).map(|(_, time)| time.us)
    }

    /// The best guess for a key that nothing was measured of: the model's, that of the library that launches, that of the nearest key, the first candidate
    /// that works.
    pub fn guess(&self, known: &Known, candidates: &dyn Candidates, key: &[i64]) -> Option<Chosen> {
        let works = |index: &usize| self.works(known, candidates, key, *index);
        let of_model = || known.ranked(key)?.into_iter().find(works).map(|index| Chosen::new(index, Source::Model));
        let nearest = || self.nearest(known, candidates, key).map(|index| Chosen::new(index, Source::Nearest));
        let first = || (0..candidates.len()).find(works).map(|index| Chosen::new(index, Source::First));
        let prior = || candidates.prior().filter(works).map(|index| Chosen::new(index, Source::Prior));
        of_model().or_else(prior).or_else(nearest).or_else(first)
    }

    /// Chooses by all that is known; `None` if no candidate works.
    pub fn choose(&self, candidates: &dyn Candidates, key: &[i64]) -> Option<Chosen> {
        if let Some(index) = self.remembered(candidates, key, false) {
            return Some(Chosen::new(index, Source::Memory));
        }
        let known = self.known(candidates);
        let recorded = self.recorded(&known, candidates, key);
        let chosen = recorded.or_else(|| self.guess(&known, candidates, key))?;
        self.remember(candidates, key, chosen.index, chosen.is_final());
        Some(chosen)
    }

    /// The fastest candidate of a table for `at`, that works for the call of `key`.
    fn fastest(
        &self,
        table: &Table,
        known: &Known,
        candidates: &dyn Candidates,
        key: &[i64],
        at: &[i64],
    ) -> Option<usize> {
        let times = table.times(known.op(), at).into_iter().filter(|(_, time)| time.us.is_finite());
        let found = times.filter_map(|(name, time)| known.find(name, time.fingerprint));
        found.into_iter().find(|&index| self.works(known, candidates, key, index))
    }

    /// The fastest candidate for the nearest key: in tables of this kind of device, else of others.
    fn nearest(&self, known: &Known, candidates: &dyn Candidates, key: &[i64]) -> Option<usize> {
        let store = self.measured();
        let (ours, foreign): (Vec<&Table>, Vec<&Table>) = self.tables.iter().partition(|table| table.is_of(&self.name));
        let ours: Vec<&Table> = std::iter::once(&*store).chain(ours).collect();
        [ours, foreign].into_iter().find_map(|tables| {
            let keys = tables.iter().flat_map(|&table| table.keys(known.op()).map(move |at| (table, at)));
            let mut near: Vec<(f64, &Table, &[i64])> =
                keys.filter_map(|(table, at)| Some((distance(key, at)?, table, at))).collect();
            near.sort_by(|(a, ..), (b, ..)| a.total_cmp(b));
            near.into_iter().find_map(|(_, table, at)| self.fastest(table, known, candidates, key, at))
        })
    }
}

impl Selector for Selection {
    #[inline]
    fn select(&self, call: &mut Call<'_>) -> Result<Option<usize>> {
        if call.stream().device() != &self.device {
            return Ok(None);
        }
        let (members, key) = (Members(call), call.key());
        // Most launches end here, without a call through a table.
        match self.remembered(&members, key, false) {
            Some(index) => Ok(Some(index)),
            None => Ok(self.choose(&members, key).map(|chosen| chosen.index)),
        }
    }

    fn failed(&self, call: &Call<'_>, index: usize, error: &Error) {
        let _ = error;
        self.fail(&Members(call), call.key(), index);
    }

    fn explain(&self, call: &Call<'_>) -> Option<Explained> {
        let (members, key) = (Members(call), call.key());
        let known = self.known(&members);
        let chosen = self.recorded(&known, &members, key).or_else(|| self.guess(&known, &members, key))?;
        let tables = self.tables.iter().filter(|table| table.is_of(&self.name));
        let in_tables = |index: usize| tables.clone().find_map(|table| self.time_in(table, &known, key, index));
        let time = |index: usize| self.time(&known, key, index).or_else(|| in_tables(index));
        Some(Explained::new(chosen.source.reason(), (0..call.members()).map(time).collect()))
    }
}
