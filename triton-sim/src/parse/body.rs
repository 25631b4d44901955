//! The body of a kernel: blocks, declarations, labels, instructions (PTX ISA, "Statements").

use super::ast::{Entry, Instruction, Loc, Operand, Register, Space, Type};
use super::cursor::{Cursor, declared_twice, shown};
use super::directives::{LINKAGE, Parser, pragma};
use super::lexer::{Kind, Token};
use super::names::Named;
use super::variables::{space, ty, variables};
use super::{error, number, special};
use crate::ParseError;
use std::collections::HashMap;

/// How deep blocks may be nested.
const DEPTH: usize = 64;
/// The most registers of a kernel, and of all kernels of a module.
const MAX_REGISTERS: usize = 1 << 16;
const MAX_MODULE_REGISTERS: usize = 1 << 20;

/// The labels of each block, by the number of the token that opens it. They may be used in front of where they stand.
type Labels<'a> = HashMap<usize, Vec<(&'a str, u32)>>;

impl Parser<'_> {
    /// From `{` to the matching `}`; names of the outermost block share the scope of the parameters.
    pub(super) fn body(&mut self, entry: &mut Entry) -> Result<(), ParseError> {
        let labels = labels(&self.cursor);
        let (mut depth, mut loc) = (0, None);
        loop {
            let token = self.cursor.peek();
            match token.text {
                "{" => {
                    if depth == DEPTH {
                        return Err(error(token.pos, &format!("blocks are nested deeper than {DEPTH}")));
                    }
                    if depth > 0 {
                        self.names.open();
                    }
                    depth += 1;
                    for (name, number) in labels.get(&self.cursor.at()).into_iter().flatten() {
                        self.names.foresee(name, *number);
                    }
                    self.cursor.next();
                }
                "}" => {
                    self.cursor.next();
                    depth -= 1;
                    if depth == 0 {
                        return Ok(());
                    }
                    self.names.close();
                }
                ".reg" => self.registers(entry)?,
                ".loc" => loc = Some(self.loc()?),
                ".pragma" => pragma(&mut self.cursor)?,
                _ if token.kind == Kind::Dotted => self.variables(entry)?,
                _ if token.kind == Kind::Word && self.cursor.token(self.cursor.at() + 1).text == ":" => {
                    self.label(entry)?;
                }
                _ => {
                    let instruction = self.instruction(entry, loc)?;
                    entry.instructions.push(instruction);
                }
            }
        }
    }

    /// `.reg .b32 %r<24>, %x;`
    fn registers(&mut self, entry: &mut Entry) -> Result<(), ParseError> {
        self.cursor.next();
        let elements = [(".v2", 2), (".v4", 4)].into_iter().find(|(word, _)| self.cursor.eat(word)).map(|(_, n)| n);
        let token = self.cursor.peek();
        let ty = ty(&mut self.cursor)?;
        if elements.is_some_and(|n| ty == Type::Pred || u32::from(n) * bits(ty) > 128) {
            return Err(error(token.pos, "a vector has at most 128 bits, and no predicates"));
        }
        loop {
            let name = self.cursor.name("the name of a register")?;
            if self.cursor.eat("<") {
                let most = MAX_REGISTERS as u64;
                let count = number::integer(&mut self.cursor, "a number of registers", 1..=most)?;
                self.cursor.expect(">")?;
                for i in 0..count {
                    self.register(entry, format!("{}{i}", name.text), (ty, elements), name)?;
                }
            } else {
                self.register(entry, name.text.to_owned(), (ty, elements), name)?;
            }
            if !self.cursor.goes_on(";")? {
                return Ok(());
            }
        }
    }

    /// Declares a register, or those of a vector's elements.
    pub(super) fn register(
        &mut self,
        entry: &mut Entry,
        name: String,
        (ty, elements): (Type, Option<u8>),
        token: Token,
    ) -> Result<(), ParseError> {
        if name.strip_prefix('%').is_some_and(special::is_special) {
            return Err(error(token.pos, &format!("`{name}` is the name of a special register")));
        }
        let count = usize::from(elements.unwrap_or(1));
        self.registers += count;
        let number = entry.registers.len();
        if number + count > MAX_REGISTERS || self.registers > MAX_MODULE_REGISTERS {
            let most = format!("{MAX_REGISTERS} registers in a kernel or {MAX_MODULE_REGISTERS} in a module");
            return Err(error(token.pos, &format!("more than {most}")));
        }
        let number = number as u32;
        let named = elements.map_or(Named::Register(number), |elements| Named::Vector(number, elements));
        self.names.declare(&name, named, token.pos)?;
        match elements {
            None => entry.registers.push(Register { name, ty }),
            Some(elements) => {
                let element = |component: &&str| Register { name: format!("{name}.{component}"), ty };
                entry.registers.extend(["x", "y", "z", "w"][..usize::from(elements)].iter().map(element));
            }
        }
        Ok(())
    }

    /// `.loc 1 20 5`, perhaps with the location where the code was inlined, which is skipped.
    fn loc(&mut self) -> Result<Loc, ParseError> {
        let cursor = &mut self.cursor;
        let integer =
            |cursor: &mut Cursor, what| number::integer(cursor, what, 0..=u32::MAX.into()).map(|value| value as u32);
        cursor.next();
        let file = integer(cursor, "the number of a file")?;
        let line = integer(cursor, "a line")?;
        let column = if cursor.peek().kind == Kind::Number { integer(cursor, "a column")? } else { 0 };
        if cursor.eat(",") {
            cursor.expect("function_name")?;
            cursor.name("a label")?;
            if cursor.eat("+") {
                integer(cursor, "an offset")?;
            }
            cursor.expect(",")?;
            cursor.expect("inlined_at")?;
            for what in ["the number of a file", "a line", "a column"] {
                integer(cursor, what)?;
            }
        }
        Ok(Loc { file, line, column })
    }

    fn variables(&mut self, entry: &mut Entry) -> Result<(), ParseError> {
        let external = self.cursor.sees(".extern");
        if LINKAGE.contains(&self.cursor.peek().text) {
            self.cursor.next();
        }
        let token = self.cursor.peek();
        let space = match space(token) {
            Some(space @ (Space::Shared | Space::Local | Space::Param)) => space,
            // One variable for all threads, whose name is known here alone.
            Some(Space::Global) => return self.module_variables(Space::Global, external),
            Some(Space::Const) => {
                return Err(error(
                    token.pos,
                    &format!("`{}` variables can only be declared outside kernels", token.text),
                ));
            }
            None => return Err(self.cursor.unexpected("a statement or `}`")),
        };
        self.cursor.next();
        for variable in variables(&mut self.cursor, space, external, &mut self.initial)? {
            let number = entry.variables.len() as u32;
            self.names.declare(&variable.name, Named::Variable(number), variable.pos)?;
            entry.variables.push(variable);
        }
        Ok(())
    }

    fn label(&mut self, entry: &mut Entry) -> Result<(), ParseError> {
        let name = self.cursor.name("a label")?;
        self.cursor.expect(":")?;
        if self.names.here(name.text) != Some(Named::Label(entry.labels.len() as u32)) {
            return Err(declared_twice(name.text, name.pos));
        }
        entry.labels.push((entry.instructions.len(), name.text.to_owned()));
        Ok(())
    }

    /// `@!%p add.s32 %a, %b, 1;`
    fn instruction(&mut self, entry: &Entry, loc: Option<Loc>) -> Result<Instruction, ParseError> {
        let pos = self.cursor.peek().pos;
        let guard = if self.cursor.eat("@") {
            let negated = self.cursor.eat("!");
            Some((self.predicate(entry)?, negated))
        } else {
            None
        };
        let begin = self.cursor.at();
        let what = if guard.is_some() { "an instruction" } else { "a statement or `}`" };
        if !self.cursor.peek().text.starts_with(|c: char| c.is_ascii_lowercase()) {
            return Err(self.cursor.unexpected(what));
        }
        let mut opcode = vec![self.cursor.next().text.to_owned()];
        while self.cursor.peek().kind == Kind::Dotted {
            opcode.push(self.cursor.next().text[1..].to_owned());
        }
        let operands = if opcode[0] == "call" { self.call(entry)? } else { self.operands(entry, &opcode[0])? };
        let text = self.cursor.text(begin, self.cursor.at() - 1);
        Ok(Instruction { guard, opcode, operands, text, pos, loc })
    }

    /// The number of a register that must be a predicate.
    pub(super) fn predicate(&mut self, entry: &Entry) -> Result<u32, ParseError> {
        let token = self.cursor.name("a predicate")?;
        let found = self.resolve(token)?;
        if let Operand::Register(number) = found
            && entry.registers[number as usize].ty == Type::Pred
        {
            return Ok(number);
        }
        Err(error(token.pos, &format!("expected a predicate, found `{}`", shown(token.text))))
    }
}

/// Bits of a register.
fn bits(ty: Type) -> u32 {
    match ty {
        Type::Pred => 1,
        Type::B(bits) | Type::U(bits) | Type::S(bits) | Type::F(bits) => bits.into(),
        Type::F16x2 | Type::Bf16x2 => 32,
        Type::Bf16 => 16,
    }
}

/// The labels of the body that the next token opens, numbered in the order of the text.
fn labels<'a>(cursor: &Cursor<'a>) -> Labels<'a> {
    let mut labels = Labels::new();
    let (mut open, mut count) = (Vec::new(), 0);
    for at in cursor.at().. {
        let token = cursor.token(at);
        match token.text {
            "{" => open.push(at),
            "}" => drop(open.pop()),
            _ if token.kind == Kind::Word && cursor.token(at + 1).text == ":" => {
                labels.entry(open.last().copied().unwrap_or(at)).or_default().push((token.text, count));
                count += 1;
            }
            _ => {}
        }
        if open.is_empty() || token.kind == Kind::End {
            break;
        }
    }
    labels
}
