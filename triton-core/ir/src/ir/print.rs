//! Writes the text form.

use super::{Block, Function, LayoutId, MemId, Place, Ring, RingBuffer, Stage, Value, View};
use crate::metadata::{Promised, Target, Targets};
use crate::span::{CallId, Span};
use std::collections::BTreeSet;
use std::fmt::Write;

/// The function as text; see [`super`] for the grammar.
pub fn print(func: &Function) -> String {
    let mut out = String::new();
    for file in &func.sources.files {
        let _ = writeln!(out, "source \"{}\"", escape(file));
    }
    let calls = Calls::of(func);
    out.push_str(&calls.declarations(func));
    for text in &func.texts {
        let _ = writeln!(out, "text \"{}\"", escape(text));
    }
    let mut places = Places::of(func);
    out.push_str(&places.declarations(func));
    if func.stage == Stage::Synchronized {
        out.push_str("synchronized\n");
    }
    let _ = write!(out, "kernel {}(", func.name);
    for (i, param) in func.params.iter().enumerate() {
        let comma = if i == 0 { "" } else { ", " };
        let _ = write!(out, "{comma}{} {}: {}", param.value, param.name, func.ty(param.value));
        if param.multiple_of != 1 {
            let _ = write!(out, " multiple_of {}", param.multiple_of);
        }
        out.push_str(&promised(param.promised));
        for &other in &param.orders {
            let _ = write!(out, " or{}", promised(other));
        }
    }
    let _ = write!(out, ") warps {}", func.num_warps);
    if func.num_stages > 1 {
        let _ = write!(out, " stages {}", func.num_stages);
    }
    if func.teams != 1 {
        let _ = write!(out, " teams {}", func.teams);
    }
    if let Some(producer) = func.producer {
        let _ = write!(out, " producer {}", producer.name());
    }
    if func.cluster != 1 {
        let _ = write!(out, " cluster {}", func.cluster);
    }
    if func.peers != 1 {
        let _ = write!(out, " peers {}", func.peers);
    }
    if let Some(band) = func.raster {
        let _ = write!(out, " raster {band}");
    }
    if let Some(registers) = func.max_registers {
        let _ = write!(out, " registers {registers}");
    }
    if func.cluster_k != 1 {
        let _ = write!(out, " cluster_k {}", func.cluster_k);
    }
    if func.targets != Targets::ALL {
        let names: Vec<&str> = func.targets.iter().map(Target::name).collect();
        let _ = write!(out, " targets {}", names.join(","));
    }
    if func.fast_math {
        out.push_str(" fast_math");
    }
    out.push_str(" {\n");
    for View { base, extents, strides } in &func.views {
        let names = |values: &[Value]| list(values, |v| v.to_string()).replace(' ', "");
        let _ = writeln!(out, "  view {base} [{}] [{}]", names(extents), names(strides));
    }
    for id in func.rings.keys() {
        let Ring { slots, fill, buffers } = &func.rings[id];
        let marks = |of: &RingBuffer| {
            let padding = if of.padding == 0 { String::new() } else { format!(".padding={:#x}", of.padding) };
            format!("{}{padding}{}", if of.tf32 { ".tf32" } else { "" }, if of.shared { ".shared" } else { "" })
        };
        let of: Vec<String> = buffers.iter().map(|of| format!("{}{}", of.buffer, marks(of))).collect();
        let by: Vec<String> = buffers.iter().map(|of| places.layout(of.layout).to_string()).collect();
        let _ = writeln!(out, "  ring {id} slots {slots} {fill} [{}] [{}]", of.join(","), by.join(","));
    }
    block(func, (&mut places, &calls), func.body, 1, &mut out);
    out.push_str("}\n");
    out
}

/// A text in which no quote ends and no line breaks.
fn escape(text: &str) -> String {
    let special = |c: char| c == '"' || c == '\\' || c.is_control();
    text.chars().map(|c| if special(c) { c.escape_unicode().to_string() } else { c.to_string() }).collect()
}

fn block(func: &Function, (places, calls): (&mut Places, &Calls), id: Block, depth: usize, out: &mut String) {
    for (id, inst) in func.block(id) {
        indent(depth, out);
        if !inst.results.is_empty() {
            let _ = write!(out, "{} = ", list(&inst.results, |v| v.to_string()));
        }
        out.push_str(inst.op.mnemonic());
        inst.op.print_fields(out);
        if let Some(stages) = func.stages_of[id] {
            let _ = write!(out, " stages {stages}");
        }
        if !inst.args.is_empty() {
            let _ = write!(out, " with {}", list(&inst.args, |v| v.to_string()));
        }
        if !inst.results.is_empty() {
            let _ = write!(out, " : {}", list(&inst.results, |v| places.typed(func, v)));
        }
        for (i, &region) in inst.regions.iter().enumerate() {
            if i > 0 {
                indent(depth, out);
                out.push('}');
            }
            out.push_str(" {");
            let params = &func.blocks[region].params;
            if !params.is_empty() {
                let _ = write!(out, " |{}|", list(params, |v| format!("{v}: {}", places.typed(func, v))));
            }
            if i == 0 {
                calls.print_span(func, inst.span, out);
            }
            out.push('\n');
            block(func, (&mut *places, calls), region, depth + 1, out);
        }
        if inst.regions.is_empty() {
            calls.print_span(func, inst.span, out);
        } else {
            indent(depth, out);
            out.push('}');
        }
        out.push('\n');
    }
}

