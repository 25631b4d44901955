//! Machine code on a device, and launching it.

use super::context::Context;
use super::stream::RawStream;
use super::tensor_map::Maps;
use super::types::{
    CUfunc_st, CUfunction_attribute as Attribute, CUlaunchAttribute, CUlaunchAttributeID, CUlaunchAttributeValue,
    CUlaunchConfig, CUstream, CUtensorMap,
};
use super::{Handle, cu};
use crate::error::Error;
use crate::tensor_map::MAX_MAPS;
use std::ffi::{CString, c_int, c_void};
use std::mem::MaybeUninit;
use triton_ir::metadata::ParamType;

/// A kernel that is ready to launch. It is never unloaded.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    handle: Handle<CUfunc_st>,
    threads: u32,
    cluster: [u32; 3],
    shared_bytes: u32,
    /// Registers of a thread.
    pub(crate) registers: u32,
    /// Bytes of local memory of a thread: spills and arrays.
    pub(crate) local_bytes: u32,
    /// Bytes of static shared memory of a block.
    pub(crate) static_shared_bytes: u32,
}

/// The launch configuration of a block.
pub(crate) struct Shape {
    pub(crate) threads: u32,
    pub(crate) cluster: [u32; 3],
    pub(crate) shared_bytes: u32,
}

/// Pointers to parameters, in their order: the next ones.
type Free<'a> = std::slice::IterMut<'a, MaybeUninit<*mut c_void>>;

/// Passes parameters by pointers to their values.
#[inline]
fn pass<'a, T: 'a>(free: &mut Free<'_>, values: impl IntoIterator<Item = &'a T>) {
    for value in values {
        // There is room for all: what the callers declare.
        if let Some(param) = free.next() {
            param.write(std::ptr::from_ref(value).cast_mut().cast());
        }
    }
}

/// Passes the words of each argument. A chain of iterators that are flattened costs a launch several times as much as these loops.
#[inline]
fn pass_words(free: &mut Free<'_>, values: &[&[u64]]) {
    for words in values {
        pass(free, *words);
    }
}

impl Function {
    /// Loads machine code and finds its entry.
    ///
    /// # Errors
    /// The driver's, when the bytes are not code for this device or have no such entry.
    pub(crate) fn load(context: &Context, cubin: &[u8], entry: &str, shape: Shape) -> Result<Function, Error> {
        // A damaged length would let the driver read past the end: machine code is an ELF file, which the caller has
        // checked by a sum. PTX ends in NUL.
        let invalid =
            || Error::Driver { call: "cuModuleLoadData", code: 200, message: "invalid machine code".to_string() };
        let is_ptx = cubin.starts_with(b".version") && cubin.ends_with(b"\0");
        if !is_ptx && !cubin.starts_with(b"\x7fELF") {
            return Err(invalid());
        }
        let name = CString::new(entry).map_err(|_| invalid())?;
        context.enter()?;
        let driver = context.driver;
        let mut module = std::ptr::null_mut();
        // SAFETY: the bytes are a whole cubin, or PTX that ends in NUL.
        unsafe { cu!(driver, cuModuleLoadData(&mut module, cubin.as_ptr().cast())) }?;
        let mut handle = std::ptr::null_mut();
        // SAFETY: the module is alive, and the name ends in NUL.
        let found = unsafe { cu!(driver, cuModuleGetFunction(&mut handle, module, name.as_ptr())) };
        let set = |which: Attribute, value: u32| {
            let value = c_int::try_from(value).unwrap_or(c_int::MAX);
            // SAFETY: the function is alive.
            unsafe { cu!(driver, cuFuncSetAttribute(handle, which, value)) }
        };
        let prepared = found.and_then(|()| {
            if shape.shared_bytes > 0 {
                set(Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shape.shared_bytes)?;
            }
            if shape.cluster.iter().product::<u32>() > 8 {
                set(Attribute::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1)?;
            }
            Ok(())
        });
        if let Err(error) = prepared {
            // SAFETY: nothing of the module is used after this.
            let _ = unsafe { cu!(driver, cuModuleUnload(module)) };
            return Err(error);
        }
        let get = |which: Attribute| {
            let mut value: c_int = 0;
            // SAFETY: the pointer is to an integer, and the function is alive. Without an answer the value stays 0.
            let _ = unsafe { cu!(driver, cuFuncGetAttribute(&mut value, which, handle)) };
            u32::try_from(value).unwrap_or(0)
        };
        Ok(Function {
            handle: Handle(handle),
            threads: shape.threads,
            cluster: shape.cluster,
            shared_bytes: shape.shared_bytes,
            registers: get(Attribute::CU_FUNC_ATTRIBUTE_NUM_REGS),
            local_bytes: get(Attribute::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES),
            static_shared_bytes: get(Attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES),
        })
    }

