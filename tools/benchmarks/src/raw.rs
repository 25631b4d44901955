//! A launch without us: the driver's functions, and parameters that are prepared once.

#![allow(unsafe_code, reason = "bare calls of the driver, to compare with")]

use libloading::Library;
use std::borrow::Cow;
use std::ffi::{CString, c_char, c_int, c_uint, c_void};
use std::mem::MaybeUninit;
use std::sync::OnceLock;
use triton::metadata::{Image, MapSwizzle, TensorMap};
use triton::{Device, Stream};

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
    cuDeviceGet(*mut c_int, c_int);
    cuDeviceGetAttribute(*mut c_int, c_uint, c_int);
    cuDevicePrimaryCtxRetain(*mut *mut c_void, c_int);
    cuCtxSetCurrent(*mut c_void);
    cuModuleLoadData(*mut *mut c_void, *const c_void);
    cuModuleGetFunction(*mut *mut c_void, *mut c_void, *const c_char);
    cuFuncGetAttribute(*mut c_int, c_uint, *mut c_void);
    cuFuncSetAttribute(*mut c_void, c_uint, c_int);
    cuOccupancyMaxActiveBlocksPerMultiprocessor(*mut c_int, *mut c_void, c_int, usize);
    cuTensorMapEncodeTiled(*mut EncodedMap, c_uint, c_uint, *mut c_void, *const u64, *const u64, *const c_uint, *const c_uint, c_uint, c_uint, c_uint, c_uint);
    cuLaunchKernel(*mut c_void, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, *mut c_void, *mut *mut c_void, *mut *mut c_void);
}

/// The driver, which the first call loads.
fn driver() -> Result<&'static Driver, String> {
    static DRIVER: OnceLock<Result<Driver, String>> = OnceLock::new();
    DRIVER.get_or_init(Driver::load).as_ref().map_err(Clone::clone)
}

/// "CUtensorMap" in the CUDA Driver API reference manual.
#[repr(C, align(128))]
struct EncodedMap([u64; 16]);

// "CUdevice_attribute", "CUfunction_attribute", "CUtensorMapDataType", "CUtensorMapL2promotion",
// "CUtensorMapInterleave" and "CUtensorMapFloatOOBfill" in the same manual.
const MAX_SHARED_MEMORY_PER_MULTIPROCESSOR: c_uint = 81;
const SHARED_SIZE_BYTES: c_uint = 1;
const LOCAL_SIZE_BYTES: c_uint = 3;
const NUM_REGS: c_uint = 4;
const MAX_DYNAMIC_SHARED_SIZE_BYTES: c_uint = 8;
const BFLOAT16: c_uint = 9;
const L2_128B: c_uint = 2;
const NO_INTERLEAVE: c_uint = 0;
const FILL_BY_ZEROS: c_uint = 0;

/// What is launched, and how.
pub struct Code<'a> {
    /// PTX.
    pub text: Cow<'a, str>,
    /// Name of the entry.
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

/// A matrix of `bf16` on the device, row-major and without gaps.
#[derive(Clone, Copy, Debug)]
pub struct Matrix {
    /// Of its first element.
    pub address: u64,
    /// Rows and columns; a row is a multiple of 16 bytes long.
    pub shape: [u32; 2],
}

impl Matrix {
    /// What code takes for a view of it: the address, the extents, and the strides in elements.
    pub fn words(self) -> [u64; 5] {
        let [rows, columns] = self.shape.map(u64::from);
        [self.address, rows, columns, columns, 1]
    }

