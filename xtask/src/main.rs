//! Tasks of the repository: `cargo xtask NAME`.
fn main() {}
