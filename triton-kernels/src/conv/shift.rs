//! Shift-convolutions: a product of pixels whose channels were moved, each by its own number of rows and columns.

use super::geometry::{Taps, Window};
use super::kernels::{ShiftedChoice, ShiftedPool, shifted_pool, shifted_tuned};
use super::product::is_large;
use crate::activation::Activation;
use crate::element::FloatElement;
use crate::error::{Result, value};
use crate::grid::parts;
use crate::linear::kernels::epilogue::Epilogue;
use crate::linear::kernels::finish::{FinishKernelInstance, finish};
use crate::operation::{Call, Extents, Shaped, operation};
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

/// y\[n, p, q, k\] = Σ x\[n, p + down\[c\], q + across\[c\], c\] · w\[k, c\] over c: each channel has a shift. What is moved in from outside the
/// image is 0.
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
/// Its gradient: a shift-convolution by the opposite shifts.
#[operation(ShiftConv, tuned)]
pub fn shift_conv<T: FloatElement>(
    call: Call,
    #[axes(n, h, w, c)] x: View<T, 4>,
    #[axes(k, c)] w: View<T, 2>,
    #[axes(c)] shifts: &'a Shifts,
    #[axes(n, h, w, k)] y: ViewMut<T, 4>,
    /// Adds a number to each channel of y, before the activation.
    #[axes(k)]
    bias: Option<View<T, 1>>,
    /// Applies a function to each element, as [`Gemm::activation`](crate::linear::Gemm::activation) does.
    #[default(Activation::Identity)]
    activation: Activation,
) -> Result<()> {
    let [images, down, across, _] = x.shape();
    let pixels = images * down * across;
    call.value("pixels of x", pixels, pixels <= i32::MAX as usize / 2, "less than 2³⁰ of them", "divide the batch")?;
    if y.shape().contains(&0) {
        return Ok(());
    }
    let (epilogue, bias) = (Epilogue::default().with::<f32>(activation), call.view(bias));
    let step = shifted_pool::<T, true>().members()[0].choice().BK as usize;
    match shifts.are_groups_of(step) {
        true => enqueue::<T, true>(call, x, w, shifts, y, bias, epilogue),
        false => enqueue::<T, false>(call, x, w, shifts, y, bias, epilogue),
    }
}

fn enqueue<T: FloatElement, const GROUPED: bool>(
    call: Call<'_>,
    x: View<'_, T, 4>,
    w: View<'_, T, 2>,
    shifts: &Shifts,
    mut y: ViewMut<'_, T, 4>,
    bias: View<'_, T, 1>,
    epilogue: Epilogue,
) -> Result<()>
where
    triton::Compiled: ShiftedPool<T, GROUPED> + FinishKernelInstance<T, 16, 128>,
{
    let [images, down, across, channels] = x.shape();
    let (m, n) = (images * down * across, w.shape()[0]);
    let table = shifts.table.view([2, channels])?;
    let window = Window::new([down, across], [1; 2], [Taps::of_output(1, 0, 1); 2], 1);
    let large =
        GROUPED && is_large(m, n, call.multiprocessors()) && call.runs(shifted_pool::<T, GROUPED>(), |of| of.BM == 128);
    let is_left_out = epilogue.is_left_out(if large { 128 * 128 } else { 64 * 64 });
    let begun = if is_left_out { epilogue.begun() } else { epilogue };
    for of in parts(n, 64) {
        let bias = if bias.shape() == [0] { bias } else { bias.narrow(0, of.clone())? };
        let (w, y) = (w.narrow(0, of.clone())?, y.reborrow().narrow(3, of.clone())?);
        let kernel = shifted_tuned::<T, GROUPED>(x, w, y, table, bias, window, begun);
        let grid = |tile: &ShiftedChoice| (m.div_ceil(tile.BM as usize), of.len().div_ceil(tile.BN as usize));
        call.tuned(kernel, |of| (of.BM == 128) == large, grid)?;
    }
    if is_left_out { finish(y, None, None, None, epilogue, call) } else { Ok(()) }
}

impl Shaped for &Shifts {
    fn extents(&self) -> Extents {
        Extents::new(&[self.shifts.len()])
    }
}
