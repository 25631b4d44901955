//! Loops inside of loops: no pass takes time exponential in their depth.

use std::fmt::Write;
use std::time::{Duration, Instant};
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

#[test]
fn nested_loops_compile_in_time() {
    let text = nested(24);
    let func = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let start = Instant::now();
    triton_core::images(&func).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let elapsed = start.elapsed();
    // Time exponential in the depth would be hours.
    assert!(elapsed < Duration::from_secs(20), "{elapsed:?}");
}
