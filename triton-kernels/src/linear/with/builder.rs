//! The builder of a product with a function of the user's: checks, selection, launch.

use super::{Arguments, Product, Run};
use crate::error::{Result, extent, size};
use crate::grid::{MOST, parts};
use crate::linear::ask::{Asked, Repeat};
use crate::linear::choose::{Source, Wanted, choose, instances};
use crate::linear::memory::Chosen;
use crate::linear::operands::{Matrices, MatricesMut, is_aligned, ordered};
use crate::linear::pools::{Form, Pools, Precision, Told};
use crate::operation::{Call, Request};
use crate::select::{GRANULE, Kernel, Kind, Order, Plan, Problem};
use std::fmt;
use std::marker::PhantomData;
use triton::{LaunchArg, Selector, Stream, View, ViewMut};

/// Builder of a product with a function of the user's, returned by what [`gemm_with!`](crate::gemm_with) declares.
#[must_use = "nothing is enqueued until `.launch(..)`"]
pub struct GemmWith<'a, P: Product> {
    request: Request<'a>,
    a: View<'a, P::T, 2>,
    b: View<'a, P::T, 2>,
    c: ViewMut<'a, P::C, 2>,
    operands: P::Operands<'a>,
    splits: Option<usize>,
    deterministic: bool,
}

/// The instances of such a product, which are those of an epilogue.
struct Of<P>(PhantomData<P>);

impl<P: Product> Source for Of<P> {
    fn each(problem: &Problem, form: Form, is: Told<'_>) {
        if form == Form::Fused {
            P::each(problem.order, is);
        }
    }

    fn results() -> &'static str {
        std::any::type_name::<P::C>()
    }

    fn suffix(_: Form) -> String {
        format!(" with {}", P::NAME)
    }
}

/// A product that was checked.
struct Prepared<'a, P: Product> {
    a: View<'a, P::T, 2>,
    b: View<'a, P::T, 2>,
    c: ViewMut<'a, P::C, 2>,
    operands: P::Operands<'a>,
    problem: Problem,
    plan: Plan,
    deterministic: bool,
    aligned: bool,
    splits: Option<usize>,
}

impl<'a, P: Product> GemmWith<'a, P> {
    /// For generated code.
    #[doc(hidden)]
    pub fn new(
        a: View<'a, P::T, 2>,
        b: View<'a, P::T, 2>,
        c: ViewMut<'a, P::C, 2>,
        operands: P::Operands<'a>,
    ) -> GemmWith<'a, P> {
        GemmWith { request: Request::new(P::NAME), a, b, c, operands, splits: None, deterministic: false }
    }

    /// Divides K among this many programs, or as many as it has parts for.
    pub fn splits(self, splits: usize) -> Self {
        GemmWith { splits: Some(splits), ..self }
    }

    /// Adds the parts of a split K in one order, so that each launch has the same result to the bit. Without a split it is so anyway.
    pub fn deterministic(self, deterministic: bool) -> Self {
        GemmWith { deterministic, ..self }
    }

    /// Uses an instance by its name, as [`selected`](GemmWith::selected) tells it: `128x128x64`, `64x64x64 split`.
    pub fn instance(self, name: &'a str) -> Self {
        GemmWith { request: self.request.instance(name), ..self }
    }

    /// Lets a selector choose the instance and the number of splits, as [`Gemm::with`](crate::linear::Gemm::with) does. In tables the product has the
    /// name of the operation behind it.
    pub fn with(self, selector: &'a dyn Selector) -> Self {
        GemmWith { request: self.request.with(selector), ..self }
    }

    /// The instance that a launch would run, and the number of splits.
    ///
    /// # Errors
    /// As of [`launch`](GemmWith::launch).
    pub fn selected(self, stream: &Stream) -> Result<String> {
        let call = Call::new(self.request, stream, None);
        let mut prepared = self.prepare(call)?;
        match call.selector() {
            Some(selector) => prepared.asking(call, |asked| Ok(asked.selected(stream, selector)?.to_string())),
            None => Ok(prepared.plan.to_string()),
        }
    }

    /// The names of the instances that [`instance`](GemmWith::instance) can choose among for these operands.
    ///
    /// # Errors
    /// As of [`launch`](GemmWith::launch).
    pub fn instances(self, stream: &Stream) -> Result<Vec<String>> {
        let problem = self.prepared(stream)?.problem;
        let all = instances::<Of<P>>(&problem, Form::Fused, stream).into_iter();
        Ok(all.map(|of| Plan::new(&problem, of.kernel, of.tile, "").instance()).collect())
    }

    /// Why [`selected`](GemmWith::selected) is chosen: as of [`Gemm::reason`](crate::linear::Gemm::reason).
    ///
    /// # Errors
    /// As of [`launch`](GemmWith::launch).
    pub fn reason(self, stream: &Stream) -> Result<String> {
        let prepared = self.prepared(stream)?;
        Ok(prepared.plan.explain(&prepared.problem))
    }

    /// Enqueues the product.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape), [`Error::Instance`](crate::Error::Instance), [`Error::Unsupported`](crate::Error::Unsupported), and
    /// what the device says.
    pub fn launch(self, stream: &Stream) -> Result<()> {
        let call = Call::new(self.request, stream, None);
        let mut prepared = self.prepare(call)?;
        let is_one = prepared.c.shape()[1].div_ceil(prepared.tile()[1]) <= MOST;
        match call.selector().filter(|_| is_one) {
            Some(selector) => prepared.asking(call, |asked| asked.launch(stream, selector)),
            None => prepared.enqueue(call),
        }
    }

    fn prepared(self, stream: &Stream) -> Result<Prepared<'a, P>> {
        let request = self.request;
        self.prepare(Call::new(request, stream, None))
    }

    /// Checks everything, and chooses the instance.
    fn prepare(self, call: Call<'_>) -> Result<Prepared<'a, P>> {
        let GemmWith { a, b, c, operands, splits, deterministic, .. } = self;
        let (op, fix) = (call.op, "a is [m, k], b is [k, n], c is [m, n]");
        let ([m, k], [depth, n], of_c) = (a.shape(), b.shape(), c.shape());
        size(op, "a", &a.shape())?;
        size(op, "b", &b.shape())?;
        size(op, "c", &of_c)?;
        extent(op, "b", 0, [depth, k], fix)?;
        extent(op, "c", 0, [of_c[0], m], fix)?;
        extent(op, "c", 1, [of_c[1], n], fix)?;
        let (mut a, mut b) = (a.matrices(), b.matrices());
        let order = ordered(&mut a, &mut b);
        let c = c.matrices();
        let aligned = is_aligned::<P::T>(a.address(), a.strides())
            && is_aligned::<P::T>(b.address(), b.strides())
            && is_aligned::<P::C>(c.address(), c.strides());
        let wanted = Wanted { op, splits, instance: call.instance(), aligned };
        let (shape, machine) = ([m.max(1), n.max(1), k.max(1)], call.stream.device().machine());
        let problem = Problem { kind: kind::<P>(), order, batch: 1, shape, machine };
        let plan = choose::<Of<P>>(&problem, Form::Fused, &wanted, call.stream)?.plan;
        let (a, b, c) = (a.select(0, 0)?, b.select(0, 0)?, c.select(0, 0)?);
        Ok(Prepared { a, b, c, operands, problem, plan, deterministic, aligned, splits })
    }
}

