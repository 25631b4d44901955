//! Reads the text form.
//!
//! Values keep their numbers, so `print ∘ parse` is the identity on texts that were printed. What is read is verified before
//! it is returned.

use super::{
    Block, BlockData, Fill, Function, Inst, InstData, LayoutId, MemId, Place, Producer, Ring, RingBuffer, RingId,
    Stage, Value, View, verify,
};
use crate::layout::{Layout, Mem};
use crate::metadata::{Promised, Target, Targets};
use crate::ops::{self, Given, Op, Reader, Signature};
use crate::span::{Call, CallId, Loc, Span};
use crate::types::{DType, Type};
use std::collections::{HashMap, HashSet};

/// The largest number of a value: bounds what a text of a few bytes can make the parser allocate.
const MAX_VALUE: u32 = 1 << 20;

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
/// The first thing that is not IR, or that the verifier refuses.
pub fn parse(text: &str) -> Result<Function, ParseError> {
    let Parser { func, lines, last, .. } = read(text)?;
    verify::verify(&func).map_err(|errors| {
        let first = errors.into_iter().next().unwrap_or_default();
        let line = first.inst.and_then(|inst| lines.get(&inst).copied()).unwrap_or(last);
        ParseError { line, message: first.message }
    })?;
    Ok(func)
}

/// Reads one function that the verifier may refuse: to see what else finds its mistake.
///
/// # Errors
/// The first thing that is not IR.
pub fn parse_unverified(text: &str) -> Result<Function, ParseError> {
    read(text).map(|parser| parser.func)
}

fn read(text: &str) -> Result<Parser, ParseError> {
    let func = Function::new("", 4);
    let mut parser = Parser {
        func,
        defined: HashSet::new(),
        layouts: HashMap::new(),
        mems: HashMap::new(),
        calls: HashMap::new(),
        open: Vec::new(),
        lines: HashMap::new(),
        last: 0,
    };
    for (i, line) in text.lines().enumerate() {
        let number = i as u32 + 1;
        let code = without_comment(line).trim();
        if !code.is_empty() {
            parser.last = number;
            parser.line(code, number).map_err(|message| ParseError { line: number, message })?;
        }
    }
    if !parser.open.is_empty() || parser.func.name.is_empty() {
        return Err(ParseError { line: parser.last, message: "the kernel has no end".into() });
    }
    Ok(parser)
}

/// The line up to a `;` outside strings.
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

/// What stands in quotes: a text in which `\u{22}` is the character of that number.
fn quoted(text: &str) -> Option<String> {
    let mut pieces = text.strip_prefix('"')?.strip_suffix('"')?.split("\\u{");
    let mut out = pieces.next()?.to_string();
    for piece in pieces {
        let (number, rest) = piece.split_once('}')?;
        out.push(char::from_u32(u32::from_str_radix(number, 16).ok()?)?);
        out.push_str(rest);
    }
    Some(out)
}

struct Parser {
    func: Function,
    defined: HashSet<Value>,
    layouts: HashMap<String, LayoutId>,
    mems: HashMap<String, MemId>,
    calls: HashMap<String, CallId>,
    /// The blocks that are open, outermost first, each with the instruction that owns it.
    open: Vec<(Option<Inst>, Block)>,
    lines: HashMap<Inst, u32>,
    /// The last line with code.
    last: u32,
}

impl Parser {
    fn line(&mut self, code: &str, number: u32) -> Result<(), String> {
        match self.open.last().copied() {
            Some(_) if code == "}" => {
                self.open.pop();
                Ok(())
            }
            Some((owner, _)) if code.starts_with('}') => {
                let owner = owner.ok_or("the kernel has one block")?;
                self.open.pop();
                self.region(owner, code[1..].trim())
            }
            Some((None, _)) if code.starts_with("view ") => self.view(&code[5..]),
            Some((None, _)) if code.starts_with("ring ") => self.ring(&code[5..]),
            Some((_, block)) => self.instruction(code, block, number),
            None => self.header(code),
        }
    }

