//! Kernels of a user's own as operations of candle.

/// Writes a function over tensors of candle whose kernel is a user's own: on the CPU and on CUDA devices, with any strides, and with a
/// gradient if one is given.
///
/// - `T in [..]` lists the element types; the body is compiled for each, with `T` as its name. All tensors have that type.
/// - `x: 2` is a tensor of two axes, which the body has as a view. `x: [..2]` has any number of axes: the last one, and those before as one. A
///   tensor whose axes do not merge is copied ([`copies`](crate::copies)). There are one to three tensors, and after `;` scalars, which are
///   `Copy`.
/// - `-> y: 2 = shape` is the one result, in row-major order; `y: [..2]` as of a tensor. In the expression of its shape the tensors' names are
///   all their extents, as slices.
/// - `forward(stream)` enqueues the work. Its value is a `Result` with any error, such as that of the last launch; an earlier launch ends in
///   `.map_err(candle_core::Error::wrap)?`, and `candle_core::bail!` refuses what does not fit: extents of several tensors are not compared for
///   you. It launches on that stream and does not capture it.
/// - `gradient(dy)` has the gradients, in an array of as many as tensors, `None` for one without, by operations of candle or others of ours. In
///   it the names are tensors, the result's, too.
///
/// ```
/// use candle_core::{Device, Tensor, Var};
/// use triton::prelude::*;
/// use triton_candle::candle_op;
///
/// #[triton::kernel(T = [f32, f16])]
/// fn squares<T: Float>(x: Tensor<T, 1>, y: TensorMut<T, 1>) {
///     let at = [program_id(0) * 256];
///     let v = x.load(at, [256]).to::<f32>();
///     y.store(at, (v * v).to::<T>());
/// }
///
/// candle_op! {
///     /// x², elementwise.
///     pub fn square<T in [f32, f16]>(x: [..1]) -> y: [..1] = x.to_vec();
///     forward(stream) { squares::<T>(x, y).launch(stream, x.shape()[0].div_ceil(256)) }
///     gradient(dy) { Ok([Some((x * dy)?.affine(2.0, 0.0)?)]) }
/// }
///
/// fn main() -> candle_core::Result<()> {
///     let x = Var::new(&[[1f32, 2.0], [3.0, 4.0]], &Device::Cpu)?;
///     let y = square(&x)?;
///     assert_eq!(y.to_vec2::<f32>()?, [[1.0, 4.0], [9.0, 16.0]]);
///     let gradients = y.sum_all()?.backward()?;
///     assert_eq!(gradients.get(&x).unwrap().to_vec2::<f32>()?, [[2.0, 4.0], [6.0, 8.0]]);
///     let error = square(&Tensor::new(&[1u32], &Device::Cpu)?).unwrap_err().to_string();
///     assert!(error.starts_with("`square`: `x` is of U32, but F32 or F16 is expected; convert it with `to_dtype`"), "{error}");
///     Ok(())
/// }
/// ```
#[macro_export]
macro_rules! candle_op {
    (
        $(#[$meta:meta])*
        $vis:vis fn $name:ident<$T:ident in [$($element:ty),+ $(,)?]>(
            $($x:ident: $rank:tt),+ $(,)? $(; $($scalar:ident: $of:ty),+ $(,)?)?
        ) -> $y:ident: $out:tt = $shape:expr;
        forward($stream:ident) $forward:block
        $(gradient($dy:ident) $gradient:block)?
    ) => {
        $(#[$meta])*
        $vis fn $name(
            $($x: &$crate::candle_core::Tensor,)+ $($($scalar: $of,)+)?
        ) -> $crate::candle_core::Result<$crate::candle_core::Tensor> {
            struct Op {
                $($($scalar: $of,)+)?
            }

            impl $crate::Operation for Op {
                fn name(&self) -> &'static str {
                    stringify!($name)
                }

                fn forward(
                    &self,
                    call: &$crate::Call,
                    of: &[$crate::Operand<'_>],
                ) -> $crate::candle_core::Result<($crate::Output, $crate::candle_core::Shape)> {
                    $($(let $scalar = self.$scalar;)+)?
                    let shape: $crate::candle_core::Shape = {
                        let mut of = of.iter();
                        $(let $x = $crate::next(&mut of)?.dims();)+
                        $(let _ = $x;)+
                        $shape.into()
                    };
                    $($(let _ = $scalar;)+)?
                    $crate::axes(stringify!($name), stringify!($y), shape.dims(), $crate::candle_op!(@exact $out))?;
                    let found = of[0].dtype();
                    $crate::candle_op!(@each $T found [$($element),+] {
                        let mut of = of.iter();
                        $(let $x = call.read::<$T>(stringify!($name), stringify!($x), *$crate::next(&mut of)?)?;)+
                        let mut memory = call.fresh::<$T>(shape.elem_count())?;
                        {
                            $(let $x = $x.view::<{ $crate::candle_op!(@rank $rank) }>()?;)+
                            let mut write = memory.write(call);
                            let $y = write.rows_mut::<{ $crate::candle_op!(@rank $out) }>(&shape)?;
                            let $stream = call.stream();
                            let done: ::core::result::Result<(), _> = $forward;
                            done.map_err($crate::candle_core::Error::wrap)?;
                        }
                        return Ok((memory.into_output(call), shape));
                    });
                    let expected = [$(<$element as $crate::candle_core::WithDType>::DTYPE),+];
                    let first = [$(stringify!($x)),+][0];
                    Err($crate::refused(stringify!($name), first, found, &expected))
                }

                $crate::candle_op!(@gradient [$($dy $gradient)?] [$($x)+] [$($($scalar)+)?] $y);
            }

            $($crate::axes(stringify!($name), stringify!($x), $x.dims(), $crate::candle_op!(@exact $rank))?;)+
            $crate::apply(Op { $($($scalar,)+)? }, &[$(($x, $crate::candle_op!(@rank $rank))),+])
        }
    };
    (@rank $rank:literal) => { $rank };
    (@rank [..$rank:literal]) => { $rank };
    (@exact $rank:literal) => { Some($rank) };
    (@exact [..$rank:literal]) => { None };
    (@gradient [] [$($x:ident)+] [$($scalar:ident)*] $y:ident) => {};
    (@gradient [$dy:ident $gradient:block] [$($x:ident)+] [$($scalar:ident)*] $y:ident) => {
        fn gradients(
            &self,
            of: &[&$crate::candle_core::Tensor],
            $y: &$crate::candle_core::Tensor,
            $dy: &$crate::candle_core::Tensor,
        ) -> $crate::candle_core::Result<::std::vec::Vec<::core::option::Option<$crate::candle_core::Tensor>>> {
            $(let $scalar = self.$scalar;)*
            let mut of = of.iter();
            $(let $x = *$crate::next(&mut of)?;)+
            let _ = ($($x,)+ $($scalar,)* $y);
            let gradients: $crate::candle_core::Result<[::core::option::Option<$crate::candle_core::Tensor>; [$(stringify!($x)),+].len()]> = $gradient;
            gradients.map(::std::vec::Vec::from)
        }
    };
    (@each $T:ident $found:ident [] $body:tt) => {};
    (@each $T:ident $found:ident [$element:ty $(, $rest:ty)*] $body:tt) => {
        if $found == <$element as $crate::candle_core::WithDType>::DTYPE {
            type $T = $element;
            $body
        }
        $crate::candle_op!(@each $T $found [$($rest),*] $body)
    };
    ($($other:tt)*) => {
        compile_error!(
            "`candle_op!` expects `pub fn name<T in [f32, f16]>(x: 2, w: [..1]; by: f32) -> y: 2 = x.to_vec(); forward(stream) { .. }`, and \
             `gradient(dy) { .. }` if it has one: one to three tensors of one element type, scalars, and one result"
        );
    };
}

/// An error unless there are as many axes as expected.
#[doc(hidden)]
pub fn axes(
    op: &'static str,
    operand: &'static str,
    found: &[usize],
    expected: Option<usize>,
) -> candle_core::Result<()> {
    match expected {
        Some(rank) if rank != found.len() => {
            let axes = if rank == 1 { "one axis".to_string() } else { format!("{rank} axes") };
            let expected = format!("{axes} (`{operand}: [..{rank}]` in `candle_op!` has any number)");
            Err(crate::error::shape(op, operand, found, &expected))
        }
        _ => Ok(()),
    }
}

/// The next of the tensors that an operation was given.
#[doc(hidden)]
pub fn next<'a, T>(of: &mut std::slice::Iter<'a, T>) -> candle_core::Result<&'a T> {
    of.next().ok_or_else(|| candle_core::Error::msg("the operation was given too few tensors"))
}

/// The error of an element type.
#[doc(hidden)]
pub fn refused(
    op: &'static str,
    operand: &'static str,
    found: candle_core::DType,
    expected: &[candle_core::DType],
) -> candle_core::Error {
    crate::error::dtype(op, operand, found, expected)
}
