//! From an image to a function on a device: machine code from the cache on disk, else from the driver's compiler.

use crate::cache::{Cache, Entry, Key};
use crate::driver::context::Context;
use crate::driver::jit;
use crate::driver::module::{Function, Shape};
use crate::error::{Error, Result};
use triton_core::metadata::{Image, Specialization, Target};

/// Code on a device.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) function: Function,
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

/// Loads an image.
///
/// # Errors
/// [`Error::SharedMemory`], [`Error::Jit`], or what the driver says.
pub(crate) fn load(context: &Context, instance: &str, image: &Image) -> Result<Loaded> {
    if image.shared_bytes > context.shared_limit {
        return Err(Error::SharedMemory {
            kernel: instance.to_string(),
            needed: image.shared_bytes,
            limit: context.shared_limit,
            device: context.to_string(),
        });
    }
    let device = format!("{} {}", context.capability, context.name);
    let key = Key { ptx: image.text(), driver: context.driver.version, device: &device };
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
        function,
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
    let linked = jit::link(context, instance, image.text())?;
    let loaded = function(&linked.cubin)?;
    let entry = Entry { cubin: linked.cubin, log: linked.log };
    if let Some(cache) = cache {
        // The cache only saves time: a full disk or a read-only folder is not an error.
        let _ = cache.write(&key, &entry);
    }
    Ok(ready(loaded, entry.log, false))
}