    fn header(&mut self, code: &str) -> Result<(), String> {
        let (word, rest) = code.split_once(' ').unwrap_or((code, ""));
        match word {
            "source" => {
                self.func.sources.files.push(quoted(rest).ok_or("a file name in quotes is missing")?);
                Ok(())
            }
            "call" => self.call(rest),
            "text" => {
                self.func.texts.push(quoted(rest).ok_or("a text in quotes is missing")?);
                Ok(())
            }
            "layout" => self.layout(rest),
            "mem" => self.mem(rest),
            "synchronized" => {
                self.func.stage = Stage::Synchronized;
                Ok(())
            }
            "kernel" if self.func.name.is_empty() => self.kernel(rest),
            _ => Err(format!("`{word}` begins nothing here")),
        }
    }

    /// `c0 = gelu @0:4:13`
    fn call(&mut self, rest: &str) -> Result<(), String> {
        let parts = rest.split_once(" = ").and_then(|(name, rest)| Some((name, rest.rsplit_once(" @")?)));
        let (name, (function, at)) = parts.ok_or("a call is `call c0 = name @file:line:column`")?;
        let call = Call { function: function.into(), at: self.position(at)? };
        let id = self.func.sources.calls.intern(call);
        self.calls.insert(name.to_string(), id);
        Ok(())
    }

    /// `{ |v1: i32, v2: f32[4] #0|`
    fn region(&mut self, owner: Inst, code: &str) -> Result<(), String> {
        let params = code.strip_prefix('{').ok_or("`{` is missing")?.trim();
        let block = self.func.blocks.push(BlockData::default());
        if !params.is_empty() {
            let params =
                params.strip_prefix('|').and_then(|p| p.strip_suffix('|')).ok_or("parameters stand between bars")?;
            for param in split_top(params) {
                let (name, ty) = param.split_once(": ").ok_or_else(|| format!("`{param}` is not a parameter"))?;
                let value = self.define(name, ty)?;
                self.func.blocks[block].params.push(value);
            }
        }
        self.func.insts[owner].regions.push(block);
        self.open.push((Some(owner), block));
        Ok(())
    }

    fn layout(&mut self, rest: &str) -> Result<(), String> {
        let (name, columns) = rest.split_once(" = ").ok_or("a layout is `layout #0 = reg [..] lane [..] warp [..]`")?;
        let mut lists = Vec::new();
        let words: Vec<&str> = columns.split(' ').collect();
        for (pair, key) in words.chunks(2).zip(["reg", "lane", "warp"]) {
            lists.push(columns_of(pair, key)?);
        }
        let [reg, lane, warp] = <[Vec<u32>; 3]>::try_from(lists).map_err(|_| "a layout has reg, lane and warp")?;
        let lane = lane.try_into().map_err(|_| "a warp has five lane bits")?;
        let id = self.func.layouts.intern(Layout { reg, lane, warp });
        self.layouts.insert(name.to_string(), id);
        self.func.stage = Stage::LaidOut;
        Ok(())
    }

    fn mem(&mut self, rest: &str) -> Result<(), String> {
        let form =
            "memory is `mem %0 = off [..] bits 32`, `parts 1` if it has two, and `copies 3` if there are as many";
        let (name, rest) = rest.split_once(" = ").ok_or(form)?;
        let words: Vec<&str> = rest.split(' ').collect();
        let off = columns_of(words.get(..2).ok_or(form)?, "off")?;
        let number = |word: &str| word.parse::<u32>().map_err(|_| format!("`{word}` is not a number"));
        let ["bits", bits, rest_of @ ..] = &words[2..] else { return Err(form.into()) };
        let (parts, copies) = match *rest_of {
            [] => (0, 1),
            ["parts", parts] => (number(parts)?, 1),
            ["copies", copies] => (0, number(copies)?),
            ["parts", parts, "copies", copies] => (number(parts)?, number(copies)?),
            _ => return Err(form.into()),
        };
        let mem = Mem::new(off, number(bits)?).and_then(|mem| mem.in_parts(parts)).filter(|_| copies > 0);
        let mem = mem.map(|mem| mem.with_copies(copies));
        let id = self.func.mems.intern(mem.ok_or_else(|| format!("{rest} does not give every element one offset"))?);
        self.mems.insert(name.to_string(), id);
        Ok(())
    }

