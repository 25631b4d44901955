//! Sparse attention of all blocks is dense attention, and a block learns.

use crate::attention::Attention;
use crate::block::{Block, Shape};
use crate::pattern;
use triton::prelude::*;
use triton_kernels::Result;
use triton_kernels::sparse::{BlockLayout, BlockMask};

const SHAPE: Shape = Shape { batch: 2, context: 64, width: 64, heads: 4 };

#[test]
fn all_blocks_are_dense_attention() -> Result<()> {
    let stream = Device::cpu().stream()?;
    let layout = BlockLayout::new(&stream, 16, &BlockMask::causal(4).repeat(4))?;
    let outputs = [Attention::dense(), Attention::sparse(&stream, &SHAPE, layout)?].map(|mut attention| {
        let mut block = Block::new(&stream, SHAPE, |v| v)?;
        // After steps, so that gradients count too.
        for _ in 0..3 {
            block.step(&stream, &mut attention)?;
        }
        block.output(&stream, &mut attention)
    });
    let [dense, sparse]: [Result<Vec<f32>>; 2] = outputs;
    let (dense, sparse) = (dense?, sparse?);
    let furthest = dense.iter().zip(&sparse).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(furthest < 1e-5, "outputs differ by {furthest}");
    Ok(())
}

#[test]
fn the_loss_falls() -> Result<()> {
    let stream = Device::cpu().stream()?;
    let layout = BlockLayout::new(&stream, 16, &pattern(4).repeat(4))?;
    for mut attention in [Attention::dense(), Attention::sparse(&stream, &SHAPE, layout)?] {
        let mut block = Block::new(&stream, SHAPE, |v| v)?;
        let mut losses = Vec::new();
        for _ in 0..6 {
            block.step(&stream, &mut attention)?;
            losses.push(block.loss(&stream)?);
        }
        assert!(losses.windows(2).all(|pair| pair[1] < pair[0]), "{losses:?}");
    }
    Ok(())
}
