//! What the compiler makes of a kernel: the IR after each pass, the images, and what is said of layouts, rings and loads.

use crate::error::{Error, Result};
use crate::program::Kernel;
use crate::trace::Launch;
use triton_core::analysis::axis;
use triton_core::analysis::pressure;
use triton_core::ir::Function;
use triton_core::metadata::{Arg, Image, ProgramMap};
use triton_core::passes::{self, Env, Pass};

/// A kernel in one of its images.
#[derive(Debug)]
pub struct Inspection<'k> {
    /// The kernel.
    pub kernel: &'k Kernel,
    /// All images, as the program has them.
    pub images: Vec<Image>,
    /// The number of the one that is inspected.
    pub shown: usize,
    /// The function before the first pass, and after each.
    pub passes: Vec<After>,
    /// At stage 2, of which the code is generated.
    pub scheduled: Function,
    /// Layouts, costs, rings and loads, a line each.
    pub explained: String,
    /// Registers of a thread, estimated.
    pub registers: u32,
}

/// The function after a pass.
#[derive(Clone, Debug)]
pub struct After {
    /// The pass.
    pub name: &'static str,
    /// What it does.
    pub doc: &'static str,
    /// The stage that its list leads to.
    pub stage: &'static str,
    /// The function; nothing if the pass changed nothing.
    pub text: Option<String>,
}

/// The name of an image: `sm_90a divisible16 persistent`.
pub fn name(image: &Image) -> String {
    format!("{} {}{}", image.target.name(), image.assumptions(), image.programs.suffix())
}

/// The images of a kernel.
///
/// # Errors
/// The compiler refuses it.
pub fn images(kernel: &Kernel) -> Result<Vec<Image>> {
    let mut func = kernel.func.clone();
    let failed = |why: String| Error::Compiler { instance: kernel.to_string(), why };
    passes::run(passes::OPTIMISE, &mut func, &Env::portable()).map_err(failed)?;
    triton_core::images(&func).map_err(|problem| failed(problem.message))
}

/// The number of the image of a name, of a launch, or the first: the best target's that assumes most.
///
/// # Errors
/// There is none of the name.
pub fn choose(kernel: &Kernel, images: &[Image], asked: Option<&str>, launch: Option<&Launch>) -> Result<usize> {
    let Some(asked) = asked else { return Ok(launch.and_then(Launch::image).unwrap_or(0)) };
    let exact = images.iter().position(|image| name(image) == asked);
    let found =
        exact.or_else(|| images.iter().position(|image| asked.split(' ').all(|word| name(image).contains(word))));
    found.ok_or_else(|| Error::NoImage {
        instance: kernel.to_string(),
        asked: asked.to_string(),
        known: images.iter().map(name).collect(),
    })
}

/// Inspects an image; the arguments of a launch say how often loops run.
///
/// # Errors
/// The compiler contradicts itself.
pub fn inspect<'k>(
    kernel: &'k Kernel,
    images: Vec<Image>,
    shown: usize,
    args: Option<&[Arg]>,
) -> Result<Inspection<'k>> {
    let failed = |why: String| Error::Compiler { instance: kernel.to_string(), why };
    let image = &images[shown];
    let (target, specialization) = (image.target, image.specialization);
    let mut runner = Runner { func: kernel.func.clone(), passes: Vec::new(), last: String::new() };
    runner.begin();
    runner.run(passes::OPTIMISE, &Env::portable(), "0").map_err(failed)?;
    runner.func = runner.func.in_order(image.order);
    let optimised = runner.func.clone();
    let env = Env {
        persistent: image.programs == ProgramMap::Persistent,
        multicast: image.programs == ProgramMap::Peers,
        ..Env::new(target, specialization)
    };
    runner.run(passes::SPECIALISE, &env, "0").map_err(failed)?;
    let before = runner;
    let mut made: Option<Runner> = None;
    // Layouts of fewer registers are taken where the first do not fit: the code tells which these are.
    for register_price in [1, 10, 100] {
        let mut runner = before.clone();
        let env = Env { register_price, ..env };
        runner.run(passes::LAY_OUT, &env, "1").map_err(failed)?;
        runner.run(passes::SYNCHRONIZE, &env, "2").map_err(failed)?;
        let code = triton_core::image_of(&runner.func, target, specialization);
        let is_same = code.is_ok_and(|code| body(&code) == body(image));
        if is_same || made.is_none() {
            made = Some(runner);
        }
        if is_same {
            break;
        }
    }
    let Some(Runner { func: scheduled, passes, .. }) = made else { return Err(failed("there is no code".into())) };
    let explained = triton_core::explain_launch(&optimised, target, specialization, args).map_err(failed)?;
    let registers = pressure::registers(&scheduled, &axis::analyse(&scheduled, specialization));
    Ok(Inspection { kernel, images, shown, passes, scheduled, explained, registers })
}

/// The code without the lines before its entry, which name what it is for.
fn body(image: &Image) -> String {
    let text = image.text();
    text.find(".visible").map_or(String::new(), |at| text[at..].to_string())
}

/// Runs passes one at a time.
#[derive(Clone, Debug)]
struct Runner {
    func: Function,
    passes: Vec<After>,
    last: String,
}

impl Runner {
    fn begin(&mut self) {
        self.note("embedded", "what the checker made, and the program holds", "0");
    }

    fn note(&mut self, name: &'static str, doc: &'static str, stage: &'static str) {
        let text = self.func.to_string();
        let text = (text != self.last).then_some(text);
        if let Some(text) = &text {
            self.last.clone_from(text);
        }
        self.passes.push(After { name, doc, stage, text });
    }

    fn run(&mut self, passes: &[Pass], env: &Env, stage: &'static str) -> Result<(), String> {
        for pass in passes {
            (pass.run)(&mut self.func, env).map_err(|why| format!("in `{}`: {why}", pass.name))?;
            self.note(pass.name, pass.doc, stage);
        }
        Ok(())
    }
}

impl Inspection<'_> {
    /// The image that is inspected.
    pub fn image(&self) -> &Image {
        &self.images[self.shown]
    }
}
