//! Copies of the sums of `wgmma`, in loops: what is copied and its copy become one register where they are never live together.
//!
//! `wgmma` adds to the registers that it reads, and what a loop carries has registers of its own, so that a sum that is computed in a turn is
//! moved to the product, and the product's to the loop. An assembler does not undo it: sums lie side by side, and it gives the same
//! place to those of several products. This is the coalescing of Chaitin ("Register allocation and spilling via graph
//! coloring", 1982), of these registers alone.
//!
//! A sum in flight is live until its wait, as something takes it after that.

use crate::ptx::{Class, Inst, Op, Operand, Reg};
use std::collections::HashMap;

/// A set of registers.
type Set = Vec<u64>;

/// See the [module's page](self).
pub(crate) fn coalesce(body: &mut Vec<Inst>) {
    let depths = depths(body);
    let moves = moves(body);
    if !moves.iter().any(|&(at, ..)| depths[at] > 0) {
        return;
    }
    let mut numbers: HashMap<Reg, usize> = HashMap::new();
    for reg in moves.iter().flat_map(|&(_, dst, src)| [dst, src]) {
        let next = numbers.len();
        numbers.entry(reg).or_insert(next);
    }
    let mut conflicts = conflicts(body, &numbers);
    let mut merged: Vec<usize> = (0..numbers.len()).collect();
    let mut members: Vec<Set> = merged.iter().map(|&i| set_of(numbers.len(), i)).collect();
    // Those of the innermost loops first, where they cost most.
    let mut order: Vec<&(usize, Reg, Reg)> = moves.iter().collect();
    order.sort_by_key(|&&(at, ..)| std::cmp::Reverse(depths[at]));
    for &&(_, dst, src) in &order {
        let (a, b) = (merged[numbers[&dst]], merged[numbers[&src]]);
        if a == b || conflicts[a].iter().zip(&members[b]).any(|(a, b)| a & b != 0) {
            continue;
        }
        let (more, theirs) = (std::mem::take(&mut members[b]), std::mem::take(&mut conflicts[b]));
        // What conflicts with one of them conflicts with both.
        for (i, of) in conflicts.iter_mut().enumerate().filter(|(_, of)| !of.is_empty()) {
            if theirs[i / 64] >> (i % 64) & 1 == 1 {
                union(of, &more);
                union(of, &members[a]);
            }
        }
        union(&mut members[a], &more);
        union(&mut conflicts[a], &theirs);
        merged.iter_mut().filter(|of| **of == b).for_each(|of| *of = a);
    }
    let mut names: Vec<Option<Reg>> = vec![None; numbers.len()];
    for (&reg, &number) in &numbers {
        let name = &mut names[merged[number]];
        *name = Some(name.map_or(reg, |other: Reg| if other.index < reg.index { other } else { reg }));
    }
    let rename = |reg: Reg| numbers.get(&reg).and_then(|&number| names[merged[number]]).unwrap_or(reg);
    for inst in &mut *body {
        inst.op.map_registers(rename);
    }
    body.retain(|inst| copied(inst).is_none_or(|(dst, src)| dst != src));
}

/// The registers of a copy that is always made.
fn copied(inst: &Inst) -> Option<(Reg, Reg)> {
    let Op::Mov { dst, src: Operand::Reg(src), .. } = inst.op else { return None };
    (inst.guard.is_none() && dst.class == Class::B32).then_some((dst, src))
}

/// The copies of sums, and of copies of those.
fn moves(body: &[Inst]) -> Vec<(usize, Reg, Reg)> {
    let mut sums: HashMap<Reg, bool> = HashMap::new();
    for inst in body {
        if let Op::Wgmma { d, a, .. } | Op::WgmmaFirst { d, a, .. } = &inst.op {
            for &sum in d {
                sums.entry(sum).or_insert(true);
            }
            // Fragments are read until the product is done, whatever their liveness says.
            sums.extend(a.iter().map(|&fragment| (fragment, false)));
        }
    }
    if sums.is_empty() {
        return Vec::new();
    }
    let copies: Vec<(usize, Reg, Reg)> =
        body.iter().enumerate().filter_map(|(at, inst)| copied(inst).map(|(dst, src)| (at, dst, src))).collect();
    loop {
        let known = sums.len();
        for (_, dst, src) in &copies {
            if [dst, src].into_iter().any(|reg| sums.get(reg) == Some(&true)) {
                sums.entry(*dst).or_insert(true);
                sums.entry(*src).or_insert(true);
            }
        }
        if sums.len() == known {
            break;
        }
    }
    let is_sum = |reg: &Reg| sums.get(reg) == Some(&true);
    copies.into_iter().filter(|(_, dst, src)| is_sum(dst) && is_sum(src)).collect()
}

