//! Tells whether a line of text is upside down, by weights that others trained: PP-OCR's classifier, a MobileNetV3 of 53 convolutions, in operations of the
//! library alone. `convert.py` beside this file makes the file of weights; it has images, too, and what onnxruntime finds for them.
//!
//! `cargo run --release -p triton-kernels --example text_direction -- text_direction.safetensors --device cuda`

use clap::Parser;
use std::collections::BTreeMap;
use std::error::Error;
use std::path::PathBuf;
use std::time::Instant;
use triton::prelude::*;
use triton::{Weights, Workspace};
use triton_kernels::Activation::{self, HardSwish, Identity, Relu};
use triton_kernels::Result;
use triton_kernels::conv::{conv2d, output_shape};
use triton_kernels::elementwise::{add, clamp, copy, mul};
use triton_kernels::linear::gemm;
use triton_kernels::pool::{adaptive_avg_pool, max_pool};

#[derive(Parser)]
struct Options {
    /// What `convert.py` made
    weights: PathBuf,
    /// Where to run; the best device if it is not given
    #[arg(long)]
    device: Option<Device>,
    /// Launches of the graph that are timed
    #[arg(long, default_value_t = 100)]
    launches: u32,
}

/// Images \[N, H, W, C\], in memory that the stream lends.
struct Images {
    memory: Workspace<f32>,
    shape: [usize; 4],
}

impl Images {
    fn new(stream: &Stream, shape: [usize; 4]) -> Result<Images> {
        Ok(Images { memory: stream.workspace(shape.iter().product())?, shape })
    }

    fn view(&self) -> triton::Result<View<'_, f32, 4>> {
        self.memory.view(self.shape)
    }

    fn view_mut(&mut self) -> triton::Result<ViewMut<'_, f32, 4>> {
        self.memory.view_mut(self.shape)
    }
}

/// Filters and biases by name.
struct Network {
    convolutions: BTreeMap<String, (Tensor<f32, 4>, Tensor<f32, 1>)>,
    classes: (Tensor<f32, 2>, Tensor<f32, 1>),
}

impl Network {
    fn load(of: &Weights, stream: &Stream) -> Result<Network, Box<dyn Error>> {
        let mut convolutions = BTreeMap::new();
        for name in of.names().iter().filter_map(|name| name.strip_suffix(".w")).filter(|name| *name != "fc") {
            let (w, b) = (of.tensor(stream, &format!("{name}.w"))?, of.tensor(stream, &format!("{name}.b"))?);
            convolutions.insert(name.to_string(), (w, b));
        }
        Ok(Network { convolutions, classes: (of.tensor(stream, "fc.w")?, of.tensor(stream, "fc.b")?) })
    }

    /// A convolution with its bias and activation, padded so that an image keeps its size.
    fn conv(&self, s: &Stream, name: &str, x: &Images, f: Activation, stride: (usize, usize)) -> Result<Images> {
        let (w, b) = &self.convolutions[name];
        // Depthwise filters are stored [R, S, 1, K].
        let is_depthwise = name.ends_with("depthwise");
        let w = if is_depthwise { w.as_view().permute([3, 0, 1, 2])? } else { w.as_view() };
        let padding = (w.shape()[1] / 2, w.shape()[2] / 2);
        let mut y = Images::new(s, output_shape(x.shape, w.shape(), stride, padding, (1, 1)))?;
        let conv = conv2d(x.view()?, w, y.view_mut()?).bias(b).activation(f).stride(stride).padding(padding);
        conv.groups(if is_depthwise { x.shape[3] } else { 1 }).launch(s)?;
        Ok(y)
    }

