//! A device's primary context: retained once a process and kept, so that handles never dangle.

use super::types::{
    CUctx_st, CUdevice, CUdevice_attribute as Attribute, CUevent_st, CUmemAllocationHandleType, CUmemAllocationType,
    CUmemLocation, CUmemLocationType, CUmemPool_attribute, CUmemPoolHandle_st, CUmemPoolProps, CUpointer_attribute,
};
use super::{Driver, Handle, cu};
use crate::error::Error;
use crate::gpu::Gpu;
use crate::lock;
use crate::replays::Replays;
use std::collections::BTreeMap;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::fmt;
use std::sync::Mutex;
use triton_ir::metadata::{ComputeCapability, Machine};

/// The clock of an H200 as the driver says it, in kHz.
const H200_CLOCK: f64 = 1.98e6;
/// The clock of its memory in kHz, times the bytes of its bus.
const H200_MEMORY: f64 = 3.201e6 * 768.0;

/// A CUDA device that is in use.
pub(crate) struct Context {
    pub(crate) driver: &'static Driver,
    /// The device's number.
    pub(crate) ordinal: usize,
    /// As the driver spells it: `NVIDIA H200`.
    pub(crate) name: String,
    /// What images are chosen for.
    pub(crate) gpu: Gpu,
    /// What a choice depends on.
    pub(crate) machine: Machine,
    /// Bytes of memory.
    pub(crate) total_memory: u64,
    pub(crate) replays: Replays,
    context: Handle<CUctx_st>,
    /// Our own pool, where the device has pools: its memory is kept for the next allocation.
    pub(super) pool: Option<Handle<CUmemPoolHandle_st>>,
    /// Numbers of the devices whose memory it may access.
    pub(super) peers: Mutex<Vec<usize>>,
    /// A pool of events for ordering streams.
    pub(super) events: Mutex<Vec<Handle<CUevent_st>>>,
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl fmt::Display for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (CUDA device {})", self.name, self.ordinal)
    }
}

impl Context {
    /// How many devices the driver has; 0 where there is no usable driver.
    pub(crate) fn count() -> usize {
        super::get().map_or(0, |driver| driver.devices)
    }

