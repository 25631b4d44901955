//! Copies of the sums of `wgmma`, in loops: what is copied and its copy become one register where they are never live together.
//!
//! `wgmma` adds to the registers that it reads, and what a loop carries has registers of its own, so that a sum that is
//! computed in a turn is moved to the product, and the product's to the loop. An assembler does not undo it: sums lie
//! side by side, and it gives the same place to those of several products. This is the coalescing of Chaitin ("Register
//! allocation and spilling via graph coloring", 1982), of these registers alone.
//!
//! A sum in flight is live until its wait, as something takes it after that.

use crate::ptx::code::registers::Registers;
use crate::ptx::{Class, Inst, Op, Operand, Reg};
use std::cmp::Reverse;

/// A set of registers, by their numbers here.
type Set = Vec<u64>;

/// See the [module's page](self); `registers` says how many there are of each class.
pub(crate) fn coalesce(body: &mut Vec<Inst>, registers: [u32; 4]) {
    let copies = copies_of_sums(body, registers);
    if copies.is_empty() {
        return;
    }
    let depths = depths(body);
    if !copies.iter().any(|&(at, ..)| depths[at] > 0) {
        return;
    }
    let mut numbers = Numbers::new(registers);
    for &(_, dst, src) in &copies {
        numbers.add(dst);
        numbers.add(src);
    }
    let count = numbers.regs.len();
    let number = |reg: Reg| numbers.get(reg).expect("each register of a copy has a number");
    let mut conflicts = conflicts(&steps(body, &numbers), count);
    let mut merged: Vec<usize> = (0..count).collect();
    let mut members: Vec<Set> = merged.iter().map(|&i| set_of(count, i)).collect();
    // Those of the innermost loops first, where they cost most.
    let mut order: Vec<&(usize, Reg, Reg)> = copies.iter().collect();
    order.sort_by_key(|&&(at, ..)| Reverse(depths[at]));
    for &&(_, dst, src) in &order {
        let (a, b) = (merged[number(dst)], merged[number(src)]);
        if a == b || conflicts[a].iter().zip(&members[b]).any(|(a, b)| a & b != 0) {
            continue;
        }
        let (more, theirs) = (std::mem::take(&mut members[b]), std::mem::take(&mut conflicts[b]));
        // What conflicts with one of them conflicts with both.
        for (i, of) in conflicts.iter_mut().enumerate().filter(|(_, of)| !of.is_empty()) {
            if has(&theirs, i) {
                union(of, &more);
                union(of, &members[a]);
            }
        }
        union(&mut members[a], &more);
        union(&mut conflicts[a], &theirs);
        merged.iter_mut().filter(|of| **of == b).for_each(|of| *of = a);
    }
    let mut names: Vec<Option<Reg>> = vec![None; count];
    for (&reg, &of) in numbers.regs.iter().zip(&merged) {
        let name = &mut names[of];
        *name = Some(name.map_or(reg, |other: Reg| if other.index < reg.index { other } else { reg }));
    }
    let rename = |reg: Reg| numbers.get(reg).and_then(|number| names[merged[number]]).unwrap_or(reg);
    for inst in &mut *body {
        inst.op.map_registers(rename);
    }
    body.retain(|inst| copied(inst).is_none_or(|(dst, src)| dst != src));
}

/// The registers that copies of sums name, counted from 0.
struct Numbers {
    regs: Vec<Reg>,
    of_reg: Registers<Option<u32>>,
}

impl Numbers {
    fn new(registers: [u32; 4]) -> Numbers {
        Numbers { regs: Vec::new(), of_reg: Registers::new(registers) }
    }

    fn add(&mut self, reg: Reg) {
        if self.of_reg.get(reg).is_none() {
            self.of_reg.set(reg, Some(self.regs.len() as u32));
            self.regs.push(reg);
        }
    }

    fn get(&self, reg: Reg) -> Option<usize> {
        self.of_reg.get(reg).map(|number| number as usize)
    }
}

/// The registers of a copy that is always made.
fn copied(inst: &Inst) -> Option<(Reg, Reg)> {
    let Op::Mov { dst, src: Operand::Reg(src), .. } = inst.op else { return None };
    (inst.guard.is_none() && dst.class == Class::B32).then_some((dst, src))
}

/// The copies of sums, and of copies of those: where, from which register, and to which.
fn copies_of_sums(body: &[Inst], registers: [u32; 4]) -> Vec<(usize, Reg, Reg)> {
    #[derive(Clone, Copy, Default, PartialEq, Eq)]
    enum Is {
        #[default]
        Other,
        Sum,
        Fragment,
    }
    let is_product = |inst: &Inst| matches!(inst.op, Op::Wgmma { .. } | Op::WgmmaFirst { .. });
    if !body.iter().any(is_product) {
        return Vec::new();
    }
    let mut known: Registers<Is> = Registers::new(registers);
    for inst in body {
        if let Op::Wgmma { d, a, .. } | Op::WgmmaFirst { d, a, .. } = &inst.op {
            for &sum in d {
                if known.get(sum) == Is::Other {
                    known.set(sum, Is::Sum);
                }
            }
            // Fragments are read until the product is done, whatever their liveness says.
            a.iter().for_each(|&fragment| known.set(fragment, Is::Fragment));
        }
    }
    let mut copies: Vec<(usize, Reg, Reg)> =
        body.iter().enumerate().filter_map(|(at, inst)| copied(inst).map(|(dst, src)| (at, dst, src))).collect();
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for &(_, dst, src) in &copies {
            let kinds = [dst, src].map(|reg| known.get(reg));
            if kinds.contains(&Is::Sum) && kinds.contains(&Is::Other) {
                [dst, src].into_iter().for_each(|reg| known.set(reg, Is::Sum));
                changed = true;
            }
        }
    }
    copies.retain(|&(_, dst, src)| [dst, src].map(|reg| known.get(reg)) == [Is::Sum; 2]);
    copies
}

