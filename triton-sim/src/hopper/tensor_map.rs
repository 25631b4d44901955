//! Tensor maps: how a box of a tensor in global memory is to be copied.

use super::Swizzle;
use thiserror::Error;

/// The type of a tensor's elements, in the order of `CUtensorMapDataType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are those of the driver's enumeration")]
pub enum DataType {
    U8,
    U16,
    U32,
    S32,
    U64,
    S64,
    F16,
    F32,
    F64,
    Bf16,
    F32Ftz,
    Tf32,
    Tf32Ftz,
}

impl DataType {
    /// Every type, at the index of its number in the driver's enumeration.
    pub const ALL: [DataType; 13] = [
        DataType::U8,
        DataType::U16,
        DataType::U32,
        DataType::S32,
        DataType::U64,
        DataType::S64,
        DataType::F16,
        DataType::F32,
        DataType::F64,
        DataType::Bf16,
        DataType::F32Ftz,
        DataType::Tf32,
        DataType::Tf32Ftz,
    ];

    /// Bytes of an element.
    pub fn bytes(self) -> u32 {
        [1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4][self as usize]
    }

    /// Whether elements are floats.
    pub fn is_float(self) -> bool {
        self as usize >= DataType::F16 as usize
    }
}

/// The layout of channels in global memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Interleave {
    /// Elements of the inner dimension are contiguous.
    #[default]
    None,
    /// Slices of 16 bytes; not simulated.
    B16,
    /// Slices of 32 bytes; not simulated.
    B32,
}

/// How many bytes a copy brings into the L2 cache at once. Results do not depend on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum L2Promotion {
    /// What is needed.
    #[default]
    None,
    /// 64 bytes.
    B64,
    /// 128 bytes.
    B128,
    /// 256 bytes.
    B256,
}

/// What a load writes for elements outside the tensor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Fill {
    /// Zeros.
    #[default]
    Zeros,
    /// A NaN.
    Nan,
}

/// One dimension of a tensor and of the box.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Axis {
    /// Elements of the tensor, 1 to 2³².
    pub size: u64,
    /// Bytes from an element to the next one.
    pub stride: u64,
    /// Elements of the tensor that the box spans, 1 to 256.
    pub span: u32,
    /// The box takes every such element of its span, from the first one on.
    pub step: u32,
}

impl Axis {
    /// Elements of the box.
    pub fn count(self) -> u32 {
        self.span.div_ceil(self.step)
    }
}

/// A tensor in global memory, and the box of it that one instruction copies: what `cuTensorMapEncodeTiled` makes.
///
/// The driver's object is opaque. This one stands for it, in the same 128 bytes; see [`TensorMap::encode`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TensorMap {
    pub(super) data_type: DataType,
    pub(super) address: u64,
    /// The innermost dimension first. Its stride is the size of an element.
    pub(super) axes: Vec<Axis>,
    pub(super) swizzle: Swizzle,
    pub(super) l2_promotion: L2Promotion,
    pub(super) fill: Fill,
}

