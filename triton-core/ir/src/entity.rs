//! Ids, arenas and side tables: how the IR refers to its parts without references.
//!
//! An id is a `u32` that prints as it does in the text form (`v12`). An [`Arena`] owns what ids stand for, an [`Interner`] equal things
//! once; a [`SideTable`] holds what an analysis found, and costs nothing to drop.

use crate::hash::WordMap;
use std::hash::Hash;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// An index into an [`Arena`].
pub trait Entity: Copy + Eq {
    /// The id with this index.
    fn new(index: usize) -> Self;
    /// Its index.
    fn index(self) -> usize;
}

/// Declares an id type: `entity!(/// Doc. Value, "v")`.
macro_rules! entity {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);

        impl $crate::entity::Entity for $name {
            fn new(index: usize) -> Self {
                $name(index as u32)
            }
            fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
    };
}
pub(crate) use entity;

/// Owns the things that ids of type `K` stand for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arena<K, V> {
    items: Vec<V>,
    key: PhantomData<K>,
}

impl<K: Entity, V> Arena<K, V> {
    /// Adds a thing and returns its id.
    pub fn push(&mut self, value: V) -> K {
        self.items.push(value);
        K::new(self.items.len() - 1)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// All ids, in order of creation.
    pub fn keys(&self) -> impl Iterator<Item = K> + use<K, V> {
        (0..self.items.len()).map(K::new)
    }

    /// The thing, if `key` belongs to this arena.
    pub fn get(&self, key: K) -> Option<&V> {
        self.items.get(key.index())
    }
}

impl<K, V> Default for Arena<K, V> {
    fn default() -> Self {
        Arena { items: Vec::new(), key: PhantomData }
    }
}

impl<K: Entity, V> Index<K> for Arena<K, V> {
    type Output = V;
    fn index(&self, key: K) -> &V {
        &self.items[key.index()]
    }
}

impl<K: Entity, V> IndexMut<K> for Arena<K, V> {
    fn index_mut(&mut self, key: K) -> &mut V {
        &mut self.items[key.index()]
    }
}

/// Owns things that ids of type `K` stand for, each of them once.
#[derive(Clone, Debug)]
pub struct Interner<K, V> {
    items: Arena<K, V>,
    ids: WordMap<V, K>,
}

impl<K: Entity, V: Clone + Eq + Hash> Interner<K, V> {
    /// The id of a thing, a new one if it is not known.
    pub fn intern(&mut self, value: V) -> K {
        if let Some(&id) = self.ids.get(&value) {
            return id;
        }
        let id = self.items.push(value.clone());
        self.ids.insert(value, id);
        id
    }

    /// The thing, if `key` belongs to this interner.
    pub fn get(&self, key: K) -> Option<&V> {
        self.items.get(key)
    }
}

/// Equal things in the same order; the ids of things follow from it.
impl<K: Entity, V: PartialEq> PartialEq for Interner<K, V> {
    fn eq(&self, other: &Self) -> bool {
        self.items == other.items
    }
}

impl<K: Entity, V: Eq> Eq for Interner<K, V> {}

impl<K, V> Default for Interner<K, V> {
    fn default() -> Self {
        Interner { items: Arena::default(), ids: WordMap::default() }
    }
}

impl<K: Entity, V> Index<K> for Interner<K, V> {
    type Output = V;
    fn index(&self, key: K) -> &V {
        &self.items[key]
    }
}

/// A fact for each id; ids without one have the default.
#[derive(Clone, Debug)]
pub struct SideTable<K, V> {
    items: Vec<V>,
    default: V,
    key: PhantomData<K>,
}

impl<K: Entity, V: Clone> SideTable<K, V> {
    /// A table in which every id has `default`.
    pub fn new(default: V) -> Self {
        SideTable { items: Vec::new(), default, key: PhantomData }
    }

    /// Whether no id was given a fact of its own.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

impl<K: Entity, V: Clone> Index<K> for SideTable<K, V> {
    type Output = V;
    fn index(&self, key: K) -> &V {
        self.items.get(key.index()).unwrap_or(&self.default)
    }
}

impl<K: Entity, V: Clone> IndexMut<K> for SideTable<K, V> {
    fn index_mut(&mut self, key: K) -> &mut V {
        if self.items.len() <= key.index() {
            self.items.resize(key.index() + 1, self.default.clone());
        }
        &mut self.items[key.index()]
    }
}
