//! NCCL's library, and its functions, looked up by name.
//!
//! Types and numbers are those of `nccl.h`, which have been the same since NCCL 2.18; a newer library takes what an older header says.

use crate::error::{Error, Result};
use libloading::Library;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::OnceLock;

/// Names the library's file where the loader does not find it.
const VARIABLE: &str = "TRITON_DSL_NCCL";

/// What the installed library and that of NVIDIA's Python package are called, then a link to it.
const NAMES: [&str; 2] = ["libnccl.so.2", "libnccl.so"];

/// The oldest library whose functions we use, as `ncclGetVersion` counts: 2.18.
const OLDEST: c_int = 21800;

/// `ncclUniqueId`, which is passed by value.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct UniqueId(pub(super) [u8; 128]);

/// A communicator of the library.
#[repr(C)]
pub(super) struct OpaqueComm {
    _opaque: [u8; 0],
}

/// `ncclComm_t`.
pub(super) type CommHandle = *mut OpaqueComm;

/// `ncclResult_t`.
pub(super) type Code = c_int;

pub(super) const SUCCESS: Code = 0;
pub(super) const IN_PROGRESS: Code = 7;

/// What stands for "the library's choice" in [`Config`].
const UNDEFINED: c_int = c_int::MIN;

/// `ncclConfig_t` of NCCL 2.18, and what a later version has in the place of its padding; `size` and `version` tell the library which one it is.
#[repr(C)]
pub(super) struct Config {
    size: usize,
    magic: c_uint,
    version: c_uint,
    blocking: c_int,
    cga_cluster_size: c_int,
    min_ctas: c_int,
    max_ctas: c_int,
    net_name: *const c_char,
    split_share: c_int,
    traffic_class: c_int,
}

impl Config {
    /// Calls that return before they are done, so that waiting for a rank can end; and at most `max_blocks` blocks on the device.
    pub(super) fn new(max_blocks: Option<u32>) -> Config {
        Config {
            size: size_of::<Config>(),
            magic: 0xcafe_beef,
            version: OLDEST as c_uint,
            blocking: 0,
            cga_cluster_size: UNDEFINED,
            min_ctas: UNDEFINED,
            max_ctas: max_blocks.and_then(|blocks| c_int::try_from(blocks).ok()).unwrap_or(UNDEFINED),
            net_name: std::ptr::null(),
            split_share: UNDEFINED,
            traffic_class: UNDEFINED,
        }
    }
}

macro_rules! api {
    ($($name:ident($($arg:ty),*) $(-> $result:ty)?;)*) => {
        /// The functions we call, under the library's own names.
        #[allow(non_snake_case, reason = "the library's own names")]
        pub(super) struct Api { $(pub(super) $name: unsafe extern "C" fn($($arg),*) -> api!(@ $($result)?),)* }

        impl Api {
            /// Looks every function up.
            fn load(library: &'static Library) -> Result<Api> {
                // SAFETY: the types are those of the library's header.
                Ok(Api { $($name: unsafe { symbol(library, stringify!($name)) }?,)* })
            }
        }
    };
    (@) => { Code };
    (@ $result:ty) => { $result };
}

api! {
    ncclGetVersion(*mut c_int);
    ncclGetUniqueId(*mut UniqueId);
    ncclGetErrorString(Code) -> *const c_char;
    ncclGetLastError(CommHandle) -> *const c_char;
    ncclCommInitRankConfig(*mut CommHandle, c_int, UniqueId, c_int, *mut Config);
    ncclCommGetAsyncError(CommHandle, *mut Code);
    ncclCommFinalize(CommHandle);
    ncclCommDestroy(CommHandle);
    ncclCommAbort(CommHandle);
    ncclGroupStart();
    ncclGroupEnd();
    ncclAllReduce(*const c_void, *mut c_void, usize, c_int, c_int, CommHandle, *mut c_void);
    ncclAllGather(*const c_void, *mut c_void, usize, c_int, CommHandle, *mut c_void);
    ncclReduceScatter(*const c_void, *mut c_void, usize, c_int, c_int, CommHandle, *mut c_void);
    ncclBroadcast(*const c_void, *mut c_void, usize, c_int, c_int, CommHandle, *mut c_void);
    ncclSend(*const c_void, usize, c_int, c_int, CommHandle, *mut c_void);
    ncclRecv(*mut c_void, usize, c_int, c_int, CommHandle, *mut c_void);
}

