//! From an image to a function on a device: machine code of a [`Program`](crate::Program), or from the cache on disk, else from the
//! driver's compiler.
//!
//! The PTX asks for an occupancy by an estimate of registers (`.minnctapersm`). What the driver's compiler makes of it is known
//! here: if it spills, or would leave room for more blocks with fewer registers, it is compiled once more with another bound, and the
//! better one is kept. An image that bounds its registers itself (`.maxnreg`) is compiled once: another bound would override its own.

use crate::cache::{Cache, Entry, Key};
use crate::driver::context::Context;
use crate::driver::jit;
use crate::driver::module::{Function, Shape};
use crate::driver::tensor_map::Maps;
use crate::error::{Error, Result};
use crate::gpu::Gpu;
use crate::line_info;
use crate::lock;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use triton_ir::metadata::{Image, Specialization, Target};

/// Bytes of a thread's local memory that cost less than a block that is not resident: a matrix product that spilled 8 with three
/// blocks ran 1.13 times as fast as one that spilled none with two.
const FEW: u32 = 16;

/// The share of its registers that code for more blocks must leave a thread, as a fraction. The assembler takes more than it needs where
/// there are enough: of 276 images that could have more blocks, the fewest have fewer of them by this share than by two links, 36.
const LEFT: (u32, u32) = (3, 4);

/// Code on a device that launches run.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) code: Ready,
    /// Whether no other code will take its place.
    pub(crate) is_settled: bool,
    /// The tensor maps that the code takes.
    pub(crate) maps: Maps,
    /// The address of the slot for assertions, if the code takes one.
    pub(crate) assertion_slot: Option<u64>,
}

/// Machine code of an image on a device.
#[derive(Clone, Debug)]
pub(crate) struct Ready {
    pub(crate) function: Function,
    /// Blocks, or clusters of them, that are resident on the device together: 0 of clusters that it does not run.
    pub(crate) resident: u32,
    /// For those who [export](crate::Program::write) it.
    pub(crate) cubin: Arc<[u8]>,
    pub(crate) info: LoadInfo,
}

/// The resource usage of a kernel's code on a GPU, and what loading it took. It prints as one line.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoadInfo {
    /// The kernel's instance.
    pub kernel: String,
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
    /// Whether the code has a line table, by which profilers name lines of the source: see
    /// [`Device::set_line_info`](crate::Device::set_line_info).
    pub lines: bool,
    /// Whether the code was there: in the cache on disk, or in a [`Program`](crate::Program).
    pub cached: bool,
    /// How often the driver compiled it: not at all if it was there, and twice where the first code spilled, or could have more blocks.
    pub links: u32,
    /// The time of that.
    pub link_time: Duration,
    /// The time in which modules were loaded, and the cache was read.
    pub load_time: Duration,
}

impl fmt::Display for LoadInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LoadInfo { kernel, target, specialization, registers, local_bytes, shared_bytes, .. } = self;
        write!(
            f,
            "{kernel} {specialization} {}: {registers} registers, {local_bytes} bytes of local memory, {shared_bytes} of shared; ",
            target.name()
        )?;
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        match self.links {
            0 => f.write_str("not compiled")?,
            links => write!(f, "{:.1} ms in {links} link{}", ms(self.link_time), if links == 1 { "" } else { "s" })?,
        }
        write!(f, ", loaded in {:.1} ms", ms(self.load_time))
    }
}

/// What the first link of an image gives.
pub(crate) enum First {
    /// What launches run.
    Settled(Ready),
    /// What they can run until [`second`] says whether other code is better.
    Open(Ready, Again),
}

/// Another link.
pub(crate) struct Again {
    /// The bound on resident blocks with which the code may be better.
    blocks: u32,
    /// Whether it has lines, as the first one.
    lines: bool,
}

