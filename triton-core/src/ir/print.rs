//! Writes the text form.

use super::{Function, Stage};
use crate::span::Span;
use std::fmt::Write;

/// The function as text; see [`super`] for the grammar.
pub fn print(func: &Function) -> String {
    let mut out = String::new();
    for file in &func.sources.files {
        let _ = writeln!(out, "source {file:?}");
    }
    if func.stage == Stage::Laid {
        for id in func.layouts.keys() {
            let _ = writeln!(out, "layout {id} = {}", func.layouts[id]);
        }
    }
    let _ = write!(out, "kernel {}(", func.name);
    for (i, param) in func.params.iter().enumerate() {
        let comma = if i == 0 { "" } else { ", " };
        let _ = write!(out, "{comma}{} {}: {}", param.value, param.name, func.ty(param.value));
        if param.multiple_of != 1 {
            let _ = write!(out, " multiple_of {}", param.multiple_of);
        }
        if param.general {
            out.push_str(" general");
        }
    }
    let _ = writeln!(out, ") warps {} {{", func.num_warps);
    for (_, inst) in func.body() {
        out.push_str("  ");
        for &result in &inst.results {
            let _ = write!(out, "{result} = ");
        }
        out.push_str(inst.op.mnemonic());
        inst.op.print_fields(&mut out);
        for &result in &inst.results {
            let _ = write!(out, " : {}", func.ty(result));
            if let (Stage::Laid, Some(layout)) = (func.stage, func.layout_of[result]) {
                let _ = write!(out, " {layout}");
            }
        }
        print_span(func, inst.span, &mut out);
        out.push('\n');
    }
    out.push_str("}\n");
    out
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
