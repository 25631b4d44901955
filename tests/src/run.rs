//! The test `run`: a grid over buffers, with the same result before and after each pass, and of the PTX on the simulator.
//!
//! ```text
//! ; test run
//! ; grid 2 1 1
//! ; buffer x f32 1 2 3 4
//! ; buffer out f32 zeros 8
//! ; args x out+8 4
//! ```
//! A buffer lists its elements, or says `zeros N`, or `small SEED N` or `any SEED N`, which are random; an argument is a buffer (with `+BYTES`) or a number of the parameter's
//! type. Buffers are far apart, so that every access past an end is reported.

use crate::{numbers, simulate};
use std::fmt::Write;
use std::sync::Mutex;
use triton_core::interp::{self, Fault, Memory, Program};
use triton_core::ir::parse::parse;
use triton_core::ir::types::{Constant, DType, Elem};
use triton_core::ir::{Block, Function, Param, Stage};
use triton_core::metadata::{Arg, Specialization};
use triton_core::ops::Op;
use triton_core::passes::{self, Pass};

/// Address of the first buffer, and distance between two.
const APART: u64 = 1 << 32;

/// A buffer and what it holds at first.
pub struct Buffer {
    /// Its name.
    pub name: String,
    /// Type of its elements.
    pub dtype: DType,
    /// The elements' bits.
    pub elements: Vec<u64>,
}

impl Buffer {
    /// The elements as they lie in memory.
    pub fn bytes(&self) -> Vec<u8> {
        self.elements.iter().flat_map(|e| e.to_le_bytes()[..self.dtype.bytes() as usize].to_vec()).collect()
    }
}

/// What a case runs on.
#[derive(Default)]
pub struct Setup {
    /// Programs along each axis.
    pub grid: [u32; 3],
    /// The buffers.
    pub buffers: Vec<Buffer>,
    args: Vec<String>,
}

impl Setup {
    /// Reads the comments of a case.
    ///
    /// # Errors
    /// The first syntax error.
    pub fn parse(text: &str) -> Result<Setup, String> {
        let mut setup = Setup { grid: [1; 3], ..Setup::default() };
        for line in text.lines().skip(1).filter_map(|l| l.strip_prefix("; ")) {
            let words: Vec<&str> = line.split_whitespace().collect();
            match &words[..] {
                ["grid", extents @ ..] => {
                    for (slot, extent) in setup.grid.iter_mut().zip(extents) {
                        *slot = extent.parse().map_err(|_| format!("`{extent}` is not an extent"))?;
                    }
                }
                ["buffer", name, dtype, rest @ ..] => {
                    let dtype = DType::from_name(dtype).ok_or_else(|| format!("`{dtype}` is not an element type"))?;
                    let elements = match rest {
                        ["zeros", n] => vec![0; length(n)?],
                        ["small", seed, n] => numbers::small(dtype, length(seed)? as u64, length(n)?),
                        ["any", seed, n] => numbers::any(dtype, length(seed)? as u64, length(n)?),
                        list => list.iter().map(|w| number(dtype, w)).collect::<Result<_, _>>()?,
                    };
                    setup.buffers.push(Buffer { name: name.to_string(), dtype, elements });
                }
                ["args", args @ ..] => setup.args = args.iter().map(|a| a.to_string()).collect(),
                _ => {}
            }
        }
        Ok(setup)
    }

    /// The arguments for buffers at these addresses.
    ///
    /// # Errors
    /// An argument that is neither a buffer nor a number of its parameter's type.
    pub fn args(&self, func: &Function, addresses: &[u64]) -> Result<Vec<Arg>, String> {
        let arg = |(param, word): (&Param, &String)| match func.ty(param.value).elem {
            Elem::Num(dtype) => Ok(Arg::Scalar(number(dtype, word)?)),
            Elem::Ptr { .. } => {
                let (name, offset) = word.split_once('+').unwrap_or((word, "0"));
                let index =
                    self.buffers.iter().position(|b| b.name == name).ok_or_else(|| format!("no buffer `{name}`"))?;
                let offset: u64 = offset.parse().map_err(|_| format!("`{offset}` is not an offset"))?;
                Ok(Arg::Ptr(addresses[index] + offset))
            }
        };
        func.params.iter().zip(&self.args).map(arg).collect()
    }

