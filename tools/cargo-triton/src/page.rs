//! The page of a kernel in one of its images: data for the scripts beside this file, which draw it.

use crate::advice::{self, Advice};
use crate::error::{Result, at};
use crate::inspect::{self, After, Inspection};
use crate::lines::{At, Line, described, of_ir};
use crate::machine_code::{self, Tools};
use crate::program::Program;
use crate::resources::{self, Resources};
use crate::roofline::{self, Roofline};
use crate::timeline::{self, Timeline};
use crate::trace::Launch;
use crate::{drawn, replay};
use serde::Serialize;
use std::path::Path;
use triton_core::metadata::{Image, ProgramMap, Specialization};
use triton_core::ops::Op;
use triton_sim::Options;

const SHELL: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/page.css");
const SCRIPTS: [&str; 4] = [
    include_str!("page/panes.js"),
    include_str!("page/layouts.js"),
    include_str!("page/charts.js"),
    include_str!("page/page.js"),
];

/// All that a page shows.
#[derive(Debug, Serialize)]
pub struct Page {
    version: &'static str,
    kernel: String,
    instance: String,
    config: usize,
    configs: usize,
    warps: u32,
    program: String,
    image: String,
    files: Vec<File>,
    passes: Vec<OfPass>,
    ptx: Vec<Line>,
    sass: Vec<Line>,
    sass_missing: Option<String>,
    images: Vec<OfImage>,
    advice: Vec<Advice>,
    layouts: Vec<drawn::Layout>,
    memories: Vec<drawn::Memory>,
    costs: Vec<Cost>,
    total: String,
    rings: Vec<String>,
    loads: Vec<Load>,
    timeline: Option<Timeline>,
    timeline_missing: Option<String>,
    resources: Resources,
    roofline: Option<Roofline>,
    roofline_missing: Option<String>,
}

#[derive(Debug, Serialize)]
struct File {
    name: String,
    first: usize,
    lines: Vec<String>,
    missing: Option<String>,
}

#[derive(Debug, Serialize)]
struct OfPass {
    name: &'static str,
    doc: &'static str,
    stage: &'static str,
    changed: bool,
    lines: Vec<Line>,
}

#[derive(Debug, Serialize)]
struct OfImage {
    target: &'static str,
    assumes: String,
    programs: &'static str,
    meaning: String,
    threads: u32,
    cluster: [u32; 3],
    shared_bytes: u32,
    ptx_bytes: usize,
    shown: bool,
    taken: Option<bool>,
    why: String,
}

#[derive(Debug, Serialize)]
struct Cost {
    cycles: f64,
    times: f64,
    kind: String,
    text: String,
    at: Option<At>,
}

#[derive(Debug, Serialize)]
struct Load {
    ahead: bool,
    text: String,
    at: Option<At>,
}

/// Where to get a launch.
const NO_LAUNCH: &str =
    "No launch is known: with `--run`, the program is run and its largest launch of this kernel taken.";

impl Page {
    /// Gathers it.
    ///
    /// # Errors
    /// The compiler contradicts itself, or a tool of NVIDIA's fails.
    pub fn of(program: &Program, inspection: &Inspection<'_>, launch: Option<&Launch>, tools: &Tools) -> Result<Page> {
        let (kernel, image) = (inspection.kernel, inspection.image());
        let files = &inspection.scheduled.sources.files;
        let ptx = resources::ptx(inspection);
        let (resources, cubin) = resources::of(inspection, tools)?;
        let sass = cubin.map(|cubin| tools.disassemble(&cubin)).transpose()?.flatten();
        let sass_missing = match &sass {
            None => Some(machine_code::MISSING.to_string()),
            Some(lines) if lines.is_empty() => Some("nvdisasm printed no code that is known as such.".to_string()),
            Some(_) => None,
        };
        let passes: Vec<OfPass> = inspection.passes.iter().map(of_pass).collect();
        let last = inspection.passes.iter().rev().find_map(|pass| pass.text.as_deref()).unwrap_or_default();
        let (timeline, timeline_missing) = match launch.map(|launch| simulated(inspection, launch, &ptx)) {
            Some(Ok(timeline)) => (Some(timeline), None),
            Some(Err(why)) => (None, Some(why)),
            None => (None, Some(NO_LAUNCH.to_string())),
        };
        let roofline = launch.map(|launch| roofline::of(inspection, launch)).transpose()?;
        let mut page = Page {
            version: env!("CARGO_PKG_VERSION"),
            kernel: kernel.name().to_string(),
            instance: kernel.instance.clone(),
            config: kernel.config,
            configs: kernel.configs,
            warps: kernel.func.num_warps,
            program: program.path.strip_prefix(&program.root).unwrap_or(&program.path).display().to_string(),
            image: inspect::name(image),
            files: Vec::new(),
            sass: sass.unwrap_or_default().into_iter().map(|line| of_sass(line, files)).collect(),
            sass_missing,
            images: inspection
                .images
                .iter()
                .enumerate()
                .map(|(index, of)| of_image(index, of, inspection, launch))
                .collect(),
            advice: advice::of(inspection, &resources, launch)?,
            layouts: drawn::layouts(last),
            memories: drawn::memories(last),
            costs: Vec::new(),
            total: String::new(),
            rings: Vec::new(),
            loads: Vec::new(),
            timeline,
            timeline_missing,
            resources,
            roofline_missing: roofline.is_none().then(|| NO_LAUNCH.to_string()),
            roofline,
            passes,
            ptx,
        };
        page.explain(inspection, launch.is_some());
        page.files = files.iter().enumerate().map(|(index, name)| page.file(index, name, &program.root)).collect();
        Ok(page)
    }

