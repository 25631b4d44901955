//! The PTX of a `run` case on the simulator: the same result as the interpreter's, and no report.

use crate::setup::Setup;
use crate::tensor_maps;
use triton_core::ir::Function;
use triton_core::metadata::{Image, Target};
use triton_core::passes::Env;
use triton_core::passes::memory::allocate;
use triton_sim::{Arg, Launch, Memory, MemoryError, Module, Options, Report};

/// Bytes of the slot that code with assertions takes: [`Image::has_assert_buffer`].
const SLOT: usize = 16;

/// Blocks that are resident together: few, so that each of them runs several programs.
const RESIDENT: u32 = 2;

/// Runs the code of an optimised function for each specialization that the case's arguments satisfy, and compares with
/// the interpreter's result, `expected`. Returns how many of them fill rings.
///
/// # Errors
/// The code cannot be generated or parsed, the result differs, or there is a report. Where an error is expected, that
/// there is none.
pub fn check(func: &Function, setup: &Setup, expected: &str) -> Result<usize, String> {
    let images = triton_core::images(func).map_err(|e| e.to_string())?;
    let ran = agree(&images, func, setup, expected)?;
    Ok(ran.into_iter().filter(|image| image.text().contains("cp.async")).count())
}

/// The same of images that were made before. Returns those that ran.
///
/// # Errors
/// As of [`check`].
pub fn agree<'a>(
    images: &'a [Image],
    func: &Function,
    setup: &Setup,
    expected: &str,
) -> Result<Vec<&'a Image>, String> {
    let strongest = setup.strongest_of_orders(func)?;
    let mut ran = Vec::new();
    for image in images.iter().filter(|image| image.specialization <= strongest[usize::from(image.order)]) {
        let fails =
            |what: String| format!("on the simulator, {}, {}: {what}", image.target.name(), image.assumptions());
        let found = run(image, &image.text(), func, setup, &Options::default()).map_err(fails)?;
        let (is_right, text) = match found {
            Found::NotTaken => continue,
            Found::Buffers(buffers) => (buffers == expected, buffers),
            Found::Reports(reports) => {
                (expected.starts_with("error"), reports.iter().map(|report| format!("{report}\n")).collect())
            }
        };
        if !is_right {
            return Err(fails(format!("expected\n{expected}found\n{text}")));
        }
        ran.push(image);
    }
    Ok(ran)
}

/// The first line of the first report on the code of a function at stage 2.
///
/// # Errors
/// There is no code, or nothing is reported.
pub fn report(func: &Function, setup: &Setup) -> Result<String, String> {
    let (mut func, env) = (func.clone(), Env::new(Target::Sm90a, setup.strongest(func, 0)?));
    allocate::allocate(&mut func, &env)?;
    let image = triton_core::image_of(&func, env.target, env.specialization).map_err(|e| e.message)?;
    match run(&image, &image.text(), &func, setup, &Options::default())? {
        Found::NotTaken => Err("the simulator runs another image".into()),
        Found::Buffers(_) => Err("the simulator reports nothing".into()),
        Found::Reports(reports) => {
            let text = reports.first().map(ToString::to_string).unwrap_or_default();
            Ok(text.lines().next().unwrap_or_default().to_string())
        }
    }
}

/// The outcome of a launch.
pub enum Found {
    /// What the buffers hold.
    Buffers(String),
    /// Nothing: a launch with these arguments takes another image.
    NotTaken,
    /// The reports.
    Reports(Vec<Report>),
}

/// Runs a text in place of that of a function's image.
///
/// # Errors
/// The error if the text cannot be parsed or launched.
pub fn run(image: &Image, text: &str, func: &Function, setup: &Setup, options: &Options) -> Result<Found, String> {
    let module = Module::parse(text).map_err(|e| e.to_string())?;
    let mut memory = Memory::new();
    let contents: Vec<Vec<u8>> = setup.buffers.iter().map(|buffer| buffer.bytes()).collect();
    let mut upload = |bytes: &[u8]| -> Result<u64, MemoryError> {
        let address = memory.alloc(bytes.len() as u64)?;
        memory.write(address, bytes)?;
        Ok(address)
    };
    let addresses: Result<Vec<u64>, _> = contents.iter().map(|bytes| upload(bytes)).collect();
    let addresses = addresses.map_err(|e| e.to_string())?;
    let slot = if image.has_assert_buffer { Some(upload(&[0; SLOT]).map_err(|e| e.to_string())?) } else { None };
    let args = setup.args(func, &addresses)?;
    let Some(maps) = tensor_maps::encode(image, func, &args) else { return Ok(Found::NotTaken) };
    let words = args.into_iter().map(|arg| Arg::Bits(arg.bits()));
    let programs = image.programs.words(setup.grid).into_iter().flatten().map(Arg::Bits);
    let args = words.chain(maps.into_iter().map(Arg::Bytes)).chain(programs).chain(slot.map(Arg::Bits));
    let launch = Launch {
        entry: image.entry.to_string(),
        grid: image.blocks(setup.grid, RESIDENT).ok_or("more blocks than a grid has")?,
        block: [image.threads, 1, 1],
        cluster: image.cluster,
        shared: image.shared_bytes,
        args: args.collect(),
    };
    let outcome = module.launch(&mut memory, &launch, options).map_err(|e| e.to_string())?;
    if !outcome.reports.is_empty() {
        return Ok(Found::Reports(outcome.reports));
    }
    let read = |(address, before): (&u64, &Vec<u8>)| Ok(memory.read(*address, before.len() as u64)?.to_vec());
    let after: Result<Vec<Vec<u8>>, MemoryError> = addresses.iter().zip(&contents).map(read).collect();
    Ok(Found::Buffers(setup.render(&after.map_err(|e| e.to_string())?)))
}
