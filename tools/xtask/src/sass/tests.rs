//! Short listings, and what is counted in them.

use super::{instruction_text, profile};

/// A listing of code whose lines are labels and instructions.
fn listing(code: &str) -> String {
    let lines = code.lines().map(str::trim).filter(|line| !line.is_empty()).enumerate();
    lines
        .map(
            |(at, line)| {
                if line.ends_with(':') {
                    format!("{line}\n")
                } else {
                    format!("        /*{:04x}*/  {line} ;\n", 16 * at)
                }
            },
        )
        .collect()
}

/// `PATH / LOOP / BARRIERS`.
fn counted(code: &str) -> String {
    let found = profile(&listing(code)).expect("a profile");
    let innermost = found.innermost.map_or("none".to_owned(), |counts| counts.to_string());
    format!("{} / {innermost} / {}", found.path, found.barriers)
}

/// The name of a case, its code, and what is counted.
const CASES: &[(&str, &str, &str)] = &[
    (
        "what follows the exit, and NOPs, do not count",
        "MOV R1, c[0x0][0x28]
        @!P0 EXIT
        BAR.SYNC.DEFER_BLOCKING 0x0
        NOP
        @!UPT NOP
        EXIT
        .L_x_0:
        BRA `(.L_x_0)
        NOP",
        "4: move 1, barrier 1, control 2 / none / 1",
    ),
    (
        "a conditional branch falls through, an unconditional one is followed",
        "@P0 BRA `(.L_x_0)
        FADD R0, R1, R2
        BRA `(.L_x_1)
        .L_x_0:
        MUFU.EX2 R0, R1
        .L_x_1:
        STG.E [R2.64], R0
        EXIT",
        "5: float 1, global 1, control 3 / none / 0",
    ),
    (
        "a slow path is left out",
        "MUFU.RCP R1, R0
        FCHK P0, R2, R0
        @!P0 BRA `(.L_x_0)
        MOV R4, 0x80
        CALL.REL.NOINC `($__internal_0_$__cuda_sm3x_div_rn_noftz_f32_slowpath)
        .L_x_0:
        FMUL R1, R1, R2
        EXIT
        $__internal_0_$__cuda_sm3x_div_rn_noftz_f32_slowpath:
        SHF.R.U32.HI R5, RZ, 0x17, R0
        RET.REL.NODEC R4 `(kernel)",
        "5: float 2, special 1, control 2 / none / 0",
    ),
    (
        "a loop that is skipped stays, although a slow path within it calls",
        "@P0 BRA `(.L_x_2)
        .L_x_0:
        @P1 BRA `(.L_x_1)
        CALL.REL.NOINC `($slow)
        .L_x_1:
        FFMA R0, R1, R2, R0
        @!P0 BRA `(.L_x_0)
        .L_x_2:
        EXIT
        $slow:
        RET.REL.NODEC R4 `(kernel)",
        "5: float 1, control 4 / 3: float 1, control 2 / 0",
    ),
    (
        "the innermost loop is the longest that contains no other",
        ".L_x_0:
        IADD3 R0, R0, 0x1, RZ
        .L_x_1:
        HMMA.16816.F32 R4, R8, R10, R4
        LDSM.16.M88.4 R8, [R12]
        @P0 BRA `(.L_x_1)
        @P1 BRA `(.L_x_0)
        .L_x_2:
        FADD R0, R0, R1
        @P2 BRA `(.L_x_2)
        EXIT",
        "8: float 1, tensor 1, shared 1, integer 1, control 4 / 3: tensor 1, shared 1, control 1 / 0",
    ),
    (
        "a loop may be left by a call of a label, and ended by an unconditional branch",
        "@P0 BRA `(.L_x_1)
        .L_x_0:
        IMMA.16832.S8.S8 R4, R8.ROW, R10.COL, R4
        @!P0 CALL.REL.NOINC `(.L_x_1)
        BRA `(.L_x_0)
        .L_x_1:
        EXIT",
        "5: tensor 1, control 4 / 3: tensor 1, control 2 / 0",
    ),
    (
        "a rare case past the exit that branches back makes no loop",
        "@P0 BRA `(.L_x_1)
        .L_x_0:
        STS [R0], R1
        EXIT
        .L_x_1:
        MOV R1, RZ
        BRA `(.L_x_0)",
        "3: shared 1, control 2 / none / 0",
    ),
    (
        "a branch may have its condition as an operand",
        "@!P2 BRA !P0, `(.L_x_0)
        BRA.DIV UR4, `(.L_x_0)
        UIADD3 UR4, UR4, 0x1, URZ
        .L_x_0:
        EXIT",
        "4: uniform 1, control 3 / none / 0",
    ),
];

#[test]
fn paths_and_loops_are_counted() {
    for (name, code, expected) in CASES {
        assert_eq!(counted(code), *expected, "{name}");
    }
}

#[test]
fn what_is_unknown_is_named() {
    let error = |code: &str| profile(&listing(code)).expect_err("an error");
    assert!(error("FROB R0, R1\nEXIT").contains("`FROB` has no class"), "{}", error("FROB R0, R1\nEXIT"));
    assert_eq!(error("BRA `(.L_x_0)\nEXIT"), "`BRA `(.L_x_0)`: the label is missing");
}

#[test]
fn only_lines_with_an_address_are_instructions() {
    assert_eq!(instruction_text("/*0010*/              @!P0 BRA `(.L_x_3) ;"), Some("@!P0 BRA `(.L_x_3)"));
    assert_eq!(instruction_text(".section .text.kernel,\"ax\",@progbits"), None);
    assert_eq!(instruction_text("/* a comment; */ .byte 1"), None);
}

#[test]
fn stalls_are_named_inside_the_loop_alone() {
    let code = "MEMBAR.SC.SYS
        .L_x_0:
        MEMBAR.ALL.GPU
        FFMA R0, R1, R2, R0
        LDL R1, [R3]
        MEMBAR.ALL.CTA
        FENCE.VIEW.ASYNC.S
        @!P0 BRA `(.L_x_0)
        CCTL.IVALL
        EXIT";
    assert_eq!(profile(&listing(code)).expect("a profile").stalls, ["MEMBAR.ALL.GPU", "LDL"]);
}
