//! `triton-chip`: the programs, and their results on a GPU.

use std::path::Path;
use std::process::ExitCode;
use triton_chip::archive::{Archive, Run};

const USAGE: &str = "\
triton-chip list                  all programs
triton-chip print NAME            the PTX text of one
triton-chip write DIR             the PTX texts of all
triton-chip record DIR            runs all on GPU 0, and writes DIR/chip.bin
triton-chip show FILE NAME        recorded results of one, with operands; a name may be a prefix";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match run(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("triton-chip: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(words: &[&str]) -> Result<(), String> {
    match words {
        ["list"] => list(),
        ["print", name] => print(name),
        ["write", dir] => write(Path::new(dir)),
        ["show", file, name] => show(Path::new(file), name),
        #[cfg(feature = "record")]
        ["record", dir] => triton_chip::record::record(Path::new(dir)),
        #[cfg(feature = "record")]
        ["run", first] => triton_chip::record::run(first),
        #[cfg(not(feature = "record"))]
        ["record", _] => Err("built without the feature `record`".into()),
        _ => Err(format!("what to do?\n{USAGE}")),
    }
}

fn list() -> Result<(), String> {
    let (mut bytes, mut results, mut count) = (0, 0, 0);
    for program in triton_chip::programs()? {
        println!("{}: {} results, {} bytes", program.name, program.results.len(), program.output);
        bytes += program.output;
        results += program.results.len();
        count += 1;
    }
    println!("{count} programs, {results} results, {bytes} bytes");
    Ok(())
}

fn print(name: &str) -> Result<(), String> {
    let programs = triton_chip::programs()?;
    let program = programs.iter().find(|p| p.name == name).ok_or(format!("no program `{name}`"))?;
    print!("{}", program.text);
    Ok(())
}

fn write(dir: &Path) -> Result<(), String> {
    std::fs::create_dir_all(dir).map_err(|e| e.to_string())?;
    for program in triton_chip::programs()? {
        std::fs::write(dir.join(format!("{}.ptx", program.name)), &program.text).map_err(|e| e.to_string())?;
    }
    Ok(())
}

fn show(file: &Path, name: &str) -> Result<(), String> {
    let archive = Archive::read(&std::fs::read(file).map_err(|e| e.to_string())?)?;
    println!("{}", archive.device);
    for program in triton_chip::programs()?.iter().filter(|p| p.name.starts_with(name)) {
        let record = archive.records.iter().find(|r| r.name == program.name);
        let record = record.ok_or(format!("{} was not recorded", program.name))?;
        if record.hash != program.hash() {
            return Err(format!("{} was recorded with another text or input", program.name));
        }
        match &record.run {
            Run::Failed(error) => println!("{}: {error}", program.name),
            Run::Output(output) => {
                for result in &program.results {
                    println!("{}: {} ({})", program.name, result.form, result.ty.name);
                    for index in 0..result.offsets.len() {
                        let (bits, width) = (result.bits(output, index), result.bytes * 2);
                        println!("  {} -> {bits:0width$x}", result.operands(&program.input, index));
                    }
                }
            }
        }
    }
    Ok(())
}
