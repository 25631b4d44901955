//! Conversions (PTX ISA 9.7.9.21).

/// See [`crate::instruction`].
pub const LINES: &[&str] = &[
    // Between integers.
    "cvt.<u8,s8,u16,s16,u32,s32,u64,s64>.<u8,s8,u16,s16,u32,s32,u64,s64> | #2 -> #1",
    "cvt.sat.u8.<s8,u16,s16,u32,s32,u64,s64> | #1 -> u8",
    "cvt.sat.s8.<u8,u16,s16,u32,s32,u64,s64> | #1 -> s8",
    "cvt.sat.u16.<s8,s16,u32,s32,u64,s64> | #1 -> u16",
    "cvt.sat.s16.<u16,u32,s32,u64,s64> | #1 -> s16",
    "cvt.sat.u32.<s8,s16,s32,u64,s64> | #1 -> u32",
    "cvt.sat.s32.<u32,u64,s64> | #1 -> s32",
    "cvt.sat.u64.<s8,s16,s32,s64> | #1 -> u64",
    "cvt.sat.s64.u64 | u64 -> s64",
    // From integers.
    "cvt.<rn,rz,rm,rp><,.sat>.<f16,f32,f64>.<u8,s8,u16,s16,u32,s32,u64,s64> | #4 -> #3",
    "cvt.<rn,rz,rm,rp>.bf16.<u16,s16,u32,s32,u64,s64> | #2 -> bf16",
    // To integers.
    "cvt.<rni,rzi,rmi,rpi><,.sat>.<u8,s8,u16,s16,u32,s32,u64,s64>.<f16,f32,f64> | #4 -> #3",
    "cvt.<rni,rzi,rmi,rpi>.ftz<,.sat>.<u8,s8,u16,s16,u32,s32,u64,s64>.f32 | f32 -> #3",
    "cvt.<rni,rzi,rmi,rpi>.<u16,s16,u32,s32,u64,s64>.bf16 | bf16 -> #2",
    // To integers in a type of floating-point numbers.
    "cvt.<rni,rzi,rmi,rpi><,.sat>.<f16,f64>.#3 | #3 -> #3",
    "cvt.<rni,rzi,rmi,rpi>.bf16.bf16 | bf16 -> bf16",
    "cvt.<rni,rzi,rmi,rpi><,.ftz><,.sat>.f32.f32 | f32 -> f32",
    // Between floating-point numbers.
    "cvt<,.ftz><,.sat>.f32.f16 | f16 -> f32",
    "cvt<,.ftz><,.sat>.f64.f32 | f32 -> f64",
    "cvt<,.sat>.f64.f16 | f16 -> f64",
    "cvt<,.ftz><,.sat>.f32.f32 | f32 -> f32",
    "cvt<,.sat>.f64.f64 | f64 -> f64",
    "cvt<,.sat>.f16.f16 | f16 -> f16",
    "cvt.<rn,rz,rm,rp><,.ftz><,.sat>.f16.f32 | f32 -> f16",
    "cvt.<rn,rz,rm,rp><,.sat>.f16.f64 | f64 -> f16",
    "cvt.<rn,rz,rm,rp><,.ftz><,.sat>.f32.f64 | f64 -> f32",
    "cvt<,.ftz>.f32.bf16 | bf16 -> f32",
    "cvt.f64.bf16 | bf16 -> f64",
    "cvt.<rn,rz,rm,rp>.bf16.<f16,f32,f64> | #2 -> bf16",
    "cvt.<rn,rz,rm,rp>.f16.bf16 | bf16 -> f16",
    "cvt.<rn,rz><,.relu><,.satfinite>.<f16,bf16>.f32 | f32 -> #4",
    "cvt.<rn,rz><,.relu><,.satfinite>.<f16x2,bf16x2>.f32 | f32 f32 -> #4",
    "cvt.rna<,.satfinite>.tf32.f32 | f32 -> tf32",
    "cvt.<rn,rz><,.relu>.tf32.f32 | f32 -> tf32",
    "cvt.rn.satfinite<,.relu>.<e4m3x2,e5m2x2>.f32 | f32 f32 -> #2",
    "cvt.rn.satfinite<,.relu>.<e4m3x2,e5m2x2>.f16x2 | f16x2 -> #2",
    "cvt.rn<,.relu>.f16x2.<e4m3x2,e5m2x2> | #2 -> f16x2",
    "cvt.pack.sat.<u16,s16>.s32 | s32 s32 -> b32",
    "cvt.pack.sat.<u8,s8,u4,s4,u2,s2>.s32.b32 | s32 s32 b32 -> b32",
];
