//! What an attribute becomes: tokens made of the item as written and of what the compiler made of it.
//!
//! Everything takes one [`kernel::Kernel`]. [`compile`] runs the compiler over its instances, [`expand`] writes the launcher and
//! the implementation of each instance, [`pool`] those of `tune = [..]`, and [`twin`] the body that rustc checks,
//! with the language's `Tensor` by its path ([`types`]).

mod bound;
pub(crate) mod compile;
mod dump;
mod embed;
pub(crate) mod expand;
pub(crate) mod kernel;
mod pool;
pub(crate) mod twin;
pub(crate) mod types;
