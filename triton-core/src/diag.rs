//! Diagnostics: what the user reads when a kernel is wrong.
//!
//! **Invariant:** every error that a user can see at `cargo build` has a [`Code`] from the one table below, and every code
//! has a case under `tests/messages/codes/`; a test compares the two lists. No message names a type or function of the compiler.

use crate::span::Span;
use std::fmt;

macro_rules! codes {
    ($($code:ident = $summary:literal;)*) => {
        /// A stable error code. It never changes its meaning; a retired one is not used again.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Code { $(#[doc = $summary] $code,)* }

        impl Code {
            /// Every code, in order.
            pub const ALL: &'static [Code] = &[$(Code::$code),*];

            /// `T0103`.
            pub fn name(self) -> &'static str { match self { $(Code::$code => stringify!($code)),* } }
        }
    };
}

codes! {
    // Syntax: what a kernel may be written with (raised by the macro's parser).
    T0001 = "an expression, pattern or type that is not part of the kernel language";
    T0002 = "a kernel, or a function for kernels, that is a method, or is in an `impl` with `self`";
    T0003 = "`async`, `const`, `unsafe`, `extern` or variadic, or a return type on a kernel";
    T0004 = "a parameter that is not a plain name";
    T0005 = "a type that a parameter of a kernel or function, or a field of a struct for kernels, cannot have";
    T0006 = "a lifetime parameter, or a generic parameter of a struct for kernels";
    T0007 = "an unknown option of an attribute, or one given twice";
    T0008 = "a wrong value for an option of `#[triton::kernel]`";
    T0009 = "a generic parameter without a list of values";
    T0010 = "a list of values for something that is not a generic parameter";
    T0011 = "an element type or constant that an instance list cannot hold";
    T0012 = "more instances than a kernel may have";
    T0013 = "a parameter attribute that does not apply";
    T0014 = "a type of a generic constant that is not supported";
    T0015 = "control flow that is not part of the kernel language";
    T0016 = "a closure that is not part of the kernel language";
    T0017 = "an item, an attribute or a macro call that a body cannot have";
    T0018 = "a literal that is not part of the kernel language";
    // Meaning: types and shapes (raised by the compiler, for one instance).
    T0101 = "a wrong number of arguments in a call of the language";
    T0102 = "operands of different element types";
    T0103 = "shapes that do not broadcast";
    T0104 = "an operator or function that is not defined for the element type";
    T0105 = "a mask or a condition that is not `bool`";
    T0106 = "`arange` of a length that no tile has";
    T0107 = "an argument that must be a compile-time constant";
    T0108 = "a tile that is too large";
    T0109 = "a store through a read-only pointer";
    T0110 = "a stored or substituted value of another type than the memory's elements";
    T0111 = "a load or store through something that is not a pointer";
    T0112 = "a literal that does not fit its type";
    T0113 = "a program axis other than 0, 1 or 2";
    T0114 = "a conversion between types that cannot be converted";
    T0115 = "a value of another type than its annotation or variable";
    T0116 = "a call that yields no value used as one";
    T0117 = "a stored value or mask whose shape is larger than the pointers'";
    T0118 = "an expression nested too deeply";
    T0119 = "a type argument that is missing, superfluous or of the wrong kind";
    T0120 = "an empty `arange`, or one that does not fit `i32`";
    T0121 = "a loop that cannot run: a step that is not positive, a counter of a type that cannot count, or too many unrolled iterations";
    T0122 = "a constant assertion that does not hold";
    T0123 = "a shape that a tile cannot have";
    T0124 = "an axis, or an order of axes, that a tile does not have";
    T0125 = "an addition of floats in an unspecified order, in a `deterministic` kernel";
    T0126 = "a kernel whose code is too large";
    T0127 = "an argument that a function does not take";
    T0128 = "a constant defined outside the kernel whose type cannot be inferred";
    T0129 = "a function, method or name that the language does not have, or an item that lacks its attribute";
    T0130 = "a kernel that needs more shared memory than a block has";
    T0199 = "an internal compiler error";
    // Warnings: all of them by `warnings = true`, W0003 to W0005 unless there is `warnings = false`.
    W0001 = "an uncoalesced access: its neighbouring elements are not contiguous in memory";
    W0002 = "a mask that is always true";
    W0003 = "an access that is not vectorized: no stride of it is known to be 1";
    W0004 = "an access through an index that wraps around";
    W0005 = "tiles that do not fit the registers of a thread";
}

impl Code {
    /// Whether a warning is on by default: speed would be lost silently.
    pub fn is_default_warning(self) -> bool {
        matches!(self, Code::W0003 | Code::W0004 | Code::W0005)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One error, spanned to the operand it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The stable code.
    pub code: Code,
    /// Where to point.
    pub span: Span,
    /// What was found and what was expected, in the user's terms, without a final full stop.
    pub message: String,
    /// Facts that explain it.
    pub notes: Vec<String>,
    /// How to fix it.
    pub help: Option<String>,
    /// The functions in which it was found, each with its call; the outermost, which the kernel calls, first.
    pub calls: Vec<(String, Span)>,
}

impl Diagnostic {
    /// A diagnostic without notes.
    pub fn new(code: Code, span: Span, message: impl Into<String>) -> Self {
        Diagnostic { code, span, message: message.into(), notes: Vec::new(), help: None, calls: Vec::new() }
    }

    /// Adds a fact.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Says how to fix it.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for Diagnostic {
    /// The text rustc shows: message, notes and help on lines of their own, the code in brackets at the end of the first.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} [{}]", self.message, self.code)?;
        for note in &self.notes {
            write!(f, "\nnote: {note}")?;
        }
        if let Some(help) = &self.help {
            write!(f, "\nhelp: {help}")?;
        }
        Ok(())
    }
}

/// Why a kernel was not compiled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Failure {
    /// What is wrong. May be empty: then everything in `deferred` is for rustc to report.
    pub diagnostics: Vec<Diagnostic>,
    /// Things only rustc can judge (an unknown name, an unknown method): the macro shows it the twin, and if rustc
    /// accepts them, these sentences are what the user reads instead.
    pub deferred: Vec<Diagnostic>,
    /// External constants, of [`crate::ast::Kernel::outers`], that the kernel needs at compile time. The
    /// diagnostics say so, too.
    pub needed: Vec<usize>,
    /// Those whose types would have to be known, likewise.
    pub untyped: Vec<usize>,
}
