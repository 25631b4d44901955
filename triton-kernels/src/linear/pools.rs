//! From element types to the pools of kernels that multiply them.

use super::beside::Fused;
use super::kernels::epilogue::Epilogue;
use super::kernels::finish::{self, FinishKernelInstance};
use super::kernels::sums::add_rows;
use super::kernels::{added::*, batched::*, fused::*, int8::*, split::*, whole::*};
use crate::__by_order as by_order;
use crate::operation::Call;
use crate::select::{GRANULE, Instance, Kernel, Kind, Order, Plan};
use triton::pool::Runs;
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

/// What a product reads and writes: \[M, K\] · \[K, N\] or stored transposed, of a batch with an axis in front.
pub struct Operands<'a, T, C, const R: usize> {
    pub(super) a: View<'a, T, R>,
    pub(super) b: View<'a, T, R>,
    pub(super) c: ViewMut<'a, C, R>,
}

/// What the programs of a product share: the partial sums of columns, and the parts and counters of a split.
pub struct Shared<'a, S> {
    pub(super) sums: ViewMut<'a, f32, 2>,
    pub(super) parts: ViewMut<'a, S, 3>,
    pub(super) done: ViewMut<'a, i32, 1>,
    pub(super) ordered: bool,
}

/// Which kernels compute a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Those without an epilogue.
    Plain,
    /// Those with one.
    Fused,
    /// Those of a batch, with an epilogue.
    Batched,
}

/// What is told of instances: how a stream's device runs one, and which it is.
pub type Told<'a> = &'a mut dyn FnMut(&dyn Fn(&Stream) -> Runs, Instance);

/// The pools of a pair of element types. Not to be implemented: [`GemmElement`](super::GemmElement) names the pairs.
pub trait Pools<C: Element>: Element {
    /// What products are added in, and the parts of a split are.
    #[doc(hidden)]
    type Sum: Element;

    /// What is multiplied in a precision; `None` if there is no other than that of the type.
    #[doc(hidden)]
    fn kind_of_product(precision: Precision) -> Option<Kind>;