    /// `add(v0 x: ptr<f32>, ..) warps 4 {`
    fn kernel(&mut self, rest: &str) -> Result<(), String> {
        let (name, rest) = rest.split_once('(').ok_or("`(` is missing")?;
        let (params, rest) = rest.rsplit_once(')').ok_or("`)` is missing")?;
        let warps =
            rest.trim().strip_prefix("warps ").and_then(|r| r.strip_suffix(" {")).ok_or("`warps N {` is missing")?;
        let mut words = warps.split(' ');
        self.func.name = name.to_string();
        self.func.num_warps = count(&mut words, "warps")?;
        while let Some(word) = words.next() {
            match word {
                "stages" => self.func.num_stages = count(&mut words, "stages")?,
                "registers" => self.func.max_registers = Some(count(&mut words, "registers")?),
                "cluster_k" => self.func.cluster_k = count(&mut words, "blocks that share K")?,
                "targets" => self.func.targets = targets(words.next().ok_or("targets are missing")?)?,
                "cluster" => self.func.cluster = count(&mut words, "blocks of a cluster")?,
                "peers" => self.func.peers = count(&mut words, "programs of a cluster")?,
                "teams" => self.func.teams = count(&mut words, "teams")?,
                "producer" => {
                    let name = words.next().ok_or("`producer` of what")?;
                    let of = Producer::ALL.into_iter().find(|of| of.name() == name);
                    self.func.producer = Some(of.ok_or_else(|| format!("`{name}` is not a producer"))?);
                }
                "raster" => self.func.raster = Some(count(&mut words, "programs in a band")?),
                "fast_math" => self.func.fast_math = true,
                _ => return Err(format!("`{word}` is not an attribute of a kernel")),
            }
        }
        let body = self.func.body;
        self.open.push((None, body));
        for param in split_top(params) {
            let (head, tail) = param.split_once(": ").ok_or_else(|| format!("`{param}` is not a parameter"))?;
            let (value, name) = head.split_once(' ').ok_or_else(|| format!("`{head}` is not `v0 name`"))?;
            let (mut promised, mut multiple_of) = (vec![Promised::default()], 1);
            // `ptr<mut f32>` has a space inside.
            let end = tail.find('>').map_or(0, |i| i + 1);
            let end = tail[end..].find(' ').map_or(tail.len(), |i| i + end);
            let ty = Type::parse(&tail[..end])?;
            let mut words = tail[end..].split_whitespace();
            while let Some(word) = words.next() {
                let mut number =
                    || words.next().and_then(|n| n.parse().ok()).ok_or_else(|| format!("`{word}` needs a number"));
                let last = promised.len() - 1;
                match word {
                    "general" => promised[last] = Promised::Nothing,
                    "unit" => promised[last] = Promised::Unit,
                    "pitch" => promised[last] = Promised::Pitch(number()?),
                    "extent" => promised[last] = Promised::Extent(number()?),
                    "or" => promised.push(Promised::default()),
                    "multiple_of" => multiple_of = number()?,
                    _ => return Err(format!("`{word}` is not an attribute of a parameter")),
                }
            }
            let value = self.define(value, &ty.to_string())?;
            let (promised, orders) = (promised[0], promised.split_off(1));
            self.func.params.push(super::Param { value, name: name.to_string(), multiple_of, promised, orders });
        }
        Ok(())
    }

    /// `v0 [v1,v2] [v3,v4]`
    fn view(&mut self, rest: &str) -> Result<(), String> {
        let words = split_words(rest);
        let &[base, extents, strides] = &words[..] else {
            return Err("a view is `view v0 [v1,v2] [v3,v4]`: its address, extents and strides".into());
        };
        let list = |word: &str| -> Result<Vec<Value>, String> {
            let inner = word.strip_prefix('[').and_then(|w| w.strip_suffix(']'));
            inner.ok_or_else(|| format!("`{word}` is not a list of values"))?.split(',').map(value).collect()
        };
        self.func.views.push(View { base: value(base)?, extents: list(extents)?, strides: list(strides)? });
        Ok(())
    }

