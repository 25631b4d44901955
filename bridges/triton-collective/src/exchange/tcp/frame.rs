//! What goes over a connection: a greeting with a version, then frames with their lengths.
//!
//! A frame is a kind (1 byte), an argument (4 bytes), a length (8 bytes), all little-endian, and as many bytes. Nothing is allocated for a length before
//! its bytes come.

use crate::exchange::mailbox::Event;
use std::io::{self, Read, Write};
use std::sync::Arc;

const MAGIC: [u8; 8] = *b"TRITCOLL";
const VERSION: u32 = 1;
/// The most bytes of a frame, 64 GiB.
pub(crate) const MOST: u64 = 1 << 36;

/// What tells a file's meeting from others: 0 of a meeting at an address.
pub(crate) type Nonce = u128;

/// What a rank says first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Greeting {
    pub(crate) nonce: Nonce,
    pub(crate) world: u32,
    pub(crate) rank: u32,
}

/// From a rank to the hub.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Up {
    /// It comes to the gather.
    Bring(Vec<u8>),
    Send {
        to: usize,
        bytes: Vec<u8>,
    },
    /// Its time-out is over.
    Expire,
    /// It takes no more part, and closes the connection.
    Leave {
        in_order: bool,
    },
}

/// From the hub to a rank.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Down {
    /// These ranks have not come to the meeting yet.
    Missing(Vec<usize>),
    /// All have.
    Welcome,
    /// The meeting is over without these.
    TimedOut(Vec<usize>),
    /// The rank does not fit in.
    Refused {
        reason: String,
        is_final: bool,
    },
    Event(Event),
}

fn malformed(what: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.into())
}

impl Greeting {
    pub(crate) fn write(&self, to: &mut impl Write) -> io::Result<()> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend(self.nonce.to_le_bytes());
        bytes.extend(self.world.to_le_bytes());
        bytes.extend(self.rank.to_le_bytes());
        to.write_all(&bytes)?;
        to.flush()
    }

    pub(crate) fn read(from: &mut impl Read) -> io::Result<Greeting> {
        read_version(from)?;
        let nonce = u128::from_le_bytes(array(from)?);
        Ok(Greeting { nonce, world: u32::from_le_bytes(array(from)?), rank: u32::from_le_bytes(array(from)?) })
    }
}

/// The hub's answer to a greeting begins so.
pub(crate) fn write_version(to: &mut impl Write) -> io::Result<()> {
    to.write_all(&MAGIC)?;
    to.write_all(&VERSION.to_le_bytes())
}

/// The version of the other side has to be ours.
pub(crate) fn read_version(from: &mut impl Read) -> io::Result<()> {
    if array(from)? != MAGIC {
        return Err(malformed("it does not speak the protocol of triton-collective"));
    }
    match u32::from_le_bytes(array(from)?) {
        VERSION => Ok(()),
        found => Err(malformed(format!(
            "it speaks version {found} of the protocol, but this program {VERSION}; build all from one version"
        ))),
    }
}

impl Up {
    pub(crate) fn write(&self, to: &mut impl Write) -> io::Result<()> {
        match self {
            Up::Bring(bytes) => frame(to, 1, 0, bytes),
            Up::Send { to: rank, bytes } => frame(to, 2, *rank as u32, bytes),
            Up::Expire => frame(to, 3, 0, &[]),
            Up::Leave { in_order } => frame(to, 4, u32::from(*in_order), &[]),
        }
    }

    pub(crate) fn read(from: &mut impl Read) -> io::Result<Up> {
        let (kind, argument, len) = header(from)?;
        let bytes = bytes(from, len)?;
        Ok(match (kind, bytes.is_empty()) {
            (1, _) => Up::Bring(bytes),
            (2, _) => Up::Send { to: argument as usize, bytes },
            (3, true) => Up::Expire,
            (4, true) => Up::Leave { in_order: argument != 0 },
            _ => return Err(malformed(format!("a frame of the unknown kind {kind}"))),
        })
    }
}

