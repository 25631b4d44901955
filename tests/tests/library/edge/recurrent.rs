//! Recurrent layers at the edge: a NaN stays in its unit, and in a sequence in its row, from its step on.

use super::subject::{Arrays, Subject, put, room};
use crate::harness::hostile::Draw;
use crate::harness::{Case, Order, Outcome, Scalar};
use crate::reference::number::Number;
use crate::reference::recurrent::{self as reference, Layer};
use triton::prelude::*;
use triton_kernels::FloatElement;
use triton_kernels::recurrent::{gru, gru_cell, gru_cell_backward, lstm, lstm_cell, lstm_cell_backward};

const ROWS: usize = 3;
const UNITS: usize = 7;
const COUNT: usize = ROWS * UNITS;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    of::<f32>(&mut cases);
    of::<f16>(&mut cases);
    of::<bf16>(&mut cases);
    cases
}

fn of<T: FloatElement + Scalar>(cases: &mut Vec<Case>) {
    for gates in [3, 4] {
        cases.push(of_cell::<T>(gates, Draw::Normal).locality());
        cases.push(of_cell::<T>(gates, Draw::ANY).finite());
        cases.push(of_backward::<T>(gates, Draw::Normal).locality());
        cases.push(of_backward::<T>(gates, Draw::Edge(1e15)).finite());
        cases.push(of_sequence::<T>(gates).locality());
    }
}

/// Value k of each unit.
fn unit<const K: usize>(of: &[f64], place: usize) -> [f64; K] {
    std::array::from_fn(|k| of[(place / UNITS * K + k) * UNITS + place % UNITS])
}

/// Values of units, by rows and gates.
fn by_gates<const K: usize>(of: &[[Number; K]]) -> Vec<Number> {
    let of_row = |row: &[[Number; K]]| (0..K).flat_map(|k| row.iter().map(move |of| of[k])).collect::<Vec<Number>>();
    of.chunks(UNITS).flat_map(of_row).collect()
}

/// Gates, and the state, which is rounded to `T` in a GRU.
fn of_cell<T: FloatElement + Scalar>(gates: usize, draw: Draw) -> Subject {
    let (state, wide) = ([ROWS, UNITS], [ROWS, gates * UNITS]);
    let run = move |stream: &Stream, of: &[Vec<f64>]| -> Outcome<Arrays> {
        let sums = put::<f32, 2>(stream, wide, Order::Rows, &of[0])?;
        if gates == 4 {
            let (mut c, mut h) =
                (put::<f32, 2>(stream, state, Order::Rows, &of[1])?, room::<T, 2>(stream, state, Order::Odd)?);
            lstm_cell(sums.view()?, c.view_mut()?, h.view_mut()?).launch(stream)?;
            return Ok(vec![h.get(stream)?, c.get(stream)?]);
        }
        let (mut h, of_h) =
            (put::<T, 2>(stream, state, Order::Odd, &of[1])?, put::<f32, 2>(stream, wide, Order::Rows, &of[2])?);
        gru_cell(sums.view()?, of_h.view()?, h.view_mut()?).launch(stream)?;
        Ok(vec![h.get(stream)?])
    };
    let wanted = move |of: &[Vec<f64>]| {
        let lstm = |i: usize| reference::lstm_cell(unit::<4>(&of[0], i).map(Number::from), of[1][i].into());
        let gru = |i: usize| {
            let [x, h] = [0, 2].map(|which| unit::<3>(&of[which], i).map(Number::from));
            reference::gru_cell(x, h, of[1][i].into()).1
        };
        if gates == 4 {
            let all: Vec<_> = (0..COUNT).map(lstm).collect();
            return vec![all.iter().map(|of| of.2).collect(), all.iter().map(|of| of.1).collect()];
        }
        vec![(0..COUNT).map(gru).collect()]
    };
    let mut inputs = vec![(gates * COUNT, draw.clone()), (COUNT, draw.clone())];
    inputs.extend((gates == 3).then_some((gates * COUNT, draw)));
    Subject::new::<T>(if gates == 4 { "lstm_cell" } else { "gru_cell" }, inputs, run, wanted)
}