    /// Reads the lines of an explanation.
    fn explain(&mut self, inspection: &Inspection<'_>, is_of_launch: bool) {
        let files = &inspection.scheduled.sources.files;
        let names = drawn::renamed(&inspection.explained, &mut self.layouts);
        self.loads = copied(inspection);
        for line in inspection.explained.lines() {
            let (text, at) = described(line.trim(), files);
            if line.contains(" cycles: ") {
                self.total = line.to_string();
            } else if let Some(cost) = cost(&text, at, &names) {
                self.costs.push(cost);
            } else if text.starts_with("ahead") || text.starts_with("in its own turn") {
                self.loads.push(Load { ahead: text.starts_with("ahead"), text, at });
            } else if !line.starts_with("layout #") && !line.contains("spilled to local memory") {
                self.rings.push(text);
            }
        }
        if !is_of_launch && self.costs.iter().any(|cost| cost.times > 1.0) {
            self.total += "; how often loops run is assumed: `--run` takes it of a launch";
        }
    }

    /// The part of a source file that the code is of.
    fn file(&self, index: usize, name: &str, root: &Path) -> File {
        let ir = self.passes.iter().flat_map(|pass| &pass.lines);
        let places = ir.chain(&self.ptx).chain(&self.sass).filter_map(|Line(_, at)| *at);
        let places = places.filter(|(file, ..)| *file == index).map(|(_, line, _)| line as usize);
        let (least, most) = places.fold((usize::MAX, 0), |(least, most), line| (least.min(line), most.max(line)));
        let path = root.join(name);
        let missing = |why: String| File { name: name.to_string(), first: 1, lines: Vec::new(), missing: Some(why) };
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) => return missing(format!("{} cannot be read: {error}", path.display())),
        };
        let count = text.lines().count();
        if most > count {
            return missing(format!(
                "{} has changed since the program was built: it has no line {most}",
                path.display()
            ));
        }
        // The function's own lines begin above its first operation.
        let (first, last) = (least.saturating_sub(AROUND).max(1), (most + AROUND).min(count));
        let lines = text.lines().skip(first - 1).take((last + 1).saturating_sub(first)).map(str::to_string).collect();
        File { name: name.to_string(), first, lines, missing: None }
    }

    /// Writes the page.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, path: &Path) -> Result<()> {
        at(path, std::fs::write(path, self.html()))
    }

    /// What is slow, and how to fix it.
    pub fn advice(&self) -> &[Advice] {
        &self.advice
    }

    /// The data, as the scripts take it.
    pub fn data(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The page as one file.
    pub fn html(&self) -> String {
        // No text ends the element that it is in.
        let data = self.data().replace('<', "\\u003c");
        let title = format!("{} · {}", self.instance, self.image);
        let title = title.replace('&', "&amp;").replace('<', "&lt;");
        let parts = [("title", title), ("style", STYLE.into()), ("script", SCRIPTS.join("\n")), ("data", data)];
        let mut html = String::new();
        let mut rest = SHELL;
        while let Some((before, after)) = rest.split_once("{{") {
            html.push_str(before);
            let (name, after) = after.split_once("}}").unwrap_or((after, ""));
            html.extend(parts.iter().filter(|(of, _)| *of == name).map(|(_, text)| text.as_str()));
            rest = after;
        }
        html.push_str(rest);
        html
    }
}

/// Lines of the source above and below the code.
const AROUND: usize = 14;

