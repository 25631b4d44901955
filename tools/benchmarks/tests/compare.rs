//! The comparison from end to end on the CPU device, with our own side in place of the peers.

use std::process::Command;

const BENCH: &str = env!("CARGO_BIN_EXE_triton-bench");

/// Arguments after the common ones, whether it succeeds, what is printed (on either output), and the rows of the table.
type Case<'a> = (&'a [&'a str], bool, &'a str, usize);

#[test]
fn all_cases() {
    check(&[], true, "| matmul bf16 81^3                  | ours  |", 151);
}

#[test]
fn some_cases() {
    let peers: &[&str] = &["--peers", BENCH, "serve", "--device", "cpu", "--entry", "peer"];
    let table: &[Case<'_>] = &[
        (&["--filter", "no such case"], false, "no case is called so: no such case", 0),
        (&[&["--filter", "add"], peers].concat(), true, "| add f16 tail      | peer  |", 16),
        (&[&["--filter", "softmax,matmul"], peers].concat(), true, "| softmax f32 2x32768             | peer  |", 210),
        (&["--filter", "offset", "--peers", "/nowhere/peers"], false, "peers: cannot start", 4),
        (&["--filter", "offset", "--peers", BENCH, "--version"], false, "peers: the program ended", 4),
        (&["--filter", "offset", "--peers", "echo", "{\"failed\": \"no GPU here\"}"], false, "peers: no GPU here", 4),
        (&["--filter", "offset", "--peers", "echo", "hello"], false, "peers: not a reply", 4),
        (&["--peers"], false, "a value is required for '--peers", 0),
    ];
    for &(args, success, printed, rows) in table {
        check(args, success, printed, rows);
    }
}

fn check(args: &[&str], success: bool, printed: &str, rows: usize) {
    let common = ["--device", "cpu", "--n", "1024", "--flush-mib", "1", "--seed", "1", "--blocks", "2", "--reps", "2"];
    let output = Command::new(BENCH).arg("compare").args(common).args(args).output().expect("the benchmark runs");
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.success(), success, "{args:?}: {text}");
    assert!(text.contains(printed), "{args:?}: expected {printed:?} in {text}");
    let found = text
        .lines()
        .filter(|line| line.starts_with("| ") && !line.starts_with("| case") && !line.starts_with("| --"))
        .count();
    assert_eq!(found, rows, "{args:?}: {text}");
}

/// A side that ends when it is asked for one of its two entries: that one is marked, and the other is measured.
#[cfg(unix)]
const FRAGILE: &str = r#"
while read -r line; do
    case $line in
        *prepare*) echo '{"ready":{"device":"d","versions":{},"memory":0,"entries":[
            {"case":"add f16 tail","entry":"good","note":""},{"case":"add f16 tail","entry":"bad","note":""}]}}' | tr -d '\n'; echo ;;
        *bad*) exit 3 ;;
        *check*) echo '{"checked":{"error":0.0,"bound":0.0,"stray":0}}' ;;
        *) echo '{"timed":[0.5,0.5]}' ;;
    esac
done
"#;

#[test]
#[cfg(unix)]
fn started_anew() {
    let common = ["--device", "cpu", "--n", "1024", "--flush-mib", "1", "--seed", "1", "--blocks", "2", "--reps", "2"];
    let rest = ["--filter", "f16 tail", "--peers", "sh", "-c", FRAGILE];
    let output = Command::new(BENCH).arg("compare").args(common).args(rest).output().expect("the benchmark runs");
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{text}");
    let rows: Vec<&str> = text.lines().filter(|line| line.starts_with("| add f16 tail")).collect();
    let (good, bad) =
        (rows.iter().find(|row| row.contains("| good  |")), rows.iter().find(|row| row.contains("| bad   |")));
    assert!(good.is_some_and(|row| row.contains("0.5000")) && bad.is_some_and(|row| row.contains("FAILED")), "{text}");
    assert!(text.contains("bad in `add f16 tail`: peers: the program ended"), "{text}");
}
