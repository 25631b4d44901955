//! Loops inside of loops: no pass does work exponential in their depth.

use std::fmt::Write;
use triton_core::ir::parse::parse;

/// A loop of this depth whose body reads and writes memory.
fn nested(depth: usize) -> String {
    let mut text = String::from("kernel k(v0 p: ptr<mut i32>, v1 n: i32) warps 4 {\n");
    let (mut next, mut indent) = (6, 2);
    let line = |text: &mut String, indent: usize, line: String| {
        let _ = writeln!(text, "{:indent$}{line}", "");
    };
    line(&mut text, indent, "v2 = const i32 0 : i32".into());
    line(&mut text, indent, "v3 = const i32 1 : i32".into());
    line(&mut text, indent, "v4 = arange 0, 128 : i32[128]".into());
    line(&mut text, indent, "v5 = splat v0, [128] : ptr<mut i32>[128]".into());
    for _ in 0..depth {
        line(&mut text, indent, format!("for v2, v1, v3 {{ |v{next}: i32|"));
        next += 1;
        indent += 2;
    }
    line(&mut text, indent, format!("v{next} = splat v{}, [128] : i32[128]", next - 1));
    line(&mut text, indent, format!("v{} = add v4, v{next} : i32[128]", next + 1));
    line(&mut text, indent, format!("v{} = offset v5, v{} : ptr<mut i32>[128]", next + 2, next + 1));
    line(&mut text, indent, format!("v{} = load v{}, -, - : i32[128]", next + 3, next + 2));
    line(&mut text, indent, format!("store v{}, -, v{}", next + 2, next + 3));
    for _ in 0..depth {
        line(&mut text, indent, "yield".into());
        indent -= 2;
        line(&mut text, indent, "}".into());
    }
    text + "}\n"
}

/// How often the compiler allocates for loops of a depth.
fn allocations(depth: usize) -> u64 {
    let text = nested(depth);
    let func = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let compile = || {
        triton_core::images(&func).unwrap_or_else(|error| panic!("{error}\n{text}"));
    };
    allocation_counter::measure(compile).count_total
}

#[test]
fn nested_loops_are_compiled_in_polynomial_time() {
    // 6678 and 16387. What is exponential would be four thousand times as many.
    let (half, whole) = (allocations(12), allocations(24));
    assert!(whole < 4 * half, "{half} allocations for 12 loops, {whole} for 24");
}
