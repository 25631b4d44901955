//! Programs of the language as trees, and how they are written.

use std::fmt::Write;
use triton_core::types::DType;

/// The type of an expression. In a function for every shape and element type, an axis of 0 elements stands for the shape
/// of its tiles.
#[derive(Clone, Debug, PartialEq)]
pub enum Ty {
    /// A number or a tile.
    Tile(Elem, Vec<u32>),
    /// A tuple.
    Tuple(Vec<Ty>),
    /// The struct of the launch.
    Params,
    /// A view of this element type and rank.
    View(DType, u8),
}

/// An element type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Elem {
    /// This one.
    Of(DType),
    /// The type parameter of a function.
    Generic,
}

impl Ty {
    /// A number.
    pub fn scalar(dtype: DType) -> Ty {
        Ty::Tile(Elem::Of(dtype), Vec::new())
    }

    /// As a parameter of a function has it.
    pub fn written(&self) -> String {
        let elem = |elem: &Elem| match elem {
            Elem::Of(dtype) => dtype.name().to_owned(),
            Elem::Generic => "T".to_owned(),
        };
        match self {
            Ty::Tile(of, shape) if shape.is_empty() => elem(of),
            Ty::Tile(of, _) => format!("Tile<{}>", elem(of)),
            Ty::Tuple(parts) => format!("({})", parts.iter().map(Ty::written).collect::<Vec<_>>().join(", ")),
            Ty::Params => "Settings".into(),
            Ty::View(dtype, rank) => format!("Tensor<{}, {rank}>", dtype.name()),
        }
    }
}

