//! What follows an operation code (PTX ISA, "Operands").

use super::ast::{Entry, Number, Operand};
use super::cursor::shown;
use super::directives::Parser;
use super::lexer::{Kind, Token};
use super::names::Named;
use super::{error, number, special};
use crate::ParseError;

/// Instructions that take the address of a variable, so that an offset may follow its name without brackets.
const ADDRESS_TAKING: [&str; 2] = ["mov", "cvta"];

impl Parser<'_> {
    /// Operands and the semicolon.
    pub(super) fn operands(&mut self, entry: &Entry, opcode: &str) -> Result<Vec<Operand>, ParseError> {
        let mut operands = Vec::new();
        if self.cursor.eat(";") {
            return Ok(operands);
        }
        loop {
            operands.push(self.operand(entry, opcode)?);
            if !self.cursor.goes_on(";")? {
                return Ok(operands);
            }
        }
    }

    /// The operands of a call, and the semicolon: `(result), function, (a, b);`.
    pub(super) fn call(&mut self, entry: &Entry) -> Result<Vec<Operand>, ParseError> {
        let mut results = Vec::new();
        if self.cursor.sees("(") {
            results = self.list(entry)?;
            self.cursor.expect(",")?;
        }
        let name = self.cursor.name("the name of a function")?;
        let found = self.names.find(name.text);
        if matches!(found, Some(Named::Register(_))) {
            let message = "indirect calls are not simulated: a call must name its function";
            return Err(error(name.pos, message));
        }
        if found != Some(Named::Function) {
            return Err(error(name.pos, &format!("function `{}` is not declared", shown(name.text))));
        }
        let arguments = if self.cursor.eat(",") { self.list(entry)? } else { Vec::new() };
        self.cursor.expect(";")?;
        Ok(vec![Operand::Name(name.text.to_owned()), Operand::List(results), Operand::List(arguments)])
    }

    /// `(a, b)`
    fn list(&mut self, entry: &Entry) -> Result<Vec<Operand>, ParseError> {
        self.cursor.expect("(")?;
        let mut operands = Vec::new();
        if self.cursor.eat(")") {
            return Ok(operands);
        }
        loop {
            operands.push(self.operand(entry, "call")?);
            if !self.cursor.goes_on(")")? {
                return Ok(operands);
            }
        }
    }

    fn operand(&mut self, entry: &Entry, opcode: &str) -> Result<Operand, ParseError> {
        match self.cursor.peek().text {
            "{" => self.vector().map(Operand::Vector),
            "[" => self.address(),
            "!" => {
                self.cursor.next();
                self.predicate(entry).map(Operand::Not)
            }
            _ => {
                let first = self.simple("an operand")?;
                if matches!(first, Operand::Register(_) | Operand::Sink) && self.cursor.eat("|") {
                    return self.pair(first);
                }
                let named = matches!(first, Operand::Variable(_) | Operand::ModuleVariable(_) | Operand::Param(_));
                if named && ADDRESS_TAKING.contains(&opcode) && (self.cursor.sees("+") || self.cursor.sees("-")) {
                    return Ok(Operand::Address { base: Box::new(first), offset: self.offset()? });
                }
                Ok(first)
            }
        }
    }

    /// The second part of `d|p`.
    fn pair(&mut self, first: Operand) -> Result<Operand, ParseError> {
        let token = self.cursor.peek();
        let second = self.simple("a register")?;
        if matches!(second, Operand::Register(_) | Operand::Sink) {
            Ok(Operand::Pair(Box::new(first), Box::new(second)))
        } else {
            Err(error(token.pos, &format!("expected a register, found `{}`", shown(token.text))))
        }
    }

    /// A number, a name or `_`; `what` says in an error what it would have been.
    fn simple(&mut self, what: &str) -> Result<Operand, ParseError> {
        let token = self.cursor.peek();
        if number::begins(token) {
            return number::constant(&mut self.cursor).map(Operand::Number);
        }
        self.cursor.take(Kind::Word, what)?;
        if token.text == "_" { Ok(Operand::Sink) } else { self.resolve(token) }
    }

    /// `{a, b}`: of registers, numbers and `_`.
    fn vector(&mut self) -> Result<Vec<Operand>, ParseError> {
        self.cursor.expect("{")?;
        let mut elements = Vec::new();
        loop {
            let token = self.cursor.peek();
            let element = self.simple("a register or a number")?;
            if !matches!(element, Operand::Register(_) | Operand::Special(_) | Operand::Number(_) | Operand::Sink) {
                let found = shown(token.text);
                return Err(error(token.pos, &format!("expected a register or a number, found `{found}`")));
            }
            elements.push(element);
            if !self.cursor.goes_on("}")? {
                return Ok(elements);
            }
        }
    }

    /// `[base+8]`, `[map, {x, y}]`
    fn address(&mut self) -> Result<Operand, ParseError> {
        self.cursor.expect("[")?;
        let token = self.cursor.peek();
        let base = self.simple("an address")?;
        let is_base = matches!(
            base,
            Operand::Register(_)
                | Operand::Variable(_)
                | Operand::ModuleVariable(_)
                | Operand::Param(_)
                | Operand::Number(Number::Int(_))
        );
        if !is_base {
            return Err(error(token.pos, &format!("expected an address, found `{}`", shown(token.text))));
        }
        let moved = self.cursor.sees("+") || self.cursor.sees("-");
        let offset = if moved { self.offset()? } else { 0 };
        if !self.cursor.goes_on("]")? {
            return Ok(Operand::Address { base: Box::new(base), offset });
        }
        let base = Box::new(base);
        let map = if moved { Box::new(Operand::Address { base, offset }) } else { base };
        let coordinates = self.vector()?;
        self.cursor.expect("]")?;
        Ok(Operand::Tensor { map, coordinates })
    }

    /// `+8`, `+-8`, `-8`
    fn offset(&mut self) -> Result<i64, ParseError> {
        self.cursor.eat("+");
        number::integer_constant(&mut self.cursor).map(|value| value as i64)
    }

    /// What a name stands for; takes the component of a special register.
    pub(super) fn resolve(&mut self, token: Token) -> Result<Operand, ParseError> {
        let cannot = |what: &str| Err(error(token.pos, &format!("`{}` is {what}, not an operand", shown(token.text))));
        match self.names.find(token.text) {
            Some(Named::Register(number)) => Ok(Operand::Register(number)),
            Some(Named::Vector(first, count)) => self.vector_register(first, count),
            Some(Named::Variable(number)) => Ok(Operand::Variable(number)),
            Some(Named::Param(number)) => Ok(Operand::Param(number)),
            Some(Named::Label(number)) => Ok(Operand::Label(number)),
            Some(Named::ModuleVariable(number)) => Ok(Operand::ModuleVariable(number)),
            Some(Named::Function) => cannot("a function"),
            Some(Named::Kernel) => cannot("a kernel"),
            None => self.special(token),
        }
    }

    /// A component of a vector, by its name in space or as a color, or all of them.
    fn vector_register(&mut self, first: u32, count: u8) -> Result<Operand, ParseError> {
        if self.cursor.peek().kind != Kind::Dotted {
            return Ok(Operand::Vector((first..first + u32::from(count)).map(Operand::Register).collect()));
        }
        const COMPONENTS: [[&str; 4]; 2] = [[".x", ".y", ".z", ".w"], [".r", ".g", ".b", ".a"]];
        let found = COMPONENTS.iter().find_map(|names| names.iter().position(|name| self.cursor.sees(name)));
        let Some(component) = found.filter(|component| *component < usize::from(count)) else {
            return Err(self.cursor.unexpected(&format!("one of the {count} components of the vector, from `.x`")));
        };
        self.cursor.next();
        Ok(Operand::Register(first + component as u32))
    }

    fn special(&mut self, token: Token) -> Result<Operand, ParseError> {
        let name = token.text.strip_prefix('%').unwrap_or_default();
        let next = self.cursor.peek();
        if special::SCALARS.contains(&name) {
            return Ok(Operand::Special(name.to_owned()));
        }
        if !special::VECTORS.contains(&name) {
            let written =
                if next.kind == Kind::Dotted { [token.text, next.text].concat() } else { token.text.to_owned() };
            return Err(self.names.undeclared(&written, token.pos));
        }
        if !special::COMPONENTS.contains(&next.text) {
            return Err(self.cursor.unexpected(&format!("`.x`, `.y` or `.z` of `{}`", token.text)));
        }
        self.cursor.next();
        Ok(Operand::Special(format!("{name}{}", next.text)))
    }
}
