//! Words of narrow elements, as long as their halves are in registers, too.

use crate::hash::WordMap;
use crate::ptx::{Op, Reg};

/// Words that were taken apart, by their halves: what is stored or multiplied as it was loaded is never put together again, and the
/// instructions that took it apart are dead.
#[derive(Default)]
pub(crate) struct Packed {
    words: WordMap<(Reg, Reg), Reg>,
    /// The halves of which a register is one, or the word: of several the last ones.
    of: WordMap<Reg, (Reg, Reg)>,
}

impl Packed {
    pub fn unpacked(&mut self, lo: Reg, hi: Reg, word: Reg) {
        for reg in [lo, hi, word] {
            if let Some(before) = self.of.insert(reg, (lo, hi)) {
                self.words.remove(&before);
            }
        }
        self.words.insert((lo, hi), word);
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
            if let Some(halves) = self.of.remove(&reg) {
                self.words.remove(&halves);
            }
        });
    }
}