    /// `r0 slots 3 lead 2 [v5,v6] [#0,#1]`
    fn ring(&mut self, rest: &str) -> Result<(), String> {
        let form = "a ring is `ring r0 slots 3 lead 2 [v5,v6] [#0,#1]`: its buffers, and the layouts in which they are filled, or `bulk [v5.tf32.shared,..`, or `stored [..`";
        let words = split_words(rest);
        let number = |word: &str| word.parse::<u32>().map_err(|_| format!("`{word}` is not a number"));
        let [id, "slots", slots, ref fill @ .., buffers, layouts] = words[..] else { return Err(form.into()) };
        let fill = Fill::of_words(fill).ok_or(form)?;
        if id != RingId(self.func.rings.len() as u32).to_string() {
            return Err(format!("`{id}` is not the name of the next ring"));
        }
        let list = |word: &'_ str| -> Option<Vec<String>> {
            let inner = word.strip_prefix('[').and_then(|w| w.strip_suffix(']'))?;
            Some(inner.split(',').map(str::to_string).collect())
        };
        let (buffers, layouts) = (list(buffers).ok_or(form)?, list(layouts).ok_or(form)?);
        let buffer = |(buffer, layout): (&String, &String)| {
            let known = self.layouts.get(layout).copied();
            let (buffer, shared) = buffer.strip_suffix(".shared").map_or((&buffer[..], false), |of| (of, true));
            let (buffer, padding) = buffer.split_once(".padding=0x").unwrap_or((buffer, "0"));
            let padding = u64::from_str_radix(padding, 16).map_err(|_| format!("`0x{padding}` is not a number"))?;
            let (buffer, tf32) = buffer.strip_suffix(".tf32").map_or((buffer, false), |of| (of, true));
            let layout = known.ok_or_else(|| format!("{layout} is not a layout"))?;
            Ok(RingBuffer { buffer: value(buffer)?, layout, tf32, padding, shared })
        };
        let buffers = buffers.iter().zip(&layouts).map(buffer).collect::<Result<_, String>>()?;
        self.func.rings.push(Ring { slots: number(slots)?, fill, buffers });
        Ok(())
    }

    /// `v4 = splat v2, [128] : i32[128] #0 @0:4:13`, or the head of an instruction with regions.
    fn instruction(&mut self, code: &str, block: Block, number: u32) -> Result<(), String> {
        let (code, span) = match code.rsplit_once(" @") {
            Some((code, at)) => (code, self.position(at)?),
            None => (code, Span::NONE),
        };
        let (code, region) = match code.find(" {") {
            Some(at) => (&code[..at], Some(&code[at + 1..])),
            None => (code, None),
        };
        let (results, code) = match code.split_once(" = ") {
            Some((results, code)) => (split_top(results), code),
            None => (Vec::new(), code),
        };
        let (code, annotations) = match code.split_once(" : ") {
            Some((code, annotations)) => (code, split_top(annotations)),
            None => (code, Vec::new()),
        };
        let (code, args) = match code.split_once(" with ") {
            Some((code, args)) => (code, split_top(args)),
            None => (code, Vec::new()),
        };
        let (code, stages) = match code.split_once(" stages ") {
            Some((code, stages)) => (code, Some(count(&mut [stages].into_iter(), "stages")?)),
            None => (code, None),
        };
        let words = split_words(code);
        let (mnemonic, words) = words.split_first().ok_or("an operation is missing")?;
        let mut reader = Reader::new(words);
        let op = Op::parse(mnemonic, &mut reader)?;
        if !reader.is_done() {
            return Err(format!("`{mnemonic}` has too many operands"));
        }
        let args: Result<Vec<Value>, String> = args.into_iter().map(value).collect();
        let inst = InstData { op, args: args?, regions: Vec::new(), results: Vec::new(), span };
        let mut unknown = None;
        inst.for_each_operand(|v| {
            if !self.defined.contains(&v) {
                unknown = Some(v);
            }
        });
        if let Some(value) = unknown {
            return Err(format!("{value} is not defined before this line"));
        }
        let types: Vec<Type> = inst.args.iter().map(|&v| self.func.ty(v)).collect();
        let inferred = ops::infer(&op, &|v| self.func.ty(v), Given { args: &types, yielded: &[] })?;
        if results.len() != annotations.len() {
            return Err(format!("{} results with {} types", results.len(), annotations.len()));
        }
        let inst = self.func.insts.push(inst);
        if stages.is_some() {
            self.func.stages_of[inst] = stages;
        }
        for (name, annotation) in results.iter().zip(&annotations) {
            let value = self.define(name, annotation)?;
            self.func.insts[inst].results.push(value);
        }
        match (inferred, &self.func.insts[inst].results[..]) {
            (Signature::Plain(Some(ty)), [result]) if self.func.ty(*result) == ty => {}
            (Signature::Plain(Some(ty)), [_]) => {
                return Err(format!("`{mnemonic}` yields {ty}, not {}", annotations[0]));
            }
            (Signature::Plain(Some(ty)), _) => {
                return Err(format!("the result is written `v1 = {mnemonic} .. : {ty}`"));
            }
            (Signature::Plain(None), [_, ..]) => return Err(format!("`{mnemonic}` has no result")),
            // The verifier compares, once the regions are known.
            (Signature::Plain(None), []) | (Signature::Structured { .. }, _) => {}
        }
        self.lines.insert(inst, number);
        self.func.blocks[block].insts.push(inst);
        region.map_or(Ok(()), |region| self.region(inst, region))
    }

    /// `0:4:13`, or `0:4:13 in c0` in the body of a call.
    fn position(&mut self, at: &str) -> Result<Span, String> {
        let (at, call) = at.split_once(" in ").map_or((at, None), |(at, call)| (at, Some(call)));
        let numbers: Vec<u32> = at.split(':').filter_map(|n| n.parse().ok()).collect();
        let &[file, line, column] = &numbers[..] else { return Err(format!("`@{at}` is not a source location")) };
        if file as usize >= self.func.sources.files.len() {
            return Err(format!("there is no source {file}"));
        }
        let loc = Loc { file: file as u16, line, column };
        let known = self.func.sources.locs.iter().position(|l| *l == loc);
        let index = known.unwrap_or_else(|| {
            self.func.sources.locs.push(loc);
            self.func.sources.locs.len() - 1
        });
        let span = Span(index as u32);
        let Some(call) = call else { return Ok(span) };
        let call = *self.calls.get(call).ok_or_else(|| format!("there is no call {call}"))?;
        Ok(self.func.sources.inline(span, call))
    }

    /// A value of the type and layout that its annotation says.
    fn define(&mut self, name: &str, annotation: &str) -> Result<Value, String> {
        let (ty, layout) = match annotation.rsplit_once(' ') {
            Some((ty, layout)) if layout.starts_with(['#', '%']) => (ty, layout),
            _ => (annotation, ""),
        };
        let (value, ty) = (value(name)?, Type::parse(ty)?);
        if value.0 >= MAX_VALUE {
            return Err(format!("{value} has too large a number"));
        }
        if !self.defined.insert(value) {
            return Err(format!("{name} is defined twice"));
        }
        while self.func.types.get(value).is_none() {
            self.func.types.push(Type::scalar(DType::Bool));
        }
        self.func.types[value] = ty;
        if layout.starts_with('#') {
            let id = *self.layouts.get(layout).ok_or_else(|| format!("{layout} is not a layout"))?;
            self.func.place_of[value] = Some(Place::Registers(id));
        } else if !layout.is_empty() {
            let id = *self.mems.get(layout).ok_or_else(|| format!("{layout} is not a layout of shared memory"))?;
            self.func.place_of[value] = Some(Place::Shared(id));
        }
        Ok(value)
    }
}

