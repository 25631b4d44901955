//! The command line, from recorded data to a model and a pool.

mod support;

use std::path::Path;
use std::process::Command;
use support::roofline::recorded;
use triton_tune::data::write;

/// What a command prints, or what it complains about.
fn run(folder: &Path, arguments: &str) -> Result<String, String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_triton-tune"));
    let output = command.args(arguments.split(' ')).current_dir(folder).output().expect("the binary is there");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    if output.status.success() { Ok(text(output.stdout)) } else { Err(text(output.stderr)) }
}

#[test]
fn commands_go_from_data_to_pools() {
    let folder = std::env::temp_dir().join(format!("triton-tune-cli-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the folder can be made");
    let data = recorded(200, 20, 100, 0.02, 1);
    write(folder.join("data.csv.gz"), &data.schema, &data.rows).expect("the folder can be written");
    let complete = recorded(10, usize::MAX, 40, 0.0, 2);
    write(folder.join("complete.csv"), &complete.schema, &complete.rows).expect("the folder can be written");

    for (arguments, expected) in [
        ("table acceptance --uniform 200000 --fitted 20000 --accepted 200", "ISAAC CONV, 10 parameters"),
        ("table space --contexts 3", "all instances"),
        ("table mse --data data.csv.gz --epochs 2 --held-out 500 --weights 30000", "64, 128, 64"),
        (
            "table mse --data data.csv.gz --epochs 1 --held-out 500 --weights 9000 --target time",
            "log₂ µs, standardised",
        ),
        ("plot mse-by-size --data data.csv.gz --epochs 2 --held-out 500 --hidden 16", "mse-by-size.svg"),
        (
            "train --data data.csv.gz --hidden 32,32 --epochs 20 --held-out 500 --out gemm.model",
            "features: m, n, k, BM",
        ),
        ("train --data data.csv.gz --hidden 16 --epochs 2 --compiled --out compiled.model", "registers, shared"),
        ("regret --data complete.csv --model gemm.model --candidates 20", "best of 10"),
        ("regret --data complete.csv --model compiled.model --candidates 20 --contexts", "candidates  best, µs"),
        ("prune --data complete.csv --size 4", "contexts without one"),
        ("prune --data complete.csv --size 4 --emit-configs --launch splits,raster", "configs = [\n    (BM = "),
        ("prune --data data.csv.gz --size 4 --model gemm.model", "contexts without one"),
        ("--help", "Trains a network"),
    ] {
        match run(&folder, arguments) {
            Ok(output) => assert!(output.contains(expected), "{arguments}: {output}"),
            Err(message) => panic!("{arguments}: {message}"),
        }
    }
    let svg = std::fs::read_to_string(folder.join("mse-by-size.svg")).expect("it was drawn");
    assert!(svg.starts_with("<svg") && svg.contains("held out by context"));

    std::fs::write(folder.join("damaged.model"), b"TRITONMD\x01\0\0\0").expect("the folder can be written");
    for (arguments, expected) in [
        ("train --data missing.csv --out gemm.model", "`missing.csv` cannot be used"),
        ("train --data data.csv.gz --op conv --out gemm.model", "the number of recorded rows is 0"),
        ("train --data data.csv.gz --hidden 0 --out gemm.model", "the hidden layers is [0]"),
        ("regret --data complete.csv --model damaged.model", "at least 20 are expected"),
        ("regret --data complete.csv --model complete.csv", "the bytes are not a model"),
        ("regret --data data.csv.gz --model gemm.model --candidates 1000", "ask for fewer rows"),
        ("prune --data complete.csv --launch split", "there is no parameter `split`"),
        ("prune", "--data <DATA>"),
    ] {
        let message = run(&folder, arguments).expect_err(arguments);
        assert!(message.contains(expected), "{arguments}: {message}");
    }
    std::fs::remove_dir_all(&folder).expect("the folder is ours");
}
