//! The simulator computes what a GPU computed: every program of `triton-chip`, form by form.
//!
//! Bits must be the same, but for functions of which the ISA bounds the error alone: the table [`BOUNDS`] says how far the
//! simulator may be from the GPU there. `cargo test -p triton-sim --test chip -- --nocapture` prints the largest distances.
//! The recorded results are those of `triton-chip record`.

use triton_chip::archive::{Archive, Run};
use triton_chip::operand_type::{F64, Format, Value};
use triton_chip::{Exactness, Program, ResultVector, programs};
use triton_sim::{Arg, Launch, Memory, Module, Options};

/// By the prefix of a form's name, how many representable values, or else what difference, two results may be apart:
/// the largest that were measured. None is more than the ISA allows. The first that fits holds.
const BOUNDS: &[(&str, u64, f64)] = &[
    ("div.full", 2, 0.0),
    ("div.approx", 1, 0.0),
    // One unit of the upper half.
    ("rcp.approx.ftz.f64", 1 << 32, 0.0),
    ("rsqrt.approx.ftz.f64", 1 << 32, 0.0),
    ("rsqrt.approx", 1, 0.0),
    ("rcp.approx", 1, 0.0),
    ("sqrt.approx", 1, 0.0),
    ("ex2.approx.f16", 1, 0.0),
    ("ex2.approx.ftz.bf16", 1, 0.0),
    ("ex2.approx", 2, 0.0),
    ("lg2.approx", 2, 1.8e-7),
    ("sin.approx", 0, 3.0e-7),
    ("cos.approx", 0, 3.3e-7),
    ("tanh.approx.f32", 115, 0.0),
    ("tanh.approx", 1, 0.0),
];

/// What differs, of one form.
#[derive(Default)]
struct Tally {
    wrong: usize,
    first: Vec<String>,
    ulps: u64,
    absolute: f64,
}

/// The output of a program on the simulator, and what it reports.
fn simulate(program: &Program) -> Result<Vec<u8>, String> {
    let module = Module::parse(&program.text).map_err(|e| e.to_string())?;
    let mut memory = Memory::new();
    let input = memory.alloc(program.input.len().max(16) as u64).map_err(|e| e.to_string())?;
    let output = memory.alloc(program.output as u64).map_err(|e| e.to_string())?;
    memory.write(input, &program.input).map_err(|e| e.to_string())?;
    memory.write(output, &vec![0; program.output]).map_err(|e| e.to_string())?;
    let launch = Launch {
        entry: "run".into(),
        grid: [program.blocks, 1, 1],
        block: [triton_chip::program::THREADS, 1, 1],
        cluster: [1, 1, 1],
        shared: 0,
        args: vec![Arg::Bits(input), Arg::Bits(output)],
    };
    let outcome = module.launch(&mut memory, &launch, &Options::default()).map_err(|e| e.to_string())?;
    if let Some(report) = outcome.reports.first() {
        return Err(format!("{report:?}"));
    }
    memory.read(output, program.output as u64).map(<[u8]>::to_vec).map_err(|e| e.to_string())
}

fn is_nan(bits: u64, format: Format) -> bool {
    let magnitude = bits & !(1 << (format.bits() - 1));
    magnitude > ((1 << format.exponent) - 1) << format.fraction
}

/// How many values lie between two; zeros of both signs are one value.
fn ulps(a: u64, b: u64, format: Format) -> u64 {
    let sign = 1u64 << (format.bits() - 1);
    let order = |bits: u64| if bits & sign == 0 { i128::from(bits) } else { -i128::from(bits & !sign) };
    match (is_nan(a, format), is_nan(b, format)) {
        (true, true) => 0,
        (true, false) | (false, true) => u64::MAX,
        (false, false) => (order(a) - order(b)).unsigned_abs() as u64,
    }
}

