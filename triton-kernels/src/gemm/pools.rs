//! From element types to the pools of kernels that multiply them.

use super::kernels::epilogue::Epilogue;
use super::kernels::{fused::*, int8::*, split::*, whole::*};
use crate::select::{GRANULE, Kernel, Kind, Order, Plan};
use triton::prelude::*;
use triton::{Choice, Pool};

/// How exactly products of `f32` are computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Precision {
    /// As exact as the type. Types other than `f32` have this one alone.
    #[default]
    Ieee,
    /// Operands are rounded to TF32, 10 bits of mantissa, for tensor cores.
    Tf32,
}

/// An element type of operands whose products are stored as `C`:
///
/// | operands | `C` | added in |
/// |---|---|---|
/// | `f32` | `f32` | `f32` |
/// | [`f16`](struct@f16) | `f16`, `f32` | `f32` |
/// | [`bf16`] | `bf16`, `f32` | `f32` |
/// | `i8` | `i32`, without an epilogue; `f32`, `bf16` | `i32` |
/// | `f64`, with the feature `f64` | `f64` | `f64` |
#[diagnostic::on_unimplemented(
    message = "there is no product of `{Self}` that is stored as `{C}`",
    note = "f32 → f32; f16 → f16, f32; bf16 → bf16, f32; i8 → i32, f32, bf16; with the feature `f64`, f64 → f64"
)]
pub trait GemmElement<C: Element>: Pools<C> {}

#[diagnostic::do_not_recommend]
impl<C: Element, T: Pools<C>> GemmElement<C> for T {}

/// What a product reads and writes, as its kernel takes it: \[B, M, K\] · \[B, K, N\], or stored transposed.
pub struct Operands<'a, T, C> {
    pub(super) a: View<'a, T, 3>,
    pub(super) b: View<'a, T, 3>,
    pub(super) c: ViewMut<'a, C, 3>,
    pub(super) bias: View<'a, C, 1>,
    pub(super) row_bias: View<'a, C, 1>,
    pub(super) residual: View<'a, C, 3>,
    pub(super) row_scales: View<'a, f32, 1>,
    pub(super) column_scales: View<'a, f32, 1>,
    pub(super) sums: ViewMut<'a, f32, 3>,
    pub(super) options: Epilogue,
}

/// What the programs of a split share.
pub struct Shared<'a> {
    pub(super) parts: ViewMut<'a, f32, 4>,
    pub(super) done: ViewMut<'a, i32, 1>,
    pub(super) ordered: bool,
}

/// What is told of instances: whether a stream's device has code, the kernel, the tile.
pub type Told<'a> = &'a mut dyn FnMut(&dyn Fn(&Stream) -> bool, Kernel, [usize; 3]);

/// The pools of a pair of element types. Not to be implemented: [`GemmElement`](super::GemmElement) names the pairs.
pub trait Pools<C: Element>: Element {
    /// What is multiplied in a precision; `None` if there is no other than that of the type.
    fn kind(precision: Precision) -> Option<Kind>;

