//! What a tuner may do: `TRITON_DSL_TUNE`.

use crate::error::{Error, Result};
use std::str::FromStr;

/// What a tuner may do.
///
/// ```
/// use triton_tune::Mode;
///
/// assert_eq!("read".parse::<Mode>()?, Mode::Read);
/// assert_eq!("yes".parse::<Mode>().unwrap_err().to_string(),
///     "TRITON_DSL_TUNE is `yes`; set it to `off`, `read` or `on`, or unset it, which means `on`");
/// # Ok::<(), triton_tune::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// `off`: it neither measures nor reads the file of times. Tables that the program embeds, and a model, choose.
    Off,
    /// `read`: it reads the file, and does not measure.
    Read,
    /// `on`: it measures what the file does not tell, and adds it.
    #[default]
    On,
}

impl FromStr for Mode {
    type Err = Error;

    fn from_str(text: &str) -> Result<Mode> {
        match text {
            "off" => Ok(Mode::Off),
            "read" => Ok(Mode::Read),
            "" | "on" => Ok(Mode::On),
            _ => Err(Error::Mode { found: text.to_string() }),
        }
    }
}
