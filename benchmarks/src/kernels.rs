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
    (BLOCK = 256, num_warps = 4), (BLOCK = 256, num_warps = 8),
    (BLOCK = 512, num_warps = 4), (BLOCK = 512, num_warps = 8),
    (BLOCK = 1024, num_warps = 4), (BLOCK = 1024, num_warps = 8),
    (BLOCK = 2048, num_warps = 4), (BLOCK = 2048, num_warps = 8),
])]
pub fn copy<T: Num, const BLOCK: i32>(x: Ptr<T>, out: PtrMut<T>, n: i32) {
    let i = program_id(0) * BLOCK + arange(0, BLOCK);
    let mask = i < n;
    store(out + i, load(x + i, mask), mask);
}

/// out = x + y, elementwise.
#[triton::kernel(T = [f32, f16, bf16], configs = [
    (BLOCK = 256, num_warps = 4), (BLOCK = 256, num_warps = 8),
    (BLOCK = 512, num_warps = 4), (BLOCK = 512, num_warps = 8),
    (BLOCK = 1024, num_warps = 4), (BLOCK = 1024, num_warps = 8),
    (BLOCK = 2048, num_warps = 4), (BLOCK = 2048, num_warps = 8),
])]
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

/// Elements of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Block {
    B256,
    B512,
    B1024,
    B2048,
}

impl Block {
    const ALL: [Block; 4] = [Block::B256, Block::B512, Block::B1024, Block::B2048];

    fn elements(self) -> usize {
        match self {
            Block::B256 => 256,
            Block::B512 => 512,
            Block::B1024 => 1024,
            Block::B2048 => 2048,
        }
    }
}

/// One of the compiled instances of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    block: Block,
    /// Eight warps instead of four: the second of the configurations of a block.
    eight_warps: bool,
}

impl std::fmt::Display for Choice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "BLOCK={} num_warps={}", self.block.elements(), if self.eight_warps { 8 } else { 4 })
    }
}

/// Every instance.
pub fn choices() -> impl Iterator<Item = Choice> {
    Block::ALL.into_iter().flat_map(|block| [false, true].map(|eight_warps| Choice { block, eight_warps }))
}

/// The instance that is compared with the peers. Chosen by `tune` in a run of its own, never in the run that compares: 16
/// bytes for each thread and operand.
pub fn shipped(dtype: DType) -> Choice {
    let block = match dtype {
        DType::F32 => Block::B512,
        // Of `f64` and `i8` nothing is elementwise.
        DType::F16 | DType::Bf16 | DType::F64 | DType::I8 => Block::B1024,
    };
    Choice { block, eight_warps: false }
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
    /// For the partial sums of a split product.
    pub workspace: &'a mut Buffer<f32>,
}

macro_rules! elementwise {
    ($ty:ident) => {
        unsafe fn launch(
            op: Op,
            choice: Choice,
            stream: &Stream,
            x: &impl AsPtrArg<$ty>,
            y: &impl AsPtrArg<$ty>,
            out: &mut impl AsPtrMutArg<$ty>,
            n: i32,
        ) -> Outcome {
            let config = usize::from(choice.eight_warps);
            let copy = |launch: triton::Launch<'_, triton::launch::mode::Unsafe, 3>| {
                // SAFETY: the mask keeps accesses below `n`, which the caller guarantees.
                unsafe { launch.config(config).launch(stream, programs(n, choice.block.elements())) }
            };
            let add = |launch: triton::Launch<'_, triton::launch::mode::Unsafe, 4>| {
                // SAFETY: as above.
                unsafe { launch.config(config).launch(stream, programs(n, choice.block.elements())) }
            };
            Ok(match (op == Op::Add, choice.block) {
                (false, Block::B256) => copy(self::copy::<$ty, 256>(x, out, n)),
                (false, Block::B512) => copy(self::copy::<$ty, 512>(x, out, n)),
                (false, Block::B1024) => copy(self::copy::<$ty, 1024>(x, out, n)),
                (false, Block::B2048) => copy(self::copy::<$ty, 2048>(x, out, n)),
                (true, Block::B256) => add(self::add::<$ty, 256>(x, y, out, n)),
                (true, Block::B512) => add(self::add::<$ty, 512>(x, y, out, n)),
                (true, Block::B1024) => add(self::add::<$ty, 1024>(x, y, out, n)),
                (true, Block::B2048) => add(self::add::<$ty, 2048>(x, y, out, n)),
            }?)
        }
    };
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
    ($ty:ident -> $out:ident, $poison:expr, |$rng:ident| $make:expr $(, $launch:ident)?) => {
        #[allow(unsafe_code, reason = "kernels over raw pointers")]
        impl Value for $ty {
            type Out = $out;

            fn random($rng: &mut SmallRng) -> $ty {
                $make
            }

            $($launch!($ty);)?

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