    /// Tells the instances for an order of operands: those with an epilogue, or those without, of which there may be none.
    fn each(kind: Kind, order: Order, plain: bool, is: Told<'_>);

    /// Enqueues an instance. A plain product ignores what is of the epilogue.
    ///
    /// # Errors
    /// Those of a launch.
    fn launch(
        kind: Kind,
        order: Order,
        plain: bool,
        plan: &Plan,
        operands: Operands<'_, Self, C>,
        shared: Option<Shared<'_>>,
        stream: &Stream,
    ) -> triton::Result<()>;
}

const fn sides(tile: [i32; 3]) -> [usize; 3] {
    [tile[0] as usize, tile[1] as usize, tile[2] as usize]
}

/// Tells the members of a pool.
fn each<C: Choice>(pool: &'static Pool<C>, of: impl Fn(&C) -> (Kernel, [i32; 3]), is: Told<'_>) {
    for member in pool.members() {
        let (kernel, tile) = of(member.choice());
        is(&|stream| member.runs_on(stream), kernel, sides(tile));
    }
}

/// The programs of a product: along M, N, and matrices times splits.
fn grid([batch, m, n]: [usize; 3], [bm, bn, _]: [i32; 3], splits: usize) -> (usize, usize, usize) {
    (m.div_ceil(bm as usize), n.div_ceil(bn as usize), batch * splits)
}

/// What makes a kernel split.
fn split_of(of: &SplitChoice) -> (Kernel, [i32; 3]) {
    (Kernel::Split { groups: of.KL as usize, programs: 0 }, [of.BM, of.BN, of.BK])
}

/// Whether two kernels are one, for however many programs a multiprocessor.
pub(super) fn same(a: Kernel, b: Kernel) -> bool {
    match (a, b) {
        (Kernel::Split { groups, .. }, Kernel::Split { groups: other, .. }) => groups == other,
        _ => a == b,
    }
}

/// An expression for the constants of an order.
macro_rules! by_order {
    ($order:expr, |$a:ident, $b:ident| $body:expr) => {
        match $order {
            Order::NN => by_order!(@ $a = false, $b = false, $body),
            Order::NT => by_order!(@ $a = false, $b = true, $body),
            Order::TN => by_order!(@ $a = true, $b = false, $body),
            Order::TT => by_order!(@ $a = true, $b = true, $body),
        }
    };
    (@ $a:ident = $x:literal, $b:ident = $y:literal, $body:expr) => {{
        const $a: bool = $x;
        const $b: bool = $y;
        $body
    }};
}

/// Launches the instance of a plan that is not split.
macro_rules! whole {
    ($tuned:expr, $plan:expr, $shape:expr, $stream:expr) => {
        $tuned
            .find(|of| sides([of.BM, of.BN, of.BK]) == $plan.tile)
            .launch($stream, |of| grid($shape, [of.BM, of.BN, of.BK], 1))
    };
}

/// The pools of floats: those with an epilogue, those of a product without, as it is or by its transpose, and those of TF32.
macro_rules! floats {
    ($($t:ident $c:ident $kind:ident
        $(plain($plain:ident, $plain_tuned:ident))?
        $(transposed($transposed:ident, $transposed_tuned:ident))?
        $(tf32($tf32:ident))?;
    )*) => {$(
        impl Pools<$c> for $t {
            fn kind(precision: Precision) -> Option<Kind> {
                match precision {
                    Precision::Ieee => Some(Kind::$kind),
                    Precision::Tf32 => None$(.or(Some(Kind::$tf32)))?,
                }
            }

            fn each(_kind: Kind, order: Order, plain: bool, is: Told<'_>) {
                $(if _kind == Kind::$tf32 {
                    return by_order!(order, |TA, TB| if plain {
                        each(product_tf32_pool::<TA, TB>(), |of| (Kernel::Whole, [of.BM, of.BN, of.BK]), is)
                    } else {
                        each(fused_tf32_pool::<TA, TB>(), |of| (Kernel::Whole, [of.BM, of.BN, of.BK]), is)
                    });
                })?
                $(if plain {
                    by_order!(order, |TA, TB| {
                        each($plain::<$t, TA, TB>(), |of| (Kernel::Whole, [of.BM, of.BN, of.BK]), is);
                        each(split_pool::<$t, $c, TA, TB>(), split_of, is);
                    });
                })?
                $(if plain {
                    let of = |of: &TransposedChoice| (Kernel::Transposed, [of.BM, of.BN, of.BK]);
                    match order {
                        Order::NN => each($transposed::<$t, false, false>(), of, is),
                        Order::NT => each($transposed::<$t, false, true>(), of, is),
                        Order::TN => each($transposed::<$t, true, false>(), of, is),
                        Order::TT => {}
                    }
                })?
                if !plain {
                    by_order!(order, |TA, TB| {
                        each(fused_pool::<$t, $c, TA, TB>(), |of| (Kernel::Whole, [of.BM, of.BN, of.BK]), is);
                        each(split_pool::<$t, $c, TA, TB>(), split_of, is);
                    });
                }
            }

            fn launch(
                _kind: Kind,
                order: Order,
                _plain: bool,
                plan: &Plan,
                operands: Operands<'_, $t, $c>,
                shared: Option<Shared<'_>>,
                stream: &Stream,
            ) -> triton::Result<()> {
                let Operands { a, b, c, bias, row_bias, residual, row_scales, column_scales, sums, options } = operands;
                let shape = c.shape();
                if let (Kernel::Split { groups, .. }, Some(Shared { parts, done, ordered })) = (plan.kernel, shared) {
                    let (steps, splits) = ((plan.chunk / GRANULE) as i32, plan.splits as i32);
                    return by_order!(order, |TA, TB| {
                        split_tuned::<$t, $c, TA, TB>(
                            a, b, c, bias, row_bias, residual, row_scales, column_scales, sums, parts, done, steps, splits,
                            ordered, options,
                        )
                        .find(|of| sides([of.BM, of.BN, of.BK]) == plan.tile && of.KL as usize == groups)
                        .launch(stream, |of| grid(shape, [of.BM, of.BN, of.BK], plan.splits))
                    });
                }
                $(if _kind == Kind::$tf32 {
                    return by_order!(order, |TA, TB| if _plain {
                        whole!(product_tf32_tuned::<TA, TB>(a, b, c), plan, shape, stream)
                    } else {
                        let tuned = fused_tf32_tuned::<TA, TB>(
                            a, b, c, bias, row_bias, residual, row_scales, column_scales, sums, options,
                        );
                        whole!(tuned, plan, shape, stream)
                    });
                })?
                $(if _plain && plan.kernel == Kernel::Transposed {
                    return match order {
                        Order::NN => whole!($transposed_tuned::<$t, false, false>(a, b, c), plan, shape, stream),
                        Order::NT => whole!($transposed_tuned::<$t, false, true>(a, b, c), plan, shape, stream),
                        // Of TT there is none, which `each` says.
                        Order::TN | Order::TT => {
                            whole!($transposed_tuned::<$t, true, false>(a, b, c), plan, shape, stream)
                        }
                    };
                })?
                $(if _plain {
                    return by_order!(order, |TA, TB| whole!($plain_tuned::<$t, TA, TB>(a, b, c), plan, shape, stream));
                })?
                by_order!(order, |TA, TB| {
                    let tuned = fused_tuned::<$t, $c, TA, TB>(
                        a, b, c, bias, row_bias, residual, row_scales, column_scales, sums, options,
                    );
                    whole!(tuned, plan, shape, stream)
                })
            }
        }
    )*};
}

floats! {
    f32 f32 F32 plain(product_pool, product_tuned) tf32(Tf32);
    bf16 bf16 Bf16 plain(product_pool, product_tuned) transposed(transposed_pool, transposed_tuned);
    f16 f16 F16 plain(product_pool, product_tuned) transposed(transposed_pool, transposed_tuned);
    bf16 f32 Bf16;
    f16 f32 F16;
}

impl Pools<i32> for i8 {
    fn kind(precision: Precision) -> Option<Kind> {
        (precision == Precision::Ieee).then_some(Kind::I8)
    }

