//! A device as choices and estimates see it: how much of everything it has, and how fast that is.

use super::{ComputeCapability, Target};

/// What the time of a launch depends on of the device that runs it.
///
/// ```
/// use triton_ir::metadata::{ComputeCapability, Machine, Target};
///
/// let a6000 = Machine::new(ComputeCapability::new(8, 6), 84);
/// assert_eq!((a6000.target(), a6000.shared_bytes), (Target::Sm80, 99 << 10));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Machine {
    /// The generation of the GPU.
    pub capability: ComputeCapability,
    /// Multiprocessors.
    pub multiprocessors: u32,
    /// The most shared memory of a block, in bytes. A multiprocessor has 1 KiB more.
    pub shared_bytes: u32,
    /// Millions of cycles a second, under load.
    pub mhz: u32,
    /// Gigabytes a second to and from device memory.
    pub gigabytes: u32,
}

impl Machine {
    /// An H200 at the clock that it has under load.
    pub const H200: Machine = Machine {
        capability: ComputeCapability::new(9, 0),
        multiprocessors: 132,
        shared_bytes: 227 << 10,
        mhz: 1755,
        gigabytes: 4917,
    };

    /// A device of a compute capability, with this many multiprocessors, at the clock and with the memory of an H200.
    pub const fn new(capability: ComputeCapability, multiprocessors: u32) -> Machine {
        Machine { capability, multiprocessors, shared_bytes: capability.shared_bytes(), ..Machine::H200 }
    }

    /// The same with a clock and a memory that have these shares of an H200's. Shares are rounded to twentieths: two devices of one kind are
    /// one machine. A share of 0, of a driver that does not say, is all of it.
    pub fn at(self, clock: f64, memory: f64) -> Machine {
        let share = |of: f64| if of > 0.0 { (of * 20.0).round().max(1.0) / 20.0 } else { 1.0 };
        let of = |all: u32, of: f64| (f64::from(all) * share(of)).round() as u32;
        Machine { mhz: of(Machine::H200.mhz, clock), gigabytes: of(Machine::H200.gigabytes, memory), ..self }
    }

    /// What code it runs.
    pub fn target(&self) -> Target {
        Target::ALL.iter().copied().find(|target| target.runs_on(self.capability)).unwrap_or(Target::LEAST)
    }

    /// Products of numbers of 16 bits that the tensor cores of a multiprocessor add in a cycle, by NVIDIA's white papers of the architectures; of those
    /// after Hopper what `mma` reaches, which is what code of `sm_80` has.
    pub const fn half_products(&self) -> u32 {
        match (self.capability.major, self.capability.minor) {
            (9, _) => 2048,
            (8, 0) | (10 | 11, _) => 1024,
            _ => 512,
        }
    }

    /// The same of `f64`.
    pub const fn double_products(&self) -> u32 {
        match (self.capability.major, self.capability.minor) {
            (9, _) => 128,
            (8, 0) | (10 | 11, _) => 64,
            _ => 1,
        }
    }
}
