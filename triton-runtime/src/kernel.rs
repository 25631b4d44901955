//! A kernel's record together with what devices made of it.

use crate::device::{Device, Place};
use crate::driver::context::Context;
use crate::driver::module::Function;
use crate::error::{Error, Result};
use crate::{load, lock, report};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, OnceLock};
use triton_core::ir;
use triton_core::record::{Image, Promise, Record, Target, Variant};

/// Devices whose functions are found without a lock.
const FAST: usize = 16;

/// The functions of one device: for each variant, one for each promise.
type Slots = Box<[[OnceLock<Loaded>; Promise::ALL.len()]]>;

/// The IR of each variant, or why it cannot be read.
type Functions = Box<[OnceLock<Result<ir::Function, String>>]>;

/// One instance of a kernel: a static of the program, made by `#[triton::kernel]`. Code is loaded once a device, at the
/// first launch.
pub struct Kernel {
    record: Record,
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
    pub promise: Promise,
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
    /// The record is what the compiler made of one kernel: of each variant, IR and images take the parameters that the record
    /// declares, behave alike, and access memory through these parameters alone; of a view they access only the elements that
    /// its extents and strides describe. What its images say of their threads, shared memory and last parameter is true.
    #[doc(hidden)]
    #[allow(unsafe_code, reason = "the caller must vouch for the code")]
    pub const unsafe fn new(record: Record) -> Kernel {
        Kernel {
            record,
            cpu: OnceLock::new(),
            cuda: [const { OnceLock::new() }; FAST],
            more: Mutex::new(BTreeMap::new()),
            loading: Mutex::new(()),
        }
    }

    /// The compiled instance.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// Loads a variant's code for a device ahead of the first launch, and says what it needs there: the code that relies on
    /// nothing first, then what relies on more. For the CPU and the simulator there is nothing to say.
    ///
    /// # Errors
    /// [`Error::Variant`], [`Error::NoImage`], [`Error::DriverTooOld`], [`Error::Jit`], [`Error::SharedMemory`],
    /// [`Error::Ir`], or what driver or simulator say.
    pub fn load(&'static self, device: &Device, variant: usize) -> Result<Vec<LoadInfo>> {
        match device.place() {
            Place::Cpu => self.function(variant).map(|_| Vec::new()),
            Place::Cuda(context) => {
                let mut infos = Vec::new();
                for &promise in Promise::ALL {
                    let image = self.select(variant, context.capability, Some(context.driver.version), promise)?;
                    if image.promise == promise {
                        infos.push(self.loaded(context, variant, image)?.info.clone());
                    }
                }
                Ok(infos)
            }
            Place::Sim(options) => {
                for &promise in Promise::ALL {
                    options.load(self, self.select(variant, options.capability(), None, promise)?)?;
                }
                Ok(Vec::new())
            }
        }
    }

    /// A variant, by its number.
    #[inline]
    pub(crate) fn variant(&self, index: usize) -> Result<&Variant> {
        self.record.variants.get(index).ok_or_else(|| Error::Variant {
            kernel: self.record.instance.to_string(),
            index,
            count: self.record.variants.len(),
        })
    }

    /// The image for a device: of the best target that it and its driver can run, the one that relies on most of what is
    /// promised.
    #[inline]
    pub(crate) fn select(
        &self,
        variant: usize,
        capability: (u32, u32),
        driver: Option<u32>,
        promise: Promise,
    ) -> Result<&Image> {
        let images = &self.variant(variant)?.images;
        let runs = |image: &&Image| {
            image.target.runs_on(capability) && driver.is_none_or(|version| version >= image.target.driver())
        };
        let Some(best) = images.iter().find(runs) else {
            return Err(self.no_image(variant, capability, driver));
        };
        let allowed = images.iter().filter(|i| i.target == best.target && i.promise <= promise);
        allowed.max_by_key(|i| i.promise).ok_or_else(|| self.no_image(variant, capability, driver))
    }

    #[cold]
    fn no_image(&self, variant: usize, capability: (u32, u32), driver: Option<u32>) -> Error {
        let images = self.record.variants.get(variant).map(|v| &v.images[..]).unwrap_or_default();
        let runnable = images.iter().filter(|i| i.target.runs_on(capability));
        if let (Some(found), Some(needed)) = (driver, runnable.map(|i| i.target.driver()).min())
            && found < needed
        {
            return Error::DriverTooOld { found, needed };
        }
        let mut targets: Vec<&str> = images.iter().map(|i| i.target.name()).collect();
        targets.dedup();
        let targets = if targets.is_empty() { "no GPU".to_string() } else { targets.join(", ") };
        Error::NoImage { kernel: self.record.instance.to_string(), capability, targets }
    }

    /// The image's function on a device: a read of two cells once it is loaded.
    #[inline]
    pub(crate) fn loaded(&'static self, context: &Context, variant: usize, image: &Image) -> Result<&'static Loaded> {
        let slots = match self.cuda.get(context.ordinal) {
            Some(cell) => cell.get_or_init(|| self.slots()),
            None => self.more_slots(context.ordinal),
        };
        let slot = &slots[variant][image.promise as usize];
        match slot.get() {
            Some(loaded) => Ok(loaded),
            None => self.load_into(slot, context, variant, image),
        }
    }

    fn slots(&self) -> Slots {
        self.record.variants.iter().map(|_| [const { OnceLock::new() }; Promise::ALL.len()]).collect()
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
        variant: usize,
        image: &Image,
    ) -> Result<&'static Loaded> {
        // One thread compiles; a failure is not kept, so that the next launch reports it again.
        let _guard = lock(&self.loading);
        if let Some(loaded) = slot.get() {
            return Ok(loaded);
        }
        let mut loaded = load::load(context, &self.record.instance, image)?;
        if image.report {
            loaded.report = Some(report::address(context, self, variant)?);
        }
        Ok(slot.get_or_init(|| loaded))
    }

    /// A variant's IR, read once.
    pub(crate) fn function(&self, variant: usize) -> Result<&ir::Function> {
        let ir = &self.variant(variant)?.ir;
        let cells = self.cpu.get_or_init(|| self.record.variants.iter().map(|_| OnceLock::new()).collect());
        cells[variant]
            .get_or_init(|| ir::parse::parse(ir).map_err(|e| e.to_string()))
            .as_ref()
            .map_err(|message| Error::Ir { kernel: self.record.instance.to_string(), message: message.clone() })
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Kernel({})", self.record.instance)
    }
}
