//! The cost model of data movement, in cycles of one multiprocessor for all warps of a program.
//!
//! The one table of such numbers: conversion plans are compared, and layouts are assigned, by them. They are for Hopper: what `triton-bench
//! costs` measures on an H200 (driver 580, 1980 MHz), published rates where the comment says so, otherwise estimates, on which choices
//! hardly depend. A constant that differs from its measurement says why.

use crate::types::DType;

/// One instruction of one warp: four schedulers issue one each. *Measured:* 0.25 of `fma` and `add`, 0.5 of `lop3` and `mad.lo`.
pub const ISSUE: f64 = 0.25;

/// One `shfl` of one warp: 32 lanes a cycle. *Measured:* 1.00 alone; 0.35 more beside eight `fma`. Latency 24.
pub const SHUFFLE: f64 = 1.0;

/// 128 bytes to or from shared memory: its whole width once. *Measured:* 1.00, and as often for conflicts of banks. The issue is
/// hidden. A broadcast of 16 bytes is 2.0. Latency 28 with an addition.
pub const WAVEFRONT: f64 = 1.0;

/// A barrier of the program. *Measured:* 20, 28, 44 and 76 of 4, 8, 16 and 32 warps alone, of which it is that of 8;
/// nothing between 64 `fma` a thread, and 8 to 35 with three blocks resident.
pub const BARRIER: f64 = 28.0;

/// The latency of a conversion through shared memory: a barrier and a round trip. *Measured:* 45, 53 and 69 of 4, 8 and 16 warps; 23,
/// 27 and 38 with two blocks resident, 16, 22 and 39 with three; between arithmetic that needs it 34 to 48 of one block, 10 to 17 of
/// three. It is that of 8 warps alone.
pub const ROUND_TRIP: f64 = 53.0;

/// The same within each warp: other warps run meanwhile. *Measured:* 28 to 32 of 4 to 16 warps, 11 to 32 with three blocks.
pub const WARP_ROUND_TRIP: f64 = 30.0;

/// The latency of a load from L2 that nothing hides: every turn of a loop waits for it. An estimate.
pub const EXPOSED_LOAD: f64 = 300.0;

/// Elements of a sum that a thread has from which on the operands of a multiplication are kept so that a thread loads those of one step
/// along K at a time: with those of several, two blocks of 256 threads do not fit a multiprocessor.
pub const MANY_SUMS: u32 = 64;

/// 32 bytes from L2 or device memory: 4.18 TB/s over 132 multiprocessors at 1.75 GHz are 18 bytes a cycle.
pub const SECTOR: f64 = 1.8;

/// 32 bytes between L2 and one multiprocessor, which gets 64 a cycle. A published rate.
pub const SECTOR_OF_L2: f64 = 0.5;

/// Bytes a microsecond that all multiprocessors together get of L2, where most of what programs share is. An estimate:
/// recorded products are ranked better with it than with 5.5 or 11 million.
pub const L2_BYTES: f64 = 8.0e6;

/// The start of a block, which is not hidden where there are many. An estimate.
pub const BLOCK_START: f64 = 70.0;

/// The time from the request of a tile until it is in shared memory, where others are on their way. An estimate.
pub const RING_LATENCY: f64 = 1000.0;

/// Microseconds of a launch that does nothing. *Measured:* 2 to 3.
pub const LAUNCH: f64 = 2.5;

/// 32 bytes that L1 has already. *Measured:* nothing beyond the lines and the 128 bytes a cycle that are moved, a quarter of which it is.
pub const SECTOR_REPEATED: f64 = 0.25;

/// Sectors of 32 bytes that L1 looks up in a cycle. *Measured:* 4 of a line in one cycle; never the limit.
pub const SECTORS: f64 = 4.0;

/// Lines of 128 bytes that L1 looks up in a cycle. *Measured:* 1 of loads. With 1, sums of `i8` and TF32 products go
/// through shared memory before they are stored, and `i8` 4096³ takes 2.3 % longer.
pub const LINES: f64 = 2.0;

/// Instructions that make the address and the predicate of one global access. An estimate.
pub const ADDRESS_SLOTS: f64 = 3.0;

/// Floating point operations a cycle by `mma.sync`: 60 to 65 % of the peak of 4096 for f16.
pub const MMA_FLOPS: f64 = 2500.0;

/// The same for `i8`.
pub const MMA_I8_FLOPS: f64 = 2.0 * MMA_FLOPS;

/// The same for `f64`.
pub const MMA_F64_FLOPS: f64 = MMA_FLOPS / 16.0;

/// The same for `f32` rounded to tf32.
pub const MMA_TF32_FLOPS: f64 = MMA_FLOPS / 2.0;

/// The same by `wgmma`: 95 %.
pub const WGMMA_FLOPS: f64 = 3900.0;

/// How fast tensor cores multiply elements of this type by `mma.sync`.
pub fn mma_flops(dtype: Option<DType>) -> f64 {
    match dtype {
        Some(DType::F64) => MMA_F64_FLOPS,
        Some(DType::I8) => MMA_I8_FLOPS,
        Some(DType::F32) => MMA_TF32_FLOPS,
        Some(_) | None => MMA_FLOPS,
    }
}

/// The same by `wgmma`.
pub fn wgmma_flops(dtype: Option<DType>) -> f64 {
    WGMMA_FLOPS * mma_flops(dtype) / MMA_FLOPS
}

/// One 32-bit register of one warp: decides between plans that are equal otherwise.
pub const REGISTER: f64 = 0.01;

/// Bytes of scratch above which a conversion is made in several parts.
pub const SCRATCH_BYTES: u64 = 64 * 1024;

/// Shared memory of a block in bytes, on any target: that of the least. A limit of layouts and of what lies beside one another, for
/// which no target's own is threaded through: all of them have the same large tiles in parts. What a target really has is checked
/// when its code is made.
pub const SHARED_BYTES: u64 = crate::metadata::Target::LEAST.shared_bytes() as u64;

/// The assumed trip count of an inner loop.
pub const INNER_TRIPS: f64 = 16.0;

/// The same for a loop that contains another.
pub const OUTER_TRIPS: f64 = 8.0;

/// The assumed probability that a branch is taken.
pub const BRANCH: f64 = 0.5;

/// Instructions of an exponential: one is of the special function unit, which takes as long as four others; the rest reduces the
/// argument. *Measured:* `ex2` 2.0 cycles a warp, as long as eight others.
pub const EXPONENTIAL: f64 = 11.0;

/// Instructions of a sine or a cosine whose argument is not huge.
pub const SINE: f64 = 24.0;

/// Instructions of a division or a square root of `f32` as IEEE has it, or of a reciprocal root; of integers twice as many.
pub const DIVISION: f64 = 10.0;

/// Instructions that compute one register of an index or a mask anew: half of them are shared or eliminated. An
/// estimate.
pub const FREE: f64 = 0.5;

/// Cycles of what does not fit the registers of a thread: more than anything that does.
pub const UNFIT: f64 = 1e12;

/// 32-bit registers of a thread that one tile may fill.
pub const TILE_REGISTERS: u32 = 256;
