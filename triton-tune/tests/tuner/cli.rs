//! The command line, from recorded data to a model and a pool.

use crate::support::Folder;
use crate::support::roofline::recorded;
use std::path::Path;
use std::process::{Command, ExitCode};
use triton_select::model::Model;
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
    let own = Folder::new();
    let folder = &own.0;
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
        (
            "train --data data.csv.gz --hidden 16 --epochs 2 --teachers 2 --lessons 2 --calls 500 --out taught.model",
            "features: m, n, k, BM",
        ),
        ("table mse --data data.csv.gz --held-out 500 --split-out split.csv", "split.csv: "),
        ("regret --data complete.csv --model gemm.model --candidates 20", "best of 10"),
        ("regret --data complete.csv --model compiled.model --candidates 20 --contexts", "candidates  best, µs"),
        ("prune --data complete.csv --size 4", "contexts without one"),
        ("prune --data complete.csv --size 4 --emit-configs --launch splits,raster", "configs = [\n    (BM = "),
        ("prune --data data.csv.gz --size 4 --model gemm.model", "contexts without one"),
        ("--help", "Trains a network"),
    ] {
        match run(folder, arguments) {
            Ok(output) => assert!(output.contains(expected), "{arguments}: {output}"),
            Err(message) => panic!("{arguments}: {message}"),
        }
    }
    // Of each row, whether it is held out: by row, and by context.
    let split = std::fs::read_to_string(folder.join("split.csv")).expect("it was written");
    let held_out = |at: usize| split.lines().skip(1).filter(|line| line.split(',').nth(at) == Some("1")).count();
    assert_eq!((split.lines().count(), held_out(0)), (data.rows.len() + 1, 500));
    assert!((500..520).contains(&held_out(1)));
    let svg = std::fs::read_to_string(folder.join("mse-by-size.svg")).expect("it was drawn");
    assert!(svg.starts_with("<svg") && svg.contains("held out by context"));

    let mut two = data.clone();
    two.rows.iter_mut().skip(1).step_by(2).for_each(|row| row.op = "conv".into());
    write(folder.join("two.csv"), &two.schema, &two.rows).expect("the folder can be written");
    let whole = std::fs::read(folder.join("data.csv.gz")).expect("it was written");
    std::fs::write(folder.join("cut.csv.gz"), &whole[..whole.len() / 2]).expect("the folder can be written");
    std::fs::write(folder.join("damaged.model"), b"TRITONMD\x01\0\0\0").expect("the folder can be written");
    for (arguments, expected) in [
        ("train --data missing.csv --out gemm.model", "`missing.csv` cannot be used"),
        ("train --data data.csv.gz --op conv --out gemm.model", "unknown operation `conv`, expected one of: gemm"),
        ("train --data data.csv.gz --device V100 --out gemm.model", "the number of recorded rows is 0"),
        ("train --data two.csv --out gemm.model", "the data of several operations is conv, gemm"),
        ("train --data cut.csv.gz --out gemm.model", "copy the file again"),
        (
            "train --data data.csv.gz --hidden 0 --out gemm.model",
            "the hidden layers is [0], but 1 to 4096 units each is expected",
        ),
        ("regret --data complete.csv --model damaged.model", "at least 20 are expected"),
        ("regret --data complete.csv --model complete.csv", "the bytes are not a model"),
        ("regret --data data.csv.gz --model gemm.model --candidates 1000", "ask for fewer, by `--candidates`"),
        ("prune --data complete.csv --launch split", "unknown parameter `split`"),
        ("prune", "--data <DATA>"),
    ] {
        let message = run(folder, arguments).expect_err(arguments);
        assert!(message.contains(expected), "{arguments}: {message}");
    }
}

/// A user's own binary is this call and nothing else.
#[test]
fn a_program_has_the_command_line_by_one_call() {
    let (folder, data) = (Folder::new(), recorded(20, 20, 50, 0.02, 1));
    let path = |name: &str| folder.0.join(name).display().to_string();
    write(path("data.csv"), &data.schema, &data.rows).expect("the folder can be written");
    let (data, model) = (path("data.csv"), path("own.model"));
    let arguments =
        ["own", "train", "--data", &data, "--hidden", "8", "--epochs", "1", "--held-out", "0", "--out", &model];
    assert_eq!(triton_tune::cli(arguments), ExitCode::SUCCESS);
    let bytes = std::fs::read(&model).expect("it was written");
    assert!(Model::parse(&bytes).is_ok_and(|model| model.context().len() == 3));
    assert_eq!(triton_tune::cli(["own", "regret", "--data", &data, "--model", &data]), ExitCode::FAILURE);
    assert_eq!(triton_tune::cli(["own", "unknown"]), ExitCode::from(2));
}

/// What the shipped model chooses for the problems of ISAAC's Table 6.
#[test]
fn choices_are_those_of_shipped_data() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    let table = "table choices --data gemm-h200.csv.gz --complete gemm-h200-complete.csv.gz";
    let table = run(&data, &format!("{table} --op gemm-f32 --model gemm-f32.model")).expect("the files are whole");
    assert_eq!(table.lines().count(), 31, "{table}");
    let splits = |problem: &str| -> i64 {
        let row = table.lines().find(|line| line.starts_with(problem)).expect("it is one of the problems");
        row.split_whitespace().rev().nth(2).and_then(|splits| splits.parse().ok()).expect("a number")
    };
    // K is split where it is long and the product small.
    assert!(splits("ICA 32") >= 16 && splits("LINPACK 2048") <= 8 && splits("LAPACK 4096") == 1, "{table}");
}
