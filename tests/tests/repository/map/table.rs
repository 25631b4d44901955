//! The arrows: which crate depends on which, and which module of a crate names which. A row names rows before it only, so that
//! there is no circle. ARCHITECTURE.md shows the table.

/// A crate or module, and what it names.
pub(crate) type Row = (&'static str, &'static [&'static str]);

/// The crates, and those of the repository that they depend on. What only tests and examples need is apart.
pub(crate) const CRATES: &[Row] = &[
    ("triton-ir", &[]),
    ("triton-core", &["triton-ir"]),
    ("triton-sim", &[]),
    ("triton-chip", &[]),
    ("triton-syntax", &["triton-core"]),
    ("triton-macros", &["triton-syntax"]),
    ("triton-runtime", &["triton-ir", "triton-core", "triton-sim"]),
    ("triton-dsl", &["triton-ir", "triton-macros", "triton-runtime"]),
    ("triton-cust", &["triton-dsl"]),
    ("triton-collective", &["triton-dsl"]),
    ("triton-select", &["triton-dsl"]),
    ("triton-tune", &["triton-core", "triton-dsl", "triton-select", "triton-syntax"]),
    ("triton-kernels-macros", &[]),
    ("triton-kernels", &["triton-collective", "triton-dsl", "triton-kernels-macros", "triton-select"]),
    ("triton-candle", &["triton-dsl", "triton-kernels"]),
    ("triton-candle-llama", &["triton-candle"]),
    ("triton-bench", &["triton-collective", "triton-core", "triton-dsl", "triton-kernels", "triton-select"]),
    ("cargo-triton", &["triton-core", "triton-runtime", "triton-sim"]),
    ("triton-tests", &["triton-core", "triton-dsl", "triton-sim", "triton-syntax"]),
    ("triton-runtime-models", &[]),
    ("xtask", &["triton-core", "triton-tests"]),
];

/// The modules of `triton-ir`.
pub(crate) const IR: &[Row] = &[
    ("hash", &[]),
    ("entity", &["hash"]),
    ("span", &["entity"]),
    ("types", &["entity"]),
    ("metadata", &["types"]),
    ("layout", &["types", "metadata"]),
    ("ops", &["types"]),
    ("embed", &["ops"]),
    ("ir", &["hash", "span", "entity", "types", "metadata", "layout", "ops"]),
    ("interp", &["span", "entity", "types", "metadata", "layout", "ops", "ir"]),
    ("forward", &["entity", "types", "ops", "ir"]),
    ("interval", &["entity", "types", "metadata", "ops", "ir", "forward"]),
];

/// The modules of `triton-core`, and what they name of both crates.
pub(crate) const CORE: &[Row] = &[
    ("diag", &["span"]),
    ("ast", &["span", "types", "metadata"]),
    (
        "analysis",
        &[
            "span", "hash", "diag", "entity", "types", "metadata", "layout", "ops", "ir", "interp", "forward",
            "interval",
        ],
    ),
    ("sema", &["span", "diag", "types", "ast", "metadata", "ops", "ir"]),
    (
        "passes",
        &[
            "hash", "span", "entity", "types", "metadata", "layout", "ops", "ir", "interp", "forward", "interval",
            "analysis",
        ],
    ),
    ("estimate", &["types", "metadata", "layout", "ops", "ir", "analysis", "passes"]),
    ("ptx", &["span", "hash", "entity", "types", "metadata", "layout", "ops", "ir", "analysis"]),
    ("pipeline", &["span", "diag", "types", "ast", "metadata", "ops", "ir", "analysis", "sema", "passes", "ptx"]),
];

/// The modules of `triton-syntax`.
pub(crate) const SYNTAX: &[Row] = &[
    ("context", &[]),
    ("manifest", &[]),
    ("environment", &["manifest"]),
    ("deflate", &[]),
    ("build_cache", &["environment", "deflate"]),
    ("read", &["context", "environment"]),
    ("link", &["context", "environment", "read"]),
    ("emit", &["context", "environment", "deflate", "build_cache", "read", "link"]),
    ("function", &["context", "environment", "read", "link", "emit"]),
    ("source", &["context", "read", "link"]),
];

/// The modules of `triton-ir` and `triton-core` that the crates of a user's program name.
pub(crate) const USERS: &[Row] = &[
    ("triton-syntax", &["hash", "span", "diag", "types", "ast", "metadata", "ops", "embed", "sema", "pipeline"]),
    (
        "triton-runtime",
        &[
            "hash", "span", "diag", "types", "ast", "metadata", "ops", "ir", "interp", "interval", "estimate",
            "pipeline",
        ],
    ),
    ("triton-dsl", &["types", "metadata", "embed"]),
];
