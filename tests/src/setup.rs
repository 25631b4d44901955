//! What a `run` case runs on: a grid over buffers, and arguments.
//!
//! ```text
//! ; test run
//! ; grid 2 1 1
//! ; buffer x f32 1 2 3 4
//! ; buffer out f32 zeros 8
//! ; args x out+8 4
//! ```
//! A buffer lists its elements, or says `zeros N`, or `small SEED N`, `any SEED N` or, of `f32`, `ties SEED N`, which are random; an argument is a buffer (with `+BYTES`) or a number of the parameter's
//! type. Buffers are far apart, so that every access past an end is reported.

use crate::numbers;
use std::fmt::Write;
use triton_core::analysis::interval;
use triton_core::ir::{Function, Param};
use triton_core::metadata::{Arg, Promised, Specialization};
use triton_core::types::{Constant, DType, Elem};

/// A buffer and what it holds at first.
pub struct Buffer {
    /// Its name.
    pub name: String,
    /// Type of its elements.
    pub dtype: DType,
    /// The elements' bits.
    pub elements: Vec<u64>,
}

impl Buffer {
    /// The elements as they lie in memory.
    pub fn bytes(&self) -> Vec<u8> {
        self.elements.iter().flat_map(|e| e.to_le_bytes()[..self.dtype.bytes() as usize].to_vec()).collect()
    }
}

/// What a case runs on.
#[derive(Default)]
pub struct Setup {
    /// Programs along each axis.
    pub grid: [u32; 3],
    /// The buffers.
    pub buffers: Vec<Buffer>,
    args: Vec<String>,
}

impl Setup {
    /// Reads the comments of a case.
    ///
    /// # Errors
    /// The first syntax error.
    pub fn parse(text: &str) -> Result<Setup, String> {
        let mut setup = Setup { grid: [1; 3], ..Setup::default() };
        for line in text.lines().skip(1).filter_map(|l| l.strip_prefix("; ")) {
            let words: Vec<&str> = line.split_whitespace().collect();
            match &words[..] {
                ["grid", extents @ ..] => {
                    for (slot, extent) in setup.grid.iter_mut().zip(extents) {
                        *slot = extent.parse().map_err(|_| format!("`{extent}` is not an extent"))?;
                    }
                }
                ["buffer", name, dtype, rest @ ..] => {
                    let dtype = DType::from_name(dtype).ok_or_else(|| format!("`{dtype}` is not an element type"))?;
                    let elements = match rest {
                        ["zeros", n] => vec![0; length(n)?],
                        ["small", seed, n] => numbers::small(dtype, length(seed)? as u64, length(n)?),
                        ["ties", seed, n] if dtype == DType::F32 => numbers::ties(length(seed)? as u64, length(n)?),
                        ["any", seed, n] => numbers::any(dtype, length(seed)? as u64, length(n)?),
                        list => list.iter().map(|w| number(dtype, w)).collect::<Result<_, _>>()?,
                    };
                    setup.buffers.push(Buffer { name: name.to_string(), dtype, elements });
                }
                ["args", args @ ..] => setup.args = args.iter().map(|a| a.to_string()).collect(),
                _ => {}
            }
        }
        Ok(setup)
    }

    /// The arguments for buffers at these addresses.
    ///
    /// # Errors
    /// An argument that is neither a buffer nor a number of its parameter's type.
    pub fn args(&self, func: &Function, addresses: &[u64]) -> Result<Vec<Arg>, String> {
        let arg = |(param, word): (&Param, &String)| match func.ty(param.value).elem {
            Elem::Num(dtype) => Ok(Arg::Scalar(number(dtype, word)?)),
            Elem::Ptr { .. } => {
                let (name, offset) = word.split_once('+').unwrap_or((word, "0"));
                let index =
                    self.buffers.iter().position(|b| b.name == name).ok_or_else(|| format!("no buffer `{name}`"))?;
                let offset: u64 = offset.parse().map_err(|_| format!("`{offset}` is not an offset"))?;
                Ok(Arg::Ptr(addresses[index] + offset))
            }
        };
        func.params.iter().zip(&self.args).map(arg).collect()
    }

    /// The strongest specialization that the arguments satisfy in an order, if buffers are aligned, and the grid: the generic one where a
    /// remainder may have a negative dividend.
    ///
    /// # Errors
    /// As of [`Setup::args`].
    pub fn strongest(&self, func: &Function, order: u8) -> Result<Specialization, String> {
        let args = self.args(func, &vec![0; self.buffers.len()])?;
        let keeps = |specialization: Specialization| {
            let promised = |param: &Param| param.promised.in_order(&param.orders, order);
            let promise = |param: &Param| promised(param).under(specialization, func.ty(param.value).elem);
            func.params.iter().zip(&args).all(|(param, arg)| promise(param).keeps(arg.bits()))
        };
        let dividends = interval::keeps_dividends(func, interval::Launch { args: &args, programs: self.grid });
        let keeps = |specialization| keeps(specialization) && (dividends || specialization == Specialization::Generic);
        let kept = Specialization::ALL.iter().copied().filter(|&specialization| keeps(specialization));
        Ok(kept.max().unwrap_or(Specialization::Generic))
    }

    /// The same in each order of a function.
    ///
    /// # Errors
    /// As of [`Setup::args`].
    pub fn strongest_of_orders(&self, func: &Function) -> Result<Vec<Specialization>, String> {
        (0..func.orders()).map(|order| self.strongest(func, order)).collect()
    }

    /// Whether the strides are 1 that every specialization but the generic one puts into code.
    ///
    /// # Errors
    /// As of [`Setup::args`].
    pub fn units(&self, func: &Function) -> Result<bool, String> {
        let args = self.args(func, &vec![0; self.buffers.len()])?;
        let mut units = func.params.iter().zip(&args).filter(|(param, _)| param.promised == Promised::Unit);
        Ok(units.all(|(_, arg)| arg.bits() == 1))
    }

    /// What buffers hold, a line each, as the file of expected output has it.
    pub fn render(&self, contents: &[Vec<u8>]) -> String {
        let mut out = String::new();
        for (buffer, bytes) in self.buffers.iter().zip(contents) {
            let _ = write!(out, "{} {}", buffer.name, buffer.dtype);
            for element in bytes.chunks(buffer.dtype.bytes() as usize) {
                let constant = Constant { dtype: buffer.dtype, bits: little_endian(element) };
                // Which NaN comes out is unspecified.
                let nan = constant.as_float().is_some_and(f64::is_nan);
                let number = if nan { "c NaN".into() } else { constant.to_string() };
                let _ = write!(out, " {}", number.split_once(' ').map_or("", |(_, number)| number));
            }
            out.push('\n');
        }
        out
    }
}

fn length(word: &str) -> Result<usize, String> {
    word.parse().map_err(|_| format!("`{word}` is not a length"))
}

fn number(dtype: DType, word: &str) -> Result<u64, String> {
    let constant = Constant::parse(dtype, word).ok_or_else(|| format!("`{word}` is not of {dtype}"))?;
    Ok(constant.bits)
}

pub(crate) fn little_endian(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |x, &b| x << 8 | u64::from(b))
}
