//! What operations are, in `f64`: plain loops, which share no code with the library, with bounds of what is lost in floating point ([`number`]).

pub mod activation;
pub mod attention;
pub mod bag;
pub mod column_sums;
pub mod contract;
pub mod conv;
pub mod distance;
pub mod dropout;
pub mod gemm;
pub mod loss;
pub mod norm;
pub mod norm_backward;
pub mod number;
pub mod optim;
pub mod recurrent;
pub mod reduce;
pub mod rotary;
pub mod softmax;
pub mod sparse;
