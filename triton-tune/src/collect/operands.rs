//! The operands of all products of a type, and their launch.

use crate::jit::{Division, Form, Instance};
use fastrand::Rng;
use triton::launch::mode::Safe;
use triton::selection::Code;
use triton::{Buffer, Element, Kernel, Launch, LaunchArg, Result, Stream, bf16, f16};

/// A launch that can be made again.
pub(super) trait AnyLaunch {
    /// Enqueues it.
    fn enqueue(&self, stream: &Stream, programs: [i64; 3]) -> Result<()>;
    /// The code that it would run; nothing on a device without a driver.
    fn code(&self, stream: &Stream, programs: [i64; 3]) -> Result<Option<Code>>;
}

impl<const N: usize> AnyLaunch for Launch<'_, Safe, N> {
    fn enqueue(&self, stream: &Stream, programs: [i64; 3]) -> Result<()> {
        self.enqueue_again(stream, programs)
    }

    fn code(&self, stream: &Stream, programs: [i64; 3]) -> Result<Option<Code>> {
        Launch::code(self, stream, programs)
    }
}

/// An element type of products.
pub(super) trait Number: Element {
    /// The nearest number of the type.
    fn rounded(value: f32) -> Self;
}

impl Number for f32 {
    fn rounded(value: f32) -> f32 {
        value
    }
}

impl Number for f16 {
    fn rounded(value: f32) -> f16 {
        f16::from_f32(value)
    }
}

impl Number for bf16 {
    fn rounded(value: f32) -> bf16 {
        bf16::from_f32(value)
    }
}

/// Buffers that are made once; each launch takes views of them.
pub(super) struct Operands<T> {
    a: Buffer<T>,
    b: Buffer<T>,
    pub c: Buffer<T>,
    parts: Buffer<f32>,
    done: Buffer<i32>,
}

/// Random numbers that are repeated.
const BLOCK: usize = 1 << 20;

/// The elements of the largest operands: of a, b and c.
pub(super) fn largest(extents: impl Iterator<Item = [i64; 3]>) -> [usize; 3] {
    let most = |[a, b, c]: [i64; 3], [m, n, k]: [i64; 3]| [a.max(m * k), b.max(k * n), c.max(m * n)];
    extents.fold([1; 3], most).map(|elements| elements as usize)
}

impl<T: Number> Operands<T> {
    /// Buffers for products of up to this many elements, with random numbers in a and b: what a GPU draws of power depends on the numbers.
    pub fn random(stream: &Stream, [a, b, c]: [usize; 3], seed: u64) -> Result<Operands<T>> {
        let mut rng = Rng::with_seed(seed);
        let block: Vec<T> = (0..BLOCK.min(a.max(b))).map(|_| T::rounded(rng.f32() * 2.0 - 1.0)).collect();
        let numbers = |count: usize| -> Vec<T> { block.iter().copied().cycle().take(count).collect() };
        Operands::new(stream, &numbers(a), &numbers(b), c)
    }

    /// Buffers of these numbers.
    pub fn new(stream: &Stream, a: &[T], b: &[T], c: usize) -> Result<Operands<T>> {
        Ok(Operands {
            a: stream.upload(a)?,
            b: stream.upload(b)?,
            c: stream.zeros(c)?,
            parts: stream.zeros(c)?,
            // A counter for each tile, of which the smallest has 16 rows and columns; and those that a border cuts.
            done: stream.zeros(c / 16 + 1024)?,
        })
    }

    /// Runs what is given the launch of an instance, and the programs along each axis.
    pub fn with<R>(
        &mut self,
        instance: &Instance,
        kernel: &'static Kernel,
        extents: [i64; 3],
        splits: i64,
        run: impl FnOnce(&dyn AnyLaunch, [i64; 3]) -> Result<R>,
    ) -> Result<R> {
        let [m, n, k] = extents.map(|extent| extent as usize);
        let Division { programs, steps } = instance.divided(extents, splits);
        let sides =
            |rows: usize, columns: usize, transposed: bool| if transposed { [columns, rows] } else { [rows, columns] };
        let a = LaunchArg::tensor(self.a.view(sides(m, k, instance.order.ta))?);
        let b = LaunchArg::tensor(self.b.view(sides(k, n, instance.order.tb))?);
        let c = LaunchArg::tensor_mut(self.c.view_mut([m, n])?);
        if instance.form != Form::Split {
            let launch = Launch::<Safe, 3>::of_views(kernel, [a, b, c])?;
            return run(&launch, programs);
        }
        let parts = LaunchArg::tensor_mut(self.parts.view_mut([1, m, n])?);
        let done = LaunchArg::tensor_mut(self.done.view_mut([(programs[0] * programs[1]) as usize])?);
        let (steps, ordered) = (LaunchArg::scalar(steps as i32), LaunchArg::scalar(false));
        let launch = Launch::<Safe, 7>::of_views(kernel, [a, b, c, parts, done, steps, ordered])?;
        run(&launch, programs)
    }
}

/// Whether the rows of all operands begin at multiples of 16 bytes.
pub(super) fn is_aligned(instance: &Instance, [m, n, k]: [i64; 3]) -> bool {
    let rows = [if instance.order.ta { m } else { k }, if instance.order.tb { k } else { n }, n];
    rows.iter().all(|row| row * i64::from(instance.ty.bytes()) % 16 == 0)
}
