//! `users` from end to end on the CPU device, with a program of the shell in place of Triton.

use std::process::Command;

/// Whether it succeeded, and what it printed on either output.
fn users(args: &[&str]) -> (bool, String) {
    let small = ["--device", "cpu", "--n", "64", "--flush-mib", "1", "--seed", "1", "--blocks", "2", "--reps", "1"];
    let output = Command::new(env!("CARGO_BIN_EXE_triton-bench")).arg("users").args(small).args(args).output();
    let output = output.expect("the benchmark runs");
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    (output.status.success(), text.into_owned())
}

/// A peer of one row, with a copy beside it.
#[cfg(unix)]
const PEER: &str = r#"
while read -r line; do
    case $line in
        *prepare*'"kernel":"add"'*) echo '{"ready":{"device":"d","versions":{},"memory":0,"entries":[
            {"case":"01 add f32 64","entry":"triton","note":"BLOCK=7"},{"case":"01 add f32 64","entry":"copy","note":""}]}}' | tr -d '\n'; echo ;;
        *check*) echo '{"checked":{"error":0.0,"bound":0.0,"stray":0}}' ;;
        *) echo '{"timed":[4000.0]}' ;;
    esac
done
"#;

#[test]
#[cfg(unix)]
fn beside_a_peer() {
    let json = format!("{}/users.json", env!("CARGO_TARGET_TMPDIR"));
    let (succeeded, text) = users(&["--filter", "add,fft", "--json", &json, "--peers", "sh", "-c", PEER]);
    assert!(succeeded, "{text}");
    let row = text.lines().find(|line| line.starts_with("| 01 add f32 64 ")).expect("a row");
    let cells: Vec<&str> = row.split('|').map(str::trim).collect();
    assert_eq!(cells[5..7], ["4000000.0 (0)", "copy 4000000.0 (0)"], "{row}");
    // The peer is said to take four seconds.
    for ratio in &cells[7..9] {
        let median = ratio.split(' ').next().and_then(|number| number.parse::<f64>().ok());
        assert!(median.is_some_and(|median| median > 1.0), "{row}");
    }
    assert!(text.contains("| triton   | BLOCK=7 "), "{text}");
    let row = text.lines().find(|line| line.starts_with("| fft f32 2x1024 ")).expect("a row without a peer");
    assert!(row.ends_with("- |"), "{row}");
    let written = std::fs::read_to_string(json).expect("what was found");
    assert!(written.contains("\"over_triton\"") && written.contains("\"kernel\": \"add\""), "{written}");
}

#[test]
fn every_row() {
    let (succeeded, text) = users(&[]);
    assert!(succeeded, "{text}");
    let rows: Vec<&str> = text.lines().filter(|line| line.contains("| GB/s ") || line.contains("| TFLOP/s ")).collect();
    // With 64 elements two additions are one row.
    assert_eq!(rows.len(), 27, "{text}");
    for of in ["01", "02", "03", "04", "05", "06", "07", "08", "09", "w8a16", "rotary", "scan", "fft", "top", "group"] {
        assert!(rows.iter().any(|row| row.starts_with(&format!("| {of} "))), "{of}: {text}");
    }
    let (succeeded, text) = users(&["--filter", "no such row"]);
    assert!(!succeeded && text.contains("no row is called so: no such row"), "{text}");
}
