//! What the extents of a convolution have to be.

use super::geometry::places;
use crate::error::{Error, Result, extent};
use crate::operation::Call;
use std::fmt;

/// What a convolution is beside its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Options {
    pub(super) stride: [usize; 2],
    pub(super) padding: [usize; 2],
    pub(super) dilation: [usize; 2],
    pub(super) splits: Option<usize>,
    pub(super) groups: usize,
    /// The number of the axis H of the caller's operands: 1 of \[N, H, W, C\].
    pub(super) first: usize,
}

impl Options {
    pub(super) fn new(
        stride: (usize, usize),
        padding: (usize, usize),
        dilation: (usize, usize),
        splits: Option<usize>,
        groups: usize,
    ) -> Options {
        let (stride, padding, dilation) = (stride.into(), padding.into(), dilation.into());
        Options { stride, padding, dilation, splits, groups, first: 1 }
    }
}

/// The extents of a convolution: x is `[n, h, w, c]`, w is `[k, r, s, c]`, y is `[n, p, q, k]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Geometry {
    pub(super) images: usize,
    /// H, W.
    pub(super) input: [usize; 2],
    /// R, S.
    pub(super) window: [usize; 2],
    /// P, Q.
    pub(super) output: [usize; 2],
    /// C.
    pub(super) channels: usize,
    /// K.
    pub(super) filters: usize,
    pub(super) options: Options,
}

/// Two numbers in a message, which is made if they are wrong.
struct Pair([usize; 2]);

impl fmt::Display for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {})", self.0[0], self.0[1])
    }
}

impl Geometry {
    /// Checks what letters do not say: the places of y, the operand of this name, follow from x, w and the options.
    pub(super) fn new(
        call: Call<'_>,
        of_y: &'static str,
        x: [usize; 4],
        w: [usize; 4],
        y: [usize; 4],
        options: Options,
    ) -> Result<Geometry> {
        let (op, Options { stride, dilation, padding, .. }) = (call.op, options);
        for (name, found) in [("stride", stride), ("dilation", dilation)] {
            call.value(name, Pair(found), !found.contains(&0), "numbers from 1 on", "1 leaves nothing out")?;
        }
        // What is computed of these fits, since extents are less than 2³¹.
        for (name, found) in [("stride", stride), ("dilation", dilation), ("padding", padding)] {
            let fits = found.iter().all(|number| *number < 1 << 30);
            call.value(name, Pair(found), fits, "numbers below 2³⁰", "no image is so large")?;
        }
        let ([images, height, width, channels], [filters, r, s, _]) = (x, w);
        let (input, window) = ([height, width], [r, s]);
        for axis in 0..2 {
            let expected = places(input[axis], window[axis], stride[axis], padding[axis], dilation[axis]);
            let fix = "(extent + 2 · padding − dilation · (window − 1) − 1) / stride + 1 places follow from x, w and the options";
            extent(op, of_y, options.first + axis, [y[1 + axis], expected], fix)?;
        }
        let output = [y[1], y[2]];
        let geometry = Geometry { images, input, window, output, channels, filters, options };
        let counts = [images * input[0] * input[1], images * output[0] * output[1], r * s * channels.max(filters)];
        // Indices along a span of a window may be beyond an image.
        let reach = (0..2).map(|i| input[i] + padding[i] + dilation[i] * window[i] + stride[i] * output[i]);
        match counts.into_iter().chain(reach).find(|count| *count > i32::MAX as usize / 2) {
            None => Ok(geometry),
            Some(count) => Err(Error::Unsupported {
                op,
                found: format!("an index up to {count}"),
                expected: "indices of pixels, of a window and of padding below 2³⁰",
                fix: "divide the batch",
            }),
        }
    }

    /// Whether it is a product of matrices: each output belongs to one pixel.
    pub(super) fn is_pointwise(&self) -> bool {
        let Options { stride, padding, .. } = self.options;
        self.window == [1; 2] && stride == [1; 2] && padding == [0; 2]
    }
}