fn of_pass(pass: &After) -> OfPass {
    OfPass {
        name: pass.name,
        doc: pass.doc,
        stage: pass.stage,
        changed: pass.text.is_some(),
        lines: pass.text.as_deref().map(of_ir).unwrap_or_default(),
    }
}

fn of_sass(line: machine_code::Line, files: &[String]) -> Line {
    let at = line.at.and_then(|(name, number)| {
        // The assembler may write absolute names.
        let file = files.iter().position(|file| name == *file || name.ends_with(&format!("/{file}")))?;
        Some((file, number, 1))
    });
    Line(line.text, at)
}

fn of_image(index: usize, image: &Image, inspection: &Inspection<'_>, launch: Option<&Launch>) -> OfImage {
    let said = launch.and_then(|launch| launch.images.get(index));
    let assumed = match image.specialization {
        of if of >= Specialization::Divisible16 => {
            "rows of every view begin aligned to 16 bytes, and are whole multiples of them"
        }
        of if of >= Specialization::Aligned16 => "rows of every view begin aligned to 16 bytes",
        of if of >= Specialization::UnitStride => "the last stride of every view is 1",
        _ => "nothing of the arguments",
    };
    let programs = image.programs.suffix().trim_start();
    let grid = if image.programs == ProgramMap::Persistent {
        "; a block runs several programs, where these are more than blocks are resident"
    } else if image.programs == ProgramMap::Peers {
        "; two blocks share what they load"
    } else {
        ""
    };
    OfImage {
        target: image.target.name(),
        assumes: image.assumptions(),
        programs,
        meaning: format!("Assumes {assumed}{grid}."),
        threads: image.threads,
        cluster: image.cluster,
        shared_bytes: image.shared_bytes,
        ptx_bytes: image.text().len(),
        shown: index == inspection.shown,
        taken: said.map(Option::is_none),
        why: match said {
            Some(Some(why)) => why.clone(),
            Some(None) => "the first of those that the device runs, and whose assumptions the arguments keep".into(),
            None => String::new(),
        },
    }
}

/// The loads that copies to a ring have taken the place of.
fn copied(inspection: &Inspection<'_>) -> Vec<Load> {
    let func = &inspection.scheduled;
    let mut loads: Vec<Load> = Vec::new();
    for inst in func.walk() {
        let data = &func.insts[inst];
        let Op::RingFill { buffer, .. } = data.op else { continue };
        let Some((ring, _)) = func.ring_of(buffer) else { continue };
        let at = func.sources.loc(data.span).map(|loc| (usize::from(loc.file), loc.line, loc.column));
        let ring = &func.rings[ring];
        let by = if ring.fill.is_bulk() { "by TMA" } else { "by `cp.async`" };
        let text = format!("ahead, {by} to a ring of {} slots: {}", ring.slots, func.ty(buffer));
        // A ring is filled before its loop, too.
        if loads.iter().all(|other| (&other.text, other.at) != (&text, at)) {
            loads.push(Load { ahead: true, text, at });
        }
    }
    loads
}

/// A row of the table of costs: `4304.6  x16    load v25: f16[64,32] #1, 2 of 8 elements`.
fn cost(text: &str, at: Option<At>, names: &[(String, String)]) -> Option<Cost> {
    let mut words = text.split_whitespace();
    let cycles = words.next()?.parse().ok()?;
    let times = words.next()?.strip_prefix('x')?.parse().ok()?;
    let renamed = |word: &str| {
        let (name, rest) = word.split_at(word.find([',', ':']).unwrap_or(word.len()));
        let name = names.iter().find(|(of, _)| of == name).map_or(name, |(_, name)| name);
        format!("{name}{rest}")
    };
    let text = words.map(renamed).collect::<Vec<_>>().join(" ");
    let is_conversion = text.contains("to shared memory, from which");
    let kind = if is_conversion { "convert" } else { text.split(' ').next()? }.to_string();
    Some(Cost { cycles, times, kind, text, at })
}

/// One cluster of a launch on the simulator; or why there is none.
fn simulated(inspection: &Inspection<'_>, launch: &Launch, ptx: &[Line]) -> Result<Timeline, String> {
    let image = inspection.image();
    let of_cluster = if image.programs == ProgramMap::Peers { image.cluster[0] } else { 1 };
    let options =
        Options { trace: timeline::TRACED, max_instructions: 4 * timeline::TRACED as u64, ..Options::default() };
    let outcome = replay::run(inspection.kernel, image, launch, [of_cluster, 1, 1], &options);
    let outcome = outcome.map_err(|error| format!("The simulator did not run it: {error}"))?;
    Ok(timeline::of(&outcome.trace, ptx))
}
