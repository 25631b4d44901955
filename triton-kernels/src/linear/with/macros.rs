//! The macro that makes a product of a function.

/// Declares a product with an epilogue of your own: c = epilogue(a · b), in one launch, by the library's loops, instances, splits and selection.
///
/// The epilogue is a `#[triton::function]` from a tile of sums, in `f32`, and the place of its first element in c, to the tile that is rounded and stored.
/// `BM` and `BN` are the rows and columns of the tile. A second tensor, or a number, is an operand of the function, and of what the macro declares:
///
/// ```
/// use triton::prelude::*;
/// use triton_kernels::gemm_with;
///
/// #[triton::function]
/// fn hard_swish<const BM: i32, const BN: i32>(v: Tile<f32>, _at: (i32, i32)) -> Tile<f32> {
///     v * minimum(maximum(v + 3.0, 0.0), 6.0) * (1.0 / 6.0)
/// }
/// gemm_with!(hard_swish_gemm, f16 => f16, hard_swish);
///
/// #[triton::function]
/// fn gated<const BM: i32, const BN: i32>(v: Tile<f32>, at: (i32, i32), gate: Tensor<f16, 2>) -> Tile<f32> {
///     let (m, n) = at;
///     v * gate.load([m, n], [BM, BN]).to::<f32>()
/// }
/// gemm_with!(gated_gemm, f16 => f16, gated(gate: Tensor<f16, 2>));
///
/// # fn main() -> triton_kernels::Result<()> {
/// let stream = Device::cpu().stream()?;
/// let a = stream.tensor(&[f16::from_f32(-0.5); 3 * 4], [3, 4])?;
/// let b = stream.tensor(&[f16::ONE; 4 * 2], [4, 2])?;
/// let gate = stream.tensor(&[f16::from_f32(3.0); 3 * 2], [3, 2])?;
/// let mut c = stream.tensor_uninit::<f16, _>([3, 2])?;
/// hard_swish_gemm(&a, &b, &mut c).launch(&stream)?;
/// assert_eq!(stream.download(&c)?, [f16::from_f32(-2.0 / 6.0); 6]);
/// gated_gemm(&a, &b, &mut c, &gate).launch(&stream)?;
/// assert_eq!(stream.download(&c)?, [f16::from_f32(-6.0); 6]);
/// # Ok(())
/// # }
/// ```
///
/// What is declared:
///
/// | part | what it is |
/// |---|---|
/// | `pub hard_swish_gemm` | a function of a, b, c and the operands. Attributes, such as documentation, stand before it |
/// | `f16 => f16` | the types of a and b, and of c: `f32 => f32`, `f16 => f16`, `bf16 => bf16`, `f16 => f32`, `bf16 => f32` |
/// | `gated` | the path of the function |
/// | `(gate: Tensor<f16, 2>)` | its operands, in order: `Tensor<T, R>`, or a number such as `limit: f32` |
///
/// The function returns a [`GemmWith`](crate::linear::GemmWith), whose options are those of [`gemm`](crate::linear::gemm) that are not of an epilogue.
/// a is \[m, k\], b is \[k, n\] and c is \[m, n\], of any strides; k = 0 is the epilogue of zeros. Operands have any shape: what the function loads out of
/// bounds is 0. What it computes out of bounds of c is not stored. Instances are those of [`gemm`](crate::linear::gemm) with an activation, and are selected
/// alike. Of a split K the last program of a tile calls the function, once for each element. c is stored in the order that is passed: of a transposed c
/// the general instance stores element by element, so that a · b as cᵀ = bᵀ · aᵀ is faster.
///
/// Names of operands do not begin with `gemm_`.
///
/// # Build time
///
/// Each use compiles the function in 8 to 12 instances, those of its pair of types alone: about a second on two cores, where `triton-core` is
/// optimised, as the documentation of [`triton`] says.
///
/// # Errors
/// `launch` returns [`Error::Shape`](crate::Error::Shape), [`Error::Instance`](crate::Error::Instance),
/// [`Error::Unsupported`](crate::Error::Unsupported), or an error of the device:
///
/// ```
/// # use triton::prelude::*;
/// # #[triton::function]
/// # fn twice<const BM: i32, const BN: i32>(v: Tile<f32>, _at: (i32, i32)) -> Tile<f32> {
/// #     v + v
/// # }
/// triton_kernels::gemm_with!(twice_gemm, bf16 => f32, twice);
/// # fn main() -> triton_kernels::Result<()> {
/// # let stream = Device::cpu().stream()?;
/// let (x, mut y) = (stream.zeros::<bf16>(64)?, stream.tensor_zeros::<f32, _>([4, 8])?);
/// let error = twice_gemm(x.view([4, 16])?, x.view([8, 8])?, &mut y).launch(&stream).unwrap_err();
/// assert!(error.to_string().starts_with("`twice_gemm`: `b` has extent 8 along axis 0, but 16 is expected"));
/// # Ok(())
/// # }
/// ```
#[macro_export]
macro_rules! gemm_with {
    (
        $(#[$meta:meta])*
        $vis:vis $name:ident, $t:ident => $c:ident,
        $($epilogue:ident)::+ $(($($operand:ident: $kind:ident $(<$of:ident, $rank:tt>)?),* $(,)?))? $(,)?
    ) => {
        $crate::__gemm_with! {
            $t $c { $(#[$meta])* } { $vis } $name { $($epilogue)::+ } { $($($operand [$kind $($of $rank)?])*)? }
        }
    };
}

/// What [`gemm_with!`] declares.
#[doc(hidden)]
#[macro_export]
macro_rules! __gemm_with {
    (f32 f32 $($rest:tt)*) => { $crate::__gemm_with! { @ [single()] f32 f32 $($rest)* } };
    (f16 f16 $($rest:tt)*) => { $crate::__gemm_with! { @ [half()] f16 f16 $($rest)* } };
    (bf16 bf16 $($rest:tt)*) => { $crate::__gemm_with! { @ [half()] bf16 bf16 $($rest)* } };
    (f16 f32 $($rest:tt)*) => { $crate::__gemm_with! { @ [wide()] f16 f32 $($rest)* } };
    (bf16 f32 $($rest:tt)*) => { $crate::__gemm_with! { @ [wide()] bf16 f32 $($rest)* } };
    (
        @ $pair:tt $t:ident $c:ident { $(#[$meta:meta])* } { $vis:vis } $name:ident { $($epilogue:tt)+ }
        { $($operand:ident [$kind:ident $($of:ident $rank:tt)?])* }
    ) => {
        #[doc(hidden)]
        #[allow(dead_code, non_camel_case_types, missing_debug_implementations, reason = "a name for the trait alone")]
        $vis struct $name {}

        $(#[$meta])*
        #[allow(clippy::too_many_arguments, reason = "operands are arguments")]
        $vis fn $name<'a>(
            a: impl $crate::__private::triton::IntoView<'a, $t, 2>,
            b: impl $crate::__private::triton::IntoView<'a, $t, 2>,
            c: impl $crate::__private::triton::IntoViewMut<'a, $c, 2>,
            $($operand: $crate::__gemm_operand!(@argument 'a $kind $($of $rank)?)),*
        ) -> $crate::linear::GemmWith<'a, $name> {
            $crate::linear::GemmWith::new(
                $crate::__private::triton::IntoView::into_view(a),
                $crate::__private::triton::IntoView::into_view(b),
                $crate::__private::triton::IntoViewMut::into_view_mut(c),
                ($($crate::__gemm_operand!(@view $operand $kind $($of $rank)?),)*),
            )
        }

        // Names of a kernel are compared as they are spelled: those of operands do not begin with `gemm_`.
        const _: () = {
            $crate::__fused_instances! {
                $pair
                fn gemm_with<const BM: i32, const BN: i32, const BK: i32, const TA: bool, const TB: bool>(
                    gemm_a: Tensor<$t, 2>,
                    gemm_b: Tensor<$t, 2>,
                    gemm_c: TensorMut<$c, 2>,
                    #[multiple_of(16)] gemm_first: i32,
                    $($operand: $kind $(<$of, $rank>)?),*
                ) {
                    $crate::__private::store_product::<$t, $c, BM, BN, BK, TA, TB>(
                        gemm_a,
                        gemm_b,
                        gemm_c,
                        gemm_first,
                        |gemm_sums, gemm_at| $($epilogue)+::<BM, BN>(gemm_sums, gemm_at $(, $operand)*),
                    );
                }
            }

            $crate::__split_instances! {
                [BM, BN, BK]
                $pair
                fn gemm_with_split<const BM: i32, const BN: i32, const BK: i32, const TA: bool, const TB: bool>(
                    gemm_a: Tensor<$t, 2>,
                    gemm_b: Tensor<$t, 2>,
                    gemm_c: TensorMut<$c, 2>,
                    gemm_parts: TensorMut<f32, 3>,
                    gemm_done: TensorMut<i32, 1>,
                    #[no_specialize] gemm_steps: i32,
                    gemm_ordered: bool,
                    #[multiple_of(16)] gemm_first: i32,
                    $($operand: $kind $(<$of, $rank>)?),*
                ) {
                    $crate::__private::store_split_product::<$t, $c, BM, BN, BK, TA, TB>(
                        gemm_a,
                        gemm_b,
                        gemm_c,
                        gemm_parts,
                        gemm_done,
                        gemm_steps,
                        gemm_ordered,
                        gemm_first,
                        |gemm_sums, gemm_at| $($epilogue)+::<BM, BN>(gemm_sums, gemm_at $(, $operand)*),
                    );
                }
            }

            impl $crate::__private::Product for $name {
                type T = $t;
                type C = $c;
                type Operands<'a> = ($($crate::__gemm_operand!(@type 'a $kind $($of $rank)?),)*);
                const NAME: &'static str = ::core::stringify!($name);

                fn each(order: $crate::__private::Order, is: $crate::linear::Told<'_>) {
                    use $crate::__private::{Kernel, tell};
                    $crate::__by_order!(order, |TA, TB| {
                        tell(
                            gemm_with_pool::<TA, TB>(),
                            Kernel::Whole,
                            |of| ([of.BM, of.BN, of.BK], of.num_warps, of.num_stages),
                            is,
                        );
                        tell(
                            gemm_with_split_pool::<TA, TB>(),
                            Kernel::Split { groups: 1, programs: 0 },
                            |of| ([of.BM, of.BN, of.BK], of.num_warps, of.num_stages),
                            is,
                        );
                    });
                }

                fn enqueue<'a: 'b, 'b>(
                    order: $crate::__private::Order,
                    arguments: $crate::__private::Arguments<'b, $t, $c>,
                    operands: Self::Operands<'a>,
                    run: &$crate::__private::Run<'_>,
                ) -> $crate::__private::triton::Result<()> {
                    let $crate::__private::Arguments { a, b, c, first, parts, done, steps, ordered } = arguments;
                    let ($($operand,)*) = operands;
                    $crate::__by_order!(order, |TA, TB| if run.is_split() {
                        run.launch(
                            gemm_with_split_tuned::<TA, TB>(a, b, c, parts, done, steps, ordered, first $(, $operand)*),
                            |of| [of.BM, of.BN, of.BK],
                        )
                    } else {
                        run.launch(gemm_with_tuned::<TA, TB>(a, b, c, first $(, $operand)*), |of| [of.BM, of.BN, of.BK])
                    })
                }
            }
        };
    };
    ($t:ident $c:ident $($rest:tt)*) => {
        ::core::compile_error! { ::core::concat!(
            "there is no product of `", ::core::stringify!($t), "` with an epilogue that is stored as `", ::core::stringify!($c),
            "`; there are f32 => f32, f16 => f16, bf16 => bf16, f16 => f32, bf16 => f32",
        ) }
    };
}

/// An operand of an epilogue: as an argument, as a type, as a value of this type.
#[doc(hidden)]
#[macro_export]
macro_rules! __gemm_operand {
    (@argument $a:lifetime Tensor $of:ident $rank:tt) => { impl $crate::__private::triton::IntoView<$a, $of, $rank> };
    (@argument $a:lifetime $of:ident) => { $of };
    (@type $a:lifetime Tensor $of:ident $rank:tt) => { $crate::__private::triton::View<$a, $of, $rank> };
    (@type $a:lifetime $of:ident) => { $of };
    (@view $operand:ident Tensor $of:ident $rank:tt) => { $crate::__private::triton::IntoView::into_view($operand) };
    (@view $operand:ident $of:ident) => { $operand };
}

/// An expression for the constants of an order.
#[doc(hidden)]
#[macro_export]
macro_rules! __by_order {
    ($order:expr, |$a:ident, $b:ident| $body:expr) => {
        match $order {
            $crate::__private::Order::NN => $crate::__by_order!(@ $a = false, $b = false, $body),
            $crate::__private::Order::NT => $crate::__by_order!(@ $a = false, $b = true, $body),
            $crate::__private::Order::TN => $crate::__by_order!(@ $a = true, $b = false, $body),
            $crate::__private::Order::TT => $crate::__by_order!(@ $a = true, $b = true, $body),
        }
    };
    (@ $a:ident = $x:literal, $b:ident = $y:literal, $body:expr) => {{
        const $a: bool = $x;
        const $b: bool = $y;
        $body
    }};
}
