//! A module in short lines.

use std::fmt::Write;
use triton_sim::parse::ast::{Entry, Instruction, Module, Number, Operand, Type, Variable};

/// A whole module.
pub fn module(module: &Module) -> String {
    let mut text = format!("version {:?} target {}\n", module.version, module.target);
    let mut line = |words: String| writeln!(text, "{words}").expect("writing to a string");
    for (number, name) in &module.files {
        line(format!("file {number} {name}"));
    }
    for (number, variable) in module.variables.iter().enumerate() {
        line(format!("module variable {number}: {}", self::variable(variable)));
    }
    for entry in &module.entries {
        line(format!("entry {} at {}:{}{}", entry.name, entry.pos.line, entry.pos.column, bounds(entry)));
        for (number, param) in entry.params.iter().enumerate() {
            line(format!("  param {number}: {}", variable(param)));
        }
        for (number, register) in entry.registers.iter().enumerate() {
            line(format!("  register {number}: {} {}", register.name, ty(register.ty)));
        }
        for (number, local) in entry.variables.iter().enumerate() {
            line(format!("  variable {number}: {}", variable(local)));
        }
        for (number, (at, name)) in entry.labels.iter().enumerate() {
            line(format!("  label {number}: {name} before {at}"));
        }
        for (number, found) in entry.instructions.iter().enumerate() {
            line(format!("  {number}: {}", instruction(found)));
        }
    }
    text
}

fn bounds(entry: &Entry) -> String {
    let mut text = String::new();
    let mut add = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            write!(text, " {name} {value}").expect("writing to a string");
        }
    };
    add("reqntid", entry.required_threads.map(|extents| format!("{extents:?}")));
    add("maxntid", entry.max_threads.map(|extents| format!("{extents:?}")));
    add("cluster", entry.cluster.map(|extents| format!("{extents:?}")));
    add("explicit", entry.explicit_cluster.then(String::new));
    add("blocks", entry.min_blocks.map(|count| count.to_string()));
    add("registers", entry.max_registers.map(|count| count.to_string()));
    text
}

fn ty(ty: Type) -> String {
    match ty {
        Type::Pred => "pred".to_owned(),
        Type::B(bits) => format!("b{bits}"),
        Type::U(bits) => format!("u{bits}"),
        Type::S(bits) => format!("s{bits}"),
        Type::F(bits) => format!("f{bits}"),
        Type::F16x2 => "f16x2".to_owned(),
        Type::Bf16 => "bf16".to_owned(),
        Type::Bf16x2 => "bf16x2".to_owned(),
    }
}

fn variable(variable: &Variable) -> String {
    let Variable { name, space, align, init, external, pos, .. } = variable;
    let bytes = variable.bytes.map_or("?".to_owned(), |bytes| bytes.to_string());
    let mut text = format!("{name} {space:?} {} bytes {bytes} align {align}", ty(variable.ty));
    if !init.is_empty() {
        write!(text, " init {init:?}").expect("writing to a string");
    }
    if *external {
        text.push_str(" extern");
    }
    text + &format!(" at {}:{}", pos.line, pos.column)
}

fn instruction(instruction: &Instruction) -> String {
    let Instruction { guard, opcode, operands, text, pos, loc } = instruction;
    let guard = guard.map_or(String::new(), |(number, not)| format!("@{}r{number} ", if not { "!" } else { "" }));
    let loc = loc.map_or(String::new(), |loc| format!(" loc {}:{}:{}", loc.file, loc.line, loc.column));
    format!("{guard}{opcode:?} {} at {}:{}{loc} `{text}`", list(operands), pos.line, pos.column)
}

fn list(operands: &[Operand]) -> String {
    operands.iter().map(operand).collect::<Vec<_>>().join(", ")
}

fn operand(found: &Operand) -> String {
    match found {
        Operand::Register(number) => format!("r{number}"),
        Operand::Not(number) => format!("!r{number}"),
        Operand::Special(name) => format!("%{name}"),
        Operand::Number(Number::Int(value)) => format!("{}", *value as i64),
        Operand::Number(Number::F32(bits)) => format!("f{bits:08x}"),
        Operand::Number(Number::F64(bits)) => format!("d{bits:016x}"),
        Operand::ModuleVariable(number) => format!("module{number}"),
        Operand::Variable(number) => format!("variable{number}"),
        Operand::Param(number) => format!("param{number}"),
        Operand::Label(number) => format!("label{number}"),
        Operand::Vector(elements) => format!("{{{}}}", list(elements)),
        Operand::List(elements) => format!("({})", list(elements)),
        Operand::Pair(first, second) => format!("{}|{}", operand(first), operand(second)),
        Operand::Address { base, offset } => format!("[{}{offset:+}]", operand(base)),
        Operand::Tensor { map, coordinates } => format!("[{}, {{{}}}]", operand(map), list(coordinates)),
        Operand::Sink => "_".to_owned(),
        Operand::Name(name) => name.clone(),
    }
}
