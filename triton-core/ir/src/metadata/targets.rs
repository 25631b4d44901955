//! The table of targets: what the devices that there is code for have, and sets of them.

use std::fmt;

/// The generation of a CUDA device. It prints as `9.0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ComputeCapability {
    /// The architecture: 8 is Ampere and Ada, 9 Hopper.
    pub major: u32,
    /// The revision of the architecture.
    pub minor: u32,
}

impl ComputeCapability {
    /// Compute capability `major.minor`.
    pub const fn new(major: u32, minor: u32) -> ComputeCapability {
        ComputeCapability { major, minor }
    }

    /// The one that prints like this: `8.6`.
    pub fn from_name(name: &str) -> Option<ComputeCapability> {
        let (major, minor) = name.split_once('.')?;
        let number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?;
        Some(ComputeCapability { major: number(major)?, minor: number(minor)? })
    }

    /// Bytes of shared memory that a block can have, by the table of technical specifications in NVIDIA's CUDA C++ Programming Guide. Of a
    /// compute capability that is newer than the table, the least.
    pub const fn shared_bytes(self) -> u32 {
        match (self.major, self.minor) {
            (8, 0 | 7) => 163 << 10,
            (9..=11, _) => 227 << 10,
            _ => 99 << 10,
        }
    }
}

impl fmt::Display for ComputeCapability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// A generation of devices that code is generated for. Everything that the compiler and the launcher ask of one is in its
/// [row](Target::info).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Target {
    /// Compute capability 9.0 alone: Hopper, with the instructions of that architecture.
    Sm90a,
    /// Compute capability 8.0 and everything above.
    Sm80,
}

/// A row of the table of targets: what its devices have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TargetInfo {
    /// The name PTX gives it.
    pub name: &'static str,
    /// The lowest PTX version that has what we emit for it, but for clusters and vector updates.
    pub ptx_version: (u32, u32),
    /// The lowest compute capability that runs its code.
    pub capability: ComputeCapability,
    /// Whether that compute capability alone runs it: instructions of one architecture, as those of `sm_90a`.
    pub exact: bool,
    /// The lowest CUDA driver version that loads the code, as `cuDriverGetVersion` counts: 1000·major + 10·minor.
    pub driver: u32,
    /// Bytes of shared memory that a block can have. A multiprocessor has 1 KiB more.
    pub shared_bytes: u32,
    /// Threads that are resident on a multiprocessor at most.
    pub threads: u32,
    /// Registers of 32 bits of a multiprocessor.
    pub registers: u32,
    /// Blocks that are resident on a multiprocessor at most.
    pub blocks: u32,
    /// Multiprocessors: what programs of a wave share is estimated for this many. Those of an H100 or H200.
    pub multiprocessors: u32,
    /// Threads of a multiprocessor that hide latency: more are asked for where the registers are known, not estimated.
    pub enough_threads: u32,
    /// Bytes of the unit of transfers from L2 and device memory.
    pub sector_bytes: u32,
    /// Bytes of shared memory of a block that copies rows ahead of reductions. Three such blocks fit a multiprocessor of compute capability
    /// 9.0.
    pub copied_row_bytes: u32,
    /// The bytes that a block of a cluster is given.
    pub segments: SegmentBytes,
    /// Whether it has `stmatrix`. Every target has `ldmatrix`.
    pub stmatrix: bool,
    /// Whether one thread copies tiles of views to shared memory, from a tensor map.
    pub bulk_copies: bool,
    /// Whether blocks run in clusters, and store to each other's shared memory.
    pub clusters: bool,
    /// Whether it has `wgmma`, which multiplies matrices in shared memory.
    pub wgmma: bool,
    /// Whether `mma` multiplies 16 rows of `f64` at a time. Every target multiplies 8.
    pub mma_f64: bool,
    /// Whether it rounds `f32` to tf32, to nearest and ties to even, by one instruction.
    pub cvt_rn_tf32: bool,
    /// Whether it adds (also atomically), multiplies, compares and rounds `bf16`, and converts it from and to every type. If not, that is
    /// done in `f32`, which has the same results.
    pub bf16_arithmetic: bool,
    /// Whether it adds up to 16 bytes of `f16`, `bf16` or `f32` to memory by one instruction, each element atomically. Every target adds
    /// two of `f16`.
    pub vector_updates: bool,
}

/// How many bytes of a row a block of a cluster is given at most; a program with more is run by more blocks. Found by
/// measurement, see `passes::layouts::partition`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SegmentBytes {
    /// Of a row, where other operands are loaded along it, such as a weight: they pass through shared memory, beside the row, while several
    /// blocks are resident.
    pub with_operands: u32,
    /// The same of a short row.
    pub of_short_row: u32,
    /// Bytes of a whole row that is short.
    pub short_row: u32,
    /// Of a row that is loaded alone, of elements of up to 16 bits, which stays in registers.
    pub alone_narrow: u32,
    /// The same of wider elements.
    pub alone_wide: u32,
}

