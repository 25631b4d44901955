//! The compiler of `triton-dsl`: kernel AST → tile IR → PTX.
//!
//! The IR itself, its interpreter and what a compiled kernel is embedded as are the crate [`triton_ir`], which programs depend on: its
//! modules are re-exported here.
//!
//! A kernel is a pure function from (source, instance, target) to PTX text, so the same compiler runs inside the
//! proc macro and inside the tests:
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
pub mod estimate;
pub mod passes;
mod pipeline;
pub mod ptx;
pub mod sema;

pub use pipeline::{Compiled, advise, check, compile, explain, explain_launch, image_of, images, images_with};
pub use triton_ir::{embed, entity, hash, interp, ir, layout, metadata, ops, span, types};

/// The folders of the sources of the compiler, when it was built: by them the compiler of a checkout, which has the version of any other, is told
/// from another one.
#[doc(hidden)]
pub const SOURCES: &[&str] = &[triton_ir::SOURCES, concat!(env!("CARGO_MANIFEST_DIR"), "/src")];
