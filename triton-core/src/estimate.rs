//! How long a launch takes, without running it: what a block does, by the unit of a multiprocessor that does it, and
//! how blocks share these units.
//!
//! It is an estimate *after scheduling*: of a function at stage 2, whose loops fill rings ahead. Units work beside each
//! other, so that the busiest one decides, as in the roofline model (Williams, Waterman and Patterson, CACM 2009):
//! schedulers, tensor cores, shared memory, and the way to L2. A block has a latency, which other blocks of the
//! multiprocessor hide as far as they are resident. Loops run as often as the arguments say; what the arguments do not
//! say, such as a loaded number, runs as often as layout assignment assumes. Neither spills nor caches above L2 are
//! counted, and one program, the first, stands for all.
//!
//! Its numbers are those of [`cost`]: it is for comparing instances of a kernel, on the CPU, the same on every machine.

use crate::analysis::scalars::Scalars;
use crate::analysis::{axis, pressure};
use crate::ir::{Block, Function, Inst, InstData, Value};
use crate::layout::{LANES, access, cost};
use crate::metadata::{Arg, Machine, Specialization, Target};
use crate::ops::{Control, DotKind, Location, Op};
use crate::passes::{self, Env};
use crate::types::{Class, Type};
use std::ops::{Add, Mul};

/// What a kernel does, of one instance: to be asked for any launch of it.
#[derive(Clone, Debug)]
pub struct Estimate {
    func: Function,
    target: Target,
    shared_bytes: u32,
    registers: u32,
}

/// Cycles of a multiprocessor's units, and those that a block alone needs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Work {
    /// Of the schedulers.
    issue: f64,
    /// Of the tensor cores.
    tensor: f64,
    /// Of the shared memory.
    shared: f64,
    /// Sectors of 32 bytes from or to global memory.
    sectors: f64,
    /// Sectors that the block waits for: no ring fills them ahead.
    awaited: f64,
    /// What the block waits for beside.
    latency: f64,
    /// Floating-point operations: two for a multiplication of a product with its addition.
    flops: f64,
}

impl Add for Work {
    type Output = Work;

    fn add(self, other: Work) -> Work {
        Work {
            issue: self.issue + other.issue,
            tensor: self.tensor + other.tensor,
            shared: self.shared + other.shared,
            sectors: self.sectors + other.sectors,
            awaited: self.awaited + other.awaited,
            latency: self.latency + other.latency,
            flops: self.flops + other.flops,
        }
    }
}

impl Mul<f64> for Work {
    type Output = Work;

    fn mul(self, times: f64) -> Work {
        Work {
            issue: self.issue * times,
            tensor: self.tensor * times,
            shared: self.shared * times,
            sectors: self.sectors * times,
            awaited: self.awaited * times,
            latency: self.latency * times,
            flops: self.flops * times,
        }
    }
}

impl Work {
    /// Cycles of the busiest unit.
    fn busiest(self) -> f64 {
        self.issue.max(self.tensor).max(self.shared).max(self.sectors * cost::SECTOR_OF_L2)
    }

    /// Cycles of a block that has the multiprocessor for itself, of this many warps: it does what it does at once, and
    /// waits for what nothing hides.
    fn alone(self, warps: u32) -> f64 {
        let schedulers = 4.0 / f64::from(warps.clamp(1, 4));
        Work { issue: self.issue * schedulers, ..self }.busiest() + self.awaited * cost::SECTOR_OF_L2 + self.latency
    }
}

/// What a launch takes, and by which unit.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Taken {
    /// Microseconds of the launch, as of [`Estimate::us`].
    pub us: f64,
    /// Microseconds of the schedulers, were they alone.
    pub schedulers: f64,
    /// Of the tensor cores.
    pub tensor_cores: f64,
    /// Of the shared memory.
    pub shared_memory: f64,
    /// Of the way to L2.
    pub l2: f64,
    /// Floating-point operations of the launch.
    pub flops: f64,
}

impl Estimate {
    /// The estimate of an embedded function, in its code for a target and a specialization.
    ///
    /// # Errors
    /// An internal compiler error.
    pub fn new(func: &Function, target: Target, specialization: Specialization) -> Result<Estimate, String> {
        let mut func = func.clone();
        passes::run(passes::OPTIMISE, &mut func, &Env::portable())?;
        let env = Env { persistent: false, ..Env::new(target, specialization) };
        passes::run(passes::SPECIALISE, &mut func, &env)?;
        passes::run_lists(&passes::PER_IMAGE, &mut func, &env, &mut |_| {})?;
        let end = |(inst, buffer): (Inst, Value)| {
            let at = if let Op::SharedAlloc { at, .. } = func.insts[inst].op { at } else { None };
            u64::from(at.unwrap_or(0)) + func.buffer_bytes(buffer)
        };
        let shared = func.buffers().into_iter().map(end).max().unwrap_or(0);
        let registers = pressure::registers(&func, &axis::analyse(&func, specialization));
        Ok(Estimate { func, target, shared_bytes: u32::try_from(shared).unwrap_or(u32::MAX), registers })
    }

