//! Files with mistakes through the five readers of files: each is read, or refused by an error, and what was read is written and read again alike.
//!
//! By `cargo test` a fixed number of cases of each; `cargo test --release -p triton-tests --test parsers -- --minutes 20 --parser ptx` looks for longer, and
//! `--case N` runs one again.

use clap::Parser as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};
use triton::cache::{Cache, Entry, Key};
use triton_core::hash::fnv1a;
use triton_select::model::Model;
use triton_select::{Record, Table};
use triton_tests::fuzz::{bytes::mutate, said};
use triton_tests::numbers::Random;

#[derive(clap::Parser)]
#[command(about)]
struct Options {
    /// The reader: `ir`, `ptx`, `model`, `table` or `cache`; all of them if none is named
    #[arg(long)]
    parser: Option<String>,
    /// How long to look, for each reader
    #[arg(long)]
    minutes: Option<f64>,
    /// Cases of each reader, where no time is given
    #[arg(long, default_value_t = 1500)]
    cases: u64,
    /// Where to begin; the cases that follow are numbered from there
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Runs this case alone, and prints it
    #[arg(long)]
    case: Option<u64>,
}

/// A reader of files.
struct Reader {
    name: &'static str,
    /// Files that it reads.
    seeds: Vec<Vec<u8>>,
    /// The file with the checksums of what it holds now, so that what is behind them is read.
    sealed: fn(Vec<u8>) -> Vec<u8>,
    /// Reads a file, and says what is wrong with the reader.
    run: fn(&[u8]) -> Result<(), String>,
}

/// The files of a folder with an extension.
fn files(folder: &str, extension: &str) -> Vec<Vec<u8>> {
    fn walk(folder: &Path, extension: &str, found: &mut Vec<Vec<u8>>) {
        let mut paths: Vec<_> =
            std::fs::read_dir(folder).expect("a folder of seeds").flatten().map(|of| of.path()).collect();
        paths.sort();
        for path in paths {
            if path.is_dir() {
                walk(&path, extension, found);
            } else if path.extension().is_some_and(|of| of == extension) {
                found.push(std::fs::read(&path).expect("a seed"));
            }
        }
    }
    let mut found = Vec::new();
    walk(&triton_tests::root().join(folder), extension, &mut found);
    // What is read in a moment, so that there are many cases.
    found.retain(|bytes| bytes.len() < 1 << 16);
    assert!(!found.is_empty(), "{folder} has no files of {extension}");
    found
}