    /// The context of a device; the first call makes it.
    ///
    /// # Errors
    /// No driver, no such device, or a driver that fails.
    pub(crate) fn get(ordinal: usize) -> Result<&'static Context, Error> {
        static CONTEXTS: Mutex<BTreeMap<usize, &'static Context>> = Mutex::new(BTreeMap::new());
        let driver = super::get().map_err(|mut error| {
            // The error of loading the driver does not name the device.
            if let Error::NoDevice { index, .. } = &mut error {
                *index = ordinal;
            }
            error
        })?;
        if ordinal >= driver.devices {
            return Err(Error::NoDevice { index: ordinal, count: driver.devices });
        }
        let mut contexts = lock(&CONTEXTS);
        if let Some(context) = contexts.get(&ordinal) {
            return Ok(context);
        }
        let context: &'static Context = Box::leak(Box::new(Context::open(driver, ordinal)?));
        contexts.insert(ordinal, context);
        Ok(context)
    }

    fn open(driver: &'static Driver, ordinal: usize) -> Result<Context, Error> {
        let number = c_int::try_from(ordinal).map_err(|_| Error::NoDevice { index: ordinal, count: driver.devices })?;
        let mut device: CUdevice = 0;
        // SAFETY: the pointer is to a device handle.
        unsafe { cu!(driver, cuDeviceGet(&mut device, number)) }?;
        let mut name = [0 as c_char; 256];
        // SAFETY: the buffer has the length that is passed, and the driver ends the name by NUL.
        unsafe { cu!(driver, cuDeviceGetName(name.as_mut_ptr(), 255, device)) }?;
        // SAFETY: the last byte is 0 whatever the driver wrote.
        let name = unsafe { CStr::from_ptr(name.as_ptr()) }.to_string_lossy().into_owned();
        let attribute = |which: Attribute| -> Result<u32, Error> {
            let mut value: c_int = 0;
            // SAFETY: the pointer is to an integer, and the device is valid.
            unsafe { cu!(driver, cuDeviceGetAttribute(&mut value, which, device)) }?;
            Ok(u32::try_from(value).unwrap_or(0))
        };
        let gpu = Gpu {
            capability: ComputeCapability::new(
                attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
                attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
            ),
            driver: Some(driver.version),
            multiprocessors: attribute(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
            shared_limit: attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?,
        };
        // A driver that does not say counts as an H200's.
        let rate = |which| f64::from(attribute(which).unwrap_or(0));
        let bytes = rate(Attribute::CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH) / 8.0;
        let clock = rate(Attribute::CU_DEVICE_ATTRIBUTE_CLOCK_RATE) / H200_CLOCK;
        let memory = rate(Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE) * bytes / H200_MEMORY;
        let gpu = gpu.overridden_by_env()?;
        let Gpu { capability, multiprocessors, shared_limit, .. } = gpu;
        let machine = Machine::new(capability, multiprocessors).at(clock, memory);
        let machine = Machine { shared_bytes: shared_limit, ..machine };
        let mut total: usize = 0;
        // SAFETY: the pointer is to a size.
        unsafe { cu!(driver, cuDeviceTotalMem_v2(&mut total, device)) }?;
        let mut raw = std::ptr::null_mut();
        // SAFETY: the pointer is to a context handle. It is never released: handles live as long as the process.
        unsafe { cu!(driver, cuDevicePrimaryCtxRetain(&mut raw, device)) }?;
        let mut context = Context {
            driver,
            ordinal,
            name,
            gpu,
            machine,
            total_memory: total as u64,
            replays: Replays::default(),
            context: Handle(raw),
            pool: None,
            peers: Mutex::default(),
            events: Mutex::new(Vec::new()),
        };
        context.enter()?;
        if attribute(Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED)? != 0 {
            // Without a pool we still have plain allocations, so that its failure is not an error.
            context.pool = context.make_pool(number).ok();
        }
        Ok(context)
    }

    /// A pool of our own: the default pool's settings belong to the other users of the device in this process.
    fn make_pool(&self, number: c_int) -> Result<Handle<CUmemPoolHandle_st>, Error> {
        let properties = CUmemPoolProps {
            allocType: CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
            handleTypes: CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_NONE,
            location: CUmemLocation { type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, id: number },
            win32SecurityAttributes: std::ptr::null_mut(),
            maxSize: 0,
            usage: 0,
            reserved: [0; 54],
        };
        let mut pool = std::ptr::null_mut();
        // SAFETY: both pointers are valid for the call.
        unsafe { cu!(self.driver, cuMemPoolCreate(&mut pool, &properties)) }?;
        // By default a pool gives its memory back at every synchronisation, and the next allocation is slow.
        let mut keep = u64::MAX;
        let threshold = CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
        // SAFETY: this attribute is a 64-bit integer.
        unsafe { cu!(self.driver, cuMemPoolSetAttribute(pool, threshold, (&raw mut keep).cast())) }?;
        Ok(Handle(pool))
    }

    /// Makes the context current on this thread. Querying the current one is a read of a thread-local in the driver, so
    /// that another library's change is noticed at the price of a few nanoseconds.
    #[inline]
    pub(crate) fn enter(&self) -> Result<(), Error> {
        let mut current = std::ptr::null_mut();
        // SAFETY: the pointer is to a context handle.
        unsafe { cu!(self.driver, cuCtxGetCurrent(&mut current)) }?;
        if current == self.context.0 {
            return Ok(());
        }
        // SAFETY: a retained primary context stays valid.
        unsafe { cu!(self.driver, cuCtxSetCurrent(self.context.0)) }
    }

    /// Rejects an address that the driver knows to be of another device, or does not know: `Err` says why, as the end of a sentence.
    pub(crate) fn check_address(&self, address: u64) -> Result<(), String> {
        self.enter().map_err(|error| error.to_string())?;
        let mut owner: c_int = 0;
        let attribute = CUpointer_attribute::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL;
        // SAFETY: the attribute is an integer, and the pointer is to one.
        let found = unsafe { cu!(self.driver, cuPointerGetAttribute((&raw mut owner).cast(), attribute, address)) };
        match found {
            Ok(()) if self.accesses(usize::try_from(owner).ok()) => Ok(()),
            Ok(()) => Err(format!("the address is memory of CUDA device {owner}")),
            Err(_) => {
                Err("the driver does not know the address; memory of the host is copied by stream.upload(..)"
                    .to_string())
            }
        }
    }

    /// Whether memory of a device may be accessed: of this one, or of a peer.
    fn accesses(&self, owner: Option<usize>) -> bool {
        owner.is_some_and(|owner| owner == self.ordinal || lock(&self.peers).contains(&owner))
    }

    /// The device's number, as the driver takes it.
    pub(super) fn number(&self) -> c_int {
        // The driver has given it as one.
        self.ordinal as c_int
    }

    /// The driver's handle.
    pub(crate) fn pointer(&self) -> *mut c_void {
        self.context.0.cast()
    }

    /// Waits for everything on the device.
    pub(super) fn synchronize(&self) -> Result<(), Error> {
        self.enter()?;
        // SAFETY: no argument.
        unsafe { cu!(self.driver, cuCtxSynchronize()) }
    }
}
