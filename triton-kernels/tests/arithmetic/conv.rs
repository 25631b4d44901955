//! The geometry of convolutions.

#[path = "../../src/conv/geometry.rs"]
mod geometry;
