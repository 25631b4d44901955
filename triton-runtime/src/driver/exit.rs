//! What is done when the process ends.

use std::ffi::c_int;

// SAFETY: the function's type in every C library.
unsafe extern "C" {
    fn atexit(callback: extern "C" fn()) -> c_int;
}

/// Calls a function when the process ends by `exit` or by a return of `main`. Functions are called in the opposite order in which they
/// are given, so that one that is given after the driver was loaded runs before the driver's own.
pub(crate) fn at_exit(callback: extern "C" fn()) {
    // SAFETY: a function of the program is there until the process ends; where it cannot be kept, nothing is called.
    let _ = unsafe { atexit(callback) };
}