fn indent(depth: usize, out: &mut String) {
    (0..depth).for_each(|_| out.push_str("  "));
}

fn list(values: &[Value], mut show: impl FnMut(Value) -> String) -> String {
    values.iter().map(|&v| show(v)).collect::<Vec<_>>().join(", ")
}

/// The layouts that are named, in the order of the text: their numbers in it.
#[derive(Default)]
pub struct Places {
    layouts: Vec<LayoutId>,
    mems: Vec<MemId>,
}

impl Places {
    /// Those of a function.
    pub fn of(func: &Function) -> Places {
        let mut places = Places::default();
        for id in func.rings.keys() {
            func.rings[id].buffers.iter().for_each(|of| _ = places.layout(of.layout));
        }
        func.defined().into_iter().for_each(|value| _ = places.name(func, value));
        places
    }

    /// The name of where a value is; a new one where it has none. Nothing of scalars, and of tiles at stage 0.
    fn name(&mut self, func: &Function, value: Value) -> Option<String> {
        match func.place_of[value]? {
            Place::Registers(id) => Some(self.layout(id).to_string()),
            Place::Shared(id) => Some(MemId(number(&mut self.mems, id)).to_string()),
        }
    }

    /// The name of a layout of registers.
    pub fn layout(&mut self, id: LayoutId) -> LayoutId {
        LayoutId(number(&mut self.layouts, id))
    }

    /// Their declarations, a line each.
    fn declarations(&self, func: &Function) -> String {
        let mut out = String::new();
        for (number, &id) in (0..).map(LayoutId).zip(&self.layouts) {
            let _ = writeln!(out, "layout {number} = {}", func.layouts[id]);
        }
        for (number, &id) in (0..).map(MemId).zip(&self.mems) {
            let _ = writeln!(out, "mem {number} = {}", func.mems[id]);
        }
        out
    }

    /// `f32[128] #0`.
    fn typed(&mut self, func: &Function, value: Value) -> String {
        let (ty, name) = (func.ty(value), self.name(func, value));
        name.map_or_else(|| ty.to_string(), |name| format!("{ty} {name}"))
    }
}

/// The position of an id in a list, at whose end it is put if it is not in it.
fn number<T: PartialEq>(all: &mut Vec<T>, id: T) -> u32 {
    let known = all.iter().position(|known| *known == id);
    let at = known.unwrap_or_else(|| {
        all.push(id);
        all.len() - 1
    });
    at as u32
}

/// The calls that lead to instructions, in order: their numbers in the text.
struct Calls(Vec<CallId>);

impl Calls {
    /// Those of a function.
    fn of(func: &Function) -> Calls {
        let calls_to = |inst| func.sources.calls_to(func.insts[inst].span);
        let all: BTreeSet<CallId> = func.walk().into_iter().flat_map(calls_to).collect();
        Calls(all.into_iter().collect())
    }

    /// Their declarations, a line each.
    fn declarations(&self, func: &Function) -> String {
        let mut out = String::new();
        for (number, &id) in (0..).map(CallId).zip(&self.0) {
            let call = &func.sources.calls[id];
            let _ = write!(out, "call {number} = {}", call.function);
            self.print_span(func, call.at, &mut out);
            out.push('\n');
        }
        out
    }

    fn print_span(&self, func: &Function, span: Span, out: &mut String) {
        if let Some(loc) = func.sources.loc(span) {
            let _ = write!(out, " @{}:{}:{}", loc.file, loc.line, loc.column);
        }
        if let Some(Ok(number)) = func.sources.call(span).map(|call| self.0.binary_search(&call)) {
            let _ = write!(out, " in {}", CallId(number as u32));
        }
    }
}

impl std::fmt::Display for Function {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&print(self))
    }
}

/// What is promised of a parameter, behind a space; what is promised of most is not written.
fn promised(promised: Promised) -> String {
    match promised {
        Promised::Divisible => String::new(),
        Promised::Unit => " unit".into(),
        Promised::Pitch(elements) => format!(" pitch {elements}"),
        Promised::Extent(elements) => format!(" extent {elements}"),
        Promised::Nothing => " general".into(),
    }
}
