//! Reading and writing whole files.

use super::{Data, FIRST, Row, Schema, VERSION};
use crate::error::{Error, Result};
use csv::{ReaderBuilder, StringRecord, WriterBuilder};
use flate2::{Compression, GzBuilder, read::MultiGzDecoder};
use std::io::{Read, Write};
use std::path::Path;

/// Reads a file. Its last line is dropped if it has no end: a run that was killed wrote it.
///
/// # Errors
/// A file that cannot be read, other columns, a damaged line before the last one.
pub fn read(path: impl AsRef<Path>) -> Result<Data> {
    let path = path.as_ref();
    read_bytes(path, &std::fs::read(path).map_err(Error::file(path))?)
}

/// Reads the bytes of a file, which may be compressed; `path` is what errors name.
///
/// # Errors
/// Those of [`read`].
pub fn read_bytes(path: impl AsRef<Path>, bytes: &[u8]) -> Result<Data> {
    let path = path.as_ref();
    let text = match bytes {
        [0x1f, 0x8b, ..] => {
            let mut text = Vec::new();
            let read = MultiGzDecoder::new(bytes).read_to_end(&mut text);
            let cut = |error: std::io::Error| {
                let message = format!("it is compressed, and {error}: copy the file again");
                std::io::Error::new(error.kind(), message)
            };
            read.map_err(cut).map_err(Error::file(path))?;
            text
        }
        _ => bytes.to_vec(),
    };
    let whole = whole_lines(&text);
    Ok(Data { dropped: whole < text.len(), ..parse(path, &text[..whole])? })
}

/// The length of a text up to its last end of a line.
pub(super) fn whole_lines(text: &[u8]) -> usize {
    text.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1)
}

fn parse(path: &Path, text: &[u8]) -> Result<Data> {
    let mut reader = ReaderBuilder::new().flexible(true).from_reader(text);
    let line = |line, found: String, expected: &str| Error::Line {
        path: path.to_owned(),
        line,
        found,
        expected: expected.to_owned(),
    };
    let unreadable = |error: csv::Error| {
        let at = error.position().map_or(1, csv::Position::line);
        line(at, error.to_string(), "a line of UTF-8 with commas between values")
    };
    let header = reader.headers().map_err(unreadable)?.clone();
    let Some(schema) = Schema::of_columns(header.iter()) else {
        let found = header.iter().collect::<Vec<_>>().join(",");
        let expected = "version,device,op,context..,choice..,estimate..,registers,shared,local,us,clock".to_owned();
        return Err(Error::Columns { path: path.to_owned(), found, expected });
    };
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(unreadable)?;
        let at = record.position().map_or(0, csv::Position::line);
        rows.push(row(&schema, &record).map_err(|(found, expected)| line(at, found, expected))?);
    }
    Ok(Data { schema, rows, dropped: false })
}

/// A row, or what was found and what was expected.
fn row(schema: &Schema, record: &StringRecord) -> Result<Row, (String, &'static str)> {
    fn number<T: std::str::FromStr>(text: Option<&str>, expected: &'static str) -> Result<T, (String, &'static str)> {
        let text = text.unwrap_or_default();
        text.parse().map_err(|_| (format!("`{text}`"), expected))
    }
    if record.len() != schema.width() {
        return Err((format!("{} values", record.len()), "a value for each column"));
    }
    let version: u32 = number(record.get(0), "a version of the format")?;
    if version != VERSION {
        return Err((format!("version {version}"), "version 1"));
    }
    let mut values = record.iter().skip(FIRST.len());
    let (whole, float) = ("a whole number", "a number");
    let mut integers =
        |count: usize| -> Result<Vec<i64>, _> { (0..count).map(|_| number(values.next(), whole)).collect() };
    let (context, choice) = (integers(schema.context.len())?, integers(schema.choice.len())?);
    let estimates =
        (0..schema.estimates.len()).map(|_| number(values.next(), float)).collect::<Result<Vec<f64>, _>>()?;
    let row = Row {
        device: record.get(1).unwrap_or_default().to_owned(),
        op: record.get(2).unwrap_or_default().to_owned(),
        context,
        choice,
        estimates,
        registers: number(values.next(), whole)?,
        shared: number(values.next(), whole)?,
        local: number(values.next(), whole)?,
        us: number(values.next(), float)?,
        clock: number(values.next(), whole)?,
    };
    if !(row.us.is_finite() && row.us > 0.0) {
        return Err((format!("{} µs", row.us), "a positive time"));
    }
    match row.estimates.iter().find(|estimate| !estimate.is_finite()) {
        Some(estimate) => Err((estimate.to_string(), "a finite estimate")),
        None => Ok(row),
    }
}

/// The values of a row, in the order of the columns.
fn values(row: &Row) -> Vec<String> {
    let mut values = vec![VERSION.to_string(), row.device.clone(), row.op.clone()];
    values.extend(row.context.iter().chain(&row.choice).map(i64::to_string));
    values.extend(row.estimates.iter().map(f64::to_string));
    values.extend([row.registers, row.shared, row.local].map(|number| number.to_string()));
    values.push(row.us.to_string());
    values.push(row.clock.to_string());
    values
}

/// Checks that a row has a value for each column.
pub(super) fn check(schema: &Schema, row: &Row) -> Result<()> {
    let found = [row.context.len(), row.choice.len(), row.estimates.len()];
    let expected = [schema.context.len(), schema.choice.len(), schema.estimates.len()];
    if found != expected {
        let what = "the number of values of the context, the choice and the estimates";
        return Err(Error::value(what, format!("{found:?}"), format!("{expected:?}"), "give a value for each column"));
    }
    if let Some(name) = [&row.device, &row.op].into_iter().find(|name| name.contains(['\n', '\r'])) {
        return Err(Error::value("a name", format!("{name:?}"), "one line", "remove the end of the line"));
    }
    if !(row.us.is_finite() && row.us > 0.0) {
        return Err(Error::value("a time in µs", row.us, "a positive number", "leave out what did not run"));
    }
    Ok(())
}

/// Lines of a file.
pub(super) fn lines<S: AsRef<[u8]>>(records: impl IntoIterator<Item = Vec<S>>) -> std::io::Result<Vec<u8>> {
    let mut writer = WriterBuilder::new().flexible(true).from_writer(Vec::new());
    for record in records {
        writer.write_record(&record)?;
    }
    writer.into_inner().map_err(csv::IntoInnerError::into_error)
}

/// The line of a row.
pub(super) fn line(row: &Row) -> std::io::Result<Vec<u8>> {
    lines([values(row)])
}

/// Writes a whole file under another name and renames it; compressed if the name ends in `.gz`.
///
/// # Errors
/// A file that cannot be written, a row with another number of values.
pub fn write(path: impl AsRef<Path>, schema: &Schema, rows: &[Row]) -> Result<()> {
    let path = path.as_ref();
    rows.iter().try_for_each(|row| check(schema, row))?;
    let text = || -> std::io::Result<Vec<u8>> {
        let text = lines([schema.columns()].into_iter().chain(rows.iter().map(values)))?;
        if path.extension().is_none_or(|extension| extension != "gz") {
            return Ok(text);
        }
        // Without a time, so that the same rows are the same bytes.
        let mut compressed = GzBuilder::new().mtime(0).write(Vec::new(), Compression::best());
        compressed.write_all(&text)?;
        compressed.finish()
    };
    crate::file::replace(path, &text().map_err(Error::file(path))?)
}
