//! The builder of a product: checks, selection, launch.

use super::beside::{Beside, Fused, Scale};
use super::choose::{Pair, Wanted, choose, instances};
use super::operands::{Matrices, MatricesMut, for_each, is_aligned, is_transposed, ordered};
use super::pools::{Form, GemmElement, Operands, Precision};
use super::prepared::Prepared;
use crate::activation::Activation;
use crate::error::{Error, Result, extent, size};
use crate::grid::{MOST, parts};
use crate::operation::{Call, Request};
use crate::select::{Candidates, Plan, Problem};
use std::fmt;
use triton::{Element, IntoView, IntoViewMut, Selector, Stream, ViewMut};

/// Builder of a matrix product, returned by [`gemm`] and [`gemm_batched`].
#[must_use = "nothing is enqueued until `.launch(..)`"]
pub struct Gemm<'a, T, C> {
    request: Request<'a>,
    /// Whether operands have an axis for the products in front.
    batched: bool,
    operands: Operands<'a, T, C, 3>,
    beside: Beside<'a, C>,
    column_sums: Option<ViewMut<'a, f32, 1>>,
    precision: Precision,
    splits: Option<usize>,
    deterministic: bool,
}

/// c = a · b, of \[m, k\] and \[k, n\]. Any strides will do, with 0 along an axis that repeats; k = 0 is a product of zeros.
///
/// Products are added in `f32`, those of `f64` in `f64` and of `i8` in `i32` ([`GemmElement`] lists the types), and rounded once. Few tiles and a
/// long K are split among programs, in the same launch.
///
/// A NaN or an infinity in a row of a or a column of b reaches that row or column of c alone.
///
/// ```
/// use triton::prelude::*;
/// use triton_kernels::{Activation, linear::gemm};
///
/// # fn main() -> triton_kernels::Result<()> {
/// let stream = Device::best().stream()?;
/// let (m, n, k) = (3, 2, 4);
/// let x = stream.tensor(&[0.5f32; 12], [m, k])?;
/// let w = stream.tensor(&[1.0f32, 1.0, 1.0, 1.0, -1.0, -1.0, -1.0, -1.0], [n, k])?;
/// let bias = stream.tensor(&[0.25f32, 0.0], [n])?;
/// let mut y = stream.tensor_uninit::<f32, _>([m, n])?;
/// // w is stored [N, K], as a linear layer has it.
/// gemm(&x, w.transpose(), &mut y)
///     .bias(&bias)
///     .activation(Activation::Relu)
///     .launch(&stream)?;
/// assert_eq!(stream.download(&y)?, [2.25, 0.0, 2.25, 0.0, 2.25, 0.0]);
/// # Ok(())
/// # }
/// ```
///
/// What does not fit is an error, of which nothing was enqueued:
///
/// ```
/// # use triton::prelude::*;
/// # use triton_kernels::linear::gemm;
/// # fn main() -> triton_kernels::Result<()> {
/// # let stream = Device::cpu().stream()?;
/// let x = stream.zeros::<f32>(64)?;
/// let mut y = stream.tensor_zeros::<f32, _>([4, 8])?;
/// let error = gemm(x.view([4, 16])?, x.view([8, 8])?, &mut y).launch(&stream).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "`gemm`: `b` has extent 8 along axis 0, but 16 is expected; a is [m, k], b is [k, n], c is [m, n]"
/// );
/// # Ok(())
/// # }
/// ```
///
/// An output that an operand lies in does not compile:
///
/// ```compile_fail,E0502
/// # use triton::prelude::*;
/// # fn main() -> triton_kernels::Result<()> {
/// # let stream = Device::cpu().stream()?;
/// let mut x = stream.zeros::<f32>(64)?;
/// triton_kernels::linear::gemm(x.view([8, 8])?, x.view([8, 8])?, x.view_mut([8, 8])?).launch(&stream)?;
/// # Ok(())
/// # }
/// ```
///
/// Its gradient: `linear_backward`, or products with transposed operands.
///
/// # Errors
/// `launch` returns [`Error::Shape`], [`Error::Unsupported`] where no instance has code, [`Error::Instance`], or an error of the device.
#[inline]
pub fn gemm<'a, T, C>(
    a: impl IntoView<'a, T, 2>,
    b: impl IntoView<'a, T, 2>,
    c: impl IntoViewMut<'a, C, 2>,
) -> Gemm<'a, T, C>
where
    T: GemmElement<C>,
    C: Element,
{
    Gemm::new("gemm", false, a.into_view(), b.into_view(), c.into_view_mut())
}

