//! Super-blocks and tables of block-sparse matrices, as pure functions over many masks.
#![cfg(feature = "sparse")]

use fastrand::Rng;
use triton::Device;
use triton_kernels::Error;
use triton_kernels::sparse::{BlockLayout, BlockMask, BlockSparse, superblock};

/// A mask of any pattern, of a grid that need not be square.
fn any(random: &mut Rng) -> BlockMask {
    let n = random.usize(..20);
    let [a, b] = [random.usize(..9), random.usize(..4)];
    let of_head = match random.u32(..9) {
        0 => BlockMask::causal(n),
        1 => BlockMask::window(n, a),
        2 => BlockMask::fixed(n, a, b),
        3 => BlockMask::strided(n, a),
        4 => BlockMask::longformer(n, a, b),
        5 => BlockMask::bigbird(n, a, b, b, random.u64(..)),
        6 => BlockMask::dense(n),
        7 => BlockMask::random(n, random.f64(), random.u64(..)),
        _ => {
            let density = random.f64();
            return BlockMask::from_fn([random.usize(..3), n, random.usize(..24)], |_, _, _| random.f64() < density);
        }
    };
    let other = BlockMask::random(n, random.f64(), random.u64(..)).repeat(random.usize(1..3));
    let combined = match random.u32(..3) {
        0 => Ok(of_head),
        1 => of_head & other,
        _ => other | of_head,
    };
    combined.expect("masks of one grid")
}

#[test]
fn each_block_is_in_one_superblock_and_each_superblock_is_full() {
    for seed in 0..10_000 {
        let mut random = Rng::with_seed(seed);
        let mask = any(&mut random);
        let widths = [8, 4, 2, random.usize(..10)];
        let parts = superblock(&mask, &widths);
        let [heads, rows, columns] = mask.shape();
        let mut seen = vec![false; heads * rows * columns];
        for width in parts.widths() {
            for of in parts.of_width(width) {
                assert_eq!((of.rows.len(), of.columns.len()), (width, width), "seed {seed}");
                assert!(of.rows.is_sorted_by(|a, b| a < b) && of.columns.is_sorted_by(|a, b| a < b), "seed {seed}");
                for (m, n) in of.rows.iter().flat_map(|m| of.columns.iter().map(move |n| (*m, *n))) {
                    assert!(mask.contains(of.head, m, n), "seed {seed}: no block at {m}, {n} of {of:?}");
                    let twice = std::mem::replace(&mut seen[(of.head * rows + m) * columns + n], true);
                    assert!(!twice, "seed {seed}: the block at {m}, {n} is in two");
                }
            }
        }
        assert_eq!(seen.iter().filter(|seen| **seen).count(), mask.blocks(), "seed {seed}");
    }
}

#[test]
fn shares_of_widths() {
    let n = 64;
    let shares = |mask: &BlockMask| {
        let parts = superblock(mask, &[8, 4, 2, 1]);
        [8, 4, 2, 1].map(|width| 100.0 * parts.share(width))
    };
    let patterns = [
        ("causal", BlockMask::causal(n), [86, 6, 3, 5]),
        ("fixed", BlockMask::fixed(n, 8, 1), [12, 50, 25, 12]),
        ("strided", BlockMask::strided(n, 8), [0, 61, 27, 12]),
        ("longformer", BlockMask::longformer(n, 4, 2), [0, 73, 19, 8]),
        ("window", BlockMask::window(n, 4), [0, 58, 30, 12]),
    ];
    for (name, mask, expected) in patterns {
        assert_eq!(shares(&mask).map(|share| (share - 1e-9).round() as i32), expected, "{name}: {:?}", shares(&mask));
    }
    // Of many masks at random: one differs from another.
    let masks = (0..32).map(|seed| (BlockMask::random(n, 0.125, seed) | BlockMask::window(n, 0)).expect("one grid"));
    let mut mean = [0.0; 4];
    masks.for_each(|mask| mean.iter_mut().zip(shares(&mask)).for_each(|(mean, share)| *mean += share / 32.0));
    let close = |(found, expected): (&f64, f64)| (found - expected).abs() < 1.0;
    assert!(mean.iter().zip([0.0, 0.0, 30.0, 70.0]).all(close), "{mean:?}");
}

#[test]
fn patterns() {
    let rows = |mask: &BlockMask| {
        let [_, rows, columns] = mask.shape();
        let row = |m| (0..columns).map(|n| if mask.contains(0, m, n) { '#' } else { '.' }).collect::<String>();
        (0..rows).map(row).collect::<Vec<_>>()
    };
    assert_eq!(rows(&BlockMask::fixed(4, 2, 1)), ["#...", "##..", ".##.", ".###"]);
    assert_eq!(rows(&BlockMask::strided(5, 2)), ["#....", "##...", "###..", ".###.", "#.###"]);
    assert_eq!(rows(&BlockMask::longformer(4, 0, 1)), ["####", "##..", "#.#.", "#..#"]);
    assert_eq!(rows(&BlockMask::window(4, 1)), ["##..", "###.", ".###", "..##"]);
    let big = BlockMask::bigbird(32, 1, 1, 3, 7);
    assert!((2..32).all(|m| (4..=7).contains(&(0..32).filter(|n| big.contains(0, m, *n)).count())));
    let random = BlockMask::random(128, 0.25, 3);
    assert!((random.density() - 0.25).abs() < 0.02, "{}", random.density());
    assert_eq!(random, BlockMask::random(128, 0.25, 3));
    assert_ne!(random, BlockMask::random(128, 0.25, 4));
    assert!(!random.contains(1, 0, 0) && !random.contains(0, 128, 0) && !random.contains(0, 0, 128));
    assert_eq!((BlockMask::random(8, f64::NAN, 1).blocks(), BlockMask::random(8, 1.0, 1).blocks()), (0, 64));
}

#[test]
fn masks_of_other_grids_are_refused() {
    let message = |result: Result<BlockMask, Error>| result.expect_err("other grids").to_string();
    let error = message(BlockMask::dense(4) & BlockMask::dense(5));
    assert!(error.contains("extent 5 along axis 1, but 4 is expected"), "{error}");
    let error = message(BlockMask::dense(4).repeat(2) | BlockMask::dense(4).repeat(3));
    assert!(error.contains("extent 3 along axis 0, but 2 is expected"), "{error}");
    let error = message(BlockMask::stack(&[BlockMask::dense(4), BlockMask::from_fn([1, 4, 3], |_, _, _| true)]));
    assert!(error.contains("extent 3 along axis 2, but 4 is expected"), "{error}");
    assert_eq!(BlockMask::stack(&[]).expect("no mask").shape(), [0; 3]);
}

#[test]
fn blocks_have_the_sizes_of_kernels() {
    let stream = Device::cpu().stream().expect("a stream");
    for block in [0, 1, 8, 24, 256] {
        let error = BlockLayout::new(&stream, block, &BlockMask::dense(2)).expect_err("no such block").to_string();
        assert!(error.contains(&format!("`block` is {block}, but 16, 32, 64 or 128 is expected")), "{error}");
    }
    let layout = BlockLayout::new(&stream, 32, &BlockMask::causal(3)).expect("a layout");
    assert_eq!((layout.blocks(), layout.tokens(), layout.block(), layout.heads()), (6, [96, 96], 32, 1));
    let x = BlockSparse::<f32>::zeros(&stream, 2, &layout).expect("memory");
    assert_eq!((x.shape(), x.values().len()), ([2, 6, 32, 32], 2 * 6 * 1024));
}
