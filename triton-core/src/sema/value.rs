//! What expressions evaluate to while checking: values of the IR, and compile-time constants.

use super::{Checker, assoc};
use crate::ast::{Expr, Path, Pattern, Type as AstType};
use crate::diag::{Code, Diagnostic};
use crate::ir::{Function, Value};
use crate::ops::{Op, Outer};
use crate::span::Span;
use crate::types::{Class, Constant, DType, Elem, Shape, Type};
use std::collections::HashMap;
use std::rc::Rc;

/// The result of an expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Val {
    /// A value of the IR: scalar or tile.
    Ir(Value),
    /// A constant scalar.
    Known(Known),
    /// Several results.
    Tuple(Vec<Val>),
    /// A view that is a parameter.
    View(View),
    /// A struct, by its number, with the values of its fields.
    Struct(usize, Vec<Val>),
    /// A function as an argument.
    Function(Rc<Callable>),
    /// An external constant, by its number, which takes the type of the other operand.
    Outer(usize),
    /// None.
    Unit,
}

/// A view's parameters in the IR.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct View {
    pub dtype: DType,
    pub mutable: bool,
    pub ptr: Value,
    pub extents: Vec<Value>,
    pub strides: Vec<Value>,
}

impl View {
    pub fn describe(&self) -> String {
        let name = if self.mutable { "TensorMut" } else { "Tensor" };
        format!("{name}<{}, {}>", self.dtype, self.extents.len())
    }
}

/// A function as an argument, with the variables and types of the place where it was written.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Callable {
    pub callee: Callee,
    pub scopes: Vec<HashMap<String, Option<Val>>>,
    pub types: HashMap<String, DType>,
    /// As the parameter that it is passed for declares it: what it takes, and at the end what it yields.
    pub signature: Vec<AstType>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Callee {
    /// A closure.
    Closure { params: Vec<Pattern>, body: Expr },
    /// A function by its number, as its name was written.
    Named { index: usize, path: Path, params: usize },
}

impl Callable {
    /// How many arguments it takes.
    fn arity(&self) -> usize {
        match &self.callee {
            Callee::Closure { params, .. } => params.len(),
            Callee::Named { params, .. } => *params,
        }
    }

    /// In the user's terms.
    pub fn describe(&self) -> String {
        let (count, noun) = match &self.callee {
            Callee::Closure { params, .. } => (params.len(), "closure"),
            Callee::Named { params, .. } => (*params, "function"),
        };
        format!("{noun} of {count} parameter{}", if count == 1 { "" } else { "s" })
    }

    /// The same as an argument of a parameter that is declared like this; `None` if it takes another number of arguments.
    pub fn declared(&self, wanted: &AstType) -> Option<Callable> {
        let fits = wanted.args.len() == self.arity() + 1;
        fits.then(|| Callable { signature: wanted.args.clone(), ..self.clone() })
    }
}

/// A constant scalar.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Known {
    /// An integer literal that still takes the type of the other operand.
    Int(i128),
    /// A float literal (its digits), likewise.
    Float(String),
    /// A number of a type.
    Typed(Constant),
}

impl Known {
    pub fn int(dtype: DType, value: i128) -> Known {
        Known::Typed(Constant::int(dtype, value))
    }

    pub fn bool(value: bool) -> Known {
        Known::int(DType::Bool, value.into())
    }

    /// The integer it is.
    pub fn as_int(&self) -> Option<i128> {
        match self {
            Known::Int(int) => Some(*int),
            Known::Typed(constant) if constant.dtype.is_int() => constant.as_int(),
            Known::Float(_) | Known::Typed(_) => None,
        }
    }
}

impl Val {
    /// The type, if it is one value and no open literal.
    pub fn ty(&self, func: &Function) -> Option<Type> {
        match self {
            Val::Ir(value) => Some(func.ty(*value)),
            Val::Known(Known::Typed(constant)) => Some(Type::scalar(constant.dtype)),
            Val::Known(Known::Int(_) | Known::Float(_))
            | Val::Tuple(_)
            | Val::View(_)
            | Val::Struct(..)
            | Val::Function(_)
            | Val::Outer(_)
            | Val::Unit => None,
        }
    }

