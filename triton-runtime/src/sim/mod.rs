//! The simulated device: the PTX that ships, run by `triton_sim` one warp instruction after another.
//!
//! Where nothing is wrong, kernels give what a GPU gives. Races, uninitialized memory, accesses outside buffers or to
//! freed ones, and misused barriers are an [`Error::Simulation`] of the launch.
//!
//! There is one memory for the process, so that a [`DevicePtr`](crate::DevicePtr) means the same to every [`Device::sim`](crate::Device::sim);
//! launches are serialized.

mod memory;
mod tensor_map;

pub use crate::findings::Findings;
pub(crate) use memory::SimMemory;
pub use triton_sim::faults::{AccessKind, Fault, MbarrierProblem, Report, Site, Space, Wait};
pub use triton_sim::stats::Statistics;

use crate::error::{Error, Result};
use crate::gpu::Gpu;
use crate::lock;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use triton_ir::interp::FailedAssertion;
use triton_ir::ir;
use triton_ir::metadata::{ComputeCapability, Image, KernelMetadata, Machine};
use triton_ir::ops::Text;
use triton_sim::{Arg, Launch, Module, Options};

/// How a simulated device behaves. These are the device's defaults:
///
/// ```
/// use triton_runtime::{Device, sim::SimOptions};
///
/// assert_eq!(Device::sim_with(SimOptions::new().with_seed(1)), Device::sim());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SimOptions {
    seed: u64,
    instructions: Option<u64>,
    capability: ComputeCapability,
    multiprocessors: Option<u32>,
}

/// The compute capability that a simulated device has by default.
const HOPPER: ComputeCapability = ComputeCapability::new(9, 0);

impl SimOptions {
    /// The defaults.
    pub const fn new() -> SimOptions {
        SimOptions { seed: 1, instructions: None, capability: HOPPER, multiprocessors: None }
    }

    /// Chooses the order of programs and warps, and when asynchronous work is done. Each launch of a stream has an order of
    /// its own; with the same seed, the same launches have the same.
    pub const fn with_seed(self, seed: u64) -> SimOptions {
        SimOptions { seed, ..self }
    }

    /// Stops a launch after this number of warp instructions with [`Fault::Limit`], so that a test of a loop that may not end
    /// fails soon. Without it, the limits of the simulator hold: some minutes for a loop that only counts.
    pub const fn with_instruction_limit(self, instructions: u64) -> SimOptions {
        SimOptions { instructions: Some(instructions), ..self }
    }

    /// Runs the code that a GPU of another compute capability than 9.0 has, with as much shared memory as it has: 99 KiB a block of 8.6.
    ///
    /// ```
    /// use triton_runtime::{ComputeCapability, Device, sim::SimOptions};
    ///
    /// let ampere = SimOptions::new().with_compute_capability(ComputeCapability::new(8, 6));
    /// assert_eq!(Device::sim_with(ampere).compute_capability(), Some(ComputeCapability::new(8, 6)));
    /// ```
    pub const fn with_compute_capability(self, capability: ComputeCapability) -> SimOptions {
        SimOptions { capability, ..self }
    }

    /// Has this many multiprocessors: what follows from them of a [machine](crate::Device::machine), such as a number of splits, is that of a GPU of this
    /// size. By default kernels see four, and what is chosen is what an H200 runs.
    ///
    /// ```
    /// use triton_runtime::{ComputeCapability, Device, sim::SimOptions};
    ///
    /// let a6000 = SimOptions::new().with_compute_capability(ComputeCapability::new(8, 6)).with_multiprocessors(84);
    /// assert_eq!(Device::sim_with(a6000).machine().multiprocessors, 84);
    /// ```
    pub const fn with_multiprocessors(self, multiprocessors: u32) -> SimOptions {
        SimOptions { multiprocessors: Some(multiprocessors), ..self }
    }

