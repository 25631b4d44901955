//! Operands of cases: an array of numbers in memory of any strides, among poison.

use super::{Failure, Outcome, Random};
use triton::{Buffer, Element, Stream, View, ViewMut, bf16, f16};

/// An element type of operands.
pub trait Scalar: Element {
    /// What no operation makes of numbers: outputs and gaps hold it.
    const POISON: Self;

    /// The nearest number.
    fn of(value: f64) -> Self;

    /// The same number; the poison is not one.
    fn value(self) -> f64;

    /// Half of the distance between 1 and the next number.
    fn rounding() -> f64;

    /// The least magnitude above 0, the least one of full precision, and the greatest finite one.
    fn range() -> [f64; 3];
}

macro_rules! scalars {
    ($($t:ident: $poison:expr, $rounding:expr, $range:expr, |$v:ident| $of:expr, $value:expr;)*) => {$(
        impl Scalar for $t {
            const POISON: $t = $poison;

            fn of($v: f64) -> $t {
                $of
            }

            fn value(self) -> f64 {
                let $v = self;
                $value
            }

            fn rounding() -> f64 {
                $rounding
            }

            fn range() -> [f64; 3] {
                $range
            }
        }
    )*};
}

/// A number in `f32`, rounded to odd if it is inexact: a narrower type that rounds this again has the nearest number of the first one (Boldo and
/// Melquiond, "Emulation of FMA and correctly rounded sums", 2008, section 3). `half` converts an `f64` by its upper half, so that a
/// number a little above a tie is taken for one.
fn odd(v: f64) -> f32 {
    let nearest = v as f32;
    if f64::from(nearest) == v || !nearest.is_finite() {
        return nearest;
    }
    let past = f64::from(nearest).abs() > v.abs();
    f32::from_bits((nearest.to_bits() - u32::from(past)) | 1)
}

fn powers(least: i32, normal: i32, most: f64) -> [f64; 3] {
    [2f64.powi(least), 2f64.powi(normal), most]
}

scalars! {
    f32: f32::NAN, 2f64.powi(-24), powers(-149, -126, f64::from(f32::MAX)), |v| v as f32, f64::from(v);
    f16: f16::NAN, 2f64.powi(-11), powers(-24, -14, f16::MAX.to_f64()), |v| f16::from_f32(odd(v)), v.to_f64();
    bf16: bf16::NAN, 2f64.powi(-8), powers(-133, -126, bf16::MAX.to_f64()), |v| bf16::from_f32(odd(v)), v.to_f64();
    f64: f64::NAN, 2f64.powi(-53), powers(-1074, -1022, f64::MAX), |v| v, v;
    i8: i8::MIN, 0.0, [1.0, 1.0, 127.0], |v| v as i8, f64::from(v);
    i32: i32::MIN, 0.0, [1.0, 1.0, f64::from(i32::MAX)], |v| v as i32, if v == i32::MIN { f64::NAN } else { f64::from(v) };
}

/// How the elements of an operand lie in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The last axis contiguous, from an aligned address on.
    Rows,
    /// The second last axis contiguous; a vector as by [`Rows`](Order::Rows).
    Columns,
    /// As by [`Rows`](Order::Rows), from the second element of the buffer on, rows three elements longer than the extent.
    Odd,
    /// Every second element.
    Apart,
    /// The last axis outside all but the first, as channels of an image that is stored plane by plane.
    Planes,
}

impl Order {
    /// All that matrices have.
    pub const ALL: [Order; 4] = [Order::Rows, Order::Columns, Order::Odd, Order::Apart];

    /// One at random.
    pub fn any(random: &mut Random) -> Order {
        Order::ALL[random.usize(..Order::ALL.len())]
    }
}

/// An array of `R` dimensions, and where its elements are in a buffer.
#[derive(Clone, Debug)]
pub struct Operand<T, const R: usize> {
    shape: [usize; R],
    strides: [isize; R],
    offset: usize,
    /// Of the buffer.
    len: usize,
    /// In the order of the axes.
    values: Vec<T>,
}

