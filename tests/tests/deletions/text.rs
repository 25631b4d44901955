//! The synchronising instructions of a PTX text, and the text without one of them.

use std::collections::HashMap;
use std::ops::Range;
use triton_sim::parse::ast::{Entry, Instruction, Operand};
use triton_sim::parse::parse;

/// First words of the operation codes that barriers, waits, fences and arrivals begin with.
const SYNCHRONISING: &[&[&str]] = &[
    &["bar"],
    &["barrier"],
    &["fence"],
    &["membar"],
    &["mbarrier", "arrive"],
    &["mbarrier", "arrive_drop"],
    &["mbarrier", "expect_tx"],
    &["mbarrier", "test_wait"],
    &["mbarrier", "try_wait"],
    &["wgmma", "fence"],
    &["wgmma", "commit_group"],
    &["wgmma", "wait_group"],
    &["cp", "async", "bulk", "commit_group"],
    &["cp", "async", "bulk", "wait_group"],
    &["cp", "async", "commit_group"],
    &["cp", "async", "wait_group"],
    &["cp", "async", "wait_all"],
    &["cp", "async", "mbarrier"],
    &["griddepcontrol", "wait"],
];

/// A synchronising instruction of a text; of a wait for an mbarrier, with the branch back to it.
pub struct Deletion {
    /// As written, without guard.
    pub instruction: String,
    /// Which one it is, from 1, of those of the text that are written alike.
    pub nth: usize,
    /// Its line, from 1.
    pub line: u32,
    /// Its bytes, with guard and semicolon.
    bytes: Vec<Range<usize>>,
}

impl Deletion {
    /// All of a text.
    ///
    /// # Errors
    /// The error if the text cannot be parsed.
    pub fn all(text: &str) -> Result<Vec<Deletion>, String> {
        let module = parse(text).map_err(|e| e.to_string())?;
        let starts: Vec<usize> =
            text.split_inclusive('\n').scan(0, |at, l| Some(std::mem::replace(at, *at + l.len()))).collect();
        let bytes = |instruction: &Instruction| {
            let line = starts[instruction.pos.line as usize - 1];
            let before =
                text[line..].chars().take(instruction.pos.column as usize - 1).map(char::len_utf8).sum::<usize>();
            let start = line + before;
            start..start + text[start..].find(';').expect("a semicolon ends it") + 1
        };
        let mut counts = HashMap::new();
        let mut all = Vec::new();
        for entry in &module.entries {
            for (at, instruction) in entry.instructions.iter().enumerate() {
                if !synchronises(instruction) || joins(entry, at) {
                    continue;
                }
                let nth = counts.entry(&instruction.text).or_insert(0);
                *nth += 1;
                let parts = std::iter::once(instruction).chain(branch_back(entry, at));
                let bytes = parts.map(bytes).collect();
                all.push(Deletion {
                    instruction: instruction.text.clone(),
                    nth: *nth,
                    line: instruction.pos.line,
                    bytes,
                });
            }
        }
        Ok(all)
    }

    /// The text with spaces in place of the instruction.
    pub fn apply(&self, text: &str) -> String {
        let mut out = text.to_owned();
        for bytes in &self.bytes {
            out.replace_range(bytes.clone(), &" ".repeat(bytes.len()));
        }
        out
    }
}

fn synchronises(instruction: &Instruction) -> bool {
    SYNCHRONISING.iter().any(|words| {
        words.len() <= instruction.opcode.len()
            && words.iter().zip(&instruction.opcode).all(|(word, found)| word == found)
    })
}

/// Whether it is a warp barrier of generated code where threads meet that a branch has taken apart. It says no more than that they meet, and
/// threads of the simulator's warps do so without it; on a device it may be needed.
fn joins(entry: &Entry, at: usize) -> bool {
    let leads_here = |branch: &Instruction| match branch.operands[..] {
        [Operand::Label(label)] => entry.labels[label as usize].0 == at,
        _ => false,
    };
    let diverges = |i: &&Instruction| i.opcode[0] == "bra" && !i.opcode.iter().any(|word| word == "uni");
    entry.instructions[at].text == "bar.warp.sync 0xffffffff"
        && entry.instructions.iter().filter(diverges).any(leads_here)
}

/// The branch after a wait for an mbarrier that repeats it.
fn branch_back(entry: &Entry, at: usize) -> Option<&Instruction> {
    let next = entry.instructions.get(at + 1)?;
    let [Operand::Label(label)] = next.operands[..] else { return None };
    let repeats = entry.instructions[at].opcode[0] == "mbarrier" && entry.labels[label as usize].0 == at;
    repeats.then_some(next)
}
