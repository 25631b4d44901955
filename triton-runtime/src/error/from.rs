//! Errors of the interpreter, as errors of a launch.

use super::Error;
use triton_ir::interp::{FailedAssertion, RunError};

impl From<FailedAssertion> for Error {
    fn from(failed: FailedAssertion) -> Error {
        let FailedAssertion { kernel, file, line, program, message } = failed;
        Error::DeviceAssert { kernel, file, line, program, message }
    }
}

impl From<RunError> for Error {
    fn from(error: RunError) -> Error {
        match error {
            RunError::Fault(fault) => Error::Program(fault),
            RunError::Assertion(failed) => failed.into(),
        }
    }
}
