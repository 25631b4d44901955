//! Kernels whose instructions and declarations fit no rule are refused, with the location and the reason; so are
//! launches.

use triton_sim::{Launch, Memory, Module, Options};

/// A module whose kernel has these statements; their first line is line 2.
fn text(parameters: &str, bounds: &str, statements: &str) -> String {
    let registers =
        ".reg .b8 %b<9>; .reg .b16 %h<9>; .reg .b32 %r<256>; .reg .b64 %d<65>; .reg .b128 %q<2>; .reg .pred %p<3>;";
    format!(
        ".version 8.0 .target sm_90a .global .b32 counter; .entry k({parameters}) {bounds} {{ {registers}\n{statements}\nret; }}"
    )
}

/// Checks statements: their message, at their start, or that they are accepted if there is none.
fn check(statements: &str, expected: &str) {
    let found = Module::parse(&text("", "", statements)).map_or_else(|e| e.to_string(), |_| String::new());
    let expected = if expected.is_empty() { String::new() } else { format!("2:1: {expected}") };
    assert_eq!(found, expected, "{statements}");
}

/// The names of this many registers.
fn registers(prefix: &str, count: usize) -> String {
    (0..count).map(|i| format!("%{prefix}{i}")).collect::<Vec<_>>().join(", ")
}

#[test]
fn registers_of_128_bits() {
    let wide = "`%q0` has 128 bits, which only `.b128` instructions take";
    check("ld.global.s32 %q0, [%d0];", wide);
    check("cvt.s64.s8 %q0, %r0;", wide);
    check("add.u64 %d0, %q0, 1;", wide);
    check("ld.global.u32 %r0, [%q0];", wide);
    check("mov.b64 %d0, %q0;", wide);
    check("mov.b128 %q0, {%q0, %d1};", wide);
    check("st.global.v2.b64 [%d0], {%q0, %d1};", wide);
    check("st.global.b128 [%d0], {%d1, _};", "operand 2 must be registers without `_`");
    check("mov.b128 %q0, {%d0, %d1}; mov.b128 {%d0, %d1}, %q0; ld.global.b128 %q1, [%d0];", "");
}

#[test]
fn vectors_that_are_moved() {
    let count = |opcode: &str, found: usize| {
        format!("`{opcode}` moves no vector of {found}: `.b16` has 2 parts, others 2 or 4")
    };
    check(&format!("mov.b32 {{{}}}, %r0;", registers("r", 33)), &count("mov.b32", 33));
    check(&format!("mov.b64 %d0, {{{}}};", registers("d", 65)), &count("mov.b64", 65));
    check(&format!("mov.b32 {{{}}}, %r0;", registers("r", 256)), &count("mov.b32", 256));
    check("mov.b32 %r0, {%h0, %h1, %h2};", &count("mov.b32", 3));
    check("mov.b16 %h0, {%b0, %b1, %b2, %b3};", &count("mov.b16", 4));
    check("mov.u32 %r0, {%h0, %h1};", &count("mov.u32", 2));
    check("mov.b32 {%r0, %r1}, %r2;", "each part of the vector must have 16 bits");
    check("mov.b32 %r0, {%b0, %b1, %b2, %b3}; mov.b64 {%r0, _}, %d0; mov.b32 %r0, {1, 2};", "");
}

#[test]
fn words_and_operands_that_are_missing() {
    check("vote.all.pred %p0, %p1, -1;", "`vote.all.pred` needs `.sync`");
    check("vote.sync.ballot.pred %r0, %p1, -1;", "the instruction `vote.sync.ballot.pred` is not known");
    check("match.any.b32 %r0, %r1, -1;", "`match.any.b32` needs `.sync`");
    check("match.sync.b32 %r0, %r1, -1;", "the instruction `match.sync.b32` is not known");
    check("redux.add.u32 %r0, %r1, -1;", "`redux.add.u32` needs `.sync`");
    check("elect %r0|%p0, -1;", "`elect` needs `.sync`");
    check("bar.warp -1;", "`bar.warp` needs `.sync`");
    check("atom.global.add.u32 {%r0, %r1}, [%d0], %r2;", "1 registers were expected, found 2");
    check("atom.global.add.v2.f32 {%r0, %r1, %r2}, [%d0], {%r3, %r4};", "2 registers were expected, found 3");
    let arrive = "mbarrier.arrive.expect_tx.shared::cta.b64";
    check(&format!("{arrive} %d0, [%r0];"), &format!("`{arrive}` takes 3 operands, found 2"));
    let test = "mbarrier.test_wait.parity.shared::cta.b64";
    check(&format!("{test} %p0, [%r0], 0, 9;"), &format!("`{test}` takes 3 operands, found 4"));
    check("mbarrier.arrive.shared::cta.b64 %d0, [%r0]; vote.sync.all.pred %p0, %p1, -1;", "");
}

