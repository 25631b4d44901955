//! What the operands of attention have to be, and which keys are seen.

use crate::Result;
use crate::error::{Error, extent, size, value};
use crate::grid::{MOST, chunks};
use std::ops::Range;
use triton::{Element, View, ViewMut};

/// More than the difference of two positions, and small enough to be added to one.
const ALL: i32 = 1 << 29;

/// Which keys a query sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) left: i32,
    pub(super) right: i32,
}

impl Default for Span {
    fn default() -> Span {
        Span { left: ALL, right: ALL }
    }
}

impl Span {
    pub(super) fn causal(self) -> Span {
        Span { right: 0, ..self }
    }

    pub(super) fn window(left: usize, right: usize) -> Span {
        let [left, right] = [left, right].map(|keys| i32::try_from(keys).map_or(ALL, |keys| keys.min(ALL)));
        Span { left, right }
    }
}

/// The extents of attention: q is `[Z, H, L, D]`, k and v are `[Z, G, S, D]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extents {
    pub(super) batch: usize,
    pub(super) heads: usize,
    pub(super) key_heads: usize,
    pub(super) queries: usize,
    pub(super) keys: usize,
    pub(super) depth: usize,
}

impl Extents {
    /// Checks those of q, k and v.
    pub(super) fn new(op: &'static str, q: [usize; 4], k: [usize; 4], v: [usize; 4]) -> Result<Extents> {
        let fix = "q is [Z, H, L, D], k and v are [Z, G, S, D]";
        let [batch, heads, queries, depth] = q;
        let [_, key_heads, keys, _] = k;
        [("q", q), ("k", k)].into_iter().try_for_each(|(operand, shape)| size(op, operand, &shape))?;
        extent(op, "k", 0, [k[0], batch], fix)?;
        extent(op, "k", 3, [k[3], depth], fix)?;
        (0..4).try_for_each(|axis| extent(op, "v", axis, [v[axis], k[axis]], fix))?;
        let divides = heads == 0 || (key_heads > 0 && heads.is_multiple_of(key_heads));
        let grouped = "a multiple of the heads of k and v";
        value(op, "heads of q", heads, divides, grouped, "as many queries share each head of k and v")?;
        if depth > 256 || queries.max(keys) > ALL as usize / 2 {
            return Err(Error::Unsupported {
                op,
                found: match depth > 256 {
                    true => format!("a head of {depth} elements"),
                    false => format!("a sequence of {} tokens", queries.max(keys)),
                },
                expected: "heads of at most 256 elements, and sequences of less than 2²⁸",
                fix: "divide it",
            });
        }
        Ok(Extents { batch, heads, key_heads, queries, keys, depth })
    }

    /// Query heads that share a head of keys.
    pub(super) fn group(&self) -> usize {
        self.heads / self.key_heads.max(1)
    }

    /// The heads of q of each launch, its heads of k, and the number of heads of q that share one of those.
    pub(super) fn parts_of_heads(&self) -> impl Iterator<Item = (Range<usize>, Range<usize>, i32)> {
        let (group, key_heads) = (self.group().max(1), self.key_heads);
        // Several heads of keys at a time, or a part of the heads of q that share one.
        let (of_keys, of_group) = if group <= MOST { (MOST / group, group) } else { (1, MOST) };
        let part = move |i: usize| i * of_keys..((i + 1) * of_keys).min(key_heads);
        (0..key_heads.div_ceil(of_keys)).map(part).flat_map(move |keys| {
            chunks(group * keys.len(), of_group * keys.len()).map(move |of| {
                (keys.start * group + of.start..keys.start * group + of.end, keys.clone(), of_group as i32)
            })
        })
    }

    /// Checks another operand of q's shape.
    pub(super) fn like_q(&self, op: &'static str, operand: &'static str, found: [usize; 4]) -> Result<()> {
        let expected = [self.batch, self.heads, self.queries, self.depth];
        (0..4).try_for_each(|axis| extent(op, operand, axis, [found[axis], expected[axis]], "it has the shape of q"))
    }

    /// Checks another operand of k's shape.
    pub(super) fn like_k(&self, op: &'static str, operand: &'static str, found: [usize; 4]) -> Result<()> {
        let expected = [self.batch, self.key_heads, self.keys, self.depth];
        (0..4).try_for_each(|axis| extent(op, operand, axis, [found[axis], expected[axis]], "it has the shape of k"))
    }

    /// Checks the sums of rows.
    pub(super) fn sums(&self, op: &'static str, operand: &'static str, found: [usize; 3]) -> Result<()> {
        let expected = [self.batch, self.heads, self.queries];
        (0..3).try_for_each(|axis| extent(op, operand, axis, [found[axis], expected[axis]], "it is [Z, H, L]"))
    }
}

/// 1 / √depth, if nothing else is asked for.
pub(super) fn scale_of(asked: Option<f32>, depth: usize) -> f32 {
    asked.unwrap_or_else(|| 1.0 / (depth.max(1) as f32).sqrt())
}

/// Calls with the smallest size of heads that there are kernels of, as a constant.
macro_rules! by_depth {
    ($depth:expr, |$D:ident| $body:expr) => {
        match $depth {
            0..=16 => {
                const $D: i32 = 16;
                $body
            }
            17..=32 => {
                const $D: i32 = 32;
                $body
            }
            33..=64 => {
                const $D: i32 = 64;
                $body
            }
            65..=128 => {
                const $D: i32 = 128;
                $body
            }
            _ => {
                const $D: i32 = 256;
                $body
            }
        }
    };
}
pub(super) use by_depth;

/// What all kernels of one name are for a type.
macro_rules! all_depths {
    ($name:ident: $pool:ident) => {
        /// Kernels of all sizes of heads.
        pub(super) trait $name<T>:
            $pool<T, 16> + $pool<T, 32> + $pool<T, 64> + $pool<T, 128> + $pool<T, 256>
        {
        }
        impl $name<f32> for triton::Compiled {}
        impl $name<f16> for triton::Compiled {}
        impl $name<bf16> for triton::Compiled {}
    };
}
pub(super) use all_depths;

/// A part of the first axis, and one of the second.
pub(super) fn part<'a, T: Element, const R: usize>(
    view: View<'a, T, R>,
    first: &Range<usize>,
    second: &Range<usize>,
) -> triton::Result<View<'a, T, R>> {
    view.narrow(0, first.clone())?.narrow(1, second.clone())
}

/// The same to be written.
pub(super) fn part_mut<'a, T: Element, const R: usize>(
    view: &'a mut ViewMut<'_, T, R>,
    first: &Range<usize>,
    second: &Range<usize>,
) -> triton::Result<ViewMut<'a, T, R>> {
    view.reborrow().narrow(0, first.clone())?.narrow(1, second.clone())
}