/// On an H200.
const MEASURED_SEGMENTS: SegmentBytes = SegmentBytes {
    with_operands: 13 << 10,
    of_short_row: 4 << 10,
    short_row: 16 << 10,
    alone_narrow: 26 << 10,
    alone_wide: 34 << 10,
};

const SM90A: TargetInfo = TargetInfo {
    name: "sm_90a",
    ptx_version: (8, 0),
    capability: ComputeCapability::new(9, 0),
    exact: true,
    driver: 12000,
    shared_bytes: 227 << 10,
    threads: 2048,
    registers: 64 << 10,
    blocks: 32,
    multiprocessors: 132,
    enough_threads: 1536,
    sector_bytes: 32,
    copied_row_bytes: 74 << 10,
    segments: MEASURED_SEGMENTS,
    stmatrix: true,
    bulk_copies: true,
    clusters: true,
    wgmma: true,
    mma_f64: true,
    cvt_rn_tf32: true,
    bf16_arithmetic: true,
    vector_updates: true,
};

const SM80: TargetInfo = TargetInfo {
    name: "sm_80",
    ptx_version: (7, 0),
    capability: ComputeCapability::new(8, 0),
    exact: false,
    driver: 12000,
    shared_bytes: 163 << 10,
    threads: 2048,
    registers: 64 << 10,
    blocks: 32,
    multiprocessors: 132,
    enough_threads: 1536,
    sector_bytes: 32,
    copied_row_bytes: 74 << 10,
    segments: MEASURED_SEGMENTS,
    stmatrix: false,
    bulk_copies: false,
    clusters: false,
    wgmma: false,
    mma_f64: false,
    cvt_rn_tf32: false,
    bf16_arithmetic: false,
    vector_updates: false,
};

impl Target {
    /// Every target, best first.
    pub const ALL: &'static [Target] = &[Target::Sm90a, Target::Sm80];

    /// The one whose code runs wherever that of another one does, and whose limits no other one undercuts.
    pub const LEAST: Target = Target::Sm80;

    /// The target of this [name](Target::name).
    pub fn from_name(name: &str) -> Option<Target> {
        Target::ALL.iter().copied().find(|target| target.name() == name)
    }

    /// Its row in the table of targets. Nothing else tells targets apart.
    pub const fn info(self) -> &'static TargetInfo {
        match self {
            Target::Sm90a => &SM90A,
            Target::Sm80 => &SM80,
        }
    }

    /// The name PTX gives it.
    pub const fn name(self) -> &'static str {
        self.info().name
    }

    /// Occupancy: how many blocks of this many threads, with this many registers each and this much shared memory, are resident on
    /// a multiprocessor.
    pub fn resident_blocks(self, threads: u32, registers: u32, shared_bytes: u32) -> u32 {
        let info = self.info();
        // Each block takes 1 KiB of shared memory for itself.
        let by_memory = (info.shared_bytes + 1024) / (shared_bytes + 1024);
        self.blocks_by_registers(threads, registers).min(info.threads / threads).min(by_memory).min(info.blocks)
    }

    /// The same, as far as registers allow it: they are allocated in units of 8 per thread, of warps which four parts of a multiprocessor
    /// share out, and each part has a quarter of the registers.
    pub fn blocks_by_registers(self, threads: u32, registers: u32) -> u32 {
        let warps = self.info().registers / 4 / (32 * registers.next_multiple_of(8).max(8)) * 4;
        warps / threads.div_ceil(32)
    }

    /// Bytes of shared memory that a block can have.
    pub const fn shared_bytes(self) -> u32 {
        self.info().shared_bytes
    }

    /// The lowest compute capability that runs the code.
    pub const fn capability(self) -> ComputeCapability {
        self.info().capability
    }

    /// Whether a device of this compute capability can run the code.
    pub fn runs_on(self, capability: ComputeCapability) -> bool {
        let info = self.info();
        if info.exact { capability == info.capability } else { capability >= info.capability }
    }

    /// The lowest CUDA driver version that loads the code, as `cuDriverGetVersion` counts: 1000·major + 10·minor.
    pub const fn driver(self) -> u32 {
        self.info().driver
    }
}

/// A set of targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Targets(u32);

impl Targets {
    /// Every target.
    pub const ALL: Targets = Targets((1 << Target::ALL.len()) - 1);

    /// Whether a target is one of them.
    pub const fn contains(self, target: Target) -> bool {
        self.0 >> target as u32 & 1 != 0
    }

    /// Its members, best first.
    pub fn iter(self) -> impl DoubleEndedIterator<Item = Target> {
        Target::ALL.iter().copied().filter(move |&target| self.contains(target))
    }

    /// Whether another one of them has code for every device of a target.
    pub fn has_fallback(self, target: Target) -> bool {
        self.iter().any(|other| other != target && other.runs_on(target.capability()))
    }
}

impl FromIterator<Target> for Targets {
    fn from_iter<I: IntoIterator<Item = Target>>(targets: I) -> Targets {
        Targets(targets.into_iter().fold(0, |all, target| all | 1 << target as u32))
    }
}
