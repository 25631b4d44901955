//! What programs do that share a reduction: each leaves a part in scratch memory, and the last one to arrive finishes.

use triton::prelude::*;

/// Whether this program is the last of `of` that count at element `at` of `done`, which is 0 before: then what the others have written is
/// visible to it. No program waits for another. The last one has to set the element to 0 again, as scratch memory of a stream has to be.
///
/// ```
/// use triton::prelude::*;
/// use triton_kernels::functions::last_to_arrive;
///
/// /// out = the sum of x, of which each program has 32 elements.
/// #[triton::kernel]
/// fn total(x: Tensor<f32, 1>, parts: TensorMut<f32, 1>, done: TensorMut<i32, 1>, out: TensorMut<f32, 1>) {
///     let program = program_id(0);
///     parts.store([program], full([1], sum(x.load([program * 32], [32]))));
///     if last_to_arrive(done, 0, num_programs(0)) {
///         out.store([0], full([1], sum(parts.load([0], [64]))));
///         done.store([0], zeros::<i32>([1]));
///     }
/// }
///
/// let stream = Device::cpu().stream()?;
/// let (x, mut out) = (stream.tensor(&[1.0f32; 100], [100])?, stream.tensor_uninit::<f32, _>([1])?);
/// let (mut parts, mut done) = (stream.tensor_zeros::<f32, _>([64])?, stream.zeros::<i32>(1)?);
/// let counter = done.view_mut([1])?;
/// total(&x, &mut parts, counter, &mut out).launch(&stream, 4)?;
/// assert_eq!(stream.download(&out)?, [100.0]);
/// # Ok::<(), triton::Error>(())
/// ```
#[triton::function]
pub fn last_to_arrive(done: TensorMut<i32, 1>, at: i32, of: i32) -> bool {
    let before = done.order(AcqRel).atomic_add_at([at], 1, true);
    before == of - 1
}

/// The sum of all parts of a tile, in their order, AT at a time: one after the other would wait for memory as often as there are
/// parts. They are 0 afterwards, as scratch memory of a stream has to be.
#[triton::function]
pub fn added_parts<E: Float, const BM: i32, const BN: i32, const AT: i32>(
    parts: TensorMut<E, 3>,
    at: (i32, i32),
) -> Tile<E> {
    let (m, n) = at;
    let mut total = zeros::<E>([BM, BN]);
    for part in (0..parts.dim(0)).step_by(AT) {
        total += sum_axis(parts.load([part, m, n], [AT, BM, BN]), 0);
        parts.store([part, m, n], zeros::<E>([AT, BM, BN]));
    }
    total
}
