//! Random kernels in the manner of Triton's tutorials, each with several launches: products of tiles that are loaded in a loop, through
//! pointers which the loop steps, or of views.
//!
//! A launch chooses an image by its arguments: a stride that is 1 along one axis or the other, or along none, extents that 16 divides, or
//! not. So one kernel has launches of several kinds, and each runs every image that its arguments permit, of every target. What the
//! buffers hold then is what the interpreter says of the kernel as it is written.

mod choices;
mod launch;
mod text;

use super::Random;
use crate::expand::expand;
use crate::run;
use crate::setup::Setup;
use crate::simulate;
use choices::Choices;
use triton_core::ir::parse::parse;
use triton_core::metadata::{Image, Specialization, Target};
use triton_core::passes::{self, Env};

/// What kernels are to reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Tiles of pointers, rows and columns that wrap around, strides that are arguments.
    Pointers,
    /// Operands that are converted, and scaled, between load and product.
    Converted,
}

/// A kernel with its launches.
pub struct Program {
    /// The file.
    pub text: String,
    /// The launches, each as the header of a `run` case.
    pub launches: Vec<String>,
}

/// Launches of a program.
const LAUNCHES: usize = 3;

/// The program of this number.
pub fn program(family: Family, number: u64) -> Program {
    let mut random = Random::new(number.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x2545_f491_4f6c_dd1d ^ family as u64);
    // Those of numbers that lie near each other begin alike.
    (0..4).for_each(|_| _ = random.below(2));
    let choices = Choices::of(&mut random, family);
    let (text, parameters) = text::written(&choices);
    let launches = (0..LAUNCHES).map(|_| launch::header(&mut random, &choices, &parameters)).collect();
    Program { text, launches }
}

/// The tile IR of a kernel.
///
/// # Errors
/// The attributes refuse it.
pub fn ir(program: &Program) -> Result<String, String> {
    let expansion = expand(&program.text)?;
    if let Some(error) = expansion.messages.iter().find(|message| !message.text.starts_with("warning")) {
        return Err(format!("{}:{}: {}", error.start.0, error.start.1, error.text));
    }
    let [found] = &expansion.kernels[..] else { return Err(format!("{} kernels", expansion.kernels.len())) };
    Ok(found.ir.clone())
}

/// The cases of a program, one for each launch, and its images.
///
/// # Errors
/// It is refused, or a pass fails.
pub fn cases(program: &Program) -> Result<(Vec<String>, Vec<Image>), String> {
    let ir = ir(program)?;
    let mut func = parse(&ir).map_err(|e| e.to_string())?;
    passes::run(passes::OPTIMISE, &mut func, &Env::portable().verified())?;
    let images = triton_core::images(&func).map_err(|e| e.to_string())?;
    Ok((program.launches.iter().map(|launch| format!("{launch}{ir}")).collect(), images))
}

/// What the launches of a program ran.
#[derive(Debug, Default)]
pub struct Reached {
    /// The image of each run.
    pub images: Vec<(Target, Specialization)>,
    /// Runs of images for operands in another order than the first.
    pub turned: u64,
    /// Whether one of them copies ahead, element by element or in bulk, multiplies by `mma`, by `wgmma`.
    pub code: [bool; 4],
}

/// Names of [`Reached::code`] in PTX.
pub const CODE: [&str; 4] = ["cp.async.c", "cp.async.bulk", "mma.sync", "wgmma.mma_async"];

/// Runs the launches of a program on the interpreter, and on the simulator each image that they permit.
///
/// # Errors
/// The results are not the same, or there is a report.
pub fn check(program: &Program) -> Result<Reached, String> {
    let (cases, images) = cases(program)?;
    let mut reached = Reached::default();
    for (number, text) in cases.iter().enumerate() {
        let fails = |error: String| format!("launch {number}: {error}");
        let (func, setup) = (parse(text).map_err(|e| e.to_string())?, Setup::parse(text)?);
        let expected = run::meant(&func, &setup).map_err(fails)?;
        for image in simulate::agree(&images, &func, &setup, &expected).map_err(fails)? {
            reached.images.push((image.target, image.specialization));
            reached.turned += u64::from(image.order > 0);
            let text = image.text();
            CODE.iter().zip(&mut reached.code).for_each(|(name, is_there)| *is_there |= text.contains(name));
        }
    }
    Ok(reached)
}
