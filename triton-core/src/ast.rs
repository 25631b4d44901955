//! The kernel language as parsed: what the macro hands to the compiler.
//!
//! A plain tree without `syn`: the macro converts one into the other, tests build it by hand. It is still generic; an
//! [`Instance`] gives the values of its type and const parameters.
//!
//! **Invariant:** nothing here knows types or shapes of values; [`crate::sema`] finds them.

use crate::metadata::Targets;
use crate::span::{Sources, Span};
use crate::types::DType;

/// A kernel function.
#[derive(Clone, Debug, PartialEq)]
pub struct Kernel {
    /// The function's name.
    pub name: Ident,
    /// Type and const parameters, in order.
    pub generics: Vec<Generic>,
    /// Parameters, in order.
    pub params: Vec<Param>,
    /// The statements.
    pub body: Vec<Stmt>,
    /// What the body calls, directly or not, and constants it uses.
    pub functions: Vec<Function>,
    /// The structs that parameters have.
    pub structs: Vec<Struct>,
    /// External constants (which only rustc can evaluate), as they are written.
    pub outers: Vec<String>,
    /// Where the spans lie.
    pub sources: Sources,
}

/// A function that kernels call; each call is inlined. Without parameters it is also a constant.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Its name.
    pub name: Ident,
    /// Type and const parameters, in order.
    pub generics: Vec<Generic>,
    /// Parameters, in order.
    pub params: Vec<(Pattern, Type)>,
    /// What it returns; `()` is a tuple of nothing.
    pub result: Type,
    /// The statements.
    pub body: Vec<Stmt>,
    /// The value.
    pub value: Option<Box<Expr>>,
    /// Whether it is a function of the language itself: errors in it are reported at its call.
    pub library: bool,
}

/// A struct of scalars.
#[derive(Clone, Debug, PartialEq)]
pub struct Struct {
    /// Its name.
    pub name: String,
    /// The fields with their types.
    pub fields: Vec<(String, Type)>,
}

/// A name with its span.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ident {
    /// The name, without `r#`.
    pub name: String,
    /// Its span.
    pub span: Span,
}

/// A generic parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generic {
    /// Its name.
    pub name: Ident,
    /// Type, or constant of a type.
    pub kind: GenericKind,
}

/// What a generic parameter stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GenericKind {
    /// An element type.
    Type,
    /// A constant: `i32`, `i64`, `u32`, `u64` or `bool`.
    Const(DType),
}

/// A type as written: `f32`, `T`, `Tile<f32>`, `Tensor<f32, 2>`, `(Tile<f32>, i32)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Type {
    /// The last segment of its path; of a constant among generic arguments, its text; of a tuple, [`Type::TUPLE`]; of a function as an
    /// argument, [`Type::FUNCTION`].
    pub name: String,
    /// Its generic arguments, or what a tuple is made of; of a function its parameters, and at the end what it yields.
    pub args: Vec<Type>,
    /// The struct of [`Kernel::structs`] that it is.
    pub structure: Option<usize>,
    /// Its span.
    pub span: Span,
}

impl Type {
    /// The name of a tuple.
    pub const TUPLE: &'static str = "()";

    /// The name of a function as an argument.
    pub const FUNCTION: &'static str = "impl Fn";

    /// A path of one name.
    pub fn named(name: impl Into<String>, span: Span) -> Type {
        Type { name: name.into(), args: Vec::new(), structure: None, span }
    }

    /// The type as the user writes it.
    pub fn describe(&self) -> String {
        let args: Vec<String> = self.args.iter().map(Type::describe).collect();
        match self.name.as_str() {
            Type::TUPLE => format!("({})", args.join(", ")),
            Type::FUNCTION => match args.split_last() {
                Some((result, params)) if result == "()" => format!("impl Fn({})", params.join(", ")),
                Some((result, params)) => format!("impl Fn({}) -> {result}", params.join(", ")),
                None => "impl Fn()".to_owned(),
            },
            name if args.is_empty() => name.to_owned(),
            name => format!("{name}<{}>", args.join(", ")),
        }
    }
}

/// A parameter of the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Param {
    /// Its name.
    pub name: Ident,
    /// What is passed.
    pub kind: ParamKind,
    /// The element type, or the scalar's own type: a generic's name or a built-in element type.
    pub elem: Type,
    /// `#[multiple_of(N)]`: a precondition on a scalar's value, or on a pointer's address in bytes. 1 without it.
    pub multiple_of: u32,
    /// `#[no_specialize]`: never specialize on this parameter.
    pub general: bool,
}

