//! A launch without us: the driver's functions, and arguments that are prepared once.

#![allow(unsafe_code, reason = "bare calls of the driver, to compare with")]

use cudarc::driver::sys::{self, CUfunction, CUresult, CUstream};
use std::ffi::{CString, c_void};
use std::pin::Pin;
use triton::metadata::Image;
use triton::{Device, Stream};

/// What is launched, and how.
pub struct Code<'a> {
    /// PTX.
    pub text: &'a str,
    /// Name of the entry, of three addresses and a number.
    pub entry: &'a str,
    /// Blocks.
    pub grid: u32,
    /// Threads of a block.
    pub threads: u32,
    /// Dynamic shared memory of a block in bytes.
    pub shared: u32,
}

impl<'a> Code<'a> {
    /// One block of an image.
    pub fn block_of(image: &'a Image) -> Code<'a> {
        Code { text: image.text(), entry: &image.entry, grid: 1, threads: image.threads, shared: image.shared_bytes }
    }
}

/// A loaded function with a fixed launch.
pub struct Bare {
    function: CUfunction,
    stream: CUstream,
    grid: u32,
    threads: u32,
    shared: u32,
    pointers: [*mut c_void; 4],
    /// What the pointers point to.
    _values: Pin<Box<([u64; 3], i32)>>,
    /// Keeps the handle alive.
    _stream: Stream,
}

impl Bare {
    /// Loads code for launches on a stream of the device's primary context, and chooses its arguments.
    ///
    /// # Errors
    /// What the driver says, or if it is the CPU's stream.
    pub fn new(code: &Code<'_>, stream: &Stream, addresses: [u64; 3], n: i32) -> Result<Bare, String> {
        let ordinal = stream.device().ordinal().ok_or("the CPU has no bare launch")?;
        let handle = stream.as_raw().ok_or("the CPU has no bare launch")?;
        let text = CString::new(code.text).map_err(|e| e.to_string())?;
        let entry = CString::new(code.entry).map_err(|e| e.to_string())?;
        let (mut device, mut context) = (0, std::ptr::null_mut());
        let (mut module, mut function) = (std::ptr::null_mut(), std::ptr::null_mut());
        let most = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        let shared = i32::try_from(code.shared).map_err(|e| e.to_string())?;
        // SAFETY: the results go to variables of their types, the texts end in NUL, and the primary context is retained for
        // the rest of the process, also by the stream's device.
        unsafe {
            check("cuDeviceGet", sys::cuDeviceGet(&mut device, i32::try_from(ordinal).unwrap_or(i32::MAX)))?;
            check("cuDevicePrimaryCtxRetain", sys::cuDevicePrimaryCtxRetain(&mut context, device))?;
            check("cuCtxSetCurrent", sys::cuCtxSetCurrent(context))?;
            check("cuModuleLoadData", sys::cuModuleLoadData(&mut module, text.as_ptr().cast()))?;
            check("cuModuleGetFunction", sys::cuModuleGetFunction(&mut function, module, entry.as_ptr()))?;
            check("cuFuncSetAttribute", sys::cuFuncSetAttribute(function, most, shared))?;
        }
        let mut values = Box::pin((addresses, n));
        let ([x, y, out], n) = &mut *values;
        let pointers = [
            std::ptr::from_mut(x).cast(),
            std::ptr::from_mut(y).cast(),
            std::ptr::from_mut(out).cast(),
            std::ptr::from_mut(n).cast(),
        ];
        Ok(Bare {
            function,
            stream: handle.cast(),
            grid: code.grid,
            threads: code.threads,
            shared: code.shared,
            pointers,
            _values: values,
            _stream: stream.clone(),
        })
    }

    /// Enqueues it.
    ///
    /// # Errors
    /// What the driver says.
    #[inline]
    pub fn launch(&mut self) -> Result<(), String> {
        // SAFETY: function and stream are alive, the pointers are to the four arguments, and the caller of `new` gave values
        // with which the code accesses nothing else than what the addresses are of.
        let result = unsafe {
            sys::cuLaunchKernel(
                self.function,
                self.grid,
                1,
                1,
                self.threads,
                1,
                1,
                self.shared,
                self.stream,
                self.pointers.as_mut_ptr(),
                std::ptr::null_mut(),
            )
        };
        check("cuLaunchKernel", result)
    }
}

/// Bytes of shared memory of a multiprocessor.
///
/// # Errors
/// What the driver says, or if it is the CPU.
pub fn shared_bytes(device: &Device) -> Result<u32, String> {
    let ordinal = device.ordinal().ok_or("the CPU has no multiprocessors")?;
    let most = sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR;
    let (mut handle, mut bytes) = (0, 0);
    // SAFETY: the results go to variables of their types; a device of ours exists, and so the driver is initialised.
    unsafe {
        check("cuDeviceGet", sys::cuDeviceGet(&mut handle, i32::try_from(ordinal).unwrap_or(i32::MAX)))?;
        check("cuDeviceGetAttribute", sys::cuDeviceGetAttribute(&mut bytes, most, handle))?;
    }
    u32::try_from(bytes).map_err(|e| e.to_string())
}

fn check(call: &str, result: CUresult) -> Result<(), String> {
    if result == CUresult::CUDA_SUCCESS { Ok(()) } else { Err(format!("{call} failed: {result:?}")) }
}
