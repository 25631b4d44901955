//! What the specializations promise of parameters: the one table that the compiler's passes, the launcher's rules and the tests
//! agree with.

use super::Specialization;
use crate::types::Elem;

/// What the [specializations](Specialization) promise of a parameter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Promised {
    /// Of a pointer the alignment to 16 bytes, under `aligned16`; of an integer that 16 divides it, under `divisible16`.
    #[default]
    Divisible,
    /// That it is 1, under `unit_stride`: the stride along the axis that runs along memory.
    Unit,
    /// That it is a multiple of this, under `aligned16`: another stride, and the elements in 16 bytes.
    Pitch(u32),
    /// That it is a multiple of this, under `divisible16`: the extent along memory, likewise.
    Extent(u32),
    /// Nothing.
    Nothing,
}

impl Promised {
    /// Of a pointer or an integer of the user's.
    pub fn unless(general: bool) -> Promised {
        if general { Promised::Nothing } else { Promised::Divisible }
    }

    /// What a specialization promises of a parameter of these elements.
    pub fn under(self, specialization: Specialization, elem: Elem) -> Promise {
        let from = |least: Specialization, promise: Promise| {
            if specialization >= least { promise } else { Promise::Multiple(1) }
        };
        match (self, elem) {
            (Promised::Divisible, Elem::Ptr { .. }) => from(Specialization::Aligned16, Promise::Multiple(16)),
            (Promised::Divisible, Elem::Num(dtype)) if dtype.is_int() => {
                from(Specialization::Divisible16, Promise::Multiple(16))
            }
            (Promised::Unit, _) => from(Specialization::UnitStride, Promise::One),
            (Promised::Pitch(multiple), _) => from(Specialization::Aligned16, Promise::Multiple(multiple)),
            (Promised::Extent(multiple), _) => from(Specialization::Divisible16, Promise::Multiple(multiple)),
            (Promised::Divisible | Promised::Nothing, _) => Promise::Multiple(1),
        }
    }

    /// This, which is promised in the first order, or what is promised in another one, of which there may be none.
    pub fn in_order(self, orders: &[Promised], order: u8) -> Promised {
        usize::from(order).checked_sub(1).and_then(|other| orders.get(other)).copied().unwrap_or(self)
    }

    /// The specialization that promises most of what this number, or address in bytes, keeps.
    pub fn kept_by(self, bits: u64, elem: Elem) -> Specialization {
        let keeps = |&specialization: &Specialization| self.under(specialization, elem).keeps(bits);
        Specialization::ALL.iter().rev().copied().find(keeps).unwrap_or(Specialization::Generic)
    }
}

/// What is known of a number, or of an address in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promise {
    /// It is 1.
    One,
    /// It is a multiple of this.
    Multiple(u32),
}

impl Promise {
    /// Whether a number keeps it.
    pub fn keeps(self, bits: u64) -> bool {
        match self {
            Promise::One => bits == 1,
            Promise::Multiple(n) => bits.is_multiple_of(u64::from(n)),
        }
    }
}
