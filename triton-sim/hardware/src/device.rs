//! Runs a program on GPU 0: the driver's functions.

#![allow(unsafe_code, reason = "calls of the driver")]

use crate::Program;
use crate::program::THREADS;
use libloading::Library;
use std::ffi::{CStr, CString, c_char, c_int, c_uchar, c_uint, c_void};
use std::ptr::{from_mut, null_mut, without_provenance_mut};

macro_rules! driver {
    ($($name:ident($($arg:ty),*);)*) => {
        /// The driver's functions that are called here. Handles are `*mut c_void`, and enumerations their numbers.
        #[allow(non_snake_case, reason = "the driver's own names")]
        struct Driver { $($name: unsafe extern "C" fn($($arg),*) -> c_int,)* }

        impl Driver {
            fn load() -> Result<Driver, String> {
                let names: &[&str] = if cfg!(windows) { &["nvcuda.dll"] } else { &["libcuda.so.1", "libcuda.so"] };
                // SAFETY: the initialisers of the driver's library are sound to run.
                let found = names.iter().find_map(|name| unsafe { Library::new(*name) }.ok());
                let library: &'static Library = Box::leak(Box::new(found.ok_or("this machine has no CUDA driver")?));
                // SAFETY: these are the types of the driver's header, and the library stays loaded.
                Ok(Driver { $($name: *unsafe { library.get(stringify!($name)) }.map_err(|e| e.to_string())?,)* })
            }
        }
    };
}

driver! {
    cuInit(c_uint);
    cuDriverGetVersion(*mut c_int);
    cuDeviceGet(*mut c_int, c_int);
    cuDeviceGetName(*mut c_char, c_int, c_int);
    cuDevicePrimaryCtxRetain(*mut *mut c_void, c_int);
    cuCtxSetCurrent(*mut c_void);
    cuCtxSynchronize();
    cuModuleLoadDataEx(*mut *mut c_void, *const c_void, c_uint, *mut c_uint, *mut *mut c_void);
    cuModuleGetFunction(*mut *mut c_void, *mut c_void, *const c_char);
    cuModuleUnload(*mut c_void);
    cuMemAlloc_v2(*mut u64, usize);
    cuMemFree_v2(u64);
    cuMemcpyHtoD_v2(u64, *const c_void, usize);
    cuMemcpyDtoH_v2(*mut c_void, u64, usize);
    cuMemsetD8_v2(u64, c_uchar, usize);
    cuLaunchKernel(*mut c_void, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, *mut c_void, *mut *mut c_void, *mut *mut c_void);
}

// "CUjit_option" in the CUDA Driver API reference manual.
const ERROR_LOG_BUFFER: c_uint = 5;
const ERROR_LOG_BUFFER_SIZE_BYTES: c_uint = 6;

/// A device with a current context.
pub struct Gpu {
    driver: Driver,
    /// Its name and the driver's version.
    pub name: String,
}

/// Why a program has no output.
pub enum Failure {
    /// The driver rejects the text.
    Text(String),
    /// The launch failed, and with it the process.
    Launch(String),
}

const LOG: usize = 4096;

impl Gpu {
    /// Opens GPU 0.
    ///
    /// # Errors
    /// There is no driver or no GPU.
    pub fn open() -> Result<Gpu, String> {
        let driver = Driver::load()?;
        let (mut device, mut context, mut version) = (0, null_mut(), 0);
        let mut name: [c_char; 256] = [0; 256];
        // SAFETY: results go to variables of their types, the name to as many characters as are given, and the primary
        // context is retained for the rest of the process.
        unsafe {
            check("cuInit", (driver.cuInit)(0))?;
            check("cuDeviceGet", (driver.cuDeviceGet)(&mut device, 0))?;
            check("cuDeviceGetName", (driver.cuDeviceGetName)(name.as_mut_ptr(), 256, device))?;
            check("cuDriverGetVersion", (driver.cuDriverGetVersion)(&mut version))?;
            check("cuDevicePrimaryCtxRetain", (driver.cuDevicePrimaryCtxRetain)(&mut context, device))?;
            check("cuCtxSetCurrent", (driver.cuCtxSetCurrent)(context))?;
        }
        let name: Vec<u8> = name.iter().take_while(|c| **c != 0).map(|c| *c as u8).collect();
        let name = format!("{}, CUDA {}.{}", String::from_utf8_lossy(&name), version / 1000, version / 10 % 100);
        Ok(Gpu { driver, name })
    }

