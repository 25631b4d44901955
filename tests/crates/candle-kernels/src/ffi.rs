//! The functions that candle links. They do nothing: tensors of the CPU do not reach them.

#![allow(unused_variables, non_snake_case, clippy::missing_safety_doc, clippy::too_many_arguments, reason = "they stand for others")]

use std::ffi::c_void;

/// Functions of one type.
macro_rules! functions {
    (fn $args:tt; $($name:ident)*) => {
        $(pub unsafe extern "C" fn $name $args {})*
    };
}

functions! {
    fn(x: *const c_void, y: *const c_void, to: *mut c_void, a: i32, b: i32, c: i32, d: i32, e: i32, stream: *mut c_void);
    launch_mmvq_gguf_q4_0_bf16_plain
    launch_mmvq_gguf_q4_1_bf16_plain
    launch_mmvq_gguf_q5_0_bf16_plain
    launch_mmvq_gguf_q5_1_bf16_plain
    launch_mmvq_gguf_q8_0_bf16_plain
    launch_mmvq_gguf_q2_k_bf16_plain
    launch_mmvq_gguf_q3_k_bf16_plain
    launch_mmvq_gguf_q4_k_bf16_plain
    launch_mmvq_gguf_q5_k_bf16_plain
    launch_mmvq_gguf_q6_k_bf16_plain
    launch_mmvq_gguf_q4_0_f32_plain
    launch_mmvq_gguf_q4_1_f32_plain
    launch_mmvq_gguf_q5_0_f32_plain
    launch_mmvq_gguf_q5_1_f32_plain
    launch_mmvq_gguf_q8_0_f32_plain
    launch_mmvq_gguf_q2_k_f32_plain
    launch_mmvq_gguf_q3_k_f32_plain
    launch_mmvq_gguf_q4_k_f32_plain
    launch_mmvq_gguf_q5_k_f32_plain
    launch_mmvq_gguf_q6_k_f32_plain
    launch_mmvq_gguf_q4_0_f16_plain
    launch_mmvq_gguf_q4_1_f16_plain
    launch_mmvq_gguf_q5_0_f16_plain
    launch_mmvq_gguf_q5_1_f16_plain
    launch_mmvq_gguf_q8_0_f16_plain
    launch_mmvq_gguf_q2_k_f16_plain
    launch_mmvq_gguf_q3_k_f16_plain
    launch_mmvq_gguf_q4_k_f16_plain
    launch_mmvq_gguf_q5_k_f16_plain
    launch_mmvq_gguf_q6_k_f16_plain
}

functions! {
    fn(x: *const c_void, y: *mut c_void, a: i32, b: i32, c: i32, stream: *mut c_void);
    launch_mmvq_gguf_quantize_q8_1_bf16
    launch_mmvq_gguf_quantize_q8_1_f16
    launch_mmvq_gguf_quantize_q8_1_f32
}

functions! {
    fn(x: *const c_void, ids: *const i32, y: *mut c_void, a: i32, b: i64, c: i64, d: i64, e: i64, f: i64, g: i64, h: i64, i: i64, stream: *mut c_void);
    launch_mmq_quantize_q8_1_D4
    launch_mmq_quantize_q8_1_DS4
    launch_mmq_quantize_q8_1_D2S6
}

functions! {
    fn(tmp: *mut c_void, x: *const c_void, y: *const c_void, to: *mut c_void, a: i64, b: i64, c: i64, d: i64, e: i64, f: i32, g: i32, h: i64, i: i32, stream: *mut c_void);
    launch_mmq_gguf_q4_0
    launch_mmq_gguf_q4_1
    launch_mmq_gguf_q5_0
    launch_mmq_gguf_q5_1
    launch_mmq_gguf_q8_0
    launch_mmq_gguf_q2_k
    launch_mmq_gguf_q3_k
    launch_mmq_gguf_q4_k
    launch_mmq_gguf_q5_k
    launch_mmq_gguf_q6_k
}

functions! {
    fn(x: *const c_void, w: *const c_void, tokens: *const i32, experts: *const i32, top: *const f32, to: *mut c_void, counts: *mut i32, offsets: *mut i32, a: i32, b: i32, c: i32, d: i32, e: i32, f: i32, prefill: bool, stream: i64);
    moe_gemm_wmma
}

functions! {
    fn(x: *const f32, w: *const c_void, tokens: *const i32, experts: *const i32, top: *const f32, to: *mut c_void, a: i32, b: i32, c: i32, d: i32, e: i32, f: i32, stream: i64);
    moe_gemm_gguf
}

functions! {
    fn(x: *const c_void, w: *const u8, tokens: *const i32, experts: *const i32, top: *const f32, to: *mut c_void, a: i32, b: i32, c: i32, d: i32, e: i32, f: i32, g: i32, stream: i64);
    moe_gemm_gguf_prefill
}
