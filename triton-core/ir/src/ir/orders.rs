//! The orders of operands that a function's parameters have promises for.

use super::Function;

impl Function {
    /// The [orders](crate::metadata::Image::order) that specializations have promises for, the first one included.
    pub fn orders(&self) -> u8 {
        self.params.iter().map(|param| param.orders.len() as u8).max().unwrap_or(0) + 1
    }

    /// The same function with what is promised in another order, and in no others.
    pub fn in_order(&self, order: u8) -> Function {
        let mut func = self.clone();
        for param in &mut func.params {
            param.promised = param.promised.in_order(&std::mem::take(&mut param.orders), order);
        }
        func
    }
}
