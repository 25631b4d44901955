//! The block: x + attention(norm(x)), and that + perceptron(norm(that)); its gradients; its steps.

use crate::attention::Attention;
use triton::prelude::*;
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
struct Parameter<T: Element> {
    value: Buffer<T>,
    gradient: Buffer<T>,
}

impl<T: FloatElement> Parameter<T> {
    fn new(stream: &Stream, values: &[T]) -> Result<Parameter<T>> {
        Ok(Parameter { value: stream.upload(values)?, gradient: stream.zeros(values.len())? })
    }

    fn step(&mut self, stream: &Stream, options: SgdOptions) -> Result<()> {
        let shape = [1, self.value.len()];
        sgd(self.value.view_mut(shape)?, self.gradient.view(shape)?, options).launch(stream)
    }
}

/// A product with a matrix `[from, to]`, and a bias.
struct Linear<T: Element> {
    weight: Parameter<T>,
    bias: Parameter<T>,
    shape: [usize; 2],
}

/// A layer norm, and what its gradient needs of the last rows.
struct Norm<T: Element> {
    weight: Parameter<T>,
    bias: Parameter<T>,
    means: Buffer<f32>,
    scales: Buffer<f32>,
}

/// What a step keeps of each token, or computes for it.
struct Tokens<T: Element> {
    x: Buffer<T>,
    target: Buffer<T>,
    normal: [Buffer<T>; 2],
    qkv: Buffer<T>,
    o: Buffer<T>,
    middle: Buffer<T>,
    before: Buffer<T>,
    hidden: Buffer<T>,
    y: Buffer<T>,
    /// Gradients: of y, of the middle, of what a norm gives, of qkv, of the hidden layer.
    dy: Buffer<T>,
    dmiddle: Buffer<T>,
    dnormal: Buffer<T>,
    dqkv: Buffer<T>,
    dhidden: Buffer<T>,
}

/// The block with its parameters and a batch that it learns.
pub struct Block<T: Element> {
    shape: Shape,
    norms: [Norm<T>; 2],
    /// Of queries, keys and values; of attention's output; into the hidden layer; out of it.
    linear: [Linear<T>; 4],
    tokens: Tokens<T>,
    losses: Buffer<f32>,
}

/// Numbers from −1 to 1.
fn noise(random: &mut fastrand::Rng) -> f32 {
    random.f32() * 2.0 - 1.0
}

impl<T: FloatElement> Linear<T> {
    fn new(stream: &Stream, shape: [usize; 2], random: &mut fastrand::Rng, of: fn(f32) -> T) -> Result<Linear<T>> {
        let scale = (3.0 / shape[0] as f32).sqrt();
        let weight: Vec<T> = (0..shape[0] * shape[1]).map(|_| of(noise(random) * scale)).collect();
        let bias = vec![of(0.0); shape[1]];
        Ok(Linear { weight: Parameter::new(stream, &weight)?, bias: Parameter::new(stream, &bias)?, shape })
    }

    /// y = x · w + bias, and the residual if there is one.
    fn forward(
        &self,
        stream: &Stream,
        x: View<'_, T, 2>,
        residual: Option<View<'_, T, 2>>,
        y: ViewMut<'_, T, 2>,
    ) -> Result<()>
    where
        T: GemmElement<T>,
    {
        let product = gemm(x, self.weight.value.view(self.shape)?, y).bias(self.bias.value.view([self.shape[1]])?);
        match residual {
            Some(residual) => product.residual(residual).launch(stream),
            None => product.launch(stream),
        }
    }

    /// dx, and the gradients of the parameters.
    fn backward(&mut self, stream: &Stream, x: View<'_, T, 2>, dy: View<'_, T, 2>, dx: ViewMut<'_, T, 2>) -> Result<()>
    where
        T: GemmElement<T>,
    {
        let Linear { weight, bias, shape } = self;
        linear_backward(x, weight.value.view(*shape)?, dy)
            .dx(dx)
            .dw(weight.gradient.view_mut(*shape)?)
            .db(bias.gradient.view_mut([shape[1]])?)
            .launch(stream)
    }
}

impl<T: FloatElement> Norm<T> {
    fn new(stream: &Stream, [rows, width]: [usize; 2], of: fn(f32) -> T) -> Result<Norm<T>> {
        Ok(Norm {
            weight: Parameter::new(stream, &vec![of(1.0); width])?,
            bias: Parameter::new(stream, &vec![of(0.0); width])?,
            means: stream.zeros(rows)?,
            scales: stream.zeros(rows)?,
        })
    }

