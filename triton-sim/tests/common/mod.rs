//! Programs as test data: PTX texts whose `//~` comments say how they are launched and what comes of it.
//!
//! Lines that begin with `//~` are the header, one fact a line:
//!
//! | line | meaning |
//! |---|---|
//! | `launch grid=2 block=64,2 cluster=2 shared=256` | extents, 1 where nothing is said; bytes of dynamic shared memory |
//! | `arg buffer 256 iota32` | a buffer of this many bytes; what it is filled with is in [`fill`] |
//! | `arg u32 5`, `arg u64 7`, `arg f32 1.5` | a scalar |
//! | `arg map bf16 dims=64,64 strides=128 box=64,8 swizzle=128 fill=zeros buffer=0` | a tensor map over the buffer of that argument; strides in bytes, without that of the innermost dimension |
//! | `freed 0` | the buffer of that argument is freed before the launch |
//! | `expect race` or `expect race\|mbarrier` | words of `Fault::name`; the first report has one of them |
//! | `expect-text word word` | words that the text of this report contains |
//! | `result 0 u32 1,7*3,0..32` | what the buffer of that argument begins with afterwards: values, repeated values, ranges without their end |
//! | `prints text` | what the program prints; `\n` is a new line |
//!
//! A `//~` after an instruction marks its line with words: `good` lines are only in the correct program, `bad` ones
//! only in the faulty one, and the report is at one of the lines that are marked `here`, if there are any.

#![allow(dead_code, reason = "each test uses a part of it")]

mod header;

pub use header::Case;
use header::{Argument, Expected, Map};
use std::path::Path;
use triton_sim::hopper::{DataType, Fill, Swizzle, TensorMap};
use triton_sim::{Arg, Launch, Memory, Module, Options, Outcome, Report};

/// Every program of a folder beside this one: its name and its text.
pub fn programs(folder: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder);
    let entries = std::fs::read_dir(&folder).expect("a folder of programs").flatten();
    let paths = entries.map(|e| e.path()).filter(|p| p.extension().is_some_and(|e| e == "ptx"));
    let mut programs: Vec<_> = paths
        .map(|path| {
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            (name, std::fs::read_to_string(&path).expect("a program"))
        })
        .collect();
    programs.sort();
    programs
}

/// The words after `//~` in a line that is not of the header.
pub fn marks(line: &str) -> impl Iterator<Item = &str> {
    let marks = line.split_once("//~").filter(|(code, _)| !code.trim().is_empty());
    marks.map_or("", |(_, words)| words).split_whitespace()
}

/// The text with empty lines instead of those that have this mark, so that lines keep their numbers.
pub fn without(text: &str, mark: &str) -> String {
    text.lines().map(|l| if marks(l).any(|m| m == mark) { "\n".to_owned() } else { format!("{l}\n") }).collect()
}

/// A report for people.
pub fn show(report: &Report) -> String {
    format!("{report:?}")
}

/// What a launch left in memory.
pub struct Run {
    /// Reports, counts, printed text.
    pub outcome: Outcome,
    memory: Memory,
    /// The address of each argument that is a buffer, else 0.
    buffers: Vec<u64>,
}

impl Case {
    /// Runs a text with the launch and the arguments of this case.
    ///
    /// # Errors
    /// The error if the text cannot be parsed or launched.
    pub fn run(&self, text: &str, seed: u64) -> Result<Run, String> {
        let module = Module::parse(text).map_err(|e| e.to_string())?;
        let entry = text.split_once(".entry").ok_or("no kernel")?.1.trim_start();
        let entry = entry.split('(').next().unwrap_or_default().trim().to_owned();
        let mut memory = Memory::new();
        let mut buffers = Vec::new();
        for argument in &self.arguments {
            buffers.push(match argument {
                Argument::Buffer(bytes) => {
                    let address = memory.alloc(bytes.len() as u64).map_err(|e| e.to_string())?;
                    memory.write(address, bytes).map_err(|e| e.to_string())?;
                    address
                }
                Argument::Scalar(_) | Argument::Map(_) => 0,
            });
        }
        let mut args = Vec::new();
        for (argument, address) in self.arguments.iter().zip(&buffers) {
            args.push(match argument {
                Argument::Buffer(_) => Arg::Bits(*address),
                Argument::Scalar(bits) => Arg::Bits(*bits),
                Argument::Map(m) => Arg::Bytes(map(m, *buffers.get(m.buffer).ok_or("a map over no argument")?)?),
            });
        }
        for index in &self.freed {
            let address = *buffers.get(*index).ok_or("`freed` of no argument")?;
            memory.free(address).map_err(|e| e.to_string())?;
        }
        let launch =
            Launch { entry, grid: self.grid, block: self.block, cluster: self.cluster, shared: self.shared, args };
        let options = Options { seed, idle_limit: 200_000, max_instructions: 1_000_000, ..Options::default() };
        let outcome = module.launch(&mut memory, &launch, &options).map_err(|e| e.to_string())?;
        Ok(Run { outcome, memory, buffers })
    }

    /// What is wrong about a run of a correct program: reports, other results, other prints.
    pub fn complaints(&self, run: &Run) -> Vec<String> {
        let mut complaints: Vec<String> = run.outcome.reports.iter().map(show).collect();
        for expected in &self.results {
            complaints.extend(run.differs(expected));
        }
        let printed = &run.outcome.printed;
        if let Some(expected) = self.prints.as_ref().filter(|p| *p != printed) {
            complaints.push(format!("prints {printed:?} instead of {expected:?}"));
        }
        complaints
    }
}

impl Run {
    /// The first element that is not as expected, in words.
    fn differs(&self, expected: &Expected) -> Option<String> {
        let bytes: usize = expected.values.iter().map(Vec::len).sum();
        let address = self.buffers.get(expected.buffer).copied().unwrap_or(0);
        let found = match self.memory.read(address, bytes as u64) {
            Ok(found) => found,
            Err(error) => return Some(error.to_string()),
        };
        let size = expected.values.first().map_or(1, Vec::len);
        let elements = found.chunks(size).zip(&expected.values).enumerate();
        let (index, (found, wanted)) = elements.into_iter().find(|(_, (found, wanted))| found != wanted)?;
        Some(format!("argument {}, element {index}: {found:02x?} instead of {wanted:02x?}", expected.buffer))
    }
}

/// The bytes of a tensor map over memory that begins at this address.
fn map(map: &Map, address: u64) -> Result<Vec<u8>, String> {
    let element = match map.element.as_str() {
        "u8" => DataType::U8,
        "u16" => DataType::U16,
        "u32" => DataType::U32,
        "f16" => DataType::F16,
        "bf16" => DataType::Bf16,
        "f32" => DataType::F32,
        other => return Err(format!("a map of {other}")),
    };
    let swizzles = [Swizzle::None, Swizzle::B32, Swizzle::B64, Swizzle::B128];
    let swizzle = swizzles.into_iter().find(|s| s.span() == map.swizzle.max(16)).ok_or("no such swizzle")?;
    let fill = if map.fill == "nan" { Fill::Nan } else { Fill::Zeros };
    let map = TensorMap::tiled(element, address, &map.dims, &map.strides, &map.extents).swizzle(swizzle).fill(fill);
    Ok(map.build().map_err(|e| e.to_string())?.encode().to_vec())
}
