//! Texts that are refused, and what is said about them.

use triton_sim::parse::parse;

/// What a literal of floating point is.
const FLOAT: &str = "`0f` and 8 or `0d` and 16 hexadecimal digits, or a finite decimal fraction";

fn check(text: &str, expected: &str) {
    match parse(text) {
        Ok(_) => panic!("this is not refused:\n{text}"),
        Err(error) => assert_eq!(error.to_string(), expected, "{text}"),
    }
}

/// Statements of a kernel; their first line is line 2.
fn check_body(statements: &str, expected: &str) {
    let declarations = ".reg .b32 %r<4>; .reg .b64 %d<4>; .reg .f32 %total; .reg .pred %p<2>; .shared .b8 tile[64];";
    let head =
        ".version 8.0 .target sm_90a .extern .func (.param .b32 n) vprintf(.param .b64 a); .global .b32 counter;";
    check(&format!("{head} .entry k(.param .u64 x) {{ {declarations}\n{statements}\nret; }}"), expected);
}

/// Declarations of a module; they are line 2.
fn check_module(declarations: &str, expected: &str) {
    check(&format!(".version 8.0 .target sm_90a\n{declarations}"), expected);
}

#[test]
fn the_header() {
    check("", "1:1: expected `.version`, found the end of the text");
    check("// nothing\n", "2:1: expected `.version`, found the end of the text");
    check(".target sm_90a", "1:1: expected `.version`, found `.target`");
    check(".version eight", "1:10: expected a version such as `8.0`, found `eight`");
    check(".version 8", "1:10: expected a version such as `8.0`, found `8`");
    check(".version 8.0\n.entry k() { ret; }", "2:1: expected `.target`, found `.entry`");
    check(".version 8.0 .target compute_90", "1:22: expected a target such as `sm_90a`, found `compute_90`");
    check(".version 8.0 .target sm_90, fast", "1:29: expected an option of the target, found `fast`");
    check(".version 8.0 .target sm_90 .address_size 32", "1:42: expected `64`, found `32`");
}

#[test]
fn characters() {
    check_body("mov.b32 %r0, é;", "2:14: unexpected character `é`");
    check_body("mov.b32 %r0, \u{1};", "2:14: unexpected character `\\u{1}`");
    check_body("mov.b32 . %r0, 1;", "2:9: expected a word after the dot");
    check_body("/* ä */ mov.b32 %r0 1;", "2:21: expected `,` or `;`, found `1`");
    check_module("/* without", "2:1: this comment has no end");
    check_module(".file 1 \"a\n\"", "2:9: this string does not end in its line");
    check_module(".visible /*", "2:10: this comment has no end");
}

#[test]
fn declarations_of_a_module() {
    check_module(".globl .b32 x;", "2:1: expected a directive, found `.globl`");
    check_module("; ", "2:1: expected a directive, found `;`");
    check_module(".visible .weak .global .b32 x;", "2:10: expected a variable, a kernel or a function, found `.weak`");
    check_module(".local .b32 x;", "2:1: `.local` variables can only be declared in a kernel");
    check_module(".global .b32 x; .const .f32 x;", "2:29: `x` is already declared");
    check_module(".global .b32 k; .entry k() { ret; }", "2:24: `k` is already declared");
    check_module(".global x;", "2:9: expected a type, found `x`");
    check_module(".global .v4 .f32 x;", "2:9: expected a type, found `.v4`");
    check_module(".global .pred x;", "2:9: a predicate can only be a register");
    check_module(".global .b32 x[];", "2:14: `x` has no extent");
    check_module(".global .b32 x[0];", "2:16: expected an extent from 1 to 4294967296, found 0");
    check_module(".global .b32 x[-1];", "2:16: expected an extent from 1 to 4294967296, found -1");
    check_module(".global .b32 x[2][];", "2:19: expected a number, found `]`");
    check_module(".global .b8 x[65536][65537];", "2:13: `x` has more than 4294967296 bytes");
    check_module(".global .b8 x[4294967296][4294967296][2];", "2:13: `x` has more than 4294967296 bytes");
    check_module(".global .b8 x[1][1][1][1][1][1][1][1][1];", "2:39: an array has at most 8 dimensions");
    check_module(".global .align 3 .b32 x;", "2:16: expected a power of two as alignment, found `3`");
    check_module(".global .align 0 .b32 x;", "2:16: expected an alignment from 1 to 1048576, found `0`");
    check_module(".global .b32 x .b32 y;", "2:16: expected `,` or `;`, found `.b32`");
    check_module(".file 1 \"a\" .file 1 \"b\"", "2:13: file 1 is already declared");
    check_module(".func f() { ret; } .func f() { ret; }", "2:26: the function `f` already has a body");
    check_module(".func f() .fast { ret; }", "2:11: expected `;`, `{` or a directive of a function, found `.fast`");
    check_module(".func f(.reg .u32 x, .param .b32 x) { ret; }", "2:34: `x` is already declared");
    check_module(".func f(.reg .u32 x) { mov.u32 x, y; }", "2:35: `y` is not declared");
    check_module(".section .debug_str { .b8 1", "2:28: expected `}`, found the end of the text");
}

