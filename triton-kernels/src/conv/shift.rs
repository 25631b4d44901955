//! Shift-convolutions: a product of pixels whose channels were moved, each by its own number of rows and columns.

use super::geometry::{Taps, Window};
use super::kernels::{ShiftedChoice, ShiftedPool, shifted_pool, shifted_tuned};
use super::product::is_large;
use crate::element::{FloatElement, operation};
use crate::error::{extent, size, value};
use crate::gemm::kernels::epilogue::Epilogue;
use crate::gemm::kernels::finish::{FinishKernelInstance, finish};
use crate::grid::parts;
use crate::pool::choose;
use crate::{Activation, Error, Result};
use triton::prelude::*;

/// How far each channel is moved, in the memory of a device.
#[derive(Debug)]
pub struct Shifts {
    /// All rows, and then all columns.
    table: Buffer<i32>,
    shifts: Vec<(i32, i32)>,
}

impl Shifts {
    /// A shift (down, across) for each channel: y\[p, q\] sees x\[p + down, q + across\]. One beyond the image moves all of a channel out of it.
    ///
    /// # Errors
    /// What the device says.
    pub fn new(stream: &Stream, shifts: &[(i32, i32)]) -> Result<Shifts> {
        let (down, across): (Vec<i32>, Vec<i32>) = shifts.iter().copied().unzip();
        let table = stream.upload(&[down, across].concat())?;
        Ok(Shifts { table, shifts: shifts.to_vec() })
    }

    /// The shifts to the elements of a window of `window` rows and columns around a pixel, each for as many neighbouring channels: the first
    /// channels for the first element. Channels of one shift are read by vectors.
    ///
    /// # Errors
    /// [`Error::Value`](crate::Error::Value) for a window of 0, and what the device says.
    pub fn grouped(stream: &Stream, channels: usize, window: usize) -> Result<Shifts> {
        value("Shifts::grouped", "window", window, window > 0, "a number from 1 on", "1 moves nothing")?;
        let elements = window * window;
        let each = channels.div_ceil(elements).max(1);
        let middle = (window / 2) as i32;
        let of = |channel: usize| {
            let element = (channel / each).min(elements - 1);
            ((element / window) as i32 - middle, (element % window) as i32 - middle)
        };
        Shifts::new(stream, &(0..channels).map(of).collect::<Vec<_>>())
    }

    /// The shift of each channel.
    pub fn shifts(&self) -> &[(i32, i32)] {
        &self.shifts
    }

    /// Whether each group of this many channels has one shift.
    fn are_groups_of(&self, step: usize) -> bool {
        self.shifts.chunks(step).all(|group| group.iter().all(|shift| *shift == group[0]))
    }
}

/// Builder of a shift-convolution, returned by [`shift_conv`].
#[must_use = "nothing is computed until `.launch(..)`"]
#[derive(Debug)]
pub struct ShiftConv<'a, T> {
    x: View<'a, T, 4>,
    w: View<'a, T, 2>,
    shifts: &'a Shifts,
    y: ViewMut<'a, T, 4>,
    bias: Option<View<'a, T, 1>>,
    activation: Activation,
}

/// y\[n, p, q, k\] = Σ x\[n, p + down\[c\], q + across\[c\], c\] · w\[k, c\] over c: of \[N, H, W, C\], \[K, C\], a shift for each channel, and \[N, H, W, K\]. What is moved in
/// from outside the image is 0.
///
/// Shifting costs nothing beside the product: it changes where operands are read (Tillet, Kung and Cox, "Triton: an intermediate language and
/// compiler for tiled neural network computations", MAPL 2019, section 6.2). There, a channel is moved within its plane of memory, and reads the
/// neighbouring rows and images at a border.
///
/// A NaN or infinite pixel reaches exactly the outputs that it is moved to. What is moved in is 0: a weight that is not finite reaches all outputs of
/// its filter.
///
/// ```
/// use triton::prelude::*;
/// use triton_kernels::conv::{Shifts, shift_conv};
///
/// # fn main() -> triton_kernels::Result<()> {
/// let stream = Device::best().stream()?;
/// let (x, w) = (stream.tensor(&[1.0f32, 2.0, 3.0], [1, 1, 3, 1])?, stream.tensor(&[10.0f32], [1, 1])?);
/// let mut y = stream.tensor_uninit::<f32, _>([1, 1, 3, 1])?;
/// let shifts = Shifts::new(&stream, &[(0, 1)])?;
/// shift_conv(&x, &w, &shifts, &mut y).launch(&stream)?;
/// assert_eq!(stream.download(&y)?, [20.0, 30.0, 0.0]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// `launch` returns [`Error::Shape`](crate::Error::Shape), [`Error::Unsupported`](crate::Error::Unsupported) for more than 2³⁰ pixels, or an error of the device.
pub fn shift_conv<'a, T: FloatElement>(
    x: impl IntoView<'a, T, 4>,
    w: impl IntoView<'a, T, 2>,
    shifts: &'a Shifts,
    y: impl IntoViewMut<'a, T, 4>,
) -> ShiftConv<'a, T> {
    ShiftConv {
        x: x.into_view(),
        w: w.into_view(),
        shifts,
        y: y.into_view_mut(),
        bias: None,
        activation: Activation::Identity,
    }
}

