//! What a PTX text says: names are resolved, operation codes are still words.
//!
//! Registers, labels, variables and parameters are numbered where they are declared, so that nothing after the parser looks
//! up a name. Names are kept for reports.

/// A position in the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pos {
    /// From 1.
    pub line: u32,
    /// From 1, in characters.
    pub column: u32,
}

/// A type that a register, a variable or a parameter is declared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// `.pred`
    Pred,
    /// `.b8` to `.b128`: this many bits.
    B(u8),
    /// `.u8` to `.u64`
    U(u8),
    /// `.s8` to `.s64`
    S(u8),
    /// `.f16`, `.f32`, `.f64`
    F(u8),
    /// `.f16x2`
    F16x2,
    /// `.bf16`
    Bf16,
    /// `.bf16x2`
    Bf16x2,
}

/// A state space of variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// `.global`
    Global,
    /// `.shared`
    Shared,
    /// `.local`
    Local,
    /// `.const`
    Const,
    /// `.param`
    Param,
}

/// A whole text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Module {
    /// `.version major.minor`
    pub version: (u32, u32),
    /// `.target`: its first word, `sm_90a`.
    pub target: String,
    /// `.file` lines: number and name.
    pub files: Vec<(u32, String)>,
    /// Variables of the module.
    pub variables: Vec<Variable>,
    /// Kernels.
    pub entries: Vec<Entry>,
    /// Functions with a body.
    pub functions: Vec<Function>,
}

/// A variable of the module or of a kernel, or a parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Where it lives.
    pub space: Space,
    /// Alignment in bytes; that of the type if none is written.
    pub align: u32,
    /// Type of an element.
    pub ty: Type,
    /// Size in bytes; `None` for an array without extent (`.extern .shared .b8 s[]`).
    pub bytes: Option<u64>,
    /// Initial bytes; the rest is zero.
    pub init: Vec<u8>,
    /// `.extern`
    pub external: bool,
    /// Where it is declared.
    pub pos: Pos,
}

/// A register of a kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Register {
    /// With its percent sign: `%r3`.
    pub name: String,
    /// Its type.
    pub ty: Type,
}

/// A kernel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// Its parameters, in [`Space::Param`].
    pub params: Vec<Variable>,
    /// `.reqntid`; missing extents are 1.
    pub required_threads: Option<[u32; 3]>,
    /// `.maxntid`
    pub max_threads: Option<[u32; 3]>,
    /// `.reqnctapercluster`
    pub cluster: Option<[u32; 3]>,
    /// `.explicitcluster`
    pub explicit_cluster: bool,
    /// `.minnctapersm`
    pub min_blocks: Option<u32>,
    /// `.maxnreg`
    pub max_registers: Option<u32>,
    /// Every register that is declared anywhere in the body, in the order of the text; a `%r<4>` is four of them.
    pub registers: Vec<Register>,
    /// Variables that are declared in the body.
    pub variables: Vec<Variable>,
    /// Number of instructions before each label, and its name, by number.
    pub labels: Vec<(usize, String)>,
    /// The body.
    pub instructions: Vec<Instruction>,
    /// Where the entry begins.
    pub pos: Pos,
}

/// A parameter or a result of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Formal {
    /// Register of its body, by its number.
    Register(u32),
    /// Variable of its body in [`Space::Param`], by its number.
    Variable(u32),
}

/// A function that kernels call (PTX ISA, ".func").
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// What it gives back.
    pub results: Vec<Formal>,
    /// What it takes.
    pub params: Vec<Formal>,
    /// Registers, variables, labels and instructions, with those of results and parameters; nothing else.
    pub body: Entry,
    /// Where it begins.
    pub pos: Pos,
}

/// A location in the user's source: `.loc file line column`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Loc {
    /// Number of the file in [`Module::files`].
    pub file: u32,
    /// From 1.
    pub line: u32,
    /// From 1; 0 if none is said.
    pub column: u32,
}

/// One instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Instruction {
    /// `@%p` or, with `true`, `@!%p`: number of the register.
    pub guard: Option<(u32, bool)>,
    /// The operation code split at its dots: `["add", "rn", "f32"]`; `::` stays inside a word (`shared::cta`).
    pub opcode: Vec<String>,
    /// The operands. A call is `[Name(function), List(results), List(arguments)]`, all parentheses being lists.
    pub operands: Vec<Operand>,
    /// The instruction as written, without guard and semicolon, its white space reduced: for reports.
    pub text: String,
    /// Where its first word (or its guard) stands.
    pub pos: Pos,
    /// The `.loc` before it, if any.
    pub loc: Option<Loc>,
}

/// What an instruction takes.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// A register, by its number in [`Entry::registers`].
    Register(u32),
    /// `!%p`: the negation of a predicate.
    Not(u32),
    /// A special register: name with its component, without the percent sign: `tid.x`, `laneid`, `cluster_ctarank`, `clock64`.
    Special(String),
    /// A number: an integer (two's complement), or the bits of `0f…` and `0d…`.
    Number(Number),
    /// Variable of the module, by its number.
    ModuleVariable(u32),
    /// Variable of the kernel, by its number.
    Variable(u32),
    /// Parameter of the kernel, by its number.
    Param(u32),
    /// A label, by its number in [`Entry::labels`].
    Label(u32),
    /// `{a, b}`
    Vector(Vec<Operand>),
    /// `(a, b)` of a call.
    List(Vec<Operand>),
    /// `d|p`
    Pair(Box<Operand>, Box<Operand>),
    /// `[base+offset]`; base is a register, a variable, a parameter or a number. In `mov` and `cvta`, which take the address of
    /// a variable, `name+offset` without brackets.
    Address {
        /// What is in front of the offset.
        base: Box<Operand>,
        /// In bytes.
        offset: i64,
    },
    /// `[map, {x, y}]`
    Tensor {
        /// The address of the map; an [`Operand::Address`] if it has an offset.
        map: Box<Operand>,
        /// Innermost first.
        coordinates: Vec<Operand>,
    },
    /// `_`
    Sink,
    /// A name that is not declared as anything else: a called function (`vprintf`).
    Name(String),
}

/// A literal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// An integer, as 64 bits.
    Int(u64),
    /// `0f3F800000`
    F32(u32),
    /// `0d3FF0000000000000`, and decimals such as `1.5`.
    F64(u64),
}
