//! Finds a race in a reversal through shared memory whose barrier was dropped, and none when it is there.
//!
//! ```text
//! cargo run -p triton-sim --example race
//! ```

use triton_sim::{Arg, Launch, Memory, Module, Options, Outcome};

const REVERSE: &str = include_str!("race.ptx");

/// Reverses 0 to 63 with a PTX text; also says whether the result is right.
fn reverse(text: &str, seed: u64) -> Result<(Outcome, bool), Box<dyn std::error::Error>> {
    let mut memory = Memory::new();
    let [input, output] = [memory.alloc(256)?, memory.alloc(256)?];
    let numbers: Vec<u8> = (0u32..64).flat_map(u32::to_le_bytes).collect();
    memory.write(input, &numbers)?;

    let launch =
        Launch { args: vec![Arg::Bits(input), Arg::Bits(output)], ..Launch::new("reverse", [1, 1, 1], [64, 1, 1]) };
    let outcome = Module::parse(text)?.launch(&mut memory, &launch, &Options { seed, ..Options::default() })?;

    let reversed: Vec<u8> = (0u32..64).rev().flat_map(u32::to_le_bytes).collect();
    let right = memory.read(output, 256)? == reversed;
    Ok((outcome, right))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for (what, text) in [("with its barrier", REVERSE.to_string()), ("without", REVERSE.replace("bar.sync 0;", ""))] {
        for seed in 1..=3 {
            let (outcome, right) = reverse(&text, seed)?;
            println!("{what}, seed {seed}: the result is {}", if right { "right" } else { "wrong" });
            for report in &outcome.reports {
                println!("  {report}");
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use triton_sim::Fault;

    #[test]
    fn the_race_is_found_where_it_is() {
        for seed in 1..=10 {
            let (outcome, right) = reverse(REVERSE, seed).expect("it runs");
            assert!(right && outcome.reports.is_empty(), "seed {seed}: {:?}", outcome.reports);

            let (outcome, _) = reverse(&REVERSE.replace("bar.sync 0;", ""), seed).expect("it runs");
            // The warps race on what they exchange; what is read before it is written is another report.
            assert!(
                outcome.reports.iter().any(|r| matches!(r.fault, Fault::Race { .. })),
                "seed {seed}: {:?}",
                outcome.reports
            );
        }
    }
}
