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
/// | `debug_asserts = false` | leaves out what `assert!` checks at run time |
/// | `deterministic = true` | sums are added in one order, by halves, neighbours first: the same bits on every device, with any number of warps (but for the sums inside `dot`) |
/// | `crate = path` | where the façade is, if it is reached through another crate |
///
/// A kernel stands in a module or in a function, not in an `impl`.
///
/// A parameter may carry `#[multiple_of(16)]` (a promise, checked at launch: the integer, or the pointer's address in
/// bytes, is a multiple of it) and `#[general]` (no code of its own for values divisible by 16).
///
/// The function's own parameters are the launcher's: `add::<f32, 1024>(&x, &y, &mut out, n)` gives a launch, and
/// `.launch(&stream, grid)` enqueues it. Launching is `unsafe` if a parameter is a `Ptr` or `PtrMut`;
/// with views (`Tensor`, `TensorMut`) and scalars alone it is safe.
#[proc_macro_attribute]
pub fn kernel(args: proc_macro::TokenStream, item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    triton_syntax::kernel(args.into(), item.into()).into()
}
