//! The state of the GPU during a run: what is noted of it, and in one line for a table's head.

use std::process::Command;

/// What is noted of the GPU after each block.
pub const FIELDS: &str = "name,driver_version,clocks.sm,clocks.mem,power.draw,temperature.gpu";

/// [`FIELDS`] of the first GPU now, separated by commas, if `nvidia-smi` is there.
pub fn now() -> Option<String> {
    let query = format!("--query-gpu={FIELDS}");
    let output = Command::new("nvidia-smi").args([&query, "--format=csv,noheader", "--id=0"]).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_string())
}

/// The range of clock, power and temperature over states of [`now`]; `None` of none, or where they are not numbers.
pub fn summary(states: &[String]) -> Option<String> {
    let range = |field: &str, unit: &str| {
        let column = FIELDS.split(',').position(|name| name == field)?;
        let values = states.iter().map(|state| number(state.split(',').nth(column)?));
        let values = values.collect::<Option<Vec<f64>>>()?;
        let low = values.iter().copied().reduce(f64::min)?;
        let high = values.iter().copied().reduce(f64::max)?;
        Some(if low.round() == high.round() {
            format!("{low:.0} {unit}")
        } else {
            format!("{low:.0} to {high:.0} {unit}")
        })
    };
    let parts = [range("clocks.sm", "MHz")?, range("power.draw", "W")?, range("temperature.gpu", "°C")?];
    Some(format!("clock {}, power {}, {}", parts[0], parts[1], parts[2]))
}

/// The number that a field begins with: `1980 MHz`.
fn number(field: &str) -> Option<f64> {
    field.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries() {
        let state = |clock: &str, power: &str| format!("NVIDIA H200, 580.159.04, {clock}, 3201 MHz, {power}, 51");
        let table: &[(&[String], Option<&str>)] = &[
            (&[], None),
            (&[state("1980 MHz", "[N/A]")], None),
            (&[state("1980 MHz", "412.30 W")], Some("clock 1980 MHz, power 412 W, 51 °C")),
            (
                &[state("1980 MHz", "412.30 W"), state("1635 MHz", "690.00 W")],
                Some("clock 1635 to 1980 MHz, power 412 to 690 W, 51 °C"),
            ),
        ];
        for (states, expected) in table {
            assert_eq!(summary(states).as_deref(), *expected, "{states:?}");
        }
    }
}