#[test]
fn asynchronous_stores_and_fences() {
    let unknown = |statement: &str| {
        check(
            statement,
            &format!("the instruction `{}` is not known", statement.split([' ', ';']).next().unwrap_or_default()),
        );
    };
    let (store, reduction) = ("st.async.weak.shared::cluster", "red.async.relaxed.cluster.shared::cluster");
    let tx = "mbarrier::complete_tx::bytes";
    let without = |name: &str| format!("`{name}.async` is only simulated with `.mbarrier::complete_tx::bytes`");
    check("st.async.release.gpu.global.u32 [%d0], %r0;", &without("st"));
    check("red.async.release.gpu.global.add.u32 [%d0], %r0;", &without("red"));
    check(&format!("{store}.{tx}.b32 [%r0], %r1;"), &format!("`{store}.{tx}.b32` takes 3 operands, found 2"));
    check(&format!("{store}.{tx}.v2.b32 [%r0], %r1, [%r2];"), "2 values were expected, found 1");
    unknown(&format!("{store}.{tx}.b16 [%r0], %h1, [%r2];"));
    unknown(&format!("{store}.{tx}.v4.b64 [%r0], {{%d0, %d1, %d2, %d3}}, [%r2];"));
    unknown(&format!("st.async.weak.shared::cta.{tx}.b32 [%r0], %r1, [%r2];"));
    unknown(&format!("{reduction}.{tx}.add.b32 [%r0], %r1, [%r2];"));
    unknown(&format!("{reduction}.{tx}.inc.s32 [%r0], %r1, [%r2];"));
    unknown(&format!("{reduction}.{tx}.min.u64 [%r0], %d1, [%r2];"));
    unknown(&format!("red.async.shared::cluster.{tx}.add.u32 [%r0], %r1, [%r2];"));
    unknown("fence.acq_rel.sync_restrict::shared::cta.cluster;");
    unknown("fence.release.sync_restrict::shared::cta.gpu;");
    let opcode = "fence.release.sync_restrict::shared::cluster.cluster";
    check(&format!("{opcode};"), &format!("`.sync_restrict::shared::cluster` is not known in `{opcode}`"));
    check(&format!("{store}.{tx}.v2.f64 [%r0], {{%d1, %d2}}, [%r2]; {reduction}.{tx}.add.u64 [%r0], %d1, [%r2];"), "");
    check(
        "fence.acquire.sync_restrict::shared::cluster.cluster; fence.release.sync_restrict::shared::cta.cluster;",
        "",
    );
}

#[test]
fn numbers_of_the_text() {
    let range = |most: u32, found: i64| format!("operand 1 must be an integer from 0 to {most}, found {found}");
    for wait in ["cp.async.wait_group", "cp.async.bulk.wait_group", "cp.async.bulk.wait_group.read"] {
        check(&format!("{wait} 4294967296;"), &range(u32::MAX, 1 << 32));
        check(&format!("{wait} -1;"), &range(u32::MAX, -1));
        check(&format!("{wait} 4294967295;"), "");
    }
    check("wgmma.wait_group.sync.aligned 8;", &range(7, 8));
    check("wgmma.wait_group.sync.aligned -1;", &range(7, -1));
    check("wgmma.wait_group.sync.aligned 7;", "");
    check("lop3.b32 %r0, %r1, %r2, %r3, 256;", "operand 5 must be an integer from 0 to 255, found 256");
}

#[test]
fn sizes_of_variables() {
    let check = |parameters: &str, statements: &str, expected: &str| {
        let found = Module::parse(&text(parameters, "", statements)).map_or_else(|e| e.to_string(), |_| String::new());
        assert_eq!(found, expected, "{parameters} {statements}");
    };
    let over = |place: &str, bytes: u64, name: &str| {
        format!("{place}: the {bytes} bytes of `{name}` do not fit into their space")
    };
    check(".param .b8 a[3000000000], .param .b8 b[3000000000]", "", &over("1:71", 3_000_000_000, "a"));
    check(".param .b8 a[4294967296]", "", &over("1:71", 1 << 32, "a"));
    check(".param .b8 a[32761], .param .b32 b", "", &over("1:93", 4, "b"));
    check(".param .b8 a[32760], .param .b32 b", "", "");
    check("", ".local .b8 l[524289];", &over("2:12", 524_289, "l"));
    check("", ".local .b8 l[524288];", "");
    check("", ".shared .b8 s[232449];", &over("2:13", 232_449, "s"));
    check("", ".shared .b8 s[232448];", "");
}

