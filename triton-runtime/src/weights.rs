//! Weights from a file in the format safetensors.

use crate::driver::map;
use crate::element::Element;
use crate::error::{Error, few};
use crate::stream::Stream;
use crate::tensor::Tensor;
use safetensors::tensor::{Dtype, Metadata, SafeTensors, TensorInfo};
use std::fmt;
use std::path::Path;
use triton_ir::types::DType;

/// A file of named tensors: a header that names them with their types and shapes, then their elements, little-endian and in row-major
/// order (the format *safetensors*).
///
/// ```
/// use triton_runtime::{Device, Tensor, Weights};
///
/// # fn main() -> triton_runtime::Result<()> {
/// // A file of one tensor, `w`: two rows of two `bf16`.
/// let header = br#"{"w":{"dtype":"BF16","shape":[2,2],"data_offsets":[0,8]}}"#;
/// let mut file = (header.len() as u64).to_le_bytes().to_vec();
/// file.extend_from_slice(header);
/// file.extend([1.0f32, 2.0, 3.0, 4.0].map(half::bf16::from_f32).map(half::bf16::to_le_bytes).concat());
///
/// let (weights, stream) = (Weights::from_bytes(file)?, Device::cpu().stream()?);
/// assert_eq!((weights.names(), weights.shape("w")?), (vec!["w".to_string()], &[2, 2][..]));
/// let w: Tensor<half::bf16, 2> = weights.tensor(&stream, "w")?;
/// assert_eq!(stream.download(&w)?[3].to_f32(), 4.0);
///
/// let error = weights.tensor::<f32, 2>(&stream, "w").unwrap_err().to_string();
/// assert_eq!(error, "`w` has elements of bf16, but f32 is expected");
/// # Ok(())
/// # }
/// ```
pub struct Weights {
    file: String,
    bytes: Bytes,
    /// Where the elements begin.
    start: usize,
    metadata: Metadata,
}

/// What a file's bytes are in.
enum Bytes {
    Owned(Vec<u8>),
    Mapped(memmap2::Mmap),
}

impl Bytes {
    fn all(&self) -> &[u8] {
        match self {
            Bytes::Owned(bytes) => bytes,
            Bytes::Mapped(map) => map,
        }
    }
}

/// Why a file of weights, or a tensor of one, cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WeightsError {
    /// The file cannot be read.
    #[error("{file}: {reason}")]
    #[non_exhaustive]
    Open {
        /// The file.
        file: String,
        /// What the operating system says.
        reason: String,
    },

    /// It is not a file of this format, or it is damaged: truncated, or with extents that its length does not fit.
    #[error("{file} is not a complete safetensors file: {reason}")]
    #[non_exhaustive]
    Format {
        /// The file.
        file: String,
        /// What is wrong with it.
        reason: String,
    },

    /// It has no tensor of this name.
    #[error("{file} has no tensor `{name}`; it has {}", few(known))]
    #[non_exhaustive]
    Name {
        /// The file.
        file: String,
        /// The name asked for.
        name: String,
        /// The names that it has.
        known: Vec<String>,
    },

    /// The elements of the tensor are of another type.
    #[error("`{name}` has elements of {found}, but {expected} is expected")]
    #[non_exhaustive]
    Type {
        /// The tensor.
        name: String,
        /// The type in the file.
        found: String,
        /// The type asked for.
        expected: DType,
    },

    /// The tensor has other extents, or another number of axes.
    #[error("`{name}` has the shape {found:?}, but {expected} is expected")]
    #[non_exhaustive]
    Shape {
        /// The tensor.
        name: String,
        /// The shape in the file.
        found: Vec<usize>,
        /// What is expected.
        expected: String,
    },

    /// The copy to the device failed.
    #[error(transparent)]
    Device(Error),
}

impl From<Error> for WeightsError {
    fn from(error: Error) -> WeightsError {
        WeightsError::Device(error)
    }
}

impl From<WeightsError> for Error {
    fn from(error: WeightsError) -> Error {
        if let WeightsError::Device(error) = error { error } else { Error::other(error) }
    }
}

impl Weights {
    /// Reads a file into the memory of the host.
    ///
    /// # Errors
    /// [`WeightsError::Open`], [`WeightsError::Format`].
    pub fn read(path: impl AsRef<Path>) -> Result<Weights, WeightsError> {
        let file = path.as_ref().display().to_string();
        match std::fs::read(path) {
            Ok(bytes) => Weights::new(file, Bytes::Owned(bytes)),
            Err(error) => Err(WeightsError::Open { file, reason: error.to_string() }),
        }
    }

    /// Maps a file: what is not asked for is not read, and there is no copy on the host.
    ///
    /// # Safety
    /// While the value lives, nothing changes or truncates the file.
    ///
    /// # Errors
    /// [`WeightsError::Open`], [`WeightsError::Format`].
    #[allow(unsafe_code, reason = "the caller must vouch for the file")]
    pub unsafe fn map(path: impl AsRef<Path>) -> Result<Weights, WeightsError> {
        let file = path.as_ref().display().to_string();
        match map::read_only(path.as_ref()) {
            Ok(bytes) => Weights::new(file, Bytes::Mapped(bytes)),
            Err(error) => Err(WeightsError::Open { file, reason: error.to_string() }),
        }
    }