impl<'a, T: FloatElement> ShiftConv<'a, T> {
    /// Adds a number to each channel of y, before the activation.
    pub fn bias(self, bias: impl IntoView<'a, T, 1>) -> Self {
        Self { bias: Some(bias.into_view()), ..self }
    }

    /// Applies a function to each element, as [`Gemm::activation`](crate::Gemm::activation) does.
    pub fn activation(self, activation: Activation) -> Self {
        Self { activation, ..self }
    }

    /// Enqueues it.
    ///
    /// # Errors
    /// As [`shift_conv`] says.
    pub fn launch(self, stream: &Stream) -> Result<()> {
        T::dispatch::<Shift>(self, stream)
    }
}

operation!(Shift: ShiftConv by shift);

fn shift<T: FloatElement>(of: ShiftConv<'_, T>, stream: &Stream) -> Result<()>
where
    triton::Compiled: ShiftedPool<T, false> + ShiftedPool<T, true> + FinishKernelInstance<T, 16, 128>,
{
    let (op, fix) = ("shift_conv", "x is [N, H, W, C], w is [K, C], y is [N, H, W, K]");
    let (x, y) = (of.x.shape(), of.y.shape());
    (0..3).try_for_each(|axis| extent(op, "y", axis, [y[axis], x[axis]], fix))?;
    extent(op, "w", 1, [of.w.shape()[1], x[3]], fix)?;
    extent(op, "y", 3, [y[3], of.w.shape()[0]], fix)?;
    [("x", x), ("y", y)].into_iter().try_for_each(|(operand, shape)| size(op, operand, &shape))?;
    let pixels = x[0] * x[1] * x[2];
    if pixels > i32::MAX as usize / 2 {
        let (expected, fix) = ("less than 2³⁰ of them", "divide the batch");
        return Err(Error::Unsupported { op, found: format!("{pixels} pixels"), expected, fix });
    }
    extent(op, "shifts", 0, [of.shifts.shifts.len(), x[3]], "there is one for each channel of x")?;
    if let Some(bias) = &of.bias {
        extent(op, "bias", 0, [bias.shape()[0], y[3]], "it has an element for each channel of y")?;
    }
    let epilogue = Epilogue::default().with::<f32>(of.activation);
    if y.contains(&0) {
        return Ok(());
    }
    let step = shifted_pool::<T, true>().members()[0].choice().BK as usize;
    match of.shifts.are_groups_of(step) {
        true => enqueue::<T, true>(of, epilogue, stream),
        false => enqueue::<T, false>(of, epilogue, stream),
    }
}

fn enqueue<T: FloatElement, const GROUPED: bool>(
    of: ShiftConv<'_, T>,
    epilogue: Epilogue,
    stream: &Stream,
) -> Result<()>
where
    triton::Compiled: ShiftedPool<T, GROUPED> + FinishKernelInstance<T, 16, 128>,
{
    let ShiftConv { x, w, shifts, y, bias, .. } = of;
    let [images, down, across, channels] = x.shape();
    let (m, n) = (images * down * across, w.shape()[0]);
    let table = shifts.table.view([2, channels])?;
    let window = Window::new([down, across], [1; 2], [Taps::of_output(1, 0, 1); 2], 1);
    let bias = bias.unwrap_or_else(|| View::none(stream.device()));
    let large = GROUPED && is_large(m, n);
    let is_left_out = epilogue.is_left_out(if large { 128 * 128 } else { 64 * 64 });
    let begun = if is_left_out { epilogue.begun() } else { epilogue };
    let mut y = y;
    for of in parts(n, 64) {
        let bias = if bias.shape() == [0] { bias } else { bias.narrow(0, of.clone())? };
        let (w, y) = (w.narrow(0, of.clone())?, y.reborrow().narrow(3, of.clone())?);
        let tuned = shifted_tuned::<T, GROUPED>(x, w, y, table, bias, window, begun);
        let tuned = choose("shift_conv", tuned, None, stream, |of: &ShiftedChoice| (of.BM == 128) == large)?;
        tuned.launch(stream, |tile| (m.div_ceil(tile.BM as usize), of.len().div_ceil(tile.BN as usize)))?;
    }
    if is_left_out { finish(y, None, None, ViewMut::none(stream.device()), epilogue, stream) } else { Ok(()) }
}
