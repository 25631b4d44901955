//! A detector of random weights against plain loops in `f64`. That of the published weights is compared by the example itself, whose files `convert.py` writes.

use super::{CHUNK, CONTEXT, Detector};
use fastrand::Rng;
use std::collections::HashMap;
use triton::{Weights, prelude::*};

/// The weights: names and extents.
const SHAPES: [(&str, &[usize]); 15] = [
    ("stft.weight", &[258, 256, 1]),
    ("encoder.0.weight", &[128, 3, 129]),
    ("encoder.0.bias", &[128]),
    ("encoder.1.weight", &[64, 3, 128]),
    ("encoder.1.bias", &[64]),
    ("encoder.2.weight", &[64, 3, 64]),
    ("encoder.2.bias", &[64]),
    ("encoder.3.weight", &[128, 3, 64]),
    ("encoder.3.bias", &[128]),
    ("lstm.weight_ih", &[512, 128]),
    ("lstm.weight_hh", &[512, 128]),
    ("lstm.bias_ih", &[512]),
    ("lstm.bias_hh", &[512]),
    ("decoder.weight", &[1, 128]),
    ("decoder.bias", &[1]),
];

/// Random numbers, whose products with as many others are of their size.
fn random() -> HashMap<&'static str, Vec<f32>> {
    let mut random = Rng::with_seed(1);
    let numbers = |(name, shape): (&'static str, &[usize])| {
        let width: usize = shape[1..].iter().product();
        let scale = 2.0 / (width as f32).sqrt();
        let count = shape.iter().product::<usize>();
        (name, (0..count).map(|_| scale * (2.0 * random.f32() - 1.0)).collect())
    };
    SHAPES.into_iter().map(numbers).collect()
}

/// As a file of them.
fn file(numbers: &HashMap<&'static str, Vec<f32>>) -> Weights {
    let (mut entries, mut bytes) = (Vec::new(), Vec::new());
    for (name, shape) in SHAPES {
        let first = bytes.len();
        bytes.extend(numbers[name].iter().flat_map(|x| x.to_le_bytes()));
        entries.push(format!(
            "\"{name}\":{{\"dtype\":\"F32\",\"shape\":{shape:?},\"data_offsets\":[{first},{}]}}",
            bytes.len()
        ));
    }
    let header = format!("{{{}}}", entries.join(","));
    let length = (header.len() as u64).to_le_bytes();
    Weights::from_bytes([&length, header.as_bytes(), &bytes].concat()).expect("the format")
}

/// Numbers of a name, in `f64`.
type Numbers<'a> = &'a dyn Fn(&str) -> Vec<f64>;

/// A convolution along time of rows of channels, with a padding of zeros and ReLU, if there is a bias.
fn convolution(x: &[Vec<f64>], w: &[f64], bias: Option<&[f64]>, taps: usize, stride: usize) -> Vec<Vec<f64>> {
    let (channels, padding) = (x[0].len(), usize::from(bias.is_some()));
    let count = (x.len() + 2 * padding - taps) / stride + 1;
    let at = |p: usize, k: usize| -> f64 {
        let term = |tap: usize| {
            let row = (p * stride + tap).checked_sub(padding).and_then(|row| x.get(row));
            row.map_or(0.0, |row| (0..channels).map(|c| row[c] * w[(k * taps + tap) * channels + c]).sum())
        };
        let sum: f64 = (0..taps).map(term).sum();
        bias.map_or(sum, |bias| (sum + bias[k]).max(0.0))
    };
    (0..count).map(|p| (0..w.len() / (taps * channels)).map(|k| at(p, k)).collect()).collect()
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// The probability of speech in a chunk with its context, and the next state.
fn heard(of: Numbers<'_>, samples: &[f64], (h, c): &mut (Vec<f64>, Vec<f64>)) -> f64 {
    let n = samples.len();
    let mirrored = (1..=CONTEXT).map(|i| samples[n - 1 - i]);
    let padded: Vec<Vec<f64>> = samples.iter().copied().chain(mirrored).map(|x| vec![x]).collect();
    let spectrum = convolution(&padded, &of("stft.weight"), None, 256, 128);
    let mut x: Vec<Vec<f64>> =
        spectrum.iter().map(|row| (0..129).map(|i| row[i].hypot(row[129 + i])).collect()).collect();
    for (i, stride) in [1, 2, 2, 1].into_iter().enumerate() {
        let (w, b) = (of(&format!("encoder.{i}.weight")), of(&format!("encoder.{i}.bias")));
        x = convolution(&x, &w, Some(&b), 3, stride);
    }
    let [w, u, a, b] = ["lstm.weight_ih", "lstm.weight_hh", "lstm.bias_ih", "lstm.bias_hh"].map(of);
    let product = |w: &[f64], row: usize, x: &[f64]| -> f64 { (0..128).map(|k| w[row * 128 + k] * x[k]).sum() };
    let sums: Vec<f64> = (0..512).map(|row| product(&w, row, &x[0]) + product(&u, row, h) + a[row] + b[row]).collect();
    for j in 0..128 {
        c[j] = sigmoid(sums[128 + j]) * c[j] + sigmoid(sums[j]) * sums[256 + j].tanh();
        h[j] = sigmoid(sums[384 + j]) * c[j].tanh();
    }
    let open: Vec<f64> = h.iter().map(|h| h.max(0.0)).collect();
    sigmoid(product(&of("decoder.weight"), 0, &open) + of("decoder.bias")[0])
}

#[test]
fn probabilities_are_those_of_plain_loops() -> triton::Result<()> {
    let (stream, numbers, mut random) = (Device::cpu().stream()?, random(), Rng::with_seed(2));
    let recording: Vec<f32> = (0..5 * CHUNK).map(|_| 2.0 * random.f32() - 1.0).collect();
    let found = Detector::new(&stream, &file(&numbers))?.probabilities(&stream, &recording)?;
    assert_eq!(found.len(), 5);
    let of = |name: &str| numbers[name].iter().map(|x| f64::from(*x)).collect::<Vec<f64>>();
    let mut state = (vec![0.0; 128], vec![0.0; 128]);
    for (i, found) in found.iter().enumerate() {
        let first = (i * CHUNK).checked_sub(CONTEXT);
        let before = first.map_or(vec![0.0; CONTEXT], |first| recording[first..][..CONTEXT].to_vec());
        let samples = before.iter().chain(&recording[i * CHUNK..][..CHUNK]).map(|x| f64::from(*x));
        let expected = heard(&of, &samples.collect::<Vec<f64>>(), &mut state);
        assert!((f64::from(*found) - expected).abs() < 1e-5, "chunk {i}: {found} is not {expected}");
    }
    Ok(())
}
