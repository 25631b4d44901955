//! Products of one type, whichever it is.

use super::check::{CHECKS, Checks};
use super::operands::{AnyLaunch, Number, Operands};
use crate::jit::{Instance, Refused};
use triton::{DType, Kernel, Result, Stream, bf16, f16};

/// What is done with a launch and its programs.
pub(super) type Run<'r> = &'r mut dyn FnMut(&dyn AnyLaunch, [i64; 3]) -> Result<()>;

/// Operands of a type, and checks.
pub(super) trait Products {
    /// Runs what is given the launch of an instance.
    fn with(
        &mut self,
        instance: &Instance,
        kernel: &'static Kernel,
        extents: [i64; 3],
        splits: i64,
        run: Run<'_>,
    ) -> Result<()>;

    /// The same for the launch of a check.
    fn with_check(
        &mut self,
        instance: &Instance,
        kernel: &'static Kernel,
        check: usize,
        stream: &Stream,
        run: Run<'_>,
    ) -> Result<()>;

    /// Why an instance does not compute products, if it does not.
    fn check(
        &mut self,
        instance: &Instance,
        kernel: &'static Kernel,
        check: usize,
        stream: &Stream,
    ) -> Result<Option<Refused>>;
}

struct Typed<T> {
    operands: Operands<T>,
    checks: Checks<T>,
}

impl<T: Number> Products for Typed<T> {
    fn with(
        &mut self,
        instance: &Instance,
        kernel: &'static Kernel,
        extents: [i64; 3],
        splits: i64,
        run: Run<'_>,
    ) -> Result<()> {
        self.operands.with(instance, kernel, extents, splits, run)
    }

    fn with_check(
        &mut self,
        instance: &Instance,
        kernel: &'static Kernel,
        check: usize,
        stream: &Stream,
        run: Run<'_>,
    ) -> Result<()> {
        self.checks.operands(instance, check, stream)?.with(instance, kernel, CHECKS[check], 3, run)
    }

    fn check(
        &mut self,
        instance: &Instance,
        kernel: &'static Kernel,
        check: usize,
        stream: &Stream,
    ) -> Result<Option<Refused>> {
        self.checks.run(instance, kernel, check, stream)
    }
}

/// Products of a type whose operands have up to this many elements; nothing for a type without products.
pub(super) fn of(ty: DType, stream: &Stream, elements: [usize; 3], seed: u64) -> Result<Option<Box<dyn Products>>> {
    fn typed<T: Number>(stream: &Stream, elements: [usize; 3], seed: u64) -> Result<Option<Box<dyn Products>>> {
        let operands = Operands::<T>::random(stream, elements, seed)?;
        Ok(Some(Box::new(Typed { operands, checks: Checks::new() })))
    }
    if ty == DType::F32 {
        typed::<f32>(stream, elements, seed)
    } else if ty == DType::F16 {
        typed::<f16>(stream, elements, seed)
    } else if ty == DType::BF16 {
        typed::<bf16>(stream, elements, seed)
    } else {
        Ok(None)
    }
}