/// The kind of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamKind {
    /// `Ptr<T>`.
    Ptr,
    /// `PtrMut<T>`.
    PtrMut,
    /// A number or `bool`.
    Scalar,
    /// A struct of scalars: [`Type::structure`] of the parameter's type says which.
    Struct,
    /// `Tensor<T, RANK>`: a view with shape and strides that the kernel reads.
    Tensor(u8),
    /// `TensorMut<T, RANK>`: a view that the kernel reads and writes.
    TensorMut(u8),
}

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Stmt {
    /// `let pattern: ty = init;`
    Let {
        /// What is bound.
        pattern: Pattern,
        /// The annotation.
        ty: Option<Type>,
        /// The value.
        init: Expr,
    },
    /// `target = value;`, or with an operator `target += value;`.
    Assign {
        /// The variable.
        target: Ident,
        /// The operator of a compound assignment and its span.
        op: Option<(BinaryOp, Span)>,
        /// The value.
        value: Expr,
    },
    /// `const NAME: ty = value;`
    Const {
        /// The name.
        name: Ident,
        /// Its type.
        ty: Type,
        /// Its value, a compile-time constant.
        value: Expr,
    },
    /// `for var in start..end`, `for var in (start..end).step_by(step)`, `for var in unroll(range)`.
    For {
        /// The counter: a name, or `_`.
        var: Pattern,
        /// The first number.
        start: Expr,
        /// The number before which it ends.
        end: Expr,
        /// The distance of two numbers; 1 without it.
        step: Option<Expr>,
        /// How its turns are run.
        turns: Turns,
        /// What is done for each.
        body: Vec<Stmt>,
        /// The head of the loop.
        span: Span,
    },
    /// `while cond { .. }`; a `loop` is one whose condition is `true`.
    While {
        /// A scalar `bool`.
        cond: Expr,
        /// What is done while it holds.
        body: Vec<Stmt>,
        /// The keyword.
        span: Span,
    },
    /// `break;`, `continue;`, `return;`: what follows is skipped. Between the statements of a loop, of the kernel, or of an `if`
    /// or block there.
    Exit(Exit, Span),
    /// `assert!(cond, "message")`.
    Assert {
        /// A scalar `bool`, or a tile of `bool` all of which must hold.
        cond: Expr,
        /// The message; without one, the condition's text.
        message: String,
        /// The macro call.
        span: Span,
    },
    /// `const { assert!(cond, "message") }`.
    ConstAssert {
        /// A compile-time constant `bool`.
        cond: Expr,
        /// What the error says.
        message: String,
        /// The block.
        span: Span,
    },
    /// `println!("text {} text", value)`.
    Print {
        /// The text around the arguments: one piece more than there are arguments.
        pieces: Vec<String>,
        /// Scalars and tiles.
        args: Vec<Expr>,
        /// The macro call.
        span: Span,
    },
    /// An expression for its effect.
    Expr(Expr),
}

impl Stmt {
    /// Where it is.
    pub fn span(&self) -> Span {
        match self {
            Stmt::Let { init, .. } => init.span,
            Stmt::Assign { target, .. } => target.span,
            Stmt::Const { name, .. } => name.span,
            Stmt::Expr(expr) => expr.span,
            Stmt::For { span, .. }
            | Stmt::While { span, .. }
            | Stmt::Exit(_, span)
            | Stmt::Assert { span, .. }
            | Stmt::ConstAssert { span, .. }
            | Stmt::Print { span, .. } => *span,
        }
    }
}

/// How the turns of a `for` are run.
#[derive(Clone, Debug, PartialEq)]
pub enum Turns {
    /// One after the other in a loop; `#[stages(n)]` before it says how many tiles of a product's operand there are at a time.
    Loop(Option<Box<Expr>>),
    /// None is left: the range stands in `unroll(..)`, and its numbers are compile-time constants in the body.
    Unrolled,
}

/// What a statement leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// A loop, which has this many others between it and the statement.
    Break(usize),
    /// The iteration of such a loop.
    Continue(usize),
    /// The program.
    Return,
}

/// What a `let` binds.
#[derive(Clone, Debug, PartialEq)]
pub enum Pattern {
    /// `x` or `mut x`.
    Name {
        /// The variable.
        name: Ident,
        /// `mut`.
        mutable: bool,
    },
    /// `_`.
    Wild,
    /// `(a, b)`.
    Tuple(Vec<Pattern>, Span),
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Its span, from its first token.
    pub span: Span,
}

