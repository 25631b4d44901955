//! Softmax of block-sparse scores, and its gradient.

use super::problem::{Pattern, Problem, download, upload, values};
use crate::harness::{Case, Operand, Outcome, Random, Scalar, compare, order, same, type_name};
use crate::reference::number::{self, Number, exact};
use crate::reference::sparse as reference;
use triton::{View, bf16, f16};
use triton_kernels::FloatElement;
use triton_kernels::sparse::{BlockLayout, BlockMask, Mask, sparse_softmax, sparse_softmax_backward};

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    of::<f32>(&mut cases, 2);
    of::<f16>(&mut cases, 0);
    of::<bf16>(&mut cases, 1);
    cases
}

/// What is done to scores first.
#[derive(Clone, Copy, Debug, PartialEq)]
enum What {
    Nothing,
    Scale,
    Position,
    SharedPosition,
    Mask(Mask),
    Padding(Mask),
    Causal,
    All,
}

const ALL: [What; 10] = [
    What::Nothing,
    What::Scale,
    What::Position,
    What::SharedPosition,
    What::Mask(Mask::Add),
    What::Mask(Mask::Multiply),
    What::Padding(Mask::Add),
    What::Padding(Mask::Multiply),
    What::Causal,
    What::All,
];

impl What {
    fn positions(self) -> bool {
        matches!(self, What::Position | What::SharedPosition | What::All)
    }

    fn mask(self) -> Option<Mask> {
        match self {
            What::Mask(mask) => Some(mask),
            What::All => Some(Mask::Multiply),
            What::Nothing | What::Scale | What::Position | What::SharedPosition | What::Padding(_) | What::Causal => {
                None
            }
        }
    }

    fn padding(self) -> Option<Mask> {
        match self {
            What::Padding(mask) => Some(mask),
            What::All => Some(Mask::Add),
            What::Nothing | What::Scale | What::Position | What::SharedPosition | What::Mask(_) | What::Causal => None,
        }
    }

    fn is_causal(self) -> bool {
        matches!(self, What::Causal | What::All)
    }
}

fn of<T: FloatElement + Scalar>(cases: &mut Vec<Case>, offset: usize) {
    for (turn, problem) in Problem::all(offset).into_iter().enumerate() {
        let problem = Problem { depth: 0, ..problem };
        forward::<T>(cases, problem, ALL[turn % ALL.len()], turn);
        backward::<T>(cases, problem, turn);
    }
    for (i, grid) in [33, 40, 129, 130].into_iter().enumerate() {
        long::<T>(cases, grid, i % 2 == 1);
    }
}

/// What a mask adds.
fn added(mask: f64, how: Mask) -> f64 {
    match how {
        Mask::Add => mask,
        Mask::Multiply if mask == 0.0 => f64::NEG_INFINITY,
        Mask::Multiply => 0.0,
    }
}

/// A mask that excludes some elements, and all of row (or sequence) 1.
fn masked<T: Scalar>(shape: [usize; 2], how: Option<Mask>, turn: usize, random: &mut Random) -> Operand<T, 2> {
    let mut at = 0;
    Operand::new(shape, order(turn), || {
        at += 1;
        let excluded = random.u32(..4) == 0 || (at - 1) / shape[1].max(1) == 1;
        match how {
            Some(Mask::Add) if excluded => f64::NEG_INFINITY,
            Some(Mask::Multiply) if excluded => 0.0,
            _ => random.f64() + 0.5,
        }
    })
}

fn forward<T: FloatElement + Scalar>(cases: &mut Vec<Case>, problem: Problem, what: What, turn: usize) {
    let name = format!("sparse_softmax {} {problem:?} {what:?} {turn}", type_name::<T>());
    cases.push(Case::new(name, move |stream, random| run::<T>(stream, random, problem, what, turn)));
}

/// Rows of few elements, and one, the first or the last, of more than a program has in registers.
fn long<T: FloatElement + Scalar>(cases: &mut Vec<Case>, grid: usize, is_causal: bool) {
    let name = format!("sparse_softmax of a long row {} {grid} {is_causal}", type_name::<T>());
    cases.push(Case::new(name, move |stream, random| {
        let problem = Problem { pattern: Pattern::Longformer, block: 16, batch: 1, heads: 1, grid, depth: 0 };
        let is_row = move |m: usize| m == if is_causal { grid - 1 } else { 0 };
        let mask = BlockMask::from_fn([1, grid, grid], |_, m, n| is_row(m) || m == n);
        let (layout, n) = (BlockLayout::new(stream, 16, &mask)?, problem.tokens());
        let (stored, numbers) = values::<T>(random, layout.blocks() * 256);
        let mut p = upload(stream, &problem, &layout, &stored)?;
        let mut scores = problem.dense(&mask, &numbers);
        for ((at, score), outside) in scores.iter_mut().enumerate().zip(problem.outside(&mask)) {
            *score += if is_causal && at % n > at / n { f64::NEG_INFINITY } else { outside };
        }
        let launch = sparse_softmax(&mut p);
        if is_causal { launch.causal() } else { launch }.launch(stream)?;
        let found = download(stream, &p)?;
        compare::<T>("p", &found, &problem.blocks(&mask, &reference::softmax(&exact(&scores), n)))?;
        let (stored, numbers) = values::<T>(random, layout.blocks() * 256);
        let mut dp = upload(stream, &problem, &layout, &stored)?;
        sparse_softmax_backward(&p, &mut dp).launch(stream)?;
        let (p, dense) = (problem.dense(&mask, &found), problem.dense(&mask, &numbers));
        let expected = reference::softmax_backward(&exact(&p), &exact(&dense), n, 1.0);
        compare::<T>("dp", &download(stream, &dp)?, &problem.blocks(&mask, &expected))
    }));
}