/// Why a tensor map cannot be made. Dimensions count from the innermost one, 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum TensorMapError {
    /// Neither of 1 to 5 dimensions.
    #[error("the tensor has {0} dimensions, expected 1 to 5")]
    Rank(usize),
    /// A list has too many or too few numbers.
    #[error("there are {found} {list}, expected {expected}")]
    Length {
        /// Its name.
        list: &'static str,
        /// Its length.
        found: usize,
        /// What the rank asks for.
        expected: usize,
    },
    /// Interleaved layouts are not simulated.
    #[error("interleaved layouts are not simulated, expected Interleave::None")]
    Interleave,
    /// The tensor's address.
    #[error("the global address is {0:#x}, expected a multiple of 16")]
    Address(u64),
    /// The size of a dimension.
    #[error("dimension {axis} has {found} elements, expected 1 to 2^32")]
    Size {
        /// The dimension.
        axis: usize,
        /// Its size.
        found: u64,
    },
    /// The stride of a dimension.
    #[error("the stride of dimension {axis} is {found} bytes, expected a multiple of 16 below 2^40")]
    Stride {
        /// The dimension.
        axis: usize,
        /// Its stride in bytes.
        found: u64,
    },
    /// The box along a dimension.
    #[error("the box spans {found} elements of dimension {axis}, expected 1 to 256")]
    Box {
        /// The dimension.
        axis: usize,
        /// Elements.
        found: u32,
    },
    /// The element stride of a dimension.
    #[error("the element stride of dimension {axis} is {found}, expected 1 to 8")]
    ElementStride {
        /// The dimension.
        axis: usize,
        /// What was given.
        found: u32,
    },
    /// The box's rows.
    #[error("the inner dimension of the box has {0} bytes, expected a multiple of 16")]
    InnerBytes(u32),
    /// The box's rows are longer than the swizzle's.
    #[error("the inner dimension of the box has {found} bytes, expected at most the {span} of the swizzle")]
    SwizzleSpan {
        /// Bytes of a row of the box.
        found: u32,
        /// Bytes of the swizzle's row.
        span: u32,
    },
    /// The box is larger than any shared memory.
    #[error("the box takes {0} bytes of shared memory, expected at most 262144")]
    BoxBytes(u64),
    /// NaN as filling of integers.
    #[error("NaN cannot fill a tensor of {0:?}, expected a float type")]
    NanFill(DataType),
}

/// The arguments of `cuTensorMapEncodeTiled`. Lists have the innermost dimension first.
#[derive(Clone, Debug)]
pub struct TensorMapBuilder {
    data_type: DataType,
    address: u64,
    sizes: Vec<u64>,
    strides: Vec<u64>,
    box_sizes: Vec<u32>,
    element_strides: Vec<u32>,
    interleave: Interleave,
    swizzle: Swizzle,
    l2_promotion: L2Promotion,
    fill: Fill,
}

impl TensorMapBuilder {
    /// Elements from one that is taken to the next, of every dimension; else 1. The first is not used.
    #[must_use]
    pub fn element_strides(mut self, strides: &[u32]) -> Self {
        self.element_strides = strides.to_vec();
        self
    }

    /// The layout in global memory; else none.
    #[must_use]
    pub fn interleave(mut self, interleave: Interleave) -> Self {
        self.interleave = interleave;
        self
    }

    /// The swizzle of the box in shared memory; else none.
    #[must_use]
    pub fn swizzle(mut self, swizzle: Swizzle) -> Self {
        self.swizzle = swizzle;
        self
    }

    /// How much is brought into the L2 cache at once.
    #[must_use]
    pub fn l2_promotion(mut self, promotion: L2Promotion) -> Self {
        self.l2_promotion = promotion;
        self
    }

    /// What elements outside the tensor read as; else zeros.
    #[must_use]
    pub fn fill(mut self, fill: Fill) -> Self {
        self.fill = fill;
        self
    }

