//! `vprintf` and `__assertfail`: a kernel's output.

use super::access::number;
use super::address::{LaneAccess, Location};
use super::warp::lanes;
use super::{Cx, Stop};
use crate::code::{CallOperand, Window};
use crate::faults::{AccessKind, Fault};
use crate::printf::{self, Piece};

/// A longer text is assumed to have no end.
const LONGEST: usize = 1 << 16;

impl Cx<'_, '_> {
    pub(super) fn print(
        &mut self,
        [format, arguments]: &[CallOperand; 2],
        result: Option<&CallOperand>,
    ) -> Result<(), Stop> {
        let (formats, arguments) = (self.read_call_operand(format)?, self.read_call_operand(arguments)?);
        let mut counts = [0; 32];
        for lane in lanes(self.mask) {
            let format = self.text(lane, formats[lane])?;
            counts[lane] = self.formatted(lane, &format, arguments[lane])?;
        }
        result.map_or(Ok(()), |operand| self.write_call_operand(operand, &counts))
    }

    pub(super) fn assert_fail(&mut self, [message, file, line]: &[CallOperand; 3]) -> Result<Stop, Stop> {
        let lane = self.mask.trailing_zeros() as usize;
        let (message, file) = (self.read_call_operand(message)?[lane], self.read_call_operand(file)?[lane]);
        let line = self.read_call_operand(line)?[lane];
        let (message, file) = (self.text(lane, message)?, self.text(lane, file)?);
        let message = format!("{message} ({file}:{})", line as u32);
        Ok(self.fatal_in(lane, Fault::Assertion { message }))
    }

    /// Text up to a NUL byte.
    fn text(&mut self, lane: usize, address: u64) -> Result<String, Stop> {
        let mut bytes = Vec::new();
        while bytes.len() < LONGEST {
            match self.value_at(lane, address.wrapping_add(bytes.len() as u64), 1)? {
                0 => break,
                byte => bytes.push(byte as u8),
            }
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// A number that a lane reads in any space.
    fn value_at(&mut self, lane: usize, address: u64, bytes: u32) -> Result<u64, Stop> {
        let location = self.locate(lane, Window::Generic, address, LaneAccess::natural(bytes, AccessKind::Read))?;
        if let Location::Local(offset) = location {
            self.check_local(lane, offset, bytes)?;
        }
        Ok(number(self.peek(lane, location, bytes)))
    }

    /// Prints a format with its arguments, which lie one after the other, each aligned to its size; returns their
    /// number, or -1 for an unsupported format.
    fn formatted(&mut self, lane: usize, format: &str, arguments: u64) -> Result<u64, Stop> {
        let pieces = match printf::pieces(format) {
            Ok(pieces) => pieces,
            Err(unknown) => {
                let problem = format!("`vprintf` has no conversion `{unknown}`");
                self.report(lane, Fault::Operand { problem })?;
                return Ok(u64::from(u32::MAX));
            }
        };
        let (mut at, mut count) = (arguments, 0);
        for piece in pieces {
            let text = match piece {
                Piece::Text(text) => text,
                Piece::Conversion(conversion) => {
                    let bytes = conversion.bytes();
                    // Nothing lies at the end of the address space: the access reports it.
                    at = at.checked_next_multiple_of(bytes).unwrap_or(at);
                    let value = self.value_at(lane, at, bytes as u32)?;
                    at = at.wrapping_add(bytes);
                    count += 1;
                    if conversion.is_text() {
                        let text = self.text(lane, value)?;
                        conversion.text(&text)
                    } else {
                        conversion.number(value)
                    }
                }
            };
            self.run.printed.push_str(&text);
        }
        Ok(count)
    }
}
