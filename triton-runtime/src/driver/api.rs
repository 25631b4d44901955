//! The driver's library, and its functions, looked up by name.

use super::types::{
    CUcontext, CUdevice, CUdevice_attribute, CUdeviceptr, CUevent, CUfunction, CUfunction_attribute, CUgraph,
    CUgraphExec, CUjit_option, CUjitInputType, CUlaunchConfig, CUlinkState, CUmemAccessDesc, CUmemPool_attribute,
    CUmemPoolProps, CUmemoryPool, CUmodule, CUpointer_attribute, CUstream, CUstreamCaptureMode, CUtensorMap,
    CUtensorMapDataType, CUtensorMapFloatOOBfill, CUtensorMapInterleave, CUtensorMapL2promotion, CUtensorMapSwizzle,
};
use crate::error::Error;
use libloading::Library;
use std::ffi::{c_char, c_int, c_uchar, c_uint, c_ulonglong, c_ushort, c_void};

/// Where the driver is: the installed library's name, then that of a link to it.
const NAMES: &[&str] = if cfg!(windows) { &["nvcuda.dll"] } else { &["libcuda.so.1", "libcuda.so"] };

/// The library; it stays loaded.
///
/// # Errors
/// [`Error::NoDriver`] if no library of these names can be loaded.
pub(super) fn library() -> Result<&'static Library, Error> {
    // SAFETY: the initialisers of the driver's library are sound to run.
    let found = NAMES.iter().find_map(|name| unsafe { Library::new(*name) }.ok());
    let missing = || Error::NoDriver { reason: format!("{} was not found", NAMES[0]) };
    // It is asked for once: `super::get` keeps what comes of it.
    found.map(|library| &*Box::leak(Box::new(library))).ok_or_else(missing)
}

/// One function of the library.
///
/// # Safety
/// `F` is a function pointer of the symbol's type.
pub(super) unsafe fn symbol<F: Copy>(library: &'static Library, name: &'static str) -> Result<F, Error> {
    // SAFETY: the caller vouches for the type, and the library is never unloaded.
    match unsafe { library.get::<F>(name) } {
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
            pub(super) fn load(library: &'static Library) -> Result<Api, Error> {
                // SAFETY: the types are those of the driver's header.
                Ok(Api { $($name: unsafe { symbol(library, stringify!($name)) }?,)* })
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
    cuCtxGetStreamPriorityRange(*mut c_int, *mut c_int);
    cuCtxEnablePeerAccess(CUcontext, c_uint);
    cuDeviceCanAccessPeer(*mut c_int, CUdevice, CUdevice);
    cuPointerGetAttribute(*mut c_void, CUpointer_attribute, CUdeviceptr);
    cuMemGetInfo_v2(*mut usize, *mut usize);
    cuMemAlloc_v2(*mut CUdeviceptr, usize);
    cuMemFree_v2(CUdeviceptr);
    cuMemAllocFromPoolAsync(*mut CUdeviceptr, usize, CUmemoryPool, CUstream);
    cuMemFreeAsync(CUdeviceptr, CUstream);
    cuMemPoolCreate(*mut CUmemoryPool, *const CUmemPoolProps);
    cuMemPoolSetAttribute(CUmemoryPool, CUmemPool_attribute, *mut c_void);
    cuMemPoolSetAccess(CUmemoryPool, *const CUmemAccessDesc, usize);
    cuMemPoolTrimTo(CUmemoryPool, usize);
    cuMemcpyHtoDAsync_v2(CUdeviceptr, *const c_void, usize, CUstream);
    cuMemcpyDtoHAsync_v2(*mut c_void, CUdeviceptr, usize, CUstream);
    cuMemcpyDtoDAsync_v2(CUdeviceptr, CUdeviceptr, usize, CUstream);
    cuMemcpyPeerAsync(CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, usize, CUstream);
    cuMemsetD8Async(CUdeviceptr, c_uchar, usize, CUstream);
    cuMemsetD16Async(CUdeviceptr, c_ushort, usize, CUstream);
    cuMemsetD32Async(CUdeviceptr, c_uint, usize, CUstream);
    cuMemHostAlloc(*mut *mut c_void, usize, c_uint);
    cuMemFreeHost(*mut c_void);
    cuStreamCreate(*mut CUstream, c_uint);
    cuStreamCreateWithPriority(*mut CUstream, c_uint, c_int);
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