#[test]
fn initial_values() {
    check_module(".global .b8 x = 256;", "2:17: `256` is not a value of type `.b8`");
    check_module(".global .b8 x = -129;", "2:17: `-129` is not a value of type `.b8`");
    check_module(".global .f32 x = 1;", "2:18: `1` is not a value of type `.f32`");
    check_module(".global .b32 x = 1.5;", "2:18: `1.5` is not a value of type `.b32`");
    check_module(".global .f16 x = 0;", "2:18: `0` is not a value of type `.f16`");
    check_module(".global .b32 x[2] = {1, 2, 3};", "2:28: more initial values than the 2 elements");
    check_module(".global .b32 x[2][2] = {1, 2};", "2:25: expected `{`, found `1`");
    check_module(".global .b32 x[2] = 1;", "2:21: expected `{`, found `1`");
    check_module(".global .b32 x[] = {};", "2:14: `x` has no extent");
    check_module(".global .b32 x = {1};", "2:18: expected a number as initial value, found `{`");
    check_module(".global .u64 x = y;", "2:18: expected a number as initial value, found `y`");
    check_module(".global .b8 x[2] = \"ab\";", "2:20: expected `{`, found \"ab\"");
    check_module(".shared .b32 x = 1;", "2:16: `x` cannot have an initial value");
    check_module(".extern .global .b32 x = 1;", "2:24: `x` cannot have an initial value");
    let other = "`x` is already declared with another space, type or extent, in line 2";
    check_module(".extern .global .b32 x; .global .b64 x;", &format!("2:38: {other}"));
    check_module(".extern .global .b8 x[4]; .extern .global .b8 x[8];", &format!("2:47: {other}"));
    check_module(
        ".global .b8 x[3][100000000] = {{1}, {2}};",
        "2:38: the initial values of the module have more than 67108864 bytes",
    );
}

#[test]
fn kernels() {
    check_module(".entry () { ret; }", "2:8: expected the name of a kernel, found `(`");
    check_module(".entry k(.u64 a) { ret; }", "2:10: expected `.param`, found `.u64`");
    check_module(".entry k(.param .u64 a .param .u64 b) { ret; }", "2:24: expected `,` or `)`, found `.param`");
    check_module(".entry k(.param .u64 a, .param .u64 a) { ret; }", "2:37: `a` is already declared");
    check_module(".entry k(.param .b8 a[]) { ret; }", "2:21: `a` has no extent");
    check_module(".entry k(.param .u64 .ptr .param a) { ret; }", "2:27: expected a name, found `.param`");
    check_module(".entry k();", "2:11: expected `{` or a directive of a kernel, found `;`");
    check_module(".entry k() .reqntid 32 .reqntid 32 { ret; }", "2:24: `.reqntid` is already given");
    check_module(".entry k() .reqntid 1, 2, 3, 4 { ret; }", "2:28: expected `{` or a directive of a kernel, found `,`");
    check_module(".entry k() .reqntid 0 { ret; }", "2:21: expected a number from 1 to 4294967295, found `0`");
    check_module(".entry k() .maxnreg { ret; }", "2:21: expected a number, found `{`");
    check_module(".entry k() .fast { ret; }", "2:12: expected `{` or a directive of a kernel, found `.fast`");
    check_module(".entry k() { ret;", "2:18: expected a statement or `}`, found the end of the text");
    check_module(".entry k() { ret; } }", "2:21: expected a directive, found `}`");
}

