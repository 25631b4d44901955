//! What is slow in an image, and how to fix it: what the compiler warns of, what a launch keeps from better code, waves, occupancy.

use crate::error::{Error, Result};
use crate::inspect::{self, Inspection};
use crate::lines::{At, described};
use crate::resources::Resources;
use crate::roofline::Device;
use crate::trace::Launch;
use serde::Serialize;
use triton_core::analysis::advice;
use triton_core::metadata::{ProgramMap, Specialization};
use triton_core::ops::Op;
use triton_core::passes::{self, Env};

/// A piece of advice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Advice {
    /// The code of a warning.
    pub code: Option<String>,
    /// What was found.
    pub text: String,
    /// What to do.
    pub help: Option<String>,
    /// Where.
    pub at: Option<At>,
}

/// A last wave of fewer blocks than this share of those that are resident together is told.
const FULL: f64 = 0.7;
/// Bytes of a launch below which its waves do not matter.
const TOY: u64 = 1 << 20;
/// Waves behind which a short last one does not matter.
const MANY: u64 = 8;

/// All advice on an image, what matters most first.
///
/// # Errors
/// The compiler contradicts itself.
pub fn of(inspection: &Inspection<'_>, resources: &Resources, launch: Option<&Launch>) -> Result<Vec<Advice>> {
    let mut all = Vec::new();
    all.extend(launch.and_then(|launch| weaker(inspection, launch)));
    all.extend(warnings(inspection)?);
    if all.is_empty() {
        all.extend(narrow(inspection));
    }
    all.extend(spills(inspection, resources));
    all.extend(launch.and_then(|launch| wave(inspection, resources, launch)));
    if resources.occupancy < 0.2 && inspection.explained.contains("in its own turn") {
        all.push(Advice {
            code: None,
            text: format!(
                "occupancy is {:.0} %, limited by {}, and loads of a loop are not ahead of their use: little hides their latency",
                resources.occupancy * 100.0,
                resources.limited_by
            ),
            help: Some("see Loops for why each load is not ahead; or take smaller tiles, so that more blocks are resident".into()),
            at: None,
        });
    }
    Ok(all)
}

/// What the compiler warns of, with those that are off by default.
fn warnings(inspection: &Inspection<'_>) -> Result<Vec<Advice>> {
    let failed = |why: String| Error::Compiler { instance: inspection.kernel.to_string(), why };
    let mut func = inspection.kernel.func.in_order(inspection.image().order);
    passes::run(passes::OPTIMISE, &mut func, &Env::portable()).map_err(failed)?;
    let env = Env { specialization: Specialization::Divisible16, ..Env::portable() };
    passes::run(passes::SPECIALISE, &mut func, &env).map_err(failed)?;
    let of_diagnostic = |found: triton_core::diag::Diagnostic| {
        let at = func.sources.loc(found.span).map(|loc| (usize::from(loc.file), loc.line, loc.column));
        let text = found.notes.iter().fold(found.message.clone(), |text, note| format!("{text}; {note}"));
        Advice { code: Some(found.code.to_string()), text, help: found.help, at }
    };
    let mut all: Vec<Advice> = Vec::new();
    for found in advice::advice(&func).into_iter().map(of_diagnostic) {
        let line = |of: &Advice| of.at.map(|(file, line, _)| (file, line));
        if !all.iter().any(|of| (&of.text, line(of)) == (&found.text, line(&found))) {
            all.push(found);
        }
    }
    Ok(all)
}

/// Tiles that do not fit the registers of a thread.
fn spills(inspection: &Inspection<'_>, resources: &Resources) -> Option<Advice> {
    let files = &inspection.scheduled.sources.files;
    let warned = inspection.explained.lines().find(|line| line.contains("spilled to local memory"));
    let bytes = resources.spill_bytes.filter(|&bytes| bytes > 0);
    if warned.is_none() && bytes.is_none() {
        return None;
    }
    let (text, at) = warned.map_or((String::new(), None), |line| described(line.trim(), files));
    let counted = bytes.map(|bytes| format!("a thread stores and loads {bytes} bytes of local memory"));
    let text =
        [Some(text).filter(|text| !text.is_empty()), counted].into_iter().flatten().collect::<Vec<_>>().join("; ");
    let help = "take smaller tiles, or more warps by `num_warps = ..`".to_string();
    Some(Advice { code: Some("W0005".into()), text, help: Some(help), at })
}

