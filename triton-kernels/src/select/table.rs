//! The rows of the table, from special to general: an added row goes before the first that is for the same shapes. Times are of an H200
//! where nothing else is said.

use super::Order::*;
use super::{ALL, Kernel, Kind, MOST, MULTIPROCESSORS, Row, Tiles};

/// A row for every shape.
const ROW: Row = Row {
    kinds: &[],
    orders: ALL,
    m: 1..=MOST,
    n: 1..=MOST,
    k: 1..=MOST,
    when: &[],
    kernel: Kernel::Whole,
    tile: [1; 3],
    reason: "",
};

/// What is measured of `bf16` holds of `f16`, whose instructions take as long.
const HALF: &[Kind] = &[Kind::Bf16, Kind::F16];

/// Fewer tiles than multiprocessors.
const fn few(m: usize, n: usize) -> Tiles {
    Tiles([m, n], 1..=MULTIPROCESSORS - 1)
}

/// More tiles of 128 × 128 than fill the multiprocessors, or nearly.
const LARGE: &[Tiles] = &[Tiles([128, 128], 129..=MOST)];

/// The table. A split product has more than `STEPS` iterations in all.
pub const TABLE: &[Row] = &[
    Row {
        kinds: HALF,
        orders: &[NN, TN],
        m: 1025..=MOST,
        n: 1..=16,
        k: 1025..=MOST,
        when: &[few(64, 16)],
        tile: [64, 16, 256],
        reason: "two blocks share K, one launch: 2560x16 on an H100 0.0116 ms, TN 0.0119; as the transpose 0.0140 and 0.0144",
        ..ROW
    },
    Row {
        kinds: HALF,
        orders: &[NN, TN],
        m: 1025..=MOST,
        n: 17..=32,
        k: 1025..=MOST,
        when: &[few(64, 32)],
        tile: [64, 32, 512],
        reason: "four blocks share K, two on a multiprocessor: 2560x32 on an H100 0.0115 ms, TN 0.0114; as the transpose 0.0139 and 0.0145",
        ..ROW
    },
    Row {
        kinds: HALF,
        orders: &[NT],
        m: 1025..=MOST,
        n: 1..=16,
        k: 1025..=4096,
        when: &[few(64, 16)],
        tile: [64, 16, 256],
        reason: "two blocks share K: 1536x16 on an H100 0.0077 ms, one 0.0083, as the transpose 0.0086",
        ..ROW
    },
    Row {
        kinds: HALF,
        orders: &[NT],
        m: 1025..=MOST,
        n: 1..=16,
        k: 4097..=MOST,
        when: &[few(64, 16)],
        tile: [64, 16, 128],
        reason: "a tile for nearly every multiprocessor: 7168x16 on an H100 0.0487 ms, split 0.0538",
        ..ROW
    },
    Row {
        kinds: HALF,
        orders: &[NT],
        m: 1..=64,
        n: 1..=64,
        k: 1025..=8192,
        tile: [64, 64, 1024],
        reason: "eight blocks share K, one launch: 64x64x4096 on an H100 0.0068 ms, split 0.0093",
        ..ROW
    },
    Row {
        kinds: HALF,
        orders: &[NT],
        m: 65..=256,
        n: 65..=256,
        k: 8193..=MOST,
        kernel: Kernel::Split { groups: 1, programs: 3 },
        tile: [64, 64, 64],
        reason: "256x256x60000 0.0437 ms in 25, 0.0448 in 17; adding the parts takes longest",
        ..ROW
    },
    Row {
        kinds: &[Kind::F32],
        orders: &[NT],
        m: 1..=32,
        n: 1..=32,
        k: 257..=MOST,
        kernel: Kernel::Split { groups: 8, programs: 2 },
        tile: [32, 32, 64],
        reason: "one tile, of too few elements for the warps that hide latency: 32x32x60000 0.0170 ms, without groups 0.0187",
        ..ROW
    },
    Row {
        kinds: &[Kind::F32],
        orders: &[NT],
        m: 1..=64,
        n: 17..=64,
        k: 257..=8192,
        kernel: Kernel::Split { groups: 1, programs: 1 },
        tile: [64, 16, 32],
        reason: "64x64x4096 0.0083 ms in 32; 32x32x64 by 4 groups 0.0090",
        ..ROW
    },
    Row {
        kinds: &[Kind::F32],
        orders: &[NT],
        m: 1..=64,
        n: 17..=64,
        k: 257..=MOST,
        kernel: Kernel::Split { groups: 4, programs: 3 },
        tile: [32, 32, 64],
        reason: "likewise: 64x64x60000 0.0284 ms, x131072 0.0477; 64x64x32 without groups 0.0314 and 0.0493",
        ..ROW
    },
    Row {
        kinds: &[Kind::F32],
        orders: &[NT],
        m: 1..=32,
        n: 1..=32,
        k: 129..=MOST,
        kernel: Kernel::Split { groups: 1, programs: 3 },
        tile: [32, 32, 32],
        reason: "one tile: only splits along K occupy the multiprocessors, and a larger tile would be padding",
        ..ROW
    },
    Row {
        kinds: &[Kind::F32],
        n: 1..=16,
        k: 4097..=MOST,
        when: &[few(64, 16)],
        kernel: Kernel::Split { groups: 1, programs: 6 },
        tile: [64, 16, 32],
        reason: "NT 7168x16x7168 0.0794 ms in 8, 0.0843 in 4",
        ..ROW
    },
    Row {
        kinds: &[Kind::F32],
        n: 1..=16,
        k: 129..=MOST,
        when: &[few(64, 16)],
        kernel: Kernel::Split { groups: 1, programs: 4 },
        tile: [64, 16, 32],
        reason: "2560x16 0.0156 ms in 14, 0.0158 in 10; fewer tiles than multiprocessors, and a wider tile would be padding",
        ..ROW
    },
    Row {
        kinds: &[Kind::F32],
        orders: &[NN, TN],
        n: 17..=32,
        k: 129..=MOST,
        when: &[few(64, 32)],
        kernel: Kernel::Split { groups: 1, programs: 3 },
        tile: [64, 32, 32],
        reason: "fewer tiles than multiprocessors, and a wider tile would be padding",
        ..ROW
    },
    Row {
        kinds: &[Kind::F32],
        orders: &[TN],
        n: 65..=128,
        k: 65..=MOST,
        when: &[few(64, 128)],
        kernel: Kernel::Split { groups: 1, programs: 3 },
        tile: [64, 32, 32],
        reason: "2560x128 0.0470 ms in 3, 64x128x16 0.0493 in 20",
        ..ROW
    },
    Row {
        kinds: &[Kind::F32],
        orders: &[NN],
        n: 65..=128,
        k: 65..=MOST,
        when: &[few(64, 128)],
        kernel: Kernel::Split { groups: 1, programs: 6 },
        tile: [64, 128, 16],
        reason: "one tile along N reads a once: 2560x128 0.0526 ms in 20, 0.0543 in 14",
        ..ROW
    },
    Row {
        kinds: &[Kind::F32],
        orders: &[NT],
        n: 65..=512,
        k: 129..=MOST,
        when: &[few(128, 128)],
        kernel: Kernel::Split { groups: 1, programs: 2 },
        tile: [128, 128, 32],
        reason: "few tiles and a long K: the largest tile loads the least, and two programs of it are resident",
        ..ROW
    },
    Row {
        kinds: &[Kind::F32],
        k: 129..=MOST,
        when: &[few(64, 64)],
        kernel: Kernel::Split { groups: 1, programs: 2 },
        tile: [64, 64, 32],
        reason: "fewer tiles than multiprocessors: 2560x64 0.0322 ms in 7, 0.0376 in 10, TN 0.0289 and 0.0345",
        ..ROW
    },
    Row {
        kinds: HALF,
        orders: &[NT],
        n: 1..=64,
        k: 1025..=4096,
        when: &[Tiles([64, 64], 24..=MULTIPROCESSORS)],
        kernel: Kernel::Transposed,
        tile: [64, 64, 128],
        reason: "one launch, no partial sums: 1536x16 0.0079 ms against 0.0103 split; 7168x16 0.0446 against 0.0403, bound by memory",
        ..ROW
    },
    Row {
        kinds: HALF,
        orders: &[NT],
        m: 1..=32,
        n: 1..=32,
        k: 1025..=MOST,
        kernel: Kernel::Split { groups: 1, programs: 1 },
        tile: [32, 32, 64],
        reason: "32x32x60000 0.0110 ms in 105, 0.0117 in 235; one tile: only splits along K occupy the multiprocessors, and a larger tile would be padding",
        ..ROW
    },
    Row {
        kinds: HALF,
        orders: &[NT],
        m: 1..=64,
        n: 1..=64,
        k: 8193..=MOST,
        kernel: Kernel::Split { groups: 1, programs: 3 },
        tile: [32, 32, 64],
        reason: "64x64x60000 0.0135 ms, x131072 0.0188; 64x64x64 in 235 and 342 0.0153, 0.0229",
        ..ROW
    },
    Row {
        kinds: HALF,
        orders: &[NN, TN],
        n: 1..=64,
        k: 1025..=MOST,
        when: &[Tiles([32, 64], 67..=MULTIPROCESSORS)],
        kernel: Kernel::Transposed,
        tile: [32, 64, 128],
        reason: "one launch, no partial sums: 2560x64 0.0099 ms against 0.0175 split, x32 0.0123 and 0.0136, x16 0.0127 and 0.0134",
        ..ROW
    },
    Row {
        kinds: HALF,
        orders: &[NN, TN],
        n: 65..=128,
        k: 1025..=MOST,
        when: &[Tiles([64, 64], 67..=MULTIPROCESSORS)],
        kernel: Kernel::Transposed,
        tile: [64, 64, 128],
        reason: "N in two halves, one wave: 2560x128 0.0110 ms, TN 0.0108; in tiles of 32 rows, a wave and a fifth, 0.0130 and 0.0126",
        ..ROW
    },
    Row {
        kinds: HALF,
        n: 1..=16,
        k: 1025..=MOST,
        when: &[few(64, 16)],
        kernel: Kernel::Split { groups: 1, programs: 3 },
        tile: [64, 16, 64],
        reason: "fewer tiles than multiprocessors, a wider tile would be padding, and K is worth a second launch",
        ..ROW
    },
    Row {
        kinds: HALF,
        orders: &[NN, TN],
        n: 17..=32,
        k: 1025..=MOST,
        when: &[few(64, 32)],
        kernel: Kernel::Split { groups: 1, programs: 3 },
        tile: [64, 32, 64],
        reason: "fewer tiles than multiprocessors, a wider tile would be padding, and K is worth a second launch",
        ..ROW
    },
    Row {
        kinds: HALF,
        k: 1025..=MOST,
        when: &[few(64, 64)],
        kernel: Kernel::Split { groups: 1, programs: 3 },
        tile: [64, 64, 64],
        reason: "fewer tiles than multiprocessors; up to a K of 1024 two launches take as long as the loop",
        ..ROW
    },
    Row {
        kinds: &[Kind::F64],
        orders: &[NN, NT, TN],
        n: 1..=32,
        k: 129..=MOST,
        when: &[few(64, 32)],
        kernel: Kernel::Split { groups: 1, programs: 2 },
        tile: [64, 32, 16],
        reason: "fewer tiles than multiprocessors, and a wider tile would be padding; one block alone has half of the rate",
        ..ROW
    },
    Row {
        kinds: &[Kind::F64],
        k: 129..=MOST,
        when: &[few(64, 64)],
        kernel: Kernel::Split { groups: 1, programs: 2 },
        tile: [64, 64, 16],
        reason: "fewer tiles than multiprocessors: 2560x16x2560 in whole tiles 0.110 ms, one block alone has half of the rate",
        ..ROW
    },
    Row {
        kinds: &[Kind::F64],
        when: LARGE,
        tile: [64, 128, 16],
        reason: "m16n8k8 on sm_90a, fed by a ring of four stages: 2048^3 0.337 ms",
        ..ROW
    },
    Row { kinds: &[Kind::F64], tile: [64, 64, 16], reason: "smaller tiles occupy more multiprocessors", ..ROW },
    Row {
        kinds: &[Kind::I8],
        tile: [128, 128, 128],
        reason: "128x256x128 is 3 % faster, but spills on either target where rows are not aligned",
        ..ROW
    },
    Row {
        kinds: &[Kind::Tf32],
        orders: &[NT],
        tile: [128, 256, 32],
        reason: "wgmma reads both operands along K; 128x128x32 loads more for what it multiplies, 0.84 of cuBLAS",
        ..ROW
    },
    Row {
        kinds: &[Kind::Tf32],
        when: LARGE,
        tile: [128, 128, 32],
        reason: "multiplied by mma.sync, since wgmma reads 32-bit operands along K alone",
        ..ROW
    },
    Row {
        kinds: &[Kind::Tf32],
        tile: [64, 64, 32],
        reason: "few tiles: smaller ones occupy more multiprocessors",
        ..ROW
    },
    Row {
        kinds: &[Kind::F32],
        orders: &[NT],
        k: 1..=32,
        tile: [64, 64, 32],
        reason: "one iteration: nothing is loaded twice in it, so that the smaller sum costs nothing",
        ..ROW
    },
    Row {
        kinds: HALF,
        orders: &[TN],
        k: 33..=MOST,
        when: LARGE,
        tile: [128, 256, 64],
        reason: "as of other layouts, for sm_90a alone, since it spills on sm_80: 4096^3 0.1785 ms, 8192^3 1.575",
        ..ROW
    },
    Row {
        kinds: HALF,
        k: 33..=MOST,
        when: LARGE,
        tile: [128, 256, 64],
        reason: "most products of an operand that is loaded; of a short K too: 8192x8192x512 0.1203 ms, x1024 0.2029; 128x128x64 0.1522, 0.2708",
        ..ROW
    },
    Row {
        kinds: &[Kind::F32, Kind::Bf16, Kind::F16],
        when: LARGE,
        tile: [128, 128, 32],
        reason: "f32: two blocks a multiprocessor of 128 registers a thread; bf16: one iteration, a deeper tile would be padding",
        ..ROW
    },
    Row {
        kinds: &[Kind::F32],
        tile: [64, 128, 16],
        reason: "few tiles of 128x128; at 1024^3 64x64x32 is 2 % slower",
        ..ROW
    },
    Row {
        kinds: HALF,
        orders: &[NT],
        k: 1..=32,
        tile: [64, 64, 32],
        reason: "one iteration, a deeper tile would be padding for the most part",
        ..ROW
    },
    Row {
        kinds: HALF,
        when: &[Tiles([64, 128], 96..=MULTIPROCESSORS)],
        tile: [64, 128, 64],
        reason: "one wave, and nearly a tile for each multiprocessor",
        ..ROW
    },
    Row { kinds: HALF, tile: [64, 64, 64], reason: "few tiles: the smallest occupy the most multiprocessors", ..ROW },
];