    /// The driver's bytes of a tensor map of it.
    fn encode(self, map: &TensorMap) -> Result<EncodedMap, String> {
        let [rows, columns] = self.shape.map(u64::from);
        let (sizes, strides) = ([columns, rows], [2 * columns]);
        let (boxes, steps) = ([map.extents[1], map.extents[0]], [1, 1]);
        // "CUtensorMapSwizzle".
        let swizzle = match map.swizzle {
            MapSwizzle::None => 0,
            MapSwizzle::B32 => 1,
            MapSwizzle::B64 => 2,
            MapSwizzle::B128 => 3,
        };
        let driver = driver()?;
        let mut encoded = MaybeUninit::<EncodedMap>::uninit();
        // SAFETY: the first pointer is to the memory of a map, aligned as one. The lists have two entries, of strides one, and are
        // only read. The address is not accessed.
        let result = unsafe {
            (driver.cuTensorMapEncodeTiled)(
                encoded.as_mut_ptr(),
                BFLOAT16,
                2,
                std::ptr::without_provenance_mut::<c_void>(self.address as usize),
                sizes.as_ptr(),
                strides.as_ptr(),
                boxes.as_ptr(),
                steps.as_ptr(),
                NO_INTERLEAVE,
                swizzle,
                L2_128B,
                FILL_BY_ZEROS,
            )
        };
        check("cuTensorMapEncodeTiled", result)?;
        // SAFETY: the call that fills it succeeded.
        Ok(unsafe { encoded.assume_init() })
    }
}

/// The parameters of a launch, as the code takes them.
pub struct Parameters {
    /// Little-endian and zero-extended, so that a narrow parameter finds its bytes first.
    words: Box<[u64]>,
    maps: Box<[EncodedMap]>,
}

impl Parameters {
    /// Numbers and addresses.
    pub fn of(words: &[u64]) -> Parameters {
        Parameters { words: words.into(), maps: Box::default() }
    }

    /// Matrices, and the tensor maps of them that an image takes.
    ///
    /// # Errors
    /// What the driver says, or if a map is of something else than a matrix.
    pub fn of_matrices(matrices: &[Matrix], image: &Image) -> Result<Parameters, String> {
        let map = |map: &TensorMap| {
            let matrix = matrices.get(map.param as usize).ok_or("a tensor map of what is not a matrix")?;
            matrix.encode(map)
        };
        let maps = image.tensor_maps.iter().map(map).collect::<Result<_, String>>()?;
        Ok(Parameters { words: matrices.iter().flat_map(|matrix| matrix.words()).collect(), maps })
    }

    /// A pointer to each, in their order.
    fn pointers(&self) -> Box<[*mut c_void]> {
        let words = self.words.iter().map(|word| std::ptr::from_ref(word).cast::<c_void>());
        let maps = self.maps.iter().map(|map| std::ptr::from_ref(map).cast());
        words.chain(maps).map(<*const c_void>::cast_mut).collect()
    }
}

/// A loaded function with a fixed launch.
pub struct Bare {
    driver: &'static Driver,
    function: *mut c_void,
    stream: *mut c_void,
    grid: u32,
    threads: u32,
    shared: u32,
    pointers: Box<[*mut c_void]>,
    /// What the pointers point to.
    _parameters: Parameters,
    /// Keeps the handle alive.
    _stream: Stream,
}

impl Bare {
    /// Loads code for launches on a stream of the device's primary context.
    ///
    /// # Errors
    /// What the driver says, or if it is the CPU's stream.
    pub fn new(code: &Code<'_>, stream: &Stream, parameters: Parameters) -> Result<Bare, String> {
        let driver = driver()?;
        let ordinal = stream.device().ordinal().ok_or("the CPU has no bare launch")?;
        let handle = stream.as_raw().ok_or("the CPU has no bare launch")?;
        let text = CString::new(&*code.text).map_err(|e| e.to_string())?;
        let entry = CString::new(code.entry).map_err(|e| e.to_string())?;
        let (mut device, mut context) = (0, std::ptr::null_mut());
        let (mut module, mut function) = (std::ptr::null_mut(), std::ptr::null_mut());
        let shared = i32::try_from(code.shared).map_err(|e| e.to_string())?;
        // SAFETY: the results go to variables of their types, the texts end in NUL, and the primary context is retained for
        // the rest of the process, also by the stream's device.
        unsafe {
            check("cuDeviceGet", (driver.cuDeviceGet)(&mut device, i32::try_from(ordinal).unwrap_or(i32::MAX)))?;
            check("cuDevicePrimaryCtxRetain", (driver.cuDevicePrimaryCtxRetain)(&mut context, device))?;
            check("cuCtxSetCurrent", (driver.cuCtxSetCurrent)(context))?;
            check("cuModuleLoadData", (driver.cuModuleLoadData)(&mut module, text.as_ptr().cast()))?;
            check("cuModuleGetFunction", (driver.cuModuleGetFunction)(&mut function, module, entry.as_ptr()))?;
            check("cuFuncSetAttribute", (driver.cuFuncSetAttribute)(function, MAX_DYNAMIC_SHARED_SIZE_BYTES, shared))?;
        }
        Ok(Bare {
            driver,
            function,
            stream: handle,
            grid: code.grid,
            threads: code.threads,
            shared: code.shared,
            pointers: parameters.pointers(),
            _parameters: parameters,
            _stream: stream.clone(),
        })
    }

