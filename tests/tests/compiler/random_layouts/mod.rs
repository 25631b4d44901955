//! Random layouts.

use triton_core::layout::Layout;
use triton_core::layout::linear::independent;
use triton_tests::numbers::Random;

/// What is drawn at random.
pub trait Layouts {
    /// A layout of 2^`n` elements: bits in any order, and with `mixed` sums of them.
    fn layout(&mut self, n: usize, registers: usize, warps: usize, mixed: bool) -> Option<Layout>;
}

impl Layouts for Random {
    fn layout(&mut self, n: usize, registers: usize, warps: usize, mixed: bool) -> Option<Layout> {
        let mut columns: Vec<u32> = (0..n).map(|i| 1 << i).collect();
        columns.resize(n.max(registers + 5 + warps), 0);
        self.shuffle(&mut columns);
        if mixed {
            for _ in 0..20 {
                let (i, j) = (self.below(columns.len()), self.below(columns.len()));
                columns[i] ^= if i == j { 0 } else { columns[j] };
            }
        }
        let threads = columns.split_off(columns.len() - 5 - warps);
        let reg = independent(columns, &[]);
        let layout = Layout { reg, lane: threads[..5].try_into().ok()?, warp: threads[5..].to_vec() };
        layout.covers(1 << n).then_some(layout)
    }
}
