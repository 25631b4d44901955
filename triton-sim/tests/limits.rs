//! Where a launch is stopped: a livelock is proven, and a limit is said to be one.

use triton_sim::{Arg, Fault, Launch, Memory, Module, Options, Outcome, Report};

/// Runs a kernel with one buffer of 64 bytes, `%d0`; the statements begin at line 3.
fn launch(grid: u32, block: u32, statements: &str, options: &Options) -> (Outcome, Vec<u8>) {
    let text = format!(
        ".version 8.0 .target sm_90a .entry k(.param .u64 p0) {{ .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p<4>;\n\
         ld.param.u64 %d0, [p0];\n{statements}\nret; }}"
    );
    let module = Module::parse(&text).expect("a module");
    let mut memory = Memory::new();
    let buffer = memory.alloc(64).expect("a buffer");
    let launch = Launch { args: vec![Arg::Bits(buffer)], ..Launch::new("k", [grid, 1, 1], [block, 1, 1]) };
    let outcome = module.launch(&mut memory, &launch, options).expect("a launch");
    let bytes = memory.read(buffer, 64).expect("the buffer").to_vec();
    (outcome, bytes)
}

fn only(outcome: &Outcome) -> &Report {
    assert_eq!(outcome.reports.len(), 1, "{:?}", outcome.reports);
    &outcome.reports[0]
}

/// Counts to a number in a register: three instructions an iteration.
fn count(to: u32) -> String {
    format!(
        "mov.b32 %r0, 0;\nL: add.u32 %r0, %r0, 1;\nsetp.lt.u32 %p0, %r0, {to};\n@%p0 bra L;\nst.global.u32 [%d0], %r0;"
    )
}

#[test]
fn a_long_loop_that_ends_is_no_livelock() {
    let (outcome, bytes) = launch(1, 32, &count(4_000_000), &Options::default());
    assert!(outcome.reports.is_empty(), "{:?}", outcome.reports);
    assert_eq!(bytes[..4], 4_000_000u32.to_le_bytes());
}

#[test]
fn a_limit_is_said_to_be_one() {
    let options = Options { idle_limit: 3000, ..Options::default() };
    let (outcome, _) = launch(1, 32, &count(4000), &options);
    let report = only(&outcome);
    assert_eq!(report.fault.name(), "limit");
    assert!((4..=6).contains(&report.site.pos.line), "{report}");
    let Fault::Limit { option, limit, idle, ran, waits } = &report.fault else { panic!("{report}") };
    assert_eq!((*option, *limit), ("idle_limit", 3000));
    assert!(*idle > 3000 && idle <= ran && *ran < 4000, "{report}");
    assert_eq!(waits.len(), 1);
    let turns: u64 = waits[0].reason.split(' ').find_map(|word| word.parse().ok()).expect("the number of turns");
    assert!((1000..1300).contains(&turns), "{report}");
    let text = report.to_string();
    assert!(text.contains("`idle_limit`") && text.contains("3000") && text.contains("raise"), "{text}");
    // Raised as the message says, it ends.
    let options = Options { idle_limit: 20_000, ..Options::default() };
    assert!(launch(1, 32, &count(4000), &options).0.reports.is_empty());
}

#[test]
fn a_loop_whose_state_changes_is_not_proven_endless() {
    // It ends when the counter overflows to 0: after 2^32 iterations.
    let statements = "mov.b32 %r0, 1;\nL: add.u32 %r0, %r0, 1;\nsetp.ne.u32 %p0, %r0, 0;\n@%p0 bra L;";
    let options = Options { idle_limit: 1_000_000, ..Options::default() };
    let (outcome, _) = launch(1, 32, statements, &options);
    assert_eq!(only(&outcome).fault.name(), "limit");
}

#[test]
fn a_launch_that_is_wrong_need_not_end() {
    let statements = "mov.b32 %r1, 0;\ndiv.s32 %r2, %r1, %r1;\nmov.b32 %r0, 1;\nL: add.u32 %r0, %r0, 1;\nsetp.ne.u32 %p0, %r0, 0;\n@%p0 bra L;";
    let options = Options { after_report: 1000, ..Options::default() };
    let (outcome, _) = launch(1, 32, statements, &options);
    let [division, stopped] = &outcome.reports[..] else { panic!("{:?}", outcome.reports) };
    assert_eq!((division.fault.name(), stopped.fault.name()), ("operand", "limit"));
    let Fault::Limit { option, ran, .. } = &stopped.fault else { panic!("{stopped}") };
    assert_eq!(*option, "after_report");
    assert!((1000..5000).contains(ran), "{stopped}");
}

#[test]
fn all_instructions_of_a_launch_have_a_limit() {
    // Memory changes in every iteration.
    let statements = "mov.b32 %r0, 0;\nL: add.u32 %r0, %r0, 1;\nst.global.u32 [%d0], %r0;\nbra L;";
    let options = Options { max_instructions: 10_000, ..Options::default() };
    let (outcome, _) = launch(1, 1, statements, &options);
    let Fault::Limit { option, limit, ran, .. } = &only(&outcome).fault else { panic!("{:?}", outcome.reports) };
    assert_eq!((*option, *limit), ("max_instructions", 10_000));
    assert!((10_000..11_000).contains(ran));
}

/// No limit ends these.
fn livelock(grid: u32, block: u32, statements: &str) {
    for seed in 1..=3 {
        let options = Options { seed, idle_limit: u64::MAX, max_instructions: u64::MAX, ..Options::default() };
        let (outcome, _) = launch(grid, block, statements, &options);
        let report = only(&outcome);
        assert_eq!(report.fault.name(), "livelock", "{report}");
        let text = report.to_string();
        assert!(text.contains("can never end"), "{text}");
    }
}

#[test]
fn a_loop_that_changes_nothing_is_proven_endless() {
    livelock(1, 1, "L: bra L;");
    // A cycle of four iterations; the store writes what is there.
    livelock(1, 32, "mov.b32 %r0, 0;\nL: add.u32 %r0, %r0, 1;\nand.b32 %r0, %r0, 3;\nst.global.u32 [%d0], 0;\nbra L;");
    // Every thread waits for a flag, one of them at a barrier.
    livelock(
        2,
        64,
        "mov.u32 %r1, %tid.x;\nsetp.ge.u32 %p1, %r1, 32;\n@%p1 bra W;\n\
         L: ld.relaxed.gpu.global.u32 %r0, [%d0];\nsetp.eq.u32 %p0, %r0, 0;\n@%p0 bra L;\nW: bar.sync 0;",
    );
    // Halves of a warp in loops of their own, of 2 and 5 instructions.
    livelock(
        1,
        32,
        "mov.u32 %r1, %tid.x;\nsetp.ge.u32 %p1, %r1, 16;\n@%p1 bra M;\nL: xor.b32 %r0, %r1, 1;\nbra L;\n\
         M: xor.b32 %r2, %r1, 1;\nxor.b32 %r2, %r1, 2;\nxor.b32 %r2, %r1, 3;\nxor.b32 %r2, %r1, 4;\nbra M;",
    );
}

#[test]
fn waiting_for_the_clock_is_no_livelock() {
    let statements = "mov.u64 %d1, %clock64;\nadd.u64 %d1, %d1, 300000;\n\
                      L: mov.u64 %d2, %clock64;\nsetp.lt.u64 %p0, %d2, %d1;\nmov.b64 %d2, 0;\n@%p0 bra L;";
    let (outcome, _) = launch(1, 64, statements, &Options::default());
    assert!(outcome.reports.is_empty(), "{:?}", outcome.reports);
}