/// The number of finite bits.
fn number(bits: u64, format: Format) -> f64 {
    let exponent = (bits >> format.fraction) as i32 & ((1 << format.exponent) - 1);
    let fraction = (bits & ((1 << format.fraction) - 1)) as f64 / (1u64 << format.fraction) as f64;
    let magnitude = match exponent {
        0 => fraction * 2f64.powi(1 - format.bias()),
        _ => (1.0 + fraction) * 2f64.powi(exponent - format.bias()),
    };
    if bits >> (format.bits() - 1) & 1 == 1 { -magnitude } else { magnitude }
}

/// Compares one result, and notes how far it is.
fn agrees(result: &ResultVector, chip: u128, ours: u128, tally: &mut Tally) -> bool {
    if chip == ours {
        return true;
    }
    let (Value::Float(format) | Value::Moderate(format)) = result.ty.value else { return false };
    let (most, close) = match result.exactness {
        Exactness::Approximate => {
            let bound = BOUNDS.iter().find(|(name, ..)| result.form.starts_with(name));
            bound.map_or((0, 0.0), |&(_, ulps, difference)| (ulps, difference))
        }
        // The payload of a NaN of 64 bits is not defined.
        Exactness::Exact if format == F64 => return is_nan(chip as u64, format) && is_nan(ours as u64, format),
        Exactness::Exact | Exactness::Accumulated => return false,
    };
    let bits = result.ty.lane_bits();
    (0..result.ty.lanes).all(|lane| {
        let part = |all: u128| (all >> (lane * bits)) as u64 & (u64::MAX >> (64 - bits));
        let (chip, ours) = (part(chip), part(ours));
        let far = ulps(chip, ours, format);
        let difference =
            if far < u64::MAX { (number(chip, format) - number(ours, format)).abs() } else { f64::INFINITY };
        if difference > close {
            tally.ulps = tally.ulps.max(far);
        }
        if far > most {
            tally.absolute = tally.absolute.max(difference);
        }
        far <= most || difference <= close
    })
}

/// Runs the programs whose names begin so.
fn check(prefix: &str) {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/chip/chip.bin");
    let archive = Archive::read(&std::fs::read(file).expect("recorded results")).expect("a record of results");
    let mut problems = Vec::new();
    let mut compared = 0;
    for program in programs().expect("the tables").iter().filter(|p| p.name.starts_with(prefix)) {
        let name = &program.name;
        let record = archive.records.iter().find(|r| r.name == *name && r.hash == program.hash());
        let Some(record) = record else {
            problems.push(format!("{name}: no results of this text and input were recorded"));
            continue;
        };
        let Run::Output(chip) = &record.run else {
            problems.push(format!("{name}: {:?}", record.run));
            continue;
        };
        let ours = match simulate(program) {
            Ok(ours) => ours,
            Err(error) => {
                problems.push(format!("{name}: {error}"));
                continue;
            }
        };
        for result in &program.results {
            let mut tally = Tally::default();
            for index in 0..result.offsets.len() {
                let (chip, ours) = (result.bits(chip, index), result.bits(&ours, index));
                compared += 1;
                if !agrees(result, chip, ours, &mut tally) {
                    tally.wrong += 1;
                    if tally.first.len() < 8 {
                        let operands = result.operands(&program.input, index);
                        let width = result.bytes * 2;
                        tally.first.push(format!("    {operands} -> {chip:0width$x}, not {ours:0width$x}"));
                    }
                }
            }
            if result.exactness == Exactness::Approximate {
                println!("{}: within {} ulp, or {:e}", result.form, tally.ulps, tally.absolute);
            }
            if tally.wrong != 0 {
                let (form, count) = (&result.form, result.offsets.len());
                problems.push(format!("{name}: {form}: {} of {count}\n{}", tally.wrong, tally.first.join("\n")));
            }
        }
    }
    assert!(problems.is_empty(), "{} on {}:\n{}", problems.len(), archive.device, problems.join("\n"));
    assert!(compared > 0, "no program is called {prefix}");
}

/// One test for the programs of each name.
macro_rules! sections {
    ($($name:ident),+) => {
        $(#[test]
        fn $name() {
            check(concat!(stringify!($name), "-"));
        })+
    };
}

sections!(integer, carry, float, approximate, compare, convert, warp, memory, mma, wgmma);
