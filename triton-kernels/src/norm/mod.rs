//! Layer, RMS, group and batch norm, and their gradients.
//!
//! Of a norm that is trained `statistics` stores the mean and 1 / σ, `rstd`, which its gradient takes. A gradient is that of x; those of weight and
//! bias are computed by `dw` and `db`, too, in the type of x or in `f32`.

mod batch;
mod group;
mod plain;
mod row;
mod row_backward;

pub use batch::{BatchNorm, BatchNormBackward, BatchNormEval, batch_norm, batch_norm_backward, batch_norm_eval};
pub use group::{GroupNorm, GroupNormBackward, group_norm, group_norm_backward};
pub use plain::{LayerNormPlain, LayerNormPlainBackward, RmsNormPlain, RmsNormPlainBackward};
pub use plain::{layer_norm_plain, layer_norm_plain_backward, rms_norm_plain, rms_norm_plain_backward};
pub use row::{LayerNorm, RmsNorm, layer_norm, rms_norm};
pub use row_backward::{LayerNormBackward, RmsNormBackward, layer_norm_backward, rms_norm_backward};
