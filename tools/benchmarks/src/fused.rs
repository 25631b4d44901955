//! Our products with more than a sum in them: a linear layer with its activation, gathered rows, and the library's attention.

use crate::Outcome;
use crate::case::{Case, Op};
use crate::kernels::Operands;
use triton::prelude::*;

/// out = gelu(x · w + bias), or its approximation with `tanh` (Hendrycks and Gimpel, "Gaussian error linear units", 2016, section 2). x is
/// \[M, K\], w is \[K, N\], bias is \[N\].
///
/// Four warps with 128 sums a thread are at the limit of the registers, which the compiler warns of: none of their images spills.
#[triton::kernel(fast_math = true, warnings = false, configs = [
    (BM = 128, BN = 256, BK = 64, EXACT = false, num_warps = 8, num_stages = 4, targets = ["sm_90a"]),
    (BM = 128, BN = 128, BK = 64, EXACT = false, num_warps = 8, num_stages = 3),
    (BM = 128, BN = 128, BK = 32, EXACT = false, num_warps = 4, num_stages = 4),
    (BM = 64, BN = 256, BK = 32, EXACT = false, num_warps = 4, num_stages = 4),
    (BM = 128, BN = 256, BK = 64, EXACT = true, num_warps = 8, num_stages = 4, targets = ["sm_90a"]),
    (BM = 128, BN = 128, BK = 64, EXACT = true, num_warps = 8, num_stages = 3),
], tune = [BM, BN, BK])]
pub fn linear_gelu<const BM: i32, const BN: i32, const BK: i32, const EXACT: bool>(
    x: Tensor<bf16, 2>,
    w: Tensor<bf16, 2>,
    bias: Tensor<bf16, 1>,
    out: TensorMut<bf16, 2>,
) {
    let (m, n) = (program_id(0) * BM, program_id(1) * BN);
    let mut acc = zeros::<f32>([BM, BN]);
    for k in (0..x.dim(1)).step_by(BK) {
        acc = dot(x.load([m, k], [BM, BK]), w.load([k, n], [BK, BN]), acc);
    }
    let sum = acc + bias.load([n], [BN]).to::<f32>().expand_dims(0);
    // x · (1 + tanh(u)) / 2, where u is x times a polynomial of x²: that of the approximation, or atanh(erf(x / √2)) / x within what 16 bits keep.
    let t = sum * sum;
    let polynomial = if EXACT {
        let t = minimum(t, 64.0);
        fma(t, fma(t, -3.515_169_7e-4, 0.037_005_648), 0.797_507_9)
    } else {
        fma(t, 0.035_677_407, 0.797_884_6)
    };
    let half = 0.5 * sum;
    out.store([m, n], fma(half, tanh_approx(sum * polynomial), half).to::<bf16>());
}

/// out = the listed rows of x, times w: an expert's share of a batch.
#[triton::kernel(configs = [
    (BM = 128, BN = 256, BK = 64, num_warps = 8, num_stages = 4, targets = ["sm_90a"]),
    (BM = 128, BN = 128, BK = 64, num_warps = 8, num_stages = 4),
], tune = [BM, BN, BK])]
pub fn gathered_product<const BM: i32, const BN: i32, const BK: i32>(
    x: Tensor<bf16, 2>,
    rows: Tensor<i32, 1>,
    w: Tensor<bf16, 2>,
    out: TensorMut<bf16, 2>,
) {
    let (m, n) = (program_id(0) * BM, program_id(1) * BN);
    let at = rows.load_or([m], [BM], -1).expand_dims(1);
    let mut acc = zeros::<f32>([BM, BN]);
    for k in (0..x.dim(1)).step_by(BK) {
        let columns = (arange(0, BK) + k).expand_dims(0);
        acc = dot(x.gather([at, columns], true), w.load([k, n], [BK, BN]), acc);
    }
    out.store([m, n], acc.to::<bf16>());
}

/// The tiles of the instances for a case. The first computes it, and `tune-products` ranks all: rows, columns and the K of an iteration of a
/// linear layer.
pub fn tiles(case: &Case) -> Vec<[usize; 3]> {
    match case.op {
        Op::Linear => {
            let pool = if case.exact { linear_gelu_pool::<true>() } else { linear_gelu_pool::<false>() };
            let tiles = pool.members().iter().map(|of| linear_tile(of.choice()));
            tiles.map(|tile| tile.map(|side| side as usize)).collect()
        }
        Op::Copy
        | Op::Add
        | Op::Softmax
        | Op::Cumsum
        | Op::LayerNorm
        | Op::RmsNorm
        | Op::Transpose
        | Op::Matmul
        | Op::Attention => Vec::new(),
    }
}

fn linear_tile(of: &LinearGeluChoice) -> [i32; 3] {
    [of.BM, of.BN, of.BK]
}

/// `128x256x64`.
pub fn spelled(tile: [usize; 3]) -> String {
    tile.map(|side| side.to_string()).join("x")
}

/// Enqueues a linear layer by the instance with a tile: y is w, then the bias.
///
/// # Errors
/// Those of a launch, and a tile that there is no instance for.
pub fn linear(case: &Case, tile: [usize; 3], stream: &Stream, operands: Operands<'_, bf16>) -> Outcome {
    let Operands { x, y, out, .. } = operands;
    let [rows, columns, k] = case.shape;
    let (w, bias) = (y.view([k, columns])?, y.slice(case.second()..)?.view([columns])?);
    let (x, out) = (x.view([rows, k])?, out.view_mut([rows, columns])?);
    let grid = |of: &LinearGeluChoice| (rows.div_ceil(of.BM as usize), columns.div_ceil(of.BN as usize));
    let layer = if case.exact {
        linear_gelu_tuned::<true>(x, w, bias, out)
    } else {
        linear_gelu_tuned::<false>(x, w, bias, out)
    };
    layer.find(|of| linear_tile(of) == tile.map(|side| side as i32)).launch(stream, grid)?;
    Ok(())
}

/// Enqueues the library's attention over heads one behind the other: y is k, then v.
///
/// # Errors
/// Those of a launch.
pub fn attend(case: &Case, stream: &Stream, operands: Operands<'_, bf16>) -> Outcome {
    let Operands { x, y, out, .. } = operands;
    let [rows, columns, tokens] = case.shape;
    let shape = [1, rows / tokens, tokens, columns];
    let (k, v) = (y.view(shape)?, y.slice(case.second()..)?.view(shape)?);
    let of = triton_kernels::attention::attention(x.view(shape)?, k, v, out.view_mut(shape)?);
    let of = if case.causal { of.causal() } else { of };
    of.launch(stream)?;
    Ok(())
}
