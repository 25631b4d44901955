//! Reads the text form.
//!
//! Values may be numbered in any order in the text; they are renumbered densely, so `print ∘ parse` is the identity on texts
//! that were printed. What is read is verified before it is returned.

use super::types::{DType, Elem, Shape, Type};
use super::{Function, InstData, LayoutId, Stage, Value, verify};
use crate::layout::Layout;
use crate::ops::{self, Op, Reader};
use crate::span::{Loc, Span};
use std::collections::HashMap;

/// Why a text is not IR.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// Line, from 1.
    pub line: u32,
    /// What is wrong.
    pub message: String,
}

impl std::fmt::Display for ParseError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

/// Reads and verifies one function.
///
/// # Errors
/// The first thing that is no IR, or that the verifier refuses.
pub fn parse(text: &str) -> Result<Function, ParseError> {
    let mut parser =
        Parser { func: Function::new("", 4), values: HashMap::new(), layouts: HashMap::new(), open: false };
    let mut lines = Vec::new();
    let mut last = 0;
    for (i, line) in text.lines().enumerate() {
        let number = i as u32 + 1;
        let code = without_comment(line).trim();
        if code.is_empty() {
            continue;
        }
        last = number;
        let before = parser.func.insts.len();
        parser.line(code).map_err(|message| ParseError { line: number, message })?;
        lines.resize(parser.func.insts.len(), number);
        debug_assert!(parser.func.insts.len() <= before + 1);
    }
    if parser.open || parser.func.name.is_empty() {
        return Err(ParseError { line: last, message: "the kernel has no end".into() });
    }
    verify::verify(&parser.func).map_err(|errors| {
        let first = errors.into_iter().next().unwrap_or_default();
        let line = first.inst.and_then(|inst| lines.get(inst.0 as usize).copied()).unwrap_or(last);
        ParseError { line, message: first.message }
    })?;
    Ok(parser.func)
}

/// The line up to a `;` that stands in no string.
fn without_comment(line: &str) -> &str {
    let mut quoted = false;
    for (i, c) in line.char_indices() {
        match c {
            '"' => quoted = !quoted,
            ';' if !quoted => return &line[..i],
            _ => {}
        }
    }
    line
}

struct Parser {
    func: Function,
    values: HashMap<Value, Value>,
    layouts: HashMap<String, LayoutId>,
    open: bool,
}

impl Parser {
    fn line(&mut self, code: &str) -> Result<(), String> {
        if self.open {
            if code == "}" {
                self.open = false;
                return Ok(());
            }
            return self.instruction(code);
        }
        let (word, rest) = code.split_once(' ').unwrap_or((code, ""));
        match word {
            "source" => {
                let file = rest
                    .strip_prefix('"')
                    .and_then(|r| r.strip_suffix('"'))
                    .ok_or("a file name in quotes is missing")?;
                self.func.sources.files.push(file.replace("\\\\", "\\").replace("\\\"", "\""));
                Ok(())
            }
            "layout" => self.layout(rest),
            "kernel" if self.func.name.is_empty() => self.kernel(rest),
            _ => Err(format!("`{word}` begins nothing here")),
        }
    }

    fn layout(&mut self, rest: &str) -> Result<(), String> {
        let (name, columns) = rest.split_once(" = ").ok_or("a layout is `layout #0 = reg [..] lane [..] warp [..]`")?;
        let mut lists = Vec::new();
        let words: Vec<&str> = columns.split(' ').collect();
        for (pair, key) in words.chunks(2).zip(["reg", "lane", "warp"]) {
            let [word, list] = pair else { return Err(format!("the columns of `{key}` are missing")) };
            let inner = list.strip_prefix('[').and_then(|l| l.strip_suffix(']')).filter(|_| *word == key);
            let inner = inner.ok_or_else(|| format!("expected `{key} [..]`, found `{word} {list}`"))?;
            let columns: Result<Vec<u32>, _> = inner.split(',').filter(|c| !c.is_empty()).map(str::parse).collect();
            lists.push(columns.map_err(|_| format!("`{list}` is no list of columns"))?);
        }
        let [reg, lane, warp] = <[Vec<u32>; 3]>::try_from(lists).map_err(|_| "a layout has reg, lane and warp")?;
        let lane = lane.try_into().map_err(|_| "a warp has five lane bits")?;
        let id = self.func.layouts.push(Layout { reg, lane, warp });
        self.layouts.insert(name.to_string(), id);
        self.func.stage = Stage::Laid;
        Ok(())
    }

    /// `add(v0 x: ptr<f32>, ..) warps 4 {`
    fn kernel(&mut self, rest: &str) -> Result<(), String> {
        let (name, rest) = rest.split_once('(').ok_or("`(` is missing")?;
        let (params, rest) = rest.rsplit_once(')').ok_or("`)` is missing")?;
        let warps =
            rest.trim().strip_prefix("warps ").and_then(|r| r.strip_suffix(" {")).ok_or("`warps N {` is missing")?;
        self.func.name = name.to_string();
        self.func.num_warps = warps.parse().map_err(|_| format!("`{warps}` is no number of warps"))?;
        self.open = true;
        for param in split_top(params) {
            let (head, tail) = param.split_once(": ").ok_or_else(|| format!("`{param}` is no parameter"))?;
            let (value, name) = head.split_once(' ').ok_or_else(|| format!("`{head}` is no `v0 name`"))?;
            let mut general = false;
            let mut multiple_of = 1;
            // `ptr<mut f32>` has a space inside.
            let end = tail.find('>').map_or(0, |i| i + 1);
            let end = tail[end..].find(' ').map_or(tail.len(), |i| i + end);
            let ty = parse_type(&tail[..end])?;
            let mut words = tail[end..].split_whitespace();
            while let Some(word) = words.next() {
                match word {
                    "general" => general = true,
                    "multiple_of" => {
                        multiple_of = words.next().and_then(|n| n.parse().ok()).ok_or("multiple_of needs a number")?;
                    }
                    _ => return Err(format!("`{word}` is no attribute of a parameter")),
                }
            }
            let new = self.func.add_param(name, ty, multiple_of, general);
            self.define(value, new)?;
        }
        Ok(())
    }

