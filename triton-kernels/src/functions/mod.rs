//! The inner loops of the library as device functions, for your own fused kernels.

mod activation;
mod derivative;
mod gemm;
mod philox;
mod softmax;
mod split;

#[cfg(feature = "linear")]
pub(crate) use activation::{ERF, NORMAL, ROOT};
pub use activation::{
    activate, elu, gated_approx, gelu, gelu_approx, gelu_logistic, gelu_tanh, gelu_tanh_approx, hard_sigmoid,
    hard_swish, leaky_relu, logistic, mish, quick_gelu, relu, relu6, silu, softplus,
};
pub use derivative::activation_derivative;
pub use gemm::{batched_gemm_tile, gemm_tile, gemm_tile_tf32, grouped_gemm_tile, operand_tile};
pub use philox::{philox, rand, randint, randn, random_words, uniform};
pub use softmax::{online_softmax, online_softmax_total};
pub use split::{added_parts, last_to_arrive};
