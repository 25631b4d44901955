//! The machine code of a kernel, as `nvdisasm -c` prints it: its main path, and its innermost loop.
//!
//! A *path* is what a thread of an ordinary launch is taken to run. It goes on at the target of an unconditional forward
//! branch, and falls through every other one, so that a loop counts once. What a conditional branch jumps over is left out if
//! it calls a function: `ptxas` has the rare cases of divisions and roots in functions. (A call of a label within the kernel
//! is a branch: `ptxas` leaves some loops for `sm_80` by one.) The main path is the one from the entry to the first
//! unconditional `EXIT`. The innermost loop is the longest of those that contain no other.
//!
//! Which way a branch goes at run time is not known here. The numbers serve to compare versions of one kernel; they do not
//! predict its time.

mod classes;

pub use classes::Counts;
use classes::STALLS;
use std::collections::{BTreeMap, BTreeSet};

/// What the code of a kernel consists of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Barriers of a block, of all code.
    pub barriers: usize,
    /// The main path.
    pub path: Counts,
    /// One iteration of the innermost loop.
    pub innermost: Option<Counts>,
    /// Instructions of the innermost loop that wait for the memory of the device, or use local memory.
    pub stalls: Vec<String>,
}

/// Reads a listing.
///
/// # Errors
/// A branch to a label that is not there, or an instruction without a class.
pub fn profile(listing: &str) -> Result<Profile, String> {
    let code = Code::parse(listing)?;
    let counts = |path: &[usize]| Counts::of(path.iter().map(|&at| code.instructions[at].word()));
    let innermost = code.innermost();
    let in_loop = innermost.iter().flatten().map(|&at| &code.instructions[at]);
    let stalls = in_loop
        .filter(|i| STALLS.contains(&i.word()) && !i.name.ends_with(".CTA"))
        .map(|i| i.name.to_owned())
        .collect();
    Ok(Profile {
        barriers: code.instructions.iter().filter(|i| i.name.starts_with("BAR.SYNC")).count(),
        path: counts(&code.path(0, code.instructions.len()))?,
        innermost: innermost.map(|path| counts(&path)).transpose()?,
        stalls,
    })
}

/// A machine instruction.
struct Instruction<'a> {
    /// With its modifiers: `BAR.SYNC.DEFER_BLOCKING`.
    name: &'a str,
    /// Whether only some threads run it, or a branch has a condition of its own.
    conditional: bool,
    /// Where a branch goes.
    target: Option<usize>,
}

impl Instruction<'_> {
    /// The word before the first dot.
    fn word(&self) -> &str {
        self.name.split('.').next().unwrap_or_default()
    }

    /// Whether it calls a function.
    fn is_call(&self) -> bool {
        self.word() == "CALL" && self.target.is_none()
    }
}

/// The code of a kernel. What it calls follows it.
struct Code<'a> {
    instructions: Vec<Instruction<'a>>,
    /// Of each instruction, whether it is a conditional branch over code that calls a function.
    skips: Vec<bool>,
}

impl<'a> Code<'a> {
    fn parse(listing: &'a str) -> Result<Code<'a>, String> {
        let (mut texts, mut labels) = (Vec::new(), BTreeMap::new());
        for line in listing.lines().map(str::trim) {
            if let Some(label) = line.strip_suffix(':') {
                labels.insert(label, texts.len());
            } else if let Some(text) = instruction_text(line).filter(|text| !unguarded(text).1.starts_with("NOP")) {
                texts.push(text);
            }
        }
        let instructions = texts.into_iter().map(|text| instruction(text, &labels)).collect::<Result<Vec<_>, _>>()?;
        let mut code = Code { skips: vec![false; instructions.len()], instructions };
        // Backwards: whether a branch skips depends on the branches that it jumps over.
        for at in (0..code.instructions.len()).rev() {
            let Instruction { conditional, target, .. } = code.instructions[at];
            let Some(target) = target.filter(|target| conditional && *target > at) else { continue };
            code.skips[at] = code.path(at + 1, target).iter().any(|&at| code.instructions[at].is_call());
        }
        Ok(code)
    }

    /// The path from one instruction to another, which is left out, or to the end.
    fn path(&self, from: usize, to: usize) -> Vec<usize> {
        let (mut path, mut at) = (Vec::new(), from);
        while at < to {
            path.push(at);
            let Instruction { conditional, target, .. } = self.instructions[at];
            if self.instructions[at].word() == "EXIT" && !conditional {
                break;
            }
            let followed = target.filter(|target| *target > at && (!conditional || self.skips[at]));
            at = followed.unwrap_or(at + 1);
        }
        path
    }

    /// One iteration of the innermost loop.
    fn innermost(&self) -> Option<Vec<usize>> {
        let backward = |at: usize| self.instructions[at].target.filter(|target| *target < at);
        let heads: BTreeSet<usize> = (0..self.instructions.len()).filter_map(backward).collect();
        // A rare case may stand past the exit and branch back: the path from there does not meet that branch.
        let loops = heads.into_iter().filter_map(|head| {
            let mut path = self.path(head, self.instructions.len());
            let last = path.iter().rposition(|&at| backward(at) == Some(head))?;
            path.truncate(last + 1);
            Some(path)
        });
        let loops: Vec<Vec<usize>> = loops.collect();
        let contains_none = |path: &&Vec<usize>| loops.iter().all(|inner| !path[1..].contains(&inner[0]));
        // The first of those with the most instructions.
        loops.iter().rev().filter(contains_none).max_by_key(|path| path.len()).cloned()
    }
}

/// `@!P0 BRA `(.L_x_3)`, of a line with an address and a semicolon.
fn instruction_text(line: &str) -> Option<&str> {
    let (address, rest) = line.strip_prefix("/*")?.split_once("*/")?;
    let is_address = address.len() >= 4 && address.chars().all(|c| c.is_ascii_hexdigit());
    let text = rest.split_once(';')?.0.trim();
    (is_address && !text.is_empty()).then_some(text)
}

/// Whether a predicate stands before an instruction, and the instruction.
fn unguarded(text: &str) -> (bool, &str) {
    let guard = text.strip_prefix('@').and_then(|guarded| guarded.split_once(char::is_whitespace));
    guard.map_or((false, text), |(_, bare)| (true, bare.trim_start()))
}

fn instruction<'a>(text: &'a str, labels: &BTreeMap<&str, usize>) -> Result<Instruction<'a>, String> {
    let (guarded, bare) = unguarded(text);
    let (name, operands) = bare.split_once(char::is_whitespace).unwrap_or((bare, ""));
    let word = name.split('.').next();
    let label = operands.split_once("`(").and_then(|(_, rest)| rest.split_once(')')).map(|(label, _)| label);
    let label = label.filter(|label| word == Some("BRA") || word == Some("CALL") && label.starts_with(".L"));
    let target = label.map(|label| labels.get(label).copied().ok_or(format!("`{text}`: the label is missing")));
    // `BRA.DIV UR4, `(.L_x_3)` and `BRA.U !UP0, ..` have a condition as an operand.
    let conditional = guarded || word == Some("BRA") && operands.contains(',');
    Ok(Instruction { name, conditional, target: target.transpose()? })
}

#[cfg(test)]
mod tests;
