//! The description of a launch, and its outcome.

use crate::faults::Report;
use crate::stats::Statistics;

/// The value of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Arg {
    /// The bits of a scalar or an address; the parameter takes as many of its low bytes as it has.
    Bits(u64),
    /// The bytes of a parameter that is an array: an encoded tensor map
    /// (`hopper::TensorMap::encode`).
    Bytes(Vec<u8>),
}

/// A launch of a kernel over a grid.
#[derive(Clone, Debug, PartialEq)]
pub struct Launch {
    /// Name of the entry.
    pub entry: String,
    /// Blocks along x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block along x, y and z.
    pub block: [u32; 3],
    /// Blocks of a cluster; `.reqnctapercluster` of the entry goes before.
    pub cluster: [u32; 3],
    /// Bytes of dynamic shared memory of a block.
    pub shared: u32,
    /// A value for each parameter.
    pub args: Vec<Arg>,
}

impl Launch {
    /// A launch without clusters, dynamic shared memory and arguments.
    ///
    /// ```
    /// use triton_sim::{Arg, Launch};
    ///
    /// let launch = Launch { shared: 4096, args: vec![Arg::Bits(5)], ..Launch::new("scale", [16, 1, 1], [128, 1, 1]) };
    /// assert_eq!(launch.cluster, [1, 1, 1]);
    /// ```
    pub fn new(entry: &str, grid: [u32; 3], block: [u32; 3]) -> Launch {
        Launch { entry: entry.to_string(), grid, block, cluster: [1; 3], shared: 0, args: Vec::new() }
    }
}

/// Options of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Chooses the order of blocks and warps, and when asynchronous work is done.
    pub seed: u64,
    /// Ends the launch after this number of different reports.
    pub max_reports: usize,
    /// Warp instructions without any effect that another warp could see, of all warps together, after which the launch is
    /// stopped with [`Fault::Limit`](crate::Fault::Limit). Loops that are seen to repeat themselves are a
    /// [`Fault::Livelock`](crate::Fault::Livelock) long before; this is for those that count. 2^30 by default: some minutes.
    pub idle_limit: u64,
    /// Warp instructions of a launch, after which it is stopped in any case. 2^40 by default.
    pub max_instructions: u64,
    /// Warp instructions after the first report, after which the launch is stopped: a program that is wrong need not end. 2^24 by
    /// default: some seconds.
    pub after_report: u64,
    /// Takes down the first warp instructions that run, as many: see [`Outcome::trace`]. None by default.
    pub trace: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            seed: 1,
            max_reports: 16,
            idle_limit: 1 << 30,
            max_instructions: 1 << 40,
            after_report: 1 << 24,
            trace: 0,
        }
    }
}

/// The outcome of a launch.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Outcome {
    /// The reports; the same fault of the same instruction once, with the number of repetitions.
    pub reports: Vec<Report>,
    /// The statistics.
    pub statistics: Statistics,
    /// The warp instructions that ran, in their order; as many as [`Options::trace`] asked for.
    pub trace: Vec<Ran>,
    /// The kernel's output.
    pub printed: String,
}

/// A warp instruction that ran. It is taken down when it is done: one that waits, when it has waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ran {
    /// When: warp instructions of the launch that were issued until then, those that have to wait each time they are tried.
    pub time: u64,
    /// Its block.
    pub block: [u32; 3],
    /// Its warp in the block.
    pub warp: u32,
    /// Its line in the PTX text, from 1.
    pub line: u32,
}

/// Why a kernel was not launched.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// The module has no such kernel.
    #[error("no kernel `{name}` in this module; it has {known}")]
    NoEntry {
        /// The name.
        name: String,
        /// Those there are.
        known: String,
    },
    /// An extent of grid, block or cluster breaks a rule of the kernel or of the hardware.
    #[error("{what} is {found}, but must be {expected}")]
    Extent {
        /// Of what.
        what: &'static str,
        /// What was given.
        found: String,
        /// What is needed.
        expected: String,
    },
    /// The module's variables do not fit into memory.
    #[error("a variable of the module: {0}")]
    Variable(#[from] crate::MemoryError),
    /// The arguments do not fit the parameters.
    #[error("kernel `{kernel}`: {problem}")]
    Argument {
        /// Name of the kernel.
        kernel: String,
        /// What does not fit.
        problem: String,
    },
}
