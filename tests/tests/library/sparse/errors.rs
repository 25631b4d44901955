//! What block-sparse operations refuse.

use crate::harness::{Case, refused};
use triton_kernels::sparse::{
    BlockLayout, BlockMask, BlockSparse, block_sparse_attention, sparse_softmax, sparse_softmax_backward, spmm,
};

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::new("a layout refuses other blocks", |stream, _| {
            let layout = BlockLayout::new(stream, 48, &BlockMask::dense(2));
            refused(layout, &["`BlockLayout`: `block` is 48, but 16, 32, 64 or 128"])
        }),
        Case::new("spmm refuses empty segments", |stream, _| {
            let mask = BlockMask::from_fn([1, 2, 3], |_, _, _| true);
            let layout = BlockLayout::new(stream, 16, &mask)?;
            let (x, mut y) = (stream.zeros::<f32>(4096)?, stream.zeros::<f32>(4096)?);
            let p = BlockSparse::<f32>::zeros(stream, 1, &layout)?;
            let launch = spmm(&p, x.view([1, 1, 48, 4])?, y.view_mut([1, 1, 32, 4])?).segment(0);
            refused(launch.launch(stream), &["`spmm`: `segment` is 0, but a positive number"])
        }),
        Case::new("sparse_softmax refuses other scales", |stream, _| {
            let layout = BlockLayout::new(stream, 16, &BlockMask::causal(2))?;
            let mut scores = BlockSparse::<f32>::zeros(stream, 2, &layout)?;
            for scale in [f32::NAN, f32::INFINITY] {
                let launch = sparse_softmax(&mut scores).scale(scale);
                refused(launch.launch(stream), &["`sparse_softmax`: `scale` is", "a finite number"])?;
            }
            Ok(())
        }),
        Case::new("sparse_softmax_backward refuses another layout", |stream, _| {
            let layout = BlockLayout::new(stream, 16, &BlockMask::causal(2))?;
            let p = BlockSparse::<f32>::zeros(stream, 1, &layout)?;
            let other = BlockLayout::new(stream, 16, &BlockMask::dense(2))?;
            let mut dp = BlockSparse::zeros(stream, 1, &other)?;
            let expected =
                &["`sparse_softmax_backward`: `dp` is 1 matrices of", "the batch and the layout of the first"];
            refused(sparse_softmax_backward(&p, &mut dp).launch(stream), expected)?;
            let mut dp = BlockSparse::zeros(stream, 1, &layout)?;
            refused(sparse_softmax_backward(&p, &mut dp).scale(f32::NAN).launch(stream), &["`scale` is NaN"])?;
            // An equal layout is the same.
            let mut dp = BlockSparse::zeros(stream, 1, &BlockLayout::new(stream, 16, &BlockMask::causal(2))?)?;
            Ok(sparse_softmax_backward(&p, &mut dp).launch(stream)?)
        }),
        Case::new("block_sparse_attention refuses wide heads and other scales", |stream, _| {
            let layout = BlockLayout::new(stream, 16, &BlockMask::causal(2))?;
            let (x, mut y) = (stream.zeros::<f32>(32 * 129)?, stream.zeros::<f32>(32 * 129)?);
            let good = x.view([1, 1, 32, 4])?;
            let wide = x.view([1, 1, 32, 129])?;
            let launch = block_sparse_attention(wide, wide, wide, y.view_mut([1, 1, 32, 129])?, &layout);
            refused(launch.launch(stream), &["`the extent d` is 129, but at most 128", "`sddmm`"])?;
            let launch = block_sparse_attention(good, good, good, y.view_mut([1, 1, 32, 4])?, &layout).scale(f32::NAN);
            refused(launch.launch(stream), &["`scale` is NaN, but a finite number"])
        }),
        Case::new("copies refuse other shapes", |stream, _| {
            let layout = BlockLayout::new(stream, 16, &BlockMask::causal(2))?;
            let mut x = stream.zeros::<f32>(4096)?;
            let sparse = BlockSparse::from_dense(stream, x.view([1, 1, 32, 16])?, &layout);
            refused(sparse, &["`from_dense`: `dense` has extent 16 along axis 3, but 32"])?;
            let sparse = BlockSparse::<f32>::zeros(stream, 1, &layout)?;
            let result = sparse.to_dense(stream, x.view_mut([2, 1, 32, 32])?);
            refused(result, &["`to_dense`: `dense` has extent 2 along axis 0, but 1"])
        }),
    ]
}
