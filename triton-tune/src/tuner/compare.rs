//! How much the outputs of two candidates differ.

use triton::prelude::*;
use triton::selection::Output;

/// Programs of a comparison: two for each multiprocessor of an H200.
const PROGRAMS: usize = 264;

/// parts\[i\] = the largest |right - found| of part i, and the largest finite |right|.
///
/// Numbers that are infinite or not a number alike do not differ; of others the difference is infinite.
#[triton::kernel(T = [i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64])]
fn differences<T: Num>(right: Tensor<T, 1>, found: Tensor<T, 1>, parts: TensorMut<f64, 2>) {
    const N: i32 = 1024;
    let (mut worst, mut largest) = (zeros::<f64>([N]), zeros::<f64>([N]));
    for i in (program_id(0) * N..right.dim(0)).step_by(num_programs(0) * N) {
        let (a, b) = (right.load([i], [N]).to::<f64>(), found.load([i], [N]).to::<f64>());
        let same = (a == b) | ((a != a) & (b != b));
        let error = select(same, 0.0, abs(a - b));
        worst = maximum(worst, select(error != error, f64::INFINITY, error));
        largest = maximum(largest, select(abs(a) < f64::INFINITY, abs(a), 0.0));
    }
    parts.store([program_id(0), 0], full([1, 1], max(worst)));
    parts.store([program_id(0), 1], full([1, 1], max(largest)));
}

/// The largest difference of outputs over the largest finite magnitude of those that are right; 0 where there are none.
///
/// # Errors
/// [`triton::Error::OutOfMemory`], or a fault of earlier work.
pub(super) fn difference(right: &[Output], found: &[Output], stream: &Stream) -> triton::Result<f64> {
    let mut most = 0.0f64;
    for (right, found) in right.iter().zip(found) {
        let (worst, largest) = match on_device(right, found, stream)? {
            Some(both) => both,
            None => on_host(&right.values(stream)?, &found.values(stream)?),
        };
        most = most.max(worst / if largest > 0.0 { largest } else { 1.0 });
    }
    Ok(most)
}

/// The largest difference and the largest magnitude; `None` of a type or a length that the kernel has no instance for.
fn on_device(right: &Output, found: &Output, stream: &Stream) -> triton::Result<Option<(f64, f64)>> {
    let of_type = [
        of::<f32>, of::<bf16>, of::<f16>, of::<f64>, of::<i32>, of::<i64>, of::<u32>, of::<u64>, of::<i8>, of::<u8>,
        of::<i16>, of::<u16>,
    ];
    of_type.iter().find_map(|of| of(right, found, stream).transpose()).transpose()
}

/// The same where the elements are of a type.
fn of<T: Num>(right: &Output, found: &Output, stream: &Stream) -> triton::Result<Option<(f64, f64)>>
where
    triton::Compiled: DifferencesInstance<T>,
{
    let (Some(right), Some(found)) = (right.view::<T>(), found.view::<T>()) else { return Ok(None) };
    of_views(right, found, stream).map(Some)
}

fn of_views<T: Num>(right: View<'_, T, 1>, found: View<'_, T, 1>, stream: &Stream) -> triton::Result<(f64, f64)>
where
    triton::Compiled: DifferencesInstance<T>,
{
    let mut parts = stream.uninit::<f64>(2 * PROGRAMS)?;
    differences::<T>(right, found, parts.view_mut([PROGRAMS, 2])?).launch(stream, PROGRAMS)?;
    let parts = stream.download(&parts)?;
    let most = |of: usize| parts.iter().skip(of).step_by(2).copied().fold(0.0, f64::max);
    Ok((most(0), most(1)))
}

/// The same of what is downloaded.
fn on_host(right: &[f64], found: &[f64]) -> (f64, f64) {
    let (mut worst, mut largest) = (0.0f64, 0.0f64);
    for (a, b) in right.iter().zip(found) {
        let same = a == b || a.is_nan() && b.is_nan();
        let error = if same { 0.0 } else { (a - b).abs() };
        worst = worst.max(if error.is_nan() { f64::INFINITY } else { error });
        largest = if a.is_finite() { largest.max(a.abs()) } else { largest };
    }
    (worst, largest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_finds_what_the_host_does() -> triton::Result<()> {
        let (nan, infinity) = (f32::NAN, f32::INFINITY);
        /// Right, found, and what is expected.
        type Case<'c> = (&'c [f32], &'c [f32], (f64, f64));
        let cases: [Case<'_>; 7] = [
            (&[1.0, -8.0, 3.0], &[1.0, -8.0, 3.5], (0.5, 8.0)),
            (&[nan, infinity, -infinity], &[nan, infinity, -infinity], (0.0, 0.0)),
            (&[nan, 2.0], &[1.0, 2.0], (f64::INFINITY, 2.0)),
            (&[1.0, 2.0], &[nan, 2.0], (f64::INFINITY, 2.0)),
            (&[infinity, 2.0], &[-infinity, 2.0], (f64::INFINITY, 2.0)),
            (&[1.0, 2.0], &[infinity, 2.0], (f64::INFINITY, 2.0)),
            (&[0.0, -0.0], &[-0.0, 0.0], (0.0, 0.0)),
        ];
        let stream = Device::cpu().stream()?;
        for (right, found, expected) in cases {
            // The last element of a part, and one of a second round of programs.
            for at in [0, 1021, PROGRAMS * 1024 + 5] {
                let long = |values: &[f32]| [vec![0.0; at], values.to_vec()].concat();
                let (right, found) = (long(right), long(found));
                let (x, y) = (stream.upload(&right)?, stream.upload(&found)?);
                let len = right.len();
                assert_eq!(of_views(x.view([len])?, y.view([len])?, &stream)?, expected, "{at}");
                let wide = |values: &[f32]| values.iter().map(|value| f64::from(*value)).collect::<Vec<_>>();
                assert_eq!(on_host(&wide(&right), &wide(&found)), expected);
            }
        }
        Ok(())
    }

    #[test]
    fn integers_of_any_size() -> triton::Result<()> {
        let stream = Device::cpu().stream()?;
        let (x, y) = (stream.upload(&[i64::MIN, 5])?, stream.upload(&[i64::MAX, 5])?);
        assert_eq!(of_views(x.view([2])?, y.view([2])?, &stream)?, (2.0f64.powi(64), 2.0f64.powi(63)));
        Ok(())
    }
}