    /// Enqueues it.
    ///
    /// # Errors
    /// What the driver says.
    #[inline]
    pub fn launch(&mut self) -> Result<(), String> {
        // SAFETY: function and stream are alive, the pointers are to the code's parameters, and the caller of `new` gave values
        // with which the code accesses nothing else than what the addresses are of.
        let result = unsafe {
            (self.driver.cuLaunchKernel)(
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

    /// What its code takes of a multiprocessor.
    ///
    /// # Errors
    /// What the driver says.
    pub fn resources(&self) -> Result<Resources, String> {
        let get = |attribute: c_uint| {
            let mut value = 0;
            // SAFETY: the result goes to a variable of its type, and the function is alive.
            check("cuFuncGetAttribute", unsafe {
                (self.driver.cuFuncGetAttribute)(&mut value, attribute, self.function)
            })?;
            u32::try_from(value).map_err(|e| e.to_string())
        };
        let (mut blocks, shared) = (0, self.shared as usize);
        let threads = i32::try_from(self.threads).map_err(|e| e.to_string())?;
        // SAFETY: as above.
        let result = unsafe {
            (self.driver.cuOccupancyMaxActiveBlocksPerMultiprocessor)(&mut blocks, self.function, threads, shared)
        };
        check("cuOccupancyMaxActiveBlocksPerMultiprocessor", result)?;
        Ok(Resources {
            registers: get(NUM_REGS)?,
            local_bytes: get(LOCAL_SIZE_BYTES)?,
            shared_bytes: get(SHARED_SIZE_BYTES)? + self.shared,
            resident_blocks: u32::try_from(blocks).map_err(|e| e.to_string())?,
        })
    }
}

/// What the driver's compiler made of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resources {
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes of local memory of a thread.
    pub local_bytes: u32,
    /// Bytes of shared memory of a block, static and dynamic.
    pub shared_bytes: u32,
    /// Blocks that are resident on a multiprocessor at most.
    pub resident_blocks: u32,
}

/// Bytes of shared memory of a multiprocessor.
///
/// # Errors
/// What the driver says, or if it is the CPU.
pub fn shared_bytes(device: &Device) -> Result<u32, String> {
    let ordinal = device.ordinal().ok_or("the CPU has no multiprocessors")?;
    let driver = driver()?;
    let (mut handle, mut bytes) = (0, 0);
    // SAFETY: the results go to variables of their types; a device of ours exists, and so the driver is initialised.
    unsafe {
        check("cuDeviceGet", (driver.cuDeviceGet)(&mut handle, i32::try_from(ordinal).unwrap_or(i32::MAX)))?;
        check(
            "cuDeviceGetAttribute",
            (driver.cuDeviceGetAttribute)(&mut bytes, MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, handle),
        )?;
    }
    u32::try_from(bytes).map_err(|e| e.to_string())
}

fn check(call: &str, code: c_int) -> Result<(), String> {
    if code == 0 { Ok(()) } else { Err(format!("{call} failed with code {code}")) }
}
