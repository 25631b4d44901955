//! A program for several ranks: the sum of a vector over all of them, and a number that goes around. See `launch` for how it is started; by itself it is a
//! world of one.
//!
//! It takes a GPU for each rank of a host, if there are as many, else the CPU.

use std::process::ExitCode;
use triton::Device;
use triton_collective::{Communicator, Options, Place, Reduce, Result};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let launched = std::env::var_os("RANK").is_some();
    let place = if launched { Place::from_environment()? } else { Place::new(0, 1) };
    let device = Device::cuda(place.local_rank).unwrap_or_else(|_| Device::cpu());
    let communicator = match launched {
        true => Communicator::from_environment(&device, Options::default())?,
        false => Communicator::alone(&device)?,
    };
    let (rank, world) = (communicator.rank(), communicator.world());
    let stream = device.stream()?;

    let mut sums = stream.tensor(&[rank as f32, 1.0], [2])?;
    communicator.all_reduce(&stream, &mut sums, Reduce::Sum)?;

    let mut number = stream.tensor(&[rank as i32], [1])?;
    let mut numbers = vec![rank as i32];
    for _ in 1..world {
        let mut received = stream.tensor_zeros::<i32, _>([1])?;
        communicator.group(&stream, |group| {
            group.send(&number, (rank + 1) % world)?;
            group.receive(&mut received, (rank + world - 1) % world)
        })?;
        number = received;
        numbers.extend(stream.download(&number)?);
    }
    if rank == 0 {
        println!("{world} ranks on {device}: sums {:?}, around the ring {numbers:?}", stream.download(&sums)?);
    }
    communicator.synchronize(&stream)
}
