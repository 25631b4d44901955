//! Our kernels, and which of their instances is shipped.

use crate::Outcome;
use crate::case::{DType, Op};
use rand::Rng;
use rand::rngs::SmallRng;
use rand_distr::{Distribution, StandardNormal};
use triton::prelude::*;
use triton::{AsPtrArg, AsPtrMutArg};

/// out = x, elementwise.
#[triton::kernel(T = [f32, f16, bf16], configs = [
    (BLOCK = 1024, num_warps = 4), (BLOCK = 1024, num_warps = 8),
    (BLOCK = 256, num_warps = 4), (BLOCK = 256, num_warps = 8),
    (BLOCK = 512, num_warps = 4), (BLOCK = 512, num_warps = 8),
    (BLOCK = 2048, num_warps = 4), (BLOCK = 2048, num_warps = 8),
], tune = [BLOCK])]
pub fn copy<T: Num, const BLOCK: i32>(x: Ptr<T>, out: PtrMut<T>, n: i32) {
    let i = program_id(0) * BLOCK + arange(0, BLOCK);
    let mask = i < n;
    store(out + i, load(x + i, mask), mask);
}

/// out = x + y, elementwise.
#[triton::kernel(T = [f32, f16, bf16], configs = [
    (BLOCK = 1024, num_warps = 4), (BLOCK = 1024, num_warps = 8),
    (BLOCK = 256, num_warps = 4), (BLOCK = 256, num_warps = 8),
    (BLOCK = 512, num_warps = 4), (BLOCK = 512, num_warps = 8),
    (BLOCK = 2048, num_warps = 4), (BLOCK = 2048, num_warps = 8),
], tune = [BLOCK])]
pub fn add<T: Num, const BLOCK: i32>(x: Ptr<T>, y: Ptr<T>, out: PtrMut<T>, n: i32) {
    let i = program_id(0) * BLOCK + arange(0, BLOCK);
    let mask = i < n;
    store(out + i, load(x + i, mask) + load(y + i, mask), mask);
}

/// out = value: poisons outputs, and empties the L2 cache.
#[triton::kernel(T = [f32, f16, bf16, f64, i32], BLOCK = [1024])]
pub fn fill<T: Num, const BLOCK: i32>(out: PtrMut<T>, value: T, n: i32) {
    let i = program_id(0) * BLOCK + arange(0, BLOCK);
    store(out + i, value, i < n);
}

/// A member of the pools of [`copy`] and [`add`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    block: i32,
    num_warps: u32,
}

impl std::fmt::Display for Choice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "BLOCK={} num_warps={}", self.block, self.num_warps)
    }
}

/// Every member.
pub fn choices() -> impl Iterator<Item = Choice> {
    let members = copy_pool::<f32>().members().iter();
    members.map(|member| Choice { block: member.choice().BLOCK, num_warps: member.choice().num_warps })
}

/// The instance that is compared with the peers. Chosen by `tune` in a run of its own, never in the run that compares: 16
/// bytes for each thread and operand.
pub fn shipped(dtype: DType) -> Choice {
    let block = match dtype {
        DType::F32 => 512,
        // Of `f64` and `i8` nothing is elementwise.
        DType::F16 | DType::Bf16 | DType::F64 | DType::I8 => 1024,
    };
    Choice { block, num_warps: 4 }
}

/// An element type of operands or results.
pub trait Number: Element {
    /// The same value. NaN of what outputs are poisoned with: of an `i32` the least, which is not a result.
    fn to_f64(self) -> f64;
}

/// The distribution of [`Value::random`] in words; the peers' is the same.
pub const INPUTS: &str = "standard normal, of i8 uniform over its range";

/// An element type of the cases.
pub trait Value: Number {
    /// That of results.
    type Out: Number;

    /// An input: normally distributed, and of integers any.
    fn random(rng: &mut SmallRng) -> Self;

    /// Enqueues an elementwise operation on the first `n` elements: `Add`, or a copy, which ignores `y`.
    ///
    /// # Errors
    /// Those of a launch, and for a type without elementwise kernels.
    ///
    /// # Safety
    /// The operands have at least `n` elements.
    #[allow(unsafe_code, reason = "the caller must vouch for the lengths")]
    unsafe fn launch(
        op: Op,
        _choice: Choice,
        _stream: &Stream,
        _x: &impl AsPtrArg<Self>,
        _y: &impl AsPtrArg<Self>,
        _out: &mut impl AsPtrMutArg<Self::Out>,
        _n: i32,
    ) -> Outcome {
        Err(format!("there is no elementwise kernel for {op:?} of {}", std::any::type_name::<Self>()).into())
    }

