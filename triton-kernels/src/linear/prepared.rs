//! A product that was checked: what its launch enqueues, by the plan that was chosen or by several, one after the other.

use super::ask::{Asked, Repeat};
use super::choose::{Pair, Wanted};
use super::kernels::sums::add_rows;
use super::pools::{Form, GemmElement, Operands, Rest, Shared};
use crate::error::Result;
use crate::operation::Call;
use crate::select::{Kernel, Kind, Order, Plan, Problem};
use std::ops::Range;
use triton::{Element, LaunchArg, View, ViewMut};

/// A product that was checked: what its kernel takes, and which it is.
pub(super) struct Prepared<'a, T, C> {
    pub(super) operands: Operands<'a, T, C, 3>,
    pub(super) sums: Option<ViewMut<'a, f32, 1>>,
    pub(super) problem: Problem,
    pub(super) form: Form,
    pub(super) plan: Plan,
    pub(super) deterministic: bool,
    pub(super) aligned: bool,
    pub(super) splits: Option<usize>,
}

impl<T: GemmElement<C>, C: Element> Prepared<'_, T, C> {
    /// The same of some products of the batch and some columns.
    pub(super) fn part(&mut self, products: Range<usize>, columns: Range<usize>) -> Result<Prepared<'_, T, C>> {
        let Operands { a, b, c, residual, rest } = &mut self.operands;
        // b may be passed as it is stored, transposed.
        let of_n = match self.problem.order {
            Order::NN | Order::TN => 2,
            Order::NT | Order::TT => 1,
        };
        let scales = rest.column_scales;
        let rest = Rest {
            bias: if rest.bias.shape() == [0] { rest.bias } else { rest.bias.narrow(0, columns.clone())? },
            column_scales: if scales.shape() == [0] { scales } else { scales.narrow(0, columns.clone())? },
            ..*rest
        };
        let residual = match residual.shape().contains(&0) {
            true => *residual,
            false => residual.narrow(0, products.clone())?.narrow(2, columns.clone())?,
        };
        let operands = Operands {
            a: a.narrow(0, products.clone())?,
            b: b.narrow(0, products.clone())?.narrow(of_n, columns.clone())?,
            c: c.reborrow().narrow(0, products)?.narrow(2, columns.clone())?,
            residual,
            rest,
        };
        let sums = match &mut self.sums {
            Some(sums) => Some(sums.reborrow().narrow(0, columns)?),
            None => None,
        };
        let Prepared { problem, form, plan, deterministic, aligned, splits, .. } = *self;
        Ok(Prepared { operands, sums, problem, form, plan, deterministic, aligned, splits })
    }

    /// Asks a selector of the caller's.
    pub(super) fn asking<R>(&mut self, call: Call<'_>, ask: impl FnOnce(&mut Asked<'_>) -> Result<R>) -> Result<R> {
        let wanted = Wanted { op: call.op, splits: self.splits, instance: None, aligned: self.aligned };
        let (problem, chosen) = (self.problem, (self.form, self.plan));
        let mut product = Repeated { prepared: self, call };
        ask(&mut Asked::new::<Pair<T, C>>(problem, chosen, &wanted, call.stream, &mut product))
    }

    pub(super) fn enqueue(&mut self, call: Call<'_>) -> Result<()> {
        let (of_parts, of_done, of_sums) = self.scratch();
        let stream = call.stream;
        let Prepared { problem, form, plan, deterministic, .. } = *self;
        let sums = self.sums.as_mut().map(ViewMut::reborrow);
        let Operands { a, b, residual, rest, .. } = self.operands;
        let mut c = self.operands.c.reborrow();
        let [batch, m, n] = c.shape();
        if batch * n == 0 {
            return Ok(());
        }
        if m == 0 {
            // There is nothing to add up.
            return match sums {
                Some(sums) => {
                    Ok(add_rows::<16, 128>(ViewMut::none(stream.device()), sums).launch(stream, n.div_ceil(128))?)
                }
                None => Ok(()),
            };
        }
        let Problem { kind, order, .. } = problem;
        // `f64` has code for every activation.
        let is_left_out = kind != Kind::F64 && rest.options.is_left_out(plan.tile[0] * plan.tile[1]);
        let (added, options) = (residual, rest.options);
        let residual = if is_left_out { View::none(stream.device()) } else { residual };
        let rest = if is_left_out { Rest { options: options.begun(), ..rest } } else { rest };
        if form == Form::Batched {
            T::enqueue_batch(order, &plan, Operands { a, b, c: c.reborrow(), residual, rest }, stream)?;
            return if is_left_out { T::finish(c, added, None, options, call) } else { Ok(()) };
        }
        let mut partial = call.some_scratch::<f32>(of_sums.iter().product())?;
        let mut parts = call.some_scratch::<T::Sum>(of_parts.iter().product())?;
        let mut done = call.some_scratch::<i32>(of_done)?;
        for i in 0..batch {
            let residual =
                if residual.shape()[0] == 0 { View::none(stream.device()) } else { residual.select(0, i)? };
            let c = c.reborrow().select(0, i)?;
            let operands = Operands { a: a.select(0, i)?, b: b.select(0, i)?, c, residual, rest };
            let parts = call.view_mut(parts.as_mut().map(|parts| parts.view_mut(of_parts)).transpose()?);
            let done = call.view_mut(done.as_mut().map(|done| done.view_mut([of_done])).transpose()?);
            let partial = partial.as_mut().filter(|_| rest.options.sums);
            let sums = call.view_mut(partial.map(|partial| partial.view_mut(of_sums)).transpose()?);
            let shared = Shared { sums, parts, done, ordered: deterministic };
            T::enqueue_product(kind, order, form, &plan, operands, shared, stream)?;
        }
        if is_left_out {
            return T::finish(c, added, sums, options, call);
        }
        if let Some(sums) = sums {
            let partial = call.view_mut(partial.as_mut().map(|partial| partial.view_mut(of_sums)).transpose()?);
            add_rows::<16, 128>(partial, sums).launch(stream, n.div_ceil(128))?;
        }
        Ok(())
    }
}