/// The products of a batch, of \[b, m, k\] and \[b, k, n\]. A batch of one matrix is used for all products.
///
/// A NaN or an infinity in a row of a or a column of b reaches that row or column of its product alone.
///
/// ```
/// use triton::prelude::*;
/// use triton_kernels::linear::gemm_batched;
///
/// # fn main() -> triton_kernels::Result<()> {
/// let stream = Device::cpu().stream()?;
/// let (x, w) = (stream.tensor(&[1.0f32; 6 * 4], [3, 2, 4])?, stream.tensor(&[2.0f32; 4 * 5], [1, 4, 5])?);
/// let mut y = stream.tensor_uninit::<f32, _>([3, 2, 5])?;
/// // The same w for each.
/// gemm_batched(&x, &w, &mut y).launch(&stream)?;
/// assert_eq!(stream.download(&y)?, [8.0; 30]);
/// # Ok(())
/// # }
/// ```
///
/// Its gradient: products with transposed operands.
///
/// # Errors
/// As of [`gemm`].
#[inline]
pub fn gemm_batched<'a, T, C>(
    a: impl IntoView<'a, T, 3>,
    b: impl IntoView<'a, T, 3>,
    c: impl IntoViewMut<'a, C, 3>,
) -> Gemm<'a, T, C>
where
    T: GemmElement<C>,
    C: Element,
{
    Gemm::new("gemm_batched", true, a.into_view(), b.into_view(), c.into_view_mut())
}

impl<'a, T: GemmElement<C>, C: Element> Gemm<'a, T, C> {
    #[inline]
    fn new(
        op: &'static str,
        batched: bool,
        a: impl Matrices<'a, T>,
        b: impl Matrices<'a, T>,
        c: impl MatricesMut<'a, C>,
    ) -> Self {
        Gemm {
            request: Request::new(op),
            batched,
            operands: Operands { a: a.matrices(), b: b.matrices(), c: c.matrices() },
            beside: Beside::default(),
            column_sums: None,
            precision: Precision::Ieee,
            splits: None,
            deterministic: false,
        }
    }

    /// Multiplies the product. Default 1; with 0, a and b are not read, nor their scales, as in BLAS.
    pub fn alpha(self, alpha: impl Into<f64>) -> Self {
        Gemm { beside: Beside { alpha: alpha.into(), ..self.beside }, ..self }
    }

    /// Adds β · c. Default: 0, and c is not read.
    pub fn beta(self, beta: impl Into<f64>) -> Self {
        Gemm { beside: Beside { beta: beta.into(), ..self.beside }, ..self }
    }

    /// Adds a number to each column, before the activation.
    pub fn bias(self, bias: impl IntoView<'a, C, 1>) -> Self {
        Gemm { beside: Beside { bias: Some(bias.into_view()), ..self.beside }, ..self }
    }

    /// Adds a number to each row, before the activation.
    pub fn row_bias(self, bias: impl IntoView<'a, C, 1>) -> Self {
        Gemm { beside: Beside { row_bias: Some(bias.into_view()), ..self.beside }, ..self }
    }

    /// Applies a function to each element. In `f32` it is right within 2 · 10⁻⁷ of the larger of 1 and the result.
    ///
    /// [`Softplus`](Activation::Softplus), [`Mish`](Activation::Mish) and [`Elu`](Activation::Elu) take a second launch, before which c is rounded to its
    /// type: their code in every product would take up to twice the registers. So do [`Relu6`](Activation::Relu6), [`HardSigmoid`](Activation::HardSigmoid),
    /// [`HardSwish`](Activation::HardSwish) and [`LeakyRelu`](Activation::LeakyRelu) of tiles with more than 4096 elements.
    pub fn activation(self, activation: Activation) -> Self {
        Gemm { beside: Beside { activation, ..self.beside }, ..self }
    }

    /// Adds an array of c's shape after the activation; one matrix serves every product of a batch.
    pub fn residual(self, residual: impl Matrices<'a, C>) -> Self {
        Gemm { beside: Beside { residual: Some(residual.matrices()), ..self.beside }, ..self }
    }

    /// Multiplies the rows of the product, as if those of a had been.
    pub fn scale_a(self, scale: Scale<'a>) -> Self {
        Gemm { beside: Beside { scale_a: Some(scale), ..self.beside }, ..self }
    }

    /// Multiplies the columns of the product, as if those of b had been.
    pub fn scale_b(self, scale: Scale<'a>) -> Self {
        Gemm { beside: Beside { scale_b: Some(scale), ..self.beside }, ..self }
    }

    /// Also stores the sum of each column of the result, in `f32`, before c is rounded. Not of a batch. It takes a second, small launch.
    /// An [activation](Gemm::activation) that takes a launch of its own reads a rounded c.
    pub fn column_sums(self, sums: impl IntoViewMut<'a, f32, 1>) -> Self {
        Gemm { column_sums: Some(sums.into_view_mut()), ..self }
    }

