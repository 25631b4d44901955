//! Words of narrow elements, as long as their halves are in registers, too.

use crate::hash::WordHash;
use crate::ptx::{Op, Reg};
use std::collections::HashMap;

/// Words that were taken apart, by their halves: what is stored or multiplied as it was loaded is never put together again, and the
/// instructions that took it apart are dead.
#[derive(Default)]
pub(crate) struct Packed {
    words: HashMap<(Reg, Reg), Reg, WordHash>,
    /// The halves of which a register is one, or the word.
    of: HashMap<Reg, Vec<(Reg, Reg)>, WordHash>,
}

impl Packed {
    pub fn unpacked(&mut self, lo: Reg, hi: Reg, word: Reg) {
        self.words.insert((lo, hi), word);
        [lo, hi, word].into_iter().for_each(|reg| self.of.entry(reg).or_default().push((lo, hi)));
    }

    pub fn word(&self, lo: Reg, hi: Reg) -> Option<Reg> {
        self.words.get(&(lo, hi)).copied()
    }

    /// Forgets the words of which a register is written.
    pub fn written(&mut self, op: &Op) {
        if self.of.is_empty() {
            return;
        }
        op.for_each_write(|reg| {
            for halves in self.of.remove(&reg).into_iter().flatten() {
                self.words.remove(&halves);
            }
        });
    }
}
