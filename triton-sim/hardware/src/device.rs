//! Runs a program on GPU 0: the driver's functions.

#![allow(unsafe_code, reason = "calls of the driver")]

use crate::program::{Program, THREADS};
use cudarc::driver::sys::{self, CUjit_option, CUresult};
use std::ffi::{CStr, CString, c_char};
use std::ptr::{from_mut, null_mut, without_provenance_mut};

/// A device with a current context.
pub struct Gpu {
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
        // SAFETY: it looks for a library, whose initialisation is the driver's matter.
        if !unsafe { sys::is_culib_present() } {
            return Err("this machine has no CUDA driver".into());
        }
        let (mut device, mut context, mut version) = (0, null_mut(), 0);
        let mut name: [c_char; 256] = [0; 256];
        // SAFETY: results go to variables of their types, the name to as many characters as are given, and the primary
        // context is retained for the rest of the process.
        unsafe {
            check("cuInit", sys::cuInit(0))?;
            check("cuDeviceGet", sys::cuDeviceGet(&mut device, 0))?;
            check("cuDeviceGetName", sys::cuDeviceGetName(name.as_mut_ptr(), 256, device))?;
            check("cuDriverGetVersion", sys::cuDriverGetVersion(&mut version))?;
            check("cuDevicePrimaryCtxRetain", sys::cuDevicePrimaryCtxRetain(&mut context, device))?;
            check("cuCtxSetCurrent", sys::cuCtxSetCurrent(context))?;
        }
        let name: Vec<u8> = name.iter().take_while(|c| **c != 0).map(|c| *c as u8).collect();
        Ok(Gpu { name: format!("{}, CUDA {}.{}", String::from_utf8_lossy(&name), version / 1000, version / 10 % 100) })
    }

    /// Runs a program over an output whose bytes are all `fill`, and gives the output.
    ///
    /// # Errors
    /// The text is rejected, or the launch fails; this process cannot use the device after that.
    pub fn run(&self, program: &Program, fill: u8) -> Result<Vec<u8>, Failure> {
        let text = CString::new(program.text.as_str()).map_err(|e| Failure::Text(e.to_string()))?;
        let (mut module, mut function) = (null_mut(), null_mut());
        let mut log = vec![0u8; LOG];
        let mut options = [CUjit_option::CU_JIT_ERROR_LOG_BUFFER, CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
        let mut values = [log.as_mut_ptr().cast(), without_provenance_mut(LOG)];
        // SAFETY: the text ends in NUL, the options say how long the log is, and both live until the call is done.
        let loaded = unsafe {
            sys::cuModuleLoadDataEx(&mut module, text.as_ptr().cast(), 2, options.as_mut_ptr(), values.as_mut_ptr())
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
                check("cuModuleGetFunction", sys::cuModuleGetFunction(&mut function, module, c"run".as_ptr()))?;
                check("cuMemAlloc", sys::cuMemAlloc_v2(&mut from, program.input.len().max(16)))?;
                check("cuMemAlloc", sys::cuMemAlloc_v2(&mut to, program.output.max(16)))?;
                check("cuMemcpyHtoD", sys::cuMemcpyHtoD_v2(from, program.input.as_ptr().cast(), program.input.len()))?;
                check("cuMemsetD8", sys::cuMemsetD8_v2(to, fill, program.output))?;
                let mut arguments = [from_mut(&mut from).cast(), from_mut(&mut to).cast()];
                let (grid, arguments) = (program.blocks, arguments.as_mut_ptr());
                let launched =
                    sys::cuLaunchKernel(function, grid, 1, 1, THREADS, 1, 1, 0, null_mut(), arguments, null_mut());
                check("cuLaunchKernel", launched)?;
                check("cuCtxSynchronize", sys::cuCtxSynchronize())?;
                check("cuMemcpyDtoH", sys::cuMemcpyDtoH_v2(output.as_mut_ptr().cast(), to, program.output))?;
                check("cuMemFree", sys::cuMemFree_v2(from))?;
                check("cuMemFree", sys::cuMemFree_v2(to))?;
                check("cuModuleUnload", sys::cuModuleUnload(module))
            })()
        };
        ran.map_err(Failure::Launch)?;
        Ok(output)
    }
}

fn check(call: &str, result: CUresult) -> Result<(), String> {
    if result == CUresult::CUDA_SUCCESS { Ok(()) } else { Err(format!("{call} failed: {result:?}")) }
}
