//! The pages of the book (`docs/`) as documentation, so that `cargo test` compiles and runs every program in them. README.md is among
//! the pages of the library, `triton-kernels/src/lib.rs`, as its programs use that.

macro_rules! pages {
    ($folder:literal: $($page:ident)*) => {
        $( #[doc = include_str!(concat!($folder, stringify!($page), ".md"))] mod $page {} )*
    };
}

pages! {
    "../../docs/src/":
    introduction
    first_kernel
    views
    path
    masks
    atomics
    types
    shapes
    reductions
    products
    attention
    functions
    instances
    performance
    cargo_triton
    checks
    testing
    simulator
    streams
    interop
    from_triton
    limits
    how_it_works
    glossary
    errors
}

pages! {
    "../../docs/src/errors/":
    t0001
    t0002
    t0003
    t0004
    t0005
    t0006
    t0007
    t0008
    t0009
    t0010
    t0011
    t0012
    t0013
    t0014
    t0015
    t0016
    t0017
    t0018
    t0101
    t0102
    t0103
    t0104
    t0105
    t0106
    t0107
    t0108
    t0109
    t0110
    t0111
    t0112
    t0113
    t0114
    t0115
    t0116
    t0117
    t0118
    t0119
    t0120
    t0121
    t0122
    t0123
    t0124
    t0125
    t0126
    t0127
    t0128
    t0129
    t0130
    t0199
    w0001
    w0002
    w0003
    w0004
    w0005
}
