//! How many cases of each family run on each device, by `cargo test`, and by `cargo xtask seeds`.

/// The device, with another compute capability than its own behind it, the family, and the number of cases.
pub const SAMPLES: &[(&str, &str, usize)] = &[
    ("cpu", "gemm", 200),
    ("cpu", "rows", 300),
    ("cpu", "conv", 200),
    ("cpu", "attention", 60),
    ("cpu", "sparse", 200),
    ("cpu", "contract", 200),
    ("cpu", "edge", 300),
    ("sim", "gemm", 40),
    ("sim", "rows", 40),
    ("sim", "conv", 20),
    ("sim", "attention", 8),
    ("sim", "sparse", 20),
    ("sim", "contract", 30),
    ("sim", "edge", 40),
    ("sim 8.6", "gemm", 16),
    ("sim 8.6", "conv", 6),
    ("sim 8.6", "attention", 3),
    ("sim 8.6", "contract", 10),
];

/// The name of a sample's device, and the value of `TRITON_DSL_CAPABILITY`.
pub fn device(of: &'static str) -> (&'static str, &'static str) {
    of.split_once(' ').unwrap_or((of, ""))
}