/// The bound on resident blocks with which the code may be better. Of code that spills fewer, so that a thread has the registers that it
/// spilled. Else, as far as the image wants them, the most that leave a thread [enough](LEFT) of its registers: other blocks hide the
/// latency of one. A block that is alone waits at its own barriers, so that a second one is always tried.
fn other_bound(gpu: &Gpu, image: &Image, registers: u32, local_bytes: u32) -> Option<u32> {
    if image.max_registers.is_some() {
        return None;
    }
    let resident = |registers: u32| gpu.resident_blocks(image, registers);
    let now = resident(registers);
    if local_bytes > FEW {
        // Where a thread already has all that it can name, fewer blocks give it no more.
        let needed = (registers + local_bytes.div_ceil(4)).min(MOST_REGISTERS);
        return Some(resident(needed).max(1)).filter(|&blocks| blocks < now && registers < MOST_REGISTERS);
    }
    let (of, all) = LEFT;
    let most = match now {
        1 => resident(registers / 2).min(2),
        _ => resident((registers * of).div_ceil(all)),
    };
    Some(most.min(image.wanted_blocks)).filter(|&most| most > now)
}

/// The most registers that an instruction can name.
const MOST_REGISTERS: u32 = 255;

/// Whether the code of another link is better. What it takes of local memory tells of spills; the driver's log does not if its own cache
/// had the code.
fn is_better(gpu: &Gpu, image: &Image, first: &Function, second: &Function) -> bool {
    if first.local_bytes > FEW {
        return second.local_bytes < first.local_bytes;
    }
    // Two blocks hide each other's barriers, at the price of a few spills; three and more did not earn it.
    let alone = gpu.resident_blocks(image, first.registers) == 1;
    second.local_bytes <= if alone { first.local_bytes.max(FEW) } else { first.local_bytes }
}

/// Code that was loaded ahead, by device and PTX.
static AHEAD: Mutex<BTreeMap<(usize, String), Ready>> = Mutex::new(BTreeMap::new());

/// Keeps code for the kernel of this PTX.
pub(crate) fn keep_ahead(context: &Context, ptx: &str, code: Ready) {
    lock(&AHEAD).insert((context.ordinal, ptx.to_string()), code);
}

/// What machine code depends on beside its PTX: the device, and whether it has [lines](line_info).
pub(crate) fn device(context: &Context, lines: bool) -> String {
    let lines = if lines { ", with lines" } else { "" };
    format!("{} {}{lines}", context.gpu.capability, context.name)
}

/// The machine code of an image: what was loaded ahead, else from the cache, else by the driver's compiler.
///
/// # Errors
/// [`Error::Jit`], or what the driver says.
pub(crate) fn first(context: &Context, instance: &str, image: &Image) -> Result<First> {
    let (ptx, start) = (image.text(), Instant::now());
    if let Some(ready) = lock(&AHEAD).remove(&(context.ordinal, ptx.to_string())) {
        return Ok(First::Settled(ready));
    }
    let lines = line_info::is_asked();
    let key = Key { ptx: &ptx, driver: context.driver.version, device: &device(context, lines) };
    if let Some(entry) = Cache::from_env().and_then(|cache| cache.read(&key)) {
        match there(context, instance, image, &entry, lines, start) {
            Ok(ready) => return Ok(First::Settled(ready)),
            // A broken device is not a reason to compile again.
            Err(error @ Error::Device { .. }) => return Err(error),
            // An entry that the driver rejects is treated as damaged.
            Err(_) => {}
        }
    }
    let (entry, link_time) = link(context, instance, &ptx, None, lines)?;
    let before = Took { lines, links: 1, link_time, load_time: start.elapsed() - link_time };
    let ready = load(context, instance, image, &entry, before)?;
    match other_bound(&context.gpu, image, ready.function.registers, ready.function.local_bytes) {
        Some(blocks) => Ok(First::Open(ready, Again { blocks, lines })),
        None => {
            keep(&key, &entry);
            Ok(First::Settled(ready))
        }
    }
}