    /// The contents of a file.
    ///
    /// # Errors
    /// [`WeightsError::Format`].
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Weights, WeightsError> {
        Weights::new("the weights".to_string(), Bytes::Owned(bytes))
    }

    fn new(file: String, bytes: Bytes) -> Result<Weights, WeightsError> {
        match SafeTensors::read_metadata(bytes.all()) {
            // The length of the header stands before it, in 8 bytes.
            Ok((header, metadata)) => Ok(Weights { file, bytes, start: header + 8, metadata }),
            Err(error) => Err(WeightsError::Format { file, reason: error.to_string() }),
        }
    }

    /// The names of the tensors, in the order of their elements.
    pub fn names(&self) -> Vec<String> {
        self.metadata.offset_keys()
    }

    /// The extents of a tensor.
    ///
    /// # Errors
    /// [`WeightsError::Name`].
    pub fn shape(&self, name: &str) -> Result<&[usize], WeightsError> {
        Ok(&self.info(name)?.shape)
    }

    /// The elements of a tensor as the file has them: little-endian, in row-major order.
    ///
    /// # Errors
    /// [`WeightsError::Name`].
    pub fn bytes(&self, name: &str) -> Result<&[u8], WeightsError> {
        let (begin, end) = self.info(name)?.data_offsets;
        // The file's length was compared with all offsets.
        Ok(self.bytes.all().get(self.start + begin..self.start + end).unwrap_or_default())
    }

    /// A tensor on the device, of the type and the number of axes that are asked for.
    ///
    /// # Errors
    /// [`WeightsError::Name`], [`WeightsError::Type`], [`WeightsError::Shape`] for another number of axes, and those of
    /// [`Stream::upload_bytes`].
    pub fn tensor<T: Element, const R: usize>(
        &self,
        stream: &Stream,
        name: &str,
    ) -> Result<Tensor<T, R>, WeightsError> {
        let info = self.info(name)?;
        let found = element(info.dtype);
        if found != Some(T::DTYPE) {
            let found = found.map_or_else(|| format!("{:?}", info.dtype), |found| found.name().to_string());
            return Err(WeightsError::Type { name: name.to_string(), found, expected: T::DTYPE });
        }
        let Ok(shape) = <[usize; R]>::try_from(&info.shape[..]) else {
            let axes = if R == 1 { "one axis".to_string() } else { format!("a shape of {R} axes") };
            return Err(WeightsError::Shape { name: name.to_string(), found: info.shape.clone(), expected: axes });
        };
        let buffer = stream.upload_bytes::<T>(self.bytes(name)?)?;
        Ok(buffer.into_tensor(shape).map_err(Error::from)?)
    }

    /// The same of a tensor whose shape is known.
    ///
    /// # Errors
    /// Those of [`tensor`](Weights::tensor), and [`WeightsError::Shape`] for other extents.
    pub fn tensor_of<T: Element, const R: usize>(
        &self,
        stream: &Stream,
        name: &str,
        shape: [usize; R],
    ) -> Result<Tensor<T, R>, WeightsError> {
        let found = self.shape(name)?;
        if found != shape {
            let (found, expected) = (found.to_vec(), format!("{shape:?}"));
            return Err(WeightsError::Shape { name: name.to_string(), found, expected });
        }
        self.tensor(stream, name)
    }

    fn info(&self, name: &str) -> Result<&TensorInfo, WeightsError> {
        self.metadata.info(name).ok_or_else(|| WeightsError::Name {
            file: self.file.clone(),
            name: name.to_string(),
            known: self.metadata.offset_keys(),
        })
    }
}

/// The element type, if kernels have it.
#[expect(clippy::wildcard_enum_match_arm, reason = "the format's enum is not exhaustive")]
fn element(dtype: Dtype) -> Option<DType> {
    match dtype {
        Dtype::BOOL => Some(DType::Bool),
        Dtype::U8 => Some(DType::U8),
        Dtype::I8 => Some(DType::I8),
        Dtype::U16 => Some(DType::U16),
        Dtype::I16 => Some(DType::I16),
        Dtype::U32 => Some(DType::U32),
        Dtype::I32 => Some(DType::I32),
        Dtype::U64 => Some(DType::U64),
        Dtype::I64 => Some(DType::I64),
        Dtype::F16 => Some(DType::F16),
        Dtype::BF16 => Some(DType::BF16),
        Dtype::F32 => Some(DType::F32),
        Dtype::F64 => Some(DType::F64),
        _ => None,
    }
}

impl fmt::Debug for Weights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Weights({}, {} tensors)", self.file, self.metadata.offset_keys().len())
    }
}
