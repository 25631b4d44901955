//! The test `run`: a grid over buffers, with the same result before and after each pass, and of the PTX on the simulator.

use crate::setup::{Buffer, Setup, little_endian};
use crate::simulate;
use std::sync::Mutex;
use triton_core::interp::{self, Fault, Memory, Program};
use triton_core::ir::parse::{parse, parse_unverified};
use triton_core::ir::{Block, Function, Stage};
use triton_core::metadata::{Specialization, Target};
use triton_core::ops::Op;
use triton_core::passes::{self, Env, Pass};

/// Address of the first buffer, and distance between two.
const APART: u64 = 1 << 32;

/// The function of a case, relaxed if it has `fast_math`: that is what it means.
pub fn meaning(text: &str) -> Result<Function, String> {
    let mut func = parse(text).map_err(|e| e.to_string())?;
    passes::run(passes::RELAX, &mut func, &Env::portable().verified())?;
    Ok(func)
}

/// What the buffers hold in the end, or the error of the first program that has one.
pub fn run(text: &str) -> Result<String, String> {
    let mut func = meaning(text)?;
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
    let each = |passes: &[Pass], func: &mut Function, env: &Env| {
        passes.iter().try_for_each(|pass| {
            passes::run(std::slice::from_ref(pass), func, env)?;
            compare(func, pass.name)
        })
    };
    each(passes::OPTIMISE, &mut func, &Env::portable().verified())?;
    // Only a unit stride is put into code; of the rest the interpreter sees nothing.
    let units = setup.units(&func)?;
    let strengths = || Specialization::ALL.iter().filter(|&&s| units || s == Specialization::Generic);
    let envs = Target::ALL.iter().flat_map(|&target| strengths().map(move |&s| (target, s)));
    // What only some devices run is made for the strongest specializations.
    for (target, specialization) in envs.filter(|&(t, s)| t == Target::LEAST || s >= Specialization::Aligned16) {
        let mut laid = func.clone();
        let env = Env::new(target, specialization).verified();
        each(passes::SPECIALISE, &mut laid, &env)?;
        each(passes::LAY_OUT, &mut laid, &env)?;
        for multicast in [false, true] {
            let (env, mut synchronized) = (Env { multicast, ..env }, laid.clone());
            // Between these passes barriers are missing.
            passes::run(passes::SYNCHRONIZE, &mut synchronized, &env)?;
            if !multicast || synchronized.peers > 1 {
                compare(&synchronized, "sync")?;
            }
        }
    }
    simulate::check(&func, &setup, &expected)?;
    Ok(expected)
}

/// What the buffers hold in the end, the same at stage 0 and of the PTX on the simulator, and how many images fill rings.
///
/// # Errors
/// They do not agree, or the program or a pass fails.
pub fn ends(text: &str) -> Result<(String, usize), String> {
    let mut func = parse(text).map_err(|e| e.to_string())?;
    let setup = Setup::parse(text)?;
    let expected = execute(&func, &setup)?;
    passes::run(passes::OPTIMISE, &mut func, &Env::portable().verified())?;
    let rings = simulate::check(&func, &setup, &expected)?;
    Ok((expected, rings))
}

/// What the buffers hold in the end, of a launch whose accesses are all of its buffers.
///
/// # Errors
/// A program has one.
pub fn meant(func: &Function, setup: &Setup) -> Result<String, String> {
    let found = execute(func, setup)?;
    if found.starts_with("error") { Err(found) } else { Ok(found) }
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
    passes::run(passes::OPTIMISE, &mut func, &Env::portable().verified())?;
    let env = Env::new(Target::Sm80, specialization).verified();
    passes::run(passes::SPECIALISE, &mut func, &env)?;
    passes::run(passes::LAY_OUT, &mut func, &env)?;
    let expected = ends(&func, "stage 1")?;
    let mut synchronized = func.clone();
    passes::run(passes::SYNCHRONIZE, &mut synchronized, &env)?;
    for (stage, found) in [("stage 0", unlaid), ("stage 2", Some(ends(&synchronized, "stage 2")?))] {
        if let Some(found) = found.filter(|found| *found != expected) {
            return Err(format!("stage 1 differs from {stage}:\n{}", difference(&expected, &found)));
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

/// The errors of a function at stage 2, each time with one of the faults that its lines `; plant NAME: old => new` say: the first `old`
/// of the text is `new`, where a semicolon stands for the end of a line. Without them it has none. With a line `; on the simulator,
/// too`, the simulator has to report each in the code.
pub fn with_each_fault(text: &str) -> Result<String, String> {
    let setup = Setup::parse(text)?;
    let execute = |text: &str| match parse(text) {
        Ok(func) => execute(&func, &setup),
        Err(error) => Ok(format!("error: {}\n", error.message)),
    };
    let whole = execute(text)?;
    if whole.starts_with("error") {
        return Err(whole);
    }
    let mut out = String::new();
    for plant in text.lines().filter_map(|line| line.strip_prefix("; plant ")) {
        let parts = plant.split_once(": ").and_then(|(name, edit)| Some((name, edit.split_once(" => ")?)));
        let (name, (old, new)) = parts.ok_or_else(|| format!("`{plant}` is not `NAME: old => new`"))?;
        let [old, new] = [old, new].map(|code| code.trim().replace("; ", "\n"));
        let (head, code) = text.split_once("\nkernel ").ok_or("the kernel is missing")?;
        let code: Vec<&str> = code.lines().map(str::trim).collect();
        let code = code.join("\n");
        if !code.contains(&old) {
            return Err(format!("{name}: the kernel does not contain `{old}`"));
        }
        let faulty = format!("{head}\nkernel {}", code.replacen(&old, &new, 1));
        let found = execute(&faulty)?;
        let error = found.strip_prefix("error: ").ok_or_else(|| format!("{name}: nothing is wrong"))?;
        out.push_str(&format!("{name}: {error}"));
        if text.contains("\n; on the simulator, too\n") {
            let func = parse_unverified(&faulty).map_err(|e| e.to_string())?;
            let report = simulate::report(&func, &setup).map_err(|what| format!("{name}: {what}"))?;
            out.push_str(&format!("  on the simulator: {report}\n"));
        }
    }
    if out.is_empty() { Err("no fault is planted".into()) } else { Ok(out) }
}

/// The errors of the function at stage 2, each time without one of its barriers, or waits for a ring or releases of it: with all of them
/// it has none.
pub fn without_each_barrier(text: &str) -> Result<String, String> {
    let mut func = parse(text).map_err(|e| e.to_string())?;
    let setup = Setup::parse(text)?;
    let env = Env::new(Target::Sm80, Specialization::Divisible16).verified();
    if func.stage == Stage::Tile {
        passes::run(passes::SPECIALISE, &mut func, &env)?;
        passes::run(passes::LAY_OUT, &mut func, &env)?;
    }
    if func.stage == Stage::LaidOut {
        passes::run(passes::SYNCHRONIZE, &mut func, &env)?;
    }
    let whole = execute(&func, &setup)?;
    if whole.starts_with("error") {
        return Err(whole);
    }
    let blocks: Vec<Block> = func.blocks.keys().collect();
    let mut out = String::new();
    for block in blocks {
        for (at, inst) in func.blocks[block].insts.clone().into_iter().enumerate() {
            let (Op::Sync { .. } | Op::RingWait { .. } | Op::RingRelease { .. } | Op::DotWait { .. }) =
                func.insts[inst].op
            else {
                continue;
            };
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
