//! Texts of tables: whole, damaged, cut off, of other versions.

use triton_select::{Error, Record, Table};

/// What damage does to a line.
type Change = fn(&str) -> String;

fn record(op: &str, key: &[i64], member: &str, us: f64) -> Record {
    Record { op: op.into(), pool: 0x1234, key: key.to_vec(), member: member.into(), fingerprint: u64::MAX, us }
}

fn sample() -> Table {
    let mut table = Table::new("NVIDIA H200, 9.0, 132 multiprocessors, driver 12080");
    for (index, us) in [8.25, 1e-3, 123_456.789, 0.1 + 0.2].into_iter().enumerate() {
        assert!(table.insert(record("softmax::<f32>", &[12672, index as i64, -1], "M=1 N=16384", us)));
        assert!(table.insert(record("softmax::<f32>", &[12672, index as i64, -1], "M=2 N=16384", us * 2.0)));
    }
    assert!(table.insert(record("no key", &[], "only", 1.0)));
    table
}

#[test]
fn a_text_is_read_back() {
    let table = sample();
    assert_eq!(Table::parse(&table.to_string()), Ok((table.clone(), 0)));
    assert_eq!(table.len(), 9);
    assert_eq!(table.winners().len(), 5);
    assert!(table.winners().records().all(|record| !record.member.starts_with("M=2")));
}

#[test]
fn damaged_lines_are_skipped() {
    let text = sample().to_string();
    let lines: Vec<&str> = text.lines().collect();
    let changes: &[(&str, Change)] = &[
        ("cut off", |line| line[..line.len() / 2].into()),
        ("cut off in the sum", |line| line[..line.len() - 1].into()),
        ("another digit", |line| line.replace("12672", "12673")),
        ("another character", |line| line.replace("M=", "N=")),
        ("no column", |line| line.replace('\t', " ")),
        ("binary", |line| line.replace('<', "\u{0}")),
        ("two in a line", |line| format!("{line}{line}")),
        ("an empty sum", |line| format!("{line}\t")),
    ];
    for (name, change) in changes {
        // The line after the one of the key that is empty.
        let damaged: Vec<String> =
            lines.iter().enumerate().map(|(i, line)| if i == 3 { change(line) } else { line.to_string() }).collect();
        let (table, skipped) = Table::parse(&damaged.join("\n")).expect("it is a table");
        assert_eq!((table.len(), skipped), (8, 1), "{name}");
    }
}

#[test]
fn a_text_may_be_cut_off_anywhere() {
    let text = sample().to_string();
    let header = text.find('\n').unwrap_or_default();
    for end in 0..text.len() {
        match Table::parse(&text[..end]) {
            Ok((table, skipped)) => {
                assert!(skipped <= 1 && table.len() <= 9, "{end}");
                let whole = sample();
                assert!(table.records().all(|record| whole.records().any(|of| of == record)), "{end}");
            }
            Err(error) => assert!(end < header && error == Error::NotATable, "{end}: {error}"),
        }
    }
}

#[test]
fn other_texts_are_errors() {
    let cases = [
        ("", "the text does not begin with `triton-tune 1` and a device; pass what a tuner wrote"),
        ("{\"op\": 1}\n", "the text does not begin with `triton-tune 1` and a device; pass what a tuner wrote"),
        (
            "triton-tune 2\tNVIDIA H200\n",
            "the table has version `2`, but 1 is expected; tune again, or update triton-select",
        ),
    ];
    for (text, message) in cases {
        assert_eq!(Table::parse(text).map_err(|error| error.to_string()), Err(message.to_string()), "{text:?}");
        assert!(Table::embedded(text).is_empty());
    }
}

#[test]
fn what_is_not_a_time_is_refused() {
    let mut table = Table::new("CPU");
    for us in [0.0, -1.0, f64::NAN, f64::NEG_INFINITY] {
        assert!(!table.insert(record("op", &[1], "a", us)), "{us}");
    }
    for (op, member) in [("", "a"), ("op", ""), ("o\tp", "a"), ("op", "a\nb")] {
        assert!(!table.insert(record(op, &[1], member, 1.0)), "{op:?} {member:?}");
    }
    assert!(table.is_empty());
}

#[test]
fn what_failed_is_kept_and_never_wins() {
    let mut table = Table::new("CPU");
    table.insert(record("op", &[1], "a", f64::INFINITY));
    assert_eq!(Table::parse(&table.to_string()), Ok((table.clone(), 0)));
    assert!(table.winners().is_empty());
    table.insert(record("op", &[1], "b", 1.0));
    assert_eq!(table.winners().records().map(|record| record.member).collect::<Vec<_>>(), ["b"]);
}

#[test]
fn the_later_time_counts() {
    let mut old = Table::new("CPU");
    old.insert(record("op", &[1], "a", 1.0));
    old.insert(record("op", &[1], "b", 2.0));
    let mut new = Table::new("CPU");
    new.insert(record("op", &[1], "a", 3.0));
    old.merge(&new);
    assert_eq!(old.records().map(|record| record.us).collect::<Vec<_>>(), [3.0, 2.0]);
}

#[test]
fn devices_are_compared_without_their_driver() {
    let table = sample();
    assert!(table.is_of("NVIDIA H200, 9.0, 132 multiprocessors, driver 13000"));
    assert!(table.is_of("NVIDIA H200, 9.0, 132 multiprocessors"));
    assert!(!table.is_of("NVIDIA H100, 9.0, 132 multiprocessors, driver 12080"));
}
