//! Programs of a few steps, and what is to be found in them.

mod model;
mod random;
mod scenarios;
mod world;
