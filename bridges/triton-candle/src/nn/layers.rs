//! Linear layers, norms, embeddings.

use crate::{Activation, LinearOptions};
use candle_core::{Module, Result, Tensor};
use candle_nn::VarBuilder;

/// y = activation(x · wᵀ + bias), of x `[.., K]` and a weight `[N, K]`: see [`linear`](crate::linear).
#[derive(Clone, Debug)]
pub struct Linear {
    weight: Tensor,
    bias: Option<Tensor>,
    activation: Activation,
}

impl Linear {
    /// Of a weight `[N, K]` and a bias `[N]`.
    pub fn new(weight: Tensor, bias: Option<Tensor>) -> Linear {
        Linear { weight, bias, activation: Activation::Identity }
    }

    /// With an activation after the bias.
    pub fn with_activation(self, activation: Activation) -> Linear {
        Linear { activation, ..self }
    }

    /// The weight, `[N, K]`.
    pub fn weight(&self) -> &Tensor {
        &self.weight
    }

    /// The bias, `[N]`.
    pub fn bias(&self) -> Option<&Tensor> {
        self.bias.as_ref()
    }

    /// The layer of x, plus a residual of the shape of the result.
    ///
    /// # Errors
    /// Those of [`linear`](crate::linear).
    pub fn forward_onto(&self, x: &Tensor, residual: &Tensor) -> Result<Tensor> {
        crate::linear(x, &self.weight, LinearOptions { residual: Some(residual), ..self.options() })
    }

    fn options(&self) -> LinearOptions<'_> {
        LinearOptions { bias: self.bias.as_ref(), activation: self.activation, residual: None }
    }
}

impl Module for Linear {
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        crate::linear(x, &self.weight, self.options())
    }
}

impl From<candle_nn::Linear> for Linear {
    fn from(of: candle_nn::Linear) -> Linear {
        Linear::new(of.weight().clone(), of.bias().cloned())
    }
}

/// A linear layer with the variables `weight` and `bias`, which begin as candle's do.
///
/// # Errors
/// Those of the builder.
///
/// ```
/// use candle_core::{DType, Device, Module, Tensor};
/// use candle_nn::{VarBuilder, VarMap};
/// # fn main() -> candle_core::Result<()> {
/// let variables = VarMap::new();
/// let builder = VarBuilder::from_varmap(&variables, DType::F32, &Device::Cpu);
/// let layer = triton_candle::nn::linear(16, 8, builder.pp("head"))?;
/// assert_eq!(layer.forward(&Tensor::zeros((2, 3, 16), DType::F32, &Device::Cpu)?)?.dims(), [2, 3, 8]);
/// # Ok(())
/// # }
/// ```
pub fn linear(inputs: usize, outputs: usize, builder: VarBuilder<'_>) -> Result<Linear> {
    Ok(candle_nn::linear(inputs, outputs, builder)?.into())
}

/// A linear layer with the variable `weight` alone: see [`linear`].
///
/// # Errors
/// Those of the builder.
pub fn linear_no_bias(inputs: usize, outputs: usize, builder: VarBuilder<'_>) -> Result<Linear> {
    Ok(candle_nn::linear_no_bias(inputs, outputs, builder)?.into())
}

/// A norm of the last axis: see [`layer_norm`](crate::layer_norm).
#[derive(Clone, Debug)]
pub struct LayerNorm {
    weight: Tensor,
    bias: Tensor,
    epsilon: f64,
}

impl LayerNorm {
    /// Of weight and bias, `[columns]`.
    pub fn new(weight: Tensor, bias: Tensor, epsilon: f64) -> LayerNorm {
        LayerNorm { weight, bias, epsilon }
    }
}

impl Module for LayerNorm {
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        crate::layer_norm(x, &self.weight, &self.bias, self.epsilon as f32)
    }
}

/// A layer norm with the variables `weight` and `bias`, by the names that candle's has.
///
/// # Errors
/// Those of the builder.
///
/// ```
/// use candle_core::{DType, Device, Module, Tensor};
/// use candle_nn::{VarBuilder, VarMap};
/// # fn main() -> candle_core::Result<()> {
/// let variables = VarMap::new();
/// let norm = triton_candle::nn::layer_norm(2, 0.0, VarBuilder::from_varmap(&variables, DType::F32, &Device::Cpu))?;
/// assert_eq!(norm.forward(&Tensor::new(&[1f32, 3.0], &Device::Cpu)?)?.to_vec1::<f32>()?, [-1.0, 1.0]);
/// # Ok(())
/// # }
/// ```
pub fn layer_norm(size: usize, epsilon: f64, builder: VarBuilder<'_>) -> Result<LayerNorm> {
    let of = candle_nn::layer_norm(size, epsilon, builder)?;
    let bias = of.bias().cloned().map_or_else(|| of.weight().zeros_like(), Ok)?;
    Ok(LayerNorm::new(of.weight().clone(), bias, epsilon))
}

/// An RMS norm of the last axis: see [`rms_norm`](crate::rms_norm).
#[derive(Clone, Debug)]
pub struct RmsNorm {
    weight: Tensor,
    epsilon: f64,
}

impl RmsNorm {
    /// Of a weight, `[columns]`.
    pub fn new(weight: Tensor, epsilon: f64) -> RmsNorm {
        RmsNorm { weight, epsilon }
    }
}

impl Module for RmsNorm {
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        crate::rms_norm(x, &self.weight, self.epsilon as f32)
    }
}

impl From<candle_nn::RmsNorm> for RmsNorm {
    fn from(of: candle_nn::RmsNorm) -> RmsNorm {
        RmsNorm::new(of.weight().clone(), of.eps())
    }
}

/// An RMS norm with the variable `weight`.
///
/// # Errors
/// Those of the builder.
pub fn rms_norm(size: usize, epsilon: f64, builder: VarBuilder<'_>) -> Result<RmsNorm> {
    Ok(candle_nn::rms_norm(size, epsilon, builder)?.into())
}

/// Rows of a table `[entries, columns]`: see [`embedding`](crate::embedding).
#[derive(Clone, Debug)]
pub struct Embedding {
    table: Tensor,
    deterministic: bool,
}

impl Embedding {
    /// Of a table, `[entries, columns]`.
    pub fn new(table: Tensor) -> Embedding {
        Embedding { table, deterministic: false }
    }

    /// Whether the gradient is added up in one order.
    pub fn deterministic(self, deterministic: bool) -> Embedding {
        Embedding { deterministic, ..self }
    }

    /// The table.
    pub fn embeddings(&self) -> &Tensor {
        &self.table
    }
}

impl Module for Embedding {
    fn forward(&self, ids: &Tensor) -> Result<Tensor> {
        crate::embedding(&self.table, ids, self.deterministic)
    }
}

impl From<candle_nn::Embedding> for Embedding {
    fn from(of: candle_nn::Embedding) -> Embedding {
        Embedding::new(of.embeddings().clone())
    }
}

/// An embedding with the variable `weight`.
///
/// # Errors
/// Those of the builder.
pub fn embedding(entries: usize, columns: usize, builder: VarBuilder<'_>) -> Result<Embedding> {
    Ok(candle_nn::embedding(entries, columns, builder)?.into())
}
