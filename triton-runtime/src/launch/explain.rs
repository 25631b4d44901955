//! What the compiler says of a launch: the feature `compiler`. Programs that do not ask have no compiler in them.

use super::Launch;
use crate::error::{Error, Result};
use crate::grid::Grid;
use triton_core::estimate::Estimate;
use triton_ir::metadata::{Arg, Machine, Target};

impl<S, const N: usize> Launch<'_, S, N> {
    /// What the compiler chose for these arguments, on the best target that there is code for: a line for each operation on tiles
    /// and for each conversion between layouts, with its estimated cycles on one multiprocessor over all executions, its execution
    /// count, its layouts and its source location. The layouts themselves stand first, the total last; below it, where tiles do not
    /// fit the registers of a thread. With the feature `compiler`.
    ///
    /// # Errors
    /// [`Error::Config`], [`Error::Argument`], [`Error::MultipleOf`], [`Error::Ir`].
    pub fn explain(&self) -> Result<String> {
        let holds = self.check_args()?;
        let function = self.kernel.function(self.config)?.in_order(holds.order);
        let target = self.kernel.config(self.config)?.images.first().map_or(Target::LEAST, |image| image.target);
        let args: Vec<Arg> = self.args().collect();
        triton_core::explain_launch(&function, target, holds.specialization, Some(&args))
            .map_err(|message| Error::Ir { kernel: self.metadata().instance.to_string(), message })
    }

    /// What the compiler estimates that the launch of a grid of programs takes on a device, in microseconds: nothing is launched, and the device need
    /// not be there. For comparing instances of a kernel; it takes some milliseconds. With the feature `compiler`.
    ///
    /// # Errors
    /// [`Error::Config`], [`Error::Argument`], [`Error::MultipleOf`], [`Error::Grid`], [`Error::Ir`].
    pub fn estimate(&self, grid: impl Into<Grid>, machine: &Machine) -> Result<f64> {
        let (holds, programs) = (self.check_args()?, self.dims(grid.into())?);
        let function = self.kernel.function(self.config)?.in_order(holds.order);
        let estimate = Estimate::new(&function, machine.target(), holds.specialization)
            .map_err(|message| Error::Ir { kernel: self.metadata().instance.to_string(), message })?;
        let args: Vec<Arg> = self.args().collect();
        Ok(estimate.us(&args, programs, machine))
    }
}