/// The arguments keep less than the best image assumes.
fn weaker(inspection: &Inspection<'_>, launch: &Launch) -> Option<Advice> {
    let (specialization, _) = launch.holds;
    let best = inspection.images.iter().position(|image| {
        image.specialization > specialization && image.programs == ProgramMap::Identity && image.order == 0
    })?;
    let why = launch.images.get(best)?.as_ref()?;
    let text = format!(
        "the launch takes `{}`, as {why}: `{}` accesses more elements by one instruction",
        inspect::name(inspection.image()),
        inspect::name(&inspection.images[best])
    );
    let help = "pass views whose rows begin at multiples of 16 bytes, or pad the rows of the buffer".to_string();
    Some(Advice { code: None, text, help: Some(help), at: None })
}

/// Accesses of one element where a thread has several, that nothing else explains.
fn narrow(inspection: &Inspection<'_>) -> Option<Advice> {
    let files = &inspection.scheduled.sources.files;
    let mut lines: Vec<(At, String)> = Vec::new();
    for line in inspection.explained.lines().filter(|line| line.contains(" of 1 elements")) {
        let (text, at) = described(line.trim(), files);
        let kind = text.split_whitespace().nth(2).unwrap_or_default();
        if let Some(at) = at.filter(|at| ["load", "store"].contains(&kind) && lines.iter().all(|(of, _)| of != at)) {
            lines.push((at, kind.to_string()));
        }
    }
    let (first, _) = lines.first()?;
    let named: Vec<String> = lines.iter().map(|((_, line, _), kind)| format!("the {kind} of line {line}")).collect();
    let text = format!("instructions that access one element each: {}", named.join(", "));
    let help = "if they are next to each other: the last stride must be known to be 1, and the other integers of the address to be multiples (leave out `#[no_specialize]`); `cargo triton explain W0003`".to_string();
    Some(Advice { code: None, text, help: Some(help), at: Some(*first) })
}

/// A last wave that leaves multiprocessors idle; of launches that move little, nothing is worth saying.
fn wave(inspection: &Inspection<'_>, resources: &Resources, launch: &Launch) -> Option<Advice> {
    let image = inspection.image();
    if image.programs == ProgramMap::Persistent || launch.bytes() < TOY {
        return None;
    }
    let device = Device::assumed();
    let programs: u64 = launch.programs.iter().map(|&count| u64::from(count)).product();
    let cluster = u64::from(image.cluster[0]);
    let blocks = programs * cluster;
    let (multiprocessors, resident) =
        (u64::from(device.multiprocessors()), u64::from(resources.blocks) * u64::from(device.multiprocessors()));
    if blocks == 0 || resident == 0 {
        return None;
    }
    let clusters = if cluster > 1 { format!(" ({programs} programs of {cluster} blocks)") } else { String::new() };
    let multiplies = inspection
        .kernel
        .func
        .walk()
        .into_iter()
        .any(|inst| matches!(inspection.kernel.func.insts[inst].op, Op::Dot { .. }));
    let (waves, last) = (blocks.div_ceil(resident), (blocks - 1) % resident + 1);
    if waves == 1 {
        let idle = multiprocessors.saturating_sub(blocks);
        let text = format!(
            "blocks{clusters} are fewer than multiprocessors: {blocks} leave {idle} of the {multiprocessors} of an {} idle",
            device.name
        );
        let help = if multiplies { "take smaller tiles, or divide K between programs" } else { "take smaller tiles" };
        return (idle > 0).then(|| Advice { code: None, text, help: Some(help.into()), at: None });
    }
    if last as f64 / resident as f64 >= FULL || waves > MANY {
        return None;
    }
    let text = format!(
        "{blocks} blocks{clusters} are {waves} waves of {resident} that an {} runs together, and the last one has {last}: unless memory is busy all the time (see Roofline), {:.0} % of the time is idle",
        device.name,
        100.0 * (1.0 - blocks as f64 / (waves * resident) as f64)
    );
    let help = "take a tile that divides the work into whole waves, or other `num_warps`, so that another number of blocks runs together".to_string();
    Some(Advice { code: None, text, help: Some(help), at: None })
}
