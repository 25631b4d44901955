//! What a launch passes after the kernel's own parameters and the tensor maps.
//!
//! - It is loaded before the function's first operation, and nothing writes its registers again. So it holds for the
//!   whole kernel but its entry,
//!   which comes before.

use crate::ptx::Reg;

/// See the [module's page](self).
#[derive(Default)]
pub(crate) struct ExtraParams {
    /// The number of programs along each axis, where a block runs several of them.
    pub grid: Option<[Reg; 3]>,
    /// In a kernel with assertions, where it reports a broken one, as given and as an address in global memory.
    pub report: Option<(Reg, Reg)>,
}
