//! The driver's functions, looked up by name.
//!
//! Types come from `cudarc`; calls do not go through its wrappers, because those panic where a symbol is missing and
//! return an enumeration that a newer driver's codes would not fit.

use crate::error::Error;
use cudarc::driver::sys::{
    self, CUcontext, CUdevice, CUdevice_attribute, CUdeviceptr, CUevent, CUfunction, CUfunction_attribute, CUgraph,
    CUgraphExec, CUjit_option, CUjitInputType, CUlaunchConfig, CUlinkState, CUmemPool_attribute, CUmemPoolProps,
    CUmemoryPool, CUmodule, CUstream, CUstreamCaptureMode, CUtensorMap, CUtensorMapDataType, CUtensorMapFloatOOBfill,
    CUtensorMapInterleave, CUtensorMapL2promotion, CUtensorMapSwizzle,
};
use std::ffi::{c_char, c_int, c_uchar, c_uint, c_ulonglong, c_ushort, c_void};

/// Whether the library is there at all.
pub(super) fn present() -> bool {
    // SAFETY: it loads the driver's library, whose initialisers are sound to run, and closes it again.
    unsafe { sys::is_culib_present() }
}

/// One function of the library.
///
/// # Safety
/// `F` is a function pointer of the symbol's type, and [`present`] was true.
pub(super) unsafe fn symbol<F: Copy>(name: &'static str) -> Result<F, Error> {
    // SAFETY: `present` was true, so that this finds the library and does not panic.
    let library = unsafe { sys::culib() };
    // SAFETY: the caller vouches for the type.
    let found = unsafe { library.get::<F>(name.as_bytes()) };
    match found {
        Ok(symbol) => Ok(*symbol),
        Err(_) => Err(Error::NoDriver { reason: format!("the library that was found has no function {name}") }),
    }
}

macro_rules! api {
    ($($name:ident($($arg:ty),*);)*) => {
        /// The functions we call once the driver is known to be new enough, under the driver's own names. All of them exist
        /// since CUDA 12.0.
        #[allow(non_snake_case, reason = "the driver's own names")]
        pub(crate) struct Api { $(pub(super) $name: unsafe extern "C" fn($($arg),*) -> c_int,)* }

        impl Api {
            /// Looks every function up.
            pub(super) fn load() -> Result<Api, Error> {
                // SAFETY: the types are those of the driver's header, and the caller found the library.
                Ok(Api { $($name: unsafe { symbol(stringify!($name)) }?,)* })
            }
        }
    };
}

api! {
    cuGetErrorString(c_int, *mut *const c_char);
    cuDeviceGetCount(*mut c_int);
    cuDeviceGet(*mut CUdevice, c_int);
    cuDeviceGetName(*mut c_char, c_int, CUdevice);
    cuDeviceGetAttribute(*mut c_int, CUdevice_attribute, CUdevice);
    cuDeviceTotalMem_v2(*mut usize, CUdevice);
    cuDevicePrimaryCtxRetain(*mut CUcontext, CUdevice);
    cuCtxGetCurrent(*mut CUcontext);
    cuCtxSetCurrent(CUcontext);
    cuCtxSynchronize();
    cuPointerGetAttribute(*mut c_void, c_uint, CUdeviceptr);
    cuMemGetInfo_v2(*mut usize, *mut usize);
    cuMemAlloc_v2(*mut CUdeviceptr, usize);
    cuMemFree_v2(CUdeviceptr);
    cuMemAllocFromPoolAsync(*mut CUdeviceptr, usize, CUmemoryPool, CUstream);
    cuMemFreeAsync(CUdeviceptr, CUstream);
    cuMemPoolCreate(*mut CUmemoryPool, *const CUmemPoolProps);
    cuMemPoolSetAttribute(CUmemoryPool, CUmemPool_attribute, *mut c_void);
    cuMemPoolTrimTo(CUmemoryPool, usize);
    cuMemcpyHtoDAsync_v2(CUdeviceptr, *const c_void, usize, CUstream);
    cuMemcpyDtoHAsync_v2(*mut c_void, CUdeviceptr, usize, CUstream);
    cuMemcpyDtoDAsync_v2(CUdeviceptr, CUdeviceptr, usize, CUstream);
    cuMemsetD8Async(CUdeviceptr, c_uchar, usize, CUstream);
    cuMemsetD16Async(CUdeviceptr, c_ushort, usize, CUstream);
    cuMemsetD32Async(CUdeviceptr, c_uint, usize, CUstream);
    cuMemHostAlloc(*mut *mut c_void, usize, c_uint);
    cuMemFreeHost(*mut c_void);
    cuStreamCreate(*mut CUstream, c_uint);
    cuStreamDestroy_v2(CUstream);
    cuStreamQuery(CUstream);
    cuStreamSynchronize(CUstream);
    cuStreamWaitEvent(CUstream, CUevent, c_uint);
    cuEventCreate(*mut CUevent, c_uint);
    cuEventDestroy_v2(CUevent);
    cuEventRecord(CUevent, CUstream);
    cuEventQuery(CUevent);
    cuEventSynchronize(CUevent);
    cuEventElapsedTime(*mut f32, CUevent, CUevent);
    cuLinkCreate_v2(c_uint, *mut CUjit_option, *mut *mut c_void, *mut CUlinkState);
    cuLinkAddData_v2(CUlinkState, CUjitInputType, *mut c_void, usize, *const c_char, c_uint, *mut CUjit_option, *mut *mut c_void);
    cuLinkComplete(CUlinkState, *mut *mut c_void, *mut usize);
    cuLinkDestroy(CUlinkState);
    cuModuleLoadData(*mut CUmodule, *const c_void);
    cuModuleUnload(CUmodule);
    cuModuleGetFunction(*mut CUfunction, CUmodule, *const c_char);
    cuFuncSetAttribute(CUfunction, CUfunction_attribute, c_int);
    cuFuncGetAttribute(*mut c_int, CUfunction_attribute, CUfunction);
    cuTensorMapEncodeTiled(*mut CUtensorMap, CUtensorMapDataType, c_uint, *mut c_void, *const u64, *const u64, *const c_uint, *const c_uint, CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
    cuLaunchKernel(CUfunction, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, CUstream, *mut *mut c_void, *mut *mut c_void);
    cuStreamBeginCapture_v2(CUstream, CUstreamCaptureMode);
    cuStreamEndCapture(CUstream, *mut CUgraph);
    cuGraphInstantiateWithFlags(*mut CUgraphExec, CUgraph, c_ulonglong);
    cuGraphLaunch(CUgraphExec, CUstream);
    cuGraphDestroy(CUgraph);
    cuGraphExecDestroy(CUgraphExec);
    cuOccupancyMaxActiveClusters(*mut c_int, CUfunction, *const CUlaunchConfig);
    cuLaunchKernelEx(*const CUlaunchConfig, CUfunction, *mut *mut c_void, *mut *mut c_void);
}
