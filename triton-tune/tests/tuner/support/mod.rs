//! Folders, tuners and recorded data of the tests.

pub mod roofline;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use triton::Device;
use triton_tune::{Result, Tuner};

/// An empty folder of its own, which goes when the value goes.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new() -> Folder {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("triton-tune-{}-{}", std::process::id(), COUNT.fetch_add(1, Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path).expect("the temporary folder can be made");
        Folder(path)
    }

    /// The file of times of the CPU.
    pub fn file(&self) -> PathBuf {
        self.0.join("tune/cpu.tsv")
    }

    /// Writes the file of times.
    pub fn write(&self, text: &[u8]) {
        std::fs::create_dir_all(self.0.join("tune")).expect("the folder is writable");
        std::fs::write(self.file(), text).expect("the folder is writable");
    }

    /// The file of times; empty if there is none.
    pub fn read(&self) -> String {
        std::fs::read_to_string(self.file()).unwrap_or_default()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A tuner of the CPU with its cache in a folder, in a mode.
pub fn tuner(folder: &Path, mode: &str) -> Result<Tuner> {
    Tuner::from_vars(&Device::cpu(), |name| match name {
        "TRITON_DSL_CACHE_DIR" => Some(folder.into()),
        "TRITON_DSL_TUNE" => Some(mode.into()),
        _ => None,
    })
}