    /// Microseconds of a launch with these arguments, a value for each parameter of the function, over a grid of
    /// programs. A grid with a zero launches nothing, and takes none.
    pub fn us(&self, args: &[Arg], programs: [u32; 3], machine: &Machine) -> f64 {
        if programs.contains(&0) { 0.0 } else { self.taken(args, programs, machine).us }
    }

    /// The same, and what each unit takes.
    pub fn taken(&self, args: &[Arg], programs: [u32; 3], machine: &Machine) -> Taken {
        let mut walk = Walk { func: &self.func, scalars: Scalars::new(&self.func, args, Some(programs)) };
        let (work, alone) = walk.block(self.func.body);
        let work = Work { issue: work.issue + cost::BLOCK_START, ..work };
        let blocks = programs.iter().map(|&count| f64::from(count)).product::<f64>() * f64::from(self.func.cluster);
        let threads = self.func.threads();
        let resident = f64::from(self.target.resident_blocks(threads, self.registers, self.shared_bytes).max(1));
        let of_one = (blocks / f64::from(machine.multiprocessors)).ceil().max(1.0);
        let rounds = (of_one / resident).floor();
        let round = |blocks: f64| if blocks > 0.0 { alone.max(blocks * work.busiest()) } else { 0.0 };
        let cycles = rounds * round(resident) + round(of_one - rounds * resident);
        let moved = blocks * work.sectors * 32.0 / cost::L2_BYTES;
        let all = |cycles: f64| cycles * blocks / f64::from(machine.multiprocessors) / f64::from(machine.mhz);
        Taken {
            us: cost::LAUNCH + (cycles / f64::from(machine.mhz)).max(moved),
            schedulers: all(work.issue),
            tensor_cores: all(work.tensor),
            shared_memory: all(work.shared),
            l2: all(work.sectors * cost::SECTOR_OF_L2).max(moved),
            flops: work.flops * blocks,
        }
    }
}

/// A walk over a function, for one launch.
struct Walk<'f> {
    func: &'f Function,
    scalars: Scalars<'f>,
}

impl Walk<'_> {
    /// What a block of the function does, and how long it takes alone.
    fn block(&mut self, block: Block) -> (Work, f64) {
        let func = self.func;
        let (mut here, mut inner, mut alone) = (Work::default(), Work::default(), 0.0);
        for (inst, data) in func.block(block) {
            match data.op.control() {
                Some(Control::For(bounds)) => {
                    let trips = self.scalars.trips(bounds).unwrap_or(cost::INNER_TRIPS);
                    let (work, once) = self.block(data.regions[0]);
                    let once = once.max(self.latency_of_ring(data.regions[0]));
                    inner = inner + work * trips;
                    alone += once * trips;
                }
                Some(Control::While) => {
                    let of_regions: Vec<(Work, f64)> = data.regions.iter().map(|&region| self.block(region)).collect();
                    for (work, once) in of_regions {
                        inner = inner + work * cost::INNER_TRIPS;
                        alone += once * cost::INNER_TRIPS;
                    }
                }
                Some(Control::If(cond)) => {
                    let holds = self.scalars.value(cond).map(|bits| bits != 0);
                    for (region, taken) in data.regions.iter().zip([true, false]) {
                        let share = holds.map_or(cost::BRANCH, |holds| f64::from(u8::from(holds == taken)));
                        if share > 0.0 {
                            let (work, once) = self.block(*region);
                            inner = inner + work * share;
                            alone += once * share;
                        }
                    }
                }
                Some(Control::Yield) | None => {
                    self.scalars.define(inst, data);
                    here = here + work(func, data);
                }
            }
        }
        // A block that loads by itself waits for the first of its loads; the others are on their way.
        if here.awaited > 0.0 {
            here.latency += cost::EXPOSED_LOAD;
        }
        (here + inner, alone + here.alone(func.num_warps))
    }

    /// Cycles between two items of a ring that arrive, whatever is done with them: as many are on their way as it has slots but one.
    fn latency_of_ring(&self, region: Block) -> f64 {
        let waits = self.func.block(region).filter_map(|(_, data)| {
            if let Op::RingWait { ring, .. } = data.op { Some(self.func.rings[ring].slots) } else { None }
        });
        waits.map(|slots| cost::RING_LATENCY / f64::from(slots.max(2) - 1)).fold(0.0, f64::max)
    }
}