fn run<T: FloatElement + Scalar>(
    stream: &triton::Stream,
    random: &mut Random,
    problem: Problem,
    what: What,
    turn: usize,
) -> Outcome {
    let layout = problem.layout(stream)?;
    let (mask, n, heads) = (layout.mask(), problem.tokens(), problem.heads);
    let scale = if what == What::Nothing { 1.0 } else { 0.375 };
    let (stored, numbers) = values::<T>(random, problem.batch * layout.blocks() * problem.block * problem.block);
    let mut x = upload(stream, &problem, &layout, &stored)?;

    let shared = what == What::SharedPosition;
    let [batches, of_heads] = if shared { [1, 1] } else { [problem.batch, heads] };
    let shape = if what.positions() { [batches, of_heads, n, n] } else { [0; 4] };
    let position = Operand::<T, 4>::normal(shape, order(turn), random);
    let of_mask = masked::<T>([n, n], what.mask(), turn + 1, random);
    let of_padding = masked::<T>([problem.batch, n], what.padding(), turn / 2, random);
    let (positions, masks, paddings) = (position.values(), of_mask.values(), of_padding.values());
    let outside = problem.outside(mask);
    let dense = problem.dense(mask, &numbers);
    let expected = problem.each_head(|index, head| {
        let (z, x) = (index / heads, problem.of_head(&dense, index));
        let mut scores = Vec::with_capacity(n * n);
        for (at, x) in x.iter().enumerate() {
            let (i, j) = (at / n, at % n);
            let mut v = Number::from(*x) * scale + outside[head * n * n + at];
            if what.positions() {
                v = v + positions[if shared { at } else { index * n * n + at }];
            }
            v = v + what.mask().map_or(0.0, |how| added(masks[at], how));
            v = v + what.padding().map_or(0.0, |how| added(paddings[z * n + j], how));
            scores.push(if what.is_causal() && j > i { f64::NEG_INFINITY.into() } else { v });
        }
        reference::softmax(&scores, n)
    });
    let (mp, mm, mk) = (position.upload(stream)?, of_mask.upload(stream)?, of_padding.upload(stream)?);
    let mut launch = sparse_softmax(&mut x).scale(scale as f32);
    if what.positions() {
        let view: View<'_, T, 4> = position.view(&mp)?;
        launch = launch.position(if shared { view.broadcast(0, problem.batch)?.broadcast(1, heads)? } else { view });
    }
    if let Some(how) = what.mask() {
        launch = launch.mask(of_mask.view(&mm)?, how);
    }
    if let Some(how) = what.padding() {
        launch = launch.key_padding(of_padding.view(&mk)?, how);
    }
    if what.is_causal() {
        launch = launch.causal();
    }
    launch.launch(stream)?;
    let found = download(stream, &x)?;
    compare::<T>("p", &found, &problem.blocks(mask, &expected))?;
    // Each row is of sum 1, or 0.
    let sums = |p: &[f64]| -> Vec<f64> { p.chunks(n.max(1)).map(|row| row.iter().sum()).collect() };
    let rounded = sums(&problem.dense(mask, &found)).into_iter().map(f64::round).collect::<Vec<_>>();
    same(
        "the sum of a row",
        &rounded,
        &sums(&number::values(&expected)).into_iter().map(f64::round).collect::<Vec<_>>(),
    )
}

fn backward<T: FloatElement + Scalar>(cases: &mut Vec<Case>, problem: Problem, turn: usize) {
    let name = format!("sparse_softmax_backward {} {problem:?} {turn}", type_name::<T>());
    cases.push(Case::new(name, move |stream, random| {
        let layout = problem.layout(stream)?;
        let (mask, n) = (layout.mask(), problem.tokens());
        let count = problem.batch * layout.blocks() * problem.block * problem.block;
        let outside = problem.outside(mask);
        let x = problem.dense(mask, &values::<T>(random, count).1);
        let p = problem.each_head(|index, head| {
            let x = problem.of_head(&x, index).iter().zip(&outside[head * n * n..]).map(|(x, outside)| x + outside);
            number::values(&reference::softmax(&exact(&x.collect::<Vec<_>>()), n))
        });
        let stored: Vec<T> = problem.blocks(mask, &p).into_iter().map(T::of).collect();
        let numbers: Vec<f64> = stored.iter().map(|p| p.value()).collect();
        let (stored_gradient, gradient) = values::<T>(random, count);
        let p = upload(stream, &problem, &layout, &stored)?;
        let mut dp = upload(stream, &problem, &layout, &stored_gradient)?;
        sparse_softmax_backward(&p, &mut dp).scale(0.5).launch(stream)?;
        let [p, gradient] = [&numbers, &gradient].map(|of| exact(&problem.dense(mask, of)));
        let expected = reference::softmax_backward(&p, &gradient, n, 0.5);
        compare::<T>("dx", &download(stream, &dp)?, &problem.blocks(mask, &expected))
    }));
}
