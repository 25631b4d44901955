//! Block-sparse operations at the edge. Matrices are dense here, with blocks of 16 or 32 that a pattern has.

use super::subject::{Arrays, Subject, by_rows, put, room};
use crate::harness::hostile::Draw;
use crate::harness::{Case, Order, Outcome, Scalar};
use crate::reference::number::{Number, Total, exact, totals};
use crate::reference::softmax::softmax_of;
use crate::reference::sparse as reference;
use triton::prelude::*;
use triton_kernels::FloatElement;
use triton_kernels::sparse::{
    BlockLayout, BlockMask, BlockSparse, Mask, block_sparse_attention, sddmm, sparse_softmax, sparse_softmax_backward,
    spmm,
};

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    of::<f32>(&mut cases);
    of::<f16>(&mut cases);
    of::<bf16>(&mut cases);
    cases
}

/// A side of a block, and how many of them a matrix has along each axis.
const SIZES: [(usize, usize); 2] = [(16, 4), (32, 2)];

fn of<T: FloatElement + Scalar>(cases: &mut Vec<Case>) {
    for (block, blocks) in SIZES {
        cases.push(of_sampled::<T>(block, blocks).locality());
        for transposed in [false, true] {
            cases.push(of_product::<T>(block, blocks, transposed).locality());
        }
        for what in [What::Plain, What::Causal, What::Mask(Mask::Add), What::Mask(Mask::Multiply), What::Padding] {
            cases.push(of_softmax::<T>(block, blocks, what, Draw::Normal).locality());
        }
        cases.push(of_softmax::<T>(block, blocks, What::Causal, Draw::Edge(T::range()[2] / 2.0)).finite());
        cases.push(of_softmax_backward::<T>(block, blocks).locality());
        cases.push(of_attention::<T>(block, blocks).planted(2).locality());
        let n = block * blocks;
        let last = (0..n * DEPTH).map(|i| if i < (n - 1) * DEPTH { 0.5 } else { f64::NAN });
        let (all, last) = (Draw::Fixed(vec![0.5; n * DEPTH]), Draw::Fixed(last.collect()));
        let subject =
            of_attention::<T>(block, blocks).with_inputs([all.clone(), all, last].map(|draw| (n * DEPTH, draw)));
        cases.push(
            subject.named(format!("known: block-sparse attention by {block}, a NaN in the last row of V")).finite(),
        );
    }
}

/// A row of the first block attends to the first one; the others to their own and the one before.
fn has(block: usize, i: usize, j: usize) -> bool {
    let (row, column) = (i / block, j / block);
    column == row || column + 1 == row
}

fn layout(stream: &Stream, block: usize, blocks: usize) -> Outcome<BlockLayout> {
    let mask = BlockMask::from_fn([1, blocks, blocks], |_, row, column| column == row || column + 1 == row);
    Ok(BlockLayout::new(stream, block, &mask)?)
}

fn sparse<T: FloatElement + Scalar>(stream: &Stream, layout: &BlockLayout, dense: &[f64]) -> Outcome<BlockSparse<T>> {
    let [queries, keys] = layout.tokens();
    let dense = put::<T, 4>(stream, [1, 1, queries, keys], Order::Rows, dense)?;
    Ok(BlockSparse::from_dense(stream, dense.view()?, layout)?)
}

fn dense<T: FloatElement + Scalar>(stream: &Stream, x: &BlockSparse<T>) -> Outcome<Vec<f64>> {
    let [queries, keys] = x.layout().tokens();
    let mut dense = room::<T, 4>(stream, [1, 1, queries, keys], Order::Rows)?;
    x.to_dense(stream, dense.view_mut()?)?;
    dense.get(stream)
}

const DEPTH: usize = 20;

fn of_sampled<T: FloatElement + Scalar>(block: usize, blocks: usize) -> Subject {
    let n = block * blocks;
    let run = move |stream: &Stream, of: &[Vec<f64>]| -> Outcome<Arrays> {
        let layout = layout(stream, block, blocks)?;
        let [q, k] = [0, 1].map(|i| put::<T, 4>(stream, [1, 1, n, DEPTH], Order::Rows, &of[i]));
        let (q, k, mut results) = (q?, k?, Vec::new());
        for superblocks in [false, true] {
            let mut scores = BlockSparse::<T>::zeros(stream, 1, &layout)?;
            sddmm(q.view()?, k.view()?, &mut scores).superblocks(superblocks).launch(stream)?;
            results.push(dense(stream, &scores)?);
        }
        Ok(results)
    };
    let wanted = move |of: &[Vec<f64>]| {
        let one = reference::scores(&of[0], &of[1], DEPTH, |i, j| has(block, i, j));
        vec![one.clone(), one]
    };
    let inputs = [(n * DEPTH, Draw::Normal), (n * DEPTH, Draw::Normal)];
    Subject::new::<T>(format!("sddmm {blocks} blocks of {block}"), inputs, run, wanted)
}

