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

use matrix::Dots;
use operand_type::OperandType;
use random::hash;

/// Forms of one program.
const FORMS: usize = 16;

/// What one launch tries: kernel `run` with the addresses of input and output, blocks of [`program::THREADS`] threads.
#[derive(Clone, Debug)]
pub struct Program {
    /// Its name.
    pub name: String,
    /// PTX.
    pub text: String,
    /// How many blocks.
    pub blocks: u32,
    /// What the first parameter points to.
    pub input: Vec<u8>,
    /// Bytes that the second parameter points to, zero before.
    pub output: usize,
    /// What lies there.
    pub results: Vec<ResultVector>,
}

/// One result of a form in all threads, or one matrix.
#[derive(Clone, Debug)]
pub struct ResultVector {
    /// Name of the form.
    pub form: String,
    /// Type of a result.
    pub ty: OperandType,
    /// How close a result must be.
    pub exactness: Exactness,
    /// Which operands lead to it.
    pub inputs: Inputs,
    /// Where each result begins in the output.
    pub offsets: Vec<usize>,
    /// Bytes of each.
    pub bytes: usize,
}

/// What the ISA, or a measured model, says of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exactness {
    /// Its bits.
    Exact,
    /// Its error.
    Approximate,
    /// Nothing: it is what the accumulation of a matrix instruction shows.
    Accumulated,
}

/// Where results come from.
#[derive(Clone, Debug)]
pub enum Inputs {
    /// Result `n` from the values at `offset + n * STRIDE` of the input, of this many bytes.
    Operands(Vec<(usize, usize)>),
    /// Sums of products.
    Dots(Dots),
}

impl Program {
    /// FNV-1a of text and input: recorded results belong to them.
    pub fn hash(&self) -> u64 {
        hash(&[self.text.as_bytes(), &self.input].concat())
    }
}

impl ResultVector {
    /// The bits of a result.
    pub fn bits(&self, output: &[u8], index: usize) -> u128 {
        bits(output, self.offsets[index], self.bytes)
    }

    /// The operands of a result, as text.
    pub fn operands(&self, input: &[u8], index: usize) -> String {
        match &self.inputs {
            Inputs::Operands(list) => {
                let text = |&(offset, bytes): &(usize, usize)| {
                    format!("{:0width$x}", bits(input, offset + index * program::STRIDE, bytes), width = bytes * 2)
                };
                list.iter().map(text).collect::<Vec<_>>().join(" ")
            }
            Inputs::Dots(dots) => dots.operands(index),
        }
    }
}

fn bits(data: &[u8], at: usize, bytes: usize) -> u128 {
    data[at..at + bytes].iter().rev().fold(0, |all, byte| all << 8 | u128::from(*byte))
}

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
