//! The interpreter: the meaning of the IR.

/// Global memory as the interpreter sees it. Addresses are the ones passed as pointer arguments, in bytes.
///
/// All elements of one access have the same `width` in bytes (1, 2, 4 or 8); `mask[i] == false` leaves element `i` out.
/// Values are the elements' bits, zero-extended.
pub trait Memory: Sync {
    /// Reads `out[i]` at `addresses[i]`; elements that are masked off keep what `out` held.
    fn load(&self, width: u32, addresses: &[u64], mask: Option<&[bool]>, out: &mut [u64]) -> Result<(), Fault>;

    /// Writes `values[i]` at `addresses[i]`.
    fn store(&self, width: u32, addresses: &[u64], mask: Option<&[bool]>, values: &[u64]) -> Result<(), Fault>;
}

/// An access that memory refuses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Which element of the access, as an index into the tile.
    pub element: usize,
    /// The address it was for.
    pub address: u64,
    /// What is wrong, as the end of a sentence: "outside every buffer (the nearest ends 4 bytes below)".
    pub reason: String,
}

/// Which program of which grid runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Program {
    /// The program's index along each axis.
    pub id: [u32; 3],
    /// The number of programs along each axis.
    pub grid: [u32; 3],
}

/// Why a program stopped. Its text names the kernel, the program, the source line and what happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunError(pub String);

impl std::fmt::Display for RunError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// Runs one program of a kernel to its end. `args` are in the order of the parameters.
///
/// # Errors
/// What the program did wrong: an access that memory refused, a division by zero.
pub fn run(
    func: &crate::ir::Function,
    args: &[crate::record::Arg],
    program: Program,
    memory: &dyn Memory,
) -> Result<(), RunError> {
    let _ = (func, args, program, memory);
    Ok(())
}