    /// Expansion, depthwise convolution, squeeze and excitation, and a linear layer (Howard et al., "Searching for MobileNetV3", 2019, section 5).
    fn block(&self, s: &Stream, name: &str, x: Images, f: Activation, stride: (usize, usize)) -> Result<Images> {
        let wide = self.conv(s, &format!("{name}_expand"), &x, f, (1, 1))?;
        let mut deep = self.conv(s, &format!("{name}_depthwise"), &wide, f, stride)?;
        if self.convolutions.contains_key(&format!("{name}_se_1")) {
            let [n, _, _, c] = deep.shape;
            let (mut mean, mut gate) = (Images::new(s, [n, 1, 1, c])?, Images::new(s, [n, 1, 1, c])?);
            adaptive_avg_pool(deep.view()?, mean.view_mut()?).launch(s)?;
            let narrow = self.conv(s, &format!("{name}_se_1"), &mean, Relu, (1, 1))?;
            let open = self.conv(s, &format!("{name}_se_2"), &narrow, Identity, (1, 1))?;
            clamp(open.view()?, 0.0, 1.0, gate.view_mut()?).launch(s)?;
            let mut scaled = Images::new(s, deep.shape)?;
            mul(deep.view()?, gate.view()?, scaled.view_mut()?).launch(s)?;
            deep = scaled;
        }
        let y = self.conv(s, &format!("{name}_linear"), &deep, Identity, (1, 1))?;
        if y.shape != x.shape {
            return Ok(y);
        }
        let mut sum = Images::new(s, x.shape)?;
        add(x.view()?, y.view()?, sum.view_mut()?).launch(s)?;
        Ok(sum)
    }

    /// Logits \[N, 2\] of images \[N, C, H, W\].
    fn forward(&self, s: &Stream, images: &Tensor<f32, 4>, logits: &mut Tensor<f32, 2>) -> Result<()> {
        let [n, c, h, w] = images.shape();
        let mut x = Images::new(s, [n, h, w, c])?;
        copy(images.as_view().permute([0, 2, 3, 1])?, x.view_mut()?).launch(s)?;
        x = self.conv(s, "conv1", &x, HardSwish, (2, 2))?;
        let strides = [(2, 1), (2, 1), (1, 1), (2, 1), (1, 1), (1, 1), (1, 1), (1, 1), (2, 1), (1, 1), (1, 1)];
        for (i, stride) in strides.into_iter().enumerate() {
            x = self.block(s, &format!("conv{}", i + 2), x, if i < 3 { Relu } else { HardSwish }, stride)?;
        }
        x = self.conv(s, "conv_last", &x, HardSwish, (1, 1))?;
        let [_, h, w, c] = x.shape;
        let (mut half, mut mean) = (Images::new(s, [n, h / 2, w / 2, c])?, Images::new(s, [n, 1, 1, c])?);
        max_pool(x.view()?, (2, 2), half.view_mut()?).launch(s)?;
        adaptive_avg_pool(half.view()?, mean.view_mut()?).launch(s)?;
        let (w, b) = &self.classes;
        gemm(mean.view()?.reshape([n, c])?, w, logits).bias(b).launch(s)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let Options { weights, device, launches } = Options::parse();
    let stream = device.unwrap_or_else(Device::best).stream()?;
    let weights = Weights::read(weights)?;
    let network = Network::load(&weights, &stream)?;
    let (images, expected) = (weights.tensor(&stream, "images")?, weights.tensor::<f32, 2>(&stream, "logits")?);
    let mut logits = stream.tensor_uninit(expected.shape())?;
    let graph = stream.capture(|stream| Ok(network.forward(stream, &images, &mut logits)?))?;
    graph.launch(&stream)?;
    stream.synchronize()?;
    let start = Instant::now();
    (0..launches).try_for_each(|_| graph.launch(&stream))?;
    stream.synchronize()?;
    let milliseconds = start.elapsed().as_secs_f64() * 1e3 / f64::from(launches.max(1));
    let (found, expected) = (stream.download(&logits)?, stream.download(&expected)?);
    let most = found.iter().zip(&expected).map(|(found, expected)| (found - expected).abs()).fold(0.0, f32::max);
    println!(
        "{}: {} images in {milliseconds:.3} ms, logits within {most:.2e} of onnxruntime's",
        stream.device(),
        images.shape()[0]
    );
    if most <= 1e-4 { Ok(()) } else { Err(format!("logits differ by {most:.2e}, but 1e-4 is allowed").into()) }
}
