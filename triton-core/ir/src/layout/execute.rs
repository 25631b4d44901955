//! Conversion plans, executed: the meaning of every part of a plan, step by step as a kernel would do it.

use super::access::{Access, Form};
use super::convert::{Plan, PlanKind};
use super::linear::apply;
use super::shared::Shared;
use super::shuffle::{Select, Shuffle, Stage, Words};
use super::{LANES, linear};

impl Plan {
    /// The registers of all threads after the conversion, from those before: of thread 0 first, thread `32 · warp + lane`.
    /// `None` if there are not as many as the plan is for.
    pub fn execute<T: Clone>(&self, before: &[T]) -> Option<Vec<T>> {
        if before.len() != self.threads() << self.from {
            return None;
        }
        let threads: Vec<&[T]> = before.chunks(1 << self.from).collect();
        match &self.kind {
            PlanKind::None => Some(before.to_vec()),
            PlanKind::Rename { map } => Some(threads.into_iter().flat_map(|regs| words(regs, map)).collect()),
            PlanKind::Select(select) => each_part(&select.words, &threads, self, |threads| Some(select.run(threads))),
            PlanKind::Shuffle(shuffle) => each_part(&shuffle.words, &threads, self, |threads| shuffle.run(threads)),
            PlanKind::Shared(shared) => shared.run(&threads, self),
        }
    }
}

/// What words `apply(map, 0..)` are.
fn words<T: Clone>(of: &[T], map: &[u32]) -> Vec<T> {
    (0..1u32 << map.len()).map(|x| of[apply(map, x) as usize].clone()).collect()
}

/// Runs the plan on registers grouped into words, and takes the words apart again.
fn each_part<T: Clone>(
    words: &Words,
    threads: &[&[T]],
    plan: &Plan,
    run: impl Fn(Vec<Vec<Vec<T>>>) -> Option<Vec<Vec<Vec<T>>>>,
) -> Option<Vec<T>> {
    let group = |regs: &&[T]| -> Vec<Vec<T>> {
        let ordered = self::words(regs, &words.from);
        ordered.chunks(1 << words.pack).map(<[T]>::to_vec).collect()
    };
    let back = linear::invert(&words.to)?;
    let done = run(threads.iter().map(group).collect())?;
    let mut after = Vec::with_capacity(plan.threads() << plan.to);
    for thread in done {
        let ordered: Vec<T> = thread.into_iter().flatten().collect();
        after.extend(self::words(&ordered, &back));
    }
    Some(after)
}

fn run_stages<T: Clone>(stages: &[Stage], thread: usize, mut words: Vec<T>) -> Vec<T> {
    let (warp, lane) = ((thread / LANES) as u32, (thread % LANES) as u32);
    for stage in stages.iter().filter(|s| s.swaps(lane, warp)) {
        words = (0..words.len()).map(|x| words[x ^ stage.swap as usize].clone()).collect();
    }
    words
}

impl Select {
    fn run<T: Clone>(&self, threads: Vec<Vec<T>>) -> Vec<Vec<T>> {
        let run = |(i, regs)| words(&run_stages(&self.stages, i, regs), &self.map);
        threads.into_iter().enumerate().map(run).collect()
    }
}

impl Shuffle {
    fn run<T: Clone>(&self, threads: Vec<Vec<T>>) -> Option<Vec<Vec<T>>> {
        let staged = threads.into_iter().enumerate().map(|(i, regs)| run_stages(&self.before, i, regs));
        let staged: Vec<Vec<T>> = staged.collect();
        let mut read = vec![Vec::with_capacity(1 << self.rounds()); staged.len()];
        for round in 0..1u32 << self.rounds() {
            let published = apply(&self.publish, round) as usize;
            for (thread, words) in read.iter_mut().enumerate() {
                let (warp, lane) = (thread / LANES, thread % LANES);
                let shift = apply(&self.lane_of_warp, warp as u64) ^ apply(&self.lane_of_round, round);
                let other = warp * LANES + (apply(&self.lane, lane as u64) ^ shift) as usize;
                words.push(staged.get(other)?.get(published)?.clone());
            }
        }
        Some(read.into_iter().enumerate().map(|(i, regs)| run_stages(&self.after, i, regs)).collect())
    }
}

impl Access {
    /// Calls `f` with thread, register and offset of every element of a part.
    fn each(&self, threads: usize, part: u32, mut f: impl FnMut(usize, usize, usize)) {
        for thread in 0..threads {
            let (warp, lane) = ((thread / LANES) as u32, (thread % LANES) as u32);
            for instruction in 0..self.instructions() {
                for (i, register) in (0..).zip(self.registers(instruction, part)) {
                    let offset = match self.form {
                        Form::Vector => self.base(instruction, lane, warp) + i,
                        Form::Matrix { trans, count, .. } => {
                            let packed = self.elements / count;
                            let (matrix, part) = (i / packed, i % packed);
                            let (row, column) = if trans {
                                (packed * (lane & 3) + part, lane >> 2)
                            } else {
                                (lane >> 2, packed * (lane & 3) + part)
                            };
                            // The lane that gives the address of that row.
                            self.base(instruction, 8 * matrix + row, warp) + column
                        }
                    };
                    f(thread, register as usize, offset as usize);
                }
            }
        }
    }
}

impl Shared {
    fn run<T: Clone>(&self, threads: &[&[T]], plan: &Plan) -> Option<Vec<T>> {
        let mut after: Vec<Option<T>> = vec![None; threads.len() << plan.to];
        for part in 0..1 << self.mem.parts() {
            let mut memory: Vec<Option<T>> = vec![None; 1 << self.mem.address_bits()];
            self.store.each(threads.len(), part, |thread, register, offset| {
                memory[offset] = Some(threads[thread][register].clone());
            });
            self.load.each(threads.len(), part, |thread, register, offset| {
                after[thread << plan.to | register] = memory[offset].clone();
            });
        }
        after.into_iter().collect()
    }
}
