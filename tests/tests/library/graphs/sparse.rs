//! Block-sparse operations, whose layouts make tables at the first use.

use super::form::{Desk, Form, Sizes, first, form};
use crate::harness::Scalar;
use triton::Element;
use triton::prelude::*;
use triton_kernels::sparse::{
    BlockLayout, BlockMask, Mask, block_sparse_attention, sddmm, sparse_softmax, sparse_softmax_backward, spmm,
};
use triton_kernels::{FloatElement, Result};

pub(super) fn forms() -> Vec<Form> {
    let mut forms = Vec::new();
    of::<f32>(&mut forms);
    of::<bf16>(&mut forms);
    forms
}

fn layout<T: Element>(desk: &Desk<T>) -> BlockLayout {
    desk.layout.clone().expect("the sizes have a mask")
}

fn of<T: FloatElement + Scalar>(forms: &mut Vec<Form>) {
    let (n, depth) = (64, 20);
    let (rows, square) = ([1, 1, n, depth], [1, 1, n, n]);
    let sizes = Sizes { mask: Some(BlockMask::longformer(4, 1, 1)), ..Sizes::default() };
    let dense = Sizes { y: vec![n * n], s: 1, ..sizes.clone() };
    forms.push(form::<T>("to_dense", dense, move |d, s| d.s[0].to_dense(s, d.y[0].view_mut(square)?)));
    for superblocks in [None, Some(false), Some(true)] {
        let sampled = Sizes { x: vec![n * depth; 2], s: 1, ..sizes.clone() };
        forms.push(form::<T>(format!("sddmm, superblocks {superblocks:?}"), sampled, move |d, s| {
            let product = sddmm(d.x[0].view(rows)?, d.x[1].view(rows)?, &mut d.s[0]).scale(0.5);
            if let Some(is) = superblocks { product.superblocks(is) } else { product }.launch(s)
        }));
    }
    let softmax = Sizes { x: vec![n * n, n, n * n], s: 1, ..sizes.clone() };
    let mut add = |name: &str, launch: fn(&mut Desk<T>, &Stream) -> Result<()>| {
        forms.push(form::<T>(format!("sparse_softmax {name}"), softmax.clone(), launch));
    };
    add("", |d, s| sparse_softmax(&mut d.s[0]).scale(0.5).launch(s));
    add("causal, with a position", |d, s| {
        sparse_softmax(&mut d.s[0]).causal().position(d.x[2].view([1, 1, 64, 64])?).launch(s)
    });
    add("with masks", |d, s| {
        let (mask, padding) = (d.x[0].view([64, 64])?, d.x[1].view([1, 64])?);
        sparse_softmax(&mut d.s[0]).mask(mask, Mask::Add).key_padding(padding, Mask::Multiply).launch(s)
    });
    forms.push(form::<T>("sparse_softmax_backward", Sizes { s: 2, ..sizes.clone() }, |d, s| {
        let [p, dp] = first(&mut d.s);
        sparse_softmax_backward(p, dp).launch(s)
    }));
    for (transposed, segment, ordered) in
        [(false, None, false), (false, Some(1), true), (true, Some(2), false), (true, None, true)]
    {
        let product = Sizes { x: vec![n * depth], y: vec![n * depth], s: 1, ..sizes.clone() };
        let name = format!("spmm, transposed {transposed}, segment {segment:?}, deterministic {ordered}");
        forms.push(form::<T>(name, product, move |d, s| {
            let product = spmm(&d.s[0], d.x[0].view(rows)?, d.y[0].view_mut(rows)?).deterministic(ordered);
            let product = if let Some(blocks) = segment { product.segment(blocks) } else { product };
            if transposed { product.transposed() } else { product }.launch(s)
        }));
    }
    for causal in [false, true] {
        let sizes = Sizes { x: vec![n * depth; 3], y: vec![n * depth], ..sizes.clone() };
        forms.push(form::<T>(format!("block_sparse_attention, causal {causal}"), sizes, move |d, s| {
            let layout = layout(d);
            let (q, k, v) = (d.x[0].view(rows)?, d.x[1].view(rows)?, d.x[2].view(rows)?);
            let call = block_sparse_attention(q, k, v, d.y[0].view_mut(rows)?, &layout);
            if causal { call.causal() } else { call }.launch(s)
        }));
    }
}
