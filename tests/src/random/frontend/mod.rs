//! Random kernels of the language: with views, functions, tuples, structs, constants, branches, loops and early
//! returns, as a user writes them, and what their buffers hold in the end. One in four has loops around products (`products`).
//!
//! A program is made as a tree, which is written as Rust ([`tree`]) and evaluated on its own ([`eval`]). The checker's
//! work, from inlining to the expansion of views, thus has a reference that shares nothing with it.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "programs have six of the element types, and types are what they were made as"
)]

pub mod eval;
mod make;
mod operands;
mod products;
mod shapes;
mod steps;
pub mod tree;

use super::Case;
use super::Random;
use crate::expand::expand;
use crate::run::{difference, ends};
use crate::setup::Setup;
use eval::{Flow, Machine, Num, Scope, Val, View};
use operands::Launch;
use std::fmt::Write;
use triton_core::ops;
use triton_core::types::DType;

/// A kernel with what it uses, and its launch.
pub struct Kernel {
    /// The file.
    pub text: String,
    /// The launch, as the header of a `run` case.
    pub header: String,
    /// What its buffers hold in the end.
    pub expected: String,
}

/// A kernel's view in memory.
struct Parameter {
    name: &'static str,
    dtype: DType,
    extents: Vec<i64>,
    strides: Vec<i64>,
    len: usize,
}

impl Parameter {
    /// Its line of the header, with what its buffer is filled from, and its arguments.
    fn header(&self, seed: usize) -> (String, String) {
        let Parameter { name, dtype, extents, strides, len } = self;
        let kind = if dtype.is_float() { "small" } else { "any" };
        let numbers: Vec<String> = extents.iter().chain(strides).map(i64::to_string).collect();
        (format!("; buffer {name} {dtype} {kind} {seed} {len}\n"), format!("{name} {}", numbers.join(" ")))
    }
}

/// Whether the kernel of a seed has products in loops: one in four has.
pub fn has_products(seed: u64) -> bool {
    seed % 4 == 3
}

/// The kernel of a seed.
///
/// # Errors
/// A flaw of the header that was made.
pub fn kernel(seed: u64) -> Result<Kernel, String> {
    // Numbers of seeds that lie near each other begin alike.
    let spread = if has_products(seed) { seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) } else { seed };
    let mut random = Random::new(spread);
    let program = make::program(&mut random, has_products(seed));
    let mut text = String::from("use triton::prelude::*;\n\n");
    for (name, value) in &program.constants {
        let _ = writeln!(text, "#[triton::constant]\nconst {name}: i32 = {};\n", tree::expr(value));
    }
    text.push_str("#[triton::params]\n#[derive(Clone, Copy)]\npub struct Settings {\n");
    for (name, dtype, _) in make::FIELDS {
        let _ = writeln!(text, "    {name}: {dtype},");
    }
    text.push_str("}\n\n");
    for (index, function) in program.functions.iter().enumerate() {
        tree::function(&mut text, index, function);
    }
    let mut options = format!("num_warps = {}", program.num_warps);
    let mut signature = make::PARAMETERS.to_owned();
    if let Some(operands) = &program.operands {
        let _ = write!(options, ", num_stages = {}", operands.num_stages);
        let _ = write!(signature, ", {}", operands.written());
    }
    let _ = writeln!(text, "#[triton::kernel({options})]\nfn kernel({signature}) {{");
    tree::kernel(&mut text, &program.body);
    text.push_str("}\n");

    let launch = program.operands.as_ref().map_or(Launch::Any, |operands| operands.launch);
    let mut parameters = parameters(&mut random, program.grid, launch);
    let products = program.operands.as_ref().map(|operands| operands.parameters(&mut random, program.grid));
    let mut header = format!("; test run\n; grid {} 1 1\n", program.grid);
    let mut args = Vec::new();
    for parameter in &parameters {
        let (buffer, arg) = parameter.header(random.below(1000));
        header.push_str(&buffer);
        args.push(arg);
    }
    let fields: Vec<i128> = make::FIELDS
        .iter()
        .map(|(_, dtype, values)| {
            let mut value = values[random.below(values.len())];
            if launch == Launch::Divisible && !matches!(*dtype, "bool" | "f32") {
                value = value / 16 * 16;
            }
            args.push(if *dtype == "f32" { format!("{:?}", value as f64 / 4.0) } else { written(dtype, value) });
            i128::from(value)
        })
        .collect();
    // Loops in loops run this often.
    let n = if launch == Launch::Divisible { 0 } else { random.below(5) as i128 };
    args.push(n.to_string());
    for parameter in products.into_iter().flatten() {
        let (buffer, arg) = parameter.header(random.below(1000));
        header.push_str(&buffer);
        args.push(arg);
        parameters.push(parameter);
    }
    let _ = writeln!(header, "; args {}", args.join(" "));
    let setup = Setup::parse(&header)?;
    let expected = expected(&program, &setup, &parameters, &fields, n);
    Ok(Kernel { text, header, expected })
}

fn written(dtype: &str, value: i64) -> String {
    if dtype == "bool" { (value != 0).to_string() } else { value.to_string() }
}