fn of_product<T: FloatElement + Scalar>(block: usize, blocks: usize, transposed: bool) -> Subject {
    let n = block * blocks;
    let run = move |stream: &Stream, of: &[Vec<f64>]| -> Outcome<Arrays> {
        let layout = layout(stream, block, blocks)?;
        let (p, v) =
            (sparse::<T>(stream, &layout, &of[0])?, put::<T, 4>(stream, [1, 1, n, DEPTH], Order::Rows, &of[1])?);
        let mut results = Vec::new();
        for segment in [usize::MAX, 1] {
            let mut out = room::<T, 4>(stream, [1, 1, n, DEPTH], Order::Rows)?;
            let product = spmm(&p, v.view()?, out.view_mut()?).segment(segment).deterministic(true);
            if transposed { product.transposed() } else { product }.launch(stream)?;
            results.push(out.get(stream)?);
        }
        Ok(results)
    };
    let wanted = move |of: &[Vec<f64>]| {
        let mut out = vec![Total::default(); n * DEPTH];
        for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))).filter(|(i, j)| has(block, *i, *j)) {
            let (row, column) = if transposed { (j, i) } else { (i, j) };
            (0..DEPTH).for_each(|d| out[row * DEPTH + d].add_product(of[0][i * n + j], of[1][column * DEPTH + d]));
        }
        let out = totals(out);
        vec![out.clone(), out]
    };
    let inputs = [(n * n, Draw::Normal), (n * DEPTH, Draw::Normal)];
    let name = format!("spmm {blocks} blocks of {block} transposed {transposed}");
    Subject::new::<T>(name, inputs, run, wanted)
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum What {
    Plain,
    Causal,
    Mask(Mask),
    Padding,
}

impl What {
    /// Whether a query sees a key of a block.
    fn sees(self, i: usize, j: usize) -> bool {
        match self {
            What::Plain => true,
            What::Causal => j <= i,
            What::Mask(_) => !(i + j).is_multiple_of(3),
            What::Padding => !j.is_multiple_of(5),
        }
    }
}

fn of_softmax<T: FloatElement + Scalar>(block: usize, blocks: usize, what: What, draw: Draw) -> Subject {
    let n = block * blocks;
    let run = move |stream: &Stream, of: &[Vec<f64>]| -> Outcome<Arrays> {
        let mut x = sparse::<T>(stream, &layout(stream, block, blocks)?, &of[0])?;
        let numbers = |how: Mask, seen: bool| match (how, seen) {
            (Mask::Add, true) | (Mask::Multiply, false) => 0.0,
            (Mask::Add, false) => f64::NEG_INFINITY,
            (Mask::Multiply, true) => 1.0,
        };
        let how = if let What::Mask(how) = what { how } else { Mask::Multiply };
        let mask: Vec<f64> = (0..n * n).map(|at| numbers(how, what.sees(at / n, at % n))).collect();
        let pad: Vec<f64> = (0..n).map(|j| numbers(Mask::Multiply, what.sees(0, j))).collect();
        let (mask, pad) =
            (put::<T, 2>(stream, [n, n], Order::Rows, &mask)?, put::<T, 2>(stream, [1, n], Order::Rows, &pad)?);
        let softmax = sparse_softmax(&mut x);
        match what {
            What::Plain => softmax,
            What::Causal => softmax.causal(),
            What::Mask(how) => softmax.mask(mask.view()?, how),
            What::Padding => softmax.key_padding(pad.view()?, Mask::Multiply),
        }
        .launch(stream)?;
        Ok(vec![dense(stream, &x)?])
    };
    let wanted = move |of: &[Vec<f64>]| {
        vec![by_rows(&of[0], n, |i, row| {
            let seen = |j: usize| has(block, i, j) && what.sees(i, j);
            let most = (0..n).filter(|j| seen(*j)).map(|j| row[j]).fold(f64::NEG_INFINITY, f64::max);
            let most = if most == f64::NEG_INFINITY { 0.0 } else { most };
            let part = |j: usize| (Number::from(row[j]) - most).exp();
            let total: Number = (0..n).filter(|j| seen(*j)).map(part).sum();
            // A NaN makes all blocks of its row so.
            let of = |j: usize| match (total.value == 0.0 || !has(block, i, j), seen(j)) {
                (true, _) => 0.0.into(),
                (_, true) => part(j) / total,
                (_, false) => 0.0 / total,
            };
            (0..n).map(of).collect()
        })]
    };
    let name = format!("sparse_softmax {what:?} {blocks} blocks of {block}");
    Subject::new::<T>(name, [(n * n, draw)], run, wanted)
}

