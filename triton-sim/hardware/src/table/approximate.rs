//! Functions of which the ISA bounds the error, not the bits (PTX ISA 9.7.3, 9.7.4).

/// See [`crate::instruction`].
pub const LINES: &[&str] = &[
    "div.<approx,full><,.ftz>.f32 | f32 f32 -> f32",
    "div.<approx,full><,.ftz>.f32 moderate = div.#1#2.f32 $d,$a,$b; | f32m f32m -> f32",
    "<rcp,sqrt,rsqrt,ex2,lg2,sin,cos>.approx<,.ftz>.f32 | f32 -> f32",
    "<rcp,sqrt,rsqrt,ex2,lg2,sin,cos>.approx<,.ftz>.f32 moderate = #1.approx#2.f32 $d,$a; | f32m -> f32",
    "tanh.approx.f32 | f32 -> f32",
    "tanh.approx.f32 moderate = tanh.approx.f32 $d,$a; | f32m -> f32",
    "<rcp,rsqrt>.approx.ftz.f64 | f64 -> f64",
    "<rcp,rsqrt>.approx.ftz.f64 moderate = #1.approx.ftz.f64 $d,$a; | f64m -> f64",
    "rsqrt.approx.f64 | f64 -> f64",
    "rsqrt.approx.f64 moderate = rsqrt.approx.f64 $d,$a; | f64m -> f64",
    "ex2.approx.<f16,f16x2> | #1 -> #1",
    "ex2.approx.f16 moderate = ex2.approx.f16 $d,$a; | f16m -> f16",
    "ex2.approx.ftz.<bf16,bf16x2> | #1 -> #1",
    "ex2.approx.ftz.bf16 moderate = ex2.approx.ftz.bf16 $d,$a; | bf16m -> bf16",
    "tanh.approx.<f16,f16x2,bf16,bf16x2> | #1 -> #1",
    "tanh.approx.<f16,bf16> moderate = tanh.approx.#1 $d,$a; | #1m -> #1",
];