/// `reg [1,2]`.
fn columns_of(pair: &[&str], key: &str) -> Result<Vec<u32>, String> {
    let [word, list] = pair else { return Err(format!("the columns of `{key}` are missing")) };
    let inner = list.strip_prefix('[').and_then(|l| l.strip_suffix(']')).filter(|_| *word == key);
    let inner = inner.ok_or_else(|| format!("expected `{key} [..]`, found `{word} {list}`"))?;
    let columns: Result<Vec<u32>, _> = inner.split(',').filter(|c| !c.is_empty()).map(str::parse).collect();
    columns.map_err(|_| format!("`{list}` is not a list of columns"))
}

fn value(word: &str) -> Result<Value, String> {
    let number = word.strip_prefix('v').and_then(|n| n.parse().ok());
    number.map(Value).ok_or_else(|| format!("`{word}` is not a value"))
}

/// `sm_90a,sm_80`: names of targets.
fn targets(names: &str) -> Result<Targets, String> {
    let target = |name| Target::from_name(name).ok_or_else(|| format!("`{name}` is not a target"));
    names.split(',').map(target).collect()
}

/// The next word, as a number of these.
fn count<'a>(words: &mut impl Iterator<Item = &'a str>, of: &str) -> Result<u32, String> {
    let word = words.next().unwrap_or_default();
    word.parse().map_err(|_| format!("`{word}` is not a number of {of}"))
}

/// Splits at commas outside brackets.
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
