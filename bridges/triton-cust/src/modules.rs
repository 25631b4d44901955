//! Loading code into `cust` modules, and launching it.

use crate::error::Error;
use cust::CudaApiVersion;
use cust::context::CurrentContext;
use cust::device::DeviceAttribute;
use cust::error::CudaError;
use cust::module::Module;
use cust::stream::Stream;
use cust::sys::{CUfunction_attribute_enum, CUresult, cuFuncSetAttribute};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ffi::c_void;
use std::sync::{Mutex, PoisonError};
use triton::metadata::Image;
use triton::{ComputeCapability, Grid, Launch};

/// Dynamic shared memory in bytes that a block may have without asking for more.
const DEFAULT_SHARED: u32 = 48 << 10;

/// The modules of one context: code is loaded at its first launch, and unloaded with this value.
///
/// **Invariant:** all of it belongs to the context that was current when it was made; launch while that one is current.
#[derive(Debug)]
pub struct Modules {
    capability: ComputeCapability,
    driver: u32,
    /// By the address of the image, which is a static of the program.
    loaded: Mutex<HashMap<usize, Module>>,
}

impl Modules {
    /// For the current context.
    ///
    /// # Errors
    /// [`Error::Cuda`] if there is none: make one by `cust::quick_init()`, and keep it.
    pub fn new() -> Result<Modules, Error> {
        let failed = || Error::cuda("asking the current context for its device");
        let device = CurrentContext::get_device().map_err(failed())?;
        let ask = |attribute| {
            let value = device.get_attribute(attribute).map_err(failed())?;
            Ok::<u32, Error>(u32::try_from(value).unwrap_or(0))
        };
        let version = CudaApiVersion::get().map_err(failed())?;
        Ok(Modules {
            capability: ComputeCapability::new(
                ask(DeviceAttribute::ComputeCapabilityMajor)?,
                ask(DeviceAttribute::ComputeCapabilityMinor)?,
            ),
            driver: u32::try_from(1000 * version.major() + 10 * version.minor()).unwrap_or(0),
            loaded: Mutex::default(),
        })
    }

    /// Enqueues a kernel over a grid of programs. A grid with a zero runs nothing.
    ///
    /// # Errors
    /// Before anything is enqueued: those of [`image`], [`triton::Error::Grid`], or [`Error::Cuda`] when the code
    /// cannot be loaded (also for lack of shared memory) or launched.
    ///
    /// # Safety
    /// - The stream and the buffers are of the context that these modules belong to, and it is current.
    /// - Every program accesses, through its pointers, only elements of the buffers that were passed, and programs do not
    ///   race on them.
    /// - The buffers live until the stream has run the kernel, and nothing else uses what it writes meanwhile: `cust`
    ///   does not order buffers.
    #[allow(unsafe_code, reason = "the caller must vouch for buffers, stream and accesses")]
    pub unsafe fn launch<S, const N: usize>(
        &self,
        launch: Launch<'_, S, N>,
        stream: &Stream,
        grid: impl Into<Grid>,
    ) -> Result<(), Error> {
        let image = image(&launch, self.capability, Some(self.driver))?;
        let instance = &launch.metadata().instance;
        let dims = grid.into().dims()?;
        if dims.contains(&0) {
            return Ok(());
        }
        // Only code with tensor maps, which is never given here, asks how many blocks are resident.
        let [x, y, z] = image.blocks(dims, 1).unwrap_or(dims);
        let failed = |what: &str| Error::cuda(format!("{what} `{instance}`"));

        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        let key = std::ptr::from_ref(image).addr();
        let module = match loaded.entry(key) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => entry.insert(load(image).map_err(failed("loading"))?),
        };
        let function = module.get_function(&image.entry).map_err(failed("loading"))?;

        // Without memory to describe it in, a failed assertion stops the kernel all the same.
        let buffer = image.has_assert_buffer.then_some(0);
        let mut bits: Vec<u64> = launch.args().map(|arg| arg.bits()).chain(buffer).collect();
        // Scalars narrower than 8 bytes lie in the low bytes, which come first in memory.
        let pointers: Vec<*mut c_void> = bits.iter_mut().map(|value| std::ptr::from_mut(value).cast()).collect();
        // SAFETY: there is one pointer for each parameter (`image` compared types and number), each to at least as many
        // bytes as the parameter has, and the driver copies them before it returns. The rest is the caller's.
        unsafe { stream.launch(&function, (x, y, z), image.threads, image.shared_bytes, &pointers) }
            .map_err(failed("launching"))
    }
}

/// The code of a launch for a device of this compute capability and a driver of this version (as `cuDriverGetVersion` counts),
/// if `cust` can launch it.
///
/// # Errors
/// [`Error::Unsupported`]; or [`Error::Kernel`] when arguments do not fit, or no code fits the device.
pub fn image<S, const N: usize>(
    launch: &Launch<'_, S, N>,
    capability: ComputeCapability,
    driver: Option<u32>,
) -> Result<&'static Image, Error> {
    let image = launch.image(capability, driver)?;
    let blocks: u32 = image.cluster.iter().product();
    if blocks > 1 {
        let kernel = launch.metadata().instance.to_string();
        return Err(Error::Unsupported { kernel, what: format!("clusters of {blocks} blocks") });
    }
    Ok(image)
}

/// Loads an image into the current context.
#[allow(unsafe_code, reason = "a function of the driver that cust does not wrap")]
fn load(image: &Image) -> Result<Module, CudaError> {
    let module = Module::from_ptx(image.text(), &[])?;
    if image.shared_bytes > DEFAULT_SHARED {
        let function = module.get_function(&image.entry)?;
        let which = CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        // SAFETY: the function's module is borrowed, so that it is loaded.
        let result = unsafe { cuFuncSetAttribute(function.to_raw(), which, image.shared_bytes.cast_signed()) };
        if result != CUresult::CUDA_SUCCESS {
            // What the driver says of a size beyond the device's limit; cust does not translate codes for others.
            return Err(CudaError::InvalidValue);
        }
    }
    Ok(module)
}