    /// Tells the instances of a form for an order of operands, of which there may be none.
    #[doc(hidden)]
    fn each_product(kind: Kind, order: Order, form: Form, is: Told<'_>);

    /// Enqueues an instance of a product without an epilogue or a split, of a pair of types that has some.
    ///
    /// # Errors
    /// Those of a launch.
    #[doc(hidden)]
    fn enqueue_plain(
        _kind: Kind,
        _order: Order,
        _plan: &Plan,
        _operands: Operands<'_, Self, C, 2>,
        _stream: &Stream,
    ) -> triton::Result<()> {
        Ok(())
    }

    /// Enqueues an instance of a product with an epilogue or a split, of a pair of types that has some. A split of the form without an epilogue takes
    /// none.
    ///
    /// # Errors
    /// Those of a launch.
    #[doc(hidden)]
    fn enqueue_fused(
        _kind: Kind,
        _order: Order,
        _form: Form,
        _plan: &Plan,
        _operands: Operands<'_, Self, C, 2>,
        _beside: (Fused<'_, C, 2>, Shared<'_, Self::Sum>),
        _stream: &Stream,
    ) -> triton::Result<()> {
        Ok(())
    }

    /// Enqueues an instance of a batch, of a pair of types that has some.
    ///
    /// # Errors
    /// Those of a launch.
    #[doc(hidden)]
    fn enqueue_batch(
        _order: Order,
        _plan: &Plan,
        _operands: Operands<'_, Self, C, 3>,
        _fused: Fused<'_, C, 3>,
        _stream: &Stream,
    ) -> triton::Result<()> {
        Ok(())
    }

    /// Enqueues c += a · b of whole tiles, where there are kernels for that alone, and says whether there are.
    ///
    /// # Errors
    /// Those of a launch.
    #[doc(hidden)]
    fn enqueue_added(_order: Order, _operands: Operands<'_, Self, C, 2>, _stream: &Stream) -> triton::Result<bool> {
        Ok(false)
    }

    /// Enqueues what follows a product whose activation its kernels have no code for: of the types of floats that results are stored as.
    ///
    /// # Errors
    /// Those of a launch.
    #[doc(hidden)]
    fn finish(
        _c: ViewMut<'_, C, 3>,
        _residual: View<'_, C, 3>,
        _sums: Option<ViewMut<'_, f32, 1>>,
        _options: Epilogue,
        _call: Call<'_>,
    ) -> crate::Result<()> {
        Ok(())
    }
}

/// The same for a type that has a kernel for it.
fn finish_of<C: Float>(
    c: ViewMut<'_, C, 3>,
    residual: View<'_, C, 3>,
    sums: Option<ViewMut<'_, f32, 1>>,
    options: Epilogue,
    call: Call<'_>,
) -> crate::Result<()>
where
    triton::Compiled: FinishKernelInstance<C, 16, 128>,
{
    let [batch, m, n] = c.shape();
    let residual = if residual.shape().contains(&0) { None } else { Some(residual.split(0, [1, batch])?) };
    let rows = if sums.is_some() { [m.div_ceil(finish::ROWS), n] } else { [0; 2] };
    let mut partial = call.scratch::<f32>(rows[0] * rows[1])?;
    finish::finish(c.split(0, [1, batch])?, residual, None, Some(partial.view_mut(rows)?), options, call)?;
    match sums {
        Some(sums) => call.launch(add_rows::<16, 128>(partial.view_mut(rows)?, sums), n.div_ceil(128)),
        None => Ok(()),
    }
}

pub(super) fn sides(tile: [i32; 3]) -> [usize; 3] {
    tile.map(|side| side as usize)
}

/// Whether an instance has a tile. Side by side: the comparison of arrays stores one and loads it in other parts, for which each member of a pool that is
/// looked at would wait.
#[inline]
pub(super) fn is_tile([bm, bn, bk]: [i32; 3], [m, n, k]: [usize; 3]) -> bool {
    bm as usize == m && bn as usize == n && bk as usize == k
}

/// Tells the members of a pool.
fn each<C: Choice>(pool: &'static Pool<C>, of: impl Fn(&C) -> Instance, is: Told<'_>) {
    for member in pool.members() {
        is(&|stream| member.runs(stream), of(member.choice()));
    }
}

/// The instance of a choice.
macro_rules! instance {
    ($of:expr, $kernel:expr) => {
        Instance {
            kernel: $kernel,
            tile: sides([$of.BM, $of.BN, $of.BK]),
            warps: $of.num_warps,
            stages: $of.num_stages,
            cluster: $of.get("cluster_k").and_then(|blocks| u32::try_from(blocks).ok()).unwrap_or(1),
        }
    };
}

/// What makes a kernel split.
fn split_of(of: &SplitChoice) -> Instance {
    instance!(of, Kernel::Split { groups: of.KL as usize, programs: 0 })
}

/// Tells the instances of a pool with a program for each tile.
macro_rules! tell {
    ($pool:expr, $is:expr) => {
        each($pool, |of| instance!(of, Kernel::Whole), $is)
    };
}

/// Launches the instance of a plan: programs along M, N and what is last.
macro_rules! launch {
    ($tuned:expr, $plan:expr, [$m:expr, $n:expr, $last:expr], $stream:expr) => {
        $tuned
            .find(|of| is_tile([of.BM, of.BN, of.BK], $plan.tile))
            .launch($stream, |of| ($m.div_ceil(of.BM as usize), $n.div_ceil(of.BN as usize), $last))
    };
}

/// The pools of floats: those with an epilogue, those of a product without, as it is or by its transpose, those of TF32 and of batches.
macro_rules! floats {
    ($($t:ident $c:ident $kind:ident
        $(plain($plain:ident, $plain_tuned:ident, FUSED = $lean:literal
            $(, transposed($transposed:ident, $transposed_tuned:ident))?
            $(, tf32($tf32:ident))?))?
        $(batched($batched:ident, $batched_tuned:ident))?;
    )*) => {$(
        impl Pools<$c> for $t {
            type Sum = f32;

            fn kind_of_product(precision: Precision) -> Option<Kind> {
                match precision {
                    Precision::Ieee => Some(Kind::$kind),
                    Precision::Tf32 => None$($(.or(Some(Kind::$tf32)))?)?,
                }
            }

            fn each_product(_kind: Kind, order: Order, form: Form, is: Told<'_>) {
                $($(if _kind == Kind::$tf32 {
                    return by_order!(order, |TA, TB| match form {
                        Form::Plain => tell!(product_tf32_pool::<TA, TB>(), is),
                        Form::Fused => tell!(fused_tf32_pool::<TA, TB>(), is),
                        Form::Batched => {}
                    });
                })?)?
                match form {
                    Form::Plain => {
                        $(by_order!(order, |TA, TB| {
                            tell!($plain::<$t, TA, TB>(), is);
                            each(split_pool::<$t, $c, TA, TB, $lean>(), split_of, is);
                        });
                        $(let of = |of: &TransposedChoice| instance!(of, Kernel::Transposed);
                        match order {
                            Order::NN => each($transposed::<$t, false, false>(), of, is),
                            Order::NT => each($transposed::<$t, false, true>(), of, is),
                            Order::TN => each($transposed::<$t, true, false>(), of, is),
                            Order::TT => {}
                        })?)?
                    }
                    Form::Fused => by_order!(order, |TA, TB| {
                        tell!(fused_pool::<$t, $c, TA, TB>(), is);
                        each(split_pool::<$t, $c, TA, TB, true>(), split_of, is);
                    }),
                    Form::Batched => {
                        $(by_order!(order, |TA, TB| tell!($batched::<$t, TA, TB>(), is)))?
                    }
                }
            }

            $(fn enqueue_plain(
                _kind: Kind,
                order: Order,
                plan: &Plan,
                operands: Operands<'_, $t, $c, 2>,
                stream: &Stream,
            ) -> triton::Result<()> {
                let Operands { a, b, c } = operands;
                let [m, n] = c.shape();
                $(if _kind == Kind::$tf32 {
                    return by_order!(order, |TA, TB| {
                        launch!(product_tf32_tuned::<TA, TB>(a, b, c), plan, [m, n, 1], stream)
                    });
                })?
                $(if plan.kernel == Kernel::Transposed {
                    return match order {
                        Order::NN => launch!($transposed_tuned::<$t, false, false>(a, b, c), plan, [m, n, 1], stream),
                        Order::NT => launch!($transposed_tuned::<$t, false, true>(a, b, c), plan, [m, n, 1], stream),
                        // Of TT there is none, which `each_product` says.
                        Order::TN | Order::TT => {
                            launch!($transposed_tuned::<$t, true, false>(a, b, c), plan, [m, n, 1], stream)
                        }
                    };
                })?
                by_order!(order, |TA, TB| launch!($plain_tuned::<$t, TA, TB>(a, b, c), plan, [m, n, 1], stream))
            })?

            $($(fn enqueue_added(
                order: Order,
                operands: Operands<'_, $t, $c, 2>,
                stream: &Stream,
            ) -> triton::Result<bool> {
                // What has the other kernels has these.
                let _ = stringify!($transposed);
                let Operands { a, b, c } = operands;
                let [m, n] = c.shape();
                let pool = match order {
                    Order::NN => added_pool::<$t, false>(),
                    Order::NT => added_pool::<$t, true>(),
                    Order::TN | Order::TT => return Ok(false),
                };
                if !pool.members().iter().all(|member| member.runs_on(stream)) {
                    return Ok(false);
                }
                let grid = (m.div_ceil(128), n.div_ceil(256));
                if order == Order::NN {
                    added::<$t, 128, 256, 64, false>(a, b, c).launch(stream, grid)?;
                } else {
                    added::<$t, 128, 256, 64, true>(a, b, c).launch(stream, grid)?;
                }
                Ok(true)
            })?)?

            fn enqueue_fused(
                _kind: Kind,
                order: Order,
                _form: Form,
                plan: &Plan,
                operands: Operands<'_, $t, $c, 2>,
                (fused, shared): (Fused<'_, $c, 2>, Shared<'_, f32>),
                stream: &Stream,
            ) -> triton::Result<()> {
                let Operands { a, b, c } = operands;
                let [m, n] = c.shape();
                let Fused { residual, bias, row_bias, row_scales, column_scales, options } = fused;
                let Shared { sums, parts, done, ordered } = shared;
                macro_rules! split {
                    ($fused:literal) => {
                        by_order!(order, |TA, TB| {
                            let groups = |of: &SplitChoice| Kernel::Split { groups: of.KL as usize, programs: 0 };
                            split_tuned::<$t, $c, TA, TB, $fused>(
                                a, b, c, bias, row_bias, residual, row_scales, column_scales, sums, parts, done,
                                (plan.chunk / GRANULE) as i32, ordered, options,
                            )
                            .find(|of| is_tile([of.BM, of.BN, of.BK], plan.tile) && groups(of).is(plan.kernel))
                            .launch(stream, |of| {
                                (m.div_ceil(of.BM as usize), n.div_ceil(of.BN as usize), plan.splits)
                            })
                        })
                    };
                }
                if matches!(plan.kernel, Kernel::Split { .. }) {
                    $(if _form == Form::Plain {
                        return split!($lean);
                    })?
                    return split!(true);
                }
                $($(if _kind == Kind::$tf32 {
                    return by_order!(order, |TA, TB| {
                        let tuned = fused_tf32_tuned::<TA, TB>(
                            a, b, c, bias, row_bias, residual, row_scales, column_scales, sums, options,
                        );
                        launch!(tuned, plan, [m, n, 1], stream)
                    });
                })?)?
                by_order!(order, |TA, TB| {
                    let tuned = fused_tuned::<$t, $c, TA, TB>(
                        a, b, c, bias, row_bias, residual, row_scales, column_scales, sums, options,
                    );
                    launch!(tuned, plan, [m, n, 1], stream)
                })
            }

            fn finish(
                c: ViewMut<'_, $c, 3>,
                residual: View<'_, $c, 3>,
                sums: Option<ViewMut<'_, f32, 1>>,
                options: Epilogue,
                call: Call<'_>,
            ) -> crate::Result<()> {
                finish_of::<$c>(c, residual, sums, options, call)
            }

            $(fn enqueue_batch(
                order: Order,
                plan: &Plan,
                operands: Operands<'_, $t, $c, 3>,
                fused: Fused<'_, $c, 3>,
                stream: &Stream,
            ) -> triton::Result<()> {
                let Operands { a, b, c } = operands;
                let Fused { residual, bias, row_bias, row_scales, column_scales, options } = fused;
                let [batch, m, n] = c.shape();
                by_order!(order, |TA, TB| {
                    let tuned = $batched_tuned::<$t, TA, TB>(
                        a, b, c, bias, row_bias, residual, row_scales, column_scales, options,
                    );
                    launch!(tuned, plan, [m, n, batch], stream)
                })
            })?
        }
    )*};
}

floats! {
    f32 f32 F32 plain(product_pool, product_tuned, FUSED = false, tf32(Tf32)) batched(batched_pool, batched_tuned);
    bf16 bf16 Bf16 plain(product_pool, product_tuned, FUSED = false, transposed(transposed_pool, transposed_tuned))
        batched(batched_pool, batched_tuned);
    f16 f16 F16 plain(product_pool, product_tuned, FUSED = false, transposed(transposed_pool, transposed_tuned))
        batched(batched_pool, batched_tuned);
    bf16 f32 Bf16;
    f16 f32 F16;
}

impl Pools<i32> for i8 {
    type Sum = i32;

