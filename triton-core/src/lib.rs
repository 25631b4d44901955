//! The compiler of `triton-dsl`: kernel AST → tile IR → PTX.
//!
//! A kernel is a pure function from (source, instance, target) to PTX text, so the same compiler runs inside the
//! proc macro, inside the CPU device and inside the tests:
//!
//! ```text
//! ast ──sema──▶ ir (stage 0) ──passes──▶ ir (stage 1) ──ptx::lower──▶ ptx::Kernel ──print──▶ text
//!                    └──▶ interp: the meaning
//! ```
//!
//! **Invariant:** no files, no environment, no device, no threads, no `unsafe`.

pub mod analysis;
pub mod ast;
pub mod diag;
pub mod embed;
pub mod entity;
pub mod estimate;
pub mod hash;
pub mod interp;
pub mod ir;
pub mod layout;
pub mod metadata;
pub mod ops;
pub mod passes;
mod pipeline;
pub mod ptx;
pub mod sema;
pub mod span;
pub mod types;

pub use pipeline::{
    Compiled, advise, check, compile, explain, explain_launch, image_of, images, images_with, keeps_dividends,
};

/// The folders of the sources of the compiler, when it was built: by them the compiler of a checkout, which has the version of any other, is told
/// from another one.
#[doc(hidden)]
pub const SOURCES: &[&str] = &[concat!(env!("CARGO_MANIFEST_DIR"), "/src")];
