//! A product that was checked: what its launch enqueues, by the plan that was chosen or by several, one after the other.

use super::ask::{Asked, Repeat};
use super::beside::Fused;
use super::choose::{Pair, Wanted};
use super::kernels::sums::add_rows;
use super::memory::Chosen;
use super::pools::{Form, GemmElement, Operands, Shared};
use crate::error::Result;
use crate::operation::Call;
use crate::select::{Kernel, Kind, Order, Plan, Problem};
use std::ops::Range;
use triton::{Element, LaunchArg, ViewMut};

/// A product that was checked: what its kernel takes, and which it is.
pub(super) struct Prepared<'p, 'a, T, C> {
    pub(super) operands: &'p mut Operands<'a, T, C, 3>,
    /// What an epilogue takes, of a product that has one.
    pub(super) fused: Option<&'p Fused<'a, C, 3>>,
    pub(super) sums: Option<&'p mut ViewMut<'a, f32, 1>>,
    pub(super) problem: &'p Problem,
    pub(super) form: Form,
    /// What was chosen; a selector may have others enqueued.
    pub(super) plan: &'p Plan,
    pub(super) deterministic: bool,
    pub(super) aligned: bool,
    pub(super) splits: Option<usize>,
}

impl<T: GemmElement<C>, C: Element> Prepared<'_, '_, T, C> {
    /// Enqueues some products of the batch and some columns.
    pub(super) fn enqueue_part(&mut self, products: Range<usize>, columns: Range<usize>, call: Call<'_>) -> Result<()> {
        let Operands { a, b, c } = &mut *self.operands;
        // b may be passed as it is stored, transposed.
        let of_n = match self.problem.order {
            Order::NN | Order::TN => 2,
            Order::NT | Order::TT => 1,
        };
        let fused = match self.fused {
            Some(fused) => Some(fused.part(products.clone(), columns.clone())?),
            None => None,
        };
        let mut operands = Operands {
            a: a.narrow(0, products.clone())?,
            b: b.narrow(0, products.clone())?.narrow(of_n, columns.clone())?,
            c: c.reborrow().narrow(0, products)?.narrow(2, columns.clone())?,
        };
        let mut sums = match &mut self.sums {
            Some(sums) => Some(sums.reborrow().narrow(0, columns)?),
            None => None,
        };
        let (operands, fused, sums) = (&mut operands, fused.as_ref(), sums.as_mut());
        let Prepared { problem, form, plan, deterministic, aligned, splits, .. } = *self;
        Prepared { operands, fused, sums, problem, form, plan, deterministic, aligned, splits }.enqueue(plan, call)
    }

