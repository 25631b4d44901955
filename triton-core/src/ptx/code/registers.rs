//! A table by register.

use crate::ptx::Reg;

/// A value for each register of a kernel, by class and number. What no register of the kernel has is never found.
pub(crate) struct Registers<T>([Vec<T>; 4]);

impl<T: Copy + Default> Registers<T> {
    /// The default for each; `counts` says how many registers there are of each class.
    pub fn new(counts: [u32; 4]) -> Registers<T> {
        Registers(counts.map(|count| vec![T::default(); count as usize]))
    }

    pub fn get(&self, reg: Reg) -> T {
        self.0[reg.class as usize].get(reg.index as usize).copied().unwrap_or_default()
    }

    pub fn set(&mut self, reg: Reg, to: T) {
        if let Some(of) = self.0[reg.class as usize].get_mut(reg.index as usize) {
            *of = to;
        }
    }
}
