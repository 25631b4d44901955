//! A launch without us: the driver's functions, and arguments that are prepared once.

#![allow(unsafe_code, reason = "bare calls of the driver, to compare with")]

use cudarc::driver::sys::{self, CUfunction, CUresult, CUstream};
use std::ffi::{CString, c_void};
use std::pin::Pin;
use triton::Stream;
use triton::metadata::Image;

/// A loaded function with a fixed launch.
pub struct Bare {
    function: CUfunction,
    stream: CUstream,
    threads: u32,
    pointers: [*mut c_void; 4],
    /// What the pointers point to.
    _values: Pin<Box<([u64; 3], i32)>>,
    /// Keeps the handle alive.
    _stream: Stream,
}

impl Bare {
    /// Loads an image of three addresses and a number, for launches of one block on a stream of the device's primary
    /// context.
    ///
    /// # Errors
    /// What the driver says, or if it is the CPU's stream.
    pub fn new(image: &Image, stream: &Stream, addresses: [u64; 3], n: i32) -> Result<Bare, String> {
        let ordinal = stream.device().ordinal().ok_or("the CPU has no bare launch")?;
        let handle = stream.as_raw().ok_or("the CPU has no bare launch")?;
        let text = CString::new(image.text()).map_err(|e| e.to_string())?;
        let entry = CString::new(&*image.entry).map_err(|e| e.to_string())?;
        let (mut device, mut context) = (0, std::ptr::null_mut());
        let (mut module, mut function) = (std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: the results go to variables of their types, the texts end in NUL, and the primary context is retained for
        // the rest of the process, also by the stream's device.
        unsafe {
            check("cuDeviceGet", sys::cuDeviceGet(&mut device, i32::try_from(ordinal).unwrap_or(i32::MAX)))?;
            check("cuDevicePrimaryCtxRetain", sys::cuDevicePrimaryCtxRetain(&mut context, device))?;
            check("cuCtxSetCurrent", sys::cuCtxSetCurrent(context))?;
            check("cuModuleLoadData", sys::cuModuleLoadData(&mut module, text.as_ptr().cast()))?;
            check("cuModuleGetFunction", sys::cuModuleGetFunction(&mut function, module, entry.as_ptr()))?;
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
            threads: image.threads,
            pointers,
            _values: values,
            _stream: stream.clone(),
        })
    }

    /// Enqueues one block.
    ///
    /// # Errors
    /// What the driver says.
    #[inline]
    pub fn launch(&mut self) -> Result<(), String> {
        // SAFETY: function and stream are alive, the pointers are to the four arguments, and the caller of `new` gave
        // addresses of `n` elements.
        let result = unsafe {
            sys::cuLaunchKernel(
                self.function,
                1,
                1,
                1,
                self.threads,
                1,
                1,
                0,
                self.stream,
                self.pointers.as_mut_ptr(),
                std::ptr::null_mut(),
            )
        };
        check("cuLaunchKernel", result)
    }
}

fn check(call: &str, result: CUresult) -> Result<(), String> {
    if result == CUresult::CUDA_SUCCESS { Ok(()) } else { Err(format!("{call} failed: {result:?}")) }
}
