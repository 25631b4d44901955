//! What is refused, and in which words; and what is told of a product.

use crate::harness::{Case, Failure, Outcome, refused};
use triton::{Buffer, Stream, bf16};
use triton_kernels::linear::{Precision, Scale};
use triton_kernels::linear::{gemm, gemm_batched};

/// A case over three buffers of 64 elements.
fn case(
    name: &str,
    run: impl Fn(&Stream, &Buffer<f32>, &Buffer<f32>, &mut Buffer<f32>) -> Outcome + Send + Sync + 'static,
) -> Case {
    Case::new(format!("gemm refuses {name}"), move |stream, _| {
        let (a, b, mut c) = (stream.zeros(64)?, stream.zeros(64)?, stream.zeros(64)?);
        run(stream, &a, &b, &mut c)
    })
}

pub(super) fn cases() -> Vec<Case> {
    vec![
        case("another K", |stream, a, b, c| {
            let product = gemm(a.view([4, 16])?, b.view([8, 8])?, c.view_mut([4, 8])?);
            refused(product.launch(stream), &["`gemm`", "`b` has extent 8 along axis 0", "16 is expected", "[k, n]"])
        }),
        case("another M", |stream, a, b, c| {
            let product = gemm(a.view([4, 8])?, b.view([8, 8])?, c.view_mut([5, 8])?);
            refused(product.launch(stream), &["`c` has extent 5 along axis 0", "4 is expected"])
        }),
        case("another N", |stream, a, b, c| {
            let product = gemm(a.view([4, 8])?, b.view([8, 8])?, c.view_mut([4, 7])?);
            refused(product.launch(stream), &["`c` has extent 7 along axis 1", "8 is expected"])
        }),
        case("another batch", |stream, a, b, c| {
            let product = gemm_batched(a.view([2, 4, 8])?, b.view([3, 8, 2])?, c.view_mut([2, 4, 2])?);
            refused(product.launch(stream), &["`gemm_batched`", "`b` has extent 3 along axis 0", "2 is expected"])
        }),
        case("a short bias", |stream, a, b, c| {
            let product = gemm(a.view([4, 8])?, b.view([8, 8])?, c.view_mut([4, 8])?);
            refused(product.bias(a.view([7])?).launch(stream), &["`bias` has extent 7", "8 is expected", "column"])
        }),
        case("a long row bias", |stream, a, b, c| {
            let product = gemm(a.view([4, 8])?, b.view([8, 8])?, c.view_mut([4, 8])?);
            refused(product.row_bias(a.view([5])?).launch(stream), &["`row_bias` has extent 5", "4 is expected"])
        }),
        case("another residual", |stream, a, b, c| {
            let product = gemm(a.view([4, 8])?, b.view([8, 8])?, c.view_mut([4, 8])?);
            let product = product.residual(a.view([4, 9])?);
            refused(product.launch(stream), &["`residual` has extent 9 along axis 1", "8 is expected"])
        }),
        case("scales", |stream, a, b, c| {
            let product = gemm(a.view([4, 8])?, b.view([8, 8])?, c.view_mut([4, 8])?);
            refused(product.scale_a(Scale::Each(a.view([3])?)).launch(stream), &["`scale_a`", "3", "4 is expected"])?;
            let product = gemm(a.view([4, 8])?, b.view([8, 8])?, c.view_mut([4, 8])?);
            refused(product.scale_b(Scale::Tensor(a.view([3])?)).launch(stream), &["`scale_b`", "1 is expected"])
        }),
        case("sums of columns", |stream, a, b, c| {
            let mut sums = stream.zeros::<f32>(9)?;
            let product = gemm(a.view([4, 8])?, b.view([8, 8])?, c.view_mut([4, 8])?);
            let product = product.column_sums(sums.view_mut([9])?);
            refused(product.launch(stream), &["`column_sums` has extent 9", "8 is expected"])?;
            let product = gemm_batched(a.view([2, 4, 8])?, b.view([1, 8, 8])?, c.view_mut([2, 4, 8])?);
            refused(product.column_sums(sums.view_mut([8])?).launch(stream), &["sums of columns of 2 products"])
        }),
        case("an instance", |stream, a, b, c| {
            let product = gemm(a.view([4, 8])?, b.view([8, 8])?, c.view_mut([4, 8])?);
            refused(product.instance("3x3x3").launch(stream), &["no instance `3x3x3`", "64x64x32"])
        }),
        Case::new("gemm tells its scratch memory", |stream, _| {
            let (a, mut c) = (stream.zeros::<f32>(64)?, stream.zeros::<f32>(64)?);
            let bytes = gemm(a.view([4, 8])?, a.view([8, 8])?, c.view_mut([4, 8])?).scratch_bytes(stream)?;
            // Four parts of one element, and a counter.
            let (row, column) = (a.view([1, 1])?.broadcast(1, 4096)?, a.view([1, 1])?.broadcast(0, 4096)?);
            let split = gemm(row, column, c.view_mut([1, 1])?).splits(4).deterministic(true).scratch_bytes(stream)?;
            match [bytes, split] {
                [0, 20] => Ok(()),
                found => Err(Failure(format!("{found:?} bytes instead of 0 and 20"))),
            }
        }),
        Case::new("gemm of f64 tells its scratch memory", |stream, _| {
            let (a, mut c) = (stream.zeros::<f64>(1)?, stream.zeros::<f64>(1)?);
            let (row, column) = (a.view([1, 1])?.broadcast(1, 4096)?, a.view([1, 1])?.broadcast(0, 4096)?);
            match gemm(row, column, c.view_mut([1, 1])?).splits(4).deterministic(true).scratch_bytes(stream)? {
                36 => Ok(()),
                found => Err(Failure(format!("{found} bytes instead of 36"))),
            }
        }),
        Case::new("gemm refuses a precision", |stream, _| {
            let a = stream.zeros::<bf16>(64)?;
            let mut c = stream.zeros::<bf16>(64)?;
            let product = gemm(a.view([4, 8])?, a.view([8, 8])?, c.view_mut([4, 8])?);
            refused(product.precision(Precision::Tf32).launch(stream), &["Tf32", "bf16", "of f32"])
        }),
        Case::new("gemm refuses an epilogue of integers", |stream, _| {
            let a = stream.zeros::<i8>(64)?;
            let mut c = stream.zeros::<i32>(64)?;
            let product = gemm(a.view([4, 8])?, a.view([8, 8])?, c.view_mut([4, 8])?);
            refused(product.alpha(2.0).launch(stream), &["an epilogue of i32", "store it as f32"])?;
            let product = gemm(a.view([4, 8])?, a.view([8, 8])?, c.view_mut([4, 8])?);
            refused(product.splits(2).launch(stream), &["2 splits of I8"])
        }),
    ]
}
