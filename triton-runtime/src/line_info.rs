//! Whether machine code has line tables, by which profilers and debuggers name lines of the source.
//!
//! Code with and without them is not the same file: the cache and exported programs keep them apart.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// What was asked for last; first of all by the environment.
static ASKED: LazyLock<AtomicBool> = LazyLock::new(|| {
    let asked = std::env::var_os("TRITON_DSL_LINE_INFO");
    AtomicBool::new(asked.is_some_and(|value| !value.is_empty() && value != "0"))
});

/// Asks for it, or no longer, of what is loaded from now on.
pub(crate) fn set(asked: bool) {
    ASKED.store(asked, Ordering::Relaxed);
}

/// Whether it is asked for.
pub(crate) fn is_asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}
