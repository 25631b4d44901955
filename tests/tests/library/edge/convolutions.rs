//! Convolutions at the edge. What pads an image is 0: it is a term like any other, so that a weight which is not finite reaches every output of its
//! filter, while a pixel reaches the outputs alone whose windows hold it.

use super::subject::{Arrays, Subject, put, room};
use crate::harness::hostile::Draw;
use crate::harness::{Case, Order, Outcome, Scalar};
use crate::reference::conv::Conv;
use crate::reference::number::{Total, totals};
use triton::prelude::*;
use triton_kernels::FloatElement;
use triton_kernels::conv::{Shifts, conv2d, conv2d_backward_input, conv2d_backward_weight, shift_conv};

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    of::<f32>(&mut cases);
    of::<f16>(&mut cases);
    of::<bf16>(&mut cases);
    cases
}

/// Numbers of channels and filters for which steps go over several elements of a window, over one, and over a part of one.
const CHANNELS: [(usize, usize); 9] = [(1, 1), (2, 5), (3, 40), (4, 17), (5, 3), (17, 2), (33, 9), (40, 33), (64, 4)];

fn of<T: FloatElement + Scalar>(cases: &mut Vec<Case>) {
    for (i, (c, k)) in CHANNELS.into_iter().enumerate() {
        let all = [
            Conv { x: [1, 5, 6, c], w: [k, 3, 2], stride: [1, 1], padding: [1, 0], dilation: [1, 1], groups: 1 },
            Conv { x: [2, 5, 4, c], w: [k, 2, 3], stride: [2, 1], padding: [0, 2], dilation: [1, 2], groups: 1 },
            Conv { x: [1, 4, 3, c], w: [k, 1, 1], stride: [1, 1], padding: [0, 0], dilation: [1, 1], groups: 1 },
        ];
        for (j, conv) in all.into_iter().enumerate() {
            for order in [Order::Rows, Order::Planes] {
                let splits = [None, Some(2)][(i + j) % 2];
                cases.push(of_conv::<T>(conv, order, splits).locality());
            }
        }
        for grouped in [false, true] {
            cases.push(of_shift::<T>([1, 4, 5, c], k, grouped).locality());
        }
    }
}

/// Each output with each element of its window, inside the image or not: its number, that of the pixel, and that of the element.
fn terms(of: &Conv, mut each: impl FnMut(usize, Option<usize>, usize)) {
    let ([images, height, width, _], [_, r, s], [down, across]) = (of.x, of.w, of.places());
    for place in 0..images * down * across {
        let at = [place / across % down, place % across];
        for tap in 0..r * s {
            let along = |axis: usize, tap: usize, extent: usize| {
                let at = (at[axis] * of.stride[axis] + tap * of.dilation[axis]).checked_sub(of.padding[axis])?;
                (at < extent).then_some(at)
            };
            let pixel = along(0, tap / s, height).zip(along(1, tap % s, width));
            each(place, pixel.map(|(h, w)| (place / (down * across) * height + h) * width + w), tap);
        }
    }
}

/// Each pixel with each element of a window that a place of the output, inside or not, would have there.
fn transposed_terms(of: &Conv, mut each: impl FnMut(usize, Option<usize>, usize)) {
    let ([images, height, width, _], [_, r, s], places) = (of.x, of.w, of.places());
    for pixel in 0..images * height * width {
        let at = [pixel / width % height, pixel % width];
        for tap in 0..r * s {
            let along = |axis: usize, tap: usize| {
                let at = (at[axis] + of.padding[axis]) as i64 - (tap * of.dilation[axis]) as i64;
                (at % of.stride[axis] as i64 == 0).then_some(at / of.stride[axis] as i64)
            };
            let Some((p, q)) = along(0, tap / s).zip(along(1, tap % s)) else { continue };
            let inside = |at: i64, axis: usize| usize::try_from(at).ok().filter(|at| *at < places[axis]);
            let place = inside(p, 0).zip(inside(q, 1));
            each(pixel, place.map(|(p, q)| (pixel / (height * width) * places[0] + p) * places[1] + q), tap);
        }
    }
}