impl<T: Scalar, const R: usize> Operand<T, R> {
    /// Elements made one by one, the last axis first.
    pub fn new(shape: [usize; R], order: Order, mut make: impl FnMut() -> f64) -> Operand<T, R> {
        let count = shape.iter().product();
        let (step, pad, offset) = match order {
            Order::Rows | Order::Columns | Order::Planes => (1, 0, 0),
            Order::Odd => (1, 3, 1),
            Order::Apart => (2, 0, 0),
        };
        let mut axes: Vec<usize> = (0..R).rev().collect();
        if order == Order::Columns && R > 1 {
            axes.swap(0, 1);
        }
        if order == Order::Planes && R > 2 {
            axes[..R - 1].rotate_left(1);
        }
        let (mut strides, mut next) = ([1; R], step);
        for (i, axis) in axes.into_iter().enumerate() {
            strides[axis] = next as isize;
            next *= shape[axis].max(1);
            next += if i == 0 { pad } else { 0 };
        }
        // Beyond the last element there is poison too.
        Operand { shape, strides, offset, len: offset + next + 16, values: (0..count).map(|_| T::of(make())).collect() }
    }

    /// Whole numbers from −`most` to `most`, of which sums and products are exact while they are small.
    pub fn whole(shape: [usize; R], order: Order, random: &mut Random, most: i32) -> Operand<T, R> {
        Operand::new(shape, order, || f64::from(random.i32(-most..=most)))
    }

    /// Numbers of mean 0 and variance 1.
    pub fn normal(shape: [usize; R], order: Order, random: &mut Random) -> Operand<T, R> {
        Operand::new(shape, order, || normal(random))
    }

    /// Poison, which an operation is to overwrite.
    pub fn output(shape: [usize; R], order: Order) -> Operand<T, R> {
        let mut operand = Operand::new(shape, order, || 0.0);
        operand.values.fill(T::POISON);
        operand
    }

    /// The extents.
    pub fn shape(&self) -> [usize; R] {
        self.shape
    }

    /// The elements in the order of the axes.
    pub fn values(&self) -> Vec<f64> {
        self.values.iter().map(|v| v.value()).collect()
    }

    /// The places of the elements in the buffer, in the order of the axes.
    fn places(&self) -> impl Iterator<Item = usize> {
        (0..self.values.len()).map(|mut i| {
            let mut place = self.offset;
            for axis in (0..R).rev() {
                place += i % self.shape[axis] * self.strides[axis] as usize;
                i /= self.shape[axis];
            }
            place
        })
    }

    /// The buffer, with poison around the elements.
    ///
    /// # Errors
    /// Of the device.
    pub fn upload(&self, stream: &Stream) -> triton::Result<Buffer<T>> {
        let mut memory = vec![T::POISON; self.len];
        self.places().zip(&self.values).for_each(|(place, value)| memory[place] = *value);
        stream.upload(&memory)
    }

    /// The view of a buffer of [`upload`](Operand::upload).
    ///
    /// # Errors
    /// If the buffer is of another operand.
    pub fn view<'a>(&self, buffer: &'a Buffer<T>) -> triton::Result<View<'a, T, R>> {
        buffer.view(self.shape)?.with_strides(self.strides)?.with_offset(self.offset)
    }

    /// The same to be written.
    ///
    /// # Errors
    /// If the buffer is of another operand.
    pub fn view_mut<'a>(&self, buffer: &'a mut Buffer<T>) -> triton::Result<ViewMut<'a, T, R>> {
        buffer.view_mut(self.shape)?.with_strides(self.strides)?.with_offset(self.offset)
    }

    /// The elements of the buffer after an operation.
    ///
    /// # Errors
    /// Of the device, and if something was written beside the elements.
    pub fn download(&self, stream: &Stream, buffer: &Buffer<T>) -> Outcome<Vec<f64>> {
        let mut memory = stream.download(buffer)?;
        let mut found = Vec::with_capacity(self.values.len());
        for place in self.places() {
            found.push(memory[place].value());
            memory[place] = T::POISON;
        }
        match memory.iter().position(|v| v.to_bits() != T::POISON.to_bits()) {
            None => Ok(found),
            Some(place) => Err(Failure(format!("element {place} of the buffer, beside the output, was overwritten"))),
        }
    }
}

/// A number of mean 0 and variance 1, by Box and Muller.
pub fn normal(random: &mut Random) -> f64 {
    let radius = (-2.0 * (1.0 - random.f64()).ln()).sqrt();
    radius * (2.0 * std::f64::consts::PI * random.f64()).cos()
}
