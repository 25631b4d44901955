//! A kernel with the functions that it calls, as one body.
//!
//! Each function is appended to the kernel once, however often it is called. That is enough because functions do not
//! call themselves: a thread is in at most one call of each, so that one set of registers and of memory is enough for
//! all calls. The return address is one more register. Parameters of functions and of calls are memory of the thread.

use crate::ParseError;
use crate::parse::ast::{Entry, Formal, Function, Instruction, Module, Operand, Pos, Register, Type};
use std::borrow::Cow;
use std::ops::Range;

/// How deep calls may be nested.
const DEPTH: usize = 64;

/// A kernel and its functions.
pub(super) struct Linked<'a> {
    pub entry: Cow<'a, Entry>,
    pub frames: Vec<Frame<'a>>,
}

/// A function's part of the whole.
pub(super) struct Frame<'a> {
    pub function: &'a Function,
    /// Its instructions.
    pub instructions: Range<usize>,
    /// Its registers.
    pub registers: Range<u32>,
    /// Its variables.
    pub variables: Range<u32>,
    /// The register with the return address.
    pub return_address: u32,
}

impl Linked<'_> {
    /// The frame that an instruction belongs to; none for those of the kernel.
    pub fn around(&self, instruction: usize) -> Option<&Frame<'_>> {
        self.frames.iter().find(|frame| frame.instructions.contains(&instruction))
    }

    /// The frame of a function.
    pub fn frame(&self, name: &str) -> Option<&Frame<'_>> {
        self.frames.iter().find(|frame| frame.function.name == name)
    }
}

impl Frame<'_> {
    /// A parameter or a result, by its number in the whole.
    pub fn formal(&self, formal: Formal) -> Formal {
        match formal {
            Formal::Register(number) => Formal::Register(number + self.registers.start),
            Formal::Variable(number) => Formal::Variable(number + self.variables.start),
        }
    }
}

/// A kernel with all functions that it reaches.
///
/// # Errors
/// A function calls itself, or calls are nested too deeply.
pub(super) fn link<'a>(module: &'a Module, entry: &'a Entry) -> Result<Linked<'a>, ParseError> {
    let mut found = Vec::new();
    reach(module, entry, &mut Vec::new(), &mut found)?;
    if found.is_empty() {
        return Ok(Linked { entry: Cow::Borrowed(entry), frames: Vec::new() });
    }
    let mut whole = entry.clone();
    // What follows belongs to functions.
    whole.instructions.push(end("exit", entry.pos));
    let frames = found.into_iter().map(|function| append(&mut whole, function)).collect();
    Ok(Linked { entry: Cow::Owned(whole), frames })
}

/// Adds the functions that a body calls to a list, each once. `open` are those that the body is called by.
fn reach<'a>(
    module: &'a Module,
    body: &Entry,
    open: &mut Vec<&'a str>,
    found: &mut Vec<&'a Function>,
) -> Result<(), ParseError> {
    for call in body.instructions.iter().filter(|i| i.opcode[0] == "call") {
        let Some(Operand::Name(name)) = call.operands.first() else { continue };
        let Some(function) = module.functions.iter().find(|f| f.name == *name) else { continue };
        let refuse = |message: String| Err(ParseError { line: call.pos.line, column: call.pos.column, message });
        if let Some(at) = open.iter().position(|f| f == name) {
            let path = open[at..].iter().chain([&name.as_str()]).copied().collect::<Vec<_>>().join(" calls ");
            return refuse(format!("recursion is not simulated: {path}"));
        }
        if open.len() == DEPTH {
            return refuse(format!("calls are nested deeper than {DEPTH}"));
        }
        if found.iter().any(|f| f.name == *name) {
            continue;
        }
        open.push(&function.name);
        reach(module, &function.body, open, found)?;
        open.pop();
        found.push(function);
    }
    Ok(())
}

/// Appends a function to the others.
fn append<'a>(whole: &mut Entry, function: &'a Function) -> Frame<'a> {
    let body = &function.body;
    let shift = Shift {
        registers: whole.registers.len() as u32,
        variables: whole.variables.len() as u32,
        labels: whole.labels.len() as u32,
    };
    let begin = whole.instructions.len();
    whole.labels.extend(body.labels.iter().map(|(at, name)| (at + begin, name.clone())));
    whole.variables.extend(body.variables.iter().cloned());
    whole.registers.extend(body.registers.iter().cloned());
    let return_address = whole.registers.len() as u32;
    whole.registers.push(Register { name: format!("the return address of `{}`", function.name), ty: Type::B(32) });
    whole.instructions.extend(body.instructions.iter().map(|i| shift.instruction(i)));
    whole.instructions.push(end("ret", function.pos));
    Frame {
        function,
        instructions: begin..whole.instructions.len(),
        registers: shift.registers..return_address,
        variables: shift.variables..whole.variables.len() as u32,
        return_address,
    }
}

/// The end of a body.
fn end(word: &str, pos: Pos) -> Instruction {
    let (opcode, text) = (vec![word.to_owned()], word.to_owned());
    Instruction { guard: None, opcode, operands: Vec::new(), text, pos, loc: None }
}

/// What is added to the numbers of a function.
struct Shift {
    registers: u32,
    variables: u32,
    labels: u32,
}

impl Shift {
    fn instruction(&self, instruction: &Instruction) -> Instruction {
        let guard = instruction.guard.map(|(register, negated)| (register + self.registers, negated));
        Instruction { guard, operands: self.all(&instruction.operands), ..instruction.clone() }
    }

    fn all(&self, operands: &[Operand]) -> Vec<Operand> {
        operands.iter().map(|operand| self.operand(operand)).collect()
    }

    fn boxed(&self, operand: &Operand) -> Box<Operand> {
        Box::new(self.operand(operand))
    }

    fn operand(&self, operand: &Operand) -> Operand {
        match operand {
            Operand::Register(number) => Operand::Register(number + self.registers),
            Operand::Not(number) => Operand::Not(number + self.registers),
            Operand::Variable(number) => Operand::Variable(number + self.variables),
            Operand::Label(number) => Operand::Label(number + self.labels),
            Operand::Vector(list) => Operand::Vector(self.all(list)),
            Operand::List(list) => Operand::List(self.all(list)),
            Operand::Pair(first, second) => Operand::Pair(self.boxed(first), self.boxed(second)),
            Operand::Address { base, offset } => Operand::Address { base: self.boxed(base), offset: *offset },
            Operand::Tensor { map, coordinates } => {
                Operand::Tensor { map: self.boxed(map), coordinates: self.all(coordinates) }
            }
            Operand::Special(_)
            | Operand::Number(_)
            | Operand::ModuleVariable(_)
            | Operand::Param(_)
            | Operand::Sink
            | Operand::Name(_) => operand.clone(),
        }
    }
}
