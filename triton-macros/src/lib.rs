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
/// | `configs = [(BM = 64, num_warps = 4), ..]` | combinations written out, each with its own options |
/// | `num_warps = 4` | warps of 32 threads that run one program: 1, 2, 4, 8, 16 or 32 |
/// | `assertions = false` | leaves out what `assert!` checks at run time |
/// | `deterministic = true` | sums are added in one order, by halves, neighbours first: the same bits on every device, with any number of warps (but for the sums inside `dot`) |
/// | `warnings = true` | warns of accesses whose neighbouring elements are not next to each other in memory, and of masks that are always true |
/// | `crate = path` | where the façade is, if it is reached through another crate |
///
/// A kernel stands in a module or in a function, not in an `impl`.
///
/// A parameter may carry `#[multiple_of(16)]` (a promise, checked at launch: the integer, or the pointer's address in
/// bytes, is a multiple of it) and `#[no_specialize]` (no code of its own for values divisible by 16).
///
/// The function's own parameters are the launcher's: `add::<f32, 1024>(&x, &y, &mut out, n)` gives a launch, and
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
/// A call is replaced by the body, while the kernel is compiled. It is called by any path that names it: through `use`, renamed,
/// re-exported, from another crate. Parameters are numbers, `bool`, `Tile<T>`, pointers, views, tuples of these, and
/// structs with [`macro@params`]; shapes are those of the arguments. The value is the last expression: there is no `return`.
/// Generic parameters are found from the arguments, or written as in Rust, `scale::<f32, 3>(x)`. A function does not call
/// itself. Constants from outside that it mentions have [`macro@constant`].
///
/// It stands in a module or in a function, not in an `impl`. Called by the program itself, outside of a kernel, it panics.
#[proc_macro_attribute]
pub fn function(args: proc_macro::TokenStream, item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    triton_syntax::function(args.into(), item.into()).into()
}

/// A constant that kernels and their functions know while they are compiled, so that shapes can be made of it.
///
/// ```text
/// #[triton::constant]
/// pub const WIDTH: i32 = 4 * 32;
/// ```
///
/// It is an ordinary constant of the program, too. Its value is an expression of the kernel language: literals, operators, other
/// such constants. A kernel may also mention constants without the attribute; their values are put into its code, and
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

/// What hidden macros call. Not for people.
#[doc(hidden)]
#[proc_macro]
pub fn link(tokens: proc_macro::TokenStream) -> proc_macro::TokenStream {
    triton_syntax::link(tokens.into()).into()
}

/// The hidden macros of the functions of the language. Not for people.
#[doc(hidden)]
#[proc_macro]
pub fn built_ins(_: proc_macro::TokenStream) -> proc_macro::TokenStream {
    triton_syntax::built_ins().into()
}
