//! Machine code on disk, so that the driver compiles a kernel once.
//!
//! One file an entry. An entry holds its whole key, PTX included, so that a collision of names cannot confuse kernels,
//! and ends in a checksum; an entry that is damaged, truncated, of another format or for another key is a miss and is
//! overwritten. Files appear whole: they are written under another name and renamed.
//!
//! A checksum keeps no attacker out. Entries are trusted because only this user can have written them: a folder or file that
//! belongs to another user, or that others may write to, is not used, and neither is what is not a regular file (`private`).
//!
//! A folder holds at most as many bytes of entries as [`Cache::limit`] says. Where a write exceeds that, the entries that were not used for
//! longest are removed: a hit sets the time of a file (`bound`).
//!
//! ```text
//! "triton-cubin 2\n"  driver:u32  then with the length:u32 before each: device  ptx  log  cubin  then crc32:u32
//! ```

mod bound;
mod private;

use crate::parts::{Reader, Writer};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use triton_ir::hash::fnv1a;

/// Begins every entry, and changes with the format.
const MAGIC: &[u8] = b"triton-cubin 2\n";

/// Larger files are not entries.
const LARGEST: u64 = 1 << 28;

/// A folder of entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cache {
    folder: PathBuf,
    limit: u64,
}

/// What machine code depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key<'a> {
    /// The PTX, without NUL.
    pub ptx: &'a str,
    /// The driver's version, as `cuDriverGetVersion` counts.
    pub driver: u32,
    /// Compute capability and name of the device.
    pub device: &'a str,
}

/// Machine code, and the compiler's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The driver's machine code for one device.
    pub cubin: Vec<u8>,
    /// The log of its compiler: registers and spills of each function, warnings.
    pub log: String,
}

impl Cache {
    /// The bytes that a folder holds at most, unless another limit is set: 256 MiB, which is thousands of kernels.
    pub const DEFAULT_LIMIT: u64 = 256 << 20;

    /// The cache in a folder, which need not exist.
    pub fn at(folder: impl Into<PathBuf>) -> Cache {
        Cache { folder: folder.into(), limit: Cache::DEFAULT_LIMIT }
    }

    /// The same with another limit, in bytes. An entry that was just written is kept whatever it is.
    ///
    /// ```
    /// use triton_runtime::cache::Cache;
    ///
    /// assert_eq!(Cache::at("/tmp/kernels").with_limit(1 << 30).limit(), 1 << 30);
    /// ```
    pub fn with_limit(self, limit: u64) -> Cache {
        Cache { limit, ..self }
    }

    /// The cache that the environment names: `$TRITON_DSL_CACHE_DIR` (none if that is empty), else
    /// `$XDG_CACHE_HOME/triton-dsl`, else `$HOME/.cache/triton-dsl`, else none. `$TRITON_DSL_CACHE_MIB` is its limit, if it is a whole
    /// number.
    pub fn from_env() -> Option<Cache> {
        Cache::from_vars(|name| std::env::var_os(name))
    }

    /// The same for given variables.
    pub fn from_vars(get: impl Fn(&str) -> Option<OsString>) -> Option<Cache> {
        let limit = get("TRITON_DSL_CACHE_MIB").and_then(|mib| mib.to_str()?.trim().parse::<u64>().ok());
        let limit = limit.map_or(Cache::DEFAULT_LIMIT, |mib| mib.saturating_mul(1 << 20));
        if let Some(folder) = get("TRITON_DSL_CACHE_DIR") {
            return (!folder.is_empty()).then(|| Cache::at(folder).with_limit(limit));
        }
        // The XDG specification ignores relative paths.
        let absolute = |name: &str| get(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let base = absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")))?;
        Some(Cache::at(base.join("triton-dsl")).with_limit(limit))
    }

    /// Where the entries are.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The bytes that the folder holds at most.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// The file of a key's entry.
    pub fn file(&self, key: &Key<'_>) -> PathBuf {
        // The name only has to be well distributed, since the entry holds the key.
        let driver = key.driver.to_le_bytes().into_iter();
        let hash = fnv1a(driver.chain(key.device.bytes()).chain([0]).chain(key.ptx.bytes()));
        self.folder.join(format!("{hash:016x}.cubin"))
    }

    /// The entry of a key; `None` if it is missing, damaged or not to be trusted.
    pub fn read(&self, key: &Key<'_>) -> Option<Entry> {
        let file = self.file(key);
        let entry = decode(&private::read(&self.folder, &file, LARGEST).ok()?, key)?;
        bound::touch(&file);
        Some(entry)
    }

    /// Writes an entry over what is there, and removes others where the folder then exceeds its limit. A folder that does not exist is made,
    /// for this user alone.
    ///
    /// # Errors
    /// The file system's, or that the folder cannot be trusted. A caller that has the entry anyway ignores them.
    pub fn write(&self, key: &Key<'_>, entry: &Entry) -> io::Result<()> {
        let bytes = encode(key, entry).ok_or_else(|| io::Error::other("the entry is too large"))?;
        private::create_folder(&self.folder)?;
        let file = self.file(key);
        private::write(&self.folder, &file, &bytes)?;
        bound::evict(&self.folder, self.limit, &file)
    }
}

fn encode(key: &Key<'_>, entry: &Entry) -> Option<Vec<u8>> {
    let mut file = Writer::new(MAGIC);
    file.number(key.driver);
    file.part(key.device)?;
    file.part(key.ptx)?;
    file.part(&entry.log)?;
    file.part(&entry.cubin)?;
    Some(file.sealed())
}

fn decode(bytes: &[u8], key: &Key<'_>) -> Option<Entry> {
    let mut file = Reader::new(bytes, MAGIC)?;
    let same = file.number()? == key.driver && file.text()? == key.device && file.text()? == key.ptx;
    let log = String::from_utf8_lossy(file.part()?).into_owned();
    let cubin = file.part()?.to_vec();
    (same && file.is_empty()).then_some(Entry { cubin, log })
}