    fn forward(&mut self, stream: &Stream, x: View<'_, T, 2>, y: ViewMut<'_, T, 2>) -> Result<()> {
        let [rows, width] = x.shape();
        layer_norm(x, self.weight.value.view([width])?, self.bias.value.view([width])?, y)
            .means(self.means.view_mut([rows])?)
            .scales(self.scales.view_mut([rows])?)
            .launch(stream)
    }

    /// dx, to which the gradient of what goes past the norm is added, and the gradients of the parameters.
    fn backward(
        &mut self,
        stream: &Stream,
        x: View<'_, T, 2>,
        dy: View<'_, T, 2>,
        past: View<'_, T, 2>,
        dx: ViewMut<'_, T, 2>,
    ) -> Result<()> {
        let [rows, width] = x.shape();
        let Norm { weight, bias, means, scales } = self;
        layer_norm_backward(x, weight.value.view([width])?, dy, means.view([rows])?, scales.view([rows])?, dx)
            .residual(past)
            .parameters(weight.gradient.view_mut([width])?, bias.gradient.view_mut([width])?)
            .launch(stream)
    }
}

/// Queries, keys and values of `[tokens, 3 · width]` as heads.
fn heads<'a, T: Element>(qkv: &'a Buffer<T>, shape: &Shape) -> triton::Result<[View<'a, T, 4>; 3]> {
    let Shape { batch, context, width, heads } = *shape;
    let all = qkv.view([batch, context, 3, heads, width / heads])?;
    let of = |i: usize| all.select(2, i)?.permute([0, 2, 1, 3]);
    Ok([of(0)?, of(1)?, of(2)?])
}

/// The same to be written.
fn heads_mut<'a, T: Element>(qkv: &'a mut Buffer<T>, shape: &Shape) -> triton::Result<[ViewMut<'a, T, 4>; 3]> {
    let Shape { batch, context, width, heads } = *shape;
    let (q, others) = qkv.view_mut([batch, context, 3, heads, width / heads])?.split_at(2, 1)?;
    let (k, v) = others.split_at(2, 1)?;
    let of = |part: ViewMut<'a, T, 5>| part.select(2, 0)?.permute([0, 2, 1, 3]);
    Ok([of(q)?, of(k)?, of(v)?])
}

/// Tokens as heads.
fn split<'a, T: Element>(o: &'a Buffer<T>, shape: &Shape) -> triton::Result<View<'a, T, 4>> {
    let Shape { batch, context, width, heads } = *shape;
    o.view([batch, context, heads, width / heads])?.permute([0, 2, 1, 3])
}

impl<T: FloatElement + GemmElement<T>> Block<T> {
    /// A block with random parameters, and a batch: random tokens, and what another such function makes of them.
    pub fn new(stream: &Stream, shape: Shape, of: fn(f32) -> T) -> Result<Block<T>> {
        let mut random = fastrand::Rng::with_seed(7);
        let (tokens, width) = (shape.tokens(), shape.width);
        let linear = [[width, 3 * width], [width, width], [width, 4 * width], [4 * width, width]];
        let linear = linear.map(|shape| Linear::new(stream, shape, &mut random, of));
        let [qkv, output, into, out] = linear;
        let x: Vec<T> = (0..tokens * width).map(|_| of(noise(&mut random))).collect();
        let target: Vec<T> = (0..tokens * width).map(|_| of(noise(&mut random))).collect();
        let of_tokens = |elements: usize| stream.uninit::<T>(tokens * elements);
        let tokens_of = Tokens {
            x: stream.upload(&x)?,
            target: stream.upload(&target)?,
            normal: [of_tokens(width)?, of_tokens(width)?],
            qkv: of_tokens(3 * width)?,
            o: of_tokens(width)?,
            middle: of_tokens(width)?,
            before: of_tokens(4 * width)?,
            hidden: of_tokens(4 * width)?,
            y: of_tokens(width)?,
            dy: of_tokens(width)?,
            dmiddle: of_tokens(width)?,
            dnormal: of_tokens(width)?,
            dqkv: of_tokens(3 * width)?,
            dhidden: of_tokens(4 * width)?,
        };
        Ok(Block {
            shape,
            norms: [Norm::new(stream, [tokens, width], of)?, Norm::new(stream, [tokens, width], of)?],
            linear: [qkv?, output?, into?, out?],
            tokens: tokens_of,
            losses: stream.zeros(1)?,
        })
    }

