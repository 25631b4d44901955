//! What only depends on the thread: linear functions of the bits of its index, and predicates of them. What the whole
//! kernel reads of them is computed [at the entry](crate::ptx::lower::at_entry).

use crate::hash::WordMap;
use crate::ir::Value;
use crate::layout::Layout;
use crate::ptx::lower::Lower;
use crate::ptx::{Class, Cmp, Op, Opcode, Operand, Reg, Special, Ty};

/// Functions of the thread's index that a piece of code has computed already. Bits of the index: five of the lane, then those
/// of the warp. They hold in that piece alone, which is without branches or is the entry; each piece begins with none.
#[derive(Default)]
pub(crate) struct Threads {
    index: Option<Reg>,
    linear: WordMap<Vec<u32>, Reg>,
    odd: WordMap<u32, Reg>,
}

impl Threads {
    /// Those of the entry, where the index is known.
    pub fn at_entry(cx: &mut Lower) -> Threads {
        Threads { index: Some(cx.thread()), ..Threads::default() }
    }

    fn index(&mut self, cx: &mut Lower) -> Reg {
        *self.index.get_or_insert_with(|| cx.compute_thread())
    }

    /// The xor of the columns of the index's set bits, a column for each of its bits; `None` if that is 0 in every thread.
    pub fn linear(&mut self, cx: &mut Lower, columns: &[u32]) -> Option<Reg> {
        if let Some(&reg) = self.linear.get(columns) {
            return Some(reg);
        }
        let index = self.index(cx);
        let all = ((1u64 << columns.len()) - 1) as u32;
        // Bits that move by the same distance go together.
        let mut moves: Vec<(i32, u32)> = Vec::new();
        for (bit, &column) in columns.iter().enumerate() {
            for target in (0..32).filter(|t| column >> t & 1 == 1) {
                let distance = target - bit as i32;
                match moves.iter_mut().find(|(d, _)| *d == distance) {
                    Some((_, mask)) => *mask |= 1 << bit,
                    None => moves.push((distance, 1 << bit)),
                }
            }
        }
        let mut sum = None;
        for (distance, mask) in moves {
            let by = distance.unsigned_abs();
            // A shift to the right drops the bits below by itself.
            let dropped = if distance < 0 { (1 << by) - 1 } else { 0 };
            let mut part = index;
            if mask != all & !dropped {
                part = cx.arith(Opcode::And, Ty::B32, &[part.into(), i64::from(mask).into()]);
            }
            if distance != 0 {
                let (op, ty) = if distance > 0 { (Opcode::Shl, Ty::B32) } else { (Opcode::Shr, Ty::U32) };
                part = cx.arith(op, ty, &[part.into(), i64::from(by).into()]);
            }
            sum = Some(match sum {
                Some(other) => cx.arith(Opcode::Xor, Ty::B32, &[Operand::Reg(other), part.into()]),
                None => part,
            });
        }
        self.linear.extend(sum.map(|reg| (columns.to_vec(), reg)));
        sum
    }

    /// Whether an odd number of these bits of the index is set.
    pub fn odd(&mut self, cx: &mut Lower, bits: u32) -> Reg {
        if let Some(&pred) = self.odd.get(&bits) {
            return pred;
        }
        let index = self.index(cx);
        let mut set = cx.arith(Opcode::And, Ty::B32, &[index.into(), i64::from(bits).into()]);
        if !bits.is_power_of_two() {
            let count = cx.arith(Opcode::Popc, Ty::B32, &[set.into()]);
            set = cx.arith(Opcode::And, Ty::B32, &[count.into(), 1.into()]);
        }
        let pred = cx.setp(Cmp::Ne, Ty::U32, set, 0);
        self.odd.insert(bits, pred);
        pred
    }
}

impl Lower<'_> {
    /// The element that a thread holds in register 0, as a number of 32 bits: the xor of the columns of its set bits.
    pub fn thread_element(&mut self, layout: &Layout) -> Reg {
        self.once(|entry| &mut entry.elements, layout, |cx| cx.compute_thread_element(layout))
    }

    fn compute_thread_element(&mut self, layout: &Layout) -> Reg {
        let tid = self.thread();
        // Thread bits that move by the same distance go together.
        let mut moves: Vec<(i32, u32)> = Vec::new();
        for (bit, &column) in layout.lane.iter().chain(&layout.warp).enumerate() {
            for target in (0..32).filter(|t| column >> t & 1 == 1) {
                let distance = target - bit as i32;
                match moves.iter_mut().find(|(d, _)| *d == distance) {
                    Some((_, mask)) => *mask |= 1 << bit,
                    None => moves.push((distance, 1 << bit)),
                }
            }
        }
        let mut element = None;
        let all = self.func.threads() - 1;
        for (distance, mask) in moves {
            let mut part = tid;
            if mask != all {
                part = self.arith(Opcode::And, Ty::B32, &[part.into(), i64::from(mask).into()]);
            }
            if distance != 0 {
                let (op, ty) = if distance > 0 { (Opcode::Shl, Ty::B32) } else { (Opcode::Shr, Ty::U32) };
                part = self.arith(op, ty, &[part.into(), i64::from(distance.abs()).into()]);
            }
            element = Some(match element {
                Some(other) => self.arith(Opcode::Xor, Ty::B32, &[Operand::Reg(other), part.into()]),
                None => part,
            });
        }
        element.unwrap_or_else(|| self.mov(Ty::U32, 0))
    }

    /// The thread's index in its team.
    pub fn thread(&mut self) -> Reg {
        self.once(|entry| &mut entry.thread, &(), Self::compute_thread)
    }

    fn compute_thread(&mut self) -> Reg {
        let thread = self.thread_of_block();
        if self.func.teams == 1 {
            return thread;
        }
        self.arith(Opcode::And, Ty::B32, &[thread.into(), i64::from(self.func.threads() - 1).into()])
    }

    /// The thread's index in its block.
    pub fn thread_of_block(&mut self) -> Reg {
        self.mov(Ty::U32, Operand::Special(Special::Tid))
    }

    /// The number of the thread's team, the same in all lanes of a warp.
    pub fn team(&mut self) -> Reg {
        let compute = |cx: &mut Self| {
            let (thread, shift) = (cx.thread_of_block(), i64::from(cx.func.threads().ilog2()));
            let team = cx.arith(Opcode::Shr, Ty::U32, &[thread.into(), shift.into()]);
            let dst = cx.reg(Class::B32);
            cx.emit(Op::ShflIdx { dst, src: team, lane: 0.into() });
            dst
        };
        self.once(|entry| &mut entry.team, &(), compute)
    }

    /// Holds in one of the positions that hold the same element: where a store has to happen. `None` if every position
    /// does.
    pub fn store_guard(&mut self, value: Value) -> Option<Reg> {
        let Some(layout) = self.func.layout(value) else { return self.one_thread() };
        let (lanes, warps) = layout.replicated();
        self.one_of(lanes | warps << 5)
    }

    /// Holds in the first thread.
    pub fn one_thread(&mut self) -> Option<Reg> {
        self.one_of(self.func.threads() - 1)
    }

    /// Holds in the threads in which these bits of the index are 0.
    pub fn one_of(&mut self, replicated: u32) -> Option<Reg> {
        if replicated == 0 {
            return None;
        }
        let compute = |cx: &mut Self| {
            let tid = cx.thread();
            let bits = cx.arith(Opcode::And, Ty::B32, &[tid.into(), i64::from(replicated).into()]);
            cx.setp(Cmp::Eq, Ty::U32, bits, 0)
        };
        Some(self.once(|entry| &mut entry.guards, &replicated, compute))
    }
}