/// An expression.
#[derive(Clone, Debug)]
pub enum Expr {
    /// A variable, parameter or constant.
    Name(String),
    /// A literal: its value, and whether its type is written.
    Literal(DType, i64, bool),
    /// `-x` or `!x`.
    Unary(&'static str, Box<Expr>),
    /// An operator between two values, a comparison among them.
    Binary(&'static str, Box<Expr>, Box<Expr>),
    /// A function of the language on tiles of one shape: `select`, `minimum`, ..
    Elementwise(&'static str, Vec<Expr>),
    /// A reduction of all elements, or along an axis.
    Reduce(&'static str, Box<Expr>, Option<usize>),
    /// A scan along an axis.
    Scan(&'static str, Box<Expr>, usize),
    /// `x.to::<T>()`.
    To(Box<Expr>, Elem),
    /// `reshape`, `broadcast_to`: methods with a shape.
    Reshaped(&'static str, Box<Expr>, Vec<u32>),
    /// `x.expand_dims(axis)`.
    Expand(Box<Expr>, usize),
    /// `x.transpose()`.
    Transpose(Box<Expr>),
    /// `arange(start, end)`.
    Arange(u32, u32),
    /// `arange(0, end)` of a constant.
    ArangeTo(Box<Expr>),
    /// `join(a, b)`, `interleave(a, b)`.
    Pairs(&'static str, Box<Expr>, Box<Expr>),
    /// `split(x)`, a tuple.
    Split(Box<Expr>),
    /// `dot(a, b, acc)`, with or without `Tf32`.
    Dot(Box<Expr>, Box<Expr>, Box<Expr>, bool),
    /// `zeros::<T>(shape)`.
    Zeros(DType, Vec<u32>),
    /// `full(shape, x)`.
    Full(Vec<u32>, Box<Expr>),
    /// `program_id(0)`.
    Program,
    /// A call of a function: its number, the value of its constant parameter, arguments.
    Call(usize, Option<i64>, Vec<Expr>),
    /// A field of the struct.
    Field(Box<Expr>, String),
    /// A tuple.
    Tuple(Vec<Expr>),
    /// `view.load(at, shape)`, or `load_or`.
    Load(String, Vec<Expr>, Vec<u32>, Option<Box<Expr>>),
    /// `view.dim(axis)`.
    Dim(String, usize),
    /// `if c { .. a } else { .. b }`.
    If(Box<Expr>, Vec<Stmt>, Box<Expr>, Vec<Stmt>, Box<Expr>),
}

/// A statement.
#[derive(Clone, Debug)]
pub enum Stmt {
    /// `let name = value;`
    Let(String, bool, Expr),
    /// `let (a, b) = value;`
    Unpack(Vec<String>, Expr),
    /// `const NAME: i32 = value;`
    Const(String, Expr),
    /// `name = value;`, `name += value;`
    Assign(String, &'static str, Expr),
    /// `if c { .. } else { .. }`
    If(Expr, Vec<Stmt>, Vec<Stmt>),
    /// `label: for name in start..end { .. }`, by a step, and whether it is unrolled.
    For(String, String, [Expr; 2], u32, bool, Vec<Stmt>),
    /// A label, a counter, a bound, and a `while` until the counter reaches it; or a `loop`.
    While(String, String, Expr, bool, Vec<Stmt>),
    /// `break label;`
    Break(String),
    /// `continue label;`
    Continue(String),
    /// `view.store(at, value);`
    Store(String, Vec<Expr>, Expr),
    /// `view.atomic_add(at, value);` and the like.
    Update(String, &'static str, Vec<Expr>, Expr),
    /// `return;`
    Return,
}

/// A function of the program.
#[derive(Clone, Debug)]
pub struct Function {
    /// Whether it has a type parameter `T`.
    pub generic: bool,
    /// Whether it has a constant parameter `K`.
    pub constant: bool,
    /// Parameters.
    pub params: Vec<(String, Ty)>,
    /// What stands before the value.
    pub body: Vec<Stmt>,
    /// The value.
    pub value: Expr,
    /// Its type.
    pub result: Ty,
}

/// Lines of a block, which is a scope.
fn block(out: &mut String, depth: usize, stmts: &[Stmt], value: Option<&Expr>) {
    for stmt in stmts {
        let indent = "    ".repeat(depth);
        out.push_str(&indent);
        match stmt {
            Stmt::Let(name, mutable, value) => {
                let _ = write!(out, "let {}{name} = {};", if *mutable { "mut " } else { "" }, expr(value));
            }
            Stmt::Unpack(names, value) => {
                let _ = write!(out, "let ({}) = {};", names.join(", "), expr(value));
            }
            Stmt::Const(name, value) => {
                let _ = write!(out, "const {name}: i32 = {};", expr(value));
            }
            Stmt::Assign(name, op, value) => {
                let _ = write!(out, "{name} {op} {};", expr(value));
            }
            Stmt::If(cond, then, otherwise) => {
                let _ = writeln!(out, "if {} {{", expr(cond));
                block(out, depth + 1, then, None);
                if !otherwise.is_empty() {
                    let _ = writeln!(out, "{indent}}} else {{");
                    block(out, depth + 1, otherwise, None);
                }
                let _ = write!(out, "{indent}}}");
            }
            Stmt::For(label, name, [start, end], step, unrolled, body) => {
                let mut range = format!("{}..{}", expr(start), expr(end));
                if *step != 1 {
                    range = format!("({range}).step_by({step})");
                }
                if *unrolled {
                    range = format!("unroll({range})");
                }
                let _ = writeln!(out, "{label}: for {name} in {range} {{");
                block(out, depth + 1, body, None);
                let _ = write!(out, "{indent}}}");
            }
            Stmt::While(label, name, end, endless, body) => {
                let _ = writeln!(out, "let mut {name} = 0;");
                let end = expr(end);
                let _ = match endless {
                    false => writeln!(out, "{indent}{label}: while {name} < {end} {{"),
                    true => writeln!(
                        out,
                        "{indent}{label}: loop {{\n{indent}    if {name} >= {end} {{\n{indent}        break;\n{indent}    }}"
                    ),
                };
                block(out, depth + 1, body, None);
                let _ = write!(out, "{indent}    {name} += 1;\n{indent}}}");
            }
            Stmt::Store(view, at, value) => {
                let _ = write!(out, "{view}.store([{}], {});", list(at), expr(value));
            }
            Stmt::Update(view, op, at, value) => {
                let _ = write!(out, "{view}.{op}([{}], {});", list(at), expr(value));
            }
            Stmt::Break(label) => {
                let _ = write!(out, "break {label};");
            }
            Stmt::Continue(label) => {
                let _ = write!(out, "continue {label};");
            }
            Stmt::Return => out.push_str("return;"),
        }
        out.push('\n');
    }
    if let Some(value) = value {
        let _ = writeln!(out, "{}{}", "    ".repeat(depth), expr(value));
    }
}

fn list(exprs: &[Expr]) -> String {
    exprs.iter().map(expr).collect::<Vec<_>>().join(", ")
}

fn lengths(shape: &[u32]) -> String {
    shape.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
}

fn elem(of: Elem) -> &'static str {
    match of {
        Elem::Of(dtype) => dtype.name(),
        Elem::Generic => "T",
    }
}

/// An expression as Rust. Operands stand in parentheses.
pub fn expr(of: &Expr) -> String {
    match of {
        Expr::Name(name) => name.clone(),
        Expr::Literal(dtype, value, suffix) => {
            let number = match dtype {
                DType::Bool => return (*value != 0).to_string(),
                // Quarters, which are exact.
                DType::F32 => format!("{:?}", *value as f64 / 4.0),
                _ => value.to_string(),
            };
            if *suffix { format!("{number}{}", dtype.name()) } else { number }
        }
        Expr::Unary(op, x) => format!("{op}{}", operand(x)),
        Expr::Binary(op, a, b) => format!("{} {op} {}", operand(a), operand(b)),
        Expr::Elementwise(name, args) => format!("{name}({})", list(args)),
        Expr::Reduce(name, x, None) => format!("{name}({})", expr(x)),
        Expr::Reduce(name, x, Some(axis)) => format!("{name}_axis({}, {axis})", expr(x)),
        Expr::Scan(name, x, axis) => format!("{name}({}, {axis})", expr(x)),
        Expr::To(x, of) => format!("{}.to::<{}>()", operand(x), elem(*of)),
        Expr::Reshaped(name, x, shape) => format!("{}.{name}([{}])", operand(x), lengths(shape)),
        Expr::Expand(x, axis) => format!("{}.expand_dims({axis})", operand(x)),
        Expr::Transpose(x) => format!("{}.transpose()", operand(x)),
        Expr::Arange(start, end) => format!("arange({start}, {end})"),
        Expr::ArangeTo(end) => format!("arange(0, {})", expr(end)),
        Expr::Pairs(name, a, b) => format!("{name}({}, {})", expr(a), expr(b)),
        Expr::Split(x) => format!("split({})", expr(x)),
        Expr::Dot(a, b, acc, tf32) => {
            let (a, precision) = if *tf32 { (operand(a), ".precision(Tf32)") } else { (expr(a), "") };
            format!("dot({a}{precision}, {}, {})", expr(b), expr(acc))
        }
        Expr::Zeros(dtype, shape) => format!("zeros::<{}>([{}])", dtype.name(), lengths(shape)),
        Expr::Full(shape, x) => format!("full([{}], {})", lengths(shape), expr(x)),
        Expr::Program => "program_id(0)".into(),
        Expr::Call(index, None, args) => format!("f{index}({})", list(args)),
        Expr::Call(index, Some(k), args) => format!("f{index}::<{k}>({})", list(args)),
        Expr::Field(x, name) => format!("{}.{name}", operand(x)),
        Expr::Tuple(parts) => format!("({})", list(parts)),
        Expr::Load(view, at, shape, None) => format!("{view}.load([{}], [{}])", list(at), lengths(shape)),
        Expr::Load(view, at, shape, Some(other)) => {
            format!("{view}.load_or([{}], [{}], {})", list(at), lengths(shape), expr(other))
        }
        Expr::Dim(view, axis) => format!("{view}.dim({axis})"),
        Expr::If(cond, before, a, otherwise, b) => {
            let (mut first, mut second) = (String::new(), String::new());
            block(&mut first, 1, before, Some(a));
            block(&mut second, 1, otherwise, Some(b));
            format!("if {} {{\n{first}}} else {{\n{second}}}", expr(cond))
        }
    }
}

fn operand(of: &Expr) -> String {
    let text = expr(of);
    match of {
        Expr::Unary(..) | Expr::Binary(..) | Expr::If(..) => format!("({text})"),
        Expr::Literal(_, value, _) if *value < 0 => format!("({text})"),
        Expr::Name(_)
        | Expr::Literal(..)
        | Expr::Elementwise(..)
        | Expr::Reduce(..)
        | Expr::Scan(..)
        | Expr::To(..)
        | Expr::Reshaped(..)
        | Expr::Expand(..)
        | Expr::Transpose(_)
        | Expr::Arange(..)
        | Expr::ArangeTo(_)
        | Expr::Pairs(..)
        | Expr::Split(_)
        | Expr::Dot(..)
        | Expr::Zeros(..)
        | Expr::Full(..)
        | Expr::Program
        | Expr::Call(..)
        | Expr::Field(..)
        | Expr::Tuple(_)
        | Expr::Load(..)
        | Expr::Dim(..) => text,
    }
}

/// A function with its attribute.
pub fn function(out: &mut String, index: usize, function: &Function) {
    let mut generics = Vec::new();
    generics.extend(function.generic.then(|| "T: Num".to_owned()));
    generics.extend(function.constant.then(|| "const K: i32".to_owned()));
    let generics = if generics.is_empty() { String::new() } else { format!("<{}>", generics.join(", ")) };
    let params: Vec<String> = function.params.iter().map(|(name, ty)| format!("{name}: {}", ty.written())).collect();
    let (params, result) = (params.join(", "), function.result.written());
    let _ = writeln!(out, "#[triton::function]\nfn f{index}{generics}({params}) -> {result} {{");
    block(out, 1, &function.body, Some(&function.value));
    out.push_str("}\n\n");
}

/// The statements of a kernel.
pub fn kernel(out: &mut String, body: &[Stmt]) {
    block(out, 1, body, None);
}