fn readers() -> Vec<Reader> {
    let as_it_is = |bytes| bytes;
    vec![
        Reader { name: "ir", seeds: files("tests/corpus", "tir"), sealed: as_it_is, run: ir },
        Reader { name: "ptx", seeds: files("triton-sim/tests", "ptx"), sealed: as_it_is, run: ptx },
        Reader { name: "model", seeds: files("triton-kernels/src/select", "model"), sealed: with_checksum, run: model },
        Reader { name: "table", seeds: files("triton-kernels/src/tables", "tsv"), sealed: with_checks, run: table },
        Reader { name: "cache", seeds: vec![entry()], sealed: as_it_is, run: cache },
    ]
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn ir(bytes: &[u8]) -> Result<(), String> {
    let Ok(function) = triton_core::ir::parse::parse(&text(bytes)) else { return Ok(()) };
    let printed = function.to_string();
    match triton_core::ir::parse::parse(&printed) {
        Ok(again) if again.to_string() == printed => Ok(()),
        Ok(again) => Err(format!("it is printed as\n{printed}\nwhich is read as\n{again}")),
        Err(error) => Err(format!("what is printed is refused: {error}\n{printed}")),
    }
}

fn ptx(bytes: &[u8]) -> Result<(), String> {
    let _ = triton_sim::Module::parse(&text(bytes));
    Ok(())
}

/// With the checksum of its content.
fn with_checksum(mut bytes: Vec<u8>) -> Vec<u8> {
    if let Some(content) = bytes.len().checked_sub(8) {
        let sum = fnv1a(bytes[..content].iter().copied());
        bytes[content..].copy_from_slice(&sum.to_le_bytes());
    }
    bytes
}

fn model(bytes: &[u8]) -> Result<(), String> {
    let Ok(model) = Model::parse(bytes) else { return Ok(()) };
    match Model::parse(&model.to_bytes()) {
        // A NaN differs from itself, and its bytes do not.
        Ok(again) if again.to_bytes() == model.to_bytes() => Ok(()),
        Ok(_) => Err("what is written is another model".into()),
        Err(error) => Err(format!("what is written is refused: {error}")),
    }
}

/// A table of what the columns of the lines say, each line with its checksum.
fn with_checks(bytes: Vec<u8>) -> Vec<u8> {
    let text = text(&bytes);
    let (first, rest) = text.split_once('\n').unwrap_or((&text, ""));
    let Some((magic, device)) = first.split_once('\t').filter(|(magic, _)| *magic == "triton-tune 1") else {
        return bytes;
    };
    let mut table = Table::new(device);
    for line in rest.lines() {
        let mut columns = line.split('\t').map(str::to_string);
        let mut next = || columns.next().unwrap_or_default();
        let (op, pool, key, member, fingerprint, us) = (next(), next(), next(), next(), next(), next());
        let hex = |text: &str| u64::from_str_radix(text, 16).unwrap_or_default();
        let key = key.split(',').filter_map(|word| word.parse().ok()).collect();
        let (pool, fingerprint, us) = (hex(&pool), hex(&fingerprint), us.parse().unwrap_or(f64::NAN));
        table.insert(Record { op, pool, key, member, fingerprint, us });
    }
    let printed = table.to_string();
    let (_, lines) = printed.split_once('\n').unwrap_or_default();
    format!("{magic}\t{device}\n{lines}").into_bytes()
}

fn table(bytes: &[u8]) -> Result<(), String> {
    let Ok((table, _)) = Table::parse(&text(bytes)) else { return Ok(()) };
    let printed = table.to_string();
    match Table::parse(&printed) {
        Ok((again, 0)) if again.to_string() == printed => Ok(()),
        Ok((again, damaged)) => Err(format!("{damaged} lines are damaged of\n{printed}\nwhich is read as\n{again}")),
        Err(error) => Err(format!("what is printed is refused: {error}")),
    }
}

const KEY: Key<'_> = Key { ptx: ".version 8.0\n.target sm_80", driver: 12080, device: "9.0 NVIDIA H200" };

fn kept() -> Entry {
    Entry { cubin: (0..=255).collect(), log: "ptxas info : Used 32 registers".into() }
}

/// A cache of this process alone.
fn folder() -> Cache {
    Cache::at(std::env::temp_dir().join(format!("triton-parsers-{}", std::process::id())))
}

/// The bytes of an entry.
fn entry() -> Vec<u8> {
    let cache = folder();
    cache.write(&KEY, &kept()).expect("an entry is written");
    std::fs::read(cache.file(&KEY)).expect("the entry")
}

fn cache(bytes: &[u8]) -> Result<(), String> {
    let cache = folder();
    std::fs::write(cache.file(&KEY), bytes).map_err(|error| error.to_string())?;
    match cache.read(&KEY) {
        Some(found) if found != kept() => Err(format!("a damaged entry is read as {found:?}")),
        Some(_) | None => Ok(()),
    }
}

/// The file of this number.
fn input(reader: &Reader, case: u64) -> Vec<u8> {
    let mut random = Random::new(case);
    // Seeds that are numbers one after the other begin alike.
    random.bits();
    let all = &reader.seeds;
    let (seed, other) = (random.below(all.len()), random.below(all.len()));
    (reader.sealed)(mutate(&mut random, &all[seed], &all[other]))
}

fn run(reader: &Reader, bytes: &[u8]) -> Result<(), String> {
    let result = catch_unwind(AssertUnwindSafe(|| (reader.run)(bytes)));
    result.unwrap_or_else(|panic| Err(format!("it panicked: {}", said(panic))))
}

/// Runs cases, and returns how many failed.
fn look(reader: &Reader, options: &Options) -> usize {
    let wrong = reader.seeds.iter().filter_map(|seed| run(reader, seed).err());
    let mut failed: Vec<String> = wrong.map(|why| format!("a seed: {why}")).collect();
    let limit = options.minutes.map(|minutes| Duration::from_secs_f64(minutes * 60.0));
    let (start, mut case, mut slowest) = (Instant::now(), options.seed, (Duration::ZERO, 0));
    while limit.map_or(case - options.seed < options.cases, |limit| start.elapsed() < limit) {
        let (bytes, begun) = (input(reader, case), Instant::now());
        failed.extend(run(reader, &bytes).err().map(|why| format!("case {case}: {why}")));
        slowest = slowest.max((begun.elapsed(), case));
        case += 1;
    }
    let count = case - options.seed;
    failed.iter().for_each(|why| println!("{}: {why}", reader.name));
    println!(
        "{}: {count} cases, {} failed; the slowest, case {}, took {:.2} s",
        reader.name,
        failed.len(),
        slowest.1,
        slowest.0.as_secs_f64()
    );
    failed.len()
}

fn main() {
    let options = Options::parse();
    let mut readers = readers();
    readers.retain(|reader| options.parser.as_deref().is_none_or(|name| name == reader.name));
    if readers.is_empty() {
        println!("there is no such reader: ir, ptx, model, table, cache");
        std::process::exit(2);
    }
    if let Some(case) = options.case {
        for reader in &readers {
            let bytes = input(reader, case);
            println!("{}\n{}\n{:?}", reader.name, text(&bytes), run(reader, &bytes));
        }
        return;
    }
    // A panic that is caught is reported; its trace would bury the report.
    std::panic::set_hook(Box::new(|_| {}));
    let failed: usize = readers.iter().map(|reader| look(reader, &options)).sum();
    let _ = std::fs::remove_dir_all(folder().folder());
    if failed > 0 {
        std::process::exit(1);
    }
}