    /// Enqueues filling `n` elements with what is NaN as `f64`.
    ///
    /// # Errors
    /// Those of a launch.
    ///
    /// # Safety
    /// The operand has at least `n` elements.
    #[allow(unsafe_code, reason = "the caller must vouch for the length")]
    unsafe fn poison(stream: &Stream, out: &mut impl AsPtrMutArg<Self::Out>, n: i32) -> triton::Result<()>;
}

/// What a case computes with: see [`crate::case::Case::lengths`].
pub struct Operands<'a, T: Value> {
    pub x: &'a Buffer<T>,
    pub y: &'a Buffer<T>,
    pub out: &'a mut Buffer<T::Out>,
}

/// Enqueues [`add`], or [`copy`], which ignores `y`.
///
/// # Safety
/// The operands have at least `n` elements.
#[allow(unsafe_code, reason = "the caller must vouch for the lengths")]
unsafe fn elementwise<T: Num>(
    op: Op,
    choice: Choice,
    stream: &Stream,
    (x, y, out): (&impl AsPtrArg<T>, &impl AsPtrArg<T>, &mut impl AsPtrMutArg<T>),
    n: i32,
) -> Outcome
where
    triton::Compiled: CopyPool<T> + AddPool<T>,
{
    let is = |block: i32, num_warps: u32| (block, num_warps) == (choice.block, choice.num_warps);
    // SAFETY: the mask keeps accesses below `n`, which the caller guarantees.
    unsafe {
        if op == Op::Add {
            let add = add_tuned::<T>(x, y, out, n).find(|of| is(of.BLOCK, of.num_warps));
            add.launch(stream, |of| programs(n, of.BLOCK as usize))?;
        } else {
            let copy = copy_tuned::<T>(x, out, n).find(|of| is(of.BLOCK, of.num_warps));
            copy.launch(stream, |of| programs(n, of.BLOCK as usize))?;
        }
    }
    Ok(())
}

macro_rules! number {
    ($($ty:ident, |$v:ident| $read:expr;)*) => {$(
        impl Number for $ty {
            fn to_f64(self) -> f64 {
                let $v = self;
                $read
            }
        }
    )*};
}

number! {
    f32, |v| f64::from(v);
    f16, |v| v.to_f64();
    bf16, |v| v.to_f64();
    f64, |v| v;
    i8, |v| f64::from(v);
    i32, |v| if v == i32::MIN { f64::NAN } else { f64::from(v) };
}

macro_rules! value {
    ($ty:ident -> $out:ident, $poison:expr, |$rng:ident| $make:expr $(, $elementwise:ident)?) => {
        #[allow(unsafe_code, reason = "kernels over raw pointers")]
        impl Value for $ty {
            type Out = $out;

            fn random($rng: &mut SmallRng) -> $ty {
                $make
            }

            $(unsafe fn launch(
                op: Op,
                choice: Choice,
                stream: &Stream,
                x: &impl AsPtrArg<$ty>,
                y: &impl AsPtrArg<$ty>,
                out: &mut impl AsPtrMutArg<$ty>,
                n: i32,
            ) -> Outcome {
                // SAFETY: as of the trait.
                unsafe { $elementwise::<$ty>(op, choice, stream, (x, y, out), n) }
            })?

            unsafe fn poison(stream: &Stream, out: &mut impl AsPtrMutArg<$out>, n: i32) -> triton::Result<()> {
                // SAFETY: the mask keeps accesses below `n`, which the caller guarantees.
                unsafe { fill::<$out, 1024>(out, $poison, n).launch(stream, programs(n, 1024)) }
            }
        }
    };
}

fn normal(rng: &mut SmallRng) -> f32 {
    StandardNormal.sample(rng)
}

value!(f32 -> f32, f32::NAN, |rng| normal(rng), elementwise);
value!(f16 -> f16, f16::NAN, |rng| f16::from_f32(normal(rng)), elementwise);
value!(bf16 -> bf16, bf16::NAN, |rng| bf16::from_f32(normal(rng)), elementwise);
value!(f64 -> f64, f64::NAN, |rng| f64::from(normal(rng)));
value!(i8 -> i32, i32::MIN, |rng| rng.random());

fn programs(n: i32, block: usize) -> usize {
    usize::try_from(n).unwrap_or(0).div_ceil(block)
}
