//! Where buffers are in shared memory.
//!
//! - The place of a buffer is a number, known to the compiler: it holds for the whole kernel.
//! - The place of a slot or of an alias belongs to the value that names it. Its register holds wherever that value may be used.
//! - The number of an item's slot is computed where the item is first used, and kept for the operations after that. No
//!   branch or loop forgets
//!   it. So the first operation on an item in the text has to come before all others on every path. That is so in the
//!   rings that passes make:
//!   an item is first filled, or waited for, in the block that defines it.
//! - The mbarrier of a buffer that receives messages is a number too, known from where the cluster is told that the block runs.

use crate::hash::WordMap;
use crate::ir::Value;
use crate::ptx::Reg;

/// Where a buffer, a slot or an alias of one begins.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    /// The buffer's offset in shared memory.
    pub at: u32,
    /// Of slots of rings, the bytes before them in their buffers.
    pub slot: Option<Reg>,
}

/// Places in shared memory, and how much of it there is.
#[derive(Default)]
pub(crate) struct Buffers {
    places: WordMap<Value, Place>,
    slot_numbers: WordMap<(Value, u32), Reg>,
    mailboxes: WordMap<Value, u32>,
    bytes: u32,
}

impl Buffers {
    /// The place of a buffer, a slot or an alias.
    pub fn place(&self, value: Value) -> Option<Place> {
        self.places.get(&value).copied()
    }

    /// The bytes before a slot in its buffer; `None` of what is not a slot.
    pub fn slot(&self, value: Value) -> Option<Reg> {
        self.place(value)?.slot
    }

    pub fn put(&mut self, value: Value, place: Place) {
        self.places.insert(value, place);
    }

    /// The number of an item's slot among this many, if it has been computed.
    pub fn slot_number(&self, item: Value, slots: u32) -> Option<Reg> {
        self.slot_numbers.get(&(item, slots)).copied()
    }

    /// That the number of an item's slot among this many is in a register from here on.
    pub fn keep_slot_number(&mut self, item: Value, slots: u32, number: Reg) {
        self.slot_numbers.insert((item, slots), number);
    }

    /// Forgets the numbers of slots: what follows does not come after what computed them.
    pub fn forget_slot_numbers(&mut self) {
        self.slot_numbers.clear();
    }

    /// The mbarrier of a buffer that receives messages, as an offset in shared memory.
    pub fn mailbox(&self, buffer: Value) -> Option<u32> {
        self.mailboxes.get(&buffer).copied()
    }

    pub fn put_mailbox(&mut self, buffer: Value, at: u32) {
        self.mailboxes.insert(buffer, at);
    }

    /// Makes shared memory reach at least to this offset.
    pub fn reach(&mut self, end: u32) {
        self.bytes = self.bytes.max(end);
    }

    /// Bytes of shared memory of all buffers and mbarriers.
    pub fn bytes(&self) -> u32 {
        self.bytes
    }
}
