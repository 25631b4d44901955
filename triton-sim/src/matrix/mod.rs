//! The geometry of matrix instructions: which thread holds which element, and which shapes and types exist.
//!
//! Pure arithmetic and tables; nothing here reads or writes memory.

mod element;
mod fragment;
mod mma;
mod tiles;
mod wgmma;

pub use element::{Element, Shape};
pub use fragment::Fragment;
pub use mma::Mma;
pub use tiles::Tiles;
pub use wgmma::Wgmma;

#[cfg(test)]
mod tests;
