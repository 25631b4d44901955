//! Times the forward pass of a network of ResNet-50's shape (He et al., "Deep residual learning", 2016; strides of the 3 × 3 convolutions), in `bf16`, with norms folded into
//! random weights, as one graph: `cargo run --release -p triton-kernels --example resnet_speed`. `resnet_speed.py` times PyTorch's.

mod timer;

use timer::{Timer, numbers};
use triton::Workspace;
use triton::prelude::*;
use triton_kernels::Activation::{self, Identity, Relu};
use triton_kernels::Result;
use triton_kernels::conv::{conv2d, output_shape};
use triton_kernels::elementwise::elementwise;
use triton_kernels::linear::gemm;
use triton_kernels::pool::{self, adaptive_avg_pool, max_pool};

/// The sum of a block and of what goes past it, and its ReLU.
mod sum {
    use super::*;

    elementwise!(pub(super) add_relu, |x: bf16, y: bf16| -> bf16 { relu(x.to::<f32>() + y.to::<f32>()) });

    #[triton::function]
    fn relu(x: Tile<f32>) -> Tile<f32> {
        maximum(x, 0.0)
    }
}

/// Images \[N, H, W, C\], in memory that the stream lends.
struct Images {
    memory: Workspace<bf16>,
    shape: [usize; 4],
}

impl Images {
    fn new(stream: &Stream, shape: [usize; 4]) -> Result<Images> {
        Ok(Images { memory: stream.workspace(shape.iter().product())?, shape })
    }

    fn view(&self) -> triton::Result<View<'_, bf16, 4>> {
        self.memory.view(self.shape)
    }

    fn view_mut(&mut self) -> triton::Result<ViewMut<'_, bf16, 4>> {
        self.memory.view_mut(self.shape)
    }
}

/// Filters and a bias.
type Layer = (Tensor<bf16, 4>, Tensor<bf16, 1>);

/// Layers in the order in which they are run.
struct Network {
    layers: Vec<Layer>,
    classes: (Tensor<bf16, 2>, Tensor<bf16, 1>),
}

/// Blocks, and channels of their 3 × 3 convolutions.
const STAGES: [(usize, usize); 4] = [(3, 64), (4, 128), (6, 256), (3, 512)];

impl Network {
    fn new(stream: &Stream) -> Result<Network> {
        let mut shapes = vec![[64, 7, 7, 3]];
        let mut channels = 64;
        for (blocks, width) in STAGES {
            for block in 0..blocks {
                if block == 0 {
                    shapes.push([4 * width, 1, 1, channels]);
                }
                shapes.extend([[width, 1, 1, channels], [width, 3, 3, width], [4 * width, 1, 1, width]]);
                channels = 4 * width;
            }
        }
        let small = |x: f32| bf16::from_f32(x / 32.0);
        let layer = |shape: &[usize; 4]| Ok((numbers(stream, *shape, small)?, numbers(stream, [shape[0]], small)?));
        let layers = shapes.iter().map(layer).collect::<Result<Vec<Layer>>>()?;
        Ok(Network { layers, classes: (numbers(stream, [2048, 1000], small)?, numbers(stream, [1000], small)?) })
    }

    fn forward(&self, s: &Stream, images: &Tensor<bf16, 4>, logits: &mut Tensor<bf16, 2>) -> Result<()> {
        let mut layers = self.layers.iter();
        let mut conv = |x: View<'_, bf16, 4>, f: Activation, stride: usize| -> Result<Images> {
            let (w, b) = layers.next().expect("there is a layer for each convolution");
            let (pair, padding) = ((stride, stride), (w.shape()[1] / 2, w.shape()[2] / 2));
            let mut y = Images::new(s, output_shape(x.shape(), w.shape(), pair, padding, (1, 1)))?;
            conv2d(x, w, y.view_mut()?).bias(b).activation(f).stride(pair).padding(padding).launch(s)?;
            Ok(y)
        };
        let y = conv(images.as_view(), Relu, 2)?;
        let mut x = Images::new(s, pool::output_shape(y.shape, (3, 3), (2, 2), (1, 1), (1, 1)))?;
        max_pool(y.view()?, (3, 3), x.view_mut()?).stride((2, 2)).padding((1, 1)).launch(s)?;
        for (stage, (blocks, _)) in STAGES.into_iter().enumerate() {
            for block in 0..blocks {
                let stride = if block == 0 && stage > 0 { 2 } else { 1 };
                let past = if block == 0 { Some(conv(x.view()?, Identity, stride)?) } else { None };
                let narrow = conv(x.view()?, Relu, 1)?;
                let seen = conv(narrow.view()?, Relu, stride)?;
                let wide = conv(seen.view()?, Identity, 1)?;
                let mut y = Images::new(s, wide.shape)?;
                sum::add_relu(wide.view()?, past.as_ref().unwrap_or(&x).view()?, y.view_mut()?).launch(s)?;
                x = y;
            }
        }
        let [n, _, _, c] = x.shape;
        let mut mean = Images::new(s, [n, 1, 1, c])?;
        adaptive_avg_pool(x.view()?, mean.view_mut()?).launch(s)?;
        let (w, b) = &self.classes;
        gemm(mean.view()?.reshape([n, c])?, w, logits).bias(b).launch(s)
    }
}

fn main() -> Result<()> {
    let device: Device = "cuda".parse()?;
    println!("{device}");
    let mut timer = Timer::new(&device)?;
    let network = Network::new(&timer.stream)?;
    for batch in [1, 8, 64, 256] {
        let images = numbers(&timer.stream, [batch, 224, 224, 3], bf16::from_f32)?;
        let mut logits = timer.stream.tensor_uninit([batch, 1000])?;
        let graph = timer.stream.capture(|stream| Ok(network.forward(stream, &images, &mut logits)?))?;
        let milliseconds = timer.time(|stream| Ok(graph.launch(stream)?))?;
        println!("batch {batch}: {milliseconds:.3} ms, {:.0} images a second", batch as f64 * 1e3 / milliseconds);
    }
    Ok(())
}
