//! An operation on tensors, said once: wrong extents, captures and what a launch costs are tried of it.

use super::{Case, Outcome, Random, Scalar};
use triton::{Element, Stream, Tensor};
use triton_kernels::Result;

/// An operation with its operands in memory, ready to be launched any number of times.
pub trait Ready {
    /// Enqueues it.
    ///
    /// # Errors
    /// Of the operation.
    fn launch(&mut self, stream: &Stream) -> Result<()>;

    /// Gives everything that it writes the values of the beginning.
    ///
    /// # Errors
    /// Of the device.
    fn reset(&mut self, stream: &Stream) -> Outcome;

    /// The bits of everything that it writes.
    ///
    /// # Errors
    /// Of the device.
    fn results(&mut self, stream: &Stream) -> Outcome<Vec<u64>>;
}

/// What makes the operands of an operation.
pub type Make = dyn Fn(&Stream, &mut Random) -> Outcome<Box<dyn Ready>> + Send + Sync;

/// One way to call an operation.
pub struct Form {
    /// The operation, its element type, and the way.
    pub name: String,
    /// Makes its operands.
    pub make: Box<Make>,
}

/// What is tried of an operation.
pub struct Subject {
    /// Wrong extents of each operand.
    pub refuses: Case,
    /// The operation on two types.
    pub forms: Vec<Form>,
}

/// A tensor of any type and rank, as bits.
pub trait Bits {
    /// Its elements.
    ///
    /// # Errors
    /// Of the device.
    fn get(&self, stream: &Stream) -> Outcome<Vec<u64>>;

    /// Overwrites them.
    ///
    /// # Errors
    /// Of the device.
    fn set(&mut self, stream: &Stream, bits: &[u64]) -> Outcome;
}

impl<T: Element, const R: usize> Bits for Tensor<T, R> {
    fn get(&self, stream: &Stream) -> Outcome<Vec<u64>> {
        Ok(stream.download(self)?.into_iter().map(Element::to_bits).collect())
    }

    fn set(&mut self, stream: &Stream, bits: &[u64]) -> Outcome {
        let values: Vec<T> = bits.iter().map(|bits| T::from_bits(*bits)).collect();
        Ok(stream.copy_from_host(&values, self)?)
    }
}

/// Positive numbers, of which sums are exact in any order.
pub fn filled<T: Scalar, const R: usize>(
    stream: &Stream,
    random: &mut Random,
    shape: [usize; R],
) -> Outcome<Tensor<T, R>> {
    let values: Vec<T> = (0..shape.iter().product()).map(|_| T::of(0.5 + 0.25 * f64::from(random.i32(0..8)))).collect();
    Ok(stream.tensor(&values, shape)?)
}

/// Tensors, what is launched with them, and what visits each.
pub struct OnTensors<A, L, V> {
    pub tensors: Option<A>,
    pub first: Vec<Vec<u64>>,
    pub launch: L,
    pub visit: V,
}

/// What is done to each tensor.
pub type Visitor<'v> = &'v mut dyn FnMut(&mut dyn Bits) -> Outcome;

impl<A, L, V> Ready for OnTensors<A, L, V>
where
    L: Fn(&mut Option<A>, &Stream) -> Result<()>,
    V: Fn(&mut Option<A>, Visitor<'_>) -> Outcome,
{
    fn launch(&mut self, stream: &Stream) -> Result<()> {
        (self.launch)(&mut self.tensors, stream)
    }

    fn reset(&mut self, stream: &Stream) -> Outcome {
        let mut first = self.first.iter();
        (self.visit)(&mut self.tensors, &mut |tensor| first.next().map_or(Ok(()), |bits| tensor.set(stream, bits)))
    }

    fn results(&mut self, stream: &Stream) -> Outcome<Vec<u64>> {
        let mut all = Vec::new();
        (self.visit)(&mut self.tensors, &mut |tensor| {
            all.extend(tensor.get(stream)?);
            Ok(())
        })?;
        Ok(all)
    }
}

/// Names an operation, the call that makes its builder, and the tensors of the call with their extents, of the operation's element type `T` unless
/// another is said:
///
/// ```text
/// subject!("rotary", rotary(&x, &cos, &sin, Pairs::Halves, &mut y); x [3, 5, 8], cos: f32 [3, 4], sin: f32 [3, 4], y [3, 5, 8])
/// ```
macro_rules! subject {
    ($name:literal, $build:expr; $($tensor:ident $(: $of:ident)? [$($extent:expr),*]),* $(,)?) => {{
        use $crate::harness::{Case, Form, OnTensors, Outcome, Scalar, Subject, Visitor, filled, type_name};

        fn form<T: triton_kernels::FloatElement + Scalar>() -> Form {
            let name = format!("{} {}", $name, type_name::<T>());
            let make = |stream: &triton::Stream, random: &mut $crate::harness::Random| -> Outcome<Box<dyn $crate::harness::Ready>> {
                let tensors = ($(filled::<subject!(@type $($of)?), _>(stream, random, [$($extent),*])?,)*);
                let launch = |all: &mut Option<_>, stream: &triton::Stream| {
                    #[allow(unused_mut, reason = "some are read alone")]
                    let Some(($(mut $tensor,)*)) = all.take() else { return Ok(()) };
                    let launched = $build.launch(stream);
                    *all = Some(($($tensor,)*));
                    launched
                };
                let visit = |all: &mut Option<_>, visit: Visitor<'_>| {
                    let Some(($($tensor,)*)) = all else { return Ok(()) };
                    $(visit($tensor)?;)*
                    Ok(())
                };
                let mut ready = OnTensors { tensors: Some(tensors), first: Vec::new(), launch, visit };
                let mut first = Vec::new();
                (ready.visit)(&mut ready.tensors, &mut |tensor| {
                    first.push(tensor.get(stream)?);
                    Ok(())
                })?;
                Ok(Box::new(OnTensors { first, ..ready }))
            };
            Form { name, make: Box::new(make) }
        }

        let refuses = Case::new(concat!($name, " refuses other extents"), |stream, random| {
            #[allow(dead_code, reason = "where every tensor has a type of its own")]
            type T = f32;
            $(
                #[allow(unused_mut, reason = "some are read alone")]
                let mut $tensor = filled::<subject!(@type $($of)?), _>(stream, random, [$($extent),*])?;
            )*
            let extents = $crate::declared::extents($build)?;
            for (operand, shape) in extents.iter().enumerate() {
                for (axis, longer) in (0..shape.len()).flat_map(|axis| [(axis, false), (axis, true)]) {
                    $crate::declared::refused($build, operand, axis, longer)?;
                }
            }
            Ok(())
        });
        Subject { refuses, forms: vec![form::<f32>(), form::<triton::bf16>()] }
    }};
    (@type) => { T };
    (@type $of:ident) => { $of };
}
pub(crate) use subject;
