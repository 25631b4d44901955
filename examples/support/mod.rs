//! What the examples share: the device that the command line asks for, and an exit code with a readable error.

use std::error::Error;
use std::process::ExitCode;
use triton::prelude::*;

/// Runs an example on the device that the command line asks for: `--device cpu`, `--device cuda:1`, `--device sim`, or the best
/// one.
pub fn run(name: &str, example: impl FnOnce(&Device) -> Result<(), Box<dyn Error>>) -> ExitCode {
    let result = device().and_then(|device| {
        println!("device: {device}");
        example(&device)
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{name}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn device() -> Result<Device, Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let name = match args.next().as_deref() {
        None => return Ok(Device::best()),
        Some("--device") => args.next(),
        Some(other) => {
            return Err(format!("unknown argument `{other}`: write `--device`, and `cpu`, `cuda:0` or `sim`").into());
        }
    };
    Ok(name.ok_or("`--device` needs a name")?.parse()?)
}
