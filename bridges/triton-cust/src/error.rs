//! The one error type.

use cust::error::CudaError;

/// Why a kernel was not launched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The arguments, the grid or the device do not fit the kernel.
    #[error(transparent)]
    Kernel(#[from] triton::Error),

    /// The driver rejected a call of `cust`.
    // By its name: the description is the driver's to give, and cust panics where the driver gives none.
    #[error("{what} failed: {source:?}")]
    Cuda {
        /// What was tried: "loading `add::<f32, 512>`".
        what: String,
        /// The driver's answer.
        source: CudaError,
    },

    /// The kernel needs what `cust` 0.3.2 does not have.
    #[error("`{kernel}` needs {what}, which cust 0.3.2 cannot launch; launch it on a `triton::Stream` instead")]
    Unsupported {
        /// The kernel's instance.
        kernel: String,
        /// What is missing, in words: "clusters of 2 blocks".
        what: String,
    },
}

impl Error {
    /// For `map_err`: a call of `cust` that failed.
    pub(crate) fn cuda(what: impl Into<String>) -> impl FnOnce(CudaError) -> Error {
        let what = what.into();
        move |source| Error::Cuda { what, source }
    }
}