    /// The values of a tuple or array; any other value alone.
    pub fn into_values(self) -> Vec<Val> {
        match self {
            Val::Tuple(values) => values,
            Val::Ir(_)
            | Val::Known(_)
            | Val::View(_)
            | Val::Struct(..)
            | Val::Function(_)
            | Val::Outer(_)
            | Val::Unit => vec![self],
        }
    }

    /// A literal that is bound to a name stops being open: `i32` and `f32`. Numbers that do not fit stay open and are
    /// reported where they are used.
    pub fn with_default_type(self) -> Val {
        match self {
            Val::Known(Known::Int(int)) if fits(DType::I32, int) => Val::Known(Known::int(DType::I32, int)),
            Val::Known(Known::Float(digits)) => match Constant::parse_float(DType::F32, &digits) {
                Some(constant) => Val::Known(Known::Typed(constant)),
                None => Val::Known(Known::Float(digits)),
            },
            Val::Tuple(values) => Val::Tuple(values.into_iter().map(Val::with_default_type).collect()),
            Val::Ir(_)
            | Val::Known(_)
            | Val::View(_)
            | Val::Struct(..)
            | Val::Function(_)
            | Val::Outer(_)
            | Val::Unit => self,
        }
    }
}

/// Whether an integer is a number of the type.
pub(super) fn fits(dtype: DType, int: i128) -> bool {
    Constant::int(dtype, int).as_int() == Some(int)
}

/// An argument with its span.
pub(super) type Arg = (Val, Span);