    fn each(_: Kind, order: Order, plain: bool, is: Told<'_>) {
        if !plain {
            return;
        }
        by_order!(order, |TA, TB| each(product_i8_pool::<TA, TB>(), |of| (Kernel::Whole, [of.BM, of.BN, of.BK]), is));
    }

    fn launch(
        _: Kind,
        order: Order,
        _: bool,
        plan: &Plan,
        operands: Operands<'_, i8, i32>,
        _: Option<Shared<'_>>,
        stream: &Stream,
    ) -> triton::Result<()> {
        let Operands { a, b, c, .. } = operands;
        let shape = c.shape();
        by_order!(order, |TA, TB| whole!(product_i8_tuned::<TA, TB>(a, b, c), plan, shape, stream))
    }
}

/// A kernel of one type with an epilogue and nothing else.
macro_rules! fused {
    ($($t:ident $c:ident $kind:ident $pool:ident $tuned:ident $($of:ident)?;)*) => {$(
        impl Pools<$c> for $t {
            fn kind(precision: Precision) -> Option<Kind> {
                (precision == Precision::Ieee).then_some(Kind::$kind)
            }

            fn each(_: Kind, order: Order, plain: bool, is: Told<'_>) {
                if plain {
                    return;
                }
                by_order!(order, |TA, TB| {
                    each($pool::<$($of,)? TA, TB>(), |of| (Kernel::Whole, [of.BM, of.BN, of.BK]), is)
                });
            }

            fn launch(
                _: Kind,
                order: Order,
                _: bool,
                plan: &Plan,
                operands: Operands<'_, $t, $c>,
                _: Option<Shared<'_>>,
                stream: &Stream,
            ) -> triton::Result<()> {
                let Operands { a, b, c, bias, row_bias, residual, row_scales, column_scales, sums, options } = operands;
                let shape = c.shape();
                by_order!(order, |TA, TB| {
                    let tuned = $tuned::<$($of,)? TA, TB>(
                        a, b, c, bias, row_bias, residual, row_scales, column_scales, sums, options,
                    );
                    whole!(tuned, plan, shape, stream)
                })
            }
        }
    )*};
}

fused! {
    i8 f32 I8 fused_i8_pool fused_i8_tuned f32;
    i8 bf16 I8 fused_i8_pool fused_i8_tuned bf16;
}

#[cfg(feature = "f64")]
use super::kernels::double::*;
#[cfg(feature = "f64")]
fused! {
    f64 f64 F64 fused_f64_pool fused_f64_tuned;
}
