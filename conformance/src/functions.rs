//! Functions that are not exact, each with its bound: a new one is a row.
//!
//! `reference::near(f, ulps)` compares with `f` in `f64`; the bound, in units in the last place of `f32`, is the one that the
//! function's page in `triton::lang` gives.

crate::elementwise::elementwise! {
    fn exp Float [f16 bf16 f32] -> T, |x| exp(x), reference::near(f64::exp, 3.0);
    fn exp2 Float [f16 bf16 f32] -> T, |x| exp2(x), reference::near(f64::exp2, 2.0);
    fn log Float [f16 bf16 f32] -> T, |x| log(x), reference::near(f64::ln, 1.0);
    fn log2 Float [f16 bf16 f32] -> T, |x| log2(x), reference::near(f64::log2, 2.0);
}