/// The kinds of expression.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// An integer literal with an optional suffix. A literal `-5` is `Unary(Neg, Int)`.
    Int(u128, Option<DType>),
    /// A float literal, its digits as written (without `_` and suffix), so that it is rounded once.
    Float(String, Option<DType>),
    /// `true`, `false`.
    Bool(bool),
    /// A variable, parameter, generic constant, or associated constant such as `f32::MAX`.
    Path(Path),
    /// `-x`, `!x`.
    Unary(UnaryOp, Box<Expr>),
    /// `a + b`. The span is the operator's.
    Binary(BinaryOp, Span, Box<Expr>, Box<Expr>),
    /// `load(p, m)`, `zeros::<f32>([4])`.
    Call(Path, Vec<Expr>),
    /// `x.to::<f32>()`.
    Method {
        /// What the method is called on.
        receiver: Box<Expr>,
        /// The method.
        name: Ident,
        /// The turbofish.
        generics: Vec<Type>,
        /// The arguments.
        args: Vec<Expr>,
    },
    /// `options.rate`.
    Field(Box<Expr>, Ident),
    /// `x as i64`.
    Cast(Box<Expr>, Type),
    /// `(a, b)`.
    Tuple(Vec<Expr>),
    /// `[a, b]`.
    Array(Vec<Expr>),
    /// `{ a; b; c }`: statements and a value.
    Block(Vec<Stmt>, Option<Box<Expr>>),
    /// `if cond { .. } else { .. }`; the branches are blocks, the second may be another `if`.
    If(Box<Expr>, Box<Expr>, Option<Box<Expr>>),
    /// `|a, b| a + b`, an argument of `reduce`, or of a function that takes one. Parameters are names or tuples of names.
    Closure(Vec<Pattern>, Box<Expr>),
}

/// A path with the turbofish of its last segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// `["f32", "MAX"]`.
    pub segments: Vec<String>,
    /// `::<f32>`.
    pub generics: Vec<Type>,
    /// What it resolves to, as far as only the scope of the kernel tells.
    pub target: Target,
    /// Its span.
    pub span: Span,
}

impl Path {
    /// A name resolved here.
    pub fn name(name: Ident) -> Path {
        Path { segments: vec![name.name], generics: Vec::new(), target: Target::Name, span: name.span }
    }
}

/// What a path means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A variable, a parameter, a function of the language: found by its name.
    Name,
    /// A function or constant, of [`Kernel::functions`].
    Function(usize),
    /// A constant that only rustc can evaluate, of [`Kernel::outers`].
    Outer(usize),
}

/// Prefix operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOp {
    /// `-`
    Neg,
    /// `!`
    Not,
}

/// Infix operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is the operator it is named after")]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    BitAnd,
    BitOr,
    BitXor,
    Shl,
    Shr,
    And,
    Or,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

impl BinaryOp {
    /// As written in Rust.
    pub fn symbol(self) -> &'static str {
        match self {
            BinaryOp::Add => "+",
            BinaryOp::Sub => "-",
            BinaryOp::Mul => "*",
            BinaryOp::Div => "/",
            BinaryOp::Rem => "%",
            BinaryOp::BitAnd => "&",
            BinaryOp::BitOr => "|",
            BinaryOp::BitXor => "^",
            BinaryOp::Shl => "<<",
            BinaryOp::Shr => ">>",
            BinaryOp::And => "&&",
            BinaryOp::Or => "||",
            BinaryOp::Eq => "==",
            BinaryOp::Ne => "!=",
            BinaryOp::Lt => "<",
            BinaryOp::Le => "<=",
            BinaryOp::Gt => ">",
            BinaryOp::Ge => ">=",
        }
    }
}

/// The values of a kernel's generic parameters and its options: what is compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    /// One value for each generic, in the order of [`Kernel::generics`].
    pub args: Vec<GenericArg>,
    /// How to compile it.
    pub options: Options,
}

/// The value of a generic parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GenericArg {
    /// An element type.
    Type(DType),
    /// A constant (`bool` is 0 or 1).
    Const(i128),
}

/// Options of one instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Warps (of 32 threads) that run one program: 1, 2, 4, 8, 16 or 32.
    pub num_warps: u32,
    /// The most tiles of an operand that a loop around a product loads at a time: 1 loads nothing ahead.
    pub num_stages: u32,
    /// The most registers of a thread, from 24 to 255, if that is bounded.
    pub max_registers: Option<u32>,
    /// Blocks of a cluster that share the K of the product in the kernel's loop: 1, 2, 4 or 8.
    pub cluster_k: u32,
    /// What it has code for.
    pub targets: Targets,
    /// Whether `assert!` is checked at run time.
    pub assertions: bool,
    /// Whether sums of floats are added in one order, the same on every device and for every number of warps.
    pub deterministic: bool,
    /// Whether float arithmetic may be rounded differently where that costs less: see [`crate::passes::values::relax`].
    pub fast_math: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            num_warps: 4,
            num_stages: 3,
            max_registers: None,
            cluster_k: 1,
            targets: Targets::ALL,
            assertions: true,
            deterministic: false,
            fast_math: false,
        }
    }
}
