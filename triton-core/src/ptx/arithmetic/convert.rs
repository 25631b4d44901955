//! Lowering of conversions between layouts: what [`crate::layout::convert`] plans, within a thread and within a warp.
//! What goes through shared memory is written out by [`crate::passes::memory::exchange`].
//!
//! The code of a plan is [`crate::layout::convert::Plan::execute`], step by step; everything that depends on the thread
//! is a linear function of its index ([`Threads`]), computed where it is needed: its live range is short, and the
//! assembler hoists what is worth it.

use crate::hash::WordMap;
use crate::ir::Value;
use crate::layout::convert::PlanKind;
use crate::layout::linear::{apply, units};
use crate::layout::shuffle::{Select, Shuffle, Stage, Words};
use crate::ptx::arithmetic::thread::Threads;
use crate::ptx::arithmetic::words::Held;
use crate::ptx::code::emitter::class_type;
use crate::ptx::lower::Lower;
use crate::ptx::{Op, Opcode, Operand, Reg, Ty};

impl Lower<'_> {
    /// The registers of `result`, which is `x` in another layout.
    pub fn convert(&mut self, x: Value, result: Value) -> Result<Vec<Reg>, String> {
        let before = self.regs(x).to_vec();
        let (src, dst) = match (self.func.layout_id(x), self.func.layout_id(result)) {
            (Some(src), Some(dst)) => (src, dst),
            (None, None) => return Ok(before),
            (_, _) => return Err(format!("a conversion from {x} to {result}, of which one has no layout")),
        };
        let held = Held::of(self.func.ty(x).elem);
        let layouts = &self.func.layouts;
        let plan = layouts
            .planned(src, dst, held.bits(), self.target.info().stmatrix)
            .ok_or_else(|| format!("{result} is not of the elements of {x}: {} to {}", layouts[src], layouts[dst]))?;
        let threads = &mut Threads::default();
        // Copies of a base tile are converted one after the other.
        let registers = layouts[src].registers();
        match &plan.kind {
            PlanKind::None => return Ok(before),
            PlanKind::Rename { map } => return Ok(before.chunks(registers).flat_map(|copy| pick(copy, map)).collect()),
            PlanKind::Select(_) | PlanKind::Shuffle(_) => {}
            PlanKind::Shared(_) => {
                return Err(format!("{result} is to be exchanged through shared memory without any"));
            }
        }
        let before = self.numbers(held, &before);
        let convert = |copy: &[Reg]| match &plan.kind {
            PlanKind::None | PlanKind::Rename { .. } | PlanKind::Shared(_) => copy.to_vec(),
            PlanKind::Select(select) => self.select_words(threads, held, select, copy),
            PlanKind::Shuffle(shuffle) => self.shuffle(threads, held, shuffle, copy),
        };
        let after: Vec<Reg> = before.chunks(registers).flat_map(convert).collect();
        Ok(self.elements(held, &after))
    }

    fn select_words(&mut self, threads: &mut Threads, held: Held, select: &Select, before: &[Reg]) -> Vec<Reg> {
        let words = self.group(held, &select.words, before);
        let words = self.stages(threads, &select.stages, words, &select.map);
        self.ungroup(held, &select.words, &pick(&words, &select.map))
    }

    fn shuffle(&mut self, threads: &mut Threads, held: Held, shuffle: &Shuffle, before: &[Reg]) -> Vec<Reg> {
        let words = self.group(held, &shuffle.words, before);
        let class = words[0].class;
        let parts: Vec<Vec<Reg>> = words.into_iter().map(|word| self.parts(word)).collect();
        let all: Vec<u32> = units(shuffle.rounds()).collect();
        let mut lanes = Lanes::new(shuffle);
        let mut moved = Vec::new();
        for part in 0..parts[0].len() {
            let words = parts.iter().map(|word| word[part]).collect();
            let words = self.stages(threads, &shuffle.before, words, &shuffle.publish);
            let mut read = Vec::with_capacity(1 << shuffle.rounds());
            for round in 0..1 << shuffle.rounds() {
                let src = words[apply(&shuffle.publish, round) as usize];
                read.push(if shuffle.stays(round) { src } else { lanes.read(self, threads, src, round) });
            }
            moved.push(self.stages(threads, &shuffle.after, read, &all));
        }
        let words: Vec<Reg> = (0..1 << shuffle.rounds())
            .map(|x| self.whole(class, &moved.iter().map(|part| part[x]).collect::<Vec<_>>()))
            .collect();
        self.ungroup(held, &shuffle.words, &words)
    }

    /// The words after the stages, of which only `apply(read, ..)` are used; the others keep what they were.
    fn stages(&mut self, threads: &mut Threads, stages: &[Stage], mut words: Vec<Reg>, read: &[u32]) -> Vec<Reg> {
        let mut wanted = vec![false; words.len()];
        (0..1u32 << read.len()).for_each(|x| wanted[apply(read, x) as usize] = true);
        let mut wanted_after = Vec::with_capacity(stages.len());
        for stage in stages.iter().rev() {
            let before = (0..words.len()).map(|x| wanted[x] || wanted[x ^ stage.swap as usize]).collect();
            wanted_after.push(std::mem::replace(&mut wanted, before));
        }
        for (stage, wanted) in stages.iter().zip(wanted_after.into_iter().rev()) {
            let swaps = threads.odd(self, stage.lanes | stage.warps << 5);
            let select = |x: usize| {
                let (own, other) = (words[x], words[x ^ stage.swap as usize]);
                if wanted[x] && own != other { self.selp(class_type(own.class), other, own, swaps) } else { own }
            };
            words = (0..words.len()).map(select).collect();
        }
        words
    }

    /// Elements that move together, in words.
    fn group(&mut self, held: Held, words: &Words, before: &[Reg]) -> Vec<Reg> {
        let held = in_word(held, words);
        let ordered = pick(before, &words.from);
        ordered.chunks(1 << words.pack).map(|numbers| self.pack_word(held, numbers)).collect()
    }

    /// The registers from the words.
    fn ungroup(&mut self, held: Held, words: &Words, after: &[Reg]) -> Vec<Reg> {
        let held = in_word(held, words);
        let numbers: Vec<Reg> = after.iter().flat_map(|&word| self.unpack_word(held, 1 << words.pack, word)).collect();
        let mut regs = numbers.clone();
        for (i, number) in (0u32..).zip(numbers) {
            regs[apply(&words.to, i) as usize] = number;
        }
        regs
    }
}

