//! Convolutions and their gradients as implicit products of matrices, and shift-convolutions.
//!
//! A convolution is a product whose left operand is read out of the image while it is multiplied: Tillet's thesis (2020), section 4.1.2, and
//! Tillet and Cox, "Input-aware auto-tuning of compute-bound HPC kernels" (SC 2017), section 3.3. There, tables of increments spare the divisions that
//! find an element of the window. Here a division by the same number again and again is a multiplication by its reciprocal, which takes no memory.
//!
//! The axes of views are those of NHWC, `[N, H, W, C]` and `[K, R, S, C]`; an image that is stored NCHW is passed as a permuted view. Both orders
//! have loads that are coalesced.

mod copy;
mod forward;
mod geometry;
mod input_gradient;
mod kernels;
mod product;
mod shift;
mod weight_gradient;

pub use forward::{Conv2d, conv2d};
pub use input_gradient::{Conv2dInputGradient, conv2d_input_gradient};
pub use shift::{ShiftConv, Shifts, shift_conv};
pub use weight_gradient::{Conv2dWeightGradient, conv2d_weight_gradient};

/// The options that all convolutions have.
macro_rules! window_options {
    () => {
        /// Stride along H and W. Default: (1, 1).
        pub fn stride(self, (down, across): (usize, usize)) -> Self {
            Self { options: Options { stride: [down, across], ..self.options }, ..self }
        }

        /// Zero padding along H and W, on either side. Default: (0, 0).
        pub fn padding(self, (down, across): (usize, usize)) -> Self {
            Self { options: Options { padding: [down, across], ..self.options }, ..self }
        }

        /// Dilation: the distance of neighbours of the filter along H and W. Default: (1, 1).
        pub fn dilation(self, (down, across): (usize, usize)) -> Self {
            Self { options: Options { dilation: [down, across], ..self.options }, ..self }
        }

        /// Divides the reduction among this many programs, or as many as it has steps for. Their sums are added in one order, so that the result is
        /// the same in every launch.
        pub fn splits(self, splits: usize) -> Self {
            Self { options: Options { splits: Some(splits), ..self.options }, ..self }
        }
    };
}
use window_options;