    /// The defaults, with the compute capability that `TRITON_DSL_CAPABILITY` names, if it is set: those of the device name `sim`.
    ///
    /// # Errors
    /// [`Error::Capability`].
    pub fn from_env() -> Result<SimOptions> {
        let capability = SimOptions::new().gpu().overridden_by_env()?.capability;
        Ok(SimOptions::new().with_compute_capability(capability))
    }

    /// Those of the device name `sim`.
    ///
    /// # Errors
    /// As [`SimOptions::from_env`].
    pub(crate) fn named() -> Result<Option<SimOptions>> {
        SimOptions::from_env().map(Some)
    }

    pub(crate) fn name(&self) -> &'static str {
        "PTX simulator"
    }

    /// What images are chosen for.
    pub(crate) fn gpu(&self) -> Gpu {
        let gpu = Gpu::of(self.capability, None);
        Gpu { multiprocessors: self.multiprocessors.unwrap_or(gpu.multiprocessors), ..gpu }
    }

    /// What a choice depends on.
    pub(crate) fn machine(&self) -> Machine {
        Machine::new(self.capability, self.multiprocessors.unwrap_or(Machine::H200.multiprocessors))
    }

    /// Reads an image ahead of its first launch.
    ///
    /// # Errors
    /// [`Error::Simulator`].
    pub(crate) fn load(&self, kernel: &KernelMetadata, image: &'static Image) -> Result<()> {
        module(kernel, image).map(drop)
    }
}

impl Default for SimOptions {
    fn default() -> SimOptions {
        SimOptions::new()
    }
}

/// The state of a stream of the simulator.
#[derive(Debug)]
pub(crate) struct SimStream {
    options: SimOptions,
    launches: AtomicU64,
    statistics: Mutex<Option<Statistics>>,
}

impl SimStream {
    pub(crate) fn new(options: SimOptions) -> SimStream {
        SimStream { options, launches: AtomicU64::new(0), statistics: Mutex::new(None) }
    }

    /// What images are chosen for.
    pub(crate) fn gpu(&self) -> Gpu {
        self.options.gpu()
    }

    /// What the last launch is counted by.
    pub(crate) fn statistics(&self) -> Option<Statistics> {
        lock(&self.statistics).clone()
    }

    /// Zeroed memory.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(crate) fn allocate(&self, bytes: usize) -> Result<SimMemory> {
        SimMemory::new(bytes).ok_or_else(|| Error::out_of_memory(bytes as u64, self.options.name().to_string()))
    }

    /// Runs an image of a kernel's config over a grid of blocks, with these values of each argument, the tensor maps of them that it takes, and the numbers
    /// of programs, if it takes them.
    ///
    /// # Errors
    /// [`Error::DeviceAssert`], [`Error::Simulation`], [`Error::Simulator`], or [`Error::Ir`] of code whose assertion failed.
    pub(crate) fn run<const N: usize>(
        &self,
        kernel: &KernelMetadata,
        config: usize,
        image: &'static Image,
        grid: [u32; 3],
        values: [&[u64]; N],
        programs: Option<[u64; 3]>,
    ) -> Result<()> {
        let module = module(kernel, image)?;
        let number = self.launches.fetch_add(1, Relaxed);
        let mut options = Options { seed: mix(self.options.seed, number), ..Options::default() };
        if let Some(limit) = self.options.instructions {
            options.max_instructions = limit;
        }
        // Memory in which a failed assertion describes itself.
        let slot = if image.has_assert_buffer { Some(self.allocate(ASSERTION_SLOT_BYTES)?) } else { None };
        let mut args: Vec<Arg> = values.iter().copied().flatten().copied().map(Arg::Bits).collect();
        for map in image.tensor_maps.iter() {
            let bytes = tensor_map::encode(map, &kernel.params, &values);
            args.push(Arg::Bytes(bytes.map_err(|message| refused(kernel, message))?));
        }
        args.extend(programs.into_iter().flatten().map(Arg::Bits));
        args.extend(slot.as_ref().map(SimMemory::address).map(Arg::Bits));
        let launch = Launch {
            entry: image.entry.to_string(),
            grid,
            block: [image.threads, 1, 1],
            cluster: image.cluster,
            shared: image.shared_bytes,
            args,
        };
        let outcome = memory::with(|memory| module.launch(memory, &launch, &options));
        let outcome = outcome.map_err(|error| refused(kernel, error.to_string()))?;
        print!("{}", outcome.printed);
        *lock(&self.statistics) = Some(outcome.statistics);
        if outcome.reports.is_empty() {
            return Ok(());
        }
        // A failed assertion ends in a trap. Other reports may be its cause, and take precedence.
        if outcome.reports.iter().all(|report| report.fault == Fault::Trap)
            && let Some((text, program)) = slot.as_ref().and_then(described)
        {
            return Err(assertion(kernel, config, text, program));
        }
        Err(Error::Simulation(Findings { seed: self.options.seed, reports: outcome.reports }))
    }
}