/// The better code of two links. A driver that fails the second one, as one that does not know the bound, leaves the first.
pub(crate) fn second(context: &Context, instance: &str, image: &Image, first: Ready, again: Again) -> Ready {
    let (ptx, Again { blocks, lines }) = (image.text(), again);
    let other = || {
        let (entry, link_time) = link(context, instance, &ptx, Some(blocks), lines)?;
        let LoadInfo { links, link_time: before, load_time, .. } = first.info;
        let took = Took { lines, links: links + 1, link_time: before + link_time, load_time };
        load(context, instance, image, &entry, took)
    };
    let best = match other() {
        Ok(second) if is_better(&context.gpu, image, &first.function, &second.function) => second,
        Ok(second) => {
            let LoadInfo { links, link_time, load_time, .. } = second.info;
            Ready { info: LoadInfo { links, link_time, load_time, ..first.info }, ..first }
        }
        Err(_) => first,
    };
    let entry = Entry { cubin: best.cubin.to_vec(), log: best.info.log.clone() };
    keep(&Key { ptx: &ptx, driver: context.driver.version, device: &device(context, lines) }, &entry);
    best
}

/// The better code, whatever it takes.
///
/// # Errors
/// [`Error::Jit`], or what the driver says.
pub(crate) fn settled(context: &Context, instance: &str, image: &Image) -> Result<Ready> {
    Ok(match first(context, instance, image)? {
        First::Settled(ready) => ready,
        First::Open(ready, again) => second(context, instance, image, ready, again),
    })
}

/// Machine code that need not be compiled; the clock has run since `start`.
///
/// # Errors
/// What the driver says, of code that is not its own.
pub(crate) fn there(
    context: &Context,
    instance: &str,
    image: &Image,
    entry: &Entry,
    lines: bool,
    start: Instant,
) -> Result<Ready> {
    let took = Took { lines, links: 0, link_time: Duration::ZERO, load_time: start.elapsed() };
    load(context, instance, image, entry, took)
}

/// The cache only saves time: a full disk or a read-only folder is not an error.
fn keep(key: &Key<'_>, entry: &Entry) {
    if let Some(cache) = Cache::from_env() {
        let _ = cache.write(key, entry);
    }
}

/// Compiles, and how long that took.
fn link(context: &Context, instance: &str, ptx: &str, blocks: Option<u32>, lines: bool) -> Result<(Entry, Duration)> {
    let start = Instant::now();
    let entry = jit::link(context, instance, ptx, blocks, lines)?;
    Ok((entry, start.elapsed()))
}

/// What code has taken until its module is loaded.
struct Took {
    lines: bool,
    links: u32,
    link_time: Duration,
    load_time: Duration,
}

/// Loads machine code.
fn load(context: &Context, instance: &str, image: &Image, entry: &Entry, took: Took) -> Result<Ready> {
    let start = Instant::now();
    let shape = Shape { threads: image.threads, cluster: image.cluster, shared_bytes: image.shared_bytes };
    let function = Function::load(context, &entry.cubin, &image.entry, shape)?;
    let resident = if image.cluster.iter().product::<u32>() > 1 {
        function.resident_clusters(context)
    } else {
        context.gpu.resident_blocks(image, function.registers).max(1) * context.gpu.multiprocessors
    };
    let info = LoadInfo {
        kernel: instance.to_string(),
        target: image.target,
        specialization: image.specialization,
        registers: function.registers,
        local_bytes: function.local_bytes,
        shared_bytes: function.static_shared_bytes + image.shared_bytes,
        log: entry.log.clone(),
        lines: took.lines,
        cached: took.links == 0,
        links: took.links,
        link_time: took.link_time,
        load_time: took.load_time + start.elapsed(),
    };
    Ok(Ready { function, resident, cubin: entry.cubin.as_slice().into(), info })
}