fn of_softmax_backward<T: FloatElement + Scalar>(block: usize, blocks: usize) -> Subject {
    let n = block * blocks;
    let p = (0..n * n).map(|at| if has(block, at / n, at % n) && at % 3 > 0 { 1.0 / 16.0 } else { 0.0 });
    let run = move |stream: &Stream, of: &[Vec<f64>]| -> Outcome<Arrays> {
        let layout = layout(stream, block, blocks)?;
        let (p, mut dp) = (sparse::<T>(stream, &layout, &of[0])?, sparse::<T>(stream, &layout, &of[1])?);
        sparse_softmax_backward(&p, &mut dp).launch(stream)?;
        Ok(vec![dense(stream, &dp)?])
    };
    let wanted = move |of: &[Vec<f64>]| {
        vec![by_rows(&of[0], n, |i, p| {
            let (p, dp) = (exact(p), exact(&of[1][i * n..][..n]));
            let total: Number = (0..n).filter(|j| p[*j].value != 0.0).map(|j| p[j] * dp[j]).sum();
            (0..n).map(|j| if p[j].value != 0.0 { p[j] * (dp[j] - total) } else { 0.0.into() }).collect()
        })]
    };
    let inputs = [(n * n, Draw::Fixed(p.collect())), (n * n, Draw::Normal)];
    Subject::new::<T>(format!("sparse_softmax_backward {blocks} blocks of {block}"), inputs, run, wanted)
}

fn of_attention<T: FloatElement + Scalar>(block: usize, blocks: usize) -> Subject {
    let n = block * blocks;
    let run = move |stream: &Stream, of: &[Vec<f64>]| -> Outcome<Arrays> {
        let layout = layout(stream, block, blocks)?;
        let [q, k, v] = [0, 1, 2].map(|i| put::<T, 4>(stream, [1, 1, n, DEPTH], Order::Rows, &of[i]));
        let (q, k, v, mut out) = (q?, k?, v?, room::<T, 4>(stream, [1, 1, n, DEPTH], Order::Rows)?);
        let attention = block_sparse_attention(q.view()?, k.view()?, v.view()?, out.view_mut()?, &layout);
        attention.scale(0.25).causal().launch(stream)?;
        Ok(vec![out.get(stream)?])
    };
    let wanted = move |of: &[Vec<f64>]| {
        let mut out = Vec::new();
        for i in 0..n {
            let seen: Vec<usize> = (0..n).filter(|j| has(block, i, *j) && *j <= i).collect();
            let query = &of[0][i * DEPTH..][..DEPTH];
            let score =
                |j: &usize| reference::scores(query, &of[1][j * DEPTH..][..DEPTH], DEPTH, |_, _| true)[0] * 0.25;
            // As of a query that sees no key, the result is 0 where all scores are −∞.
            let p = softmax_of(&seen.iter().map(score).collect::<Vec<_>>(), false);
            let mut row = vec![Total::default(); DEPTH];
            for (p, j) in p.iter().zip(&seen) {
                let is_none = p.value == 0.0;
                let p = p.stored(T::rounding());
                let value = |d: usize| p * of[2][j * DEPTH + d];
                row.iter_mut().enumerate().filter(|_| !is_none).for_each(|(d, sum)| *sum += value(d));
            }
            out.extend(totals(row));
        }
        vec![out]
    };
    let inputs = [(); 3].map(|()| (n * DEPTH, Draw::Normal));
    Subject::new::<T>(format!("block_sparse_attention {blocks} blocks of {block}"), inputs, run, wanted)
}
