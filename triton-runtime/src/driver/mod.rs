//! The CUDA driver behind safe wrappers, and the host memory of the CPU device.
//!
//! The library is loaded when the first device is asked for. **Invariant:** nothing here panics when it is missing, old,
//! incomplete or without a device: every such case is an [`Error`], found before any newer function is looked up.
//!
//! **Invariant:** a wrapper keeps alive what the driver still uses: see [`pinned`] and `uses`.

#![allow(unsafe_code, reason = "the driver's interface is C, and device-like host memory needs raw pointers")]

mod api;
pub(crate) mod assertions;
pub(crate) mod context;
#[cfg(feature = "cudarc")]
pub(crate) mod cudarc;
pub(crate) mod exit;
pub(crate) mod graph;
pub(crate) mod host;
pub(crate) mod jit;
#[cfg(feature = "safetensors")]
pub(crate) mod map;
pub(crate) mod memory;
pub(crate) mod module;
mod peer;
pub(crate) mod pinned;
pub(crate) mod prepared;
pub(crate) mod stream;
pub(crate) mod tensor_map;
mod types;

use crate::error::Error;
use api::Api;
use std::ffi::{CStr, c_int, c_uint};
use std::sync::OnceLock;

/// The oldest driver whose functions we use, as `cuDriverGetVersion` counts.
const OLDEST: u32 = 12000;

const NO_DEVICE: c_int = 100;
const OUT_OF_MEMORY: c_int = 2;
const NOT_READY: c_int = 600;

/// Says why a kernel has failed, if that is known.
static ON_FAULT: OnceLock<fn() -> Option<Error>> = OnceLock::new();

/// Sets what is asked when the driver reports that a kernel has failed: the same function each time.
pub(crate) fn on_fault(why: fn() -> Option<Error>) {
    ON_FAULT.get_or_init(|| why);
}

/// A loaded and initialised driver.
pub(crate) struct Driver {
    api: Api,
    /// As `cuDriverGetVersion` counts: 1000·major + 10·minor.
    pub(crate) version: u32,
    /// How many devices there are; at least one.
    pub(crate) devices: usize,
}

/// The driver; the first call loads it.
///
/// # Errors
/// [`Error::NoDriver`], [`Error::DriverTooOld`], or [`Error::NoDevice`] with a count of 0.
pub(crate) fn get() -> Result<&'static Driver, Error> {
    static DRIVER: OnceLock<Result<Driver, Error>> = OnceLock::new();
    DRIVER.get_or_init(open).as_ref().map_err(Clone::clone)
}

fn open() -> Result<Driver, Error> {
    let library = api::library()?;
    // SAFETY: these are the functions' types in every version.
    let get_version: unsafe extern "C" fn(*mut c_int) -> c_int = unsafe { api::symbol(library, "cuDriverGetVersion") }?;
    let mut version: c_int = 0;
    // SAFETY: the argument points to an integer; this call needs no initialisation.
    let code = unsafe { get_version(&mut version) };
    if code != 0 {
        return Err(Error::NoDriver { reason: unusable("cuDriverGetVersion", code) });
    }
    let version = u32::try_from(version).unwrap_or(0);
    if version < OLDEST {
        return Err(Error::DriverTooOld { found: version, needed: OLDEST });
    }
    // SAFETY: as above.
    let init: unsafe extern "C" fn(c_uint) -> c_int = unsafe { api::symbol(library, "cuInit") }?;
    // SAFETY: 0 is the only flag there is.
    let code = unsafe { init(0) };
    if code == NO_DEVICE {
        return Err(Error::NoDevice { index: 0, count: 0 });
    }
    if code != 0 {
        return Err(Error::NoDriver { reason: unusable("cuInit", code) });
    }
    let mut driver = Driver { api: Api::load(library)?, version, devices: 0 };
    let mut count: c_int = 0;
    // SAFETY: the argument points to an integer.
    driver.check("cuDeviceGetCount", unsafe { (driver.api.cuDeviceGetCount)(&mut count) })?;
    driver.devices = usize::try_from(count).unwrap_or(0);
    if driver.devices == 0 {
        return Err(Error::NoDevice { index: 0, count: 0 });
    }
    Ok(driver)
}

/// Why a library that was found cannot be used.
fn unusable(call: &str, code: c_int) -> String {
    let why = match code {
        34 => "the library found is the toolkit's stub, not a driver: take its folder out of LD_LIBRARY_PATH",
        803 => "the library and the kernel module are of different driver versions: reboot after an update",
        999 => "unknown error: is the kernel module loaded?",
        _ => "see CUresult in the driver's documentation",
    };
    format!("{call} failed with code {code} ({why})")
}

impl Driver {
    /// Turns a result code into an error that names the call.
    #[inline]
    fn check(&self, call: &'static str, code: c_int) -> Result<(), Error> {
        if code == 0 { Ok(()) } else { Err(self.error(call, code)) }
    }

    #[cold]
    fn error(&self, call: &'static str, code: c_int) -> Error {
        let call = call.split("_v").next().unwrap_or(call);
        let message = self.message(code);
        // Faults of a kernel are sticky: the next call reports them, whatever it does.
        match code {
            700 | 702 | 710 | 714..=719 => {
                let known = ON_FAULT.get().and_then(|on_fault| on_fault());
                known.unwrap_or(Error::Device { call, message })
            }
            _ => Error::Driver { call, code, message },
        }
    }

    fn message(&self, code: c_int) -> String {
        let mut text = std::ptr::null();
        // SAFETY: the argument points to a pointer that the driver sets to a static string.
        let known = unsafe { (self.api.cuGetErrorString)(code, &mut text) };
        if known != 0 || text.is_null() {
            return format!("unknown error {code}");
        }
        // SAFETY: the driver's strings are static and end in NUL.
        unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
    }
}

/// Calls a function of the driver: `cu!(driver, cuMemFree_v2(address))` is a `Result<(), Error>` that names the call.
macro_rules! cu {
    ($driver:expr, $name:ident($($arg:expr),* $(,)?)) => {{
        let driver: &$crate::driver::Driver = $driver;
        driver.check(stringify!($name), (driver.api.$name)($($arg),*))
    }};
}
pub(crate) use cu;

/// A handle of the driver, which may be used from every thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Handle<T>(*mut T);

// SAFETY: the driver's handles are opaque, and its functions may be called from any thread.
unsafe impl<T> Send for Handle<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Handle<T> {}