    /// How exactly `f32` is multiplied.
    pub fn precision(self, precision: Precision) -> Self {
        Gemm { precision, ..self }
    }

    /// Divides K among this many programs, or as many as it has parts for.
    pub fn splits(self, splits: usize) -> Self {
        Gemm { splits: Some(splits), ..self }
    }

    /// Adds the parts of a split K in one order, so that each launch has the same result to the bit. Without a split it is so anyway.
    pub fn deterministic(self, deterministic: bool) -> Self {
        Gemm { deterministic, ..self }
    }

    /// Uses an instance by its name, as [`selected`](Gemm::selected) tells it: `128x256x64`, `64x32x32 split`.
    pub fn instance(self, name: &'a str) -> Self {
        Gemm { request: self.request.instance(name), ..self }
    }

    /// Lets a selector choose the instance and the number of splits, such as a tuner that measures them. Without one, or where it has no answer,
    /// [`select`](crate::select) does. A product of more programs than a grid has does not ask.
    pub fn with(self, selector: &'a dyn Selector) -> Self {
        Gemm { request: self.request.with(selector), ..self }
    }

    /// The instance that a launch would run, and the number of splits.
    ///
    /// # Errors
    /// As of [`launch`](Gemm::launch).
    pub fn selected(self, stream: &Stream) -> Result<String> {
        let call = Call::new(self.request, stream, None);
        self.prepare(call, |prepared| match call.selector() {
            Some(selector) => prepared.asking(call, |asked| Ok(asked.selected(stream, selector)?.to_string())),
            None => Ok(prepared.plan.to_string()),
        })
    }

    /// The names of the instances that [`instance`](Gemm::instance) can choose among for these operands.
    ///
    /// # Errors
    /// As of [`launch`](Gemm::launch).
    pub fn instances(self, stream: &Stream) -> Result<Vec<String>> {
        self.prepared(stream, |&mut Prepared { problem, form, .. }| {
            let all = instances::<Pair<T, C>>(problem, form, stream).into_iter();
            all.map(|of| Plan::new(problem, of.kernel, of.tile, "").instance()).collect()
        })
    }

    /// Why [`selected`](Gemm::selected) is chosen without a selector: `measured`, `by the model`, `asked for`, or the reason of the one of the
    /// [`rows`](crate::select::rows) that is for the product; and how many waves of programs it is, and how full they are.
    ///
    /// # Errors
    /// As of [`launch`](Gemm::launch).
    pub fn reason(self, stream: &Stream) -> Result<String> {
        self.prepared(stream, |Prepared { plan, problem, .. }| plan.explain(problem))
    }

    /// What is chosen among by measuring or by a model: the instances, each in several numbers of splits.
    ///
    /// # Errors
    /// As of [`launch`](Gemm::launch).
    pub fn candidates(self, stream: &Stream) -> Result<Candidates> {
        self.prepared(stream, |&mut Prepared { problem, form, .. }| {
            Candidates::new(*problem, instances::<Pair<T, C>>(problem, form, stream))
        })
    }

    /// Bytes of the stream's scratch memory that a launch takes.
    ///
    /// # Errors
    /// As of [`launch`](Gemm::launch).
    pub fn scratch_bytes(self, stream: &Stream) -> Result<usize> {
        self.prepared(stream, |prepared| {
            let (parts, done, sums) = prepared.scratch(prepared.plan);
            let of_parts = size_of::<T::Sum>() * parts.iter().product::<usize>();
            of_parts + 4 * (done + sums.iter().product::<usize>())
        })
    }

    /// Enqueues the product.
    ///
    /// # Errors
    /// [`Error::Shape`], [`Error::Unsupported`], [`Error::Instance`], and what the device says.
    pub fn launch(self, stream: &Stream) -> Result<()> {
        let request = self.request;
        self.call(Call::new(request, stream, None))
    }

    /// What is asked of a product that is not enqueued.
    fn prepared<R>(self, stream: &Stream, ask: impl FnOnce(&mut Prepared<'_, 'a, T, C>) -> R) -> Result<R> {
        let request = self.request;
        self.prepare(Call::new(request, stream, None), |prepared| Ok(ask(prepared)))
    }

    /// Enqueues the product as a part of another operation, or tells the instance.
    pub(crate) fn call(self, call: Call<'_>) -> Result<()> {
        self.prepare(call, |prepared| {
            if call.tell(|| prepared.plan.to_string()) {
                return Ok(());
            }
            let [batch, _, n] = prepared.operands.c.shape();
            // Images for unaligned operands have tiles of 64 columns.
            let columns = prepared.plan.tile[1].min(64);
            if n.div_ceil(columns) <= MOST && (batch <= MOST || prepared.form != Form::Batched) {
                return match call.selector() {
                    Some(selector) => prepared.asking(call, |asked| asked.launch(call.stream, selector)),
                    None => prepared.enqueue(prepared.plan, call),
                };
            }
            for (products, of) in parts(batch, 1).flat_map(|all| parts(n, columns).map(move |of| (all.clone(), of))) {
                prepared.enqueue_part(products, of, call)?;
            }
            Ok(())
        })
    }

