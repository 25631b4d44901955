//! Programs of a few steps, and what is to be found in them.

mod fences;
mod model;
mod random;
mod scenarios;
mod world;
