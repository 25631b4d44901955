//! The table of activations.

/// A function that is applied to each element. At ±∞ it has its limit there: 0 where a gate closes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Activation {
    /// x.
    #[default]
    Identity,
    /// max(x, 0): [`relu`](crate::functions::relu).
    Relu,
    /// x · Φ(x): [`gelu`](crate::functions::gelu).
    Gelu,
    /// Its approximation by a tanh: [`gelu_tanh`](crate::functions::gelu_tanh).
    GeluTanh,
    /// x · sigmoid(x): [`silu`](crate::functions::silu).
    Silu,
    /// 1 / (1 + e⁻ˣ).
    Sigmoid,
    /// The hyperbolic tangent.
    Tanh,
    /// log(1 + eˣ): [`softplus`](crate::functions::softplus).
    Softplus,
    /// x · tanh(log(1 + eˣ)): [`mish`](crate::functions::mish).
    Mish,
    /// min(max(x, 0), 6): [`relu6`](crate::functions::relu6).
    Relu6,
    /// min(max(x / 6 + 1/2, 0), 1): [`hard_sigmoid`](crate::functions::hard_sigmoid).
    HardSigmoid,
    /// x · min(max(x / 6 + 1/2, 0), 1): [`hard_swish`](crate::functions::hard_swish).
    HardSwish,
    /// x · sigmoid(1.702 x): [`quick_gelu`](crate::functions::quick_gelu).
    QuickGelu,
    /// x, and below 0 this positive multiple of it: [`leaky_relu`](crate::functions::leaky_relu).
    LeakyRelu(f32),
    /// x, and below 0 this multiple of eˣ − 1: [`elu`](crate::functions::elu).
    Elu(f32),
}

impl Activation {
    /// All of them, with the parameters that PyTorch has by default.
    pub const ALL: [Activation; 15] = [
        Activation::Identity,
        Activation::Relu,
        Activation::Gelu,
        Activation::GeluTanh,
        Activation::Silu,
        Activation::Sigmoid,
        Activation::Tanh,
        Activation::Softplus,
        Activation::Mish,
        Activation::Relu6,
        Activation::HardSigmoid,
        Activation::HardSwish,
        Activation::QuickGelu,
        Activation::LeakyRelu(0.01),
        Activation::Elu(1.0),
    ];

    /// The number by which kernels know it: what [`activate`](crate::functions::activate) takes.
    pub const fn number(self) -> i32 {
        match self {
            Activation::Identity => 0,
            Activation::Relu => 1,
            Activation::Gelu => 2,
            Activation::GeluTanh => 3,
            Activation::Silu => 4,
            Activation::Sigmoid => 5,
            Activation::Tanh => 6,
            Activation::Softplus => 7,
            Activation::Mish => 8,
            Activation::Relu6 => 9,
            Activation::HardSigmoid => 10,
            Activation::HardSwish => 11,
            Activation::QuickGelu => 12,
            Activation::LeakyRelu(_) => 13,
            Activation::Elu(_) => 14,
        }
    }

    /// The parameter of [`LeakyRelu`](Activation::LeakyRelu) and [`Elu`](Activation::Elu); 0 of the others.
    pub const fn slope(self) -> f32 {
        match self {
            Activation::LeakyRelu(slope) | Activation::Elu(slope) => slope,
            Activation::Identity
            | Activation::Relu
            | Activation::Gelu
            | Activation::GeluTanh
            | Activation::Silu
            | Activation::Sigmoid
            | Activation::Tanh
            | Activation::Softplus
            | Activation::Mish
            | Activation::Relu6
            | Activation::HardSigmoid
            | Activation::HardSwish
            | Activation::QuickGelu => 0.0,
        }
    }
}
