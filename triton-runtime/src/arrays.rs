//! Tensors from arrays of `ndarray`, and back.

use crate::element::Element;
use crate::error::{Error, Result};
use crate::stream::Stream;
use crate::tensor::Tensor;
use ndarray::{Array, ArrayRef, Dim, Dimension, IntoDimension};

impl Stream {
    /// A new tensor with a copy of an array of the host, whatever its strides are.
    ///
    /// # Errors
    /// [`Error::Extent`](crate::Error::Extent), and those of [`Stream::upload`].
    ///
    /// ```
    /// use ndarray::array;
    /// use triton_runtime::{Device, Result};
    ///
    /// # fn main() -> Result<()> {
    /// let stream = Device::cpu().stream()?;
    /// let x = array![[1.0f32, 2.0, 3.0], [4.0, 5.0, 6.0]];
    /// let on_device = stream.tensor_from_array(&x.t())?;
    /// assert_eq!(on_device.shape(), [3, 2]);
    /// assert_eq!(stream.download_array(&on_device)?, x.t());
    /// # Ok(())
    /// # }
    /// ```
    pub fn tensor_from_array<T: Element, const R: usize>(
        &self,
        array: &ArrayRef<T, Dim<[usize; R]>>,
    ) -> Result<Tensor<T, R>>
    where
        Dim<[usize; R]>: Dimension,
    {
        let shape = std::array::from_fn(|axis| array.shape()[axis]);
        match array.as_slice() {
            Some(values) => self.tensor(values, shape),
            None => self.tensor(&array.iter().copied().collect::<Vec<T>>(), shape),
        }
    }

    /// A copy of a tensor on the host. Waits for the work that it depends on.
    ///
    /// # Errors
    /// Those of [`Stream::download`].
    pub fn download_array<T: Element, const R: usize>(&self, tensor: &Tensor<T, R>) -> Result<Array<T, Dim<[usize; R]>>>
    where
        [usize; R]: IntoDimension<Dim = Dim<[usize; R]>>,
        Dim<[usize; R]>: Dimension,
    {
        let values = self.download(tensor)?;
        let (shape, len) = (tensor.shape(), values.len());
        let array = Array::from_shape_vec(shape.into_dimension(), values);
        array.map_err(|_| Error::Shape { shape: shape.to_vec(), len })
    }
}
