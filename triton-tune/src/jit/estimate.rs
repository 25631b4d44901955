//! What the compiler estimates of products.

use super::gemm::{Division, Form, Instance, Refused, source};
use std::panic::{AssertUnwindSafe, catch_unwind};
use triton::metadata::{Arg, Specialization};
use triton_core::estimate::Estimate;
use triton_core::ir;
use triton_core::metadata::Machine;

/// The estimates of an instance for one device.
#[derive(Debug)]
pub struct Estimated {
    instance: Instance,
    estimate: Estimate,
    machine: Machine,
}

impl Instance {
    /// The instance's estimates for a device, of operands whose rows begin at multiples of 16 bytes or not: no code is made.
    ///
    /// # Errors
    /// Why it does not compile.
    pub fn estimate(&self, machine: Machine, is_aligned: bool) -> Result<Estimated, Refused> {
        let kernel = self.kernel(source()?)?;
        let instance = self.instance(&[machine.target()]);
        let estimate = || {
            let compiled = triton_core::check(kernel, &instance).map_err(|failure| super::gemm::refused(&failure))?;
            let mistake = |error: String| Refused::new("compiler", error);
            let function = ir::parse::parse(&compiled.config.ir.get()).map_err(|error| mistake(error.to_string()))?;
            let specialization = if is_aligned { Specialization::Aligned16 } else { Specialization::UnitStride };
            Estimate::new(&function, machine.target(), specialization).map_err(mistake)
        };
        // A mistake of the compiler is a reason like any other.
        let estimate = catch_unwind(AssertUnwindSafe(estimate))
            .unwrap_or_else(|_| Err(Refused::new("panic", "the compiler panicked; please report the instance")))?;
        Ok(Estimated { instance: *self, estimate, machine })
    }
}

impl Estimated {
    /// Microseconds of a product of these extents, M, N and K, in this many splits.
    pub fn us(&self, [m, n, k]: [i64; 3], splits: i64) -> f64 {
        let Division { programs, steps } = self.instance.divided([m, n, k], splits);
        let order = self.instance.order;
        let mut args = Vec::new();
        let mut view = |rows: i64, columns: i64, transposed: bool| {
            let [rows, columns] = if transposed { [columns, rows] } else { [rows, columns] };
            args.push(Arg::Ptr(0));
            args.extend([rows, columns, columns, 1].map(|word| Arg::Scalar(word as u64)));
        };
        view(m, k, order.ta);
        view(k, n, order.tb);
        view(m, n, false);
        if self.instance.form == Form::Split {
            args.push(Arg::Ptr(0));
            args.extend([1, m, n, m * n, n, 1].map(|word| Arg::Scalar(word as u64)));
            args.push(Arg::Ptr(0));
            args.extend([programs[0] * programs[1], 1, steps, 0].map(|word| Arg::Scalar(word as u64)));
        }
        let programs = programs.map(|count| u32::try_from(count).unwrap_or(u32::MAX));
        self.estimate.us(&args, programs, &self.machine)
    }
}
