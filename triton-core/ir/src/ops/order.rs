//! The order of an atomic update: which other accesses of its program it orders, as other programs see them (PTX ISA, "Memory consistency
//! model"; C++ calls it `memory_order`).

use super::field::{Field, Reader};

/// What an atomic update orders at device scope.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum MemoryOrder {
    /// Nothing but itself.
    #[default]
    Relaxed,
    /// A program that reads what a releasing update wrote sees what came before that one: the accesses of this program that follow.
    Acquire,
    /// The accesses of this program that came before it are seen by a program that acquires what it wrote.
    Release,
    /// Both.
    AcqRel,
}

impl MemoryOrder {
    /// All of them.
    pub const ALL: [MemoryOrder; 4] =
        [MemoryOrder::Relaxed, MemoryOrder::Acquire, MemoryOrder::Release, MemoryOrder::AcqRel];

    /// As in the IR and in PTX.
    pub fn name(self) -> &'static str {
        match self {
            MemoryOrder::Relaxed => "relaxed",
            MemoryOrder::Acquire => "acquire",
            MemoryOrder::Release => "release",
            MemoryOrder::AcqRel => "acq_rel",
        }
    }

    /// As in the language.
    pub fn spelling(self) -> &'static str {
        match self {
            MemoryOrder::Relaxed => "Relaxed",
            MemoryOrder::Acquire => "Acquire",
            MemoryOrder::Release => "Release",
            MemoryOrder::AcqRel => "AcqRel",
        }
    }

    /// Whether what the program does later comes after it.
    pub fn acquires(self) -> bool {
        matches!(self, MemoryOrder::Acquire | MemoryOrder::AcqRel)
    }

    /// Whether what the program did before comes before it.
    pub fn releases(self) -> bool {
        matches!(self, MemoryOrder::Release | MemoryOrder::AcqRel)
    }
}

impl Field for MemoryOrder {
    fn print(&self, out: &mut String) {
        out.push_str(self.name());
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, String> {
        let word = reader.next()?;
        let order = MemoryOrder::ALL.into_iter().find(|order| order.name() == word);
        order.ok_or_else(|| format!("`{word}` is not a memory order"))
    }
}