    /// `v4 = splat v2, [128] : i32[128] #0 @0:4:13`
    fn instruction(&mut self, code: &str) -> Result<(), String> {
        let (code, span) = match code.rsplit_once(" @") {
            Some((code, at)) => (code, self.position(at)?),
            None => (code, Span::NONE),
        };
        let (result, code) = match code.split_once(" = ") {
            Some((result, code)) => (Some(result), code),
            None => (None, code),
        };
        let (code, annotation) = match code.split_once(" : ") {
            Some((code, annotation)) => (code, Some(annotation)),
            None => (code, None),
        };
        let words = split_words(code);
        let (mnemonic, words) = words.split_first().ok_or("an operation is missing")?;
        let mut reader = Reader::new(words);
        let mut op = Op::parse(mnemonic, &mut reader)?;
        if !reader.is_done() {
            return Err(format!("`{mnemonic}` has too many operands"));
        }
        let mut unknown = None;
        op.map_operands(|v| {
            self.values.get(&v).copied().unwrap_or_else(|| {
                unknown = Some(v);
                v
            })
        });
        if let Some(value) = unknown {
            return Err(format!("{value} is not defined before this line"));
        }
        let ty = ops::infer(&op, &|v| self.func.ty(v))?;
        let results = match (ty, result, annotation) {
            (Some(ty), Some(result), Some(annotation)) => {
                let (stated, layout) = match annotation.rsplit_once(' ') {
                    Some((stated, layout)) if layout.starts_with('#') => (stated, Some(layout)),
                    _ => (annotation, None),
                };
                if parse_type(stated)? != ty {
                    return Err(format!("`{mnemonic}` yields {ty}, not {stated}"));
                }
                let value = self.func.types.push(ty);
                self.define(result, value)?;
                if let Some(layout) = layout {
                    let id = *self.layouts.get(layout).ok_or_else(|| format!("{layout} is no layout"))?;
                    self.func.layout_of[value] = Some(id);
                }
                vec![value]
            }
            (None, None, None) => vec![],
            (Some(ty), _, _) => return Err(format!("the result is written `v1 = {mnemonic} .. : {ty}`")),
            (None, _, _) => return Err(format!("`{mnemonic}` has no result")),
        };
        let inst = self.func.insts.push(InstData { op, results, span });
        let body = self.func.body;
        self.func.blocks[body].push(inst);
        Ok(())
    }

    fn position(&mut self, at: &str) -> Result<Span, String> {
        let numbers: Vec<u32> = at.split(':').filter_map(|n| n.parse().ok()).collect();
        let &[file, line, column] = &numbers[..] else { return Err(format!("`@{at}` is no position")) };
        if file as usize >= self.func.sources.files.len() {
            return Err(format!("there is no source {file}"));
        }
        let loc = Loc { file: file as u16, line, column };
        let known = self.func.sources.locs.iter().position(|l| *l == loc);
        let index = known.unwrap_or_else(|| {
            self.func.sources.locs.push(loc);
            self.func.sources.locs.len() - 1
        });
        Ok(Span(index as u32))
    }

    fn define(&mut self, name: &str, value: Value) -> Result<(), String> {
        let number =
            name.strip_prefix('v').and_then(|n| n.parse().ok()).ok_or_else(|| format!("`{name}` is no value"))?;
        match self.values.insert(Value(number), value) {
            Some(_) => Err(format!("{name} is defined twice")),
            None => Ok(()),
        }
    }
}

/// Splits at commas that stand in no bracket.
fn split_top(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0, 0);
    for (i, c) in text.char_indices() {
        match c {
            '[' | '<' => depth += 1,
            ']' | '>' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(text[start..i].trim());
                start = i + 1;
            }
            _ => {}
        }
    }
    parts.push(text[start..].trim());
    parts.retain(|p| !p.is_empty());
    parts
}

fn split_words(code: &str) -> Vec<&str> {
    split_top(code).into_iter().flat_map(str::split_whitespace).collect()
}

/// `ptr<mut f32>[4,8]`.
fn parse_type(text: &str) -> Result<Type, String> {
    let wrong = || format!("`{text}` is no type");
    let (elem, shape) = match text.find('[') {
        Some(i) => (&text[..i], ops::parse_shape(&text[i..]).ok_or_else(wrong)?),
        None => (text, Shape::SCALAR),
    };
    let elem = match elem.strip_prefix("ptr<").and_then(|e| e.strip_suffix('>')) {
        Some(inner) => {
            let pointee = inner.strip_prefix("mut ").unwrap_or(inner);
            Elem::Ptr { pointee: DType::from_name(pointee).ok_or_else(wrong)?, mutable: pointee != inner }
        }
        None => Elem::Num(DType::from_name(elem).ok_or_else(wrong)?),
    };
    Ok(Type { elem, shape })
}