/// The views of a launch. Each program has [`make::ZONE`] elements of `out`, and as many rows of `grid` as these have tiles.
fn parameters(random: &mut Random, grid: u32, launch: Launch) -> Vec<Parameter> {
    let grid = i64::from(grid);
    let (columns, pitches, lengths): (&[i64], &[i64], &[i64]) = match launch {
        Launch::Any => (&[16, 32, 7], &[0, 0, 1, 16], &[16, 48, 9]),
        Launch::Aligned | Launch::Divisible => (&[16, 32], &[0, 0, 16], &[16, 48]),
    };
    let short = random.pick(if launch < Launch::Divisible { &[0, 0, 1, 16, 37] } else { &[0, 16] });
    let out = grid * i64::from(make::ZONE) - short;
    let (rows, columns) = (grid * i64::from(make::ROWS) - random.pick(&[0, 0, 3]), random.pick(columns));
    let pitch = columns + random.pick(pitches);
    let (m, n) = (random.pick(&[16, 32, 5]), random.pick(lengths));
    let x = random.pick(&[64, 256, 100]);
    let turned = launch == Launch::Any && random.once_in(3);
    let one = |name, dtype, n: i64| Parameter { name, dtype, extents: vec![n], strides: vec![1], len: n as usize };
    vec![
        one("x", DType::I32, x),
        Parameter {
            name: "y",
            dtype: DType::F32,
            extents: vec![m, n],
            strides: if turned { vec![1, m] } else { vec![n, 1] },
            len: (m * n) as usize,
        },
        one("out", DType::I32, out),
        Parameter {
            name: "grid",
            dtype: DType::F32,
            extents: vec![rows, columns],
            strides: vec![pitch, 1],
            len: (rows * pitch) as usize,
        },
        one("hist", DType::I32, 64),
    ]
}

fn expected(program: &make::Program, setup: &Setup, parameters: &[Parameter], fields: &[i128], n: i128) -> String {
    let views = parameters.iter().zip(&setup.buffers).map(|(parameter, buffer)| {
        let Parameter { name, dtype, extents, strides, .. } = parameter;
        let data = buffer.elements.iter().map(|&bits| number(*dtype, bits)).collect();
        ((*name).to_owned(), View { dtype: *dtype, extents: extents.clone(), strides: strides.clone(), data })
    });
    let mut machine = Machine {
        functions: &program.functions,
        views: views.collect(),
        fields: make::FIELDS.iter().map(|(name, ..)| (*name).to_owned()).collect(),
        program: 0,
    };
    let settings = make::FIELDS.iter().zip(fields).map(|((_, dtype, _), &value)| match DType::from_name(dtype) {
        Some(DType::F32) => Val::Tile(DType::F32, vec![], vec![Num::Float(value as f32 / 4.0)]),
        Some(dtype) => eval::number(dtype, value),
        None => panic!("`{dtype}` is not an element type"),
    });
    let mut scope = Scope::default();
    scope.names.push(("settings".into(), Val::Tuple(settings.collect())));
    scope.names.push(("n".into(), eval::number(DType::I32, n)));
    for (name, value) in &program.constants {
        machine.global(&mut scope, name, value);
    }
    for id in 0..program.grid {
        machine.program = id.into();
        let _: Flow = machine.block(&mut scope.clone(), &program.body);
    }
    let contents = parameters.iter().map(|parameter| {
        let bits = |x: &Num| match *x {
            Num::Int(x) => (x as u64).to_le_bytes(),
            Num::Float(x) => cast(DType::F32, parameter.dtype, x.to_bits().into()).to_le_bytes(),
        };
        let width = parameter.dtype.bytes() as usize;
        machine.views[parameter.name].data.iter().flat_map(|x| bits(x)[..width].to_vec()).collect()
    });
    setup.render(&contents.collect::<Vec<Vec<u8>>>())
}

fn number(dtype: DType, bits: u64) -> Num {
    if dtype.is_float() {
        return Num::Float(f32::from_bits(cast(dtype, DType::F32, bits) as u32));
    }
    eval::wrap(dtype, i128::from(bits))
}

/// An element in another type, which has it, too.
fn cast(from: DType, to: DType, bits: u64) -> u64 {
    if from == to { bits } else { ops::eval::cast(from, to, &[bits])[0] }
}

/// The case of a kernel: its launch, and the tile IR that the attributes make of it.
///
/// # Errors
/// The attributes refuse it.
pub fn case(kernel: &Kernel) -> Result<Case, String> {
    let expansion = expand(&kernel.text)?;
    if let Some(error) = expansion.messages.iter().find(|message| !message.text.starts_with("warning")) {
        return Err(format!("{}:{}: {}", error.start.0, error.start.1, error.text));
    }
    let [found] = &expansion.kernels[..] else { return Err(format!("{} kernels", expansion.kernels.len())) };
    Ok(Case { text: format!("{}{}", kernel.header, found.ir), rounds: false })
}

/// Runs a kernel's tile IR on the interpreter, as the CPU device does, and its PTX on the simulator. Returns how many of its images
/// fill rings.
///
/// # Errors
/// It is refused, or a result is not what [`Kernel::expected`] says.
pub fn check(kernel: &Kernel) -> Result<usize, String> {
    let (found, rings) = ends(&case(kernel)?.text)?;
    if found == kernel.expected { Ok(rings) } else { Err(difference(&kernel.expected, &found)) }
}
