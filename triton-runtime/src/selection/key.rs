//! What a choice depends on: the numbers that describe a call.

use crate::args::LaunchArg;
use std::fmt;
use triton_ir::metadata::{ParamMetadata, ParamType};
use triton_ir::types::DType;

/// The numbers that describe a call, at most [`Key::MOST`]: what is chosen for one call is chosen for all with the same key.
///
/// ```
/// use triton_runtime::selection::Key;
///
/// let key = Key::from([4096usize, 16]);
/// assert_eq!(key.words(), [4096, 16]);
/// ```
#[derive(Clone)]
pub struct Key {
    words: [i64; Key::MOST],
    len: usize,
}

/// A number of a [`Key`]: an integer or a `bool`.
pub trait KeyWord: Copy {
    /// The number.
    fn word(self) -> i64;
}

macro_rules! words {
    ($($int:ty),*) => {$(
        impl KeyWord for $int {
            #[inline]
            fn word(self) -> i64 {
                self as i64
            }
        }
    )*};
}

words!(i8, i16, i32, i64, isize, u8, u16, u32, u64, usize, bool);

impl Key {
    /// The most numbers of a key. The last stands for itself and all that would follow.
    pub const MOST: usize = 32;

    /// No number.
    pub const fn new() -> Key {
        Key { words: [0; Key::MOST], len: 0 }
    }

    /// Adds a number.
    #[inline]
    pub fn push(&mut self, word: impl KeyWord) {
        let word = word.word();
        match self.words.get_mut(self.len) {
            Some(slot) => {
                *slot = word;
                self.len += 1;
            }
            None => self.fold(word),
        }
    }

    #[cold]
    fn fold(&mut self, word: i64) {
        if let Some(last) = self.words.last_mut() {
            *last = last.rotate_left(7).wrapping_mul(0x0000_0100_0000_01b3) ^ word;
        }
    }

    /// The numbers.
    #[inline]
    pub fn words(&self) -> &[i64] {
        &self.words[..self.len]
    }

    /// What the arguments of a launch say: of every view its extents and the number of the axis along which it is contiguous, −1 if it is
    /// along none; every integer that is not `#[no_specialize]`. The types of the arguments are in the name of the pool.
    pub(crate) fn of(args: &[LaunchArg<'_>], params: &[ParamMetadata]) -> Key {
        let mut key = Key::new();
        for (arg, param) in args.iter().zip(params) {
            // The words of one argument are added by one loop: its code is fetched anew by each launch.
            let (words, last) = if let ParamType::Tensor { rank, .. } = arg.ty {
                let (extents, strides) = arg.words()[1..].split_at(usize::from(rank));
                // Along an axis of one element the stride is arbitrary: the last one that is contiguous counts.
                let axis = strides.iter().rposition(|&stride| stride == 1);
                (extents, Some(axis.map_or(-1, |axis| axis as i64)))
            } else if param.specialize && arg.ty.scalar().is_some_and(DType::is_int) {
                (&[][..], Some(arg.bits() as i64))
            } else {
                continue;
            };
            let words = words.iter().map(|&word| word as i64);
            for word in words.chain(last) {
                key.push(word);
            }
        }
        key
    }
}

impl Default for Key {
    fn default() -> Key {
        Key::new()
    }
}

impl<T: KeyWord, const N: usize> From<[T; N]> for Key {
    #[inline]
    fn from(words: [T; N]) -> Key {
        let mut key = Key::new();
        words.into_iter().for_each(|word| key.push(word));
        key
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Key) -> bool {
        self.words() == other.words()
    }
}

impl Eq for Key {}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({:?})", self.words())
    }
}
