//! Which parts of a recording are speech: Silero's voice activity detector for 16 kHz, made of operations of `triton-kernels`.
//!
//! `python3 convert.py FOLDER` writes its weights, a recording, and the probabilities of speech that onnxruntime computes.
//! `cargo run --release -p triton-kernels --example voice_detector -- FOLDER` compares with them, on another device by `--device cuda`.

#[cfg(test)]
mod tests;

use std::{error::Error, path::PathBuf};
use triton::{Graph, Weights, prelude::*};
use triton_kernels::{Activation, activation::activation, conv::conv1d, linear::gemm};
use triton_kernels::{pool::Padding, pool::pad, recurrent::lstm, reduce::norm};

/// Samples of a chunk, and of the context in front of it.
const CHUNK: usize = 512;
const CONTEXT: usize = 64;

/// Computes the probability of speech in each chunk of a recording.
#[derive(clap::Parser)]
struct Options {
    /// What `convert.py` wrote
    folder: PathBuf,
    /// The device: cpu, sim, cuda, cuda:1
    #[arg(long, default_value = "cpu")]
    device: Device,
}

/// The detector: its input, its output, and the work of a chunk. The state of the LSTM stays on the device.
struct Detector(Tensor<f32, 3>, Tensor<f32, 2>, Graph);

impl Detector {
    fn new(stream: &Stream, weights: &Weights) -> triton::Result<Detector> {
        let filters = |name: &str| weights.tensor::<f32, 3>(stream, name);
        let matrix = |name: &str| weights.tensor::<f32, 2>(stream, name);
        let vector = |name: &str| weights.tensor::<f32, 1>(stream, name);
        let row = |n, channels| stream.tensor_zeros::<f32, _>([1, n, channels]);
        let (samples, mut padded, basis) = (row(CONTEXT + CHUNK, 1)?, row(640, 1)?, filters("stft.weight")?);
        let (mut spectrum, mut magnitudes, mut encoder) = (row(4, 2 * 129)?, row(4, 129)?, Vec::new());
        for (i, n, channels, stride) in [(0, 4, 128, 1), (1, 2, 64, 2), (2, 1, 64, 2), (3, 1, 128, 1)] {
            let (w, b) = (filters(&format!("encoder.{i}.weight"))?, vector(&format!("encoder.{i}.bias"))?);
            encoder.push((w, b, row(n, channels)?, stride));
        }
        let [w_ih, w_hh, w] = ["lstm.weight_ih", "lstm.weight_hh", "decoder.weight"].map(matrix);
        let [b_ih, b_hh, b] = ["lstm.bias_ih", "lstm.bias_hh", "decoder.bias"].map(vector);
        let (w_ih, w_hh, w, b_ih, b_hh, b) = (w_ih?, w_hh?, w?, b_ih?, b_hh?, b?);
        let (mut h, mut c) = (stream.tensor_zeros([1, 128])?, stream.tensor_zeros([1, 128])?);
        let (mut y, mut open) = (stream.tensor_zeros([1, 1, 128])?, stream.tensor_zeros([1, 128])?);
        let mut speech = stream.tensor_zeros([1, 1])?;
        let chunk = stream.capture(|stream| {
            let (image, of_padded) = (samples.reshape([1, 1, 576, 1])?, padded.reshape_mut([1, 1, 640, 1])?);
            pad(image, (0, 0), (0, CONTEXT), Padding::Reflect, of_padded).launch(stream)?;
            conv1d(&padded, &basis, &mut spectrum).stride(128).launch(stream)?;
            // Real parts are before imaginary ones.
            norm(spectrum.as_view().split(2, [2, 129])?, 2, &mut magnitudes).launch(stream)?;
            let mut x = magnitudes.as_view();
            for (w, b, y, stride) in &mut encoder {
                let layer = conv1d(x, &*w, &mut *y).bias(&*b).stride(*stride).padding(1);
                layer.activation(Activation::Relu).launch(stream)?;
                x = y.as_view();
            }
            lstm(x, &w_ih, &w_hh, &mut h, &mut c, &mut y).biases(&b_ih, &b_hh).launch(stream)?;
            activation(&h, Activation::Relu, &mut open).launch(stream)?;
            Ok(gemm(&open, w.transpose(), &mut speech).bias(&b).activation(Activation::Sigmoid).launch(stream)?)
        })?;
        Ok(Detector(samples, speech, chunk))
    }

    fn probabilities(&mut self, stream: &Stream, recording: &[f32]) -> triton::Result<Vec<f32>> {
        let Detector(samples, speech, chunk) = self;
        let mut probability = |heard: &[f32]| {
            stream.copy_from_host(heard, samples)?;
            chunk.launch(stream)?;
            Ok(stream.download(&*speech)?[0])
        };
        let recording = [&[0.0; CONTEXT], recording].concat();
        recording.windows(CONTEXT + CHUNK).step_by(CHUNK).map(&mut probability).collect()
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let Options { folder, device } = clap::Parser::parse();
    let stream = device.stream()?;
    let mut detector = Detector::new(&stream, &Weights::read(folder.join("weights.safetensors"))?)?;
    let expected = Weights::read(folder.join("reference.safetensors"))?;
    let read = |name: &str| stream.download(&expected.tensor::<f32, 1>(&stream, name)?);
    let (found, expected) = (detector.probabilities(&stream, &read("recording")?)?, read("probabilities")?);
    let furthest = found.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    println!("{found:.3?}\nwithin {furthest:.1e} of onnxruntime in {} chunks", expected.len());
    if found.len() == expected.len() && furthest < 1e-5 { Ok(()) } else { Err("that is too far".into()) }
}
