//! Functions of floats: a new one is a row.
//!
//! `reference::near(name, f)` compares with `f` in `f64`; the bound is the one that the language's table has for the function of
//! that name, and its page in `triton::lang` gives.

crate::elementwise::elementwise! {
    fn floor Float [f16 bf16 f32 f64] -> T, |x| floor(x), reference::exactly(f64::floor);
    fn ceil Float [f16 bf16 f32 f64] -> T, |x| ceil(x), reference::exactly(f64::ceil);
    fn trunc Float [f16 bf16 f32 f64] -> T, |x| trunc(x), reference::exactly(f64::trunc);
    fn round Float [f16 bf16 f32 f64] -> T, |x| round(x), reference::exactly(f64::round);
    fn rsqrt Float [f16 bf16 f32 f64] -> T, |x| rsqrt(x), reference::near("rsqrt", |x| 1.0 / x.sqrt());
    fn exp Float [f16 bf16 f32 f64] -> T, |x| exp(x), reference::near("exp", f64::exp);
    fn exp2 Float [f16 bf16 f32 f64] -> T, |x| exp2(x), reference::near("exp2", f64::exp2);
    fn log Float [f16 bf16 f32 f64] -> T, |x| log(x), reference::near("log", f64::ln);
    fn log2 Float [f16 bf16 f32 f64] -> T, |x| log2(x), reference::near("log2", f64::log2);
    fn sin Float [f16 bf16 f32 f64] -> T, |x| sin(x), reference::near("sin", f64::sin);
    fn cos Float [f16 bf16 f32 f64] -> T, |x| cos(x), reference::near("cos", f64::cos);
    fn sigmoid Float [f16 bf16 f32 f64] -> T, |x| sigmoid(x), reference::near("sigmoid", |x| 1.0 / (1.0 + (-x).exp()));
    fn tanh Float [f16 bf16 f32 f64] -> T, |x| tanh(x), reference::near("tanh", f64::tanh);
    fn tanh_approx Float [f32] -> T, |x| tanh_approx(x.to::<f32>()).to::<T>(), reference::near("tanh_approx", f64::tanh);
    fn erf Float [f16 bf16 f32 f64] -> T, |x| erf(x), reference::near("erf", reference::erf);
}
