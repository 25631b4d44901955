//! The loops around what is emitted.
//!
//! - How many there are decides where the thread's part of addresses is computed: see `shared_thread` in `shared.rs`.
//! - The address of a tile that a loop steps is in a register from before the loop to its end. The end of each turn writes it. It need
//!   not be forgotten after the loop: the tile is one at an index that only the loop defines, so that nothing after it names the tile. So
//!   is a product that a loop steps.

use crate::analysis::stepped::Stepped;
use crate::hash::WordMap;
use crate::ir::Value;
use crate::ptx::Reg;

/// How many loops are around, and what they step.
#[derive(Default)]
pub(crate) struct Loops {
    depth: u32,
    stepped: WordMap<Stepped, Reg>,
    products: WordMap<Value, Reg>,
}

impl Loops {
    pub fn enter(&mut self) {
        self.depth += 1;
    }

    pub fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Whether a loop is around.
    pub fn is_inside(&self) -> bool {
        self.depth > 0
    }

    /// That a loop steps a tile, the address of whose first element is in this register.
    pub fn step(&mut self, tile: Stepped, address: Reg) {
        self.stepped.insert(tile, address);
    }

    /// The address of the first element of a tile that a loop steps.
    pub fn stepped(&self, tile: Stepped) -> Option<Reg> {
        self.stepped.get(&tile).copied()
    }
    /// That a loop steps a product, which is in this register, in bytes.
    pub fn step_product(&mut self, product: Value, reg: Reg) {
        self.products.insert(product, reg);
    }

    /// The register of a product that a loop steps, in bytes.
    pub fn product(&self, product: Value) -> Option<Reg> {
        self.products.get(&product).copied()
    }
}