/// Bytes in which a failed assertion describes itself: [`Image::has_assert_buffer`].
const ASSERTION_SLOT_BYTES: usize = 16;

/// The number of the text of the assertion that failed, and the program; `None` if none has.
fn described(slot: &SimMemory) -> Option<(u32, [u32; 3])> {
    let mut bytes = [0; ASSERTION_SLOT_BYTES];
    let (words, _) = if slot.read(0, &mut bytes) { bytes.as_chunks::<4>() } else { return None };
    let mut words = words.iter().map(|word| u32::from_le_bytes(*word));
    let text = words.next()?.checked_sub(1)?;
    Some((text, [words.next()?, words.next()?, words.next()?]))
}

/// The error of an assertion that failed.
#[cold]
fn assertion(kernel: &KernelMetadata, config: usize, text: u32, program: [u32; 3]) -> Error {
    let source = kernel.configs.get(config).map(|config| config.ir.get()).unwrap_or_default();
    match ir::parse::parse(&source) {
        Ok(function) => FailedAssertion::new(&function, Text(text), program).into(),
        Err(error) => Error::Ir { kernel: kernel.instance.to_string(), message: error.to_string() },
    }
}

/// The image's code, read once. Images are parts of kernels, which live as long as the process, so that an address is one
/// image for good.
fn module(kernel: &KernelMetadata, image: &'static Image) -> Result<Arc<Module>> {
    static MODULES: Mutex<BTreeMap<usize, Arc<Module>>> = Mutex::new(BTreeMap::new());
    let key = std::ptr::from_ref(image).addr();
    if let Some(module) = lock(&MODULES).get(&key) {
        return Ok(module.clone());
    }
    let module = Module::parse(&image.text()).map_err(|error| refused(kernel, error.to_string()))?;
    Ok(lock(&MODULES).entry(key).or_insert_with(|| Arc::new(module)).clone())
}

#[cold]
fn refused(kernel: &KernelMetadata, message: String) -> Error {
    Error::Simulator { kernel: kernel.instance.to_string(), message }
}

/// The seed of a launch: SplitMix64 (Steele, Lea and Flood 2014), whose outputs differ in about half of their bits.
fn mix(seed: u64, number: u64) -> u64 {
    let z = seed.wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

#[cfg(test)]
mod tests {
    use super::{ASSERTION_SLOT_BYTES, SimMemory, described, mix};
    use std::collections::BTreeSet;

    #[test]
    fn slots_name_the_assertion() {
        let slot = SimMemory::new(ASSERTION_SLOT_BYTES).expect("16 bytes");
        assert_eq!(described(&slot), None);
        let words: Vec<u8> = [5u32, 3, 2, 1].iter().flat_map(|word| word.to_le_bytes()).collect();
        assert!(slot.write(0, &words) && !slot.write(1, &words));
        assert_eq!(described(&slot), Some((4, [3, 2, 1])));
    }

    #[test]
    fn launches_have_seeds_of_their_own() {
        let seeds: BTreeSet<u64> = (0..100).flat_map(|seed| (0..100).map(move |number| mix(seed, number))).collect();
        assert_eq!(seeds.len(), 10_000);
    }
}
