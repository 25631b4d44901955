//! What the simulator needs does not grow with the blocks of a grid that have ended.

use triton_sim::{Arg, Launch, Memory, Module, Options, Outcome};

/// The most memory that this process has had, in bytes; none where the system does not say.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? * 1024)
}

fn launch(grid: u32, statements: &str, options: &Options) -> Outcome {
    let text = format!(
        ".version 8.0 .target sm_90a .entry k(.param .u64 p0) {{ .reg .b32 %r<2>; .reg .b64 %d<1>; .shared .b32 s;\n\
         {statements}\nret; }}"
    );
    let module = Module::parse(&text).expect("a module");
    let mut memory = Memory::new();
    let args = vec![Arg::Bits(memory.alloc(64).expect("a buffer"))];
    let launch = Launch { args, ..Launch::new("k", [grid, 1, 1], [1, 1, 1]) };
    module.launch(&mut memory, &launch, options).expect("a launch")
}

#[test]
fn blocks_that_have_ended_cost_no_memory() {
    // What one block and the machine need, and some blocks do not end at once.
    launch(100, "", &Options::default());
    let before = peak();
    // Of the largest grid, only a few blocks run.
    let options = Options { max_instructions: 1000, ..Options::default() };
    let outcome = launch(i32::MAX as u32, "", &options);
    assert_eq!(outcome.reports.iter().map(|r| r.fault.name()).collect::<Vec<_>>(), ["limit"]);
    let outcome = launch(1 << 18, "", &Options::default());
    assert!(outcome.reports.is_empty(), "{:?}", outcome.reports);
    // Each releases in its own scope and its own shared memory.
    let statements = "ld.param.u64 %d0, [p0];\nmov.u32 %r0, s;\nst.release.cta.shared.b32 [%r0], 1;\n\
                      atom.acq_rel.cta.shared.exch.b32 %r1, [%r0], 2;\nred.relaxed.gpu.global.add.u32 [%d0], 1;";
    let outcome = launch(1 << 16, statements, &Options::default());
    assert!(outcome.reports.is_empty(), "{:?}", outcome.reports);
    if let (Some(before), Some(after)) = (before, peak()) {
        assert!(after - before < 4 << 20, "{} bytes", after - before);
    }
}
