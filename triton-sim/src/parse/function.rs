//! Functions: declarations, of which only the name is kept, and bodies (PTX ISA, ".func").

use super::ast::{Entry, Formal, Function, Pos, Type, Variable};
use super::cursor::shown;
use super::directives::{Parser, pragma};
use super::error;
use super::lexer::Token;
use super::names::Named;
use super::variables::{parameter, ty};
use crate::ParseError;

/// A parameter or a result, before its function has a scope.
enum Declared<'a> {
    Register(Token<'a>, Type),
    Variable(Variable),
}

impl<'a> Parser<'a> {
    /// From `.func` on.
    pub(super) fn function(&mut self, pos: Pos) -> Result<(), ParseError> {
        self.cursor.next();
        let results = if self.cursor.sees("(") { self.formals()? } else { Vec::new() };
        let name = self.cursor.name("the name of a function")?;
        let params = if self.cursor.sees("(") { self.formals()? } else { Vec::new() };
        while !self.cursor.sees("{") && !self.cursor.sees(";") {
            match self.cursor.peek().text {
                ".noreturn" => drop(self.cursor.next()),
                ".pragma" => pragma(&mut self.cursor)?,
                _ => return Err(self.cursor.unexpected("`;`, `{` or a directive of a function")),
            }
        }
        if self.names.here(name.text) != Some(Named::Function) {
            self.names.declare(name.text, Named::Function, name.pos)?;
        }
        if self.cursor.eat(";") {
            return Ok(());
        }
        let number = self.module.functions.len();
        if self.bodies.insert(name.text.to_owned(), number).is_some() {
            return Err(error(name.pos, &format!("the function `{}` already has a body", shown(name.text))));
        }
        let mut body = Entry { name: name.text.to_owned(), pos, ..Entry::default() };
        self.names.open();
        let results = self.declare(&mut body, results)?;
        let params = self.declare(&mut body, params)?;
        self.body(&mut body)?;
        self.names.close();
        self.module.functions.push(Function { name: name.text.to_owned(), results, params, body, pos });
        Ok(())
    }

    /// `(.param .b32 x, .reg .u32 y)`
    fn formals(&mut self) -> Result<Vec<Declared<'a>>, ParseError> {
        self.cursor.expect("(")?;
        let mut formals = Vec::new();
        if self.cursor.eat(")") {
            return Ok(formals);
        }
        loop {
            formals.push(if self.cursor.eat(".reg") {
                let ty = ty(&mut self.cursor)?;
                Declared::Register(self.cursor.name("the name of a register")?, ty)
            } else {
                Declared::Variable(parameter(&mut self.cursor)?)
            });
            if !self.cursor.goes_on(")")? {
                return Ok(formals);
            }
        }
    }

    fn declare(&mut self, body: &mut Entry, formals: Vec<Declared<'a>>) -> Result<Vec<Formal>, ParseError> {
        let mut declared = Vec::new();
        for formal in formals {
            declared.push(match formal {
                Declared::Register(name, ty) => {
                    let number = body.registers.len() as u32;
                    self.register(body, name.text.to_owned(), (ty, None), name)?;
                    Formal::Register(number)
                }
                Declared::Variable(variable) => {
                    let number = body.variables.len() as u32;
                    self.names.declare(&variable.name, Named::Variable(number), variable.pos)?;
                    body.variables.push(variable);
                    Formal::Variable(number)
                }
            });
        }
        Ok(declared)
    }
}
