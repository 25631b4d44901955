//! Times block-sparse attention on a GPU, 12 heads of 64 and 16384 tokens in all, each repetition after the L2 cache was overwritten:
//! `cargo run --release -p triton-kernels --example sparse_speed`. `sparse_speed.py` times
//! PyTorch's operators on the same shapes.

mod timer;

use timer::{Timer, numbers};
use triton::{Device, bf16};
use triton_kernels::Result;
use triton_kernels::sparse::{
    BlockLayout, BlockMask, BlockSparse, Mask, block_sparse_attention, sddmm, sparse_softmax, spmm,
};

const HEADS: usize = 12;
const DEPTH: usize = 64;
const TOKENS: usize = 1 << 14;

/// A product of the blocks of a layout and matrices of 64 columns, in multiplications and additions.
fn operations(layout: &BlockLayout, batch: usize) -> f64 {
    2.0 * (batch * layout.blocks() * layout.block() * layout.block() * DEPTH) as f64
}

fn tera(operations: f64, milliseconds: f64) -> f64 {
    operations / milliseconds / 1e9
}

/// An eighth of the blocks, others for each head.
fn random(timer: &Timer, length: usize, block: usize) -> Result<BlockLayout> {
    let heads: Vec<BlockMask> = (0..HEADS).map(|head| BlockMask::random(length / block, 0.125, head as u64)).collect();
    BlockLayout::new(&timer.stream, block, &BlockMask::stack(&heads)?)
}

/// A program a block, then super-blocks as wide as there are, then as wide as leave enough programs.
fn sampled(timer: &mut Timer, length: usize, block: usize) -> Result<()> {
    let (stream, batch) = (timer.stream.clone(), TOKENS / length);
    let shape = [batch, HEADS, length, DEPTH];
    let (q, k) = (numbers(&stream, shape, bf16::from_f32)?, numbers(&stream, shape, bf16::from_f32)?);
    let layout = random(timer, length, block)?;
    let mut x = BlockSparse::<bf16>::zeros(&stream, batch, &layout)?;
    let mut rates = Vec::new();
    for superblocks in [Some(false), Some(true), None] {
        let time = timer.time(|stream| {
            let launch = sddmm(&q, &k, &mut x);
            match superblocks {
                Some(superblocks) => launch.superblocks(superblocks),
                None => launch,
            }
            .launch(stream)
        })?;
        rates.push(format!("{:.1}", tera(operations(&layout, batch), time)));
    }
    println!("sddmm bf16 length {length} block {block}: {} TFLOPS naive, super-blocked, as chosen", rates.join(", "));
    Ok(())
}

/// In one launch, by itself and with what attention adds: bytes that have to be moved.
fn softmax(timer: &mut Timer, length: usize, block: usize) -> Result<()> {
    let (stream, batch) = (timer.stream.clone(), TOKENS / length);
    let layout = random(timer, length, block)?;
    let mut x = BlockSparse::<bf16>::zeros(&stream, batch, &layout)?;
    let (mask, padding) = (stream.tensor_zeros([length, length])?, stream.tensor_zeros([batch, length])?);
    let position = stream.tensor_zeros([1, HEADS, length, length])?;
    let (bytes, block) = (2 * x.values().len(), layout.block());
    let name = format!("sparse_softmax bf16 length {length} block {block}");
    timer.report(&name, 2 * bytes, |stream| sparse_softmax(&mut x).scale(0.125).launch(stream))?;
    let position = position.as_view().broadcast(0, batch)?;
    // Positions are the same for the batch, the mask for the heads, too.
    let added = 2 * (layout.blocks() * block * block + length * length);
    timer.report(&format!("{name} with positions and masks"), 2 * bytes + added, |stream| {
        sparse_softmax(&mut x)
            .scale(0.125)
            .position(position)
            .mask(&mask, Mask::Add)
            .key_padding(&padding, Mask::Add)
            .launch(stream)
    })
}

/// Causal rows, the last of which has the most blocks, in segments.
fn applied(timer: &mut Timer, length: usize, block: usize) -> Result<()> {
    let (stream, batch) = (timer.stream.clone(), TOKENS / length);
    let shape = [batch, HEADS, length, DEPTH];
    let layout = BlockLayout::new(&stream, block, &BlockMask::causal(length / block).repeat(HEADS))?;
    let p = BlockSparse::<bf16>::zeros(&stream, batch, &layout)?;
    let (v, mut out) = (numbers(&stream, shape, bf16::from_f32)?, stream.tensor_zeros(shape)?);
    for (segment, deterministic) in
        [(None, false), (Some(16), false), (Some(8), false), (Some(4), false), (Some(16), true)]
    {
        let time = timer.time(|stream| {
            let launch = spmm(&p, &v, &mut out).deterministic(deterministic);
            match segment {
                Some(blocks) => launch.segment(blocks),
                None => launch,
            }
            .launch(stream)
        })?;
        let rate = tera(operations(&layout, batch), time);
        let order = if deterministic { "in one order" } else { "in any order" };
        let segment = segment.map_or("of any length".to_string(), |blocks| format!("of {blocks} blocks {order}"));
        println!("spmm bf16 causal length {length} block {block}, segments {segment}: {rate:.1} TFLOPS");
    }
    Ok(())
}

/// In one launch, and in three.
fn attention(timer: &mut Timer, length: usize, block: usize) -> Result<()> {
    let (stream, batch) = (timer.stream.clone(), TOKENS / length);
    let shape = [batch, HEADS, length, DEPTH];
    let [q, k, v] = [(); 3].map(|()| numbers(&stream, shape, bf16::from_f32));
    let (q, k, v, mut out) = (q?, k?, v?, stream.tensor_zeros(shape)?);
    let layout = random(timer, length, block)?;
    let mut x = BlockSparse::<bf16>::zeros(&stream, batch, &layout)?;
    let fused = timer.time(|stream| block_sparse_attention(&q, &k, &v, &mut out, &layout).launch(stream))?;
    let apart = timer.time(|stream| {
        sddmm(&q, &k, &mut x).scale(0.125).launch(stream)?;
        sparse_softmax(&mut x).launch(stream)?;
        spmm(&x, &v, &mut out).launch(stream)
    })?;
    let rate = tera(2.0 * operations(&layout, batch), fused);
    println!(
        "attention bf16 length {length} block {block}: {:.1} us in one launch ({rate:.1} TFLOPS), {:.1} us in three",
        fused * 1e3,
        apart * 1e3
    );
    Ok(())
}

fn main() -> Result<()> {
    let device: Device = "cuda".parse()?;
    let mut timer = Timer::new(&device)?;
    println!("{device}");
    for block in [16, 32, 64] {
        for length in [512, 1024, 2048, 4096] {
            sampled(&mut timer, length, block)?;
        }
        softmax(&mut timer, 4096, block)?;
        for length in [1024, 4096] {
            applied(&mut timer, length, block)?;
            attention(&mut timer, length, block)?;
        }
    }
    Ok(())
}
