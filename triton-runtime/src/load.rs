//! From an image to a function on a device: machine code from the cache on disk, else from the driver's compiler.
//!
//! The PTX asks for an occupancy by an estimate of registers (`.minnctapersm`). What the driver's compiler makes of it is known
//! here: if it spills, or would leave room for more blocks with fewer registers, it compiles again with another bound, and what does
//! not spill is kept. An image that bounds its registers itself (`.maxnreg`) is compiled once: another bound would override its own.

use crate::cache::{Cache, Entry, Key};
use crate::driver::context::Context;
use crate::driver::jit::{self, Linked};
use crate::driver::module::{Function, Shape};
use crate::driver::tensor_map::Maps;
use crate::error::{Error, Result};
use crate::gpu::Gpu;
use triton_core::metadata::{Image, Specialization, Target};

/// Bytes of a thread's local memory that cost less than a block that is not resident: a matrix product that spilled 8 with three
/// blocks ran 1.13 times as fast as one that spilled none with two.
const FEW: u32 = 16;

/// Code on a device.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) function: Function,
    /// The tensor maps that the code takes.
    pub(crate) maps: Maps,
    /// Blocks, or clusters of them, that are resident on the device together: 0 of clusters that it does not run.
    pub(crate) resident: u32,
    /// The address of the slot for assertions, if the code takes one.
    pub(crate) assertion_slot: Option<u64>,
    pub(crate) info: LoadInfo,
}

/// The resource usage of a kernel's code on a GPU.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoadInfo {
    /// What it was compiled for.
    pub target: Target,
    /// What it assumes.
    pub specialization: Specialization,
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes of local memory of a thread; more than 0 usually means spilled registers.
    pub local_bytes: u32,
    /// Bytes of shared memory of a block, static and dynamic.
    pub shared_bytes: u32,
    /// The log of the driver's compiler.
    pub log: String,
    /// Whether the code came from the cache on disk.
    pub cached: bool,
}

/// Bounds on resident blocks with which the code may be better, in the order in which to try them. Of code that spills fewer, so that
/// a thread has more registers. Else, as far as the image wants them, one more, and the most that leave a thread half of its
/// registers: other blocks hide the latency of one.
fn other_bounds(gpu: &Gpu, image: &Image, registers: u32, spills: bool) -> [Option<u32>; 2] {
    if image.max_registers.is_some() {
        return [None; 2];
    }
    let resident = |registers: u32| gpu.resident_blocks(image, registers);
    let now = resident(registers);
    if spills {
        return [now.checked_sub(1), now.checked_sub(2)].map(|blocks| blocks.filter(|&blocks| blocks > 0));
    }
    let most = resident(registers / 2).min(image.wanted_blocks);
    [Some(now + 1).filter(|&more| more <= most), Some(most).filter(|&most| most > now + 1)]
}

/// The machine code of an image, compiled again where another occupancy is better.
///
/// What it takes of local memory tells of spills; the driver's log does not if its own cache had the code.
fn compile(
    context: &Context,
    instance: &str,
    image: &Image,
    ptx: &str,
    load: impl Fn(&[u8]) -> Result<Function>,
) -> Result<(Function, Linked)> {
    let linked = jit::link(context, instance, ptx, None)?;
    let mut best = (load(&linked.cubin)?, linked);
    let (local, spills) = (best.0.local_bytes, best.0.local_bytes > FEW);
    // Two blocks hide each other's barriers, at the price of a few spills; three and more did not earn it.
    let alone = context.gpu.resident_blocks(image, best.0.registers) == 1;
    let most = if alone { local.max(FEW) } else { local };
    for blocks in other_bounds(&context.gpu, image, best.0.registers, spills).into_iter().flatten() {
        // A driver that does not know the bound refuses it.
        let Ok(linked) = jit::link(context, instance, ptx, Some(blocks)) else { break };
        let function = load(&linked.cubin)?;
        let better = if spills { function.local_bytes < local } else { function.local_bytes <= most };
        if better {
            best = (function, linked);
        }
        if spills && better {
            break;
        }
    }
    Ok(best)
}

/// Loads an image.
///
/// # Errors
/// [`Error::Jit`], or what the driver says.
pub(crate) fn load(context: &Context, instance: &str, image: &Image) -> Result<Loaded> {
    let device = format!("{} {}", context.gpu.capability, context.name);
    let ptx = image.text();
    let key = Key { ptx: &ptx, driver: context.driver.version, device: &device };
    let function = |cubin: &[u8]| {
        let shape = Shape { threads: image.threads, cluster: image.cluster, shared_bytes: image.shared_bytes };
        Function::load(context, cubin, &image.entry, shape)
    };
    let ready = |function: Function, log: String, cached: bool| Loaded {
        info: LoadInfo {
            target: image.target,
            specialization: image.specialization,
            registers: function.registers,
            local_bytes: function.local_bytes,
            shared_bytes: function.static_shared_bytes + image.shared_bytes,
            log,
            cached,
        },
        resident: if image.cluster.iter().product::<u32>() > 1 {
            function.resident_clusters(context)
        } else {
            context.gpu.resident_blocks(image, function.registers).max(1) * context.gpu.multiprocessors
        },
        function,
        maps: Maps::new([]),
        assertion_slot: None,
    };

    let cache = Cache::from_env();
    if let Some(entry) = cache.as_ref().and_then(|cache| cache.read(&key)) {
        match function(&entry.cubin) {
            Ok(function) => return Ok(ready(function, entry.log, true)),
            // A broken device is not a reason to compile again.
            Err(error @ Error::Device { .. }) => return Err(error),
            // An entry that the driver rejects is treated as damaged.
            Err(_) => {}
        }
    }
    let (loaded, linked) = compile(context, instance, image, &ptx, function)?;
    let entry = Entry { cubin: linked.cubin, log: linked.log };
    if let Some(cache) = cache {
        // The cache only saves time: a full disk or a read-only folder is not an error.
        let _ = cache.write(&key, &entry);
    }
    Ok(ready(loaded, entry.log, false))
}