impl Down {
    pub(crate) fn write(&self, to: &mut impl Write) -> io::Result<()> {
        match self {
            Down::Missing(ranks) => frame(to, 16, 0, &words(ranks)),
            Down::Welcome => frame(to, 17, 0, &[]),
            Down::TimedOut(ranks) => frame(to, 18, 0, &words(ranks)),
            Down::Refused { reason, is_final } => frame(to, 19, u32::from(*is_final), reason.as_bytes()),
            Down::Event(Event::Gathered(parts)) => {
                let len = parts.iter().map(|part| 8 + part.len() as u64).sum();
                start(to, 20, parts.len() as u32, len)?;
                for part in parts {
                    to.write_all(&(part.len() as u64).to_le_bytes())?;
                    to.write_all(part)?;
                }
                to.flush()
            }
            Down::Event(Event::Message { from, bytes }) => frame(to, 21, *from as u32, bytes),
            Down::Event(Event::TimedOut { missing }) => frame(to, 22, 0, &words(missing)),
            Down::Event(Event::Gone { rank, in_order }) => frame(to, 23, *rank as u32, &[u8::from(*in_order)]),
        }
    }

    /// Reads one for a rank of this world.
    pub(crate) fn read(from: &mut impl Read, world: usize) -> io::Result<Down> {
        let (kind, argument, len) = header(from)?;
        let rank = |number: u32| {
            let rank = number as usize;
            if rank < world { Ok(rank) } else { Err(malformed(format!("there is no rank {rank}"))) }
        };
        Ok(match kind {
            16 => Down::Missing(ranks(&bytes(from, len)?, world)?),
            17 => Down::Welcome,
            18 => Down::TimedOut(ranks(&bytes(from, len)?, world)?),
            19 => {
                let reason = String::from_utf8_lossy(&bytes(from, len)?).into_owned();
                Down::Refused { reason, is_final: argument != 0 }
            }
            20 if argument as usize == world => Down::Event(Event::Gathered(gathered(from, world, len)?)),
            21 => {
                let from_rank = rank(argument)?;
                Down::Event(Event::Message { from: from_rank, bytes: bytes(from, len)?.into() })
            }
            22 => Down::Event(Event::TimedOut { missing: ranks(&bytes(from, len)?, world)? }),
            23 => Down::Event(Event::Gone { rank: rank(argument)?, in_order: bytes(from, len)? == [1] }),
            _ => return Err(malformed(format!("a frame of the unknown kind {kind}"))),
        })
    }
}

/// The parts of all ranks.
fn gathered(from: &mut impl Read, world: usize, len: u64) -> io::Result<Vec<Arc<[u8]>>> {
    let mut left = len;
    let mut parts = Vec::with_capacity(world);
    for _ in 0..world {
        let len = u64::from_le_bytes(array(from)?);
        left = left
            .checked_sub(8)
            .and_then(|left| left.checked_sub(len))
            .ok_or_else(|| malformed("parts that are longer than their frame"))?;
        parts.push(bytes(from, len)?.into());
    }
    if left == 0 { Ok(parts) } else { Err(malformed("parts that are shorter than their frame")) }
}

fn start(to: &mut impl Write, kind: u8, argument: u32, len: u64) -> io::Result<()> {
    if len > MOST {
        return Err(malformed(format!("a frame of {len} bytes, but {MOST} are the most")));
    }
    to.write_all(&[kind])?;
    to.write_all(&argument.to_le_bytes())?;
    to.write_all(&len.to_le_bytes())
}

fn frame(to: &mut impl Write, kind: u8, argument: u32, bytes: &[u8]) -> io::Result<()> {
    start(to, kind, argument, bytes.len() as u64)?;
    to.write_all(bytes)?;
    to.flush()
}

fn header(from: &mut impl Read) -> io::Result<(u8, u32, u64)> {
    let [kind] = array(from)?;
    let argument = u32::from_le_bytes(array(from)?);
    let len = u64::from_le_bytes(array(from)?);
    if len > MOST {
        Err(malformed(format!("a frame of {len} bytes, but {MOST} are the most")))
    } else {
        Ok((kind, argument, len))
    }
}

