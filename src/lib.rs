//! GPU kernels as ordinary Rust.
