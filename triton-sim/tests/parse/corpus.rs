//! Kernels that are assembled elsewhere: every snapshot of the compiler, and hand-made kernels for Hopper.

use crate::{ptx_files, read};
use triton_sim::parse::ast::Operand;

#[test]
fn every_kernel_parses() {
    for (folder, least) in [("tests/corpus", 80), ("triton-sim/tests/hopper", 8)] {
        let files = ptx_files(folder);
        assert!(files.len() >= least, "{} files in {folder}", files.len());
        for path in files {
            let text = read(&path);
            let module = match triton_sim::parse::parse(&text) {
                Ok(module) => module,
                Err(error) => panic!("{}:{error}", path.display()),
            };
            let entries = text.matches(".entry").count();
            assert_eq!(module.entries.len(), entries, "{}", path.display());
            for entry in &module.entries {
                let last = entry.instructions.last().map(|instruction| instruction.opcode[0].as_str());
                assert_eq!(last, Some("ret"), "{}", path.display());
            }
            let instructions: usize = module.entries.iter().map(|entry| entry.instructions.len()).sum();
            assert_eq!(instructions, instructions_of(&text), "{}", path.display());
            let branches = module.entries.iter().flat_map(|entry| &entry.instructions);
            for branch in branches.filter(|instruction| instruction.opcode[0] == "bra") {
                assert!(matches!(branch.operands[..], [Operand::Label(_)]), "{}: {branch:?}", path.display());
            }
        }
    }
}

/// How many instructions a text has, counted in another way: its semicolons except those after declarations.
fn instructions_of(text: &str) -> usize {
    const DECLARATIONS: [&str; 5] = [".reg ", ".param .", ".local .", ".global .", ".extern ."];
    let lines: Vec<_> = text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect();
    let text = lines.join("\n");
    let (statements, _) = text.rsplit_once(';').expect("a statement");
    let bodies = statements.split(';').map(|statement| {
        // After the start of a kernel.
        if statement.contains(".entry") { statement.rsplit('{').next().unwrap_or_default() } else { statement }
    });
    bodies.filter(|statement| !DECLARATIONS.iter().any(|word| statement.contains(word))).count()
}