    /// The strongest specialization that the arguments satisfy, if buffers are aligned.
    ///
    /// # Errors
    /// As of [`Setup::args`].
    pub fn strongest(&self, func: &Function) -> Result<Specialization, String> {
        let args = self.args(func, &vec![0; self.buffers.len()])?;
        let keeps = |pointers: bool| {
            func.params.iter().zip(&args).filter(|(param, _)| !param.general).all(|(param, arg)| {
                match func.ty(param.value).elem {
                    Elem::Ptr { .. } => !pointers || arg.bits() % 16 == 0,
                    Elem::Num(dtype) => pointers || !dtype.is_int() || arg.bits() % 16 == 0,
                }
            })
        };
        Ok(match (keeps(true), keeps(false)) {
            (false, _) => Specialization::Generic,
            (true, false) => Specialization::Aligned16,
            (true, true) => Specialization::Divisible16,
        })
    }

    /// What buffers hold, a line each, as the file of expected output has it.
    pub fn render(&self, contents: &[Vec<u8>]) -> String {
        let mut out = String::new();
        for (buffer, bytes) in self.buffers.iter().zip(contents) {
            let _ = write!(out, "{} {}", buffer.name, buffer.dtype);
            for element in bytes.chunks(buffer.dtype.bytes() as usize) {
                let constant = Constant { dtype: buffer.dtype, bits: little_endian(element) };
                // Which NaN comes out is unspecified.
                let nan = constant.as_float().is_some_and(f64::is_nan);
                let number = if nan { "c NaN".into() } else { constant.to_string() };
                let _ = write!(out, " {}", number.split_once(' ').map_or("", |(_, number)| number));
            }
            out.push('\n');
        }
        out
    }
}

/// What the buffers hold in the end, or the error of the first program that has one.
pub fn run(text: &str) -> Result<String, String> {
    let mut func = parse(text).map_err(|e| e.to_string())?;
    let setup = Setup::parse(text)?;
    let expected = execute(&func, &setup)?;
    let compare = |func: &Function, after: &str| {
        let found = execute(func, &setup)?;
        // A fault may have another message, or be removed with dead code; none may appear.
        if expected.starts_with("error") || found == expected {
            Ok(())
        } else {
            Err(format!("`{after}` changed the result:\n{expected}became\n{found}"))
        }
    };
    let each = |passes: &[Pass], func: &mut Function, specialization: Specialization| {
        passes.iter().try_for_each(|pass| {
            passes::run(std::slice::from_ref(pass), func, specialization)?;
            compare(func, pass.name)
        })
    };
    each(passes::OPTIMISE, &mut func, Specialization::Generic)?;
    for &specialization in Specialization::ALL {
        let mut laid = func.clone();
        each(passes::LAY_OUT, &mut laid, specialization)?;
        // Between these passes barriers are missing.
        passes::run(passes::SCHEDULE, &mut laid, specialization)?;
        compare(&laid, "sync")?;
    }
    simulate::check(&func, &setup, &expected)?;
    Ok(expected)
}

/// What the buffers hold in the end under a specialization: at stages 1 and 2, which must agree, and unless `rounds` at stage 0.
/// Beside it, the function at stage 1.
///
/// # Errors
/// They do not agree, or the program or a pass fails.
pub fn under(text: &str, specialization: Specialization, rounds: bool) -> Result<(Function, String), String> {
    let mut func = parse(text).map_err(|e| e.to_string())?;
    let setup = Setup::parse(text)?;
    let ends = |func: &Function, stage: &str| {
        let found = execute(func, &setup)?;
        if found.starts_with("error") { Err(format!("{stage}: {found}")) } else { Ok(found) }
    };
    let unlaid = if rounds { None } else { Some(ends(&func, "stage 0")?) };
    passes::run(passes::OPTIMISE, &mut func, Specialization::Generic)?;
    passes::run(passes::LAY_OUT, &mut func, specialization)?;
    let expected = ends(&func, "stage 1")?;
    let mut scheduled = func.clone();
    passes::run(passes::SCHEDULE, &mut scheduled, specialization)?;
    for (stage, found) in [("stage 0", unlaid), ("stage 2", Some(ends(&scheduled, "stage 2")?))] {
        if let Some(found) = found.filter(|found| *found != expected) {
            return Err(format!("stage 1 differs from {stage}:\n{}", difference(&found, &expected)));
        }
    }
    Ok((func, expected))
}

/// The first elements that differ, a line each.
pub fn difference(expected: &str, found: &str) -> String {
    let lines = expected.lines().zip(found.lines()).filter(|(e, f)| e != f);
    let words = lines.flat_map(|(e, f)| {
        let name = e.split(' ').next().unwrap_or_default();
        let words = e.split(' ').zip(f.split(' ')).enumerate().filter(|(_, (e, f))| e != f);
        words.map(move |(i, (e, f))| format!("  {name}[{}]: expected {e}, found {f}", i as i64 - 2))
    });
    words.take(40).collect::<Vec<_>>().join("\n")
}

