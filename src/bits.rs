//! The bits of a number, zero-extended: a function for each element type, called like it, for constants in generated code.

#![allow(missing_docs, reason = "each is the type it is named after")]
use half::{bf16 as BF16, f16 as F16};

pub const fn bool(x: bool) -> u64 {
    x as u64
}
pub const fn i8(x: i8) -> u64 {
    x as u8 as u64
}
pub const fn i16(x: i16) -> u64 {
    x as u16 as u64
}
pub const fn i32(x: i32) -> u64 {
    x as u32 as u64
}
pub const fn i64(x: i64) -> u64 {
    x as u64
}
pub const fn u8(x: u8) -> u64 {
    x as u64
}
pub const fn u16(x: u16) -> u64 {
    x as u64
}
pub const fn u32(x: u32) -> u64 {
    x as u64
}
pub const fn u64(x: u64) -> u64 {
    x
}
pub const fn f16(x: F16) -> u64 {
    x.to_bits() as u64
}
pub const fn bf16(x: BF16) -> u64 {
    x.to_bits() as u64
}
pub const fn f32(x: f32) -> u64 {
    x.to_bits() as u64
}
pub const fn f64(x: f64) -> u64 {
    x.to_bits()
}
