//! Files with mistakes: bytes of one, changed a few times, also by parts of another.

use crate::numbers::Random;

/// Numbers that a reader may multiply, add to, or allocate by.
const NUMBERS: &[&str] = &[
    "0",
    "-1",
    "1",
    "65535",
    "65536",
    "2147483647",
    "-2147483648",
    "4294967295",
    "18446744073709551616",
    "1e400",
    "nan",
];

/// What stands in texts of IR, of PTX and of tables.
const MARKS: &[&str] = &["(", ")", "[", "]", "{", "}", "<", ">", ",", ";", ":", "%", "\t", "\n", "\"", "\\", "é", "\0"];

/// The same bytes with one to eight changes.
pub fn mutate(random: &mut Random, bytes: &[u8], other: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..1 + random.below(8) {
        change(random, &mut bytes, other);
    }
    bytes
}

fn change(random: &mut Random, bytes: &mut Vec<u8>, other: &[u8]) {
    let (start, end) = range(random, bytes);
    match random.below(9) {
        // One bit, and one byte.
        0 if start < bytes.len() => bytes[start] ^= 1 << random.below(8),
        1 if start < bytes.len() => bytes[start] = random.below(256) as u8,
        2 => drop(bytes.drain(start..end)),
        3 => {
            let copy = bytes[start..end].to_vec();
            bytes.splice(start..start, copy);
        }
        4 => bytes.truncate(start),
        5 => {
            let (from, to) = range(random, other);
            bytes.splice(start..end, other[from..to].iter().copied());
        }
        6 => drop(bytes.splice(start..start, random.pick(MARKS).bytes())),
        // A number in the place of another one.
        7 => {
            let digits = |at: usize| bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            let from = start + bytes[start..].iter().take_while(|byte| !byte.is_ascii_digit()).count();
            let to = from + digits(from);
            bytes.splice(from..to, random.pick(NUMBERS).bytes());
        }
        // Two words of binary files.
        _ => {
            let word = random.pick(&[0u32, 1, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 0x0001_0000]);
            for (byte, new) in bytes[start..].iter_mut().zip(word.to_le_bytes()) {
                *byte = new;
            }
        }
    }
}

/// A few bytes, or a line.
fn range(random: &mut Random, bytes: &[u8]) -> (usize, usize) {
    let start = random.below(bytes.len() + 1);
    if random.once_in(2) {
        return (start, bytes.len().min(start + random.below(16)));
    }
    let line =
        |at: usize| bytes[at..].iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |length| at + length + 1);
    let start = bytes[..start].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    (start, line(start))
}