    /// Forward alone.
    pub fn forward(&mut self, stream: &Stream, attention: &mut Attention<T>) -> Result<()> {
        let Block { shape, norms, linear: [qkv, output, into, out], tokens: t, .. } = self;
        let (rows, width) = (shape.tokens(), shape.width);
        let (narrow, wide, hidden) = ([rows, width], [rows, 3 * width], [rows, 4 * width]);
        norms[0].forward(stream, t.x.view(narrow)?, t.normal[0].view_mut(narrow)?)?;
        qkv.forward(stream, t.normal[0].view(narrow)?, None, t.qkv.view_mut(wide)?)?;
        let Shape { batch, context, heads: count, .. } = *shape;
        let o = t.o.view_mut([batch, context, count, width / count])?.permute([0, 2, 1, 3])?;
        attention.forward(stream, heads(&t.qkv, shape)?, o)?;
        output.forward(stream, t.o.view(narrow)?, Some(t.x.view(narrow)?), t.middle.view_mut(narrow)?)?;
        norms[1].forward(stream, t.middle.view(narrow)?, t.normal[1].view_mut(narrow)?)?;
        into.forward(stream, t.normal[1].view(narrow)?, None, t.before.view_mut(hidden)?)?;
        activation(Activation::Gelu, t.before.view(hidden)?, t.hidden.view_mut(hidden)?).launch(stream)?;
        out.forward(stream, t.hidden.view(hidden)?, Some(t.middle.view(narrow)?), t.y.view_mut(narrow)?)
    }

    /// The gradients of all parameters.
    fn backward(&mut self, stream: &Stream, attention: &mut Attention<T>) -> Result<()> {
        let Block { shape, norms, linear: [qkv, output, into, out], tokens: t, losses } = self;
        let (rows, width) = (shape.tokens(), shape.width);
        let (narrow, wide, hidden) = ([rows, width], [rows, 3 * width], [rows, 4 * width]);
        mse(t.y.view(narrow)?, t.target.view(narrow)?, losses.view_mut([1])?)
            .gradient(t.dy.view_mut(narrow)?)
            .launch(stream)?;
        out.backward(stream, t.hidden.view(hidden)?, t.dy.view(narrow)?, t.dhidden.view_mut(hidden)?)?;
        // What the hidden layer was is not needed again: its gradient before the activation takes its place.
        activation_backward(
            Activation::Gelu,
            t.before.view(hidden)?,
            t.dhidden.view(hidden)?,
            t.hidden.view_mut(hidden)?,
        )
        .launch(stream)?;
        into.backward(stream, t.normal[1].view(narrow)?, t.hidden.view(hidden)?, t.dnormal.view_mut(narrow)?)?;
        norms[1].backward(
            stream,
            t.middle.view(narrow)?,
            t.dnormal.view(narrow)?,
            t.dy.view(narrow)?,
            t.dmiddle.view_mut(narrow)?,
        )?;
        // The gradient of o.
        output.backward(stream, t.o.view(narrow)?, t.dmiddle.view(narrow)?, t.dnormal.view_mut(narrow)?)?;
        let of_heads = heads_mut(&mut t.dqkv, shape)?;
        attention.backward(stream, heads(&t.qkv, shape)?, split(&t.o, shape)?, split(&t.dnormal, shape)?, of_heads)?;
        qkv.backward(stream, t.normal[0].view(narrow)?, t.dqkv.view(wide)?, t.dnormal.view_mut(narrow)?)?;
        // The gradient of x, in place of that of y.
        norms[0].backward(
            stream,
            t.x.view(narrow)?,
            t.dnormal.view(narrow)?,
            t.dmiddle.view(narrow)?,
            t.dy.view_mut(narrow)?,
        )
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
