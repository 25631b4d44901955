//! Products and copies of block-sparse matrices.

use super::problem::{Pattern, Problem, download, poisoned, upload, values, whole};
use crate::harness::{Case, Failure, Operand, Order, Scalar, compare, order, same, type_name};
use triton::{bf16, f16};

use crate::reference::number;
use crate::reference::sparse::{product, scores, transposed};
use triton_kernels::FloatElement;
use triton_kernels::sparse::{BlockSparse, sddmm, spmm};

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    of::<f32>(&mut cases, 0);
    of::<f16>(&mut cases, 1);
    of::<bf16>(&mut cases, 2);
    cases
}

fn of<T: FloatElement + Scalar>(cases: &mut Vec<Case>, offset: usize) {
    for (turn, problem) in Problem::all(offset).into_iter().enumerate() {
        sampled::<T>(cases, problem, turn);
        for is_transposed in [false, true] {
            applied::<T>(cases, problem, is_transposed, turn);
        }
        if turn.is_multiple_of(3) {
            copies::<T>(cases, problem, turn);
            exact::<T>(cases, problem, turn);
        }
    }
    for [batch, heads, grid, depth] in [[0, 1, 2, 16], [1, 0, 2, 16], [1, 1, 0, 16], [1, 1, 2, 0], [2, 1, 1, 1]] {
        let problem = Problem { pattern: Pattern::Causal, block: 16, batch, heads, grid, depth };
        sampled::<T>(cases, problem, 0);
        applied::<T>(cases, problem, false, 0);
        applied::<T>(cases, problem, true, 0);
    }
}

/// Naive, by super-blocks as wide as there are, and as is chosen.
fn sampled<T: FloatElement + Scalar>(cases: &mut Vec<Case>, problem: Problem, turn: usize) {
    let name = format!("sddmm {} {problem:?} {turn}", type_name::<T>());
    cases.push(Case::new(name, move |stream, random| {
        let layout = problem.layout(stream)?;
        let (mask, scale) = (layout.mask(), if turn.is_multiple_of(2) { 1.0 } else { 0.25 });
        let q = Operand::<T, 4>::normal(problem.shape(), order(turn), random);
        let k = Operand::<T, 4>::normal(problem.shape(), order(turn / 4), random);
        let (qs, ks) = (q.values(), k.values());
        let expected = problem.each_head(|index, head| {
            let there = |i, j| problem.has(mask, head, i, j);
            let x = scores(problem.of_head(&qs, index), problem.of_head(&ks, index), problem.depth, there);
            let n = problem.tokens();
            if x.is_empty() { vec![0.0.into(); n * n] } else { x.into_iter().map(|x| x * scale).collect() }
        });
        let expected = problem.blocks(mask, &expected);
        let (mq, mk) = (q.upload(stream)?, k.upload(stream)?);
        for superblocks in [None, Some(false), Some(true)] {
            let mut x = poisoned::<T>(stream, &problem, &layout)?;
            let launch = sddmm(q.view(&mq)?, k.view(&mk)?, &mut x).scale(scale as f32);
            match superblocks {
                None => launch,
                Some(superblocks) => launch.superblocks(superblocks),
            }
            .launch(stream)?;
            compare::<T>("scores", &download(stream, &x)?, &expected)?;
        }
        Ok(())
    }));
}