/// What is multiplied.
fn kind<P: Product>() -> Kind {
    // All types have products in their own precision.
    <P::T as Pools<P::C>>::kind_of_product(Precision::Ieee).unwrap_or(Kind::F32)
}

impl<P: Product> Prepared<'_, P> {
    /// Rows and columns of the smallest tile that a launch may take: instances for unaligned operands have 64 of both.
    fn tile(&self) -> [usize; 2] {
        [self.plan.tile[0].min(64), self.plan.tile[1].min(64)]
    }

    /// Asks a selector of the caller's.
    fn asking<R>(&mut self, call: Call<'_>, ask: impl FnOnce(&mut Asked<'_>) -> Result<R>) -> Result<R> {
        let wanted = Wanted { op: call.op, splits: self.splits, instance: None, aligned: self.aligned };
        let (problem, chosen) = (self.problem, Chosen { form: Form::Fused, plan: self.plan });
        let mut product = Repeated { prepared: self, call };
        ask(&mut Asked::new::<Of<P>>(problem, chosen, &wanted, call.stream, &mut product))
    }

    fn enqueue(&mut self, call: Call<'_>) -> Result<()> {
        let [rows, columns] = self.tile();
        let Prepared { a, b, operands, problem, plan, deterministic, .. } = *self;
        let [m, n] = self.c.shape();
        if m == 0 {
            return Ok(());
        }
        // b may be passed as it is stored, transposed.
        let of_n = match problem.order {
            Order::NN | Order::TN => 1,
            Order::NT | Order::TT => 0,
        };
        for part in parts(n, columns) {
            let (width, first) = (part.len(), part.start as i32);
            let (of_parts, of_done) = match plan.kernel {
                Kernel::Split { .. } => {
                    let parts = if deterministic { plan.splits } else { 1 };
                    ([parts, m, width], m.div_ceil(rows) * width.div_ceil(columns))
                }
                Kernel::Whole | Kernel::Transposed => ([0; 3], 0),
            };
            let mut sums = call.some_scratch::<f32>(of_parts.iter().product())?;
            let mut done = call.some_scratch::<i32>(of_done)?;
            let arguments = Arguments {
                a,
                b: b.narrow(of_n, part.clone())?,
                c: self.c.reborrow().narrow(1, part)?,
                first,
                parts: call.view_mut(sums.as_mut().map(|sums| sums.view_mut(of_parts)).transpose()?),
                done: call.view_mut(done.as_mut().map(|done| done.view_mut([of_done])).transpose()?),
                steps: (plan.chunk / GRANULE) as i32,
                ordered: deterministic,
            };
            let run = Run { plan, shape: [m, width], stream: call.stream };
            P::enqueue(problem.order, arguments, operands, &run)?;
        }
        Ok(())
    }
}

/// A product that a selector may launch several times.
struct Repeated<'p, 'a, 'c, P: Product> {
    prepared: &'p mut Prepared<'a, P>,
    call: Call<'c>,
}

impl<P: Product> Repeat for Repeated<'_, '_, '_, P> {
    fn changed(&mut self, tell: &mut dyn FnMut(&[LaunchArg<'_>])) {
        tell(&[LaunchArg::tensor_mut(self.prepared.c.reborrow())]);
    }

    fn enqueue(&mut self, plan: Plan) -> Result<()> {
        self.prepared.plan = plan;
        self.prepared.enqueue(self.call)
    }
}

impl<P: Product> fmt::Debug for GemmWith<'_, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = f.debug_struct("GemmWith");
        fields.field("name", &P::NAME).field("a", &self.a).field("b", &self.b).field("c", &self.c);
        fields.finish_non_exhaustive()
    }
}
