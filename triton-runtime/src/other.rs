//! Errors of other code than the runtime's: of a library's operation in a capture, or of a selector.

use std::fmt;
use std::sync::Arc;

/// An error of another type, as one of the runtime's: [`Error::Other`](crate::Error::Other), made by [`Error::other`](crate::Error::other).
///
/// Closures that return the runtime's error, such as that of [`Stream::capture`](crate::Stream::capture), can return any error so, and the
/// caller gets it back. A library makes its errors convertible, so that `?` does it:
///
/// ```
/// #[derive(Debug)]
/// struct NoRows;
///
/// impl std::fmt::Display for NoRows {
///     fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
///         f.write_str("there are no rows")
///     }
/// }
///
/// impl std::error::Error for NoRows {}
///
/// impl From<NoRows> for triton_runtime::Error {
///     fn from(error: NoRows) -> triton_runtime::Error {
///         triton_runtime::Error::other(error)
///     }
/// }
///
/// fn enqueue(rows: usize) -> Result<(), NoRows> {
///     if rows == 0 { Err(NoRows) } else { Ok(()) }
/// }
///
/// let stream = triton_runtime::Device::cpu().stream()?;
/// let error = stream.capture(|_| Ok(enqueue(0)?)).unwrap_err();
/// assert_eq!(error.to_string(), "there are no rows");
/// assert!(matches!(&error, triton_runtime::Error::Other(other) if other.downcast_ref::<NoRows>().is_some()));
/// # Ok::<(), triton_runtime::Error>(())
/// ```
///
/// Two are equal if they say the same.
#[derive(Clone)]
pub struct OtherError(Arc<dyn std::error::Error + Send + Sync>);

impl OtherError {
    pub(crate) fn new(error: impl std::error::Error + Send + Sync + 'static) -> OtherError {
        OtherError(Arc::new(error))
    }

    /// The error, if it is of this type.
    pub fn downcast_ref<E: std::error::Error + 'static>(&self) -> Option<&E> {
        self.0.downcast_ref()
    }
}

impl PartialEq for OtherError {
    fn eq(&self, other: &OtherError) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.to_string() == other.0.to_string()
    }
}

impl Eq for OtherError {}

impl fmt::Debug for OtherError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl fmt::Display for OtherError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl std::error::Error for OtherError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source()
    }
}
