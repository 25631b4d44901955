//! How many cases of each family run on each device: by `cargo test`, and by `cargo xtask seeds`.

/// The device, the family, and the number of cases.
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
];
