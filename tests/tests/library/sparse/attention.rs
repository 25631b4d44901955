//! Attention by its launches, forward and backward, and gradients of the reference.

use super::problem::{Pattern, Problem, download};
use crate::harness::{Case, Operand, Scalar, compare, gradient, normals, order, type_name};
use crate::reference::number::Number;
use crate::reference::sparse::{Attention, Gradients};
use triton::{bf16, f16};
use triton_kernels::FloatElement;
use triton_kernels::sparse::{
    BlockSparse, block_sparse_attention, sddmm, sparse_softmax, sparse_softmax_backward, spmm,
};

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    of::<f32>(&mut cases, 0);
    of::<f16>(&mut cases, 1);
    of::<bf16>(&mut cases, 2);
    for pattern in Pattern::ALL {
        for what in [Of::Queries, Of::Keys, Of::Values, Of::Position] {
            gradients(&mut cases, pattern, what);
        }
    }
    cases
}

fn of<T: FloatElement + Scalar>(cases: &mut Vec<Case>, offset: usize) {
    for (turn, problem) in Problem::all(offset).into_iter().enumerate().filter(|(turn, _)| turn % 3 == offset) {
        composed::<T>(cases, problem, turn);
    }
    for (turn, problem) in Problem::all(offset + 1).into_iter().enumerate().filter(|(turn, _)| turn % 2 == offset % 2) {
        fused::<T>(cases, problem, turn);
    }
    fused::<T>(cases, Problem { pattern: Pattern::Sparse, block: 32, batch: 1, heads: 1, grid: 3, depth: 128 }, 0);
    fused::<T>(cases, Problem { pattern: Pattern::Causal, block: 16, batch: 1, heads: 1, grid: 2, depth: 1 }, 1);
    fused::<T>(cases, Problem { pattern: Pattern::Causal, block: 16, batch: 0, heads: 1, grid: 2, depth: 16 }, 0);
}

/// In one launch.
fn fused<T: FloatElement + Scalar>(cases: &mut Vec<Case>, problem: Problem, turn: usize) {
    let name = format!("block_sparse_attention {} {problem:?} {turn}", type_name::<T>());
    cases.push(Case::new(name, move |stream, random| {
        let layout = problem.layout(stream)?;
        let (shape, n, is_causal) = (problem.shape(), problem.tokens(), turn % 4 < 2);
        let scale = if turn.is_multiple_of(3) { 0.5 } else { 1.0 / (problem.depth as f64).sqrt() };
        let operands = [0, 1, 2].map(|i| Operand::<T, 4>::normal(shape, order(turn + i), random));
        let [q, k, v] = &operands;
        let (mq, mk, mv) = (q.upload(stream)?, k.upload(stream)?, v.upload(stream)?);
        let out = Operand::<T, 4>::output(shape, order(turn / 2));
        let mut found = out.upload(stream)?;
        let of_out = out.view_mut(&mut found)?;
        let launch = block_sparse_attention(q.view(&mq)?, k.view(&mk)?, v.view(&mv)?, of_out, &layout);
        let launch = if is_causal { launch.causal() } else { launch };
        if turn.is_multiple_of(3) { launch.scale(0.5) } else { launch }.launch(stream)?;
        let (values, mut outside) = (operands.each_ref().map(Operand::values), problem.outside(layout.mask()));
        let later = |at: &usize| is_causal && at % n > at / n % n;
        (0..outside.len()).filter(later).for_each(|at| outside[at] = f64::NEG_INFINITY);
        let rounding = T::rounding();
        let expected = problem.each_head(|index, head| {
            let [q, k, v] = values.each_ref().map(|x| problem.of_head(x, index));
            Attention { q, k, v, added: &outside[head * n * n..][..n * n], depth: problem.depth, scale, rounding }
                .output()
        });
        compare::<T>("out", &out.download(stream, &found)?, &expected)
    }));
}

