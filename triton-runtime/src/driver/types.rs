//! The types of the CUDA driver's interface that we use, under the driver's own names.
//!
//! Each group names its source: a section of the *CUDA Driver API* reference manual. The layouts have been the same since CUDA 12.0, the
//! oldest driver that we use, except where a group says otherwise.
//!
//! What is an enumeration in C is a number here with names for the values that we use: a newer driver may have others.

#![allow(non_camel_case_types, non_snake_case, reason = "the driver's own names")]

use std::ffi::{c_char, c_int, c_uchar, c_uint, c_ushort, c_void};

/// Opaque objects of the driver, of which there are only pointers.
macro_rules! objects {
    ($($object:ident as $handle:ident;)*) => {$(
        #[repr(C)]
        #[derive(Clone, Copy, Debug)]
        pub(crate) struct $object {
            _opaque: [u8; 0],
        }

        pub(crate) type $handle = *mut $object;
    )*};
}

/// Numbers with names for some of their values.
macro_rules! codes {
    ($($name:ident { $($code:ident = $value:literal,)* })*) => {$(
        #[repr(transparent)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) struct $name(c_uint);

        impl $name {
            $(pub(crate) const $code: $name = $name($value);)*
        }
    )*};
}

// "Data types used by CUDA driver": CUcontext, CUevent, CUfunction, CUgraph, CUgraphExec, CUlinkState, CUmemoryPool, CUmodule, CUstream.
objects! {
    CUctx_st as CUcontext;
    CUevent_st as CUevent;
    CUfunc_st as CUfunction;
    CUgraph_st as CUgraph;
    CUgraphExec_st as CUgraphExec;
    CUlinkState_st as CUlinkState;
    CUmemPoolHandle_st as CUmemoryPool;
    CUmod_st as CUmodule;
    CUstream_st as CUstream;
}

/// "Data types used by CUDA driver", CUdevice: the number of a device, not a pointer.
pub(crate) type CUdevice = c_int;

/// "Data types used by CUDA driver", CUdeviceptr: 64 bits on every system that we run on.
pub(crate) type CUdeviceptr = u64;

// "Data types used by CUDA driver", the enumerations of these names. CU_JIT_MIN_CTA_PER_SM and CU_JIT_OVERRIDE_DIRECTIVE_VALUES came with
// CUDA 12.4: an older driver refuses them.
codes! {
    CUdevice_attribute {
        CU_DEVICE_ATTRIBUTE_CLOCK_RATE = 13,
        CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
        CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE = 36,
        CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH = 37,
        CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
        CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
        CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97,
        CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED = 115,
    }
    CUfunction_attribute {
        CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1,
        CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES = 3,
        CU_FUNC_ATTRIBUTE_NUM_REGS = 4,
        CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
        CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED = 14,
    }
    CUpointer_attribute {
        CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9,
    }
    CUjit_option {
        CU_JIT_INFO_LOG_BUFFER = 3,
        CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES = 4,
        CU_JIT_ERROR_LOG_BUFFER = 5,
        CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6,
        CU_JIT_LOG_VERBOSE = 12,
        CU_JIT_GENERATE_LINE_INFO = 13,
        CU_JIT_MIN_CTA_PER_SM = 31,
        CU_JIT_OVERRIDE_DIRECTIVE_VALUES = 33,
    }
    CUjitInputType {
        CU_JIT_INPUT_PTX = 1,
    }
    CUstreamCaptureMode {
        CU_STREAM_CAPTURE_MODE_RELAXED = 2,
    }
    CUmemPool_attribute {
        CU_MEMPOOL_ATTR_RELEASE_THRESHOLD = 4,
    }
    CUmemAccess_flags {
        CU_MEM_ACCESS_FLAGS_PROT_READWRITE = 3,
    }
    CUmemAllocationType {
        CU_MEM_ALLOCATION_TYPE_PINNED = 1,
    }
    CUmemAllocationHandleType {
        CU_MEM_HANDLE_TYPE_NONE = 0,
    }
    CUmemLocationType {
        CU_MEM_LOCATION_TYPE_DEVICE = 1,
    }
    CUlaunchAttributeID {
        CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION = 4,
    }
    CUtensorMapDataType {
        CU_TENSOR_MAP_DATA_TYPE_UINT8 = 0,
        CU_TENSOR_MAP_DATA_TYPE_UINT16 = 1,
        CU_TENSOR_MAP_DATA_TYPE_UINT32 = 2,
        CU_TENSOR_MAP_DATA_TYPE_INT32 = 3,
        CU_TENSOR_MAP_DATA_TYPE_UINT64 = 4,
        CU_TENSOR_MAP_DATA_TYPE_INT64 = 5,
        CU_TENSOR_MAP_DATA_TYPE_FLOAT16 = 6,
        CU_TENSOR_MAP_DATA_TYPE_FLOAT32 = 7,
        CU_TENSOR_MAP_DATA_TYPE_FLOAT64 = 8,
        CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 = 9,
        CU_TENSOR_MAP_DATA_TYPE_TFLOAT32 = 11,
    }
    CUtensorMapFloatOOBfill {
        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE = 0,
    }
    CUtensorMapInterleave {
        CU_TENSOR_MAP_INTERLEAVE_NONE = 0,
    }
    CUtensorMapL2promotion {
        CU_TENSOR_MAP_L2_PROMOTION_L2_128B = 2,
    }
    CUtensorMapSwizzle {
        CU_TENSOR_MAP_SWIZZLE_NONE = 0,
        CU_TENSOR_MAP_SWIZZLE_32B = 1,
        CU_TENSOR_MAP_SWIZZLE_64B = 2,
        CU_TENSOR_MAP_SWIZZLE_128B = 3,
    }
}

