//! Recorded data: what is written is read, killed runs continue, damage is an error with its line.

use std::path::PathBuf;
use triton_tune::data::{Recorder, Row, Schema, group, read, write};

/// A file of its own for each test, removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("triton-tune-{}-{name}", std::process::id()));
        let _ = std::fs::remove_file(&path);
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn schema() -> Schema {
    Schema::new(["m", "n"], ["BM", "splits"], ["cycles"])
}

fn rows() -> Vec<Row> {
    let row = |index: i64| Row {
        device: "NVIDIA H200, sm_90, 132, \"3201 MHz\"".into(),
        op: "gemm.bf16".into(),
        context: vec![index % 3, 7],
        choice: vec![16 << (index % 4), index],
        estimates: vec![0.1 * index as f64],
        registers: 168,
        shared: 98_304,
        local: 0,
        us: 1.5 + index as f64 / 3.0,
        clock: 1980,
    };
    (1..=20).map(row).collect()
}

#[test]
fn files_are_read_as_they_were_written() {
    for name in ["whole.csv", "whole.csv.gz"] {
        let file = Scratch::new(name);
        write(&file.0, &schema(), &rows()).expect("the folder can be written");
        let data = read(&file.0).expect("it was written");
        assert_eq!((data.schema, data.rows, data.dropped), (schema(), rows(), false));
        assert_eq!(group(&rows()).len(), 3);
    }
}

#[test]
fn killed_runs_continue() {
    let (file, rows) = (Scratch::new("killed.csv"), rows());
    write(&file.0, &schema(), &rows).expect("the folder can be written");
    let whole = std::fs::read(&file.0).expect("it was written");
    let header = whole.iter().position(|&byte| byte == b'\n').expect("a header") + 1;
    for length in [0, 5, header - 1, header, header + 1, whole.len() - 30, whole.len() - 1, whole.len()] {
        std::fs::write(&file.0, &whole[..length]).expect("the folder can be written");
        let mut recorder = Recorder::open(&file.0, &schema()).expect("a killed run is continued");
        let there = recorder.len();
        assert_eq!(there, whole[..length].iter().filter(|&&byte| byte == b'\n').count().saturating_sub(1));
        for row in &rows {
            if !recorder.contains(row) {
                recorder.append(row).expect("the file can be written");
            }
        }
        drop(recorder);
        assert_eq!(std::fs::read(&file.0).expect("it is there"), whole, "from {length} bytes");
    }
    // Reading alone drops what is half-written, too.
    std::fs::write(&file.0, &whole[..whole.len() - 4]).expect("the folder can be written");
    let data = read(&file.0).expect("the last line is dropped");
    assert_eq!((data.rows.len(), data.dropped), (19, true));
}

#[test]
fn damage_is_an_error_with_its_line() {
    let file = Scratch::new("damaged.csv");
    write(&file.0, &schema(), &rows()).expect("the folder can be written");
    let whole = std::fs::read_to_string(&file.0).expect("it was written");
    for (from, to, expected) in [
        ("gemm.bf16,1,7", "gemm.bf16,x,7", "line 2: `x`, but a whole number is expected"),
        ("1,\"NVIDIA", "2,\"NVIDIA", "line 2: version 2, but version 1 is expected"),
        (",2.1666666666666665,", ",-2,", "line 3: -2 µs, but a positive time is expected"),
        (",1980\n", "\n", "line 2: 12 values, but a value for each column is expected"),
        ("context.m", "extent.m", "has the columns version,device,op,extent.m"),
    ] {
        assert!(whole.contains(from), "{from}");
        std::fs::write(&file.0, whole.replacen(from, to, 1)).expect("the folder can be written");
        let message = read(&file.0).expect_err(from).to_string();
        assert!(message.contains(expected), "{message}");
        assert!(Recorder::open(&file.0, &schema()).is_err(), "{from}");
    }
    std::fs::write(&file.0, &whole).expect("the folder can be written");
    let other = Recorder::open(&file.0, &Schema::new(["m"], ["BM"], [])).expect_err("other columns").to_string();
    assert!(other.contains("record into another file"), "{other}");
    let missing = read(file.0.with_extension("missing")).expect_err("no file").to_string();
    assert!(missing.contains("check the path"), "{missing}");
    let mut recorder = Recorder::open(&file.0, &schema()).expect("it is whole");
    assert!(recorder.append(&Row { us: 1.0, ..Row::default() }).is_err());
    let gz = Scratch::new("truncated.csv.gz");
    write(&gz.0, &schema(), &rows()).expect("the folder can be written");
    let bytes = std::fs::read(&gz.0).expect("it was written");
    std::fs::write(&gz.0, &bytes[..bytes.len() / 2]).expect("the folder can be written");
    assert!(read(&gz.0).is_err());
    assert!(Recorder::open(&gz.0, &schema()).is_err());
}
