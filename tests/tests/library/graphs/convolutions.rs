//! Convolutions, their gradients, and shift-convolutions.

use super::form::{Form, Sizes, form};
use crate::harness::Scalar;
use triton::prelude::*;
use triton_kernels::conv::{conv2d, conv2d_backward_input, conv2d_backward_weight, shift_conv};
use triton_kernels::linear::GemmElement;
use triton_kernels::{Activation, FloatElement};

pub(super) fn forms() -> Vec<Form> {
    let mut forms = Vec::new();
    of::<f32>(&mut forms);
    of::<bf16>(&mut forms);
    forms
}

/// Channels, filters, window, stride, and whether images are stored as planes.
const PROBLEMS: [(usize, usize, usize, usize, bool); 7] = [
    (3, 8, 3, 1, false),
    // Rows that are not whole multiples of 16 bytes: all operands are copied.
    (9, 10, 3, 1, false),
    (9, 10, 3, 2, true),
    (16, 16, 3, 1, false),
    (16, 16, 2, 2, true),
    // Products of matrices.
    (16, 8, 1, 1, false),
    (9, 10, 1, 1, true),
];

fn of<T: FloatElement + GemmElement<T> + Scalar>(forms: &mut Vec<Form>) {
    for (channels, filters, window, stride, planes) in PROBLEMS {
        let side = |n: usize| (n - window) / stride + 1;
        let (of_x, of_y) = ([2, 6, 5, channels], [2, side(6), side(5), filters]);
        let of_w = [filters, window, window, channels];
        let [x, y, w] = [of_x, of_y, of_w].map(|shape| shape.iter().product::<usize>());
        macro_rules! image {
            ($buffer:expr, $view:ident, $shape:expr) => {{
                let [n, h, w, c] = $shape;
                if planes {
                    $buffer.$view([n, c, h, w])?.permute([0, 2, 3, 1])?
                } else {
                    $buffer.$view([n, h, w, c])?
                }
            }};
        }
        for splits in [None, Some(2)] {
            let name = format!(
                "of {channels} channels, {filters} filters of {window}, stride {stride}, planes {planes}, splits {splits:?}"
            );
            let sizes = Sizes { x: vec![x, w, filters], y: vec![y], ..Sizes::default() };
            forms.push(form::<T>(format!("conv2d {name}"), sizes, move |d, s| {
                let (x, y) = (image!(d.x[0], view, of_x), image!(d.y[0], view_mut, of_y));
                let conv = conv2d(x, d.x[1].view(of_w)?, y).stride((stride, stride));
                match splits {
                    None => conv.bias(d.x[2].view([filters])?).activation(Activation::Mish).launch(s),
                    Some(splits) => conv.splits(splits).launch(s),
                }
            }));
            let sizes = Sizes { x: vec![y, w], y: vec![x], ..Sizes::default() };
            forms.push(form::<T>(format!("conv2d_backward_input {name}"), sizes, move |d, s| {
                let (dy, dx) = (image!(d.x[0], view, of_y), image!(d.y[0], view_mut, of_x));
                let conv = conv2d_backward_input(dy, d.x[1].view(of_w)?, dx).stride((stride, stride));
                if let Some(splits) = splits { conv.splits(splits) } else { conv }.launch(s)
            }));
            let sizes = Sizes { x: vec![x, y], y: vec![w], ..Sizes::default() };
            forms.push(form::<T>(format!("conv2d_backward_weight {name}"), sizes, move |d, s| {
                let (x, dy) = (image!(d.x[0], view, of_x), image!(d.x[1], view, of_y));
                let conv = conv2d_backward_weight(x, dy, d.y[0].view_mut(of_w)?).stride((stride, stride));
                if let Some(splits) = splits { conv.splits(splits) } else { conv }.launch(s)
            }));
        }
    }
    for grouped in [false, true] {
        let channels = 64;
        let shift = |c: usize| if grouped { ((c / 32) as i32, 0) } else { ((c % 3) as i32 - 1, (c % 2) as i32) };
        let shape = [1, 4, 5, channels];
        let sizes = Sizes {
            x: vec![20 * channels, 8 * channels, 8],
            y: vec![20 * 8],
            shifts: (0..channels).map(shift).collect(),
            ..Sizes::default()
        };
        forms.push(form::<T>(format!("shift_conv, grouped {grouped}"), sizes, move |d, s| {
            let (x, w, y) = (d.x[0].view(shape)?, d.x[1].view([8, channels])?, d.y[0].view_mut([1, 4, 5, 8])?);
            let shifts = d.shifts.as_ref().expect("the sizes have shifts");
            shift_conv(x, w, shifts, y).bias(d.x[2].view([8])?).activation(Activation::Mish).launch(s)
        }));
    }
}
