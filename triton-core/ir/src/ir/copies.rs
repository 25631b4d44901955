//! Tiles of several copies of a base tile ([`Shape`](crate::types::Shape)): layouts are those of the base tile, and a
//! thread has the registers of one copy after the other.

use super::{Function, Value};

impl Function {
    /// How many copies of a base tile a value is.
    pub fn copies(&self, value: Value) -> usize {
        self.ty(value).shape.num_copies()
    }

    /// Registers that a thread holds of a value: 1 of a scalar.
    pub fn registers(&self, value: Value) -> usize {
        self.layout(value).map_or(1, |layout| layout.registers() * self.copies(value))
    }
}
