//! Scopes of names: a block shadows the names around it (PTX ISA, "Identifiers").

use super::ast::Pos;
use super::cursor::{declared_twice, shown};
use super::special;
use crate::ParseError;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// The meaning of a name, with its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Named {
    Register(u32),
    /// The first of the registers of a vector, and how many it has.
    Vector(u32, u8),
    Variable(u32),
    Param(u32),
    Label(u32),
    ModuleVariable(u32),
    Function,
    Kernel,
}

/// The scopes that are open.
#[derive(Default)]
pub(super) struct Names {
    innermost: HashMap<String, Named>,
    /// Those around it, the module's first.
    outer: Vec<HashMap<String, Named>>,
}

impl Names {
    /// Opens a scope.
    pub fn open(&mut self) {
        self.outer.push(std::mem::take(&mut self.innermost));
    }

    /// Closes the innermost scope.
    pub fn close(&mut self) {
        self.innermost = self.outer.pop().unwrap_or_default();
    }

    /// Declares a name in the innermost scope.
    ///
    /// # Errors
    /// The scope has it already.
    pub fn declare(&mut self, name: &str, named: Named, pos: Pos) -> Result<(), ParseError> {
        match self.innermost.entry(name.to_owned()) {
            Entry::Vacant(place) => {
                place.insert(named);
                Ok(())
            }
            // The label may be defined later.
            Entry::Occupied(place) if matches!(place.get(), Named::Label(_)) => {
                Err(super::error(pos, &format!("`{}` is also a label of this block", shown(name))))
            }
            Entry::Occupied(_) => Err(declared_twice(name, pos)),
        }
    }

    /// Declares a label of the innermost scope; a name that the scope has already is left as it is.
    pub fn foresee(&mut self, name: &str, label: u32) {
        self.innermost.entry(name.to_owned()).or_insert(Named::Label(label));
    }

    /// The meaning of a name in the innermost scope.
    pub fn here(&self, name: &str) -> Option<Named> {
        self.innermost.get(name).copied()
    }

    /// The meaning of a name.
    pub fn find(&self, name: &str) -> Option<Named> {
        self.innermost.get(name).or_else(|| self.outer.iter().rev().find_map(|scope| scope.get(name))).copied()
    }

    /// The error of an undeclared name, with a suggestion.
    pub fn undeclared(&self, name: &str, pos: Pos) -> ParseError {
        let what = if name.starts_with('%') { "register " } else { "" };
        let mut message = format!("{what}`{}` is not declared", shown(name));
        // `%r7` is not a typo for `%r6`: numbered names are not suggested.
        let numbered = |name: &str| name.ends_with(|c: char| c.is_ascii_digit());
        let own =
            self.outer.iter().chain([&self.innermost]).flat_map(HashMap::keys).filter(|name| !numbered(name)).cloned();
        let near = special::all().chain(own).filter_map(|known| Some((distance(name, &known)?, known))).min();
        if let Some((_, near)) = near {
            message.push_str(&format!("; did you mean `{near}`?"));
        }
        super::error(pos, &message)
    }
}

/// Number of characters to insert, delete or replace to come from one name to another (Levenshtein), if they are a third of
/// the name at most.
fn distance(a: &str, b: &str) -> Option<usize> {
    let most = a.len() / 3;
    if a.len() > 60 || a.len().abs_diff(b.len()) > most {
        return None;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, y) in b.bytes().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    let last = row[b.len()];
    (last <= most).then_some(last)
}