    /// Enqueues a launch with the values of each argument. They have been checked against the kernel's metadata, and are at
    /// most [`ParamType::MAX_WORDS`] each. Then come the tensor maps of these arguments, at most [`MAX_MAPS`], and the numbers of
    /// programs, of code that takes them. The last parameter of code with assertions is `assertion_slot`.
    ///
    /// # Errors
    /// The driver's, when it does not take a tensor map or the launch.
    #[inline]
    pub(crate) fn launch<const N: usize>(
        &self,
        stream: &RawStream,
        grid: [u32; 3],
        values: &[&[u64]; N],
        maps: &Maps,
        programs: Option<&[u64; 3]>,
        assertion_slot: Option<&u64>,
    ) -> Result<(), Error> {
        stream.context.enter()?;
        if !maps.is_empty() {
            return self.launch_with_maps(stream, grid, values, maps, programs, assertion_slot);
        }
        // Values are little-endian and zero-extended, so that a narrow parameter finds its bytes first.
        let mut params = [[const { MaybeUninit::<*mut c_void>::uninit() }; ParamType::MAX_WORDS + 1]; N];
        // There is room for one more, but where there is no argument at all.
        let mut one = [const { MaybeUninit::<*mut c_void>::uninit() }];
        let params = if N == 0 { &mut one } else { params.as_flattened_mut() };
        let mut free = params.iter_mut();
        pass_words(&mut free, values);
        pass(&mut free, assertion_slot);
        // SAFETY: every parameter of the kernel has its value, at most 8 bytes each, for the duration of the call, and a pointer to it
        // is written.
        unsafe { self.enqueue(stream, grid, params.as_mut_ptr().cast()) }
    }

    /// As [`Function::launch`] of code with tensor maps, which need memory, and more room for parameters.
    #[inline(never)]
    fn launch_with_maps<const N: usize>(
        &self,
        stream: &RawStream,
        grid: [u32; 3],
        values: &[&[u64]; N],
        maps: &Maps,
        programs: Option<&[u64; 3]>,
        assertion_slot: Option<&u64>,
    ) -> Result<(), Error> {
        // Neither is cleared: what the driver reads of them is written first.
        let mut encoded = [const { MaybeUninit::<CUtensorMap>::uninit() }; MAX_MAPS];
        let mut params = [[const { MaybeUninit::<*mut c_void>::uninit() }; ParamType::MAX_WORDS + MAX_MAPS + 4]; N];
        let encoded = maps.encoded(stream.context.driver, values, &mut encoded)?;
        let mut free = params.as_flattened_mut().iter_mut();
        pass_words(&mut free, values);
        pass(&mut free, encoded);
        pass(&mut free, programs.into_iter().flatten());
        pass(&mut free, assertion_slot);
        // SAFETY: every parameter of the kernel has its value, at most 8 bytes or an encoded map each, for the duration of the call.
        // A map is of an argument, so that there is room for all of them.
        unsafe { self.enqueue(stream, grid, params.as_flattened_mut().as_mut_ptr().cast()) }
    }

    /// The launch attribute that says how large clusters are.
    fn cluster_attribute(&self) -> CUlaunchAttribute {
        let mut value = CUlaunchAttributeValue { pad: [0; 64] };
        value.clusterDim.x = self.cluster[0];
        value.clusterDim.y = self.cluster[1];
        value.clusterDim.z = self.cluster[2];
        CUlaunchAttribute { id: CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, pad: [0; 4], value }
    }

    /// The configuration of a launch, which points to the attributes.
    fn config(&self, stream: CUstream, [x, y, z]: [u32; 3], attributes: &mut [CUlaunchAttribute; 1]) -> CUlaunchConfig {
        CUlaunchConfig {
            gridDimX: x,
            gridDimY: y,
            gridDimZ: z,
            blockDimX: self.threads,
            blockDimY: 1,
            blockDimZ: 1,
            sharedMemBytes: self.shared_bytes,
            hStream: stream,
            attrs: attributes.as_mut_ptr(),
            numAttrs: 1,
        }
    }

    /// How many clusters are resident on the device together: 0 if it does not run clusters as large as these.
    pub(crate) fn resident_clusters(&self, context: &Context) -> u32 {
        let mut attributes = [self.cluster_attribute()];
        let config = self.config(std::ptr::null_mut(), self.cluster, &mut attributes);
        let mut count: c_int = 0;
        // SAFETY: the pointer is to an integer, the function is alive, and the configuration lives for the call. Without an answer the
        // count stays 0.
        let _ = unsafe { cu!(context.driver, cuOccupancyMaxActiveClusters(&mut count, self.handle.0, &config)) };
        u32::try_from(count).unwrap_or(0)
    }

    /// Enqueues a launch.
    ///
    /// # Safety
    /// `params` points to a pointer for each parameter of the kernel, and each of them to as many bytes as the parameter has. The call
    /// reads them only, and nothing after it does. The stream's context is current.
    #[inline]
    pub(super) unsafe fn enqueue(
        &self,
        stream: &RawStream,
        [x, y, z]: [u32; 3],
        params: *mut *mut c_void,
    ) -> Result<(), Error> {
        let context = stream.context;
        if self.cluster == [1, 1, 1] {
            // SAFETY: the caller vouches for the parameters; the function and the stream are alive.
            return unsafe {
                cu!(
                    context.driver,
                    cuLaunchKernel(
                        self.handle.0,
                        x,
                        y,
                        z,
                        self.threads,
                        1,
                        1,
                        self.shared_bytes,
                        stream.handle.0,
                        params,
                        std::ptr::null_mut()
                    )
                )
            };
        }
        let mut attributes = [self.cluster_attribute()];
        let config = self.config(stream.handle.0, [x, y, z], &mut attributes);
        // SAFETY: as above; the configuration lives for the call.
        unsafe { cu!(context.driver, cuLaunchKernelEx(&config, self.handle.0, params, std::ptr::null_mut())) }
    }
}
