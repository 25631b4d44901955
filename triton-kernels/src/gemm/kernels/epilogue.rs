//! What is done to the sums of a product before they are stored.

use crate::Activation;
use crate::error::{Error, Result};
use crate::functions::{NORMAL, logistic, relu};
use triton::prelude::*;

/// The numbers of an epilogue.
///
/// All activations but [`relu`] are `(constant + linear · v) · sigmoid(u) + shift`, where −u · log₂ e is v times a polynomial of v², whose coefficients
/// are `p0` to `p6`. They cost registers; a branch for each activation would be several times as much code as the product.
#[triton::params]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Epilogue {
    /// What the product is multiplied by.
    pub alpha: f64,
    /// What the old c is multiplied by; 0 does not read it.
    pub beta: f64,
    /// As [`Activation`] counts.
    pub activation: i32,
    /// Whether the sums of columns are wanted.
    pub sums: bool,
    /// Of the activation.
    pub constant: f32,
    /// Of the activation.
    pub linear: f32,
    /// Of the activation.
    pub shift: f32,
    /// Of the activation.
    pub p0: f32,
    /// Of the activation.
    pub p1: f32,
    /// Of the activation.
    pub p2: f32,
    /// Of the activation.
    pub p3: f32,
    /// Of the activation.
    pub p4: f32,
    /// Of the activation.
    pub p5: f32,
    /// Of the activation.
    pub p6: f32,
}

impl Default for Epilogue {
    fn default() -> Epilogue {
        let numbers = (1.0, 0.0, 0, false, 0.0, 1.0, 0.0);
        let (alpha, beta, activation, sums, constant, linear, shift) = numbers;
        let [p0, p1, p2, p3, p4, p5, p6] = [0.0; 7];
        Epilogue { alpha, beta, activation, sums, constant, linear, shift, p0, p1, p2, p3, p4, p5, p6 }
    }
}

impl Epilogue {
    /// The same with an activation.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if an epilogue has no code for it.
    pub(crate) fn with(self, op: &'static str, activation: Activation) -> Result<Epilogue> {
        let of = |constant: f32, linear: f32, shift: f32, polynomial: [f32; 7]| {
            let [p0, p1, p2, p3, p4, p5, p6] = polynomial;
            Epilogue { activation: activation as i32, constant, linear, shift, p0, p1, p2, p3, p4, p5, p6, ..self }
        };
        let slope = |slope: f64, cubic: f64| {
            let of_two = [slope, cubic, 0.0, 0.0, 0.0, 0.0, 0.0];
            of_two.map(|p: f64| (-std::f64::consts::LOG2_E * p) as f32)
        };
        let root = (2.0 / std::f64::consts::PI).sqrt();
        Ok(match activation {
            Activation::Identity | Activation::Relu => Epilogue { activation: activation as i32, ..self },
            Activation::Gelu => of(0.0, 1.0, 0.0, NORMAL),
            // x / 2 · (1 + tanh u) is x · sigmoid(2 u), with u = √(2 / π) · (x + 0.044715 x³).
            Activation::GeluTanh => of(0.0, 1.0, 0.0, slope(2.0 * root, 2.0 * root * 0.044715)),
            Activation::Silu => of(0.0, 1.0, 0.0, slope(1.0, 0.0)),
            Activation::Sigmoid => of(1.0, 0.0, 0.0, slope(1.0, 0.0)),
            Activation::Tanh => of(2.0, 0.0, -1.0, slope(2.0, 0.0)),
            Activation::Softplus | Activation::Mish => {
                return Err(Error::Unsupported {
                    op,
                    found: format!("the activation {activation:?}"),
                    expected: "Identity, Relu, Gelu, GeluTanh, Silu, Sigmoid and Tanh",
                    fix: "apply it to c afterwards",
                });
            }
        })
    }
}

/// Applies the activation of an epilogue.
#[triton::function]
pub fn activated(v: Tile<f32>, options: Epilogue) -> Tile<f32> {
    if options.activation == 0 {
        v
    } else if options.activation == 1 {
        relu(v)
    } else {
        let (p0, p1, p2, p3) = (options.p0, options.p1, options.p2, options.p3);
        let gate = logistic(v, (p0, p1, p2, p3, options.p4, options.p5, options.p6));
        fma(fma(v, options.linear, options.constant), gate, options.shift)
    }
}

/// activation(α · scales · acc + β · c + bias) + residual: what becomes of the sums of the tile that begins at `at`, where c and the residual are
/// read by `old` and `added`. Operands that are absent have no elements.
#[triton::function]
pub fn finished<E: Float, C: Num, const BM: i32, const BN: i32>(
    acc: Tile<E>,
    at: (i32, i32),
    old: impl Fn() -> Tile<E>,
    added: impl Fn() -> Tile<E>,
    bias: Tensor<C, 1>,
    row_bias: Tensor<C, 1>,
    row_scales: Tensor<f32, 1>,
    column_scales: Tensor<f32, 1>,
    options: Epilogue,
    activation: impl Fn(Tile<E>) -> Tile<E>,
) -> Tile<E> {
    let (m, n) = at;
    let rows = row_scales.load_or([m], [BM], 1.0).to::<E>() * options.alpha.to::<E>();
    let mut v = acc * rows.expand_dims(1) * column_scales.load_or([n], [BN], 1.0).to::<E>().expand_dims(0);
    if options.beta != 0.0 {
        v += old() * options.beta.to::<E>();
    }
    v += bias.load([n], [BN]).to::<E>().expand_dims(0);
    v += row_bias.load([m], [BM]).to::<E>().expand_dims(1);
    activation(v) + added()
}

/// Stores the tile of c that begins at `at`, as [`finished`] makes it, and if they are wanted the sums of its columns: those of a row of tiles
/// are a row of `sums`.
#[triton::function]
pub fn store_tile<E: Float, C: Num, const BM: i32, const BN: i32>(
    acc: Tile<E>,
    at: (i32, i32),
    c: TensorMut<C, 2>,
    bias: Tensor<C, 1>,
    row_bias: Tensor<C, 1>,
    residual: Tensor<C, 2>,
    row_scales: Tensor<f32, 1>,
    column_scales: Tensor<f32, 1>,
    sums: TensorMut<f32, 2>,
    options: Epilogue,
    activation: impl Fn(Tile<E>) -> Tile<E>,
) {
    let (m, n) = at;
    let v = finished::<E, C, BM, BN>(
        acc,
        at,
        || c.load([m, n], [BM, BN]).to::<E>(),
        || residual.load([m, n], [BM, BN]).to::<E>(),
        bias,
        row_bias,
        row_scales,
        column_scales,
        options,
        activation,
    );
    if options.sums {
        let inside = (arange(0, BM) + m < c.dim(0)).expand_dims(1);
        sums.store([m / BM, n], sum_axis(select(inside, v, 0.0), 0).to::<f32>().expand_dims(0));
    }
    c.store([m, n], v.to::<C>());
}
