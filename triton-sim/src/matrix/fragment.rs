//! Which thread holds which element of a matrix: the fragments of `mma`, `wgmma` and `ldmatrix`.
//!
//! PTX ISA, "Matrix Fragments for mma" and "Register Fragments for wgmma", draws one figure for each shape and type. They all
//! are one map. Four neighbouring threads share a *line* (a row of A and of the accumulator, a column of B), a warp covers
//! eight lines at a time, and a thread holds `packed` neighbours of its line at a time:
//!
//! ```text
//! group = lane / 4, member = lane % 4
//! line     = group + 8 · (i / packed % bands) + 16 · warp
//! position = packed · member + i % packed + 4 · packed · (i / packed / bands)
//! ```
//!
//! where `bands` is 1 for matrices of 8 lines and 2 for more.

/// The map of a matrix in registers. Threads count from the first of the warp, or of the warpgroup of a `wgmma`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fragment {
    /// Lines: 8, 16, or 64 if four warps hold 16 lines each.
    lines: u32,
    /// Elements of a line.
    length: u32,
    /// Peers of a line that a thread holds together.
    packed: u32,
    /// Elements in a register, the first one in the lowest bits.
    per_register: u32,
    /// Whether lines are columns.
    columns: bool,
}

impl Fragment {
    /// A (m, k) or, with `columns`, B (n, k) of a product whose registers hold `packed` elements.
    pub(super) fn operand(lines: u32, k: u32, packed: u32, columns: bool) -> Fragment {
        Fragment { lines, length: k, packed, per_register: packed, columns }
    }

    /// The accumulator (m, n) of a product whose registers hold `per_register` elements.
    pub(super) fn accumulator(m: u32, n: u32, per_register: u32) -> Fragment {
        Fragment { lines: m, length: n, packed: 2, per_register, columns: false }
    }

    /// Rows and columns of the matrix.
    pub fn extent(self) -> (u32, u32) {
        if self.columns { (self.length, self.lines) } else { (self.lines, self.length) }
    }

    /// Threads that hold it: 32 or 128.
    pub fn threads(self) -> u32 {
        if self.lines == 64 { 128 } else { 32 }
    }

    /// Elements that one thread holds.
    pub fn elements(self) -> u32 {
        self.lines * self.length / self.threads()
    }

    /// Elements in a register, the first one in the lowest bits.
    pub fn per_register(self) -> u32 {
        self.per_register
    }

    /// Registers of one thread.
    pub fn registers(self) -> u32 {
        self.elements() / self.per_register
    }

    /// The row and the column of element `i` of a thread, counted through its registers.
    pub fn position(self, thread: u32, i: u32) -> (u32, u32) {
        let (warp, group, member) = (thread / 32, thread % 32 / 4, thread % 4);
        let (slot, run) = (i % self.packed, i / self.packed);
        let line = 16 * warp + 8 * (run % self.bands()) + group;
        let at = 4 * self.packed * (run / self.bands()) + self.packed * member + slot;
        if self.columns { (at, line) } else { (line, at) }
    }

    /// The thread that holds an element, and the element's number there: the inverse of [`Fragment::position`].
    pub fn holder(self, row: u32, column: u32) -> (u32, u32) {
        let (line, at) = if self.columns { (column, row) } else { (row, column) };
        let (member, step) = (at / self.packed % 4, at / self.packed / 4);
        let run = step * self.bands() + line % 16 / 8;
        (line / 16 * 32 + line % 8 * 4 + member, run * self.packed + at % self.packed)
    }

    /// Bands of eight lines that a warp holds.
    fn bands(self) -> u32 {
        if self.lines == 8 { 1 } else { 2 }
    }
}
