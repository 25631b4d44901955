//! Writes the text form.

use super::{Block, Function, Promised, Stage, Value};
use crate::span::Span;
use std::fmt::Write;

/// The function as text; see [`super`] for the grammar.
pub fn print(func: &Function) -> String {
    let mut out = String::new();
    for file in &func.sources.files {
        let _ = writeln!(out, "source {file:?}");
    }
    for text in &func.texts {
        let _ = writeln!(out, "text \"{}\"", escape(text));
    }
    if func.stage >= Stage::LaidOut {
        for id in func.layouts.keys() {
            let _ = writeln!(out, "layout {id} = {}", func.layouts[id]);
        }
    }
    if func.stage == Stage::Synchronized {
        for id in func.mems.keys() {
            let _ = writeln!(out, "mem {id} = {}", func.mems[id]);
        }
        out.push_str("synchronized\n");
    }
    let _ = write!(out, "kernel {}(", func.name);
    for (i, param) in func.params.iter().enumerate() {
        let comma = if i == 0 { "" } else { ", " };
        let _ = write!(out, "{comma}{} {}: {}", param.value, param.name, func.ty(param.value));
        if param.multiple_of != 1 {
            let _ = write!(out, " multiple_of {}", param.multiple_of);
        }
        match param.promised {
            Promised::Divisible => {}
            Promised::Unit => out.push_str(" unit"),
            Promised::Pitch(elements) => _ = write!(out, " pitch {elements}"),
            Promised::Extent(elements) => _ = write!(out, " extent {elements}"),
            Promised::Nothing => out.push_str(" general"),
        }
    }
    let _ = writeln!(out, ") warps {} {{", func.num_warps);
    block(func, func.body, 1, &mut out);
    out.push_str("}\n");
    out
}

/// A text in which no quote ends and no line breaks.
fn escape(text: &str) -> String {
    let special = |c: char| c == '"' || c == '\\' || c.is_control();
    text.chars().map(|c| if special(c) { c.escape_unicode().to_string() } else { c.to_string() }).collect()
}

fn block(func: &Function, id: Block, depth: usize, out: &mut String) {
    for (_, inst) in func.block(id) {
        indent(depth, out);
        if !inst.results.is_empty() {
            let _ = write!(out, "{} = ", list(&inst.results, |v| v.to_string()));
        }
        out.push_str(inst.op.mnemonic());
        inst.op.print_fields(out);
        if !inst.args.is_empty() {
            let _ = write!(out, " with {}", list(&inst.args, |v| v.to_string()));
        }
        if !inst.results.is_empty() {
            let _ = write!(out, " : {}", list(&inst.results, |v| typed(func, v)));
        }
        for (i, &region) in inst.regions.iter().enumerate() {
            if i > 0 {
                indent(depth, out);
                out.push('}');
            }
            out.push_str(" {");
            let params = &func.blocks[region].params;
            if !params.is_empty() {
                let _ = write!(out, " |{}|", list(params, |v| format!("{v}: {}", typed(func, v))));
            }
            if i == 0 {
                print_span(func, inst.span, out);
            }
            out.push('\n');
            block(func, region, depth + 1, out);
        }
        if inst.regions.is_empty() {
            print_span(func, inst.span, out);
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

fn list(values: &[Value], show: impl Fn(Value) -> String) -> String {
    values.iter().map(|&v| show(v)).collect::<Vec<_>>().join(", ")
}

/// `f32[128] #0`.
fn typed(func: &Function, value: Value) -> String {
    let ty = func.ty(value);
    match (func.layout_of[value], func.mem_of[value]) {
        (Some(layout), _) if func.stage >= Stage::LaidOut => format!("{ty} {layout}"),
        (None, Some(mem)) if func.stage == Stage::Synchronized => format!("{ty} {mem}"),
        _ => ty.to_string(),
    }
}

fn print_span(func: &Function, span: Span, out: &mut String) {
    if let Some(loc) = func.sources.loc(span) {
        let _ = write!(out, " @{}:{}:{}", loc.file, loc.line, loc.column);
    }
}

impl std::fmt::Display for Function {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&print(self))
    }
}