#[test]
fn registers() {
    check_body(".reg .b32 %r2;", "2:11: `%r2` is already declared");
    check_body(".reg .b32 %r1<3>, %r11;", "2:19: `%r11` is already declared");
    check_body(".reg .b32 x;", "2:11: `x` is already declared");
    check_body(".reg .b32 %q<4000000000>;", "2:14: expected a number of registers from 1 to 65536, found `4000000000`");
    check_body(".reg .b32 %q<0>;", "2:14: expected a number of registers from 1 to 65536, found `0`");
    check_body(
        ".reg .b32 %q<60000>;\n.reg .b32 %s<60000>;",
        "3:11: more than 65536 registers in a kernel or 1048576 in a module",
    );
    check_body(".reg .b32 %q<3;", "2:15: expected `>`, found `;`");
    check_body(".reg .v3 .f32 %q;", "2:6: expected a type, found `.v3`");
    check_body(".reg .v4 .b64 %q;", "2:10: a vector has at most 128 bits, and no predicates");
    check_body(".reg .v2 .pred %q;", "2:10: a vector has at most 128 bits, and no predicates");
    check_body(
        ".reg .v2 .b32 %q;\nmov.b32 %q.z, 1;",
        "3:11: expected one of the 2 components of the vector, from `.x`, found `.z`",
    );
    check_body(".reg .v4 .b32 %q<20000>;", "2:15: more than 65536 registers in a kernel or 1048576 in a module");
    check_body(".reg .b32 %laneid;", "2:11: `%laneid` is the name of a special register");
    check_body(".reg .b32 _;", "2:11: expected the name of a register, found `_`");
    check_body("mov.b32 %r0, %r7;", "2:14: register `%r7` is not declared");
    check_body("mov.b32 %r0, %r01;", "2:14: register `%r01` is not declared");
    check_body("{ .reg .b32 %q; } mov.b32 %q, 1;", "2:27: register `%q` is not declared");
    check_body("mov.f32 %totl, 0f00000000;", "2:9: register `%totl` is not declared; did you mean `%total`?");
    check_body("mov.b32 %r0, %tidx;", "2:14: register `%tidx` is not declared; did you mean `%tid.x`?");
    check_body("mov.b32 %r0, %ctaidx.x;", "2:14: register `%ctaidx.x` is not declared; did you mean `%ctaid.x`?");
    check_body("mov.b32 %r0, %tid;", "2:18: expected `.x`, `.y` or `.z` of `%tid`, found `;`");
    check_body("mov.b32 %r0, %tid.w;", "2:18: expected `.x`, `.y` or `.z` of `%tid`, found `.w`");
    check_body("mov.b32 %r0, %laneid.x;", "2:21: expected `,` or `;`, found `.x`");
    check_body("mov.b32 %r0, %lanemask;", "2:14: register `%lanemask` is not declared; did you mean `%lanemask_eq`?");
}

#[test]
fn blocks_and_labels() {
    check_body("bra DONE;", "2:5: `DONE` is not declared");
    check_body("bra L; { L: ret; }", "2:5: `L` is not declared");
    check_body("LOOP: bra LOP;", "2:11: `LOP` is not declared; did you mean `LOOP`?");
    check_body("L: ret; L: ret;", "2:9: `L` is already declared");
    check_body("x: ret;", "2:1: `x` is already declared");
    check_body("{ .local .b32 L; L: ret; }", "2:15: `L` is also a label of this block");
    check_body("{ L: ret; .reg .b32 L; }", "2:21: `L` is also a label of this block");
    check_body("_: ret;", "2:1: expected a label, found `_`");
    check_body("@%p0 L: ret;", "2:6: expected an instruction, found `L`");
    check_body("@%p0 l: ret;", "2:7: expected an operand, found `:`");
    check_body(&"{ ".repeat(64), "2:127: blocks are nested deeper than 64");
    check_body(".const .b32 y;", "2:1: `.const` variables can only be declared outside kernels");
    check_body(
        ".global .b32 y; add.u32 y, y, 1; } .entry l() { mov.b64 %d0, y;",
        "2:57: register `%d0` is not declared",
    );
    check_body(".global .b32 y; .global .b32 y;", "2:30: `y` is already declared");
    check_body(".local .b32 tile;", "2:13: `tile` is already declared");
    check_body(".branchtargets L;", "2:1: expected a statement or `}`, found `.branchtargets`");
    check_body(".loc 1;", "2:7: expected a line, found `;`");
    check_body(".loc 1 2 3;", "2:11: expected a statement or `}`, found `;`");
    check_body(".pragma nounroll;", "2:9: expected a text, found `nounroll`");
}

