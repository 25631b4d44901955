//! What is outside the bodies of kernels (PTX ISA, "Directives").

use super::ast::{Entry, Module, Pos, Space, Variable};
use super::cursor::{Cursor, declared_twice, shown};
use super::lexer::Kind;
use super::names::{Named, Names};
use super::variables::{MAX_INITIAL, parameter, space, variables};
use super::{error, number};
use crate::ParseError;
use std::collections::{HashMap, HashSet};

/// Words of `.target` after the architecture.
const OPTIONS: [&str; 4] = ["debug", "texmode_independent", "texmode_unified", "map_f64_to_f32"];

/// Words for the linkage of a name.
pub(super) const LINKAGE: [&str; 4] = [".extern", ".visible", ".weak", ".common"];

/// What is known while a text is read.
pub(super) struct Parser<'a> {
    pub cursor: Cursor<'a>,
    pub names: Names,
    pub module: Module,
    files: HashSet<u32>,
    /// Bytes that initial values may still take.
    pub initial: u64,
    /// Registers of the kernels that were read.
    pub registers: usize,
    /// Where the functions that have a body are in [`Module::functions`].
    pub bodies: HashMap<String, usize>,
}

/// Reads a whole text.
pub(super) fn module(text: &str) -> Result<Module, ParseError> {
    let mut parser = Parser {
        cursor: Cursor::new(text),
        names: Names::default(),
        module: Module::default(),
        files: HashSet::new(),
        initial: MAX_INITIAL,
        registers: 0,
        bodies: HashMap::new(),
    };
    parser.header()?;
    while !parser.cursor.ends()? {
        parser.item()?;
    }
    Ok(parser.module)
}

