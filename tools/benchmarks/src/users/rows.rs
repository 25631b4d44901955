//! Rows as users write them: Triton's tutorial 02 (softmax) by pointers and by views, the largest elements of rows, and group norm.

use triton::prelude::*;

/// Tutorial 02: softmax of rows, by pointers: each program goes over rows, as many apart as there are programs.
#[triton::kernel(configs = [(N = 1024, num_warps = 8), (N = 4096, num_warps = 8)], tune = [N])]
pub fn softmax_pointers<const N: i32>(
    output: PtrMut<f32>,
    input: Ptr<f32>,
    input_row_stride: i32,
    output_row_stride: i32,
    n_rows: i32,
    n_cols: i32,
) {
    let row_start = program_id(0);
    let row_step = num_programs(0);
    for row_idx in (row_start..n_rows).step_by(row_step) {
        let row_start_ptr = input + row_idx * input_row_stride;
        let col_offsets = arange(0, N);
        let input_ptrs = row_start_ptr + col_offsets;
        let mask = col_offsets < n_cols;
        let row = load_or(input_ptrs, mask, f32::NEG_INFINITY);
        let row_minus_max = row - max(row);
        let numerator = exp(row_minus_max);
        let denominator = sum(numerator);
        let softmax_output = numerator / denominator;
        let output_row_start_ptr = output + row_idx * output_row_stride;
        let output_ptrs = output_row_start_ptr + col_offsets;
        store(output_ptrs, softmax_output, mask);
    }
}

/// Tutorial 02 by views: a row a program.
#[triton::kernel(configs = [(N = 1024, num_warps = 8), (N = 4096, num_warps = 8)], tune = [N])]
pub fn softmax_views<const N: i32>(x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let at = [program_id(0), 0];
    let row = x.load_or(at, [1, N], f32::NEG_INFINITY);
    let e = exp(row - max_axis(row, 1).expand_dims(1));
    out.store(at, e / sum_axis(e, 1).expand_dims(1));
}

/// The eight largest of each row of N elements and their columns, in falling order, by pointers: the greatest is taken eight times.
#[triton::kernel(configs = [(R = 4, N = 1024, num_warps = 4)], tune = [R, N])]
pub fn top_pointers<const R: i32, const N: i32>(
    x: Ptr<f32>,
    values: PtrMut<f32>,
    columns: PtrMut<i32>,
    n_rows: i32,
    stride: i32,
) {
    let rows = (program_id(0) * R + arange(0, R)).expand_dims(1);
    let offsets = arange(0, N).expand_dims(0);
    let mut left = load_or(x + rows * stride + offsets, (rows < n_rows) & (offsets < stride), f32::NEG_INFINITY);
    for i in 0..8 {
        let at = argmax_axis(left, 1).expand_dims(1);
        let largest = max_axis(left, 1).expand_dims(1);
        store(values + rows * 8 + i, largest, rows < n_rows);
        store(columns + rows * 8 + i, at, rows < n_rows);
        left = select(offsets == at, f32::NEG_INFINITY, left);
    }
}

/// The eight largest of each row of N elements and their columns, in falling order, by views.
#[triton::kernel(configs = [(R = 4, N = 1024, num_warps = 4)], tune = [R, N])]
pub fn top_views<const R: i32, const N: i32>(x: Tensor<f32, 2>, values: TensorMut<f32, 2>, columns: TensorMut<i32, 2>) {
    let row = program_id(0) * R;
    let offsets = arange(0, N).expand_dims(0);
    let place = arange(0, 8).expand_dims(0);
    let mut left = x.load_or([row, 0], [R, N], f32::NEG_INFINITY);
    let mut found = zeros::<f32>([R, 8]);
    let mut found_at = zeros::<i32>([R, 8]);
    for i in 0..8 {
        let at = argmax_axis(left, 1).expand_dims(1);
        found = select(place == i, max_axis(left, 1).expand_dims(1), found);
        found_at = select(place == i, at, found_at);
        left = select(offsets == at, f32::NEG_INFINITY, left);
    }
    values.store([row, 0], found);
    columns.store([row, 0], found_at);
}

/// Group norm by pointers: a group of C channels of N elements a program, a weight and a bias for each channel. Programs are numbered by
/// the groups of the first item, then those of the second, and so on.
#[triton::kernel(configs = [(C = 16, N = 1024, num_warps = 16)], tune = [C, N])]
pub fn group_norm_pointers<const C: i32, const N: i32>(
    x: Ptr<f16>,
    w: Ptr<f16>,
    b: Ptr<f16>,
    out: PtrMut<f16>,
    channel_size: i32,
    groups: i32,
    eps: f32,
) {
    let pid = program_id(0);
    let channels = arange(0, C).expand_dims(1);
    let inside = arange(0, N).expand_dims(0);
    let mask = (channels < C) & (inside < channel_size);
    let offsets = pid * C * channel_size + channels * channel_size + inside;
    let x = load(x + offsets, mask).to::<f32>();
    let count = (C * channel_size).to::<f32>();
    let mean = sum(x) / count;
    let centred = select(mask, x - mean, 0.0);
    let rstd = 1.0 / sqrt(sum(centred * centred) / count + eps);
    let channel = pid % groups * C + arange(0, C);
    let w = load(w + channel, true).to::<f32>().expand_dims(1);
    let b = load(b + channel, true).to::<f32>().expand_dims(1);
    store(out + offsets, (centred * rstd * w + b).to::<f16>(), mask);
}

/// Group norm by views: x and the result are \[items · groups, C, elements\], the weights and biases \[groups, C\].
#[triton::kernel(configs = [(C = 16, N = 1024, num_warps = 16)], tune = [C, N])]
pub fn group_norm_views<const C: i32, const N: i32>(
    x: Tensor<f16, 3>,
    w: Tensor<f16, 2>,
    b: Tensor<f16, 2>,
    out: TensorMut<f16, 3>,
    eps: f32,
) {
    let at = [program_id(0), 0, 0];
    let group = program_id(0) % w.dim(0);
    let count = (C * x.dim(2)).to::<f32>();
    let tile = x.load(at, [1, C, N]).to::<f32>().reshape([C, N]);
    let mean = sum(tile) / count;
    let centred = select(arange(0, N).expand_dims(0) < x.dim(2), tile - mean, 0.0);
    let scale = rsqrt(sum(centred * centred) / count + eps);
    let w = w.load([group, 0], [1, C]).to::<f32>().reshape([C, 1]);
    let b = b.load([group, 0], [1, C]).to::<f32>().reshape([C, 1]);
    out.store(at, (centred * scale * w + b).to::<f16>().expand_dims(0));
}
