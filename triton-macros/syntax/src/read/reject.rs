//! Rust that is not part of the kernel language: what was found, and what to write instead.

use crate::context::{Context, Held, spell};
use crate::read::stages::is_stages;
use quote::ToTokens;
use syn::{Attribute, Expr, ExprClosure, Item, Macro, ReturnType};
use triton_core::diag::Code;

/// Where to point, what was found, and what to write instead.
struct Found<'a> {
    at: &'a dyn ToTokens,
    what: &'static str,
    help: Option<&'static str>,
}

/// Reports an expression.
pub(crate) fn expr(cx: &mut Context, written: &Expr) {
    if let Expr::Macro(call) = written {
        return macro_call(cx, &call.mac);
    }
    let mut found = describe(written);
    if let Expr::Index(index) = written {
        found.help = Some(indexed(cx, &index.expr));
    }
    let tokens = found.at.to_token_stream();
    let problem = cx.diagnostic(code(written), &tokens, format!("{} not part of the kernel language", found.what));
    cx.report(match found.help {
        Some(help) => problem.help(help),
        None => problem,
    });
}

#[allow(clippy::wildcard_enum_match_arm, reason = "syn's enum is not exhaustive")]
fn code(written: &Expr) -> Code {
    match written {
        Expr::Match(_)
        | Expr::Let(_)
        | Expr::ForLoop(_)
        | Expr::While(_)
        | Expr::Loop(_)
        | Expr::Try(_)
        | Expr::Block(_)
        | Expr::Async(_)
        | Expr::Await(_) => Code::T0015,
        Expr::Closure(_) => Code::T0016,
        _ => Code::T0001,
    }
}

#[allow(clippy::wildcard_enum_match_arm, reason = "syn's enum is not exhaustive")]
fn describe(written: &Expr) -> Found<'_> {
    let choose = Some("write `if a == b { .. } else { .. }`, or, element by element, `select(a == b, x, y)`");
    let counted = Some("write the loop as a statement; assign its results to variables declared before it");
    let arange = Some("the integers from `lo` to `hi` are `arange(lo, hi)`, a tile");
    let memory = Some("memory is read with `load(p + i, mask)` and written with `store(p + i, value, mask)`");
    let constant = "write a `const NAME: type = value;`; as a statement there is `const { assert!(..) }`";
    let copies = Some("numbers and tiles are values: write the variable itself");
    let (at, what, help): (&dyn ToTokens, _, _) = match written {
        Expr::Match(e) => (&e.match_token, "`match` is", choose),
        Expr::Let(e) => (&e.let_token, "a `let` condition is", Some("write a condition of `bool`, such as `a == b`")),
        Expr::ForLoop(e) => (&e.for_token, "a loop as a value is", counted),
        Expr::While(e) => (&e.while_token, "a loop as a value is", counted),
        Expr::Loop(e) => (&e.loop_token, "a loop as a value is", counted),
        Expr::Try(e) => (&e.question_token, "`?` is", Some("nothing in a kernel returns a `Result`")),
        Expr::Closure(e) => (
            e,
            "a closure that is not an argument of a function is",
            Some("write a `#[triton::function]` beside the kernel"),
        ),
        Expr::Reference(e) => (e, "a reference is", copies),
        Expr::RawAddr(e) => (e, "a raw address is", copies),
        Expr::Unary(e) => (e, "`*` before a value is", memory),
        Expr::Index(e) => (e, "indexing is", None),
        Expr::Field(e) => (e, "a field with a number is", Some("destructure a tuple with `let (a, b) = ..`")),
        Expr::Range(e) => (e, "a range is", arange),
        Expr::Repeat(e) => (e, "`[value; count]` is", Some("a tile of one value is `full([count], value)`")),
        Expr::Struct(e) => (e, "a struct is", Some("use a tuple")),
        Expr::Unsafe(e) => {
            (&e.unsafe_token, "`unsafe` is", Some("remove it: only launching a kernel with raw pointers is `unsafe`"))
        }
        Expr::Async(e) => (&e.async_token, "`async` is", None),
        Expr::Await(e) => (&e.await_token, "`await` is", None),
        Expr::Const(e) => (&e.const_token, "a `const` block is", Some(constant)),
        Expr::Block(e) => (&e.label, "a block with a label is", Some("write an `if` around what `break` would skip")),
        Expr::Assign(e) => (e, "an assignment as a value is", Some("write it as a statement")),
        Expr::Binary(e) => (e, "an assignment as a value is", Some("write it as a statement")),
        Expr::Infer(e) => (e, "`_` as a value is", None),
        other => (other, "this expression is", None),
    };
    Found { at, what, help }
}

/// What to write for `x[i]`.
fn indexed(cx: &Context, base: &Expr) -> &'static str {
    let name = if let Expr::Path(path) = base { path.path.get_ident() } else { None };
    let held = name.and_then(|name| cx.held.get(&name.to_string()).copied());
    match held.or(matches!(base, Expr::Array(_)).then_some(Held::Array)) {
        Some(Held::Pointer) => "memory is read with `load(p + i, mask)` and written with `store(p + i, value, mask)`",
        Some(Held::View) => "an element is read with `x.get([i])`, and a tile with `x.load([i], [64])`",
        Some(Held::Array) => {
            "an array is a shape or an index: give each number a name, choose with `select(i == 0, a, b)`, or pass a table in memory and `load(table + i, true)`"
        }
        None => {
            "a tile is not indexed: load the element by itself, `load(p + i, true)`, or reduce the tile, `sum(select(arange(0, 64) == i, x, 0.0))`"
        }
    }
}