    /// Runs a program over an output whose bytes are all `fill`, and gives the output.
    ///
    /// # Errors
    /// The text is rejected, or the launch fails; this process cannot use the device after that.
    pub fn run(&self, program: &Program, fill: u8) -> Result<Vec<u8>, Failure> {
        let driver = &self.driver;
        let text = CString::new(program.text.as_str()).map_err(|e| Failure::Text(e.to_string()))?;
        let (mut module, mut function) = (null_mut(), null_mut());
        let mut log = vec![0u8; LOG];
        let mut options = [ERROR_LOG_BUFFER, ERROR_LOG_BUFFER_SIZE_BYTES];
        let mut values = [log.as_mut_ptr().cast(), without_provenance_mut(LOG)];
        // SAFETY: the text ends in NUL, the options say how long the log is, and both live until the call is done.
        let loaded = unsafe {
            (driver.cuModuleLoadDataEx)(&mut module, text.as_ptr().cast(), 2, options.as_mut_ptr(), values.as_mut_ptr())
        };
        check("cuModuleLoadDataEx", loaded).map_err(|error| {
            let log = CStr::from_bytes_until_nul(&log).map(|l| l.to_string_lossy().into_owned()).unwrap_or_default();
            Failure::Text(format!("{error}: {log}"))
        })?;
        let mut output = vec![0u8; program.output];
        let (mut from, mut to) = (0, 0);
        // SAFETY: the module is loaded and has the entry `run` of two addresses; the program reads and writes within the
        // lengths that are allocated for it, and everything is freed after the device has finished.
        let ran = unsafe {
            (|| {
                check("cuModuleGetFunction", (driver.cuModuleGetFunction)(&mut function, module, c"run".as_ptr()))?;
                check("cuMemAlloc", (driver.cuMemAlloc_v2)(&mut from, program.input.len().max(16)))?;
                check("cuMemAlloc", (driver.cuMemAlloc_v2)(&mut to, program.output.max(16)))?;
                check(
                    "cuMemcpyHtoD",
                    (driver.cuMemcpyHtoD_v2)(from, program.input.as_ptr().cast(), program.input.len()),
                )?;
                check("cuMemsetD8", (driver.cuMemsetD8_v2)(to, fill, program.output))?;
                let mut arguments = [from_mut(&mut from).cast(), from_mut(&mut to).cast()];
                let (grid, arguments) = (program.blocks, arguments.as_mut_ptr());
                let launched =
                    (driver.cuLaunchKernel)(function, grid, 1, 1, THREADS, 1, 1, 0, null_mut(), arguments, null_mut());
                check("cuLaunchKernel", launched)?;
                check("cuCtxSynchronize", (driver.cuCtxSynchronize)())?;
                check("cuMemcpyDtoH", (driver.cuMemcpyDtoH_v2)(output.as_mut_ptr().cast(), to, program.output))?;
                check("cuMemFree", (driver.cuMemFree_v2)(from))?;
                check("cuMemFree", (driver.cuMemFree_v2)(to))?;
                check("cuModuleUnload", (driver.cuModuleUnload)(module))
            })()
        };
        ran.map_err(Failure::Launch)?;
        Ok(output)
    }
}

fn check(call: &str, code: c_int) -> Result<(), String> {
    if code == 0 { Ok(()) } else { Err(format!("{call} failed with code {code}")) }
}
