//! The start of a launch: its rules, parameters, blocks and their memory; and its end.

use super::barrier::Barrier;
use super::order::Globals;
use super::{Block, Cluster, Run, Stop, Warp};
use crate::check::{Causality, Shadow, View};
use crate::code::{Kernel, MAX_SHARED, SHARED_BASE};
use crate::launch::{Arg, Launch, LaunchError, Options, Outcome};
use crate::memory::Memory;
use crate::stats::Statistics;
use std::collections::{BTreeMap, HashMap};

/// The largest grid and the largest block along each axis (CUDA, "Compute Capabilities").
const MAX_BLOCKS: [u32; 3] = [i32::MAX as u32, 65535, 65535];
const MAX_THREADS: [u32; 3] = [1024, 1024, 64];

/// Runs a kernel.
///
/// # Errors
/// The launch breaks a rule.
pub(crate) fn launch(
    kernel: &Kernel,
    sm: u32,
    variables: Vec<u64>,
    memory: &mut Memory,
    launch: &Launch,
    options: &Options,
) -> Result<Outcome, LaunchError> {
    let cluster = check_extents(kernel, launch)?;
    let params = parameters(kernel, &launch.args)?;
    let threads: u32 = launch.block.iter().product();
    let clusters = (0..3).map(|i| launch.grid[i] / cluster[i]).product::<u32>();
    let mut run = Run {
        kernel,
        sm,
        grid: launch.grid,
        threads: launch.block,
        warps: threads.div_ceil(32),
        cluster,
        clustered: cluster != [1; 3] || kernel.cluster.is_some(),
        dynamic: launch.shared,
        params,
        variables,
        memory,
        options,
        rng: fastrand::Rng::with_seed(options.seed),
        reports: Vec::new(),
        reported: HashMap::new(),
        statistics: Statistics::default(),
        trace: Vec::new(),
        printed: String::new(),
        globals: Globals::default(),
        executed: 0,
        progressed: 0,
        first_report: None,
        next: 0,
    };
    // What stopped it is in the reports.
    let _: Result<(), Stop> = run.grid(clusters);
    Ok(Outcome { reports: run.reports, statistics: run.statistics, trace: run.trace, printed: run.printed })
}

/// Checks grid, block, cluster and shared memory; gives the cluster.
fn check_extents(kernel: &Kernel, launch: &Launch) -> Result<[u32; 3], LaunchError> {
    let wrong = |what, found: &dyn std::fmt::Debug, expected: String| {
        Err(LaunchError::Extent { what, found: format!("{found:?}"), expected })
    };
    let Launch { grid, block, .. } = launch;
    let within = |extents: &[u32; 3], most: [u32; 3]| extents.iter().zip(most).all(|(&e, most)| e <= most);
    if !within(grid, MAX_BLOCKS) {
        return wrong("the grid", grid, format!("at most {MAX_BLOCKS:?}"));
    }
    if !within(block, MAX_THREADS) {
        return wrong("the block", block, format!("at most {MAX_THREADS:?}"));
    }
    let threads: u32 = block.iter().product();
    if !(1..=1024).contains(&threads) {
        return wrong("the block", block, "1 to 1024 threads".to_string());
    }
    if let Some(required) = kernel.required_threads
        && required != *block
    {
        return wrong("the block", block, format!("{required:?}, as `.reqntid` says"));
    }
    if let Some(most) = kernel.max_threads
        && threads > most.iter().fold(1, |n: u32, &e| n.saturating_mul(e))
    {
        return wrong("the block", block, format!("at most {most:?}, as `.maxntid` says"));
    }
    let cluster = kernel.cluster.unwrap_or(launch.cluster);
    let blocks = cluster.iter().try_fold(1u32, |n, &e| n.checked_mul(e)).unwrap_or(0);
    if !(1..=16).contains(&blocks) {
        return wrong("the cluster", &cluster, "1 to 16 blocks".to_string());
    }
    if kernel.explicit_cluster && kernel.cluster.is_none() && launch.cluster == [1; 3] {
        return wrong("the cluster", &cluster, "given, as `.explicitcluster` says".to_string());
    }
    let fits = (0..3).all(|i| grid[i] != 0 && grid[i].is_multiple_of(cluster[i]));
    if !fits || grid.iter().try_fold(1u32, |n, &e| n.checked_mul(e)).is_none() {
        return wrong("the grid", grid, format!("a multiple of the cluster {cluster:?}, and less than 2^32 blocks"));
    }
    if kernel.dynamic.checked_add(launch.shared).is_none_or(|end| end > MAX_SHARED) {
        let (most, fixed) = (MAX_SHARED - SHARED_BASE, kernel.dynamic - SHARED_BASE);
        return wrong("shared memory", &launch.shared, format!("at most {most} bytes with the {fixed} static ones"));
    }
    Ok(cluster)
}