/// All launches, one after another: what is stored between them is rounded each time.
fn composed<T: FloatElement + Scalar>(cases: &mut Vec<Case>, problem: Problem, turn: usize) {
    let name = format!("block-sparse attention {} {problem:?} {turn}", type_name::<T>());
    cases.push(Case::new(name, move |stream, random| {
        let layout = problem.layout(stream)?;
        let (mask, shape) = (layout.mask(), problem.shape());
        let scale = 1.0 / (problem.depth as f64).sqrt();
        let operands = [0, 1, 2, 3].map(|i| Operand::<T, 4>::normal(shape, order(turn + i), random));
        let [q, k, v, d_out] = &operands;
        let memory = [q.upload(stream)?, k.upload(stream)?, v.upload(stream)?, d_out.upload(stream)?];
        let results = [0, 1, 2, 3].map(|i| Operand::<T, 4>::output(shape, order(turn / 2 + i)));
        let (scale32, mut found) = (scale as f32, Vec::new());
        for result in &results {
            found.push(result.upload(stream)?);
        }
        let mut p = BlockSparse::<T>::zeros(stream, problem.batch, &layout)?;
        let mut dx = BlockSparse::<T>::zeros(stream, problem.batch, &layout)?;
        let [of_q, of_k, of_v, of_d] =
            [q.view(&memory[0])?, k.view(&memory[1])?, v.view(&memory[2])?, d_out.view(&memory[3])?];
        sddmm(of_q, of_k, &mut p).launch(stream)?;
        sparse_softmax(&mut p).scale(scale32).launch(stream)?;
        spmm(&p, of_v, results[0].view_mut(&mut found[0])?).segment(2).launch(stream)?;
        spmm(&p, of_d, results[3].view_mut(&mut found[3])?).transposed().launch(stream)?;
        sddmm(of_d, of_v, &mut dx).launch(stream)?;
        sparse_softmax_backward(&p, &mut dx).scale(scale32).launch(stream)?;
        spmm(&dx, of_k, results[1].view_mut(&mut found[1])?).launch(stream)?;
        spmm(&dx, of_q, results[2].view_mut(&mut found[2])?).transposed().segment(1).launch(stream)?;

        let values = operands.each_ref().map(Operand::values);
        let outside = problem.outside(mask);
        let (n, mut expected) = (problem.tokens(), [const { Vec::new() }; 5]);
        for index in 0..problem.batch * problem.heads {
            let [q, k, v, d_out] = values.each_ref().map(|x| problem.of_head(x, index));
            let added = &outside[index % problem.heads * n * n..][..n * n];
            let of = Attention { q, k, v, added, depth: problem.depth, scale, rounding: T::rounding() };
            let Gradients { q, k, v, added } = of.backward(d_out);
            [of.output(), q, k, v, added].into_iter().zip(&mut expected).for_each(|(x, all)| all.extend(x));
        }
        for (i, what) in ["out", "dq", "dk", "dv"].into_iter().enumerate() {
            compare::<T>(what, &results[i].download(stream, &found[i])?, &expected[i])?;
        }
        let scaled: Vec<Number> = problem.blocks(mask, &expected[4]).into_iter().map(|dx| dx * scale).collect();
        compare::<T>("dx", &download(stream, &dx)?, &scaled)
    }));
}

/// What a gradient is for.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Of {
    Queries,
    Keys,
    Values,
    Position,
}

/// Along directions at random, of two heads of three blocks of 16.
fn gradients(cases: &mut Vec<Case>, pattern: Pattern, what: Of) {
    let name = format!("block-sparse attention gradient of the reference {pattern:?} {what:?}");
    cases.push(Case::new(name, move |_, random| {
        let problem = Problem { pattern, block: 16, batch: 1, heads: 2, grid: 3, depth: 16 };
        let (mask, n, depth) = (problem.mask()?, problem.tokens(), problem.depth);
        let outside = problem.outside(&mask);
        for direction in 0..12 {
            let head = direction % problem.heads;
            let [q, k, v] = [0, 1, 2].map(|_| normals(random, n * depth));
            let noise = normals(random, n * n);
            let added: Vec<f64> =
                outside[head * n * n..][..n * n].iter().zip(noise).map(|(x, noise)| x + noise).collect();
            let along = normals(random, if what == Of::Position { n * n } else { n * depth });
            let moved = |x: &[f64], is: Of, t: f64| -> Vec<f64> {
                if is == what { x.iter().zip(&along).map(|(x, along)| x + t * along).collect() } else { x.to_vec() }
            };
            let at = |t: f64| {
                [
                    moved(&q, Of::Queries, t),
                    moved(&k, Of::Keys, t),
                    moved(&v, Of::Values, t),
                    moved(&added, Of::Position, t),
                ]
            };
            let of = |[q, k, v, added]: &[Vec<f64>; 4], f: &dyn Fn(Attention<'_>) -> Vec<Number>| {
                f(Attention { q, k, v, added, depth, scale: 0.25, rounding: 0.0 })
            };
            if mask.iter().all(|[h, ..]| h != head) {
                continue;
            }
            gradient(
                &format!("{what:?}"),
                random,
                &[0.0],
                |t| of(&at(t[0]), &|attention| attention.output()),
                |t, d_out| {
                    of(&at(t[0]), &|attention| {
                        let all = attention.backward(d_out);
                        let of_one = match what {
                            Of::Queries => all.q,
                            Of::Keys => all.k,
                            Of::Values => all.v,
                            Of::Position => all.added,
                        };
                        vec![of_one.iter().zip(&along).map(|(d, along)| *d * *along).sum()]
                    })
                },
            )?;
        }
        Ok(())
    }));
}