    /// Checks everything, chooses the instance, and passes on what is to be enqueued, by references: a view that is copied waits for the stores of its
    /// parts, which a load of several of them does not get from the core's buffer.
    #[inline]
    fn prepare<R>(mut self, call: Call<'_>, then: impl FnOnce(&mut Prepared<'_, 'a, T, C>) -> Result<R>) -> Result<R> {
        let op = call.op;
        let Operands { a, b, c } = &mut self.operands;
        let device = c.device();
        let ([of_a, m, mut k], [of_b, depth, n], of_c) = (a.shape(), b.shape(), c.shape());
        // A batch has an axis in front.
        let axis = |axis: usize| if self.batched { axis } else { axis - 1 };
        let fix = if self.batched {
            "a is [b, m, k], b is [b, k, n], c is [b, m, n]; a or b may be one matrix for all products"
        } else {
            "a is [m, k], b is [k, n], c is [m, n]"
        };
        [("a", a.shape()), ("b", b.shape()), ("c", c.shape())]
            .into_iter()
            .try_for_each(|(operand, of)| size(op, operand, &of))?;
        extent(op, "b", axis(1), [depth, k], fix)?;
        extent(op, "c", axis(1), [of_c[1], m], fix)?;
        extent(op, "c", axis(2), [of_c[2], n], fix)?;
        let batch = of_c[0];
        for (operand, found) in [("a", of_a), ("b", of_b)] {
            if found != 1 {
                extent(op, operand, 0, [found, batch], fix)?;
            }
        }
        if batch != 1 {
            (*a, *b) = (for_each(*a, batch)?, for_each(*b, batch)?);
        }
        // Without terms nothing of them is read.
        if self.beside.alpha == 0.0 {
            (*a, *b, k) = (a.narrow(2, ..0)?, b.narrow(1, ..0)?, 0);
        }
        let sums = self.column_sums.is_some();
        let mut fused = match self.beside.is_nothing() && !sums {
            true => None,
            false => Some(self.beside.checked(op, of_c, self.batched, sums, device)?),
        };
        if let Some(sums) = &self.column_sums {
            extent(op, "column_sums", 0, [sums.shape()[0], n], "it has an element for each column of c")?;
            if batch != 1 {
                let (expected, fix) = ("of one product", "launch each product by itself");
                let found = format!("sums of columns of {batch} products");
                return Err(Error::Unsupported { op, found, expected, fix });
            }
        }
        let kind = T::kind_of_product(self.precision).ok_or_else(|| {
            let found = format!("{:?} of {}", self.precision, std::any::type_name::<T>());
            Error::Unsupported { op, found, expected: "of f32", fix: "leave out `.precision(..)`" }
        })?;

        // The transpose of a product is that of its operands the other way round.
        if is_transposed(of_c, c.strides()) && !sums {
            let Operands { a, b, c } = self.operands;
            self.operands = Operands { a: b.transpose(), b: a.transpose(), c: c.transpose() };
            fused = fused.map(Fused::transpose);
        }
        let Operands { a, b, c } = &mut self.operands;
        let order = ordered(a, b);
        let [_, m, n] = c.shape();
        let form = if fused.is_none() { Form::Plain } else { Form::Fused };
        let (shape, machine) = ([m.max(1), n.max(1), k.max(1)], call.stream.device().machine());
        let problem = Problem { kind, order, batch: batch.max(1), shape, machine };
        let aligned = is_aligned::<T>(a.address(), a.strides())
            && is_aligned::<T>(b.address(), b.strides())
            && is_aligned::<C>(c.address(), c.strides());
        let wanted = Wanted { op, splits: self.splits, instance: call.instance(), aligned };
        let chosen = choose::<Pair<T, C>>(&problem, form, &wanted, call.stream)?;
        let (form, plan) = (chosen.form, &chosen.plan);
        let Gemm { operands, column_sums, deterministic, splits, .. } = &mut self;
        let (fused, sums, problem) = (fused.as_ref(), column_sums.as_mut(), &problem);
        let (deterministic, splits) = (*deterministic, *splits);
        then(&mut Prepared { operands, fused, sums, problem, form, plan, deterministic, aligned, splits })
    }
}

impl<T, C> fmt::Debug for Gemm<'_, T, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Operands { a, b, c } = &self.operands;
        f.debug_struct("Gemm").field("a", a).field("b", b).field("c", c).finish_non_exhaustive()
    }
}