/// The bytes of the parameter space.
fn parameters(kernel: &Kernel, args: &[Arg]) -> Result<Vec<u8>, LaunchError> {
    let wrong = |problem: String| LaunchError::Argument { kernel: kernel.name.clone(), problem };
    if args.len() != kernel.params.len() {
        return Err(wrong(format!("{} arguments were given, it has {} parameters", args.len(), kernel.params.len())));
    }
    let mut bytes = vec![0; kernel.params.last().map_or(0, |p| (p.offset + p.bytes) as usize)];
    for (arg, param) in args.iter().zip(&kernel.params) {
        let slot = &mut bytes[param.offset as usize..][..param.bytes as usize];
        match arg {
            Arg::Bits(bits) if slot.len() <= 8 => slot.copy_from_slice(&bits.to_le_bytes()[..slot.len()]),
            Arg::Bytes(data) if data.len() == slot.len() => slot.copy_from_slice(data),
            Arg::Bits(_) => return Err(wrong(format!("`{}` has {} bytes, not at most 8", param.name, param.bytes))),
            Arg::Bytes(data) => {
                return Err(wrong(format!("`{}` has {} bytes, not {}", param.name, param.bytes, data.len())));
            }
        }
    }
    Ok(bytes)
}

impl Run<'_> {
    /// The id of a block: by the number of its cluster, and its rank there.
    pub(super) fn block_id(&self, cluster: u32, rank: u32) -> [u32; 3] {
        let [cx, cy, _] = self.cluster;
        let [nx, ny] = [self.grid[0] / cx, self.grid[1] / cy];
        let at = [cluster % nx, cluster / nx % ny, cluster / (nx * ny)];
        let inside = [rank % cx, rank / cx % cy, rank / (cx * cy)];
        std::array::from_fn(|i| at[i] * self.cluster[i] + inside[i])
    }

    /// A cluster at its first instructions.
    pub(super) fn start(&mut self, index: u32) -> Cluster {
        let count: u32 = self.cluster.iter().product();
        let threads: u32 = self.threads.iter().product();
        let kernel = self.kernel;
        let size = kernel.dynamic + self.dynamic;
        let blocks = (0..count).map(|rank| Block {
            id: self.block_id(index, rank),
            warps: (0..self.warps).map(|w| Warp::new(w, threads - w * 32, kernel)).collect(),
            live: threads,
            shared: vec![0; size as usize],
            shadow: Shadow::of_block(rank as u8, u64::from(size)),
            barriers: std::array::from_fn(|_| Barrier::new(index)),
            mbarriers: BTreeMap::new(),
            remote: Vec::new(),
            last: View::new(index),
            warpgroups: Vec::new(),
            free_registers: kernel.max_registers.map(|_| 0),
        });
        Cluster {
            index,
            blocks: blocks.collect(),
            order: (0..count).flat_map(|b| (0..self.warps).map(move |w| (b, w))).collect(),
            pending: Vec::new(),
            agents: Causality::new(index, count, self.warps),
            phase: 0,
            arrived: 0,
            left: 0,
            arriving: View::new(index),
            complete: View::new(index),
        }
    }

    /// A cluster whose threads have all ended: completes its work in flight.
    pub(super) fn end(&mut self, cluster: &mut Cluster) -> Result<(), Stop> {
        while !cluster.pending.is_empty() {
            self.complete_at(cluster, 0)?;
        }
        self.globals.end(cluster.index);
        Ok(())
    }
}