/// How many loops are around each instruction: between a label and a jump back to it.
fn depths(body: &[Inst]) -> Vec<u32> {
    let labels = labels(body);
    let mut depths = vec![0; body.len()];
    for (at, inst) in body.iter().enumerate() {
        if let Op::Bra { label, .. } = inst.op
            && let Some(&start) = labels.get(&label).filter(|&&start| start <= at)
        {
            depths[start..=at].iter_mut().for_each(|depth| *depth += 1);
        }
    }
    depths
}

fn labels(body: &[Inst]) -> HashMap<u32, usize> {
    let label = |(at, inst): (usize, &Inst)| if let Op::Label { label } = inst.op { Some((label, at)) } else { None };
    body.iter().enumerate().filter_map(label).collect()
}

/// Which registers are live where another one of them is written.
fn conflicts(body: &[Inst], numbers: &HashMap<Reg, usize>) -> Vec<Set> {
    let (labels, words) = (labels(body), numbers.len().div_ceil(64));
    let mut before: Vec<Set> = vec![vec![0; words]; body.len() + 1];
    let after = |before: &[Set], at: usize| {
        let ends = matches!(body[at].op, Op::Ret | Op::Trap | Op::Bra { pred: None, .. }) && body[at].guard.is_none();
        let mut live = if ends { vec![0; words] } else { before[at + 1].clone() };
        if let Op::Bra { label, .. } = body[at].op
            && let Some(&target) = labels.get(&label)
        {
            union(&mut live, &before[target]);
        }
        live
    };
    let mut changed = true;
    while changed {
        changed = false;
        for at in (0..body.len()).rev() {
            let (mut live, inst) = (after(&before, at), &body[at]);
            let mut set = |reg: Reg, is_live: bool| {
                if let Some(&i) = numbers.get(&reg) {
                    live[i / 64] = live[i / 64] & !(1 << (i % 64)) | u64::from(is_live) << (i % 64);
                }
            };
            if inst.guard.is_none() {
                inst.op.for_each_write(|reg| set(reg, false));
            }
            inst.op.for_each_read(|reg| set(reg, true));
            if live != before[at] {
                before[at] = live;
                changed = true;
            }
        }
    }
    let mut conflicts = vec![vec![0; words]; numbers.len()];
    for (at, inst) in body.iter().enumerate() {
        let mut written: Vec<usize> = Vec::new();
        inst.op.for_each_write(|reg| written.extend(numbers.get(&reg)));
        if written.is_empty() {
            continue;
        }
        let mut live = after(&before, at);
        written.iter().for_each(|&i| live[i / 64] |= 1 << (i % 64));
        // A copy has the bits of what it is of.
        if let Some(&src) = copied(inst).and_then(|(_, src)| numbers.get(&src)) {
            live[src / 64] &= !(1 << (src % 64));
        }
        for &own in &written {
            union(&mut conflicts[own], &live);
            for i in (0..numbers.len()).filter(|&i| live[i / 64] >> (i % 64) & 1 == 1) {
                conflicts[i][own / 64] |= 1 << (own % 64);
            }
        }
    }
    for (i, of) in conflicts.iter_mut().enumerate() {
        of[i / 64] &= !(1 << (i % 64));
    }
    conflicts
}

fn set_of(count: usize, member: usize) -> Set {
    let mut set = vec![0; count.div_ceil(64)];
    set[member / 64] |= 1 << (member % 64);
    set
}

fn union(set: &mut [u64], other: &[u64]) {
    set.iter_mut().zip(other).for_each(|(set, other)| *set |= other);
}