#[test]
fn instructions() {
    check_body(";", "2:1: expected a statement or `}`, found `;`");
    check_body("%r0 = 1;", "2:1: expected a statement or `}`, found `%r0`");
    check_body("mov.b32 %r0, 1\nmov.b32 %r1, 2;", "3:1: expected `,` or `;`, found `mov`");
    check_body("mov.b32 %r0, , 1;", "2:14: expected an operand, found `,`");
    check_body("mov.b32 %r0, ;", "2:14: expected an operand, found `;`");
    check_body("mov.b32 %r0, vprintf;", "2:14: `vprintf` is a function, not an operand");
    check_body("mov.b64 %d0, k;", "2:14: `k` is a kernel, not an operand");
    check_body("@%r0 ret;", "2:2: expected a predicate, found `%r0`");
    check_body("@!%q ret;", "2:3: register `%q` is not declared");
    check_body("@%p0;", "2:5: expected an instruction, found `;`");
    check_body("and.pred %p0, !%r0, %p1;", "2:16: expected a predicate, found `%r0`");
    check_body("setp.eq.s32 %p0|1, %r0, %r1;", "2:17: expected a register, found `1`");
    check_body("mov.b64 %d0, {%r0, {%r1}};", "2:20: expected a register or a number, found `{`");
    check_body("mov.b64 %d0, {%r0, tile};", "2:20: expected a register or a number, found `tile`");
    check_body("mov.b64 %d0, {};", "2:15: expected a register or a number, found `}`");
    check_body("mov.b64 %d0, {%r0;", "2:18: expected `,` or `}`, found `;`");
    check_body("ld.global.b32 %r0, [%d0;", "2:24: expected `,` or `]`, found `;`");
    check_body("ld.global.b32 %r0, [%d0+%d1];", "2:25: expected a number, found `%d1`");
    check_body("ld.global.b32 %r0, [_];", "2:21: expected an address, found `_`");
    check_body("ld.global.b32 %r0, [1.5];", "2:21: expected an address, found `1.5`");
    check_body("ld.global.b32 %r0, [%d0, %r1];", "2:26: expected `{`, found `%r1`");
    check_body("ld.shared.b32 %r0, tile+4;", "2:24: expected `,` or `;`, found `+`");
    check_body("call printf, (%d0);", "2:6: function `printf` is not declared");
    check_body("call %d0, (%d1);", "2:6: indirect calls are not simulated: a call must name its function");
    check_body("call vprintf, %d0;", "2:15: expected `(`, found `%d0`");
    check_body("call (%r0) vprintf, (%d0);", "2:12: expected `,`, found `vprintf`");
    check_body("call vprintf, (%d0), proto;", "2:20: expected `;`, found `,`");
}

#[test]
fn numbers() {
    check_body("mov.b64 %d0, 18446744073709551616;", "2:14: `18446744073709551616` is not a number of at most 64 bits");
    check_body("mov.b32 %r0, 0x;", "2:14: `0x` is not a number of at most 64 bits");
    check_body("mov.b32 %r0, 089;", "2:14: `089` is not a number of at most 64 bits");
    check_body("mov.b32 %r0, 12abc;", "2:14: `12abc` is not a number of at most 64 bits");
    check_body("mov.f32 %r0, 0f3F8;", &format!("2:14: expected {FLOAT}, found `0f3F8`"));
    check_body("mov.f32 %r0, 1e999;", &format!("2:14: expected {FLOAT}, found `1e999`"));
    check_body("mov.f32 %r0, 1.5+2;", "2:17: expected `,` or `;`, found `+`");
    check_body("mov.f32 %r0, 2+1.5;", "2:16: expected an integer, found `1.5`");
    check_body("mov.b32 %r0, 1/0;", "2:15: `1 / 0` has no value of 64 bits");
    check_body("mov.b32 %r0, 1<<64;", "2:15: `1 << 64` has no value of 64 bits");
    check_body("mov.b32 %r0, 1< <2;", "2:15: expected `,` or `;`, found `<`");
    check_body("mov.b32 %r0, -0x8000000000000001;", "2:14: this integer does not fit 64 bits");
    check_body("mov.b32 %r0, (1;", "2:16: expected `)`, found `;`");
    check_body(&format!("mov.b32 %r0, {}1;", "(".repeat(40)), "2:46: constants are nested deeper than 32");
    check_body(&format!("mov.b32 %r0, {}1;", "-".repeat(40)), "2:46: constants are nested deeper than 32");
}
