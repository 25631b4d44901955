//! The builder of a product: checks, selection, launch.

use super::choose::{Pair, Wanted, choose, instances};
use super::kernels::epilogue::Epilogue;
use super::operands::{Matrices, MatricesMut, for_each, is_aligned, is_transposed, ordered};
use super::pools::{Form, GemmElement, Operands, Precision, Rest};
use super::prepared::Prepared;
use crate::activation::Activation;
use crate::error::{Error, Result, extent, size};
use crate::grid::{MOST, parts};
use crate::operation::{Call, Request};
use crate::select::{Candidates, Kind, Plan, Problem};
use std::fmt;
use triton::{Element, IntoView, IntoViewMut, Selector, Stream, View, ViewMut};

/// What the products of a row or column are multiplied by.
#[derive(Clone, Copy, Debug)]
pub enum Scale<'a> {
    /// All of them by one number: a view of one element.
    Tensor(View<'a, f32, 1>),
    /// Those of each row of a, or column of b, by a number of its own.
    Each(View<'a, f32, 1>),
}

/// Builder of a matrix product, returned by [`gemm`] and [`gemm_batched`].
#[must_use = "nothing is enqueued until `.launch(..)`"]
pub struct Gemm<'a, T, C> {
    request: Request<'a>,
    /// Whether operands have an axis for the products in front.
    batched: bool,
    operands: triton::Result<(View<'a, T, 3>, View<'a, T, 3>, ViewMut<'a, C, 3>)>,
    bias: Option<View<'a, C, 1>>,
    row_bias: Option<View<'a, C, 1>>,
    residual: Option<triton::Result<View<'a, C, 3>>>,
    scale_a: Option<Scale<'a>>,
    scale_b: Option<Scale<'a>>,
    column_sums: Option<ViewMut<'a, f32, 1>>,
    alpha: f64,
    beta: f64,
    activation: Activation,
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
    fn new(
        op: &'static str,
        batched: bool,
        a: impl Matrices<'a, T>,
        b: impl Matrices<'a, T>,
        c: impl MatricesMut<'a, C>,
    ) -> Self {
        let operands = (|| Ok((a.matrices()?, b.matrices()?, c.matrices()?)))();
        Gemm {
            request: Request::new(op),
            batched,
            operands,
            bias: None,
            row_bias: None,
            residual: None,
            scale_a: None,
            scale_b: None,
            column_sums: None,
            alpha: 1.0,
            beta: 0.0,
            activation: Activation::Identity,
            precision: Precision::Ieee,
            splits: None,
            deterministic: false,
        }
    }

    /// Multiplies the product. Default 1; with 0, a and b are not read, nor their scales, as in BLAS.
    pub fn alpha(self, alpha: impl Into<f64>) -> Self {
        Gemm { alpha: alpha.into(), ..self }
    }

    /// Adds β · c. Default: 0, and c is not read.
    pub fn beta(self, beta: impl Into<f64>) -> Self {
        Gemm { beta: beta.into(), ..self }
    }

    /// Adds a number to each column, before the activation.
    pub fn bias(self, bias: impl IntoView<'a, C, 1>) -> Self {
        Gemm { bias: Some(bias.into_view()), ..self }
    }

    /// Adds a number to each row, before the activation.
    pub fn row_bias(self, bias: impl IntoView<'a, C, 1>) -> Self {
        Gemm { row_bias: Some(bias.into_view()), ..self }
    }

    /// Applies a function to each element. In `f32` it is right within 2 · 10⁻⁷ of the larger of 1 and the result.
    ///
    /// [`Softplus`](Activation::Softplus), [`Mish`](Activation::Mish) and [`Elu`](Activation::Elu) take a second launch, before which c is rounded to its
    /// type: their code in every product would take up to twice the registers. So do [`Relu6`](Activation::Relu6), [`HardSigmoid`](Activation::HardSigmoid),
    /// [`HardSwish`](Activation::HardSwish) and [`LeakyRelu`](Activation::LeakyRelu) of tiles with more than 4096 elements.
    pub fn activation(self, activation: Activation) -> Self {
        Gemm { activation, ..self }
    }

    /// Adds an array of c's shape after the activation; one matrix serves every product of a batch.
    pub fn residual(self, residual: impl Matrices<'a, C>) -> Self {
        Gemm { residual: Some(residual.matrices()), ..self }
    }

    /// Multiplies the rows of the product, as if those of a had been.
    pub fn scale_a(self, scale: Scale<'a>) -> Self {
        Gemm { scale_a: Some(scale), ..self }
    }

    /// Multiplies the columns of the product, as if those of b had been.
    pub fn scale_b(self, scale: Scale<'a>) -> Self {
        Gemm { scale_b: Some(scale), ..self }
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
        let mut prepared = self.prepare(call)?;
        match call.selector() {
            Some(selector) => prepared.asking(call, |asked| Ok(asked.selected(stream, selector)?.to_string())),
            None => Ok(prepared.plan.to_string()),
        }
    }

    /// The names of the instances that [`instance`](Gemm::instance) can choose among for these operands.
    ///
    /// # Errors
    /// As of [`launch`](Gemm::launch).
    pub fn instances(self, stream: &Stream) -> Result<Vec<String>> {
        let prepared = self.prepared(stream)?;
        let problem = prepared.problem;
        let all = instances::<Pair<T, C>>(&problem, prepared.form, stream).into_iter();
        Ok(all.map(|of| Plan::new(&problem, of.kernel, of.tile, "").instance()).collect())
    }

    /// Why [`selected`](Gemm::selected) is chosen without a selector: `measured`, `by the model`, `asked for`, or the reason of the one of the
    /// [`rows`](crate::select::rows) that is for the product; and how many waves of programs it is, and how full they are.
    ///
    /// # Errors
    /// As of [`launch`](Gemm::launch).
    pub fn reason(self, stream: &Stream) -> Result<String> {
        let prepared = self.prepared(stream)?;
        Ok(prepared.plan.explain(&prepared.problem))
    }

    /// What is chosen among by measuring or by a model: the instances, each in several numbers of splits.
    ///
    /// # Errors
    /// As of [`launch`](Gemm::launch).
    pub fn candidates(self, stream: &Stream) -> Result<Candidates> {
        let Prepared { problem, form, .. } = self.prepared(stream)?;
        Ok(Candidates::new(problem, instances::<Pair<T, C>>(&problem, form, stream)))
    }

    /// Bytes of the stream's scratch memory that a launch takes.
    ///
    /// # Errors
    /// As of [`launch`](Gemm::launch).
    pub fn scratch_bytes(self, stream: &Stream) -> Result<usize> {
        let (parts, done, sums) = self.prepared(stream)?.scratch();
        let of_parts = size_of::<T::Sum>() * parts.iter().product::<usize>();
        Ok(of_parts + 4 * (done + sums.iter().product::<usize>()))
    }

    /// Enqueues the product.
    ///
    /// # Errors
    /// [`Error::Shape`], [`Error::Unsupported`], [`Error::Instance`], and what the device says.
    pub fn launch(self, stream: &Stream) -> Result<()> {
        let request = self.request;
        self.call(Call::new(request, stream, None))
    }

    fn prepared(self, stream: &Stream) -> Result<Prepared<'a, T, C>> {
        let request = self.request;
        self.prepare(Call::new(request, stream, None))
    }

    /// Enqueues the product as a part of another operation, or tells the instance.
    pub(crate) fn call(self, call: Call<'_>) -> Result<()> {
        let mut prepared = self.prepare(call)?;
        if call.tell(|| prepared.plan.to_string()) {
            return Ok(());
        }
        let [batch, _, n] = prepared.operands.c.shape();
        // Images for unaligned operands have tiles of 64 columns.
        let columns = prepared.plan.tile[1].min(64);
        if n.div_ceil(columns) <= MOST && (batch <= MOST || prepared.form != Form::Batched) {
            return match call.selector() {
                Some(selector) => prepared.asking(call, |asked| asked.launch(call.stream, selector)),
                None => prepared.enqueue(call),
            };
        }
        for (products, of) in parts(batch, 1).flat_map(|all| parts(n, columns).map(move |of| (all.clone(), of))) {
            prepared.part(products, of)?.enqueue(call)?;
        }
        Ok(())
    }

    /// Checks everything, and chooses the instance.
    fn prepare(self, call: Call<'_>) -> Result<Prepared<'a, T, C>> {
        let op = call.op;
        // Views are changed where they are: a copy of all of them at each step is a third of what a launch costs the host.
        let (mut a, mut b, mut c) = self.operands?;
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
            (a, b) = (for_each(a, batch)?, for_each(b, batch)?);
        }
        // Without terms nothing of them is read.
        let reads = self.alpha != 0.0;
        if !reads {
            (a, b, k) = (a.narrow(2, ..0)?, b.narrow(1, ..0)?, 0);
        }
        let none = || View::none(device);
        let length = |operand, view: Option<View<'a, C, 1>>, expected, fix| match view {
            Some(view) => extent(op, operand, 0, [view.shape()[0], expected], fix).map(|()| view),
            None => Ok(none()),
        };
        let mut bias = length("bias", self.bias, n, "it has an element for each column of c")?;
        let mut row_bias = length("row_bias", self.row_bias, m, "it has an element for each row of c")?;
        let mut residual = match self.residual {
            None => View::none(device),
            Some(residual) => {
                let residual = for_each(residual?, batch)?;
                let found = residual.shape();
                (0..3)
                    .filter(|i| *i > 0 || self.batched)
                    .try_for_each(|i| extent(op, "residual", axis(i), [found[i], of_c[i]], "it has the shape of c"))?;
                residual
            }
        };
        let scale = |operand, scale: Option<Scale<'a>>, count| -> Result<View<'a, f32, 1>> {
            match scale {
                None => Ok(View::none(device)),
                Some(Scale::Tensor(view)) => {
                    extent(op, operand, 0, [view.shape()[0], 1], "one number is for all products")?;
                    Ok(view.broadcast(0, count)?)
                }
                Some(Scale::Each(view)) => {
                    extent(
                        op,
                        operand,
                        0,
                        [view.shape()[0], count],
                        "it has an element for each row of a or column of b",
                    )?;
                    Ok(view)
                }
            }
        };
        let mut row_scales = scale("scale_a", self.scale_a, m)?;
        let mut column_scales = scale("scale_b", self.scale_b, n)?;
        if !reads {
            (row_scales, column_scales) = (View::none(device), View::none(device));
        }
        if let Some(sums) = &self.column_sums {
            extent(op, "column_sums", 0, [sums.shape()[0], n], "it has an element for each column of c")?;
            if batch != 1 {
                let (expected, fix) = ("of one product", "launch each product by itself");
                let found = format!("sums of columns of {batch} products");
                return Err(Error::Unsupported { op, found, expected, fix });
            }
        }
        let (options, kind) = numbers::<T, C>(op, (self.alpha, self.beta, self.activation), self.precision)?;
        let options = Epilogue { sums: self.column_sums.is_some(), ..options };

        // The transpose of a product is that of its operands the other way round.
        let swap = is_transposed(of_c, c.strides()) && !options.sums;
        if swap {
            (a, b, c, residual) = (b.transpose(), a.transpose(), c.transpose(), residual.transpose());
            std::mem::swap(&mut bias, &mut row_bias);
            std::mem::swap(&mut row_scales, &mut column_scales);
        }
        let order = ordered(&mut a, &mut b);
        let [_, m, n] = c.shape();
        let absent = [bias.shape(), row_bias.shape()].iter().all(|shape| shape[0] == 0)
            && [row_scales.shape(), column_scales.shape()].iter().all(|shape| shape[0] == 0)
            && residual.shape().contains(&0);
        let form = match absent && options == Epilogue::default() {
            true => Form::Plain,
            false => Form::Fused,
        };
        let (shape, machine) = ([m.max(1), n.max(1), k.max(1)], call.stream.device().machine());
        let problem = Problem { kind, order, batch: batch.max(1), shape, machine };
        let aligned = is_aligned::<T>(a.address(), a.strides())
            && is_aligned::<T>(b.address(), b.strides())
            && is_aligned::<C>(c.address(), c.strides());
        let wanted = Wanted { op, splits: self.splits, instance: call.instance(), aligned };
        let (form, plan) = choose::<Pair<T, C>>(&problem, form, &wanted, call.stream)?;
        let rest = Rest { bias, row_bias, row_scales, column_scales, options };
        let operands = Operands { a, b, c, residual, rest };
        let Gemm { column_sums: sums, deterministic, splits, .. } = self;
        Ok(Prepared { operands, sums, problem, form, plan, deterministic, aligned, splits })
    }
}

/// The epilogue of numbers, and what is multiplied.
fn numbers<T: GemmElement<C>, C: Element>(
    op: &'static str,
    (alpha, beta, activation): (f64, f64, Activation),
    precision: Precision,
) -> Result<(Epilogue, Kind)> {
    let kind = T::kind_of_product(precision).ok_or_else(|| {
        let found = format!("{precision:?} of {}", std::any::type_name::<T>());
        Error::Unsupported { op, found, expected: "of f32", fix: "leave out `.precision(..)`" }
    })?;
    Ok((Epilogue { alpha, beta, ..Epilogue::default() }.with::<C>(activation), kind))
}

impl<T, C> fmt::Debug for Gemm<'_, T, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = f.debug_struct("Gemm");
        match &self.operands {
            Ok((a, b, c)) => fields.field("a", a).field("b", b).field("c", c),
            Err(error) => fields.field("error", error),
        };
        fields.finish_non_exhaustive()
    }
}
