//! A kernel's metadata together with what devices made of it.

use crate::device::{Device, Place};
use crate::driver::context::Context;
use crate::driver::module::Function;
use crate::error::{Error, Result};
use crate::{load, lock, report};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, OnceLock};
use triton_core::ir;
use triton_core::metadata::{ComputeCapability, Config, Image, KernelMetadata, Specialization, Target};

/// Devices whose functions are found without a lock.
const FAST: usize = 16;

/// The functions of one device: for each config, one for each specialization.
type Slots = Box<[[OnceLock<Loaded>; Specialization::ALL.len()]]>;

/// The IR of each config, or why it cannot be read.
type Functions = Box<[OnceLock<Result<ir::Function, String>>]>;

/// One instance of a kernel: a static of the program, made by `#[triton::kernel]`. Code is loaded once a device, at the
/// first launch.
pub struct Kernel {
    metadata: KernelMetadata,
    cpu: OnceLock<Functions>,
    cuda: [OnceLock<Slots>; FAST],
    more: Mutex<BTreeMap<usize, &'static Slots>>,
    loading: Mutex<()>,
}

/// Code on a device.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) function: Function,
    /// The address of the slot for assertions, if the code takes one.
    pub(crate) report: Option<u64>,
    pub(crate) info: LoadInfo,
}

/// What is known of a kernel's code on a GPU.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoadInfo {
    /// What it was compiled for.
    pub target: Target,
    /// What it relies on.
    pub specialization: Specialization,
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes of local memory of a thread; more than 0 mostly means spilled registers.
    pub local_bytes: u32,
    /// Bytes of shared memory of a block, static and dynamic.
    pub shared_bytes: u32,
    /// What the driver's compiler said when it made the code.
    pub log: String,
    /// Whether the code came from the cache on disk.
    pub cached: bool,
}

impl Kernel {
    /// A kernel of which nothing is loaded yet. For generated code, and for other front ends.
    ///
    /// # Safety
    /// The metadata is what the compiler made of one kernel: of each config, IR and images take the parameters that the metadata
    /// declares, behave alike, and access memory through these parameters alone; of a view they access only the elements that
    /// its extents and strides describe. What its images say of their threads, shared memory and last parameter is true.
    #[doc(hidden)]
    #[allow(unsafe_code, reason = "the caller must vouch for the code")]
    pub const unsafe fn new(metadata: KernelMetadata) -> Kernel {
        Kernel {
            metadata,
            cpu: OnceLock::new(),
            cuda: [const { OnceLock::new() }; FAST],
            more: Mutex::new(BTreeMap::new()),
            loading: Mutex::new(()),
        }
    }

    /// Kernel metadata.
    pub fn metadata(&self) -> &KernelMetadata {
        &self.metadata
    }

    /// See [`Launch::load`](crate::Launch::load).
    pub(crate) fn load(&'static self, device: &Device, config: usize) -> Result<Vec<LoadInfo>> {
        match device.place() {
            Place::Cpu => self.function(config).map(|_| Vec::new()),
            Place::Cuda(context) => {
                let mut infos = Vec::new();
                for &specialization in Specialization::ALL {
                    let image =
                        self.select(config, context.capability, Some(context.driver.version), specialization)?;
                    if image.specialization == specialization {
                        infos.push(self.loaded(context, config, image)?.info.clone());
                    }
                }
                Ok(infos)
            }
            Place::Sim(options) => {
                for &specialization in Specialization::ALL {
                    options.load(self, self.select(config, options.capability(), None, specialization)?)?;
                }
                Ok(Vec::new())
            }
        }
    }

    /// A config, by its number.
    #[inline]
    pub(crate) fn config(&self, index: usize) -> Result<&Config> {
        self.metadata.configs.get(index).ok_or_else(|| Error::Config {
            kernel: self.metadata.instance.to_string(),
            index,
            count: self.metadata.configs.len(),
        })
    }

    /// The image for a device: of the best target that it and its driver can run, the one that relies on most of what is
    /// promised.
    #[inline]
    pub(crate) fn select(
        &self,
        config: usize,
        capability: ComputeCapability,
        driver: Option<u32>,
        specialization: Specialization,
    ) -> Result<&Image> {
        let images = &self.config(config)?.images;
        let runs = |image: &&Image| {
            image.target.runs_on(capability) && driver.is_none_or(|version| version >= image.target.driver())
        };
        let Some(best) = images.iter().find(runs) else {
            return Err(self.no_image(config, capability, driver));
        };
        let allowed = images.iter().filter(|i| i.target == best.target && i.specialization <= specialization);
        allowed.max_by_key(|i| i.specialization).ok_or_else(|| self.no_image(config, capability, driver))
    }

    #[cold]
    fn no_image(&self, config: usize, capability: ComputeCapability, driver: Option<u32>) -> Error {
        let images = self.metadata.configs.get(config).map(|v| &v.images[..]).unwrap_or_default();
        let runnable = images.iter().filter(|i| i.target.runs_on(capability));
        if let (Some(found), Some(needed)) = (driver, runnable.map(|i| i.target.driver()).min())
            && found < needed
        {
            return Error::DriverTooOld { found, needed };
        }
        let mut targets: Vec<&str> = images.iter().map(|i| i.target.name()).collect();
        targets.dedup();
        let targets = if targets.is_empty() { "no GPU".to_string() } else { targets.join(", ") };
        Error::NoImage { kernel: self.metadata.instance.to_string(), capability, targets }
    }

    /// The image's function on a device: a read of two cells once it is loaded.
    #[inline]
    pub(crate) fn loaded(&'static self, context: &Context, config: usize, image: &Image) -> Result<&'static Loaded> {
        let slots = match self.cuda.get(context.ordinal) {
            Some(cell) => cell.get_or_init(|| self.slots()),
            None => self.more_slots(context.ordinal),
        };
        let slot = &slots[config][image.specialization.index()];
        match slot.get() {
            Some(loaded) => Ok(loaded),
            None => self.load_into(slot, context, config, image),
        }
    }

    fn slots(&self) -> Slots {
        self.metadata.configs.iter().map(|_| [const { OnceLock::new() }; Specialization::ALL.len()]).collect()
    }

    #[cold]
    fn more_slots(&self, ordinal: usize) -> &'static Slots {
        // Kernels are statics, so that what is leaked is bounded by their number.
        lock(&self.more).entry(ordinal).or_insert_with(|| Box::leak(Box::new(self.slots())))
    }

    #[cold]
    fn load_into(
        &'static self,
        slot: &'static OnceLock<Loaded>,
        context: &Context,
        config: usize,
        image: &Image,
    ) -> Result<&'static Loaded> {
        // One thread compiles; a failure is not kept, so that the next launch reports it again.
        let _guard = lock(&self.loading);
        if let Some(loaded) = slot.get() {
            return Ok(loaded);
        }
        let mut loaded = load::load(context, &self.metadata.instance, image)?;
        if image.has_assert_buffer {
            loaded.report = Some(report::address(context, self, config)?);
        }
        Ok(slot.get_or_init(|| loaded))
    }

    /// A config's IR, read once.
    pub(crate) fn function(&self, config: usize) -> Result<&ir::Function> {
        let ir = &self.config(config)?.ir;
        let cells = self.cpu.get_or_init(|| self.metadata.configs.iter().map(|_| OnceLock::new()).collect());
        cells[config]
            .get_or_init(|| ir::parse::parse(ir).map_err(|e| e.to_string()))
            .as_ref()
            .map_err(|message| Error::Ir { kernel: self.metadata.instance.to_string(), message: message.clone() })
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Kernel({})", self.metadata.instance)
    }
}
