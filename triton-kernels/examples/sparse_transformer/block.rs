//! The block: x + attention(norm(x)), and that + perceptron(norm(that)); its gradients; its steps.

use crate::attention::Attention;
use std::hash::Hasher;
use triton::prelude::*;
use triton_collective::{Communicator, Gradients};
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

/// A parameter, and the number of its gradient.
struct Parameter<T: Element, const R: usize> {
    value: Tensor<T, R>,
    gradient: usize,
}

impl<T: FloatElement, const R: usize> Parameter<T, R> {
    fn new(stream: &Stream, values: &[T], shape: [usize; R], gradient: usize) -> Result<Parameter<T, R>> {
        Ok(Parameter { value: stream.tensor(values, shape)?, gradient })
    }

    fn step(&mut self, stream: &Stream, gradients: &Gradients<T>, options: SgdOptions) -> Result<()> {
        let row = [1, self.value.len()];
        let gradient = gradients.view(self.gradient, row).map_err(triton::Error::from)?;
        sgd(self.value.reshape_mut(row)?, gradient, options).launch(stream)
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
    gradients: Gradients<T>,
}

/// Bytes of a bucket of gradients: those of the last layer are summed while the others are made.
const BUCKET: usize = 4 << 20;

/// Numbers from −1 to 1.
fn noise(random: &mut fastrand::Rng) -> f32 {
    random.f32() * 2.0 - 1.0
}

impl<T: FloatElement + GemmElement<T>> Linear<T> {
    /// One whose gradients have this number and the next.
    fn new(
        stream: &Stream,
        (shape, gradient): ([usize; 2], usize),
        random: &mut fastrand::Rng,
        of: fn(f32) -> T,
    ) -> Result<Linear<T>> {
        let scale = (3.0 / shape[0] as f32).sqrt();
        let weight: Vec<T> = (0..shape[0] * shape[1]).map(|_| of(noise(random) * scale)).collect();
        let bias = vec![of(0.0); shape[1]];
        let weight = Parameter::new(stream, &weight, shape, gradient)?;
        Ok(Linear { weight, bias: Parameter::new(stream, &bias, [shape[1]], gradient + 1)? })
    }

    /// x · w + bias, and the residual if there is one.
    fn forward(&self, stream: &Stream, x: &Tensor<T, 2>, residual: Option<&Tensor<T, 2>>) -> Result<Tensor<T, 2>> {
        let mut y = stream.tensor_uninit([x.shape()[0], self.bias.value.len()])?;
        let product = gemm(x, &self.weight.value, &mut y).bias(&self.bias.value);
        if let Some(residual) = residual { product.residual(residual) } else { product }.launch(stream)?;
        Ok(y)
    }