    fn kind_of_product(precision: Precision) -> Option<Kind> {
        (precision == Precision::Ieee).then_some(Kind::I8)
    }

    fn each_product(_: Kind, order: Order, form: Form, is: Told<'_>) {
        if form == Form::Plain {
            by_order!(order, |TA, TB| tell!(product_i8_pool::<TA, TB>(), is));
        }
    }

    fn enqueue_plain(
        _: Kind,
        order: Order,
        plan: &Plan,
        operands: Operands<'_, i8, i32, 2>,
        stream: &Stream,
    ) -> triton::Result<()> {
        let Operands { a, b, c } = operands;
        let [m, n] = c.shape();
        by_order!(order, |TA, TB| launch!(product_i8_tuned::<TA, TB>(a, b, c), plan, [m, n, 1], stream))
    }
}

/// Kernels of one type with an epilogue, a program for each tile; and of `f64` those without, and those of splits.
macro_rules! fused {
    ($($t:ident $c:ident $sum:ident $kind:ident $pool:ident $tuned:ident[$($of:ident)?]
        $(plain($plain:ident, $plain_tuned:ident) split($split:ident, $split_tuned:ident, $choice:ident))?;
    )*) => {$(
        impl Pools<$c> for $t {
            type Sum = $sum;

            fn kind_of_product(precision: Precision) -> Option<Kind> {
                (precision == Precision::Ieee).then_some(Kind::$kind)
            }

            fn each_product(_: Kind, order: Order, form: Form, is: Told<'_>) {
                $(let of_split = |of: &$choice| instance!(of, Kernel::Split { groups: 1, programs: 0 });)?
                match form {
                    Form::Fused => by_order!(order, |TA, TB| {
                        tell!($pool::<$($of,)? TA, TB>(), is);
                        $(each($split::<TA, TB, true>(), of_split, is);)?
                    }),
                    Form::Plain => {
                        $(by_order!(order, |TA, TB| {
                            tell!($plain::<TA, TB>(), is);
                            each($split::<TA, TB, false>(), of_split, is);
                        }))?
                    }
                    Form::Batched => {}
                }
            }

            $(fn enqueue_plain(
                _: Kind,
                order: Order,
                plan: &Plan,
                operands: Operands<'_, $t, $c, 2>,
                stream: &Stream,
            ) -> triton::Result<()> {
                let Operands { a, b, c } = operands;
                let [m, n] = c.shape();
                by_order!(order, |TA, TB| launch!($plain_tuned::<TA, TB>(a, b, c), plan, [m, n, 1], stream))
            })?

            fn enqueue_fused(
                _: Kind,
                order: Order,
                _form: Form,
                plan: &Plan,
                operands: Operands<'_, $t, $c, 2>,
                (fused, shared): (Fused<'_, $c, 2>, Shared<'_, $sum>),
                stream: &Stream,
            ) -> triton::Result<()> {
                let Operands { a, b, c } = operands;
                let [m, n] = c.shape();
                let Fused { residual, bias, row_bias, row_scales, column_scales, options } = fused;
                $(if matches!(plan.kernel, Kernel::Split { .. }) {
                    let Shared { sums, parts, done, ordered } = shared;
                    macro_rules! split {
                        ($fused:literal) => {
                            by_order!(order, |TA, TB| {
                                let tuned = $split_tuned::<TA, TB, $fused>(
                                    a, b, c, bias, row_bias, residual, row_scales, column_scales, sums, parts, done,
                                    (plan.chunk / GRANULE) as i32, ordered, options,
                                );
                                launch!(tuned, plan, [m, n, plan.splits], stream)
                            })
                        };
                    }
                    return if _form == Form::Plain { split!(false) } else { split!(true) };
                })?
                by_order!(order, |TA, TB| {
                    let tuned = $tuned::<$($of,)? TA, TB>(
                        a, b, c, bias, row_bias, residual, row_scales, column_scales, shared.sums, options,
                    );
                    launch!(tuned, plan, [m, n, 1], stream)
                })
            }

            $(fn finish(
                c: ViewMut<'_, $of, 3>,
                residual: View<'_, $of, 3>,
                sums: Option<ViewMut<'_, f32, 1>>,
                options: Epilogue,
                call: Call<'_>,
            ) -> crate::Result<()> {
                finish_of::<$of>(c, residual, sums, options, call)
            })?
        }
    )*};
}

fused! {
    i8 f32 i32 I8 fused_i8_pool fused_i8_tuned[f32];
    i8 bf16 i32 I8 fused_i8_pool fused_i8_tuned[bf16];
}

#[cfg(feature = "f64")]
use super::kernels::double::*;
#[cfg(feature = "f64")]
fused! {
    f64 f64 f64 F64 fused_f64_pool fused_f64_tuned[] plain(product_f64_pool, product_f64_tuned)
        split(split_f64_pool, split_f64_tuned, SplitF64Choice);
}
