//! How the list was drawn, and what holds of it.

use super::contains;
use crate::{linear, shapes};
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::fmt::Write;

/// A model, and the outputs and inputs of its linear layers. Projections of queries, keys and values are one product, as are a gate and what it gates.
const LAYERS: &[(&str, &[[usize; 2]])] = &[
    ("BERT large", &[[3072, 1024], [1024, 1024], [4096, 1024], [1024, 4096]]),
    ("GPT-2", &[[2304, 768], [768, 768], [3072, 768], [768, 3072]]),
    ("GPT-2 XL", &[[4800, 1600], [1600, 1600], [6400, 1600], [1600, 6400]]),
    ("T5 XL", &[[2048, 2048], [10240, 2048], [2048, 5120]]),
    ("OPT 1.3B", &[[6144, 2048], [2048, 2048], [8192, 2048], [2048, 8192]]),
    ("Phi-2", &[[7680, 2560], [2560, 2560], [10240, 2560], [2560, 10240]]),
    ("Phi-3 mini", &[[9216, 3072], [3072, 3072], [16384, 3072], [3072, 8192]]),
    ("StableLM 3B", &[[7680, 2560], [13824, 2560], [2560, 6912]]),
    ("Falcon 7B", &[[4672, 4544], [4544, 4544], [18176, 4544], [4544, 18176]]),
    ("GPT-NeoX 20B", &[[18432, 6144], [6144, 6144], [24576, 6144], [6144, 24576]]),
    ("Llama 2 7B", &[[12288, 4096], [4096, 4096], [22016, 4096], [4096, 11008]]),
    ("Llama 2 13B", &[[15360, 5120], [5120, 5120], [27648, 5120], [5120, 13824]]),
    ("Llama 2 70B", &[[10240, 8192], [8192, 8192], [8192, 28672]]),
    ("Llama 3 8B", &[[6144, 4096], [4096, 4096], [28672, 4096], [4096, 14336]]),
    ("Llama 3.2 1B", &[[3072, 2048], [2048, 2048], [16384, 2048], [2048, 8192]]),
    ("Llama 3.2 3B", &[[5120, 3072], [3072, 3072], [16384, 3072], [3072, 8192]]),
    ("Qwen 2.5 0.5B", &[[1152, 896], [896, 896], [9728, 896], [896, 4864]]),
    ("Qwen 2.5 1.5B", &[[2048, 1536], [1536, 1536], [17920, 1536], [1536, 8960]]),
    ("Qwen 2.5 7B", &[[4608, 3584], [3584, 3584], [37888, 3584], [3584, 18944]]),
    ("Qwen 2.5 14B", &[[7168, 5120], [5120, 5120], [27648, 5120], [5120, 13824]]),
    ("Qwen 2.5 72B", &[[10240, 8192], [8192, 8192], [8192, 29568]]),
    ("Gemma 2B", &[[2560, 2048], [2048, 2048], [32768, 2048], [2048, 16384]]),
    ("Gemma 7B", &[[12288, 3072], [3072, 4096], [49152, 3072], [3072, 24576]]),
    ("Gemma 2 9B", &[[8192, 3584], [3584, 4096], [28672, 3584], [3584, 14336]]),
    ("DeepSeek V2 Lite", &[[3072, 2048], [2048, 2048], [21888, 2048], [2048, 10944]]),
    ("DeepSeek V3", &[[2112, 7168], [24576, 1536], [7168, 16384], [36864, 7168], [7168, 18432]]),
    ("Yi 34B", &[[9216, 7168], [7168, 7168], [7168, 20480]]),
    ("Whisper large", &[[3840, 1280], [1280, 1280], [5120, 1280], [1280, 5120]]),
    ("ViT B", &[[2304, 768], [768, 768], [3072, 768], [768, 3072]]),
    ("ViT L", &[[3072, 1024], [1024, 1024], [4096, 1024], [1024, 4096]]),
    ("ViT g", &[[4224, 1408], [1408, 1408], [6144, 1408], [1408, 6144]]),
    ("SigLIP So400m", &[[3456, 1152], [1152, 1152], [4304, 1152], [1152, 4304]]),
    ("DINOv2 g", &[[4608, 1536], [1536, 1536], [8192, 1536], [1536, 4096]]),
    ("Flux", &[[9216, 3072], [3072, 3072], [12288, 3072], [3072, 12288], [21504, 3072], [3072, 15360]]),
];

/// Products of the list.
const COUNT: usize = 200;

/// What the list was drawn by.
const SEED: u64 = 52;

/// The most products of numbers in one of them: a millisecond or two.
const MOST: usize = 450_000_000_000;

/// Tokens: a power of two up to 8192, or any number up to that by its logarithm, as often.
fn tokens(rng: &mut ChaCha8Rng) -> usize {
    if rng.random() { 1 << rng.random_range(0..=13) } else { rng.random_range(0.0..13.0f64).exp2().round() as usize }
}

/// Whether a product is a cube or in a table of the papers: those are measured for the selection.
fn is_measured([m, n, k]: [usize; 3]) -> bool {
    let groups = [shapes::SQUARES, shapes::MLP, shapes::COVARIANCE, shapes::MAPL, shapes::CUBES];
    let mut of_papers = shapes::ISAAC.iter().chain(&groups).flat_map(|group| group.shapes);
    (m == n && n == k) || of_papers.any(|shape| *shape == [m, n, k] || *shape == [n, m, k])
}

/// The list as its file has it.
fn drawn() -> Option<String> {
    let mut rng = ChaCha8Rng::seed_from_u64(SEED);
    let (mut text, mut shapes) = (String::from("model\tM\tN\tK\n"), Vec::new());
    while shapes.len() < COUNT {
        let (model, layers) = LAYERS.choose(&mut rng)?;
        let [n, k] = *layers.choose(&mut rng)?;
        let m = tokens(&mut rng);
        if m * n * k <= MOST && !shapes.contains(&[m, n, k]) && !is_measured([m, n, k]) {
            shapes.push([m, n, k]);
            writeln!(text, "{model}\t{m}\t{n}\t{k}").ok()?;
        }
    }
    Some(text)
}

#[test]
fn the_list_is_what_the_seed_draws() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/linear.tsv");
    let drawn = drawn().expect("there are layers");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path, &drawn).expect("the file of the list");
    }
    assert_eq!(std::fs::read_to_string(path).expect("the file of the list"), drawn);
    assert_eq!(linear::shapes().len(), COUNT);
}

#[test]
fn no_product_of_the_list_is_in_the_table_of_the_library() {
    let table = include_str!("../../../../triton-kernels/src/tables/h200.tsv");
    let keys = table.lines().filter_map(|line| line.split('\t').nth(2));
    let shapes = keys.filter_map(|key| {
        let sides: Vec<usize> = key.split(',').take(3).filter_map(|side| side.parse().ok()).collect();
        sides.try_into().ok()
    });
    let shapes: Vec<[usize; 3]> = shapes.collect();
    assert!(shapes.len() > 100, "{} lines", shapes.len());
    assert!(shapes.iter().all(|shape| !contains(*shape)));
}
