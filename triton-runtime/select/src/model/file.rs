//! The file of a model, all numbers in little-endian order:
//!
//! | part | what |
//! |---|---|
//! | magic | `TRITONMD` |
//! | version | `u32` |
//! | features | `u16` of the context, `u16` of the choice; each: length of its name `u8`, name, transform `u8`, mean and scale `f32` |
//! | target | mean and scale `f32` |
//! | layers | `u16`; each: outputs `u16`, weights and biases `f32` |
//! | checksum | `u64`, FNV-1a of all bytes before it |

use super::{Feature, Layer, Model, Target, Transform};
use crate::error::{Error, Result};

const MAGIC: &[u8; 8] = b"TRITONMD";
const VERSION: u32 = 1;
/// The bytes of magic, version and checksum.
const LEAST: usize = 20;

/// The transforms and their codes.
const TRANSFORMS: [(u8, Transform); 3] = [(0, Transform::Raw), (1, Transform::Log2), (2, Transform::Log2PlusOne)];

fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// What is left of a file.
struct Bytes<'a> {
    all: usize,
    rest: &'a [u8],
}

impl<'a> Bytes<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let Some((taken, rest)) = self.rest.split_at_checked(count) else {
            let expected = self.all + (count - self.rest.len());
            return Err(Error::Truncated { found: self.all, expected });
        };
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    fn u8(&mut self) -> Result<u8> {
        Ok(u8::from_le_bytes(self.array()?))
    }

    fn u16(&mut self) -> Result<usize> {
        Ok(u16::from_le_bytes(self.array()?).into())
    }

    fn f32(&mut self) -> Result<f32> {
        Ok(f32::from_le_bytes(self.array()?))
    }

    fn floats(&mut self, count: usize) -> Result<Vec<f32>> {
        let bytes = self.take(count * 4)?.chunks_exact(4);
        Ok(bytes.map(|bytes| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])).collect())
    }

    fn feature(&mut self) -> Result<Feature> {
        let length = self.u8()?.into();
        let name = String::from_utf8_lossy(self.take(length)?).into_owned();
        let code = self.u8()?;
        let Some((_, transform)) = TRANSFORMS.into_iter().find(|(known, _)| *known == code) else {
            let what = "the transform of a feature";
            return Err(Error::Invalid { what, found: code.to_string(), expected: "0, 1 or 2".into() });
        };
        Ok(Feature { name, transform, mean: self.f32()?, scale: self.f32()? })
    }
}

impl Model {
    /// Reads a model.
    ///
    /// # Errors
    /// Other bytes than a model's, another version, a file that is damaged or too short.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        if !bytes.starts_with(MAGIC) {
            return Err(Error::NotAModel);
        }
        if bytes.len() < LEAST {
            return Err(Error::Truncated { found: bytes.len(), expected: LEAST });
        }
        let (content, stated) = bytes.split_at(bytes.len() - 8);
        let mut file = Bytes { all: bytes.len(), rest: &content[MAGIC.len()..] };
        let found = u32::from_le_bytes(file.array()?);
        if found != VERSION {
            return Err(Error::Version { of: "model", found: found.to_string(), expected: VERSION });
        }
        let expected = u64::from_le_bytes(Bytes { all: 8, rest: stated }.array()?);
        let found = checksum(content);
        if found != expected {
            return Err(Error::Checksum { found, expected });
        }
        let (contexts, choices) = (file.u16()?, file.u16()?);
        let context = (0..contexts).map(|_| file.feature()).collect::<Result<Vec<_>>>()?;
        let choice = (0..choices).map(|_| file.feature()).collect::<Result<Vec<_>>>()?;
        let target = Target { mean: file.f32()?, scale: file.f32()? };
        let (mut layers, mut inputs) = (Vec::new(), contexts + choices);
        for _ in 0..file.u16()? {
            let outputs = file.u16()?;
            let (weights, bias) = (file.floats(inputs * outputs)?, file.floats(outputs)?);
            layers.push(Layer { inputs, outputs, weights, bias });
            inputs = outputs;
        }
        if !file.rest.is_empty() {
            let found = format!("{} bytes", file.rest.len());
            return Err(Error::Invalid { what: "what follows the last layer", found, expected: "nothing".into() });
        }
        Self::new(context, choice, layers, target)
    }

    /// The bytes of the file.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(VERSION.to_le_bytes());
        // `Model::new` has checked that every count fits.
        let short = |count: usize| (count as u16).to_le_bytes();
        bytes.extend(short(self.context.len()));
        bytes.extend(short(self.choice.len()));
        for feature in self.context.iter().chain(&self.choice) {
            bytes.push(feature.name.len() as u8);
            bytes.extend(feature.name.as_bytes());
            bytes.extend(TRANSFORMS.iter().filter(|(_, known)| *known == feature.transform).map(|(code, _)| code));
            bytes.extend(feature.mean.to_le_bytes());
            bytes.extend(feature.scale.to_le_bytes());
        }
        bytes.extend(self.target.mean.to_le_bytes());
        bytes.extend(self.target.scale.to_le_bytes());
        bytes.extend(short(self.layers.len()));
        for layer in &self.layers {
            bytes.extend(short(layer.outputs));
            bytes.extend(layer.weights.iter().chain(&layer.bias).flat_map(|number| number.to_le_bytes()));
        }
        bytes.extend(checksum(&bytes).to_le_bytes());
        bytes
    }
}