    /// Checks the rules of `cuTensorMapEncodeTiled` (CUDA Driver API, "Tensor Map Object Management").
    ///
    /// That page also asks for strides that are multiples of each other, which the driver does not check and good programs
    /// break, and does not ask for a box that fits into shared memory, which the driver does.
    ///
    /// # Errors
    /// The first rule that is broken.
    pub fn build(self) -> Result<TensorMap, TensorMapError> {
        let rank = self.sizes.len();
        if !(1..=5).contains(&rank) {
            return Err(TensorMapError::Rank(rank));
        }
        for (list, found, expected) in [
            ("strides", self.strides.len(), rank - 1),
            ("box sizes", self.box_sizes.len(), rank),
            ("element strides", self.element_strides.len(), rank),
        ] {
            if found != expected {
                return Err(TensorMapError::Length { list, found, expected });
            }
        }
        if self.interleave != Interleave::None {
            return Err(TensorMapError::Interleave);
        }
        if !self.address.is_multiple_of(16) {
            return Err(TensorMapError::Address(self.address));
        }
        let mut axes = Vec::with_capacity(rank);
        for (axis, &size) in self.sizes.iter().enumerate() {
            if !(1..=1 << 32).contains(&size) {
                return Err(TensorMapError::Size { axis, found: size });
            }
            let stride = if axis == 0 { u64::from(self.data_type.bytes()) } else { self.strides[axis - 1] };
            if axis > 0 && (!stride.is_multiple_of(16) || stride >= 1 << 40) {
                return Err(TensorMapError::Stride { axis, found: stride });
            }
            let (span, step) = (self.box_sizes[axis], self.element_strides[axis]);
            if !(1..=256).contains(&span) {
                return Err(TensorMapError::Box { axis, found: span });
            }
            if !(1..=8).contains(&step) {
                return Err(TensorMapError::ElementStride { axis, found: step });
            }
            axes.push(Axis { size, stride, span, step: if axis == 0 { 1 } else { step } });
        }
        let map = TensorMap {
            data_type: self.data_type,
            address: self.address,
            axes,
            swizzle: self.swizzle,
            l2_promotion: self.l2_promotion,
            fill: self.fill,
        };
        let (inner, span) = (map.row_bytes(), self.swizzle.span());
        if !inner.is_multiple_of(16) {
            return Err(TensorMapError::InnerBytes(inner));
        }
        if self.swizzle != Swizzle::None && inner > span {
            return Err(TensorMapError::SwizzleSpan { found: inner, span });
        }
        let bytes = map.rows() * u64::from(map.row_pitch());
        if bytes > 1 << 18 {
            return Err(TensorMapError::BoxBytes(bytes));
        }
        if self.fill == Fill::Nan && !self.data_type.is_float() {
            return Err(TensorMapError::NanFill(self.data_type));
        }
        Ok(map)
    }
}

impl TensorMap {
    /// A map of a tensor. `sizes` are elements, `strides` are bytes of all dimensions but the innermost one, whose elements are
    /// contiguous. The box has `box_sizes` elements.
    pub fn tiled(
        data_type: DataType,
        address: u64,
        sizes: &[u64],
        strides: &[u64],
        box_sizes: &[u32],
    ) -> TensorMapBuilder {
        TensorMapBuilder {
            data_type,
            address,
            sizes: sizes.to_vec(),
            strides: strides.to_vec(),
            box_sizes: box_sizes.to_vec(),
            element_strides: vec![1; sizes.len()],
            interleave: Interleave::None,
            swizzle: Swizzle::None,
            l2_promotion: L2Promotion::None,
            fill: Fill::Zeros,
        }
    }

    /// The type of the elements.
    pub fn data_type(&self) -> DataType {
        self.data_type
    }

    /// The global address of the first element.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// The dimensions, the innermost one first.
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// The swizzle of the box in shared memory.
    pub fn swizzle(&self) -> Swizzle {
        self.swizzle
    }

    /// How much is brought into the L2 cache at once.
    pub fn l2_promotion(&self) -> L2Promotion {
        self.l2_promotion
    }

    /// Whether a load rounds `f32` to `tf32`: to nearest, ties to even, any NaN to `0x7fffe000`, subnormals kept
    /// (measured, also of `Tf32Ftz`; nor does a load of `F32Ftz` flush anything).
    pub fn rounds_to_tf32(&self) -> bool {
        [DataType::Tf32, DataType::Tf32Ftz].contains(&self.data_type)
    }

    /// The 16 bits that a load repeats for elements outside the tensor. The NaN is the same for all types (measured).
    pub fn fill_pattern(&self) -> u16 {
        match self.fill {
            Fill::Zeros => 0,
            Fill::Nan => 0x7ff7,
        }
    }
}
