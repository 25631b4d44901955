//! The code of a whole program: what it has loaded, to be exported, and loaded before anything is launched.
//!
//! ```text
//! "triton-program 1\n"  kernels:u32  then of each
//!     instance  entry  ptx  target  specialization
//!     12 numbers:u32 (PTX version ×2, threads, cluster ×3, shared, wanted blocks, bound of registers or 0)
//!     codes:u32  then of each  driver:u32  device  log  cubin
//! then crc32:u32
//! ```

use crate::cache::Entry;
use crate::device::{Backend, Device};
use crate::driver::context::Context;
use crate::error::{Error, Result};
use crate::kernel::Code;
use crate::line_info;
use crate::load::{self, LoadInfo, Ready};
use crate::parts::{Reader, Writer};
use crate::threads;
use std::fmt;
use std::path::Path;
use std::time::Instant;
use triton_ir::metadata::{Image, ProgramMap, Specialization, Target, Text};

/// Begins every file, and changes with the format.
const MAGIC: &[u8] = b"triton-program 1\n";

/// Kernels of a program, with the machine code that some devices have run.
///
/// A kernel is compiled by the driver at its first launch, unless the cache on disk has its code. A program that ships its code, or that
/// must not stop for a compiler, exports what it has loaded in one run, and loads all of it at the start of the next, in parallel:
///
/// ```
/// use triton_runtime::{Device, Program};
///
/// # fn main() -> triton_runtime::Result<()> {
/// let device = Device::best();
/// # let file = std::env::temp_dir().join(format!("triton-program-example-{}", std::process::id()));
/// // At the end of a run that has launched all kernels; on the CPU there is nothing to keep.
/// Program::loaded().write(&file)?;
///
/// // At the start of others.
/// for info in Program::read(&file)?.load_all(&device)? {
///     println!("{info}");
/// }
/// # std::fs::remove_file(&file).ok();
/// # Ok(())
/// # }
/// ```
///
/// The file has the PTX of each kernel, too: a device whose code is not in it compiles that. Its machine code is run as it is, so that it
/// must come from where the program comes from.
#[derive(Clone, Default)]
pub struct Program {
    kernels: Vec<OfKernel>,
}

/// An image of a kernel.
#[derive(Clone)]
struct OfKernel {
    instance: String,
    /// Without its tensor maps, and what else a launch has to know.
    image: Image,
    codes: Vec<MachineCode>,
}

/// What a device runs.
#[derive(Clone, PartialEq, Eq)]
struct MachineCode {
    /// The driver's version, as `cuDriverGetVersion` counts.
    driver: u32,
    /// Compute capability and name.
    device: String,
    entry: Entry,
}

/// Why a file of a program cannot be written or read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProgramError {
    /// The file system's error.
    #[error("{file}: {reason}")]
    #[non_exhaustive]
    File {
        /// The file.
        file: String,
        /// What the operating system says.
        reason: String,
    },

    /// It is not a file of this format and version, or it is damaged.
    #[error("{file} is not a complete program of this version; export it again by `Program::loaded().write(..)`")]
    #[non_exhaustive]
    Format {
        /// The file.
        file: String,
    },
}

impl From<ProgramError> for Error {
    fn from(error: ProgramError) -> Error {
        Error::other(error)
    }
}

impl Program {
    /// All code that this process has loaded so far, on all its devices. Code that is being compiled is waited for.
    pub fn loaded() -> Program {
        let mut program = Program::default();
        for code in Code::all_loaded() {
            // It is loaded, so that nothing fails.
            let (Ok(image), Ok(ready)) = (code.image(), code.ready()) else { continue };
            let instance = code.kernel.metadata().instance.to_string();
            program.push(OfKernel {
                instance,
                image: image.clone(),
                codes: vec![MachineCode::of(code.context, ready)],
            });
        }
        program
    }

    /// Adds the code of another one: of the same kernels on other devices, or of other kernels.
    pub fn merge(&mut self, other: Program) {
        other.kernels.into_iter().for_each(|kernel| self.push(kernel));
    }

    /// How many kernels it has: images, of which a kernel loads those that its arguments allow.
    pub fn len(&self) -> usize {
        self.kernels.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.kernels.is_empty()
    }

