//! What the compiler makes of one kernel, as `how_it_works.md` shows it.

use super::{compare, folder, text};
use triton::prelude::*;

#[triton::kernel(T = [f32], BLOCK = [256], num_warps = 2)]
fn add<T: Num, const BLOCK: i32>(x: Ptr<T>, y: Ptr<T>, out: PtrMut<T>, n: i32) {
    let i = program_id(0) * BLOCK + arange(0, BLOCK);
    let mask = i < n;
    store(out + i, load(x + i, mask) + load(y + i, mask), mask);
}

/// The source of this file, which has the kernel in it.
const SOURCE: &str = include_str!("output.rs");

#[test]
fn shown_output_is_current() -> triton::Result<()> {
    let stream = Device::cpu().stream()?;
    let x = stream.zeros::<f32>(4096)?;
    let mut out = stream.zeros::<f32>(4096)?;
    let launch = add::<f32, 256>(&x, &x, &mut out, 4096);
    let explained = launch.explain()?;
    let config = &launch.metadata().configs[0];
    let (best, plain) = (config.images.first().expect("an image"), config.images.last().expect("an image"));

    let page = text(&folder().join("how_it_works.md"));
    // Positions are those of this file: the page says which line each is.
    let kernel = kernel();
    assert!(page.contains(kernel), "the page shows the kernel of tests/book/output.rs");
    let page = put(&page, "ir", &without_positions(&config.ir.get()));
    let page = put(&page, "explain", &without_positions(&explained));
    let page = put(&page, "ptx", &code(&best.text()));
    let page = put(&page, "general", &accesses(&plain.text()));
    compare("how_it_works.md", &page);
    Ok(())
}

/// The text of [`add`].
fn kernel() -> &'static str {
    let (_, rest) = SOURCE.split_once("\n#[triton::kernel").expect("a kernel");
    let (kernel, _) = rest.split_once("\n}\n").expect("the end of the kernel");
    kernel
}

/// The page with another text in the block after `<!-- shown: NAME -->`.
fn put(page: &str, name: &str, shown: &str) -> String {
    let marker = format!("<!-- shown: {name} -->\n\n```text\n");
    let (before, rest) = page.split_once(&marker).unwrap_or_else(|| panic!("no marker for {name}"));
    let (_, after) = rest.split_once("```\n").expect("the end of the block");
    format!("{before}{marker}{}\n```\n{after}", shown.trim_end())
}

/// Lines without the `@file:line:column` at their end, and without the names of files.
fn without_positions(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.starts_with("source "));
    let lines = lines.map(|line| line.split_once(" @").map_or(line, |(line, _)| line));
    lines.collect::<Vec<_>>().join("\n")
}

/// The instructions, without declarations, positions and the reading of parameters.
fn code(ptx: &str) -> String {
    let left_out = [".reg", ".loc", "ld.param", "cvta", "mov.b32"];
    let lines = ptx.lines().filter(|line| line.starts_with('\t')).map(str::trim_start);
    lines.filter(|line| !left_out.iter().any(|word| line.starts_with(word))).collect::<Vec<_>>().join("\n")
}

/// The instructions that touch memory.
fn accesses(ptx: &str) -> String {
    let lines = ptx.lines().map(str::trim_start).filter(|line| line.contains(".global."));
    lines.filter(|line| !line.starts_with("cvta")).collect::<Vec<_>>().join("\n")
}
