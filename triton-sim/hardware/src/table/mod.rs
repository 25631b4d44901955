//! All forms, by subject.

mod approximate;
mod carry;
mod compare;
mod convert;
mod float;
mod integer;
mod memory;
mod warp;

use crate::instruction::{InstructionForm, forms};
use std::collections::HashSet;

/// Forms of one subject.
pub struct Section {
    /// Its name.
    pub name: &'static str,
    /// Blocks of 128 threads that try each of its forms.
    pub blocks: u32,
    /// Lines as [`crate::instruction`] reads them.
    pub lines: &'static [&'static str],
}

/// All of them.
pub const SECTIONS: &[Section] = &[
    Section { name: "integer", blocks: 1, lines: integer::LINES },
    Section { name: "carry", blocks: 1, lines: carry::LINES },
    Section { name: "float", blocks: 2, lines: float::LINES },
    Section { name: "approximate", blocks: 4, lines: approximate::LINES },
    Section { name: "compare", blocks: 1, lines: compare::LINES },
    Section { name: "convert", blocks: 1, lines: convert::LINES },
    Section { name: "warp", blocks: 1, lines: warp::LINES },
    Section { name: "memory", blocks: 1, lines: memory::LINES },
];

impl Section {
    /// Its forms, each with a name of its own.
    ///
    /// # Errors
    /// The first line that cannot be read.
    pub fn forms(&self) -> Result<Vec<InstructionForm>, String> {
        let mut names = HashSet::new();
        let mut all = Vec::new();
        for line in self.lines {
            for mut form in forms(line)? {
                let name = form.name.clone();
                let mut count = 1;
                while !names.insert(form.name.clone()) {
                    count += 1;
                    form.name = format!("{name} ({count})");
                }
                all.push(form);
            }
        }
        Ok(all)
    }
}
