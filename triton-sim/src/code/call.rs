//! Calls: where parameters and results are.

use super::{Reg, Src};

/// A parameter or a result, on either side of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum CallOperand {
    /// A register, or for what is only read any value.
    Value(Src),
    /// Memory of the thread: address and bytes.
    Memory(u32, u32),
}

/// A call of a function.
#[derive(Clone, Debug)]
pub struct Call {
    /// The first instruction.
    pub target: u32,
    /// Gets the return address, the number of the call.
    pub return_address: Reg,
    /// From the caller to the function.
    pub arguments: Box<[(CallOperand, CallOperand)]>,
    /// From the function to the caller.
    pub results: Box<[(CallOperand, CallOperand)]>,
    /// The function's registers: a call begins without values in them.
    pub registers: std::ops::Range<Reg>,
    /// The same of its memory: addresses and bytes.
    pub memory: Box<[(u32, u32)]>,
}