/// Without segments, and with some of several lengths, in any order and in one.
fn applied<T: FloatElement + Scalar>(cases: &mut Vec<Case>, problem: Problem, is_transposed: bool, turn: usize) {
    let name = format!("spmm {} {problem:?} {is_transposed} {turn}", type_name::<T>());
    cases.push(Case::new(name, move |stream, random| {
        let layout = problem.layout(stream)?;
        let mask = layout.mask();
        let (n, depth) = (problem.tokens(), problem.depth);
        let count = problem.batch * layout.blocks() * problem.block * problem.block;
        let (stored, exact) = values::<T>(random, count);
        let p = upload(stream, &problem, &layout, &stored)?;
        let v = Operand::<T, 4>::normal(problem.shape(), order(turn), random);
        let out = Operand::<T, 4>::output(problem.shape(), order(turn / 4));
        let (dense, vs) = (problem.dense(mask, &exact), v.values());
        let expected = problem.each_head(|index, _| {
            let p = problem.of_head(&dense, index);
            let v = problem.of_head(&vs, index);
            if is_transposed { product(&transposed(p, [n, n]), v, [n, n, depth]) } else { product(p, v, [n, n, depth]) }
        });
        let memory = v.upload(stream)?;
        let run = |segment: Option<usize>, deterministic: bool| -> Result<Vec<f64>, Failure> {
            let mut found = out.upload(stream)?;
            let launch = spmm(&p, v.view(&memory)?, out.view_mut(&mut found)?).deterministic(deterministic);
            let launch = if is_transposed { launch.transposed() } else { launch };
            match segment {
                None => launch,
                Some(blocks) => launch.segment(blocks),
            }
            .launch(stream)?;
            out.download(stream, &found)
        };
        let most = 1 + turn % 3;
        for (segment, deterministic) in [(None, false), (Some(most), false), (Some(most), true)] {
            let found = run(segment, deterministic)?;
            compare::<T>(&format!("out by {segment:?}"), &found, &expected)?;
            if (deterministic || segment.is_none()) && run(segment, deterministic)? != found {
                return Err(Failure(format!("a second run by {segment:?} gives other bits")));
            }
        }
        Ok(())
    }));
}

/// Sums of whole numbers are exact, in any order.
fn exact<T: FloatElement + Scalar>(cases: &mut Vec<Case>, problem: Problem, turn: usize) {
    let name = format!("sddmm and spmm of whole numbers {} {problem:?} {turn}", type_name::<T>());
    cases.push(Case::new(name, move |stream, random| {
        let layout = problem.layout(stream)?;
        let (mask, n, depth) = (layout.mask(), problem.tokens(), problem.depth);
        let q = Operand::<T, 4>::whole(problem.shape(), Order::any(random), random, 1);
        let k = Operand::<T, 4>::whole(q.shape(), Order::any(random), random, 1);
        let (mq, mk, qs, ks) = (q.upload(stream)?, k.upload(stream)?, q.values(), k.values());
        let expected = problem.each_head(|index, head| {
            let there = |i, j| problem.has(mask, head, i, j);
            scores(problem.of_head(&qs, index), problem.of_head(&ks, index), depth, there)
        });
        let mut x = poisoned::<T>(stream, &problem, &layout)?;
        sddmm(q.view(&mq)?, k.view(&mk)?, &mut x).launch(stream)?;
        same("scores", &download(stream, &x)?, &number::values(&problem.blocks(mask, &expected)))?;

        let count = problem.batch * layout.blocks() * problem.block * problem.block;
        let (stored, exact) = whole::<T>(random, count, 1);
        let p = upload(stream, &problem, &layout, &stored)?;
        let dense = problem.dense(mask, &exact);
        let expected = problem.each_head(|index, _| {
            let p = problem.of_head(&dense, index);
            let rounded =
                product(p, problem.of_head(&ks, index), [n, n, depth]).into_iter().map(|v| T::of(v.value).value());
            rounded.collect()
        });
        for segment in [1, 2, 100] {
            let out = Operand::<T, 4>::output(problem.shape(), Order::any(random));
            let mut found = out.upload(stream)?;
            spmm(&p, k.view(&mk)?, out.view_mut(&mut found)?).segment(segment).launch(stream)?;
            same("out", &out.download(stream, &found)?, &expected)?;
        }
        Ok(())
    }));
}

fn copies<T: FloatElement + Scalar>(cases: &mut Vec<Case>, problem: Problem, turn: usize) {
    let name = format!("to_dense {} {problem:?} {turn}", type_name::<T>());
    cases.push(Case::new(name, move |stream, random| {
        let layout = problem.layout(stream)?;
        let mask = layout.mask();
        let x = Operand::<T, 4>::normal(problem.dense_shape(), order(turn), random);
        let blocks = problem.blocks(mask, &x.values());
        let memory = x.upload(stream)?;
        let sparse = BlockSparse::from_dense(stream, x.view(&memory)?, &layout)?;
        same("values", &download(stream, &sparse)?, &blocks)?;
        let out = Operand::<T, 4>::output(problem.dense_shape(), order(turn + 1));
        let mut found = out.upload(stream)?;
        sparse.to_dense(stream, out.view_mut(&mut found)?)?;
        same("dense", &out.download(stream, &found)?, &problem.dense(mask, &blocks))
    }));
}