    /// dx, and the gradients of the parameters.
    fn backward(&self, pass: &mut Pass<'_, T>, x: &Tensor<T, 2>, dy: &Tensor<T, 2>) -> Result<Tensor<T, 2>> {
        let (Linear { weight, bias }, mut dx) = (self, pass.stream.tensor_uninit(x.shape())?);
        let product = linear_backward(x, &weight.value, dy).dx(&mut dx);
        pass.gradients(weight, bias, |stream, dw, db| product.dw(dw).db(db).launch(stream))?;
        Ok(dx)
    }
}

impl<T: FloatElement> Norm<T> {
    /// One whose gradients have this number and the next.
    fn new(stream: &Stream, [rows, width, gradient]: [usize; 3], of: fn(f32) -> T) -> Result<Norm<T>> {
        Ok(Norm {
            weight: Parameter::new(stream, &vec![of(1.0); width], [width], gradient)?,
            bias: Parameter::new(stream, &vec![of(0.0); width], [width], gradient + 1)?,
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
    fn backward(
        &self,
        pass: &mut Pass<'_, T>,
        x: &Tensor<T, 2>,
        [dy, past]: [&Tensor<T, 2>; 2],
    ) -> Result<Tensor<T, 2>> {
        let (Norm { weight, bias, means, scales }, mut dx) = (self, pass.stream.tensor_uninit(x.shape())?);
        let launch = layer_norm_backward(x, &weight.value, dy, means, scales, &mut dx).dsum(past);
        pass.gradients(weight, bias, |stream, dw, db| launch.dw(dw).db(db).launch(stream))?;
        Ok(dx)
    }
}

/// A backward pass: where it runs, and where gradients go.
struct Pass<'a, T: Element> {
    stream: &'a Stream,
    gradients: &'a mut Gradients<T>,
}

impl<T: Element> Pass<'_, T> {
    /// The gradients of a layer's two parameters, whose sum over all ranks may begin when they are enqueued.
    fn gradients<const R: usize>(
        &mut self,
        weight: &Parameter<T, R>,
        bias: &Parameter<T, 1>,
        launch: impl FnOnce(&Stream, ViewMut<'_, T, R>, ViewMut<'_, T, 1>) -> Result<()>,
    ) -> Result<()> {
        let places = ((weight.gradient, weight.value.shape()), (bias.gradient, bias.value.shape()));
        let (dw, db) = self.gradients.pair_mut(places.0, places.1).map_err(triton::Error::from)?;
        launch(self.stream, dw, db)?;
        for gradient in [weight.gradient, bias.gradient] {
            self.gradients.ready(gradient).map_err(triton::Error::from)?;
        }
        Ok(())
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
    ///
    /// All ranks have the same parameters, and each its own batch.
    pub fn new(stream: &Stream, communicator: &Communicator, shape: Shape, of: fn(f32) -> T) -> Result<Block<T>> {
        let mut random = fastrand::Rng::with_seed(7);
        let (tokens, width) = (shape.tokens(), shape.width);
        // Gradients are numbered as the backward pass makes them.
        let linear = [([width, 3 * width], 8), ([width, width], 6), ([width, 4 * width], 2), ([4 * width, width], 0)];
        let norms = [10, 4];
        let mut lengths = [width; 12];
        for ([from, to], gradient) in linear {
            (lengths[gradient], lengths[gradient + 1]) = (from * to, to);
        }
        let gradients = Gradients::with_bucket_bytes(stream, communicator, &lengths, BUCKET);
        let [qkv, output, into, out] = linear.map(|linear| Linear::new(stream, linear, &mut random, of));
        let [first, second] = norms.map(|gradient| Norm::new(stream, [tokens, width, gradient], of));
        let mut random = fastrand::Rng::with_seed(8 + communicator.rank() as u64);
        let mut values = || (0..tokens * width).map(|_| of(noise(&mut random))).collect::<Vec<T>>();
        Ok(Block {
            shape,
            norms: [first?, second?],
            linear: [qkv?, output?, into?, out?],
            x: stream.tensor(&values(), [tokens, width])?,
            target: stream.tensor(&values(), [tokens, width])?,
            loss: stream.tensor_zeros([1])?,
            gradients: gradients.map_err(triton::Error::from)?,
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
        let Block { shape, norms, linear: [of_heads, output, into, out], x, target, loss, gradients } = self;
        let mut pass = Pass { stream, gradients };
        let mut dy = stream.tensor_uninit(x.shape())?;
        mse(&kept.y, &*target, loss).dx(&mut dy).launch(stream)?;
        let dhidden = out.backward(&mut pass, &kept.hidden, &dy)?;
        // What the hidden layer was is not needed again: its gradient before the activation takes its place.
        activation_backward(&kept.before, &dhidden, Activation::Gelu, &mut kept.hidden).launch(stream)?;
        let dnormal = into.backward(&mut pass, &kept.normal[1], &kept.hidden)?;
        let dmiddle = norms[1].backward(&mut pass, &kept.middle, [&dnormal, &dy])?;
        let (d_o, mut dqkv) = (output.backward(&mut pass, &kept.o, &dmiddle)?, stream.tensor_uninit(kept.qkv.shape())?);
        let (qkv, o, d_o) = (heads(&kept.qkv, shape)?, split(&kept.o, shape)?, split(&d_o, shape)?);
        attention.backward(stream, qkv, o, d_o, heads_mut(&mut dqkv, shape)?)?;
        let dnormal = of_heads.backward(&mut pass, &kept.normal[0], &dqkv)?;
        norms[0].backward(&mut pass, x, [&dnormal, &dmiddle]).map(drop)
    }

    /// A step of gradient descent.
    pub fn step(&mut self, stream: &Stream, attention: &mut Attention<T>) -> Result<()> {
        let mut kept = self.forward(stream, attention)?;
        self.backward(stream, attention, &mut kept)?;
        let options = SgdOptions { rate: 0.5, ..SgdOptions::default() };
        let Block { norms, linear, gradients, .. } = self;
        for Norm { weight, bias, .. } in norms {
            weight.step(stream, gradients, options)?;
            bias.step(stream, gradients, options)?;
        }
        for Linear { weight, bias, .. } in linear {
            weight.step(stream, gradients, options)?;
            bias.step(stream, gradients, options)?;
        }
        Ok(())
    }

    /// A number that follows from the bits of all parameters.
    pub fn fingerprint(&self, stream: &Stream) -> Result<u64> {
        let mut hasher = std::hash::DefaultHasher::new();
        let mut add = |values: Vec<T>| values.into_iter().for_each(|value| hasher.write_u64(value.to_bits()));
        for Norm { weight, bias, .. } in &self.norms {
            add(stream.download(&weight.value)?);
            add(stream.download(&bias.value)?);
        }
        for Linear { weight, bias } in &self.linear {
            add(stream.download(&weight.value)?);
            add(stream.download(&bias.value)?);
        }
        Ok(hasher.finish())
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