/// How many loops are around each instruction: between a label and a jump back to it.
fn depths(body: &[Inst]) -> Vec<u32> {
    let mut labels: Vec<(u32, usize)> = Vec::new();
    let mut depths = vec![0; body.len()];
    for (at, inst) in body.iter().enumerate() {
        if let Op::Label { label } = inst.op {
            labels.push((label, at));
        }
        if let Op::Bra { label, .. } = inst.op
            && let Some(&(_, start)) = labels.iter().find(|&&(of, _)| of == label)
        {
            depths[start..=at].iter_mut().for_each(|depth| *depth += 1);
        }
    }
    depths
}

/// What an instruction means for the liveness of numbered registers. Instructions that mean nothing for it are left out.
enum Step {
    /// Control arrives here from jumps, too.
    Label(u32),
    /// It goes there, or on.
    Branch(u32),
    /// It goes there.
    Jump(u32),
    /// It goes nowhere.
    End,
    /// Registers are read, then written.
    Access { reads: Vec<usize>, writes: Vec<usize>, is_guarded: bool, is_copy: bool },
}

fn steps(body: &[Inst], numbers: &Numbers) -> Vec<Step> {
    let mut steps = Vec::new();
    for inst in body {
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        inst.op.for_each_read(|reg| reads.extend(numbers.get(reg)));
        inst.op.for_each_write(|reg| writes.extend(numbers.get(reg)));
        let is_guarded = inst.guard.is_some();
        if !(reads.is_empty() && writes.is_empty()) {
            steps.push(Step::Access { reads, writes, is_guarded, is_copy: copied(inst).is_some() });
        }
        if let Op::Label { label } = inst.op {
            steps.push(Step::Label(label));
        }
        if let Op::Bra { label, pred, .. } = inst.op {
            let is_always = pred.is_none() && !is_guarded;
            steps.push(if is_always { Step::Jump(label) } else { Step::Branch(label) });
        }
        if matches!(inst.op, Op::Ret | Op::Trap) && !is_guarded {
            steps.push(Step::End);
        }
    }
    steps
}

/// The registers that are live before each label.
struct Live {
    of_label: Vec<(u32, Set)>,
}

impl Live {
    fn at(&self, label: u32) -> &Set {
        &self.of_label.iter().find(|(of, _)| *of == label).expect("each jump is to a label").1
    }

    /// From what is live after a step to what is before it.
    fn step(&self, step: &Step, live: &mut Set) {
        match step {
            Step::Label(_) => {}
            Step::Branch(label) => union(live, self.at(*label)),
            Step::Jump(label) => live.clone_from(self.at(*label)),
            Step::End => live.fill(0),
            Step::Access { reads, writes, is_guarded, .. } => {
                if !is_guarded {
                    writes.iter().for_each(|&i| live[i / 64] &= !(1 << (i % 64)));
                }
                reads.iter().for_each(|&i| live[i / 64] |= 1 << (i % 64));
            }
        }
    }

    fn of(steps: &[Step], words: usize) -> Live {
        let label = |step: &Step| if let Step::Label(label) = *step { Some((label, vec![0; words])) } else { None };
        let mut all = Live { of_label: steps.iter().filter_map(label).collect() };
        let mut changed = true;
        while std::mem::take(&mut changed) {
            let (mut live, mut next) = (vec![0; words], all.of_label.len());
            for step in steps.iter().rev() {
                all.step(step, &mut live);
                if let Step::Label(_) = step {
                    next -= 1;
                    let before = &mut all.of_label[next].1;
                    if *before != live {
                        before.clone_from(&live);
                        changed = true;
                    }
                }
            }
        }
        all
    }
}

/// Which registers are live where another one of them is written.
fn conflicts(steps: &[Step], count: usize) -> Vec<Set> {
    let words = count.div_ceil(64);
    let labels = Live::of(steps, words);
    let (mut conflicts, mut live) = (vec![vec![0; words]; count], vec![0; words]);
    for step in steps.iter().rev() {
        if let Step::Access { reads, writes, is_copy, .. } = step {
            let mut beside = live.clone();
            writes.iter().for_each(|&i| beside[i / 64] |= 1 << (i % 64));
            // A copy has the bits of what it is of.
            if *is_copy {
                reads.iter().for_each(|&i| beside[i / 64] &= !(1 << (i % 64)));
            }
            for &own in writes {
                union(&mut conflicts[own], &beside);
            }
        }
        labels.step(step, &mut live);
    }
    // On both sides, and with no register itself.
    for i in 0..count {
        let of = std::mem::take(&mut conflicts[i]);
        members(&of).filter(|&j| j != i).for_each(|j| conflicts[j][i / 64] |= 1 << (i % 64));
        conflicts[i] = of;
        conflicts[i][i / 64] &= !(1 << (i % 64));
    }
    conflicts
}

fn set_of(count: usize, member: usize) -> Set {
    let mut set = vec![0; count.div_ceil(64)];
    set[member / 64] |= 1 << (member % 64);
    set
}

fn has(set: &[u64], member: usize) -> bool {
    set[member / 64] >> (member % 64) & 1 == 1
}

fn members(set: &[u64]) -> impl Iterator<Item = usize> {
    let of_word =
        |(i, &word): (usize, &u64)| (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| i * 64 + bit);
    set.iter().enumerate().flat_map(of_word)
}

fn union(set: &mut [u64], other: &[u64]) {
    set.iter_mut().zip(other).for_each(|(set, other)| *set |= other);
}