    /// Loads everything that a device runs, in parallel: no launch of these kernels compiles or loads anything afterwards. What the program
    /// has no machine code of, for this device and its driver, is compiled. Returns what was loaded and what that took; nothing for the CPU
    /// and the simulator, which load no code.
    ///
    /// # Errors
    /// [`Error::Jit`], or what the driver says.
    pub fn load_all(&self, device: &Device) -> Result<Vec<LoadInfo>> {
        let Backend::Cuda(context) = device.backend() else { return Ok(Vec::new()) };
        let kernels: Vec<&OfKernel> = self.kernels.iter().filter(|kernel| context.gpu.runs(&kernel.image)).collect();
        threads::in_parallel(&kernels, |kernel| kernel.load(context)).into_iter().collect()
    }

    /// Writes a file.
    ///
    /// # Errors
    /// [`ProgramError::File`].
    pub fn write(&self, path: impl AsRef<Path>) -> Result<(), ProgramError> {
        let failed = |reason: String| ProgramError::File { file: path.as_ref().display().to_string(), reason };
        let bytes = self.bytes().ok_or_else(|| failed("the code is too large".to_string()))?;
        std::fs::write(&path, bytes).map_err(|error| failed(error.to_string()))
    }

    /// Reads a file.
    ///
    /// # Errors
    /// [`ProgramError::File`], [`ProgramError::Format`].
    pub fn read(path: impl AsRef<Path>) -> Result<Program, ProgramError> {
        let file = path.as_ref().display().to_string();
        match std::fs::read(path) {
            Ok(bytes) => Program::of_bytes(&bytes).ok_or(ProgramError::Format { file }),
            Err(error) => Err(ProgramError::File { file, reason: error.to_string() }),
        }
    }

    /// Adds a kernel, or its code to the one that is there.
    fn push(&mut self, kernel: OfKernel) {
        let is_same = |other: &&mut OfKernel| other.image.ptx.get() == kernel.image.ptx.get();
        let Some(there) = self.kernels.iter_mut().find(is_same) else { return self.kernels.push(kernel) };
        for code in kernel.codes {
            there.codes.retain(|other| (other.driver, &other.device) != (code.driver, &code.device));
            there.codes.push(code);
        }
    }

    fn bytes(&self) -> Option<Vec<u8>> {
        let mut file = Writer::new(MAGIC);
        file.number(u32::try_from(self.kernels.len()).ok()?);
        for kernel in &self.kernels {
            kernel.write(&mut file)?;
        }
        Some(file.sealed())
    }

    fn of_bytes(bytes: &[u8]) -> Option<Program> {
        let mut file = Reader::new(bytes, MAGIC)?;
        let count = file.number()?;
        let kernels = (0..count).map(|_| OfKernel::read(&mut file)).collect::<Option<_>>()?;
        file.is_empty().then_some(Program { kernels })
    }
}

impl OfKernel {
    /// Loads its code for the launches of its kernel.
    fn load(&self, context: &Context) -> Result<LoadInfo> {
        let lines = line_info::is_asked();
        let device = load::device(context, lines);
        let is_of_device = |code: &&MachineCode| code.driver == context.driver.version && code.device == device;
        let known = self.codes.iter().find(is_of_device).and_then(|code| {
            // What the driver does not take is compiled again.
            load::there(context, &self.instance, &self.image, &code.entry, lines, Instant::now()).ok()
        });
        let ready = match known {
            Some(ready) => ready,
            None => load::settled(context, &self.instance, &self.image)?,
        };
        let info = ready.info.clone();
        load::keep_ahead(context, &self.image.text(), ready);
        Ok(info)
    }

    fn write(&self, file: &mut Writer) -> Option<()> {
        let image = &self.image;
        for part in [&self.instance, &*image.entry, &image.text(), image.target.name(), image.specialization.name()] {
            file.part(part)?;
        }
        let (version, [x, y, z]) = (image.ptx_version, image.cluster);
        for number in [version.0, version.1, image.threads, x, y, z, image.shared_bytes, image.wanted_blocks] {
            file.number(number);
        }
        file.number(image.max_registers.unwrap_or(0));
        file.number(u32::try_from(self.codes.len()).ok()?);
        for MachineCode { driver, device, entry } in &self.codes {
            file.number(*driver);
            file.part(device)?;
            file.part(&entry.log)?;
            file.part(&entry.cubin)?;
        }
        Some(())
    }

