//! What convolutions refuse.

use crate::harness::{Case, Outcome, refused};
use triton::prelude::*;
use triton_kernels::conv::{Conv2d, conv2d, conv2d_backward_input, conv2d_backward_weight};

type Change = for<'a> fn(Conv2d<'a, f32>, View<'a, f32, 1>) -> Conv2d<'a, f32>;

/// Shapes of x, w and y; the option; what the message says.
type Wrong = ([[usize; 4]; 3], Change, &'static [&'static str]);

pub(super) fn cases() -> Vec<Case> {
    let wrong: [Wrong; 11] = [
        ([[1, 4, 4, 2], [3, 3, 3, 1], [1, 2, 2, 3]], |of, _| of, &["`w` has extent 1 along axis 3, but 2 is expected"]),
        ([[1, 4, 4, 2], [3, 3, 3, 2], [2, 2, 2, 3]], |of, _| of, &["`y` has extent 2 along axis 0, but 1"]),
        ([[1, 4, 4, 2], [3, 3, 3, 2], [1, 2, 2, 4]], |of, _| of, &["`y` has extent 4 along axis 3, but 3"]),
        ([[1, 4, 4, 2], [3, 3, 3, 2], [1, 4, 2, 3]], |of, _| of, &["`y` has extent 4 along axis 1, but 2", "padding"]),
        ([[1, 4, 4, 2], [3, 3, 3, 2], [1, 2, 1, 3]], |of, _| of, &["`y` has extent 1 along axis 2, but 2"]),
        ([[1, 4, 4, 2], [3, 3, 3, 2], [1, 2, 2, 3]], |of, _| of.padding((1, 0)), &["along axis 1, but 4 is expected"]),
        ([[1, 4, 4, 2], [3, 3, 3, 2], [1, 2, 2, 3]], |of, _| of.stride((0, 1)), &["`stride` is (0, 1)"]),
        ([[1, 4, 4, 2], [3, 3, 3, 2], [1, 2, 2, 3]], |of, _| of.dilation((1, 0)), &["`dilation` is (1, 0)"]),
        ([[1, 4, 4, 2], [3, 3, 3, 2], [1, 2, 2, 3]], |of, _| of.splits(0), &["`splits` is 0"]),
        (
            [[1, 4, 4, 2], [3, 3, 3, 2], [1, 2, 2, 3]],
            |of, bias| of.bias(bias),
            &["`bias` has extent 7 along axis 0, but 3"],
        ),
        ([[1, 4, 4, 2], [3, 3, 3, 2], [1, 2, 2, 3]], |of, _| of.instance("fast"), &["no instance `fast`", "BM=64"]),
    ];
    let mut cases = Vec::new();
    for (i, (shapes, change, texts)) in wrong.into_iter().enumerate() {
        cases.push(Case::new(format!("conv2d refuses {i}: {}", texts[0]), move |stream, _| {
            let count = |shape: [usize; 4]| shape.iter().product();
            let (x, w) = (stream.zeros::<f32>(count(shapes[0]))?, stream.zeros::<f32>(count(shapes[1]))?);
            let (bias, mut y) = (stream.zeros::<f32>(7)?, stream.zeros::<f32>(count(shapes[2]))?);
            let conv = conv2d(x.view(shapes[0])?, w.view(shapes[1])?, y.view_mut(shapes[2])?);
            refused(change(conv, bias.view([7])?).launch(stream), &[&["`conv2d`"], texts].concat())
        }));
    }
    cases.push(Case::new("conv2d_backward_input refuses another dy", |stream, _| -> Outcome {
        let (dy, w) = (stream.zeros::<f32>(4)?, stream.zeros::<f32>(4)?);
        let mut dx = stream.zeros::<f32>(9)?;
        let of = conv2d_backward_input(dy.view([1, 1, 4, 1])?, w.view([1, 2, 2, 1])?, dx.view_mut([1, 3, 3, 1])?);
        refused(of.launch(stream), &["`conv2d_backward_input`", "`dy` has extent 1 along axis 1, but 2"])
    }));
    cases.push(Case::new("conv2d_backward_weight refuses another dw", |stream, _| -> Outcome {
        let (x, dy) = (stream.zeros::<f32>(9)?, stream.zeros::<f32>(4)?);
        let mut dw = stream.zeros::<f32>(8)?;
        let of = conv2d_backward_weight(x.view([1, 3, 3, 1])?, dy.view([1, 2, 2, 1])?, dw.view_mut([1, 2, 2, 2])?);
        refused(of.launch(stream), &["`conv2d_backward_weight`", "`dw` has extent 2 along axis 3, but 1"])
    }));
    cases
}
