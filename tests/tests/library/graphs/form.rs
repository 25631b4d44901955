//! An operation with its operands in memory, ready to be launched any number of times.

pub use crate::harness::Form;
use crate::harness::{Outcome, Random, Ready, Scalar, type_name};
use triton::{Buffer, Element, Stream};
use triton_kernels::conv::Shifts;
use triton_kernels::sparse::{BlockLayout, BlockMask, BlockSparse};
use triton_kernels::{FloatElement, Result};

/// Buffers of an operation on elements of type `T`.
pub struct Desk<T: Element> {
    /// Whole numbers that are read.
    pub x: Vec<Buffer<T>>,
    /// Positive numbers that are read.
    pub f: Vec<Buffer<f32>>,
    /// Numbers of rows, ends of groups.
    pub i: Vec<Buffer<i32>>,
    /// Numbers from 3.25 to 7.25 that are overwritten, or changed.
    pub y: Vec<Buffer<T>>,
    /// Positive numbers that are.
    pub z: Vec<Buffer<f32>>,
    /// The layout of the block-sparse matrices.
    pub layout: Option<BlockLayout>,
    /// One block-sparse matrix each, which may be changed.
    pub s: Vec<BlockSparse<T>>,
    /// Of a shift-convolution.
    pub shifts: Option<Shifts>,
}

/// Which buffers there are: how many elements each of them has.
#[derive(Clone, Debug, Default)]
pub struct Sizes {
    pub x: Vec<usize>,
    pub f: Vec<usize>,
    pub i: Vec<Vec<i32>>,
    pub y: Vec<usize>,
    pub z: Vec<usize>,
    /// Blocks of 16 by 16 elements.
    pub mask: Option<BlockMask>,
    pub s: usize,
    pub shifts: Vec<(i32, i32)>,
}

/// Whole numbers from −2 to 2: their sums are exact in any order.
fn whole<T: Scalar>(random: &mut Random, count: usize) -> Vec<T> {
    (0..count).map(|_| T::of(f64::from(random.i32(-2..=2)))).collect()
}

fn positive(random: &mut Random, count: usize) -> Vec<f32> {
    (0..count).map(|_| 0.5 + 0.25 * random.i32(0..4) as f32).collect()
}

/// The first values of what is written.
struct First<T> {
    y: Vec<Vec<T>>,
    z: Vec<Vec<f32>>,
    s: Vec<Vec<T>>,
}

struct Operation<T: Element, F> {
    desk: Desk<T>,
    first: First<T>,
    launch: F,
}

impl<T: FloatElement + Scalar, F: Fn(&mut Desk<T>, &Stream) -> Result<()>> Ready for Operation<T, F> {
    fn launch(&mut self, stream: &Stream) -> Result<()> {
        (self.launch)(&mut self.desk, stream)
    }

    fn reset(&mut self, stream: &Stream) -> Outcome {
        let (First { y, z, s }, desk) = (&self.first, &mut self.desk);
        y.iter().zip(&mut desk.y).try_for_each(|(first, y)| stream.copy_from_host(first, y))?;
        z.iter().zip(&mut desk.z).try_for_each(|(first, z)| stream.copy_from_host(first, z))?;
        for (first, s) in s.iter().zip(&mut desk.s) {
            stream.copy_from_host(first, &mut s.values_mut()?)?;
        }
        Ok(())
    }

    fn results(&mut self, stream: &Stream) -> Outcome<Vec<u64>> {
        let mut bits = Vec::new();
        for y in self.desk.y.iter().chain(self.desk.s.iter().map(BlockSparse::values)) {
            bits.extend(stream.download(y)?.into_iter().map(Element::to_bits));
        }
        for z in &self.desk.z {
            bits.extend(stream.download(z)?.into_iter().map(Element::to_bits));
        }
        Ok(bits)
    }
}

/// A way to call an operation on elements of type `T`.
pub fn form<T: FloatElement + Scalar>(
    name: impl Into<String>,
    sizes: Sizes,
    launch: impl Fn(&mut Desk<T>, &Stream) -> Result<()> + Clone + Send + Sync + 'static,
) -> Form {
    let make = move |stream: &Stream, random: &mut Random| -> Outcome<Box<dyn Ready>> {
        let mut lists = |counts: &[usize]| counts.iter().map(|count| whole::<T>(random, *count)).collect::<Vec<_>>();
        let (x, mut y) = (lists(&sizes.x), lists(&sizes.y));
        // Neither they nor their halves are sums of whole numbers, so that each launch changes them.
        y.iter_mut().flatten().for_each(|y| *y = T::of(y.value() + 5.25));
        let mut lists = |counts: &[usize]| counts.iter().map(|count| positive(random, *count)).collect::<Vec<_>>();
        let (f, z) = (lists(&sizes.f), lists(&sizes.z));
        let layout = sizes.mask.as_ref().map(|mask| BlockLayout::new(stream, 16, mask)).transpose()?;
        let zeros = |layout: &BlockLayout| BlockSparse::<T>::zeros(stream, 1, layout);
        let mut s = (0..sizes.s).flat_map(|_| layout.as_ref().map(zeros)).collect::<Result<Vec<_>>>()?;
        let of_s: Vec<Vec<T>> = s.iter().map(|s| whole::<T>(random, s.values().len())).collect();
        for (first, s) in of_s.iter().zip(&mut s) {
            stream.copy_from_host(first, &mut s.values_mut()?)?;
        }
        let upload =
            |lists: &[Vec<T>]| lists.iter().map(|list| stream.upload(list)).collect::<triton::Result<Vec<_>>>();
        let floats =
            |lists: &[Vec<f32>]| lists.iter().map(|list| stream.upload(list)).collect::<triton::Result<Vec<_>>>();
        let desk = Desk {
            x: upload(&x)?,
            f: floats(&f)?,
            i: sizes.i.iter().map(|list| stream.upload(list)).collect::<triton::Result<Vec<_>>>()?,
            y: upload(&y)?,
            z: floats(&z)?,
            layout,
            s,
            shifts: if sizes.shifts.is_empty() { None } else { Some(Shifts::new(stream, &sizes.shifts)?) },
        };
        Ok(Box::new(Operation { desk, first: First { y, z, s: of_s }, launch: launch.clone() }))
    };
    Form { name: format!("{} {}", name.into(), type_name::<T>()), make: Box::new(make) }
}

/// The first of some buffers, each to be written.
pub fn first<const N: usize, B>(all: &mut [B]) -> [&mut B; N] {
    all.get_disjoint_mut(std::array::from_fn(|i| i)).expect("the sizes say that there are as many")
}
