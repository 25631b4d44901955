//! The block: x + attention(norm(x)), and that + perceptron(norm(that)); its gradients; its steps.

use crate::attention::Attention;
use triton::prelude::*;
use triton_kernels::activation::{activation, activation_backward};
use triton_kernels::linear::{GemmElement, gemm, linear_backward};
use triton_kernels::loss::mse;
use triton_kernels::norm::{layer_norm, layer_norm_backward};
use triton_kernels::optim::{SgdOptions, sgd};
use triton_kernels::{Activation, FloatElement, Result};

/// The size of a block.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Sequences.
    pub batch: usize,
    /// Tokens of each.
    pub context: usize,
    /// Elements of a token.
    pub width: usize,
    /// Heads of attention.
    pub heads: usize,
}

impl Shape {
    fn tokens(&self) -> usize {
        self.batch * self.context
    }
}

/// A parameter and its gradient.
struct Parameter<T: Element, const R: usize> {
    value: Tensor<T, R>,
    gradient: Tensor<T, R>,
}

impl<T: FloatElement, const R: usize> Parameter<T, R> {
    fn new(stream: &Stream, values: &[T], shape: [usize; R]) -> Result<Parameter<T, R>> {
        Ok(Parameter { value: stream.tensor(values, shape)?, gradient: stream.tensor_zeros(shape)? })
    }

    fn step(&mut self, stream: &Stream, options: SgdOptions) -> Result<()> {
        let row = [1, self.value.len()];
        sgd(self.value.reshape_mut(row)?, self.gradient.reshape(row)?, options).launch(stream)
    }
}

/// A product with a matrix `[from, to]`, and a bias.
struct Linear<T: Element> {
    weight: Parameter<T, 2>,
    bias: Parameter<T, 1>,
}

/// A layer norm, and what its gradient needs of the last rows.
struct Norm<T: Element> {
    weight: Parameter<T, 1>,
    bias: Parameter<T, 1>,
    means: Tensor<f32, 1>,
    scales: Tensor<f32, 1>,
}

/// What forward leaves for backward: a row for each token.
struct Kept<T: Element> {
    normal: [Tensor<T, 2>; 2],
    qkv: Tensor<T, 2>,
    o: Tensor<T, 2>,
    middle: Tensor<T, 2>,
    before: Tensor<T, 2>,
    hidden: Tensor<T, 2>,
    y: Tensor<T, 2>,
}

/// The block with its parameters and a batch that it learns.
pub struct Block<T: Element> {
    shape: Shape,
    norms: [Norm<T>; 2],
    /// Of queries, keys and values; of attention's output; into the hidden layer; out of it.
    linear: [Linear<T>; 4],
    x: Tensor<T, 2>,
    target: Tensor<T, 2>,
    loss: Tensor<f32, 1>,
}

/// Numbers from −1 to 1.
fn noise(random: &mut fastrand::Rng) -> f32 {
    random.f32() * 2.0 - 1.0
}

impl<T: FloatElement + GemmElement<T>> Linear<T> {
    fn new(stream: &Stream, shape: [usize; 2], random: &mut fastrand::Rng, of: fn(f32) -> T) -> Result<Linear<T>> {
        let scale = (3.0 / shape[0] as f32).sqrt();
        let weight: Vec<T> = (0..shape[0] * shape[1]).map(|_| of(noise(random) * scale)).collect();
        let bias = vec![of(0.0); shape[1]];
        Ok(Linear { weight: Parameter::new(stream, &weight, shape)?, bias: Parameter::new(stream, &bias, [shape[1]])? })
    }

    /// x · w + bias, and the residual if there is one.
    fn forward(&self, stream: &Stream, x: &Tensor<T, 2>, residual: Option<&Tensor<T, 2>>) -> Result<Tensor<T, 2>> {
        let mut y = stream.tensor_uninit([x.shape()[0], self.bias.value.len()])?;
        let product = gemm(x, &self.weight.value, &mut y).bias(&self.bias.value);
        if let Some(residual) = residual { product.residual(residual) } else { product }.launch(stream)?;
        Ok(y)
    }

