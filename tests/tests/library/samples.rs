//! What runs without options: by `cargo test` from seed 1, by `cargo xtask seeds` from others.

/// Which cases of a family.
#[derive(Clone, Copy, Debug)]
pub enum Part {
    /// This number, chosen at random.
    Sample(usize),
    /// Those whose names contain a text.
    Named(&'static str),
}

use Part::{Named, Sample};

/// A device, a family, and which cases of it. `sim 8.6` is a simulated GPU without the instructions of Hopper and with 99 KiB of shared
/// memory, which has no code of some instances.
pub const SETS: &[(&str, &str, Part)] = &[
    ("cpu", "gemm", Sample(200)),
    ("cpu", "gemm", Named("gemm_with:")),
    ("cpu", "gemm", Named("gemm_with placed_bf16 ")),
    ("cpu", "rows", Sample(300)),
    ("cpu", "conv", Sample(200)),
    ("cpu", "attention", Sample(60)),
    ("cpu", "sparse", Sample(200)),
    ("cpu", "contract", Sample(200)),
    ("cpu", "declared", Named("refuses")),
    ("cpu", "edge", Sample(300)),
    ("cpu", "edge", Named("reported")),
    ("cpu", "edge", Named("known")),
    ("cpu", "extents", Named("sizes")),
    ("cpu", "graphs", Named("graph of")),
    ("sim", "gemm", Sample(40)),
    ("sim", "gemm", Named("gemm_with placed_bf16 [33, 65, 40]")),
    ("sim", "rows", Sample(40)),
    ("sim", "conv", Sample(20)),
    ("sim", "attention", Sample(8)),
    ("sim", "sparse", Sample(20)),
    ("sim", "contract", Sample(30)),
    ("sim", "edge", Sample(40)),
    ("sim", "edge", Named("reported")),
    ("sim", "extents", Named("sizes")),
    ("sim 8.6", "gemm", Sample(16)),
    ("sim 8.6", "conv", Sample(6)),
    ("sim 8.6", "attention", Sample(3)),
    ("sim 8.6", "contract", Sample(10)),
];
