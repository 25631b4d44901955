//! What was chosen before, for every kind of call: a map that is nearly always read.

use super::pools::Form;
use crate::select::{Plan, Problem};
use std::any::TypeId;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::sync::{PoisonError, RwLock};
use triton::Device;

/// The instance of a product, and its form: of a batch, one that takes it whole if there is one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Chosen {
    pub(super) form: Form,
    pub(super) plan: Plan,
}

/// All that a choice follows from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Key {
    problem: Problem,
    form: Form,
    /// Whose instances are chosen among.
    source: TypeId,
    aligned: bool,
    splits: Option<usize>,
    /// The device's number: none of the CPU.
    device: Option<usize>,
}

impl Key {
    pub(super) fn new<S: 'static>(
        problem: &Problem,
        form: Form,
        aligned: bool,
        splits: Option<usize>,
        device: &Device,
    ) -> Key {
        let device = device.ordinal();
        Key { problem: *problem, form, source: TypeId::of::<S>(), aligned, splits, device }
    }
}

/// What most keys differ in: keys that agree in it are told apart by comparing them.
impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Problem { kind, order, batch, shape: [m, n, k], .. } = self.problem;
        let few = (kind as u64) << 4
            | (order as u64) << 2
            | u64::from(self.aligned) << 1
            | u64::from(self.form == Form::Plain);
        [few, batch as u64, m as u64, n as u64, k as u64].into_iter().for_each(|word| state.write_u64(word));
    }
}

/// Multiplies: the default hash protects from keys that an attacker chooses, which extents of products are not, and takes as long as a look.
#[derive(Default)]
pub(super) struct Words(u64);

impl Hasher for Words {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(byte.into()));
    }

    fn write_u64(&mut self, word: u64) {
        let product = (self.0 ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        // The low bits of a product depend on few.
        self.0 = product ^ (product >> 32);
    }
}

/// The most keys: of a program with more, those that come later are chosen for anew.
const MOST: usize = 1 << 16;

/// A choice stays where it is, for as long as the program runs: a launch borrows it.
type Map = HashMap<Key, &'static Chosen, BuildHasherDefault<Words>>;

/// From keys to choices. One read lock, no allocation.
pub(super) struct Memory(RwLock<Map>);

impl Memory {
    pub(super) const fn new() -> Memory {
        Memory(RwLock::new(HashMap::with_hasher(BuildHasherDefault::new())))
    }

    pub(super) fn get(&self, key: &Key) -> Option<&'static Chosen> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(key).copied()
    }

    pub(super) fn set(&self, key: Key, choice: Chosen) {
        let mut map = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if map.len() < MOST {
            map.entry(key).or_insert_with(|| Box::leak(Box::new(choice)));
        }
    }
}