    /// dx, and the gradients of the parameters.
    fn backward(&mut self, stream: &Stream, x: &Tensor<T, 2>, dy: &Tensor<T, 2>) -> Result<Tensor<T, 2>> {
        let (Linear { weight, bias }, mut dx) = (self, stream.tensor_uninit(x.shape())?);
        let product = linear_backward(x, &weight.value, dy).dx(&mut dx);
        product.dw(&mut weight.gradient).db(&mut bias.gradient).launch(stream)?;
        Ok(dx)
    }
}

impl<T: FloatElement> Norm<T> {
    fn new(stream: &Stream, [rows, width]: [usize; 2], of: fn(f32) -> T) -> Result<Norm<T>> {
        Ok(Norm {
            weight: Parameter::new(stream, &vec![of(1.0); width], [width])?,
            bias: Parameter::new(stream, &vec![of(0.0); width], [width])?,
            means: stream.tensor_zeros([rows])?,
            scales: stream.tensor_zeros([rows])?,
        })
    }

    fn forward(&mut self, stream: &Stream, x: &Tensor<T, 2>) -> Result<Tensor<T, 2>> {
        let (Norm { weight, bias, means, scales }, mut y) = (self, stream.tensor_uninit(x.shape())?);
        layer_norm(x, &weight.value, &bias.value, &mut y).statistics(means, scales).launch(stream)?;
        Ok(y)
    }

    /// dx, to which the gradient of what goes past the norm is added, and the gradients of the parameters.
    fn backward(&mut self, stream: &Stream, x: &Tensor<T, 2>, [dy, past]: [&Tensor<T, 2>; 2]) -> Result<Tensor<T, 2>> {
        let (Norm { weight, bias, means, scales }, mut dx) = (self, stream.tensor_uninit(x.shape())?);
        let launch = layer_norm_backward(x, &weight.value, dy, &*means, &*scales, &mut dx).dsum(past);
        launch.dw(&mut weight.gradient).db(&mut bias.gradient).launch(stream)?;
        Ok(dx)
    }
}

impl Shape {
    /// Tokens of `[tokens, parts · width]` as heads: the part, then `[batch, heads, context, width / heads]`.
    fn heads(&self, parts: usize) -> [usize; 5] {
        [self.batch, self.context, parts, self.heads, self.width / self.heads]
    }
}

/// Queries, keys and values as heads.
fn heads<'a, T: Element>(qkv: &'a Tensor<T, 2>, shape: &Shape) -> triton::Result<[View<'a, T, 4>; 3]> {
    let all = qkv.reshape(shape.heads(3))?;
    let of = |i: usize| all.select(2, i)?.permute([0, 2, 1, 3]);
    Ok([of(0)?, of(1)?, of(2)?])
}

/// The same to be written.
fn heads_mut<'a, T: Element>(qkv: &'a mut Tensor<T, 2>, shape: &Shape) -> triton::Result<[ViewMut<'a, T, 4>; 3]> {
    let (q, others) = qkv.reshape_mut(shape.heads(3))?.split_at(2, 1)?;
    let (k, v) = others.split_at(2, 1)?;
    let of = |part: ViewMut<'a, T, 5>| part.select(2, 0)?.permute([0, 2, 1, 3]);
    Ok([of(q)?, of(k)?, of(v)?])
}

/// Tokens as heads.
fn split<'a, T: Element>(o: &'a Tensor<T, 2>, shape: &Shape) -> triton::Result<View<'a, T, 4>> {
    o.reshape(shape.heads(1))?.select(2, 0)?.permute([0, 2, 1, 3])
}

impl<T: FloatElement + GemmElement<T>> Block<T> {
    /// A block with random parameters, and a batch: random tokens, and what another such function makes of them.
    pub fn new(stream: &Stream, shape: Shape, of: fn(f32) -> T) -> Result<Block<T>> {
        let mut random = fastrand::Rng::with_seed(7);
        let (tokens, width) = (shape.tokens(), shape.width);
        let linear = [[width, 3 * width], [width, width], [width, 4 * width], [4 * width, width]];
        let [qkv, output, into, out] = linear.map(|shape| Linear::new(stream, shape, &mut random, of));
        let mut values = || (0..tokens * width).map(|_| of(noise(&mut random))).collect::<Vec<T>>();
        Ok(Block {
            shape,
            norms: [Norm::new(stream, [tokens, width], of)?, Norm::new(stream, [tokens, width], of)?],
            linear: [qkv?, output?, into?, out?],
            x: stream.tensor(&values(), [tokens, width])?,
            target: stream.tensor(&values(), [tokens, width])?,
            loss: stream.tensor_zeros([1])?,
        })
    }

