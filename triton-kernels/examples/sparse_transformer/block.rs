//! The block: x + attention(norm(x)), and that + perceptron(norm(that)); its gradients; its steps.

use crate::attention::Attention;
use triton::prelude::*;
use triton_kernels::gemm::Gemm;
use triton_kernels::rows::{SgdOptions, activation, activation_backward, layer_norm, layer_norm_backward, mse, sgd};
use triton_kernels::{Activation, FloatElement, GemmElement, Result, gemm, linear_backward};

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

/// What a step keeps of each token, or computes for it: a row each.
struct Tokens<T: Element> {
    x: Tensor<T, 2>,
    target: Tensor<T, 2>,
    normal: [Tensor<T, 2>; 2],
    qkv: Tensor<T, 2>,
    o: Tensor<T, 2>,
    middle: Tensor<T, 2>,
    before: Tensor<T, 2>,
    hidden: Tensor<T, 2>,
    y: Tensor<T, 2>,
    /// Gradients: of y, of the middle, of what a norm gives, of qkv, of the hidden layer.
    dy: Tensor<T, 2>,
    dmiddle: Tensor<T, 2>,
    dnormal: Tensor<T, 2>,
    dqkv: Tensor<T, 2>,
    dhidden: Tensor<T, 2>,
}

/// The block with its parameters and a batch that it learns.
pub struct Block<T: Element> {
    shape: Shape,
    norms: [Norm<T>; 2],
    /// Of queries, keys and values; of attention's output; into the hidden layer; out of it.
    linear: [Linear<T>; 4],
    tokens: Tokens<T>,
    losses: Tensor<f32, 1>,
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

    /// y = x · w + bias, which can be added to.
    fn forward<'a>(&'a self, x: &'a Tensor<T, 2>, y: &'a mut Tensor<T, 2>) -> Gemm<'a, T, T> {
        gemm(x, &self.weight.value, y).bias(&self.bias.value)
    }

    /// dx, and the gradients of the parameters.
    fn backward(&mut self, x: &Tensor<T, 2>, dy: &Tensor<T, 2>, dx: &mut Tensor<T, 2>, stream: &Stream) -> Result<()> {
        let Linear { weight, bias } = self;
        let product = linear_backward(x, &weight.value, dy).dx(dx);
        product.dw(&mut weight.gradient).db(&mut bias.gradient).launch(stream)
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

    fn forward(&mut self, x: &Tensor<T, 2>, y: &mut Tensor<T, 2>, stream: &Stream) -> Result<()> {
        let Norm { weight, bias, means, scales } = self;
        layer_norm(x, &weight.value, &bias.value, y).means(means).scales(scales).launch(stream)
    }

    /// dx, to which the gradient of what goes past the norm is added, and the gradients of the parameters.
    fn backward(
        &mut self,
        x: &Tensor<T, 2>,
        [dy, past]: [&Tensor<T, 2>; 2],
        dx: &mut Tensor<T, 2>,
        stream: &Stream,
    ) -> Result<()> {
        let Norm { weight, bias, means, scales } = self;
        let launch = layer_norm_backward(x, &weight.value, dy, &*means, &*scales, dx).residual(past);
        launch.parameters(&mut weight.gradient, &mut bias.gradient).launch(stream)
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
        let (x, target) = (stream.tensor(&values(), [tokens, width])?, stream.tensor(&values(), [tokens, width])?);
        let room = |width: usize| stream.tensor_uninit([tokens, width]);
        let tokens_of = Tokens {
            x,
            target,
            normal: [room(width)?, room(width)?],
            qkv: room(3 * width)?,
            o: room(width)?,
            middle: room(width)?,
            before: room(4 * width)?,
            hidden: room(4 * width)?,
            y: room(width)?,
            dy: room(width)?,
            dmiddle: room(width)?,
            dnormal: room(width)?,
            dqkv: room(3 * width)?,
            dhidden: room(4 * width)?,
        };
        Ok(Block {
            shape,
            norms: [Norm::new(stream, [tokens, width], of)?, Norm::new(stream, [tokens, width], of)?],
            linear: [qkv?, output?, into?, out?],
            tokens: tokens_of,
            losses: stream.tensor_zeros([1])?,
        })
    }

    /// Forward alone.
    pub fn forward(&mut self, stream: &Stream, attention: &mut Attention<T>) -> Result<()> {
        let Block { shape, norms, linear: [qkv, output, into, out], tokens: t, .. } = self;
        norms[0].forward(&t.x, &mut t.normal[0], stream)?;
        qkv.forward(&t.normal[0], &mut t.qkv).launch(stream)?;
        let o = t.o.reshape_mut(shape.heads(1))?.select(2, 0)?.permute([0, 2, 1, 3])?;
        attention.forward(stream, heads(&t.qkv, shape)?, o)?;
        output.forward(&t.o, &mut t.middle).residual(&t.x).launch(stream)?;
        norms[1].forward(&t.middle, &mut t.normal[1], stream)?;
        into.forward(&t.normal[1], &mut t.before).launch(stream)?;
        activation(Activation::Gelu, &t.before, &mut t.hidden).launch(stream)?;
        out.forward(&t.hidden, &mut t.y).residual(&t.middle).launch(stream)
    }

    /// The gradients of all parameters.
    fn backward(&mut self, stream: &Stream, attention: &mut Attention<T>) -> Result<()> {
        let Block { shape, norms, linear: [qkv, output, into, out], tokens: t, losses } = self;
        mse(&t.y, &t.target, losses).gradient(&mut t.dy).launch(stream)?;
        out.backward(&t.hidden, &t.dy, &mut t.dhidden, stream)?;
        // What the hidden layer was is not needed again: its gradient before the activation takes its place.
        activation_backward(Activation::Gelu, &t.before, &t.dhidden, &mut t.hidden).launch(stream)?;
        into.backward(&t.normal[1], &t.hidden, &mut t.dnormal, stream)?;
        norms[1].backward(&t.middle, [&t.dnormal, &t.dy], &mut t.dmiddle, stream)?;
        // The gradient of o.
        output.backward(&t.o, &t.dmiddle, &mut t.dnormal, stream)?;
        let of_heads = heads_mut(&mut t.dqkv, shape)?;
        attention.backward(stream, heads(&t.qkv, shape)?, split(&t.o, shape)?, split(&t.dnormal, shape)?, of_heads)?;
        qkv.backward(&t.normal[0], &t.dqkv, &mut t.dnormal, stream)?;
        // The gradient of x, in place of that of y.
        norms[0].backward(&t.x, [&t.dnormal, &t.dmiddle], &mut t.dy, stream)
    }

    /// A step of gradient descent.
    pub fn step(&mut self, stream: &Stream, attention: &mut Attention<T>) -> Result<()> {
        self.forward(stream, attention)?;
        self.backward(stream, attention)?;
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
        Ok(stream.download(&self.losses)?[0])
    }

    /// What the last forward gave.
    #[cfg(test)]
    pub fn output(&self, stream: &Stream) -> Result<Vec<T>> {
        Ok(stream.download(&self.tokens.y)?)
    }
}