/// A product that a selector may launch several times.
struct Repeated<'p, 'a, 'c, T, C> {
    prepared: &'p mut Prepared<'a, T, C>,
    call: Call<'c>,
}

impl<T: GemmElement<C>, C: Element> Repeat for Repeated<'_, '_, '_, T, C> {
    fn changed(&mut self, tell: &mut dyn FnMut(&[LaunchArg<'_>])) {
        let c = LaunchArg::tensor_mut(self.prepared.operands.c.reborrow());
        match &mut self.prepared.sums {
            Some(sums) => tell(&[c, LaunchArg::tensor_mut(sums.reborrow())]),
            None => tell(&[c]),
        }
    }

    fn enqueue(&mut self, plan: Plan) -> Result<()> {
        self.prepared.plan = plan;
        self.prepared.enqueue(self.call)
    }
}

impl<T, C: Element> Prepared<'_, T, C> {
    /// Shapes of the scratch memory: of the parts of a split, the counters of its tiles, and the partial sums of columns. Enough for the
    /// general instance too, whose tiles have 64 rows and columns.
    pub(super) fn scratch(&self) -> ([usize; 3], usize, [usize; 2]) {
        let [_, m, n] = self.operands.c.shape();
        let [bm, bn, _] = self.plan.tile;
        let sums = if self.sums.is_some() { [m.div_ceil(bm.min(64)), n] } else { [0; 2] };
        if !matches!(self.plan.kernel, Kernel::Split { .. }) {
            return ([0; 3], 0, sums);
        }
        let parts = if self.deterministic { self.plan.splits } else { 1 };
        ([parts, m, n], m.div_ceil(bm.min(64)) * n.div_ceil(bn.min(64)), sums)
    }
}