/// The errors of the function at stage 2, each time without one of its barriers: with all of them it has none.
pub fn without_each_barrier(text: &str) -> Result<String, String> {
    let mut func = parse(text).map_err(|e| e.to_string())?;
    let setup = Setup::parse(text)?;
    if func.stage == Stage::Tile {
        passes::run(passes::LAY_OUT, &mut func, Specialization::Divisible16)?;
    }
    if func.stage == Stage::Laid {
        passes::run(passes::SCHEDULE, &mut func, Specialization::Divisible16)?;
    }
    let whole = execute(&func, &setup)?;
    if whole.starts_with("error") {
        return Err(whole);
    }
    let blocks: Vec<Block> = func.blocks.keys().collect();
    let mut out = String::new();
    for block in blocks {
        for (at, inst) in func.blocks[block].insts.clone().into_iter().enumerate() {
            let Op::Sync { .. } = func.insts[inst].op else { continue };
            func.blocks[block].insts.remove(at);
            let found = execute(&func, &setup)?;
            if !found.starts_with("error") {
                return Err(format!("nothing is wrong without the {}. barrier", out.lines().count() + 1));
            }
            out.push_str(&found);
            func.blocks[block].insts.insert(at, inst);
        }
    }
    if out.is_empty() { Err("there is no barrier".into()) } else { Ok(out) }
}

fn length(word: &str) -> Result<usize, String> {
    word.parse().map_err(|_| format!("`{word}` is not a length"))
}

fn number(dtype: DType, word: &str) -> Result<u64, String> {
    let constant = Constant::parse(dtype, word).ok_or_else(|| format!("`{word}` is not of {dtype}"))?;
    Ok(constant.bits)
}

fn execute(func: &Function, setup: &Setup) -> Result<String, String> {
    let memory = Flat { buffers: Mutex::new(setup.buffers.iter().map(Buffer::bytes).collect()) };
    let addresses: Vec<u64> = (1..=setup.buffers.len() as u64).map(|i| APART * i).collect();
    let args = setup.args(func, &addresses)?;
    let [x, y, z] = setup.grid;
    for id in (0..z).flat_map(|k| (0..y).flat_map(move |j| (0..x).map(move |i| [i, j, k]))) {
        if let Err(error) = interp::run(func, &args, Program { id, grid: setup.grid }, &memory) {
            return Ok(format!("error: {error}\n"));
        }
    }
    let buffers = memory.buffers.into_inner().map_err(|e| e.to_string())?;
    Ok(setup.render(&buffers))
}

fn little_endian(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |x, &b| x << 8 | u64::from(b))
}

struct Flat {
    buffers: Mutex<Vec<Vec<u8>>>,
}

impl Flat {
    fn each(
        &self,
        width: u32,
        addresses: &[u64],
        mask: Option<&[u64]>,
        mut f: impl FnMut(usize, &mut [u8]),
    ) -> Result<(), Fault> {
        let mut buffers = self.buffers.lock().unwrap_or_else(|e| e.into_inner());
        for (element, &address) in addresses.iter().enumerate() {
            if mask.is_some_and(|m| m[element] == 0) {
                continue;
            }
            let fault = |reason: &str| Fault { element, address, reason: reason.into() };
            let (index, offset) = (address / APART, (address % APART) as usize);
            let buffer = (index as usize).checked_sub(1).and_then(|i| buffers.get_mut(i));
            let bytes = buffer.and_then(|b| b.get_mut(offset..offset + width as usize));
            if address % u64::from(width) != 0 {
                return Err(fault("misaligned"));
            }
            f(element, bytes.ok_or_else(|| fault("outside every buffer"))?);
        }
        Ok(())
    }
}

impl Memory for Flat {
    fn load(&self, width: u32, addresses: &[u64], mask: Option<&[u64]>, out: &mut [u64]) -> Result<(), Fault> {
        self.each(width, addresses, mask, |i, bytes| out[i] = little_endian(bytes))
    }

    fn store(&self, width: u32, addresses: &[u64], mask: Option<&[u64]>, values: &[u64]) -> Result<(), Fault> {
        self.each(width, addresses, mask, |i, bytes| bytes.copy_from_slice(&values[i].to_le_bytes()[..width as usize]))
    }

    fn update(
        &self,
        width: u32,
        addresses: &[u64],
        mask: Option<&[u64]>,
        replace: &dyn Fn(usize, u64) -> u64,
        out: &mut [u64],
    ) -> Result<(), Fault> {
        self.each(width, addresses, mask, |i, bytes| {
            out[i] = little_endian(bytes);
            bytes.copy_from_slice(&replace(i, out[i]).to_le_bytes()[..width as usize]);
        })
    }
}
