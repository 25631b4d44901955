//! What a GPU computed, as one compressed file.

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use std::io::{Read, Write};

/// The outcome of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Run {
    /// The bytes of its output.
    Output(Vec<u8>),
    /// Why there is none.
    Failed(String),
}

/// One recorded program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Its name.
    pub name: String,
    /// [`crate::Program::hash`] of what ran.
    pub hash: u64,
    /// Its outcome.
    pub run: Run,
}

/// What was recorded on a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Archive {
    /// Name of the device and version of the driver.
    pub device: String,
    /// All programs that ran.
    pub records: Vec<Record>,
}

const MAGIC: &[u8] = b"triton-chip 1\n";

impl Archive {
    /// The file.
    ///
    /// # Errors
    /// None that memory does not have.
    pub fn write(&self) -> std::io::Result<Vec<u8>> {
        let mut file = ZlibEncoder::new(MAGIC.to_vec(), Compression::best());
        let mut bytes = |data: &[u8]| {
            file.write_all(&(data.len() as u64).to_le_bytes())?;
            file.write_all(data)
        };
        bytes(self.device.as_bytes())?;
        for record in &self.records {
            bytes(record.name.as_bytes())?;
            bytes(&record.hash.to_le_bytes())?;
            match &record.run {
                Run::Output(output) => {
                    bytes(b"output")?;
                    bytes(output)?;
                }
                Run::Failed(error) => {
                    bytes(b"failed")?;
                    bytes(error.as_bytes())?;
                }
            }
        }
        file.finish()
    }

    /// Reads a file.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(file: &[u8]) -> Result<Archive, String> {
        let data = file.strip_prefix(MAGIC).ok_or("not a record of results")?;
        let mut all = Vec::new();
        ZlibDecoder::new(data).read_to_end(&mut all).map_err(|e| e.to_string())?;
        let mut rest = all.as_slice();
        let device = text(field(&mut rest)?);
        let mut records = Vec::new();
        while !rest.is_empty() {
            let name = text(field(&mut rest)?);
            let hash = field(&mut rest)?.try_into().map_err(|_| format!("the hash of {name} does not have 8 bytes"))?;
            let completed = field(&mut rest)? == b"output";
            let data = field(&mut rest)?;
            let run = if completed { Run::Output(data.to_vec()) } else { Run::Failed(text(data)) };
            records.push(Record { name, hash: u64::from_le_bytes(hash), run });
        }
        Ok(Archive { device, records })
    }
}

fn text(data: &[u8]) -> String {
    String::from_utf8_lossy(data).into_owned()
}

fn field<'a>(rest: &mut &'a [u8]) -> Result<&'a [u8], String> {
    let end = || "the record ends early".to_owned();
    let (length, tail) = rest.split_at_checked(8).ok_or_else(end)?;
    let length = u64::from_le_bytes(length.try_into().map_err(|_| end())?);
    let (data, tail) = tail.split_at_checked(usize::try_from(length).map_err(|_| end())?).ok_or_else(end)?;
    *rest = tail;
    Ok(data)
}