fn array<const N: usize>(from: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    from.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Grows with what comes.
fn bytes(from: &mut impl Read, len: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if len > MOST || from.take(len).read_to_end(&mut bytes)? as u64 != len {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(bytes)
}

fn words(ranks: &[usize]) -> Vec<u8> {
    ranks.iter().flat_map(|rank| (*rank as u32).to_le_bytes()).collect()
}

fn ranks(bytes: &[u8], world: usize) -> io::Result<Vec<usize>> {
    let numbers =
        bytes.chunks(4).map(|word| word.try_into().map_or(usize::MAX, |word| u32::from_le_bytes(word) as usize));
    let ranks: Vec<usize> = numbers.collect();
    if ranks.len() <= world && ranks.iter().all(|rank| *rank < world) {
        Ok(ranks)
    } else {
        Err(malformed("a list of ranks that there are not"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_read_as_they_are_written() {
        let ups = || {
            let sends = [Up::Send { to: 3, bytes: vec![1, 2] }, Up::Bring(vec![]), Up::Bring(vec![7; 300])];
            sends.into_iter().chain([Up::Expire, Up::Leave { in_order: true }, Up::Leave { in_order: false }])
        };
        let mut written = Vec::new();
        ups().for_each(|up| up.write(&mut written).expect("memory"));
        let mut from = &written[..];
        for up in ups() {
            assert_eq!(Up::read(&mut from).expect("a frame"), up);
        }
        assert!(Up::read(&mut from).is_err(), "nothing is left");

        let part = |bytes: &[u8]| Arc::<[u8]>::from(bytes);
        let downs = || {
            let meeting = [Down::Missing(vec![0, 2]), Down::Welcome, Down::TimedOut(vec![1])];
            let refused = Down::Refused { reason: "rank 1 is taken".into(), is_final: true };
            let events = [
                Event::Gathered(vec![part(&[]), part(&[1, 2, 3]), part(&[4])]),
                Event::Message { from: 2, bytes: part(&[5; 20]) },
                Event::TimedOut { missing: vec![1, 2] },
                Event::Gone { rank: 1, in_order: true },
                Event::Gone { rank: 0, in_order: false },
            ];
            meeting.into_iter().chain([refused]).chain(events.into_iter().map(Down::Event))
        };
        let mut written = Vec::new();
        downs().for_each(|down| down.write(&mut written).expect("memory"));
        let mut from = &written[..];
        for down in downs() {
            assert_eq!(Down::read(&mut from, 3).expect("a frame"), down);
        }
    }

    #[test]
    fn malformed_frames_are_errors_and_allocate_nothing() {
        let header = |kind: u8, argument: u32, len: u64| {
            [&[kind][..], &argument.to_le_bytes(), &len.to_le_bytes(), &[0; 64]].concat()
        };
        for bytes in [header(1, 0, u64::MAX), header(1, 0, MOST), header(9, 0, 0), header(3, 0, 1), vec![1, 2]] {
            assert!(Up::read(&mut &bytes[..]).is_err(), "{bytes:?}");
        }
        let downs = [(20, 4, 32), (20, 3, 23), (20, 3, 25), (21, 3, 0), (22, 0, 2), (23, 7, 1), (16, 0, 64), (0, 0, 0)];
        for (kind, argument, len) in downs {
            assert!(Down::read(&mut &header(kind, argument, len)[..], 3).is_err(), "{kind} {argument} {len}");
        }
        let greeting = Greeting { nonce: 1 << 100, world: 4, rank: 2 };
        let mut written = Vec::new();
        greeting.write(&mut written).expect("memory");
        assert_eq!(Greeting::read(&mut &written[..]).expect("a greeting"), greeting);
        written[8] = 9;
        let error = Greeting::read(&mut &written[..]).unwrap_err().to_string();
        assert!(error.contains("version 9"), "{error}");
        assert!(Greeting::read(&mut &b"GET / HTTP/1.1\r\n\r\n"[..]).is_err());
    }
}