/// "CUmemLocation_v1": where memory is.
#[repr(C)]
pub(crate) struct CUmemLocation {
    pub(crate) type_: CUmemLocationType,
    /// Of a device, its number.
    pub(crate) id: c_int,
}

/// "CUmemAccessDesc_v1": who may access memory, and how.
#[repr(C)]
pub(crate) struct CUmemAccessDesc {
    pub(crate) location: CUmemLocation,
    pub(crate) flags: CUmemAccess_flags,
}

/// "CUmemPoolProps_v1": `maxSize` and `usage` were reserved before CUDA 12.2 and 12.6, and are 0 in what we pass.
#[repr(C)]
pub(crate) struct CUmemPoolProps {
    pub(crate) allocType: CUmemAllocationType,
    pub(crate) handleTypes: CUmemAllocationHandleType,
    pub(crate) location: CUmemLocation,
    pub(crate) win32SecurityAttributes: *mut c_void,
    pub(crate) maxSize: usize,
    pub(crate) usage: c_ushort,
    pub(crate) reserved: [c_uchar; 54],
}

/// "CUlaunchAttributeValue", `clusterDim`: the blocks of a cluster.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct ClusterDim {
    pub(crate) x: c_uint,
    pub(crate) y: c_uint,
    pub(crate) z: c_uint,
}

/// "CUlaunchAttributeValue": a union, which has pointers among its members.
#[repr(C, align(8))]
#[derive(Clone, Copy)]
pub(crate) union CUlaunchAttributeValue {
    pub(crate) pad: [c_char; 64],
    pub(crate) clusterDim: ClusterDim,
}

/// "CUlaunchAttribute".
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct CUlaunchAttribute {
    pub(crate) id: CUlaunchAttributeID,
    pub(crate) pad: [c_char; 4],
    pub(crate) value: CUlaunchAttributeValue,
}

/// "CUlaunchConfig".
#[repr(C)]
pub(crate) struct CUlaunchConfig {
    pub(crate) gridDimX: c_uint,
    pub(crate) gridDimY: c_uint,
    pub(crate) gridDimZ: c_uint,
    pub(crate) blockDimX: c_uint,
    pub(crate) blockDimY: c_uint,
    pub(crate) blockDimZ: c_uint,
    pub(crate) sharedMemBytes: c_uint,
    pub(crate) hStream: CUstream,
    pub(crate) attrs: *mut CUlaunchAttribute,
    pub(crate) numAttrs: c_uint,
}

/// "CUtensorMap": the header of CUDA 12 aligns it to 64 bytes, that of CUDA 13 to 128, which serves both.
#[repr(C, align(128))]
#[derive(Clone, Copy, Debug)]
pub(crate) struct CUtensorMap {
    opaque: [u64; 16],
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::offset_of;

    #[test]
    fn layouts_are_those_of_the_header() {
        assert_eq!((size_of::<CUcontext>(), size_of::<CUstream>(), size_of::<CUlaunchAttributeID>()), (8, 8, 4));
        assert_eq!((size_of::<CUmemLocation>(), align_of::<CUmemLocation>()), (8, 4));
        assert_eq!(offset_of!(CUmemLocation, id), 4);
        assert_eq!((size_of::<CUmemAccessDesc>(), offset_of!(CUmemAccessDesc, flags)), (12, 8));
        assert_eq!((size_of::<CUmemPoolProps>(), align_of::<CUmemPoolProps>()), (88, 8));
        let offsets = [
            offset_of!(CUmemPoolProps, allocType),
            offset_of!(CUmemPoolProps, handleTypes),
            offset_of!(CUmemPoolProps, location),
            offset_of!(CUmemPoolProps, win32SecurityAttributes),
            offset_of!(CUmemPoolProps, maxSize),
            offset_of!(CUmemPoolProps, usage),
            offset_of!(CUmemPoolProps, reserved),
        ];
        assert_eq!(offsets, [0, 4, 8, 16, 24, 32, 34]);
        assert_eq!((size_of::<CUlaunchAttributeValue>(), align_of::<CUlaunchAttributeValue>()), (64, 8));
        assert_eq!((offset_of!(ClusterDim, y), offset_of!(ClusterDim, z)), (4, 8));
        assert_eq!((size_of::<CUlaunchAttribute>(), align_of::<CUlaunchAttribute>()), (72, 8));
        assert_eq!((offset_of!(CUlaunchAttribute, pad), offset_of!(CUlaunchAttribute, value)), (4, 8));
        assert_eq!((size_of::<CUlaunchConfig>(), align_of::<CUlaunchConfig>()), (56, 8));
        let offsets = [
            offset_of!(CUlaunchConfig, gridDimX),
            offset_of!(CUlaunchConfig, gridDimY),
            offset_of!(CUlaunchConfig, gridDimZ),
            offset_of!(CUlaunchConfig, blockDimX),
            offset_of!(CUlaunchConfig, blockDimY),
            offset_of!(CUlaunchConfig, blockDimZ),
            offset_of!(CUlaunchConfig, sharedMemBytes),
            offset_of!(CUlaunchConfig, hStream),
            offset_of!(CUlaunchConfig, attrs),
            offset_of!(CUlaunchConfig, numAttrs),
        ];
        assert_eq!(offsets, [0, 4, 8, 12, 16, 20, 24, 32, 40, 48]);
        assert_eq!((size_of::<CUtensorMap>(), align_of::<CUtensorMap>()), (128, 128));
    }
}
