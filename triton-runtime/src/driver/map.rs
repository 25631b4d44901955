//! Files mapped into memory.

use memmap2::Mmap;
use std::fs::File;
use std::io;
use std::path::Path;

/// A file, to be read alone. **For `unsafe` functions**, whose caller vouches that nothing changes the file meanwhile.
pub(crate) fn read_only(path: &Path) -> io::Result<Mmap> {
    let file = File::open(path)?;
    // SAFETY: nothing changes the file, as the caller of the public function promises.
    unsafe { Mmap::map(&file) }
}