impl Checker<'_> {
    /// An open literal as a number of `dtype`, if that is given; everything else as it is.
    pub fn literal_as(&mut self, value: Val, dtype: Option<DType>, span: Span) -> Option<Val> {
        let Some(dtype) = dtype else { return Some(value) };
        let constant = match &value {
            Val::Known(Known::Int(int)) => match dtype.class() {
                Class::Signed | Class::Unsigned if fits(dtype, *int) => Constant::int(dtype, *int),
                Class::Signed | Class::Unsigned => {
                    let (low, high) = (assoc::constant(dtype, "MIN"), assoc::constant(dtype, "MAX"));
                    let bounds = low.zip(high).and_then(|(low, high)| low.as_int().zip(high.as_int()));
                    let (low, high) = bounds.unwrap_or_default();
                    let problem = Diagnostic::new(Code::T0112, span, format!("{int} does not fit `{dtype}`"));
                    return self.report(problem.help(format!("`{dtype}` holds {low} to {high}: take a wider type")));
                }
                Class::Float => {
                    let help = format!("write `{int}.0`");
                    let message = format!("an integer literal where `{dtype}` is needed");
                    return self.report(Diagnostic::new(Code::T0112, span, message).help(help));
                }
                Class::Bool => {
                    return self.report(
                        Diagnostic::new(Code::T0112, span, "an integer literal where `bool` is needed")
                            .help("write `true` or `false`"),
                    );
                }
            },
            Val::Known(Known::Float(digits)) => match Constant::parse_float(dtype, digits) {
                Some(constant) => constant,
                None => {
                    let message = format!("a float literal where `{dtype}` is needed");
                    let help = match dtype.class() {
                        Class::Bool => "write `true` or `false`",
                        Class::Float => "write digits that the type holds",
                        Class::Signed | Class::Unsigned => {
                            "write an integer, or convert the other side with `.to::<f32>()`"
                        }
                    };
                    return self.report(Diagnostic::new(Code::T0112, span, message).help(help));
                }
            },
            Val::Outer(index) => return self.outer(*index, dtype, span).map(Val::Ir),
            Val::Known(Known::Typed(_))
            | Val::Ir(_)
            | Val::Tuple(_)
            | Val::View(_)
            | Val::Struct(..)
            | Val::Function(_)
            | Val::Unit => {
                return Some(value);
            }
        };
        Some(Val::Known(Known::Typed(constant)))
    }

    /// An external constant as a number of a type, which is its type from now on.
    fn outer(&mut self, index: usize, dtype: DType, span: Span) -> Option<Value> {
        self.outers[index].1.get_or_insert(dtype);
        self.append(Op::Outer { dtype, value: Outer::Open(index as u32) }, span)
    }

    /// An external constant whose type is still open as one of `dtype`; everything else as it is.
    pub fn open_as(&mut self, value: Val, dtype: DType, span: Span) -> Option<Val> {
        if let Val::Outer(_) = value { self.literal_as(value, Some(dtype), span) } else { Some(value) }
    }

    /// The constant that a path from outside means: open, unless its type has been found.
    pub fn outer_path(&mut self, index: usize, span: Span) -> Option<Val> {
        match self.outers.get(index)?.1 {
            Some(dtype) => self.outer(index, dtype, span).map(Val::Ir),
            None => Some(Val::Outer(index)),
        }
    }

    /// The value in the IR. An open literal becomes a number of `hint`, or of the default type.
    pub fn materialise(&mut self, value: Val, hint: Option<DType>, span: Span) -> Option<Value> {
        let value = self.literal_as(value, hint, span)?.with_default_type();
        match self.not_unit(value, span)? {
            Val::Ir(value) => Some(value),
            Val::Known(Known::Typed(value)) => self.append(Op::Const { value }, span),
            Val::Known(Known::Int(int)) => self.report(
                Diagnostic::new(Code::T0112, span, format!("{int} does not fit `i32`"))
                    .help("give it a suffix, as in `5_i64`"),
            ),
            Val::Known(Known::Float(_)) => {
                let problem = Diagnostic::new(Code::T0112, span, "this literal is not a number of `f32`");
                self.report(problem.help("give it a suffix, as in `1e300_f64`"))
            }
            Val::Outer(index) => {
                self.failure.untyped.push(index);
                let text = self.outers[index].0;
                let message = format!("cannot infer the type of `{text}`");
                let help = format!("annotate it: `let value: f32 = {text};`, and use `value`");
                self.report(Diagnostic::new(Code::T0128, span, message).help(help))
            }
            Val::Struct(index, _) => {
                let name = self.structs.get(index).map_or("", |structure| &structure.name);
                let message = format!("`{name}` where a value is needed");
                self.report(Diagnostic::new(Code::T0104, span, message).help("take one of its fields"))
            }
            Val::Function(_) => {
                let problem = Diagnostic::new(Code::T0104, span, "a function where a value is needed");
                self.report(problem.help("call it, as in `f(x)`"))
            }
            Val::View(view) => {
                let message = format!("`{}` where a value is needed", view.describe());
                self.report(
                    Diagnostic::new(Code::T0104, span, message).help("read a tile of it with `.load(at, shape)`"),
                )
            }
            Val::Tuple(_) | Val::Unit => {
                let problem = Diagnostic::new(Code::T0104, span, "a tuple where one value is needed");
                self.report(problem.help("destructure it with `let (a, b) = ..`"))
            }
        }
    }

    /// The value replicated to a shape that it broadcasts to.
    pub fn replicate(&mut self, x: Value, shape: Shape, span: Span) -> Option<Value> {
        match self.func.ty(x).shape {
            from if from == shape => Some(x),
            Shape::SCALAR => self.append(Op::Splat { x, shape }, span),
            _ => self.append(Op::Broadcast { x, shape }, span),
        }
    }

    /// The element type of a value of numbers.
    pub fn num(&self, value: Value) -> Option<DType> {
        match self.func.ty(value).elem {
            Elem::Num(dtype) => Some(dtype),
            Elem::Ptr { .. } => None,
        }
    }

    /// A description of a value in the user's terms.
    pub fn describe(&self, value: &Val) -> String {
        match value {
            Val::Known(Known::Int(_)) => "integer literal".into(),
            Val::Known(Known::Float(_)) => "float literal".into(),
            Val::Tuple(_) => "tuple".into(),
            Val::View(view) => view.describe(),
            Val::Struct(index, _) => self.structs.get(*index).map_or(String::new(), |structure| structure.name.clone()),
            Val::Function(callable) => callable.describe(),
            Val::Outer(index) => self.outers[*index].0.to_owned(),
            Val::Unit => "()".into(),
            Val::Ir(_) | Val::Known(Known::Typed(_)) => value.ty(&self.func).map_or("value".into(), |t| t.describe()),
        }
    }
}
