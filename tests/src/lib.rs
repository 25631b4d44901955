//! The tests' library: cases, what runs them, and what makes them.
//!
//! | module | what |
//! |---|---|
//! | [`annotate`] | cases of messages: kernels with their messages below the lines
//! | [`corpus`] | the cases of `corpus/`: tile IR, with what is expected of it |
//! | [`setup`], [`run`], [`simulate`] | a case's launch, on the interpreter and on the simulator |
//! | [`parallel`] | work on all cores |
//! | `runner` | cases on devices, by options of the command line; with the feature `runner`, which tests turn on |
//! | [`expand`] | the attributes of a file, without rustc |
//! | [`numbers`] | numbers made of a seed |
//! | [`random`] | programs made of a seed |
//! | [`fuzz`] | what goes into the attributes, made of a seed |

pub mod annotate;
#[cfg(doctest)]
mod book;
pub mod corpus;
pub mod expand;
pub mod fuzz;
pub mod numbers;
pub mod parallel;
pub mod random;
pub mod run;
#[cfg(feature = "runner")]
pub mod runner;
pub mod setup;
pub mod simulate;
pub mod tensor_maps;

use std::path::{Path, PathBuf};

/// The root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new(".")).to_path_buf()
}
