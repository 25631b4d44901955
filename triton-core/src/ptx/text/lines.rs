//! What lines to print take of the module and of local memory.
//!
//! - A text has one number for the whole module, whichever lines have it.
//! - The arguments of a line are in local memory from its first store to its call. Those of every line are at the same place.

/// Texts, and bytes of local memory.
#[derive(Default)]
pub(crate) struct Lines {
    texts: Vec<String>,
    local: u32,
}

impl Lines {
    /// The number of a text in the module.
    pub fn text(&mut self, text: String) -> u32 {
        let known = self.texts.iter().position(|t| *t == text);
        let index = known.unwrap_or_else(|| {
            self.texts.push(text);
            self.texts.len() - 1
        });
        index as u32
    }

    /// Makes room for a line's arguments.
    pub fn reserve(&mut self, bytes: u32) {
        self.local = self.local.max(bytes);
    }

    /// Bytes of local memory.
    pub fn local_bytes(&self) -> u32 {
        self.local
    }

    /// Texts of the module, by their numbers.
    pub fn into_texts(self) -> Vec<String> {
        self.texts
    }
}
