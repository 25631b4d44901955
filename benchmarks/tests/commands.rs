//! The commands that need no GPU from end to end, and what the others say without one.

use std::process::Command;

/// Runs the benchmark: whether it succeeded, and what it printed on either output.
fn run(args: &[&str]) -> (bool, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_triton-bench")).args(args).output().expect("the benchmark runs");
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    (output.status.success(), text.into_owned())
}

/// Arguments, whether the command succeeds, and texts of which each is printed.
type Case<'a> = (&'a [&'a str], bool, &'a [&'a str]);

#[test]
fn commands() {
    let small = ["--device", "cpu", "--n", "1024", "--flush-mib", "1", "--blocks", "1", "--reps", "1"];
    let tune = [
        &["tune-products", "--filter", "matmul bf16 NT 2x2x1181,matmul f32 NT 2x2x1181,matmul f64,linear"],
        &small[..],
    ]
    .concat();
    let table: &[Case<'_>] = &[
        (
            &["select", "--filter", "bf16 1024^3"],
            true,
            &["| tiles of 64x128 96 to 132", "| matmul bf16 1024^3 | 64x128x64 | one wave"],
        ),
        (&["select", "--filter", "softmax"], false, &["no product is called so: softmax"]),
        (
            &tune,
            true,
            &[
                "| 32x32x64 split in 5 ",
                "| 64x64x1024 ",
                "| 32x32x64x8 split in 5, in order ",
                "| matmul f64 40^3         | 64x128x16 ",
                "| 64x256x32 ",
            ],
        ),
    ];
    for (args, success, texts) in table {
        let (succeeded, text) = run(args);
        assert_eq!(succeeded, *success, "{args:?}: {text}");
        for expected in *texts {
            assert!(text.contains(expected), "{args:?}: expected {expected:?} in {text}");
        }
    }
}

#[test]
fn plots() {
    let (recorded, svg) = (
        concat!(env!("CARGO_MANIFEST_DIR"), "/tests/compare.json"),
        std::env::temp_dir().join(format!("triton-bench-plot-{}.svg", std::process::id())),
    );
    let to = svg.to_str().expect("a path in UTF-8");
    let (succeeded, printed) = run(&["plot", recorded, to]);
    let text = std::fs::read_to_string(&svg).unwrap_or_default();
    let _ = std::fs::remove_file(&svg);
    assert!(succeeded && printed.contains("6 bars"), "{printed}");
    for expected in [
        "Rate of ours over that of the fastest peer, CPU",
        "over 3 blocks, seed 7, inputs standard normal",
        "add f16 tail",
        "softmax f32 2x1024",
        "matmul bf16 NT 2x2x1181",
        "matrix products of tf32",
    ] {
        assert!(text.contains(expected), "expected {expected:?} in {text}");
    }
    // The ground, and a bar for each row of ours that has a peer.
    assert_eq!(text.matches("<rect ").count(), 1 + 6, "{text}");

    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    for (from, expected) in [(source, "not what `compare --json` writes"), ("/nowhere.json", "/nowhere.json: ")] {
        let (succeeded, printed) = run(&["plot", from, to]);
        assert!(!succeeded && printed.contains(expected), "{printed}");
    }
}