/// How elements are packed in a word: two bytes take the 16 bits in which they are held.
fn in_word(held: Held, words: &Words) -> Held {
    if words.pack == 1 { Held::Half } else { held }
}

/// What registers `apply(map, 0..)` are.
fn pick(of: &[Reg], map: &[u32]) -> Vec<Reg> {
    (0..1u32 << map.len()).map(|x| of[apply(map, x) as usize]).collect()
}

/// The lanes that a shuffle reads: one function of the thread, xor a constant for each round.
struct Lanes<'a> {
    of_round: &'a [u32],
    of_thread: Vec<u32>,
    /// Whether the function of the thread is its own lane.
    own: bool,
    known: WordMap<u32, Reg>,
}

impl Lanes<'_> {
    fn new(shuffle: &Shuffle) -> Lanes<'_> {
        let of_thread = [&shuffle.lane[..], &shuffle.lane_of_warp].concat();
        let own = shuffle.lane.iter().copied().eq(units(5)) && shuffle.lane_of_warp.iter().all(|&l| l == 0);
        Lanes { of_round: &shuffle.lane_of_round, of_thread, own, known: WordMap::default() }
    }

    /// The word that another lane publishes in this round.
    fn read(&mut self, cx: &mut Lower, threads: &mut Threads, src: Reg, round: u32) -> Reg {
        let shift = apply(self.of_round, round);
        let op = if self.own {
            Op::ShflBfly { dst: cx.reg(src.class), src, lanes: shift }
        } else {
            let lane = match threads.linear(cx, &self.of_thread) {
                None => Operand::Int(shift.into()),
                Some(lane) if shift == 0 => lane.into(),
                Some(lane) => {
                    let xor =
                        |cx: &mut Lower| cx.arith(Opcode::Xor, Ty::B32, &[lane.into(), Operand::Int(shift.into())]);
                    Operand::Reg(*self.known.entry(shift).or_insert_with(|| xor(cx)))
                }
            };
            Op::ShflIdx { dst: cx.reg(src.class), src, lane }
        };
        let (Op::ShflBfly { dst, .. } | Op::ShflIdx { dst, .. }) = op else { return src };
        cx.emit(op);
        dst
    }
}
