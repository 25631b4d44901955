//! What decides which images run on a GPU, or on a simulated one.

use crate::error::{Error, Result};
use triton_ir::metadata::{ComputeCapability, Image, Target};

/// The variable that makes every GPU one of an older compute capability.
const VARIABLE: &str = "TRITON_DSL_CAPABILITY";

/// A GPU, as images see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gpu {
    pub(crate) capability: ComputeCapability,
    /// The driver's version, as `cuDriverGetVersion` counts; none of a simulated GPU, and where it does not matter.
    pub(crate) driver: Option<u32>,
    pub(crate) multiprocessors: u32,
    /// The most shared memory of a block, in bytes. A multiprocessor has 1 KiB more.
    pub(crate) shared_limit: u32,
}

impl Gpu {
    /// One of a compute capability, with the shared memory that all of these have.
    pub(crate) fn of(capability: ComputeCapability, driver: Option<u32>) -> Gpu {
        // A few multiprocessors, so that programs run concurrently, and kernels that query them run more than one and not many.
        Gpu { capability, driver, multiprocessors: 4, shared_limit: capability.shared_bytes() }
    }

    /// Whether it runs an image.
    #[inline]
    pub(crate) fn runs(&self, image: &Image) -> bool {
        self.has_code(image) && image.shared_bytes <= self.shared_limit
    }

    /// Whether an image is of its instructions, and of those that its driver compiles.
    #[inline]
    pub(crate) fn has_code(&self, image: &Image) -> bool {
        image.target.runs_on(self.capability) && self.driver.is_none_or(|version| version >= image.driver())
    }

    /// Occupancy: blocks of an image, of this many registers a thread, that are resident on a multiprocessor.
    pub(crate) fn resident_blocks(&self, image: &Image, registers: u32) -> u32 {
        let of_target = image.target.resident_blocks(image.threads, registers, image.shared_bytes);
        of_target.min((self.shared_limit + 1024) / (image.shared_bytes + 1024))
    }

    /// As an older GPU, if the environment says so: for tests of the code that other GPUs run.
    ///
    /// # Errors
    /// [`Error::Capability`].
    pub(crate) fn overridden_by_env(self) -> Result<Gpu> {
        match std::env::var_os(VARIABLE) {
            Some(value) if !value.is_empty() => self.named(&value.to_string_lossy()),
            _ => Ok(self),
        }
    }

    /// As a GPU of a compute capability, which must not be newer: the instructions and the shared memory that both have.
    fn named(self, name: &str) -> Result<Gpu> {
        let of_code = Target::LEAST.capability()..=self.capability;
        let capability = ComputeCapability::from_name(name.trim()).filter(|capability| of_code.contains(capability));
        let unknown =
            || Error::Capability { found: name.to_string(), least: *of_code.start(), device: self.capability };
        let capability = capability.ok_or_else(unknown)?;
        Ok(Gpu { capability, shared_limit: self.shared_limit.min(capability.shared_bytes()), ..self })
    }

    /// Why none of a kernel's images can be launched: it has code, but not the shared memory; its driver is too old; or there is no code for it.
    #[cold]
    pub(crate) fn refuses(&self, kernel: &str, images: &[Image]) -> Error {
        let kernel = kernel.to_string();
        let has_code = images.iter().filter(|image| self.has_code(image));
        if let Some(needed) = has_code.map(|image| image.shared_bytes).min()
            && needed > self.shared_limit
        {
            let device = format!("a device of compute capability {}", self.capability);
            return Error::SharedMemory { kernel, needed, limit: self.shared_limit, device };
        }
        let runnable = images.iter().filter(|image| image.target.runs_on(self.capability));
        if let (Some(found), Some(needed)) = (self.driver, runnable.map(Image::driver).min())
            && found < needed
        {
            return Error::DriverTooOld { found, needed };
        }
        let mut targets: Vec<&str> = images.iter().map(|i| i.target.name()).collect();
        targets.dedup();
        let targets = if targets.is_empty() { "no GPU".to_string() } else { targets.join(", ") };
        Error::NoImage { kernel, capability: self.capability, targets }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOPPER: Gpu = Gpu {
        capability: ComputeCapability::new(9, 0),
        driver: Some(13000),
        multiprocessors: 132,
        shared_limit: 227 << 10,
    };

    #[test]
    fn an_older_gpu_has_less_shared_memory() -> Result<()> {
        for (name, kib) in [("8.0", 163), (" 8.6 ", 99), ("8.9", 99), ("8.7", 163), ("9.0", 227)] {
            let gpu = HOPPER.named(name)?;
            assert_eq!((gpu.capability.to_string(), gpu.shared_limit), (name.trim().to_string(), kib << 10));
            assert_eq!((gpu.driver, gpu.multiprocessors), (HOPPER.driver, HOPPER.multiprocessors));
        }
        Ok(())
    }

    #[test]
    fn what_a_gpu_cannot_be_is_an_error() {
        for name in ["sm_80", "8", "8.", "+8.0", "7.5", "10.0", "9.1", "8.0.0"] {
            let error = HOPPER.named(name).expect_err("an error").to_string();
            let expected = "; set it to a compute capability from 8.0 to the device's, 9.0, or unset it";
            assert_eq!(error, format!("TRITON_DSL_CAPABILITY is `{name}`{expected}"));
        }
    }
}