    fn forward(&mut self, stream: &Stream, attention: &mut Attention<T>) -> Result<Kept<T>> {
        let Block { shape, norms, linear: [of_heads, output, into, out], x, .. } = self;
        let first = norms[0].forward(stream, x)?;
        let (qkv, mut o) = (of_heads.forward(stream, &first, None)?, stream.tensor_uninit(x.shape())?);
        let o_heads = o.reshape_mut(shape.heads(1))?.select(2, 0)?.permute([0, 2, 1, 3])?;
        attention.forward(stream, heads(&qkv, shape)?, o_heads)?;
        let middle = output.forward(stream, &o, Some(x))?;
        let second = norms[1].forward(stream, &middle)?;
        let before = into.forward(stream, &second, None)?;
        let mut hidden = stream.tensor_uninit(before.shape())?;
        activation(&before, Activation::Gelu, &mut hidden).launch(stream)?;
        let y = out.forward(stream, &hidden, Some(&middle))?;
        Ok(Kept { normal: [first, second], qkv, o, middle, before, hidden, y })
    }

    /// The gradients of all parameters.
    fn backward(&mut self, stream: &Stream, attention: &mut Attention<T>, kept: &mut Kept<T>) -> Result<()> {
        let Block { shape, norms, linear: [of_heads, output, into, out], x, target, loss } = self;
        let mut dy = stream.tensor_uninit(x.shape())?;
        mse(&kept.y, &*target, loss).dx(&mut dy).launch(stream)?;
        let dhidden = out.backward(stream, &kept.hidden, &dy)?;
        // What the hidden layer was is not needed again: its gradient before the activation takes its place.
        activation_backward(&kept.before, &dhidden, Activation::Gelu, &mut kept.hidden).launch(stream)?;
        let dnormal = into.backward(stream, &kept.normal[1], &kept.hidden)?;
        let dmiddle = norms[1].backward(stream, &kept.middle, [&dnormal, &dy])?;
        let (d_o, mut dqkv) = (output.backward(stream, &kept.o, &dmiddle)?, stream.tensor_uninit(kept.qkv.shape())?);
        let (qkv, o, d_o) = (heads(&kept.qkv, shape)?, split(&kept.o, shape)?, split(&d_o, shape)?);
        attention.backward(stream, qkv, o, d_o, heads_mut(&mut dqkv, shape)?)?;
        let dnormal = of_heads.backward(stream, &kept.normal[0], &dqkv)?;
        norms[0].backward(stream, x, [&dnormal, &dmiddle]).map(drop)
    }

    /// A step of gradient descent.
    pub fn step(&mut self, stream: &Stream, attention: &mut Attention<T>) -> Result<()> {
        let mut kept = self.forward(stream, attention)?;
        self.backward(stream, attention, &mut kept)?;
        let options = SgdOptions { rate: 0.5, ..SgdOptions::default() };
        for Norm { weight, bias, .. } in &mut self.norms {
            weight.step(stream, options)?;
            bias.step(stream, options)?;
        }
        for Linear { weight, bias, .. } in &mut self.linear {
            weight.step(stream, options)?;
            bias.step(stream, options)?;
        }
        Ok(())
    }

    /// The loss of the last step, before it.
    pub fn loss(&self, stream: &Stream) -> Result<f32> {
        Ok(stream.download(&self.loss)?[0])
    }

    /// What forward gives.
    #[cfg(test)]
    pub fn output(&mut self, stream: &Stream, attention: &mut Attention<T>) -> Result<Vec<T>> {
        let kept = self.forward(stream, attention)?;
        Ok(stream.download(&kept.y)?)
    }
}
