//! The kernels that the compiler makes of the cases `run` and `barriers` and of random programs, one for each specialization that the
//! arguments keep.

use crate::tally::Program;
use triton_core::ir::parse::parse;
use triton_core::ir::print::print;
use triton_core::ir::{Function, Stage};
use triton_core::metadata::Image;
use triton_core::passes::{self, Env};
use triton_sim::Options;
use triton_tests::numbers::Random;
use triton_tests::random::squares;
use triton_tests::setup::Setup;
use triton_tests::simulate::{self, Found};

/// Cases that are about a mistake: of them something is reported as they are.
const MISTAKEN: &[&str] = &["assert", "division_by_zero", "misaligned", "out_of_bounds", "same_address"];

/// Cases that wait as others do: `cluster_rows`, `cluster_product`, `multicast`, and of tiles of several copies `ring_product`, `wgmma` and
/// `persist`.
const ALIKE: &[&str] = &[
    "cluster_argmax",
    "cluster_moments",
    "cluster_product_wide",
    "multicast_epilogue",
    "odd_fma",
    "odd_wgmma_columns",
    "odd_wgmma_halves",
    "odd_wgmma_halves_i8",
    "odd_wgmma_i8",
    "odd_wgmma_k",
    "odd_wgmma_n",
    "odd_wgmma_persist",
    "odd_wgmma_rows",
];

/// How many random programs there are, and what they are made from.
const RANDOM: usize = 100;
const SEED: u64 = 99;

struct Emitted {
    name: String,
    func: Function,
    setup: Setup,
    image: Image,
    text: String,
    /// What the buffers hold in the end.
    result: String,
}

impl Program for Emitted {
    fn name(&self) -> &str {
        &self.name
    }

    fn text(&self) -> &str {
        &self.text
    }

    fn run(&self, text: &str, seed: u64) -> Result<Option<String>, String> {
        let options = Options { seed, max_reports: 1, idle_limit: 300_000, ..Options::default() };
        Ok(match simulate::run(&self.image, text, &self.func, &self.setup, &options)? {
            Found::NotTaken => None,
            Found::Buffers(buffers) => (buffers != self.result).then(|| "result".to_owned()),
            Found::Reports(reports) => reports.first().map(|report| report.fault.name().to_owned()),
        })
    }
}

/// All of them.
///
/// # Errors
/// A case that cannot be compiled, or of which something is reported as it is.
pub fn programs() -> Result<Vec<Box<dyn Program>>, String> {
    let mut programs = Vec::new();
    for folder in ["run", "barriers"] {
        let path = triton_tests::root().join("tests/corpus").join(folder);
        let entries = std::fs::read_dir(&path).map_err(|e| e.to_string())?.flatten();
        let mut paths: Vec<_> =
            entries.map(|e| e.path()).filter(|p| p.extension().is_some_and(|e| e == "tir")).collect();
        paths.sort();
        for path in paths {
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            if !MISTAKEN.contains(&&*stem) && !ALIKE.contains(&&*stem) {
                let text = std::fs::read_to_string(&path).map_err(|e| e.to_string())?;
                images(&format!("{folder}/{stem}"), &text, &mut programs).map_err(|e| format!("{stem}: {e}"))?;
            }
        }
    }
    let mut random = Random::new(SEED);
    for number in 1..=RANDOM {
        let (func, elements) = squares::program(&mut random);
        let code = print(&func);
        // A branch that is not taken would keep its barriers from being missed.
        if !code.contains(" = if ") {
            let name = format!("random/{number}");
            let buffers = format!("; buffer x f32 small {number} {elements}\n; buffer out f32 zeros {elements}");
            let text = format!("; test run\n{buffers}\n; args x out\n{code}");
            images(&name, &text, &mut programs).map_err(|e| format!("{name}: {e}"))?;
        }
    }
    Ok(programs)
}

fn images(name: &str, text: &str, programs: &mut Vec<Box<dyn Program>>) -> Result<(), String> {
    let mut func = parse(text).map_err(|e| e.to_string())?;
    if func.stage != Stage::Tile {
        return Ok(());
    }
    passes::run(passes::OPTIMISE, &mut func, &Env::portable().verified())?;
    let strongest = Setup::parse(text)?.strongest(&func, 0)?;
    for image in triton_core::images(&func).map_err(|e| e.to_string())? {
        if image.order > 0 || image.specialization > strongest {
            continue;
        }
        let setup = Setup::parse(text)?;
        let result = match simulate::run(&image, &image.text(), &func, &setup, &Options::default())? {
            Found::NotTaken => continue,
            Found::Buffers(buffers) => buffers,
            Found::Reports(reports) => return Err(reports.iter().map(|report| format!("{report}\n")).collect()),
        };
        let (target, mapped) = (image.target.name(), image.programs.suffix());
        let name = format!("{name} {target} {}{mapped}", image.specialization.name());
        programs.push(Box::new(Emitted {
            name,
            func: func.clone(),
            setup,
            text: image.text().into_owned(),
            image,
            result,
        }));
    }
    Ok(())
}
