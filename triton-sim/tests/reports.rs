//! One report for what is one mistake, with how often it was found.

use triton_sim::{Arg, Launch, Memory, Module, Options, Report};

/// The reports of a kernel with one buffer, `%d0`, whose blocks are `%r0` and threads `%r1`.
fn reports(grid: u32, block: u32, statements: &str) -> Vec<Report> {
    let text = format!(
        ".version 8.0 .target sm_90a .file 1 \"kernel.rs\"\n\
         .entry k(.param .u64 p0) {{ .reg .b32 %r<9>; .reg .b64 %d<9>;\n\
         ld.param.u64 %d0, [p0]; mov.u32 %r0, %ctaid.x; mov.u32 %r1, %tid.x;\n{statements}\nret; }}"
    );
    let module = Module::parse(&text).expect("a module");
    let mut memory = Memory::new();
    let args = vec![Arg::Bits(memory.alloc(4096).expect("a buffer"))];
    let launch = Launch { args, ..Launch::new("k", [grid, 1, 1], [block, 1, 1]) };
    module.launch(&mut memory, &launch, &Options::default()).expect("a launch").reports
}

#[test]
fn an_instruction_is_reported_once_for_all_blocks() {
    let reports = reports(8, 1, "st.global.u32 [%d0], %r0;");
    let [report] = &reports[..] else { panic!("{reports:?}") };
    // The first block finds nothing, each other one the block before.
    assert_eq!(report.fault.name(), "race");
    assert_eq!((report.repeats.times, report.repeats.blocks, report.repeats.instructions), (6, 6, 0));
    let text = report.to_string();
    assert!(text.ends_with("; found 6 times more, in 6 other blocks"), "{text}");
}

#[test]
fn lanes_of_a_block_are_counted() {
    // Each warp reads a register that it has not written.
    let reports = reports(1, 128, "mad.wide.u32 %d1, %r1, 4, %d0;\nst.global.u32 [%d1], %r5;");
    let [report] = &reports[..] else { panic!("{reports:?}") };
    assert_eq!(report.fault.name(), "uninitialized-register");
    assert_eq!((report.repeats.times, report.repeats.blocks, report.repeats.instructions), (3, 0, 0));
    let text = report.to_string();
    assert!(text.ends_with("; found 3 times more"), "{text}");
}

#[test]
fn what_one_place_in_the_source_became_is_one_mistake() {
    let store = |i: u32| format!("st.global.u32 [%d0+{}], %r0;\n", 4 * i);
    let stores: String = (0..8).map(store).collect();
    let found = reports(2, 1, &format!(".loc 1 7 5\n{stores}"));
    let [report] = &found[..] else { panic!("{found:?}") };
    assert_eq!((report.repeats.times, report.repeats.blocks, report.repeats.instructions), (7, 0, 7));
    let text = report.to_string();
    assert!(text.ends_with("; found 7 times more, in 7 other instructions of this source location"), "{text}");
    // Without a source location, and at other locations, each is its own.
    assert_eq!(reports(2, 1, &stores).len(), 8);
    let apart = format!(".loc 1 7 5\n{}.loc 1 7 9\n{}", store(0), store(1));
    assert_eq!(reports(2, 1, &apart).len(), 2);
    // Code of an inlined function is at its own location, whichever call it is of.
    let inlined = |call: u32| format!(".loc 1 7 5, function_name $F0, inlined_at 1 {call} 9\n{}", store(call));
    assert_eq!(reports(2, 1, &format!("{}{}", inlined(2), inlined(3))).len(), 1);
    // Another operation of the location is another mistake, and so is another fault.
    let vector = "st.global.v2.u32 [%d0+8], {%r0, %r0};\n";
    assert_eq!(reports(2, 1, &format!(".loc 1 7 5\n{}{vector}", store(0))).len(), 2);
    let unwritten = "st.global.u32 [%d0+64], %r5;\n";
    let found = reports(2, 1, &format!(".loc 1 7 5\n{}{unwritten}", store(0)));
    let names: Vec<_> = found.iter().map(|report| report.fault.name()).collect();
    assert_eq!(names, ["uninitialized-register", "race"]);
}

#[test]
fn different_mistakes_have_a_limit() {
    let stores: String = (0..100).map(|i| format!("st.global.u32 [%d0+{}], %r0;\n", 4 * i)).collect();
    assert_eq!(reports(2, 1, &stores).len(), Options::default().max_reports);
}
