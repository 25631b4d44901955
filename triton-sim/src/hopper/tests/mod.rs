//! Tests of tensor maps, of copies and of descriptors, and of all of them together.

mod copies;
mod descriptors;
mod maps;