/// Values of gates, c or h, the gradient for h, and that for c.
fn of_backward<T: FloatElement + Scalar>(gates: usize, draw: Draw) -> Subject {
    let (state, wide) = ([ROWS, UNITS], [ROWS, gates * UNITS]);
    let run = move |stream: &Stream, of: &[Vec<f64>]| -> Outcome<Arrays> {
        let values = put::<f32, 2>(stream, [ROWS, 4 * UNITS], Order::Rows, &of[0])?;
        let mut dgates = room::<T, 2>(stream, wide, Order::Odd)?;
        if gates == 4 {
            let [c, dh, dc] = [1, 2, 3].map(|i| put::<f32, 2>(stream, state, Order::Rows, &of[i]));
            let (c, dh, mut dc) = (c?, dh?, dc?);
            lstm_cell_backward(values.view()?, c.view()?, dh.view()?, dc.view_mut()?, dgates.view_mut()?)
                .launch(stream)?;
            return Ok(vec![dgates.get(stream)?, dc.get(stream)?]);
        }
        let (h, mut dh) =
            (put::<T, 2>(stream, state, Order::Odd, &of[1])?, put::<f32, 2>(stream, state, Order::Rows, &of[2])?);
        let mut dgates_h = room::<T, 2>(stream, wide, Order::Rows)?;
        let (of_x, of_h) = (dgates.view_mut()?, dgates_h.view_mut()?);
        gru_cell_backward(values.view()?, h.view()?, dh.view_mut()?, of_x, of_h).launch(stream)?;
        Ok(vec![dgates.get(stream)?, dgates_h.get(stream)?, dh.get(stream)?])
    };
    let wanted = move |of: &[Vec<f64>]| {
        if gates == 4 {
            let back =
                |i: usize| reference::lstm_cell_backward(unit(&of[0], i), of[1][i], of[2][i].into(), of[3][i].into());
            let (of_gates, of_c): (Vec<_>, Vec<_>) = (0..COUNT).map(back).unzip();
            return vec![by_gates(&of_gates), of_c];
        }
        let back = |i: usize| reference::gru_cell_backward(unit(&of[0], i), of[1][i], of[2][i].into());
        let all: Vec<_> = (0..COUNT).map(back).collect();
        let [of_x, of_h] =
            [0, 1].map(|part| all.iter().map(|of| if part == 0 { of.0 } else { of.1 }).collect::<Vec<_>>());
        vec![by_gates(&of_x), by_gates(&of_h), all.iter().map(|of| of.2).collect()]
    };
    let mut inputs = vec![(4 * COUNT, Draw::Positive), (COUNT, draw.clone()), (COUNT, draw.clone())];
    inputs.extend((gates == 4).then_some((COUNT, draw)));
    let name = if gates == 4 { "lstm_cell_backward" } else { "gru_cell_backward" };
    Subject::new::<T>(name, inputs, run, wanted)
}

/// x, and fixed weights.
fn of_sequence<T: FloatElement + Scalar>(gates: usize) -> Subject {
    let (shape, wide) = ([4, ROWS, 5, UNITS], gates * UNITS);
    let weights = |count: usize, step: f64| (0..count).map(|i| T::of((i as f64 * step).sin() / 2.0).value()).collect();
    let all: [Vec<f64>; 2] = [weights(wide * 5, 0.7), weights(wide * UNITS, 1.3)];
    let copy = all.clone();
    let run = move |stream: &Stream, of: &[Vec<f64>]| -> Outcome<Arrays> {
        let x = put::<T, 3>(stream, [4, ROWS, 5], Order::Rows, &of[0])?;
        let (w, u) = (
            put::<T, 2>(stream, [wide, 5], Order::Rows, &all[0])?,
            put::<T, 2>(stream, [wide, UNITS], Order::Rows, &all[1])?,
        );
        let (mut h, mut y) = (
            put::<T, 2>(stream, [ROWS, UNITS], Order::Rows, &[0.0; COUNT])?,
            room::<T, 3>(stream, [4, ROWS, UNITS], Order::Rows)?,
        );
        if gates == 4 {
            let mut c = put::<f32, 2>(stream, [ROWS, UNITS], Order::Rows, &[0.0; COUNT])?;
            lstm(x.view()?, w.view()?, u.view()?, h.view_mut()?, c.view_mut()?, y.view_mut()?).launch(stream)?;
        } else {
            gru(x.view()?, w.view()?, u.view()?, h.view_mut()?, y.view_mut()?).launch(stream)?;
        }
        Ok(vec![y.get(stream)?, h.get(stream)?])
    };
    let wanted = move |of: &[Vec<f64>]| {
        let layer = Layer { shape, gates, weights: [&copy[0], &copy[1]], biases: [&[], &[]], rounding: T::rounding() };
        let run = layer.run(&of[0], &[0.0; COUNT], &[0.0; COUNT]);
        vec![run.y, run.h]
    };
    let name = if gates == 4 { "lstm" } else { "gru" };
    Subject::new::<T>(name, [(4 * ROWS * 5, Draw::Normal)], run, wanted)
}
