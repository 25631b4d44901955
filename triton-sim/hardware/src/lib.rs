//! Hardware vectors: programs that show what a GPU computes, instruction by instruction, and what a real one computed.
//!
//! Each program runs some forms of instructions over inputs that are made from the form's name, and stores each result at
//! an offset of its own. `triton-chip record` keeps what a GPU stored ([`archive`]); the tests of the simulator run the
//! same programs and compare.

pub mod archive;
#[cfg(feature = "record")]
pub mod device;
pub mod instruction;
pub mod matrix;
pub mod operand_type;
pub mod program;
pub mod random;
#[cfg(feature = "record")]
pub mod record;
pub mod table;

pub use program::{Exactness, Inputs, Program, ResultVector};

/// Forms of one program.
const FORMS: usize = 16;

/// All programs.
///
/// # Errors
/// A line of a table that cannot be read.
pub fn programs() -> Result<Vec<Program>, String> {
    let mut all = Vec::new();
    for section in table::SECTIONS {
        let exactness = if section.name == "approximate" { Exactness::Approximate } else { Exactness::Exact };
        for (number, forms) in section.forms()?.chunks(FORMS).enumerate() {
            all.push(program::program(format!("{}-{number}", section.name), section.blocks, exactness, forms));
        }
    }
    all.extend(matrix::programs());
    Ok(all)
}
