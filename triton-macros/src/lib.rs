//! The attributes of the façade. What they do is in `triton-syntax`, a library, so that tests and tools can call it too.

/// Compiles a function over tiles to GPU code and turns it into a typed launcher.
///
/// ```text
/// #[triton::kernel(T = [f32, f16], BLOCK = [256, 1024])]
/// pub fn add<T: Num, const BLOCK: i32>(x: Ptr<T>, y: Ptr<T>, out: PtrMut<T>, n: i32) { .. }
/// ```
///
/// | option | meaning |
/// |---|---|
/// | `NAME = [a, b]` | the values of the type or const parameter `NAME`; several lists give every combination |
/// | `configs = [(BM = 64, num_warps = 4), ..]` | a list of combinations, each with its own options |
/// | `num_warps = 4` | warps of 32 threads that run one program: 1, 2, 4, 8, 16 or 32 |
/// | `num_stages = 4` | the most tiles of an operand that a loop around a `dot` holds at a time, from 1 to 8, unless `#[stages(n)]` before the `for` says it; default: 3 |
/// | `max_registers = 128` | the most registers of a thread, from 24 to 255; by default the compiler decides |
/// | `cluster_k = 4` | the blocks of a cluster that share the K of the one `dot` in the kernel's loop, on devices with clusters: 1, 2, 4 or 8; default: 1 |
/// | `targets = ["sm_80"]` | the targets that there is code for, `sm_80` and `sm_90a`; default: all of them |
/// | `assertions = false` | removes the run-time checks of `assert!` |
/// | `deterministic = true` | sums are added in one order, pairwise, neighbours first: the same bits on every device, with any number of warps (except the sums inside `dot`) |
/// | `fast_math = true` | `a * b + c` is an `fma`, and `a / b` in `f32` and `f64` a product with `1 / b` (within 2 ulp) if `b` is one number or broadcast; the same bits on every device |
/// | `warnings = true` | warns of uncoalesced accesses, whose neighbouring elements are not contiguous in memory, and of masks that are always true |
/// | `crate = path` | where the façade is, if it is reached through another crate |
///
/// A kernel must be in a module or a function, not in an `impl`.
///
/// A parameter may carry `#[multiple_of(16)]` (a precondition, checked at launch: the integer, or the pointer's address
/// in bytes, is a multiple of it) and `#[no_specialize]` (no specialized code for values divisible by 16).
///
/// The function's own parameters are the launcher's: `add::<f32, 1024>(&x, &y, &mut out, n)` returns a launch, and
/// `.launch(&stream, grid)` enqueues it. Launching is `unsafe` if a parameter is a `Ptr` or `PtrMut`;
/// with views (`Tensor`, `TensorMut`) and scalars alone it is safe.
#[proc_macro_attribute]
pub fn kernel(args: proc_macro::TokenStream, item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    triton_syntax::kernel(args.into(), item.into()).into()
}

/// A function over tiles and numbers that kernels call, in its own crate and in others.
///
/// ```text
/// #[triton::function]
/// pub fn silu<T: Float>(x: Tile<T>) -> Tile<T> {
///     x * sigmoid(x)
/// }
/// ```
///
/// A call is inlined. It is called by any path that names it: through `use`, renamed,
/// re-exported, from another crate. Parameters are numbers, `bool`, `Tile<T>`, pointers, views, tuples of these, and
/// structs with [`macro@params`]; shapes are those of the arguments. The value is the last expression: there is no `return`.
/// Generic parameters are inferred from the arguments, or written as in Rust, `scale::<f32, 3>(x)`. A function does not
/// call itself. External constants that it names must have [`macro@constant`].
///
/// It must be in a module or a function, not in an `impl`. Called by the program itself, outside a kernel, it panics.
#[proc_macro_attribute]
pub fn function(args: proc_macro::TokenStream, item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    triton_syntax::function(args.into(), item.into()).into()
}

/// A compile-time constant of kernels and their functions, which shapes may depend on.
///
/// ```text
/// #[triton::constant]
/// pub const WIDTH: i32 = 4 * 32;
/// ```
///
/// It is an ordinary constant of the program, too. Its value is an expression of the kernel language: literals, operators, other
/// such constants. A kernel may also name constants without the attribute; their values are embedded in its code, and
/// cannot be extents of tiles.
#[proc_macro_attribute]
pub fn constant(args: proc_macro::TokenStream, item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    triton_syntax::constant(args.into(), item.into()).into()
}

/// A struct of numbers and `bool`s that a kernel takes as one parameter, and passes on to functions.
///
/// ```text
/// #[triton::params]
/// #[derive(Clone, Copy)]
/// pub struct Sgd {
///     rate: f32,
///     momentum: f32,
/// }
/// ```
///
/// A kernel reads its fields, `options.rate`. It is passed by value at launch.
#[proc_macro_attribute]
pub fn params(args: proc_macro::TokenStream, item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    triton_syntax::params(args.into(), item.into()).into()
}

/// What hidden macros call. Not public.
#[doc(hidden)]
#[proc_macro]
pub fn link(tokens: proc_macro::TokenStream) -> proc_macro::TokenStream {
    triton_syntax::link(tokens.into()).into()
}

/// The hidden macros of the functions of the language. Not public.
#[doc(hidden)]
#[proc_macro]
pub fn built_ins(_: proc_macro::TokenStream) -> proc_macro::TokenStream {
    triton_syntax::built_ins().into()
}