/// One function of the library.
///
/// # Safety
/// `F` is a function pointer of the symbol's type.
unsafe fn symbol<F: Copy>(library: &'static Library, name: &'static str) -> Result<F> {
    // SAFETY: the caller vouches for the type, and the library is never unloaded.
    match unsafe { library.get::<F>(name) } {
        Ok(symbol) => Ok(*symbol),
        Err(_) => Err(Error::NoLibrary { reason: format!("the library that was found has no function {name}") }),
    }
}

/// The library's functions; the first call loads it, and it stays loaded.
pub(super) fn get() -> Result<&'static Api> {
    static API: OnceLock<Result<Api>> = OnceLock::new();
    API.get_or_init(open).as_ref().map_err(Clone::clone)
}

fn open() -> Result<Api> {
    let named = std::env::var_os(VARIABLE).filter(|path| !path.is_empty());
    let found = match &named {
        // SAFETY: the initialisers of the library are sound to run, if it is the one that the user says.
        Some(path) => unsafe { Library::new(path) }.ok(),
        // SAFETY: as above.
        None => NAMES.iter().find_map(|name| unsafe { Library::new(*name) }.ok()),
    };
    let tried = named.map_or(NAMES.join(" and "), |path| path.to_string_lossy().into_owned());
    let missing = || Error::NoLibrary { reason: format!("{tried} cannot be loaded") };
    let library: &'static Library = Box::leak(Box::new(found.ok_or_else(missing)?));
    let api = Api::load(library)?;
    let mut version = 0;
    // SAFETY: the pointer is to an integer.
    api.check("ncclGetVersion", unsafe { (api.ncclGetVersion)(&mut version) })?;
    if version < OLDEST {
        let reason =
            format!("it is of version {}.{}, but 2.18 or newer is needed", version / 10000, version / 100 % 100);
        return Err(Error::NoLibrary { reason });
    }
    Ok(api)
}

impl Api {
    /// Turns a code into an error that names the call. Work in progress is none.
    pub(super) fn check(&self, call: &'static str, code: Code) -> Result<()> {
        if code == SUCCESS || code == IN_PROGRESS { Ok(()) } else { Err(self.error(call, code, std::ptr::null_mut())) }
    }

    /// What a code means, with what the library says of the last failure.
    #[cold]
    pub(super) fn error(&self, call: &'static str, code: Code, comm: CommHandle) -> Error {
        // SAFETY: the library's strings are static or live as long as the thread, and end in NUL; null is a communicator that it takes here.
        let [meaning, last] = unsafe { [(self.ncclGetErrorString)(code), (self.ncclGetLastError)(comm)] }.map(text);
        let message = if last.is_empty() { meaning } else { format!("{meaning}: {last}") };
        Error::Nccl { call, code, message }
    }

    /// A new id, for all ranks of a communicator.
    pub(super) fn unique_id(&self) -> Result<[u8; 128]> {
        let mut id = UniqueId([0; 128]);
        // SAFETY: the pointer is to an id.
        self.check("ncclGetUniqueId", unsafe { (self.ncclGetUniqueId)(&mut id) })?;
        Ok(id.0)
    }
}

fn text(pointer: *const c_char) -> String {
    if pointer.is_null() {
        return String::new();
    }
    // SAFETY: it is one of the library's strings.
    unsafe { CStr::from_ptr(pointer) }.to_string_lossy().trim().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::offset_of;

    #[test]
    fn layouts_are_those_of_the_header() {
        assert_eq!((size_of::<UniqueId>(), align_of::<UniqueId>()), (128, 1));
        assert_eq!((size_of::<Config>(), align_of::<Config>()), (48, 8));
        let offsets = [
            offset_of!(Config, magic),
            offset_of!(Config, version),
            offset_of!(Config, blocking),
            offset_of!(Config, max_ctas),
            offset_of!(Config, net_name),
            offset_of!(Config, split_share),
            offset_of!(Config, traffic_class),
        ];
        assert_eq!(offsets, [8, 12, 16, 28, 32, 40, 44]);
    }
}
