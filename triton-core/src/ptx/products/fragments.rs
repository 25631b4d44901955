//! The operands of a product as its instructions take them: from registers, or from shared memory step by step along K, so that a thread
//! has the registers of a step and of the next one, not those of the tile.

use crate::ir::Value;
use crate::layout::Layout;
use crate::layout::access::{self, Access};
use crate::ptx::arithmetic::words::Held;
use crate::ptx::lower::Lower;
use crate::ptx::memory::shared::of_copies;
use crate::ptx::{Address, Reg};

/// An operand of a product in a layout: registers of `per_word` elements each, as far as they are loaded.
pub(crate) struct Fragments {
    held: Held,
    per_word: usize,
    /// Which words are still to be rounded to tf32: when they are needed, so that few are in registers as both.
    unrounded: Vec<bool>,
    elements: Vec<Option<Reg>>,
    words: Vec<Option<Reg>>,
    source: Option<Source>,
}

/// What is still in shared memory: the instructions that load it, from the last one to the first, and the step that needs each.
struct Source {
    access: Access,
    loads: Vec<(usize, Load)>,
    /// Registers of a copy of the base tile.
    registers: usize,
}

/// An instruction of the access, the copy of the base tile that it is for, and its address.
type Load = (u32, usize, Address);

impl Fragments {
    /// The words of an operand, rounded to tf32 if `rounds`; a register is needed at the step that `step_of` says.
    pub fn new(
        cx: &mut Lower,
        operand: Value,
        layout: &Layout,
        per_word: usize,
        rounds: bool,
        step_of: impl Fn(usize) -> usize,
    ) -> Result<Fragments, String> {
        let held = Held::of(cx.func.ty(operand).elem);
        let (registers, copies) = (layout.registers(), cx.func.copies(operand));
        let empty = vec![None; registers * copies];
        let unrounded = vec![rounds; registers * copies];
        let mut fragments =
            Fragments { held, per_word, unrounded, words: empty.clone(), elements: empty, source: None };
        match cx.func.mem(operand) {
            None => {
                let elements = cx.regs(operand).to_vec();
                let words = elements.chunks(per_word).map(|elements| Some(cx.pack_word(held, elements)));
                fragments.words = words.collect();
            }
            Some(mem) => {
                let access = access::shared(layout, mem, true).ok_or("a layout that its memory does not fit")?;
                let addresses = cx.addresses(operand, &access, held);
                let step_of = |copy: usize, r: u32| step_of(copy * registers + r as usize);
                let first = |instruction, copy| access.registers(instruction, 0).map(|r| step_of(copy, r)).min();
                let load = |load: Load| (first(load.0, load.1).unwrap_or(0), load);
                let mut loads: Vec<(usize, Load)> = of_copies(&access, addresses, mem, 0..copies).map(load).collect();
                loads.sort_by_key(|&(step, (instruction, copy, _))| std::cmp::Reverse((step, copy, instruction)));
                fragments.source = Some(Source { access, loads, registers });
            }
        }
        Ok(fragments)
    }

    /// Loads what the steps up to this one need.
    pub fn load_until(&mut self, cx: &mut Lower, step: usize) {
        let Some(Source { access, loads, registers }) = &mut self.source else { return };
        while let Some((_, (instruction, copy, address))) = loads.pop_if(|&mut (first, _)| first <= step) {
            let of_copy = |r: u32| copy * *registers + r as usize;
            let registers: Vec<usize> = access.registers(instruction, 0).map(of_copy).collect();
            let (loaded, packed) = cx.load_shared_words(self.held, access, address);
            for (registers, word) in registers.chunks(packed).zip(loaded) {
                // A word in memory may be one of the product, with the same elements in it.
                let in_order = registers.iter().zip(registers[0]..).all(|(&r, next)| r == next);
                if packed == self.per_word && in_order && registers[0] % packed == 0 {
                    self.words[registers[0] / packed] = Some(word);
                    continue;
                }
                let numbers = cx.unpack_word(self.held, packed, word);
                registers.iter().zip(numbers).for_each(|(&r, number)| self.elements[r] = Some(number));
            }
        }
    }

    /// A word.
    pub fn word(&mut self, cx: &mut Lower, word: usize) -> Result<Reg, String> {
        let mut reg = match self.words.get(word).copied().flatten() {
            Some(reg) => reg,
            None => {
                let elements = self.elements.get(word * self.per_word..(word + 1) * self.per_word);
                let elements = elements.and_then(|elements| elements.iter().copied().collect::<Option<Vec<Reg>>>());
                let elements = elements.ok_or("a product whose operands are not where their elements are needed")?;
                cx.pack_word(self.held, &elements)
            }
        };
        if std::mem::take(&mut self.unrounded[word]) {
            reg = cx.tf32(reg);
        }
        self.words[word] = Some(reg);
        Ok(reg)
    }

    /// Consecutive words.
    pub fn words(&mut self, cx: &mut Lower, first: usize, count: usize) -> Result<Vec<Reg>, String> {
        (first..first + count).map(|word| self.word(cx, word)).collect()
    }
}
