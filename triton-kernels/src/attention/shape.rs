//! What the operands of attention have to be, and which keys are seen.

use crate::error::{Error, Result};
use crate::grid::{MOST, chunks};
use crate::operation::Call;
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

impl Span {
    /// Of a causal mask, and a window: the number of keys before a query's own, and after it.
    pub(super) fn new(causal: bool, window: Option<(usize, usize)>) -> Span {
        let few = |keys: usize| i32::try_from(keys).map_or(ALL, |keys| keys.min(ALL));
        let (left, right) = window.map_or((ALL, ALL), |(left, right)| (few(left), few(right)));
        Span { left, right: if causal { 0 } else { right } }
    }
}

/// The extents of attention.
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
    /// Checks what no other extent says.
    pub(super) fn new(call: Call<'_>, q: [usize; 4], k: [usize; 4]) -> Result<Extents> {
        let ([batch, heads, queries, depth], [_, key_heads, keys, _]) = (q, k);
        let divides = heads == 0 || (key_heads > 0 && heads.is_multiple_of(key_heads));
        let grouped = "a multiple of the heads of k and v";
        call.value("heads of q", heads, divides, grouped, "as many queries share each head of k and v")?;
        if depth > 256 || queries.max(keys) > ALL as usize / 2 {
            return Err(Error::Unsupported {
                op: call.op,
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
