//! Sparse attention of all blocks is dense attention, and a block learns.

use crate::attention::Attention;
use crate::block::{Block, Shape};
use crate::pattern;
use triton::prelude::*;
use triton_collective::{Communicator, on_all};
use triton_kernels::Result;
use triton_kernels::sparse::{BlockLayout, BlockMask};

const SHAPE: Shape = Shape { batch: 2, context: 64, width: 64, heads: 4 };

/// A world of one.
fn alone(stream: &Stream) -> Result<Communicator> {
    Ok(Communicator::alone(stream.device()).map_err(triton::Error::from)?)
}

#[test]
fn all_blocks_are_dense_attention() -> Result<()> {
    let stream = Device::cpu().stream()?;
    let layout = BlockLayout::new(&stream, 16, &BlockMask::causal(4).repeat(4))?;
    let outputs = [Attention::dense(), Attention::sparse(&stream, &SHAPE, layout)?].map(|mut attention| {
        let mut block = Block::new(&stream, &alone(&stream)?, SHAPE, |v| v)?;
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
        let mut block = Block::new(&stream, &alone(&stream)?, SHAPE, |v| v)?;
        let mut losses = Vec::new();
        for _ in 0..6 {
            block.step(&stream, &mut attention)?;
            losses.push(block.loss(&stream)?);
        }
        assert!(losses.windows(2).all(|pair| pair[1] < pair[0]), "{losses:?}");
    }
    Ok(())
}

/// Two ranks learn from batches of their own, and have the same weights, to the bit.
#[test]
fn ranks_have_equal_weights() -> Result<()> {
    let devices = [Device::cpu(), Device::cpu()];
    let prints = on_all(&devices, |communicator| {
        let stream = communicator.device().stream()?;
        let (mut attention, mut block) = (Attention::dense(), Block::new(&stream, communicator, SHAPE, |v| v)?);
        let before = block.fingerprint(&stream)?;
        for _ in 0..2 {
            block.step(&stream, &mut attention)?;
        }
        Ok::<_, triton_kernels::Error>([before, block.fingerprint(&stream)?])
    })?;
    assert_eq!(prints[0], prints[1]);
    assert_ne!(prints[0][0], prints[0][1], "nothing was learnt");
    Ok(())
}