#[test]
fn launches() {
    let check = |bounds: &str, grid: [u32; 3], block: [u32; 3], expected: &str| {
        let module = Module::parse(&text("", bounds, "")).expect("a module");
        let launch = Launch::new("k", grid, block);
        let outcome = module.launch(&mut Memory::new(), &launch, &Options::default());
        let found = outcome.map_or_else(|e| e.to_string(), |_| String::new());
        assert_eq!(found, expected, "{bounds} {grid:?} {block:?}");
    };
    let most_blocks = "but must be at most [2147483647, 65535, 65535]";
    let most_threads = "but must be at most [1024, 1024, 64]";
    check("", [1 << 31, 1, 1], [1; 3], &format!("the grid is [2147483648, 1, 1], {most_blocks}"));
    check("", [1, 65536, 1], [1; 3], &format!("the grid is [1, 65536, 1], {most_blocks}"));
    check("", [1, 1, 65536], [1; 3], &format!("the grid is [1, 1, 65536], {most_blocks}"));
    check("", [1; 3], [1025, 1, 1], &format!("the block is [1025, 1, 1], {most_threads}"));
    check("", [1; 3], [1, 1, 65], &format!("the block is [1, 1, 65], {most_threads}"));
    check("", [1; 3], [1024, 2, 1], "the block is [1024, 2, 1], but must be 1 to 1024 threads");
    check("", [1; 3], [8, 2, 64], "");
    for bounds in [".maxntid 65536, 65536, 1", ".maxntid 4294967295, 1, 1"] {
        check(bounds, [1; 3], [1024, 1, 1], "");
    }
    check(
        ".maxntid 32, 2, 1",
        [1; 3],
        [65, 1, 1],
        "the block is [65, 1, 1], but must be at most [32, 2, 1], as `.maxntid` says",
    );
    let module = Module::parse(&text("", "", ".shared .b8 s[1001];")).expect("a module");
    let run = |shared| {
        let launch = Launch { shared, ..Launch::new("k", [1; 3], [1; 3]) };
        module.launch(&mut Memory::new(), &launch, &Options::default()).map_err(|e| e.to_string())
    };
    let most = "at most 232448 bytes with the 1008 static ones";
    assert_eq!(run(232_448 - 1008).map(|outcome| outcome.reports), Ok(Vec::new()));
    assert_eq!(run(232_448 - 1007).err(), Some(format!("shared memory is 231441, but must be {most}")));
}

#[test]
fn calls() {
    let check = |functions: &str, statements: &str, expected: &str| {
        let declarations = ".reg .b32 %r<4>; .reg .b64 %d<4>; .param .b32 a; .param .b64 b;";
        let text =
            format!(".version 8.0 .target sm_90a\n{functions}\n.entry k() {{ {declarations}\n{statements}\nret; }}");
        let found = Module::parse(&text).map_or_else(|e| e.to_string(), |_| String::new());
        assert_eq!(found, expected, "{functions} {statements}");
    };
    let f = ".func (.param .b32 y) f(.param .b32 x) { ret; }";
    check(f, "call (a), f, (a);", "");
    check(f, "call (%r0), f, (5);", "");
    check(f, "call f, (a);", "4:1: 1 results were expected, found 0");
    check(f, "call (a), f, (a, a);", "4:1: 1 arguments were expected, found 2");
    check(f, "call (a), f, (b);", "4:1: argument 1 must have 4 bytes, found 8");
    check(f, "call (%d0), f, (a);", "4:1: result 1 must have 4 bytes, found 8");
    check(f, "call (5), f, (a);", "4:1: a result of a call must be a register or a parameter variable");
    check(f, "call (a), f, ({%r0, %r1});", "4:1: a value was expected, found a vector");
    check(
        ".func f();",
        "call f;",
        "4:1: the function `f` has no body: of those without one, `vprintf` and `__assertfail` are simulated",
    );
    check(".func f() { call f; }", "call f;", "2:13: recursion is not simulated: f calls f");
    check(
        ".func f(); .func g() { call f; } .func f() { call g; }",
        "call g;",
        "2:46: recursion is not simulated: g calls f calls g",
    );
    // What is never called may be anything.
    check(".func f() { call f; }", "", "");
    let chain: String = (0..70).map(|i| format!(".func f{i}(); .func f{} () {{ call f{i}; }}", i + 1)).collect();
    check(&(chain + ".func f0() { ret; }"), "call f5;", "");
    let chain: String = (0..70).map(|i| format!(".func f{i}();\n.func f{} () {{ call f{i}; }}", i + 1)).collect();
    check(&(chain + ".func f0() { ret; }"), "call f70;", "9:15: calls are nested deeper than 64");
}
