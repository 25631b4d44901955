//! What is known of the bodies of functions that kernels call: where each operation was written, and by which calls it is in the kernel.

use triton_core::ir::parse::parse;
use triton_tests::expand::expand;

const SOURCE: &str = "#[triton::function]
fn scaled(x: Tile<f32>, by: f32) -> Tile<f32> {
    x * by
}

#[triton::function]
fn gated(x: Tile<f32>, gate: impl Fn(Tile<f32>) -> Tile<f32>) -> Tile<f32> {
    let gates = gate(x);
    scaled(gates, 0.5) + sigmoid(x)
}

#[triton::kernel]
fn kernel(x: Ptr<f32>, out: PtrMut<f32>) {
    let at = arange(0, 128);
    let tile = load(x + at, true);
    let by = 3.0;
    let closed = gated(tile, |x| exp(x) - by);
    store(out + at, gated(closed, root), true);
}

#[triton::function]
fn root(x: Tile<f32>) -> Tile<f32> {
    sqrt(x)
}";

/// The calls by which operations are in the kernel, each with where it is; and some operations, with where they were written. `div` is of
/// `sigmoid`, a function of the language, which is where it is called.
const EXPECTED: &str = "call c0 = gated @0:17:18
call c1 = {closure} @0:8:17 in c0
call c2 = scaled @0:9:5 in c0
call c3 = gated @0:18:21
call c4 = root @0:8:17 in c3
call c5 = scaled @0:9:5 in c3
load @0:15:16
sub @0:17:41 in c1
mul @0:3:7 in c2
div @0:9:26 in c0
sqrt @0:23:5 in c4
mul @0:3:7 in c5
div @0:9:26 in c3
store @0:18:5
";

#[test]
fn operations_know_their_calls() {
    let expansion = expand(SOURCE).unwrap();
    assert!(expansion.messages.is_empty(), "{:?}", expansion.messages);
    let ir = &expansion.kernels[0].ir;
    let is_shown = |line: &&str| {
        let line = line.trim_start();
        line.starts_with("call ") || ["load", "sub", "mul", "div", "sqrt", "store"].contains(&mnemonic(line))
    };
    let located = |line: &str| match line.trim_start().rsplit_once(" @") {
        Some((code, at)) if !code.starts_with("call ") => format!("{} @{at}\n", mnemonic(code)),
        Some(_) | None => format!("{line}\n"),
    };
    let found: String = ir.lines().filter(is_shown).map(located).collect();
    assert_eq!(found, EXPECTED);
    assert_eq!(parse(ir).unwrap().to_string(), *ir);
}

/// The operation of a line.
fn mnemonic(line: &str) -> &str {
    let code = line.split_once(" = ").map_or(line, |(_, code)| code);
    code.split(' ').next().unwrap_or_default()
}