    fn read(file: &mut Reader<'_>) -> Option<OfKernel> {
        let (instance, entry, ptx) = (file.text()?.to_string(), file.text()?.to_string(), file.text()?.to_string());
        let (target, specialization) = (Target::from_name(file.text()?)?, file.text()?);
        let specialization = *Specialization::ALL.iter().find(|of| of.name() == specialization)?;
        let version = (file.number()?, file.number()?);
        let (threads, cluster) = (file.number()?, [file.number()?, file.number()?, file.number()?]);
        let (shared_bytes, wanted_blocks, max_registers) = (file.number()?, file.number()?, file.number()?);
        let codes = (0..file.number()?).map(|_| MachineCode::read(file)).collect::<Option<_>>()?;
        let image = Image::new(
            target,
            specialization,
            0,
            entry.into(),
            Text::from(ptx),
            version,
            threads,
            cluster,
            shared_bytes,
            false,
            false,
            ProgramMap::Identity,
            wanted_blocks,
            Some(max_registers).filter(|&registers| registers > 0),
            Vec::new().into(),
        );
        Some(OfKernel { instance, image, codes })
    }
}

impl MachineCode {
    fn of(context: &Context, ready: &Ready) -> MachineCode {
        let entry = Entry { cubin: ready.cubin.to_vec(), log: ready.info.log.clone() };
        MachineCode { driver: context.driver.version, device: load::device(context, ready.info.lines), entry }
    }

    fn read(file: &mut Reader<'_>) -> Option<MachineCode> {
        let (driver, device) = (file.number()?, file.text()?.to_string());
        let (log, cubin) = (file.text()?.to_string(), file.part()?.to_vec());
        Some(MachineCode { driver, device, entry: Entry { cubin, log } })
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kernels = self.kernels.iter().map(|kernel| format!("{} {}", kernel.instance, kernel.image.specialization));
        f.debug_list().entries(kernels).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel(instance: &str, ptx: &str, devices: &[&str]) -> OfKernel {
        let code = |device: &&str| {
            let entry = Entry { cubin: b"\x7fELF".to_vec(), log: format!("of {device}") };
            MachineCode { driver: 13000, device: device.to_string(), entry }
        };
        let image = Image::new(
            Target::Sm90a,
            Specialization::Aligned16,
            0,
            "entry".into(),
            ptx.to_string().into(),
            (8, 0),
            128,
            [2, 1, 1],
            1024,
            false,
            false,
            ProgramMap::Identity,
            2,
            Some(64),
            Vec::new().into(),
        );
        OfKernel { instance: instance.to_string(), image, codes: devices.iter().map(code).collect() }
    }

    fn program(kernels: &[OfKernel]) -> Program {
        Program { kernels: kernels.to_vec() }
    }

    #[test]
    fn a_file_has_what_was_written() -> Result<(), ProgramError> {
        let one = program(&[kernel("a::<1>", "ret;", &["9.0 H100", "9.0 H200"]), kernel("b", "exit;", &[])]);
        let bytes = one.bytes().expect("it is small");
        let again = Program::of_bytes(&bytes).expect("the file is whole");
        assert_eq!(again.bytes(), Some(bytes.clone()));
        assert_eq!(format!("{again:?}"), r#"["a::<1> aligned16", "b aligned16"]"#);
        for (index, (old, new)) in one.kernels.iter().zip(&again.kernels).enumerate() {
            assert_eq!((&old.image, old.codes.len()), (&new.image, new.codes.len()), "{index}");
        }
        // Every shorter file, and every one with another byte, is another.
        for length in 0..bytes.len() {
            assert!(Program::of_bytes(&bytes[..length]).is_none(), "{length}");
            let mut other = bytes.clone();
            other[length] ^= 1;
            assert!(Program::of_bytes(&other).is_none(), "{length}");
        }
        Ok(())
    }

    #[test]
    fn the_code_of_a_kernel_for_another_device_joins_it() {
        let mut all = program(&[kernel("a", "ret;", &["8.0 A100"])]);
        all.merge(program(&[kernel("a", "ret;", &["9.0 H100"]), kernel("b", "exit;", &["9.0 H100"])]));
        all.merge(program(&[kernel("a", "ret;", &["9.0 H100"])]));
        let devices: Vec<Vec<&str>> =
            all.kernels.iter().map(|kernel| kernel.codes.iter().map(|code| &*code.device).collect()).collect();
        assert_eq!((devices, all.len()), (vec![vec!["8.0 A100", "9.0 H100"], vec!["9.0 H100"]], 2));
    }

    #[test]
    fn what_is_not_a_program_is_an_error() {
        let file = std::env::temp_dir().join(format!("triton-not-a-program-{}", std::process::id()));
        let missing = Program::read(&file).expect_err("there is no file");
        assert!(matches!(missing, ProgramError::File { .. }), "{missing}");
        std::fs::write(&file, "triton-program 1\n").expect("the folder is writable");
        let error = Program::read(&file).expect_err("it is empty");
        std::fs::remove_file(&file).expect("it was written");
        assert_eq!(error, ProgramError::Format { file: file.display().to_string() });
    }
}
