//! A functional simulator of PTX: runs the text that a GPU would, on the CPU, and reports faults that a GPU does not
//! detect.
//!
//! It executes one warp instruction after another, bit for bit as the PTX ISA says (and as a chip does where the ISA leaves it
//! unspecified and it was measured), in an order that a seed chooses; asynchronous copies, stores and matrix products complete
//! at any moment until they are waited for. A violation is a typed [`Report`]: accesses outside allocations,
//! misaligned ones, uninitialised registers and memory, races by happens-before through barriers, fences, mbarriers and atomics
//! (also between the generic and the async proxy), divergent barriers, misused mbarriers, deadlocks, registers of unfinished
//! `wgmma`, wrong descriptors and tensor maps. [`Statistics`](stats::Statistics) count instructions, sectors and bank
//! conflicts.
//!
//! ```
//! use triton_sim::{Arg, Launch, Memory, Module, Options};
//!
//! let module = Module::parse(
//!     ".version 7.0
//!      .target sm_80
//!      .address_size 64
//!      .visible .entry square(.param .u64 numbers) {
//!          .reg .b32 %r<2>;
//!          .reg .b64 %d<2>;
//!          ld.param.u64 %d0, [numbers];
//!          mov.u32 %r0, %tid.x;
//!          mad.wide.u32 %d1, %r0, 4, %d0;
//!          ld.global.u32 %r1, [%d1];
//!          mul.lo.u32 %r1, %r1, %r1;
//!          st.global.u32 [%d1], %r1;
//!          ret;
//!      }",
//! )?;
//! let mut memory = Memory::new();
//! let numbers = memory.alloc(8)?;
//! memory.write(numbers, &[3, 0, 0, 0, 5, 0, 0, 0])?;
//! let launch = Launch { args: vec![Arg::Bits(numbers)], ..Launch::new("square", [1, 1, 1], [2, 1, 1]) };
//! let outcome = module.launch(&mut memory, &launch, &Options::default())?;
//! assert!(outcome.reports.is_empty());
//! assert_eq!(memory.read(numbers, 8)?, [9, 0, 0, 0, 25, 0, 0, 0]);
//!
//! // A third thread finds no third number.
//! let launch = Launch { block: [3, 1, 1], ..launch };
//! let outcome = module.launch(&mut memory, &launch, &Options::default())?;
//! assert_eq!(outcome.reports[0].fault.name(), "out-of-bounds");
//! assert_eq!((outcome.reports[0].lane, outcome.reports[0].site.pos.line), (2, 10));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What it is not: a model of time or of caches. It knows the subset of PTX that compilers for Ampere and Hopper use;
//! [`Module::parse`] rejects everything else, with its line, including recursion and indirect calls. Integer results, conversions and IEEE arithmetic are exact;
//! approximate functions (`ex2.approx`, `sin.approx`, …) are rounded from double precision and may differ from a chip's in the
//! last bits. Sums of matrix products follow the model that was measured on an H200 ([`num::Accumulate`]).
//!
//! The crate reads text, and is independent of the compiler that generated it.

mod access;
pub mod check;
mod code;
pub mod faults;
pub mod hopper;
mod launch;
mod machine;
pub mod matrix;
mod memory;
pub mod num;
pub mod parse;
mod printf;
pub mod stats;

use code::Kernel;
pub use faults::{Fault, Repeats, Report};
pub use launch::{Arg, Launch, LaunchError, Options, Outcome, Ran};
pub use memory::{Memory, MemoryError};
use parse::ast;

/// A PTX text that was read.
#[derive(Debug)]
pub struct Module {
    ast: ast::Module,
    kernels: Vec<Kernel>,
    /// The architecture: 90 for `sm_90a`.
    sm: u32,
}

/// A syntax error, or an unsupported construct.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {message}")]
pub struct ParseError {
    /// From 1.
    pub line: u32,
    /// From 1.
    pub column: u32,
    /// What was found, what was expected.
    pub message: String,
}

impl Module {
    /// Reads a PTX text.
    ///
    /// # Errors
    /// The first error.
    pub fn parse(text: &str) -> Result<Module, ParseError> {
        let ast = parse::parse(text)?;
        let kernels = ast.entries.iter().map(|entry| code::decode(&ast, entry)).collect::<Result<_, _>>()?;
        let digits: String = ast.target.chars().filter(char::is_ascii_digit).collect();
        let sm = digits.parse().unwrap_or(80);
        Ok(Module { ast, kernels, sm })
    }

    /// Runs a kernel over a grid. What it writes to memory is there afterwards, also if it was stopped.
    ///
    /// Variables of the module that are in memory begin with their initial values in every launch.
    ///
    /// # Errors
    /// The launch breaks a rule; nothing has run.
    pub fn launch(&self, memory: &mut Memory, launch: &Launch, options: &Options) -> Result<Outcome, LaunchError> {
        let Some(kernel) = self.kernels.iter().find(|k| k.name == launch.entry) else {
            let known = self.kernels.iter().map(|k| k.name.as_str()).collect::<Vec<_>>().join(", ");
            return Err(LaunchError::NoEntry { name: launch.entry.clone(), known });
        };
        let mut variables = vec![0; self.ast.variables.len()];
        let outcome = match self.allocate_variables(memory, &mut variables) {
            Ok(()) => machine::launch(kernel, self.sm, variables.clone(), memory, launch, options),
            Err(error) => Err(LaunchError::Variable(error)),
        };
        for address in variables.into_iter().filter(|a| *a != 0) {
            let _ = memory.free(address);
        }
        outcome
    }

    /// Puts the variables that are in memory there, with their initial values.
    fn allocate_variables(&self, memory: &mut Memory, addresses: &mut [u64]) -> Result<(), MemoryError> {
        for (v, address) in self.ast.variables.iter().zip(addresses) {
            if matches!(v.space, ast::Space::Global | ast::Space::Const) {
                *address = memory.alloc(v.bytes.unwrap_or(0))?;
                memory.write(*address, &v.init)?;
            }
        }
        Ok(())
    }
}
