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
    let small = ["--device", "cpu", "--n", "1024", "--flush-mib", "1", "--seed", "1", "--blocks", "1", "--reps", "1"];
    let tune = [
        &["tune-products", "--filter", "matmul bf16 NT 2x2x1181,matmul f32 NT 2x2x1181,matmul f64,linear"],
        &small[..],
    ]
    .concat();
    let folder = env!("CARGO_TARGET_TMPDIR");
    let (out, data) = (format!("{folder}/gemm.tsv"), format!("{folder}/times.csv"));
    let winners =
        ["winners", "--device", "cpu", "--n", "64", "--flush-mib", "1", "--seed", "1", "--reps", "1", "--types", "f32"];
    let winners = [&winners[..], &["--random", "1", "--seconds", "2", "--out", &out, "--data", &data]].concat();
    let table: &[Case<'_>] = &[
        (&winners, true, &["| matmul f32 NT 4^3 ", "| the winner ", " winners in ", "gemm.tsv"]),
        (&["judge", "--data", &data, "--last", "100"], true, &["| F32, all ", " row | model |", "the worst"]),
        (
            &["select", "--filter", "bf16 1024^3"],
            true,
            &[
                "| tiles of 64x128 > 72 % and < 101 % of the multiprocessors",
                "| matmul bf16 1024^3 | 64x128x64 | measured",
            ],
        ),
        (&["select", "--filter", "softmax"], false, &["no product is called so: softmax"]),
        (
            &tune,
            true,
            &[
                "| 32x32x64 split in 5 ",
                "| 64x64x1024 ",
                "| 32x32x64x8 split in 5, in order ",
                "| matmul f64 40^3             | 32x32x32 ",
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

/// A peer of one product, in place of both.
#[cfg(unix)]
const PEER: &str = r#"
while read -r line; do
    case $line in
        *prepare*'"entries":["torch","cublasLt"]'*) echo '{"ready":{"device":"d","versions":{"cuBLASLt":"left out: no GPU"},"memory":0,
            "entries":[{"case":"matmul f32 NT 2x2x81","entry":"torch","note":""}]}}' | tr -d '\n'; echo ;;
        *check*) echo '{"checked":{"error":0.0,"bound":0.0,"stray":0}}' ;;
        *) echo '{"timed":[4000.0]}' ;;
    esac
done
"#;

#[test]
#[cfg(unix)]
fn tables_of_the_papers() {
    let small =
        ["papers", "--device", "cpu", "--n", "1024", "--flush-mib", "1", "--seed", "1", "--blocks", "2", "--reps", "1"];
    let with = |args: &[&'static str]| [&small[..], args].concat();
    let peer = ["--peers", "sh", "-c", PEER];
    let table: &[(Vec<&str>, bool, &[&str])] = &[
        (
            with(&[&["--table", "covariance,mapl", "--filter", "NT 2x2x81,35x20x35"][..], &peer].concat()),
            true,
            &[
                "(cuBLASLt left out: no GPU)",
                "## Thesis, figure 4.10",
                "| covariance | 2x2x81 NT ",
                "over torch: geometric mean ",
                "1 of 1 rows at least 1.03",
                "## MAPL, figure 15.1",
                "35x20x35 NT",
            ],
        ),
        (
            with(&["--table", "isaac", "--filter", "10^3"]),
            true,
            &[
                "\nf32\n",
                "\nf16\n",
                "\nf64\n",
                "\nbf16\n",
                "| LINPACK ",
                "10x10x10 NT",
                "32x32x32 ",
                "plot the rows without numbers",
            ],
        ),
        (
            with(&["--table", "counters", "--dtype", "f32,bf16,f64"]),
            true,
            &[
                "| f32  | ",
                "| bf16 | ",
                "| f64  | ",
                " sm_90a ",
                "ncu --clock-control none",
                "--dtype f32 --once",
                "torch.float32",
            ],
        ),
        (with(&["--table", "counters", "--once"]), true, &["matmul f32 50x2x50: one launch of "]),
        (
            with(&["--table", "predication"]),
            true,
            &["| matmul f32 128^3  | 128x128x16 |", "| matmul bf16 128^3 | 128x128x32 |"],
        ),
        (with(&["--table", "predication", "--dtype", "f16"]), false, &["the bounds checks of f16 are not measured"]),
        (with(&["--table", "isaac", "--once"]), false, &["`--once` is for the rows of `--table counters`"]),
        (
            with(&["--filter", "50x2x50", "--dtype", "f16"]),
            true,
            &["## ISAAC, section 8.1", "| DeepBench forward  | 50x2x50 NN ", "| f16  | 64x64x64 |"],
        ),
        (with(&["--table", "mapl", "--filter", "nothing"]), false, &["no row is called so: nothing"]),
        (with(&["--dtype", "i8"]), false, &["not one of f32, f16, f64, bf16"]),
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
