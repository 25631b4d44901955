//! The table of activations.

/// A function that is applied to each element.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(i32)]
pub enum Activation {
    /// x.
    #[default]
    Identity = 0,
    /// max(x, 0): [`relu`](crate::functions::relu).
    Relu = 1,
    /// x · Φ(x): [`gelu`](crate::functions::gelu).
    Gelu = 2,
    /// Its approximation by a tanh: [`gelu_tanh`](crate::functions::gelu_tanh).
    GeluTanh = 3,
    /// x · sigmoid(x): [`silu`](crate::functions::silu).
    Silu = 4,
    /// 1 / (1 + e⁻ˣ).
    Sigmoid = 5,
    /// The hyperbolic tangent.
    Tanh = 6,
    /// log(1 + eˣ): [`softplus`](crate::functions::softplus).
    Softplus = 7,
    /// x · tanh(log(1 + eˣ)): [`mish`](crate::functions::mish).
    Mish = 8,
}

impl Activation {
    /// All of them.
    pub const ALL: [Activation; 9] = [
        Activation::Identity,
        Activation::Relu,
        Activation::Gelu,
        Activation::GeluTanh,
        Activation::Silu,
        Activation::Sigmoid,
        Activation::Tanh,
        Activation::Softplus,
        Activation::Mish,
    ];
}
