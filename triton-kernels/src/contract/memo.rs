//! What was worked out for a contraction before: it follows from the notation, the shapes and the strides.

use super::few::Few;
use std::any::TypeId;
use std::sync::{Arc, PoisonError, RwLock};

/// Words of a key at most: what follows from more is worked out each time.
const WORDS: usize = 96;

/// All that a value follows from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Key {
    element: TypeId,
    hash: u64,
    count: usize,
    words: [u64; WORDS],
}

impl Key {
    /// `None` if there are too many words.
    pub(super) fn new(element: TypeId, all: impl IntoIterator<Item = u64>) -> Option<Key> {
        let mut key = Key { element, hash: 0, count: 0, words: [0; WORDS] };
        for word in all {
            *key.words.get_mut(key.count)? = word;
            key.count += 1;
            key.hash = (key.hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
        }
        Some(key)
    }
}

/// A list, with its length in front.
pub(super) fn words<const N: usize>(list: &Few<usize, N>) -> impl Iterator<Item = u64> {
    std::iter::once(list.len()).chain(list.iter().copied()).map(|number| number as u64)
}

/// The same of bytes, eight to a word.
pub(super) fn words_of_text<const N: usize>(text: &Few<u8, N>) -> impl Iterator<Item = u64> {
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
    std::iter::once(text.len() as u64).chain(text.chunks(8).map(word))
}

/// The most that are kept: then a new one takes the place of another.
const MOST: usize = 256;

/// One read lock, and no allocation where it is known.
pub(super) struct Memo<V>(RwLock<Vec<(Key, Arc<V>)>>);

impl<V> Memo<V> {
    pub(super) const fn new() -> Memo<V> {
        Memo(RwLock::new(Vec::new()))
    }

    pub(super) fn get(&self, key: &Key) -> Option<Arc<V>> {
        let all = self.0.read().unwrap_or_else(PoisonError::into_inner);
        all.iter().find(|(of, _)| of.hash == key.hash && of == key).map(|(_, value)| value.clone())
    }

    pub(super) fn set(&self, key: Key, value: Arc<V>) {
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if all.len() < MOST {
            all.push((key, value));
        } else {
            let place = (key.hash >> 32) as usize % MOST;
            all[place] = (key, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_set_last_is_known_for_its_key_alone() {
        let (memo, element) = (Memo::new(), TypeId::of::<f32>());
        let key = |number: u64| Key::new(element, [1, number]).expect("it is short");
        for number in 0..1000 {
            assert!(memo.get(&key(number)).is_none());
            memo.set(key(number), Arc::new(number));
            assert_eq!(memo.get(&key(number)).as_deref(), Some(&number));
        }
        assert_eq!((0..1000).filter(|number| memo.get(&key(*number)).is_some()).count(), MOST);
        assert!(memo.get(&Key::new(TypeId::of::<u8>(), [1, 999]).expect("it is short")).is_none());
        assert!(memo.get(&Key::new(element, [1, 999, 0]).expect("it is short")).is_none());
        assert!(Key::new(element, vec![0; WORDS + 1]).is_none());
        let text: Few<u8, 4> = "abcdefghi".bytes().collect();
        assert_eq!(words_of_text(&text).collect::<Vec<_>>(), [9, u64::from_le_bytes(*b"abcdefgh"), u64::from(b'i')]);
    }
}