impl Parser<'_> {
    /// `.version`, `.target`, `.address_size`
    fn header(&mut self) -> Result<(), ParseError> {
        let cursor = &mut self.cursor;
        cursor.expect(".version")?;
        let version = cursor.take(Kind::Number, "a version such as `8.0`")?;
        let parts = version.text.split_once('.').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
        self.module.version = parts.ok_or_else(|| {
            error(version.pos, &format!("expected a version such as `8.0`, found `{}`", shown(version.text)))
        })?;
        cursor.expect(".target")?;
        if !cursor.peek().text.starts_with("sm_") {
            return Err(cursor.unexpected("a target such as `sm_90a`"));
        }
        self.module.target = cursor.next().text.to_owned();
        while cursor.eat(",") {
            if !OPTIONS.contains(&cursor.peek().text) {
                return Err(cursor.unexpected("an option of the target"));
            }
            cursor.next();
        }
        if cursor.eat(".address_size") {
            cursor.expect("64")?;
        }
        Ok(())
    }

    /// A declaration of the module.
    fn item(&mut self) -> Result<(), ParseError> {
        let begin = self.cursor.peek();
        let linked = LINKAGE.contains(&begin.text);
        if linked {
            self.cursor.next();
        }
        let token = self.cursor.peek();
        match (token.text, space(token)) {
            (_, Some(space @ (Space::Global | Space::Shared | Space::Const))) => {
                self.module_variables(space, begin.text == ".extern")
            }
            (_, Some(Space::Local | Space::Param)) => {
                Err(error(token.pos, &format!("`{}` variables can only be declared in a kernel", token.text)))
            }
            (".entry", _) => self.entry(begin.pos),
            (".func", _) => self.function(begin.pos),
            _ if linked => Err(self.cursor.unexpected("a variable, a kernel or a function")),
            (".file", _) => self.file(),
            (".section", _) => self.section(),
            (".pragma", _) => pragma(&mut self.cursor),
            _ => Err(self.cursor.unexpected("a directive")),
        }
    }

    /// A variable that has a declaration already: of both, one at least must be external, and they must agree.
    fn declare_again(&mut self, before: u32, variable: Variable) -> Result<(), ParseError> {
        let known = &mut self.module.variables[before as usize];
        if !known.external && !variable.external {
            return Err(declared_twice(&variable.name, variable.pos));
        }
        let sizes = known.bytes.is_none() || variable.bytes.is_none() || known.bytes == variable.bytes;
        if known.space != variable.space || known.ty != variable.ty || !sizes {
            let name = shown(&variable.name);
            let message =
                format!("`{name}` is already declared with another space, type or extent, in line {}", known.pos.line);
            return Err(error(variable.pos, &message));
        }
        let align = known.align.max(variable.align);
        if !variable.external || known.bytes.is_none() && variable.bytes.is_some() {
            *known = variable;
        }
        known.align = align;
        Ok(())
    }

    pub(super) fn module_variables(&mut self, space: Space, external: bool) -> Result<(), ParseError> {
        self.cursor.next();
        for variable in variables(&mut self.cursor, space, external, &mut self.initial)? {
            if let Some(Named::ModuleVariable(before)) = self.names.here(&variable.name) {
                self.declare_again(before, variable)?;
                continue;
            }
            let number = self.module.variables.len() as u32;
            self.names.declare(&variable.name, Named::ModuleVariable(number), variable.pos)?;
            self.module.variables.push(variable);
        }
        Ok(())
    }

    /// `.file 1 "name"`, perhaps with a time and a size.
    fn file(&mut self) -> Result<(), ParseError> {
        let pos = self.cursor.next().pos;
        let file = number::integer(&mut self.cursor, "the number of a file", 0..=u32::MAX.into())? as u32;
        let name = self.cursor.take(Kind::Text, "the name of a file")?.text.trim_matches('"').to_owned();
        if self.cursor.eat(",") {
            number::integer(&mut self.cursor, "a time", 0..=u64::MAX)?;
            self.cursor.expect(",")?;
            number::integer(&mut self.cursor, "a size", 0..=u64::MAX)?;
        }
        if !self.files.insert(file) {
            return Err(error(pos, &format!("file {file} is already declared")));
        }
        self.module.files.push((file, name));
        Ok(())
    }

    /// Debug information, skipped.
    fn section(&mut self) -> Result<(), ParseError> {
        self.cursor.next();
        self.cursor.take(Kind::Dotted, "the name of a section")?;
        self.cursor.expect("{")?;
        while !self.cursor.eat("}") {
            if self.cursor.peek().kind == Kind::End {
                return Err(self.cursor.unexpected("`}`"));
            }
            self.cursor.next();
        }
        Ok(())
    }

    fn parameters(&mut self) -> Result<Vec<Variable>, ParseError> {
        self.cursor.expect("(")?;
        let mut params = Vec::new();
        if self.cursor.eat(")") {
            return Ok(params);
        }
        loop {
            params.push(parameter(&mut self.cursor)?);
            if !self.cursor.goes_on(")")? {
                return Ok(params);
            }
        }
    }

    fn entry(&mut self, pos: Pos) -> Result<(), ParseError> {
        self.cursor.next();
        let name = self.cursor.name("the name of a kernel")?;
        self.names.declare(name.text, Named::Kernel, name.pos)?;
        let mut entry = Entry { name: name.text.to_owned(), pos, ..Entry::default() };
        self.names.open();
        if self.cursor.sees("(") {
            entry.params = self.parameters()?;
        }
        for (number, param) in entry.params.iter().enumerate() {
            self.names.declare(&param.name, Named::Param(number as u32), param.pos)?;
        }
        while !self.cursor.sees("{") {
            self.bound(&mut entry)?;
        }
        self.body(&mut entry)?;
        self.names.close();
        self.module.entries.push(entry);
        Ok(())
    }

    /// A directive between the parameters and the body (PTX ISA, "Performance-Tuning Directives", "Cluster Dimension
    /// Directives").
    fn bound(&mut self, entry: &mut Entry) -> Result<(), ParseError> {
        let cursor = &mut self.cursor;
        let token = cursor.peek();
        let twice = match token.text {
            ".reqntid" => entry.required_threads.replace(extents(cursor)?).is_some(),
            ".maxntid" => entry.max_threads.replace(extents(cursor)?).is_some(),
            ".reqnctapercluster" => entry.cluster.replace(extents(cursor)?).is_some(),
            ".minnctapersm" => entry.min_blocks.replace(count(cursor)?).is_some(),
            ".maxnreg" => entry.max_registers.replace(count(cursor)?).is_some(),
            ".explicitcluster" => {
                cursor.next();
                std::mem::replace(&mut entry.explicit_cluster, true)
            }
            // A hint to the optimiser about clusters, and one about the end of the kernel.
            ".maxclusterrank" => count(cursor).map(|_| false)?,
            ".noreturn" => {
                cursor.next();
                false
            }
            ".pragma" => pragma(cursor).map(|()| false)?,
            _ => return Err(cursor.unexpected("`{` or a directive of a kernel")),
        };
        if twice { Err(error(token.pos, &format!("`{}` is already given", token.text))) } else { Ok(()) }
    }
}

/// One to three extents after a directive.
fn extents(cursor: &mut Cursor) -> Result<[u32; 3], ParseError> {
    let mut extents = [count(cursor)?, 1, 1];
    for extent in &mut extents[1..] {
        if !cursor.sees(",") {
            break;
        }
        *extent = count(cursor)?;
    }
    Ok(extents)
}

/// A positive number after a directive or a comma.
fn count(cursor: &mut Cursor) -> Result<u32, ParseError> {
    cursor.next();
    Ok(number::integer(cursor, "a number", 1..=u32::MAX.into())? as u32)
}

/// `.pragma "text", "text";`: hints for the assembler, skipped.
pub(super) fn pragma(cursor: &mut Cursor) -> Result<(), ParseError> {
    loop {
        cursor.next();
        cursor.take(Kind::Text, "a text")?;
        if !cursor.sees(",") {
            cursor.expect(";")?;
            return Ok(());
        }
    }
}