/// Forward and both gradients.
fn of_conv<T: FloatElement + Scalar>(conv: Conv, order: Order, splits: Option<usize>) -> Subject {
    let ([images, _, _, c], [k, r, s], [down, across]) = (conv.x, conv.w, conv.places());
    let (shape_y, shape_w) = ([images, down, across, k], [k, r, s, c]);
    let count = |shape: [usize; 4]| shape.into_iter().product::<usize>();
    let pairs = [conv.stride, conv.padding, conv.dilation].map(|[down, across]| (down, across));
    let run = move |stream: &Stream, of: &[Vec<f64>]| -> Outcome<Arrays> {
        let [x, w, dy] = [(0, conv.x, order), (1, shape_w, Order::Rows), (2, shape_y, order)]
            .map(|(i, shape, order)| put::<T, 4>(stream, shape, order, &of[i]));
        let (x, w, dy) = (x?, w?, dy?);
        let [y, dx, dw] = [(shape_y, order), (conv.x, order), (shape_w, Order::Rows)]
            .map(|(shape, order)| room::<T, 4>(stream, shape, order));
        let (mut y, mut dx, mut dw) = (y?, dx?, dw?);
        let [stride, padding, dilation] = pairs;
        macro_rules! launch {
            ($operation:expr) => {{
                let of = $operation.stride(stride).padding(padding).dilation(dilation);
                if let Some(splits) = splits { of.splits(splits) } else { of }.launch(stream)?
            }};
        }
        launch!(conv2d(x.view()?, w.view()?, y.view_mut()?));
        launch!(conv2d_backward_input(dy.view()?, w.view()?, dx.view_mut()?));
        launch!(conv2d_backward_weight(x.view()?, dy.view()?, dw.view_mut()?));
        Ok(vec![y.get(stream)?, dx.get(stream)?, dw.get(stream)?])
    };
    let wanted = move |of: &[Vec<f64>]| {
        let (x, w, dy) = (&of[0], &of[1], &of[2]);
        let [mut y, mut dx, mut dw] = [count(shape_y), x.len(), w.len()].map(|count| vec![Total::default(); count]);
        let channels = || (0..k).flat_map(|filter| (0..c).map(move |channel| (filter, channel)));
        terms(&conv, |place, pixel, tap| {
            for (filter, channel) in channels() {
                let (weight, v) =
                    ((filter * r * s + tap) * c + channel, pixel.map_or(0.0, |pixel| x[pixel * c + channel]));
                y[place * k + filter].add_product(v, w[weight]);
                dw[weight].add_product(dy[place * k + filter], v);
            }
        });
        transposed_terms(&conv, |pixel, place, tap| {
            for (filter, channel) in channels() {
                let g = place.map_or(0.0, |place| dy[place * k + filter]);
                dx[pixel * c + channel].add_product(g, w[(filter * r * s + tap) * c + channel]);
            }
        });
        [y, dx, dw].map(totals).to_vec()
    };
    let name = format!("conv2d {conv:?} {order:?} {splits:?}");
    let inputs = [count(conv.x), count(shape_w), count(shape_y)].map(|count| (count, Draw::Normal));
    Subject::new::<T>(name, inputs, run, wanted)
}

fn of_shift<T: FloatElement + Scalar>(shape: [usize; 4], k: usize, grouped: bool) -> Subject {
    let [images, height, width, c] = shape;
    let shape_y = [images, height, width, k];
    let run = move |stream: &Stream, of: &[Vec<f64>]| -> Outcome<Arrays> {
        let (x, w) =
            (put::<T, 4>(stream, shape, Order::Rows, &of[0])?, put::<T, 2>(stream, [k, c], Order::Rows, &of[1])?);
        let mut y = room::<T, 4>(stream, shape_y, Order::Rows)?;
        let shifts = shifts(stream, c, grouped)?;
        shift_conv(x.view()?, w.view()?, &shifts, y.view_mut()?).launch(stream)?;
        Ok(vec![y.get(stream)?])
    };
    let wanted = move |of: &[Vec<f64>]| {
        let by = |channel: usize| if grouped { (1, -1) } else { (channel as i64 % 3 - 1, channel as i64 % 2) };
        let mut y = vec![Total::default(); images * height * width * k];
        for (place, channel) in
            (0..images * height * width).flat_map(|place| (0..c).map(move |channel| (place, channel)))
        {
            let (p, q) = ((place / width % height) as i64 + by(channel).0, (place % width) as i64 + by(channel).1);
            let inside = (0..height as i64).contains(&p) && (0..width as i64).contains(&q);
            let pixel = (place / (height * width) * height) as i64 + p;
            let v = if inside { of[0][(pixel as usize * width + q as usize) * c + channel] } else { 0.0 };
            (0..k).for_each(|filter| y[place * k + filter].add_product(v, of[1][filter * c + channel]));
        }
        vec![totals(y)]
    };
    let inputs = [(shape.into_iter().product(), Draw::Normal), (k * c, Draw::Normal)];
    let name = format!("shift_conv {shape:?} {k} grouped {grouped}");
    Subject::new::<T>(name, inputs, run, wanted)
}

fn shifts(stream: &Stream, channels: usize, grouped: bool) -> Outcome<Shifts> {
    let by = |channel: usize| if grouped { (1, -1) } else { (channel as i32 % 3 - 1, channel as i32 % 2) };
    Ok(Shifts::new(stream, &(0..channels).map(by).collect::<Vec<_>>())?)
}