    /// Asks a selector of the caller's.
    pub(super) fn asking<R>(&mut self, call: Call<'_>, ask: impl FnOnce(&mut Asked<'_>) -> Result<R>) -> Result<R> {
        let wanted = Wanted { op: call.op, splits: self.splits, instance: None, aligned: self.aligned };
        let (problem, chosen) = (*self.problem, Chosen { form: self.form, plan: *self.plan });
        let mut product = Repeated { prepared: self, call };
        ask(&mut Asked::new::<Pair<T, C>>(problem, chosen, &wanted, call.stream, &mut product))
    }

    /// Enqueues it by a plan.
    pub(super) fn enqueue(&mut self, plan: &Plan, call: Call<'_>) -> Result<()> {
        let [batch, m, n] = self.operands.c.shape();
        if batch * n == 0 {
            return Ok(());
        }
        if m == 0 || self.form != Form::Plain || matches!(plan.kernel, Kernel::Split { .. }) {
            return self.enqueue_fused(plan, call);
        }
        let Prepared { operands: Operands { a, b, c }, problem: Problem { kind, order, .. }, .. } = self;
        for i in 0..batch {
            let operands = Operands { a: a.select(0, i)?, b: b.select(0, i)?, c: c.reborrow().select(0, i)? };
            T::enqueue_plain(*kind, *order, plan, operands, call.stream)?;
        }
        Ok(())
    }

    /// The same with all that an epilogue or a split takes, away from the stack and the code of products that have neither.
    #[inline(never)]
    fn enqueue_fused(&mut self, plan: &Plan, call: Call<'_>) -> Result<()> {
        let (of_parts, of_done, of_sums) = self.scratch(plan);
        let (stream, device) = (call.stream, call.stream.device());
        let Prepared { operands: Operands { a, b, c }, fused, sums, problem, form, deterministic, .. } = self;
        let Problem { kind, order, .. } = **problem;
        let [batch, m, n] = c.shape();
        let sums = sums.as_mut().map(|sums| sums.reborrow());
        if m == 0 {
            // There is nothing to add up.
            return match sums {
                Some(sums) => Ok(add_rows::<16, 128>(ViewMut::none(device), sums).launch(stream, n.div_ceil(128))?),
                None => Ok(()),
            };
        }
        let fused = fused.copied().unwrap_or_else(|| Fused::none(device));
        let Fused { residual, options, .. } = fused;
        // `f64` has code for every activation.
        let is_left_out = kind != Kind::F64 && options.is_left_out(plan.tile[0] * plan.tile[1]);
        let fused = if is_left_out { fused.begun(device) } else { fused };
        if *form == Form::Batched {
            T::enqueue_batch(order, plan, Operands { a: *a, b: *b, c: c.reborrow() }, fused, stream)?;
            return if is_left_out { T::finish(c.reborrow(), residual, None, options, call) } else { Ok(()) };
        }
        let mut partial = call.some_scratch::<f32>(of_sums.iter().product())?;
        let mut parts = call.some_scratch::<T::Sum>(of_parts.iter().product())?;
        let mut done = call.some_scratch::<i32>(of_done)?;
        for i in 0..batch {
            let operands = Operands { a: a.select(0, i)?, b: b.select(0, i)?, c: c.reborrow().select(0, i)? };
            let parts = call.view_mut(parts.as_mut().map(|parts| parts.view_mut(of_parts)).transpose()?);
            let done = call.view_mut(done.as_mut().map(|done| done.view_mut([of_done])).transpose()?);
            let partial = partial.as_mut().filter(|_| fused.options.sums);
            let sums = call.view_mut(partial.map(|partial| partial.view_mut(of_sums)).transpose()?);
            let beside = (fused.select(device, i)?, Shared { sums, parts, done, ordered: *deterministic });
            T::enqueue_fused(kind, order, *form, plan, operands, beside, stream)?;
        }
        if is_left_out {
            return T::finish(c.reborrow(), residual, sums, options, call);
        }
        if let Some(sums) = sums {
            let partial = call.view_mut(partial.as_mut().map(|partial| partial.view_mut(of_sums)).transpose()?);
            add_rows::<16, 128>(partial, sums).launch(stream, n.div_ceil(128))?;
        }
        Ok(())
    }
}

/// A product that a selector may launch several times.
struct Repeated<'p, 'q, 'a, 'c, T, C> {
    prepared: &'p mut Prepared<'q, 'a, T, C>,
    call: Call<'c>,
}

impl<T: GemmElement<C>, C: Element> Repeat for Repeated<'_, '_, '_, '_, T, C> {
    fn changed(&mut self, tell: &mut dyn FnMut(&[LaunchArg<'_>])) {
        let c = LaunchArg::tensor_mut(self.prepared.operands.c.reborrow());
        match &mut self.prepared.sums {
            Some(sums) => tell(&[c, LaunchArg::tensor_mut(sums.reborrow())]),
            None => tell(&[c]),
        }
    }

    fn enqueue(&mut self, plan: Plan) -> Result<()> {
        self.prepared.enqueue(&plan, self.call)
    }
}

impl<T, C: Element> Prepared<'_, '_, T, C> {
    /// Shapes of the scratch memory of a plan: of the parts of a split, the counters of its tiles, and the partial sums of columns. Enough for the
    /// general instance too, whose tiles have 64 rows and columns.
    pub(super) fn scratch(&self, plan: &Plan) -> ([usize; 3], usize, [usize; 2]) {
        let [_, m, n] = self.operands.c.shape();
        let [bm, bn, _] = plan.tile;
        let sums = if self.sums.is_some() { [m.div_ceil(bm.min(64)), n] } else { [0; 2] };
        if !matches!(plan.kernel, Kernel::Split { .. }) {
            return ([0; 3], 0, sums);
        }
        let parts = if self.deterministic { plan.splits } else { 1 };
        ([parts, m, n], m.div_ceil(bm.min(64)) * n.div_ceil(bn.min(64)), sums)
    }
}