/// Reports what a closure may not have: qualifiers and a return type.
pub(crate) fn closure_parts(cx: &mut Context, written: &ExprClosure) {
    attributes(cx, &written.attrs);
    let ExprClosure { lifetimes, constness, asyncness, capture, output, .. } = written;
    let output = if let ReturnType::Type(_, ty) = output { Some(ty) } else { None };
    let parts: [(Option<&dyn ToTokens>, _); 5] = [
        (lifetimes.as_ref().map(|token| token as _), "`for`"),
        (constness.as_ref().map(|token| token as _), "`const`"),
        (asyncness.as_ref().map(|token| token as _), "`async`"),
        (capture.as_ref().map(|token| token as _), "`move`"),
        (output.map(|ty| ty as _), "a return type"),
    ];
    for (at, what) in parts {
        let Some(at) = at.map(ToTokens::to_token_stream) else { continue };
        let problem =
            cx.diagnostic(Code::T0016, &at, format!("{what} on a closure is not part of the kernel language"));
        cx.report(problem.help("write `|a, b| ..`"));
    }
}

/// Reports the call of a macro.
pub(crate) fn macro_call(cx: &mut Context, written: &Macro) {
    let name = spell(&written.path);
    let head = [written.path.to_token_stream(), written.bang_token.to_token_stream()];
    let head: proc_macro2::TokenStream = head.into_iter().collect();
    let (what, help) = match name.as_str() {
        "assert" | "println" => (" as a value", Some("write it as a statement")),
        "assert_eq" | "debug_assert_eq" => ("", Some("write `assert!(a == b)`")),
        "assert_ne" | "debug_assert_ne" => ("", Some("write `assert!(a != b)`")),
        "debug_assert" => ("", Some("write `assert!(condition)`; `assertions = false` leaves it out")),
        "print" | "eprint" | "eprintln" | "dbg" => ("", Some("write `println!(\"{}\", value)`")),
        "panic" | "unreachable" | "todo" | "unimplemented" => {
            ("", Some("state it as `assert!(condition, \"what is wrong\")`"))
        }
        "vec" => ("", Some("a tile of one value is `full([count], value)`")),
        "format" | "write" | "writeln" => ("", Some("print with `println!(\"{}\", value)`")),
        _ => ("", Some("there are `assert!` and `println!`")),
    };
    let message = format!("the macro `{name}!`{what} is not part of the kernel language");
    let problem = cx.diagnostic(Code::T0017, &head, message);
    cx.report(match help {
        Some(help) => problem.help(help),
        None => problem,
    });
}

/// Reports an item.
#[allow(clippy::wildcard_enum_match_arm, reason = "syn's enum is not exhaustive")]
pub(crate) fn item(cx: &mut Context, written: &Item) {
    let (at, what): (&dyn ToTokens, _) = match written {
        Item::Fn(item) => (&item.sig, "a function inside a kernel is"),
        Item::Struct(item) => (&item.struct_token, "a `struct` inside a kernel is"),
        Item::Enum(item) => (&item.enum_token, "an `enum` inside a kernel is"),
        Item::Static(item) => (&item.static_token, "a `static` is"),
        Item::Use(item) => (&item.use_token, "a `use` inside a kernel is"),
        Item::Type(item) => (&item.type_token, "a type alias inside a kernel is"),
        Item::Macro(item) => return macro_call(cx, &item.mac),
        other => (other, "this item is"),
    };
    let help = if matches!(written, Item::Use(_)) {
        "move it above the kernel"
    } else {
        "only `const` items are allowed inside a kernel"
    };
    let tokens = at.to_token_stream();
    let problem = cx.diagnostic(Code::T0017, &tokens, format!("{what} not part of the kernel language"));
    cx.report(problem.help(help));
}

/// Reports attributes, which no statement can have but for a `for` its own, and the levels of lints, which are rustc's: it would apply
/// others to its view of the body alone.
pub(crate) fn attributes<'a>(cx: &mut Context, attrs: impl IntoIterator<Item = &'a Attribute>) {
    let levels = ["allow", "expect", "warn", "deny", "forbid"];
    for attr in attrs.into_iter().filter(|attr| !levels.iter().any(|level| attr.path().is_ident(level))) {
        if is_stages(attr) {
            let problem = cx.diagnostic(Code::T0017, attr, "`#[stages]` is of a `for`, and of nothing else");
            cx.report(problem.help("put it right before the `for`; `num_stages = ..` is for all loops of a kernel"));
            continue;
        }
        let comment = attr.path().is_ident("doc");
        let what = if comment { "a documentation comment" } else { "an attribute" };
        let problem =
            cx.diagnostic(Code::T0017, attr, format!("{what} inside a kernel is not part of the kernel language"));
        cx.report(if comment { problem.help("write `//`") } else { problem.help("put it on the kernel") });
    }
}

/// Reports the attributes of an expression.
#[allow(clippy::wildcard_enum_match_arm, reason = "syn's enum is not exhaustive")]
pub(crate) fn expr_attributes(cx: &mut Context, written: &Expr) {
    match written {
        Expr::Call(e) => attributes(cx, &e.attrs),
        Expr::MethodCall(e) => attributes(cx, &e.attrs),
        Expr::Block(e) => attributes(cx, &e.attrs),
        Expr::Binary(e) => attributes(cx, &e.attrs),
        Expr::Path(e) => attributes(cx, &e.attrs),
        Expr::Lit(e) => attributes(cx, &e.attrs),
        _ => {}
    }
}