/// What one operation does.
#[expect(clippy::wildcard_enum_match_arm, reason = "whatever moves nothing is elementwise")]
fn work(func: &Function, data: &InstData) -> Work {
    let warps = f64::from(func.num_warps);
    let registers = |value: Value| func.registers(value) as f64;
    let bytes =
        |value: Value| f64::from(func.ty(value).elem.bits().div_ceil(8)) * func.ty(value).shape.elements() as f64;
    let issue = |value: Value| registers(value) * warps * cost::ISSUE;
    // 128 bytes of shared memory in a cycle.
    let wavefronts = |value: Value| {
        registers(value) * warps * LANES as f64 * f64::from(func.ty(value).elem.bits().div_ceil(8)) / 128.0
    };
    if let Some((buffer, _, Location::View { shape, .. })) = data.op.takes() {
        let bytes = shape.elements() as f64 * f64::from(func.ty(buffer).elem.bits() / 8);
        return Work { sectors: bytes / 32.0, ..Work::default() };
    }
    match data.op {
        Op::Dot { kind, a, acc, .. } => dot(func, data, kind, a, acc),
        Op::Load { .. } => data.results.first().map_or(Work::default(), |&to| Work {
            issue: issue(to),
            sectors: bytes(to) / 32.0,
            awaited: bytes(to) / 32.0,
            ..Work::default()
        }),
        Op::Store { value, .. } | Op::Atomic { value, .. } | Op::AtomicCas { value, .. } => {
            // What is updated is read and written.
            let times = if matches!(data.op, Op::Store { .. }) { 1.0 } else { 2.0 };
            Work { issue: issue(value), sectors: times * bytes(value) / 32.0, ..Work::default() }
        }
        Op::RingFill { buffer, .. } => {
            let bytes = bytes(buffer);
            let by_threads = func.rings.keys().all(|ring| !func.rings[ring].fill.is_bulk());
            let copies = bytes / f64::from(access::WIDEST) / LANES as f64 * cost::ADDRESS_SLOTS * cost::ISSUE;
            Work { issue: if by_threads { copies } else { 0.0 }, sectors: bytes / 32.0, ..Work::default() }
        }
        Op::SharedStore { value, .. } => {
            Work { issue: issue(value) / 4.0, shared: wavefronts(value), ..Work::default() }
        }
        Op::SharedLoad { .. } | Op::SharedSlice { .. } => data.results.first().map_or(Work::default(), |&to| Work {
            issue: issue(to) / 4.0,
            shared: wavefronts(to),
            ..Work::default()
        }),
        Op::Sync { .. } | Op::RingWait { .. } | Op::DotWait { .. } => {
            Work { latency: cost::BARRIER, ..Work::default() }
        }
        Op::Convert { x } => data.results.first().map_or(Work::default(), |&to| {
            let plan = func
                .layout_id(x)
                .zip(func.layout_id(to))
                .and_then(|(from, to)| func.layouts.planned(from, to, func.ty(x).elem.bits(), true));
            Work { shared: plan.map_or(0.0, |plan| plan.cost * func.copies(x) as f64), ..Work::default() }
        }),
        Op::Fold { .. } => data.args.first().map_or(Work::default(), |&from| Work {
            issue: issue(from),
            flops: func.ty(from).shape.elements() as f64,
            ..Work::default()
        }),
        _ => {
            let tiles = || data.results.iter().filter(|&&result| func.layout(result).is_some());
            let computes = matches!(data.op, Op::Unary { .. } | Op::Binary { .. } | Op::Ternary { .. });
            let is_float = |ty: Type| ty.elem.num().is_some_and(|dtype| dtype.class() == Class::Float);
            let floats = tiles().map(|&tile| func.ty(tile)).filter(|&ty| computes && is_float(ty));
            let flops = floats.map(|ty| ty.shape.elements() as f64).sum();
            Work { issue: tiles().map(|&tile| issue(tile)).sum(), flops, ..Work::default() }
        }
    }
}

/// What a product does.
fn dot(func: &Function, data: &InstData, kind: DotKind, a: Value, acc: Value) -> Work {
    let warps = f64::from(func.num_warps);
    let Some((_, [_, depth])) = func.ty(a).shape.matrices() else { return Work::default() };
    let (depth, elements) = (f64::from(depth), func.ty(acc).shape.elements() as f64);
    let reads = || {
        let of = |(operand, layout): (Value, crate::layout::Layout)| {
            let bits = f64::from(func.ty(operand).elem.bits());
            // Many lanes read the same: 16 bytes take two wavefronts.
            (layout.registers() * func.copies(operand)) as f64 * bits / 128.0 * warps * 2.0 * cost::WAVEFRONT
        };
        func.shared_operands(&data.op).into_iter().map(of).sum::<f64>()
    };
    let flops = 2.0 * elements * depth;
    match kind {
        DotKind::Fma | DotKind::Any | DotKind::Tf32 => {
            let registers = func.layout(acc).map_or(elements / LANES as f64 / warps, |_| func.registers(acc) as f64);
            let words = f64::from(func.ty(acc).elem.bits().div_ceil(32));
            Work { issue: registers * depth * warps * cost::ISSUE * words, shared: reads(), flops, ..Work::default() }
        }
        DotKind::Mma | DotKind::MmaM8 => {
            let tensor = flops / cost::mma_flops(func.ty(a).elem.num());
            Work { tensor, shared: reads(), issue: reads() / 4.0, flops, ..Work::default() }
        }
        DotKind::Wgmma => Work { tensor: flops / cost::wgmma_flops(func.ty(a).elem.num()), flops, ..Work::default() },
    }
}
