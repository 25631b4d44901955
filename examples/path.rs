//! One kernel in five steps, from four kernels to the speed of a copy: the program of the book's page `path.md`.
//!
//! out = dropout(gelu(x + bias)) + residual, of `f16`. `cargo run --release --example path` checks every step on the best device of this
//! machine, and `-- --device cpu --rows 512` a longer matrix on the CPU. `-- --device cuda --time` times every step at 8192 x 4096, beside a
//! copy of as many bytes.

mod support;

use std::error::Error;
use triton::prelude::*;

/// What is dropped: elements whose 16 random bits are less than `below`. The others are multiplied by `scale`.
#[triton::params]
#[derive(Clone, Copy, Debug)]
pub struct Dropout {
    below: u32,
    scale: f32,
    seed: u64,
}

/// The strides of a matrix in bytes, as NumPy has them.
#[triton::params]
#[derive(Clone, Copy, Debug)]
pub struct Strides {
    row: i32,
    column: i32,
}

/// The activation as its definition writes it (Hendrycks and Gimpel, "Gaussian error linear units", 2016, section 2).
#[triton::function]
fn gelu(x: Tile<f32>) -> Tile<f32> {
    0.5 * x * (1.0 + tanh(0.79788456 * (x + 0.044715 * x * x * x)))
}

/// The same function as x / (1 + exp(−2u)), in powers of 2. The divisor is at least 1: its reciprocal is the root of its square.
#[triton::function]
fn gelu_by_exp2(x: Tile<f32>) -> Tile<f32> {
    let divisor = 1.0 + exp2(x * fma(x * x, -0.10294324, -2.3022082));
    x * rsqrt(divisor * divisor)
}

/// Philox-4x32-10, the four random words of a counter under a seed (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2,
/// 3", 2011, section 3.3).
#[triton::function]
fn philox(seed: u64, counter: Tile<u32>) -> (Tile<u32>, Tile<u32>, Tile<u32>, Tile<u32>) {
    let (mut a, mut b, mut c, mut d) = (counter, counter & 0u32, counter & 0u32, counter & 0u32);
    let (mut k, mut l) = (seed.to::<u32>(), (seed >> 32).to::<u32>());
    for _ in unroll(0..10) {
        let (p, q) = (a.to::<u64>() * 0xd2511f53u64, c.to::<u64>() * 0xcd9e8d57u64);
        a = (q >> 32).to::<u32>() ^ b ^ k;
        b = q.to::<u32>();
        c = (p >> 32).to::<u32>() ^ d ^ l;
        d = p.to::<u32>();
        k += 0x9e3779b9u32;
        l += 0xbb67ae85u32;
    }
    (a, b, c, d)
}

/// x · scale, or 0 where an element's 16 random bits are below the limit.
#[triton::function]
fn drop_out(x: Tile<f32>, bits: Tile<u32>, dropout: Dropout) -> Tile<f32> {
    select(bits >= dropout.below, x * dropout.scale, 0.0)
}

/// Step 1, the first of four kernels: out = x + bias.
#[triton::kernel]
pub fn add_bias(x: Tensor<f16, 2>, bias: Tensor<f16, 1>, out: TensorMut<f16, 2>) {
    let (i, j) = (program_id(1), program_id(0) * 1024);
    let sum = x.load([i, j], [1, 1024]).to::<f32>() + bias.load([j], [1024]).to::<f32>().expand_dims(0);
    out.store([i, j], sum.to::<f16>());
}

/// Step 1, the second kernel: out = gelu(x).
#[triton::kernel]
pub fn activate(x: Tensor<f16, 2>, out: TensorMut<f16, 2>) {
    let at = [program_id(1), program_id(0) * 1024];
    out.store(at, gelu(x.load(at, [1, 1024]).to::<f32>()).to::<f16>());
}

/// Step 1, the third kernel: out = dropout(x).
#[triton::kernel]
pub fn dropped(x: Tensor<f16, 2>, out: TensorMut<f16, 2>, dropout: Dropout) {
    let (i, j) = (program_id(1), program_id(0) * 1024);
    let number = (i * x.dim(1).to::<i32>() + j + arange(0, 1024)).to::<u32>().expand_dims(0);
    let (word, _, _, _) = philox(dropout.seed, number);
    let v = x.load([i, j], [1, 1024]).to::<f32>();
    out.store([i, j], drop_out(v, word >> 16, dropout).to::<f16>());
}

/// Step 1, the last kernel: out = x + residual.
#[triton::kernel]
pub fn add_residual(x: Tensor<f16, 2>, residual: Tensor<f16, 2>, out: TensorMut<f16, 2>) {
    let at = [program_id(1), program_id(0) * 1024];
    let sum = x.load(at, [1, 1024]).to::<f32>() + residual.load(at, [1, 1024]).to::<f32>();
    out.store(at, sum.to::<f16>());
}

/// Step 2: one kernel. The strides are those of x, residual and out.
#[triton::kernel(warnings = false)]
pub fn fused(
    x: Ptr<f16>,
    bias: Ptr<f16>,
    residual: Ptr<f16>,
    out: PtrMut<f16>,
    columns: i32,
    strides: Strides,
    dropout: Dropout,
) {
    let (i, j) = (program_id(1), program_id(0) * 1024 + arange(0, 1024));
    let inside = j < columns;
    let at = i * (strides.row >> 1) + j * (strides.column >> 1);
    let v = load(x + at, inside).to::<f32>() + load(bias + j, inside).to::<f32>();
    let (word, _, _, _) = philox(dropout.seed, (i * columns + j).to::<u32>());
    let v = drop_out(gelu(v), word >> 16, dropout) + load(residual + at, inside).to::<f32>();
    store(out + at, v.to::<f16>(), inside);
}

/// 16 random bits for each element, of one counter for eight neighbours: of each word the lower half, then the upper one.
#[triton::function]
fn shared_bits<const R: i32, const N: i32>(seed: u64, counter: Tile<u32>) -> Tile<u32> {
    let (a, b, c, d) = philox(seed, counter);
    let words = join(join(a, c), join(b, d)).reshape([R, N / 2]);
    interleave(words & 65535u32, words >> 16)
}

/// Step 3: the same with less arithmetic. Eight neighbours share a counter, of which there are `columns` / 8 in a row.
#[triton::kernel(fast_math = true, warnings = false)]
pub fn less_arithmetic(
    x: Ptr<f16>,
    bias: Ptr<f16>,
    residual: Ptr<f16>,
    out: PtrMut<f16>,
    columns: i32,
    strides: Strides,
    dropout: Dropout,
) {
    let (i, j) = (program_id(1), program_id(0) * 1024 + arange(0, 1024).expand_dims(0));
    let inside = j < columns;
    let at = i * (strides.row >> 1) + j * (strides.column >> 1);
    let v = load(x + at, inside).to::<f32>() + load(bias + j, inside).to::<f32>();
    let counter = i * (columns >> 3) + program_id(0) * 128 + arange(0, 128).expand_dims(0);
    let bits = shared_bits::<1, 1024>(dropout.seed, counter.to::<u32>());
    let v = drop_out(gelu_by_exp2(v), bits, dropout) + load(residual + at, inside).to::<f32>();
    store(out + at, v.to::<f16>(), inside);
}

/// Steps 4 and 5: the same over views, in tiles of R rows and N columns.
#[triton::kernel(tune = [R, N], num_warps = 4, fast_math = true, warnings = false, configs = [
    (R = 1, N = 1024), (R = 1, N = 512), (R = 1, N = 2048), (R = 2, N = 2048), (R = 4, N = 4096), (R = 8, N = 4096),
])]
pub fn by_views<const R: i32, const N: i32>(
    x: Tensor<f16, 2>,
    bias: Tensor<f16, 1>,
    residual: Tensor<f16, 2>,
    out: TensorMut<f16, 2>,
    #[no_specialize] dropout: Dropout,
) {
    let (i, j) = (program_id(1) * R, program_id(0) * N);
    let v = x.load([i, j], [R, N]).to::<f32>() + bias.load([j], [N]).to::<f32>().expand_dims(0);
    let row = (i + arange(0, R)) * (x.dim(1).to::<i32>() >> 3);
    let counter = row.expand_dims(1) + (program_id(0) * (N / 8) + arange(0, N / 8)).expand_dims(0);
    let bits = shared_bits::<R, N>(dropout.seed, counter.to::<u32>());
    let v = drop_out(gelu_by_exp2(v), bits, dropout) + residual.load([i, j], [R, N]).to::<f32>();
    out.store([i, j], v.to::<f16>());
}

/// What the steps are compared with: out = x.
#[triton::kernel]
pub fn copy(x: Tensor<f16, 1>, out: TensorMut<f16, 1>) {
    let at = [program_id(0) * 1024];
    out.store(at, x.load(at, [1024]));
}

/// The operands of a matrix of this shape, and what the four kernels of step 1 pass on.
struct Operands {
    shape: [usize; 2],
    x: Tensor<f16, 2>,
    bias: Tensor<f16, 1>,
    residual: Tensor<f16, 2>,
    passed: [Tensor<f16, 2>; 2],
    out: Tensor<f16, 2>,
}

/// A quarter of the elements is dropped.
const DROPOUT: Dropout = Dropout { below: 16384, scale: 4.0 / 3.0, seed: 0x0123_4567_89ab_cdef };

#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    FourKernels,
    Fused,
    LessArithmetic,
    /// In tiles of this many rows and columns.
    Views(i32, i32),
}

const STEPS: [Step; 9] = [
    Step::FourKernels,
    Step::Fused,
    Step::LessArithmetic,
    Step::Views(1, 1024),
    Step::Views(1, 512),
    Step::Views(1, 2048),
    Step::Views(2, 2048),
    Step::Views(4, 4096),
    Step::Views(8, 4096),
];

impl Step {
    fn name(self) -> String {
        match self {
            Step::FourKernels => "1 four kernels".into(),
            Step::Fused => "2 one kernel".into(),
            Step::LessArithmetic => "3 less arithmetic".into(),
            Step::Views(1, 1024) => "4 views, 1 x 1024".into(),
            Step::Views(rows, columns) => format!("5 tile, {rows} x {columns}"),
        }
    }

    /// The 16 random bits of the element in this row and column. Where eight share a counter, the columns are a multiple of eight.
    fn bits(self, [i, j]: [usize; 2], columns: usize) -> u32 {
        let number = (i * columns + j) as u32;
        match self {
            Step::FourKernels | Step::Fused => reference_philox(DROPOUT.seed, number)[0] >> 16,
            Step::LessArithmetic | Step::Views(..) => {
                reference_philox(DROPOUT.seed, number / 8)[j % 8 / 2] >> (16 * (j % 2)) & 0xffff
            }
        }
    }

    fn launch(self, stream: &Stream, of: &mut Operands) -> triton::Result<()> {
        let Operands { shape: [rows, columns], x, bias, residual, passed: [first, second], out } = of;
        let (rows, columns) = (*rows, *columns);
        let grid = (columns.div_ceil(1024), rows);
        let strides = Strides { row: 2 * columns as i32, column: 2 };
        match self {
            Step::FourKernels => {
                add_bias(&*x, &*bias, &mut *first).launch(stream, grid)?;
                activate(&*first, &mut *second).launch(stream, grid)?;
                dropped(&*second, &mut *first, DROPOUT).launch(stream, grid)?;
                add_residual(&*first, &*residual, out).launch(stream, grid)
            }
            Step::Fused => {
                let (x, bias, residual) = (x.buffer(), bias.buffer(), residual.buffer());
                let launch = fused(x, bias, residual, out.buffer_mut(), columns as i32, strides, DROPOUT);
                // SAFETY: the grid has programs for each row, and the mask keeps every access inside of it.
                #[allow(unsafe_code, reason = "a kernel over pointers")]
                unsafe {
                    launch.launch(stream, grid)
                }
            }
            Step::LessArithmetic => {
                let (x, bias, residual) = (x.buffer(), bias.buffer(), residual.buffer());
                let launch = less_arithmetic(x, bias, residual, out.buffer_mut(), columns as i32, strides, DROPOUT);
                // SAFETY: as above.
                #[allow(unsafe_code, reason = "a kernel over pointers")]
                unsafe {
                    launch.launch(stream, grid)
                }
            }
            Step::Views(r, n) => by_views_tuned(&*x, &*bias, &*residual, out, DROPOUT)
                .find(|tile| (tile.R, tile.N) == (r, n))
                .launch(stream, |tile| (columns.div_ceil(tile.N as usize), rows.div_ceil(tile.R as usize))),
        }
    }
}

fn main() -> std::process::ExitCode {
    support::run("path", |device| {
        let stream = device.stream()?;
        if std::env::args().any(|arg| arg == "--time") {
            if device.ordinal().is_none() {
                return Err("`--time` is for a GPU: write `--device cuda --time`".into());
            }
            return time(&stream);
        }
        check(&stream)?;
        println!("path: every step is correct on {device}");
        Ok(())
    })
}

impl Operands {
    fn new(stream: &Stream, [rows, columns]: [usize; 2]) -> triton::Result<Operands> {
        let shape = [rows, columns];
        let values = |factor: usize, count: usize| -> Vec<f16> {
            (0..count).map(|i| f16::from_f32((i * factor % 1009) as f32 * 0.008 - 4.0)).collect()
        };
        Ok(Operands {
            shape,
            x: stream.tensor(&values(7919, rows * columns), shape)?,
            bias: stream.tensor(&values(613, columns), [columns])?,
            residual: stream.tensor(&values(5417, rows * columns), shape)?,
            passed: [stream.tensor_zeros(shape)?, stream.tensor_zeros(shape)?],
            out: stream.tensor_zeros(shape)?,
        })
    }

    /// The bytes that have to move: of x, bias and residual, which are read, and of out, which is written.
    fn bytes(&self) -> usize {
        let [rows, columns] = self.shape;
        (3 * rows * columns + columns) * size_of::<f16>()
    }
}

/// The number after `--rows`, by default 6.
fn rows() -> Result<usize, Box<dyn Error>> {
    let mut args = std::env::args().skip_while(|arg| arg != "--rows").skip(1);
    args.next().map_or(Ok(6), |rows| rows.parse().map_err(|_| format!("`--rows {rows}`: not a number of rows").into()))
}

/// Runs every step, and compares its result with the definition.
fn check(stream: &Stream) -> Result<(), Box<dyn Error>> {
    // Rows of whole tiles, and a last tile that is not full.
    for shape in [[rows()?, 4096], [5, 1000]] {
        let mut of = Operands::new(stream, shape)?;
        let floats = |values: Vec<f16>| values.into_iter().map(f16::to_f64).collect::<Vec<_>>();
        let (x, bias) = (floats(stream.download(&of.x)?), floats(stream.download(&of.bias)?));
        let residual = floats(stream.download(&of.residual)?);
        for step in STEPS {
            stream.fill(of.out.buffer_mut(), f16::ZERO)?;
            step.launch(stream, &mut of)?;
            let mut worst = 0.0f64;
            for (at, found) in floats(stream.download(&of.out)?).into_iter().enumerate() {
                let (i, j) = (at / shape[1], at % shape[1]);
                let v = x[at] + bias[j];
                let v = 0.5 * v * (1.0 + (0.797_884_560_802_865_4 * (v + 0.044_715 * v * v * v)).tanh());
                let stays = step.bits([i, j], shape[1]) >= DROPOUT.below;
                let expected = if stays { v * f64::from(DROPOUT.scale) } else { 0.0 } + residual[at];
                worst = worst.max((found - expected).abs());
            }
            println!("{:<28} {} x {}: largest error {worst:.1e}", step.name(), shape[0], shape[1]);
            // The largest value is 15, where numbers of 16 bits are 2⁻⁷ apart; the first step rounds four times.
            if worst.is_nan() || worst > 0.025 {
                return Err(format!("{} of {shape:?}: an error of {worst}", step.name()).into());
            }
        }
    }
    Ok(())
}

/// Philox-4x32-10 in plain Rust.
fn reference_philox(seed: u64, counter: u32) -> [u32; 4] {
    let ([mut a, mut b, mut c, mut d], mut k, mut l) = ([counter, 0, 0, 0], seed as u32, (seed >> 32) as u32);
    for _ in 0..10 {
        let (p, q) = (u64::from(a) * 0xd251_1f53, u64::from(c) * 0xcd9e_8d57);
        (a, b, c, d) = ((q >> 32) as u32 ^ b ^ k, q as u32, (p >> 32) as u32 ^ d ^ l, p as u32);
        (k, l) = (k.wrapping_add(0x9e37_79b9), l.wrapping_add(0xbb67_ae85));
    }
    [a, b, c, d]
}

/// Blocks of measurements; each has every candidate, in an order of its own.
const BLOCKS: usize = 9;
/// Launches of a candidate in a block.
const REPETITIONS: usize = 20;

/// Times every step, and prints a table.
fn time(stream: &Stream) -> Result<(), Box<dyn Error>> {
    let mut of = Operands::new(stream, [8192, 4096])?;
    let bytes = of.bytes();
    // A copy of half as many bytes reads and writes as many as a step moves at least.
    let half = bytes / 2 / size_of::<f16>();
    let (from, mut to) = (stream.tensor_zeros::<f16, _>([half])?, stream.tensor_zeros::<f16, _>([half])?);
    // Larger than any L2 cache.
    let mut flushed = stream.zeros::<i32>(64 << 20)?;
    let copies = ["copy, a kernel", "copy, the driver's"].map(str::to_owned);
    let names: Vec<String> = STEPS.map(Step::name).into_iter().chain(copies).collect();
    let mut run = |candidate: usize| match STEPS.get(candidate) {
        Some(step) => step.launch(stream, &mut of),
        None if candidate == STEPS.len() => copy(&from, &mut to).launch(stream, half.div_ceil(1024)),
        None => stream.copy(from.buffer(), to.buffer_mut()),
    };
    for candidate in 0..names.len() {
        run(candidate)?;
    }
    stream.device().finish_compiling();

    let mut medians = vec![Vec::new(); names.len()];
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    for block in 0..BLOCKS {
        for candidate in shuffled(names.len(), &mut state) {
            let mut events = Vec::new();
            for repetition in 0..REPETITIONS {
                stream.fill(&mut flushed, (block * REPETITIONS + repetition) as i32)?;
                let start = stream.record_timed_event()?;
                run(candidate)?;
                events.push((start, stream.record_timed_event()?));
            }
            let times = events.iter().map(|(start, end)| Ok(end.since(start)?.as_secs_f64() * 1e6));
            medians[candidate].push(median(times.collect::<triton::Result<_>>()?));
        }
    }

    let overall: Vec<f64> = medians.iter().map(|times| median(times.clone())).collect();
    let copied = overall[STEPS.len()].min(overall[STEPS.len() + 1]);
    println!("| step | µs | least to most | GB/s | of a copy's speed |");
    println!("|---|---|---|---|---|");
    for ((name, times), middle) in names.iter().zip(&medians).zip(&overall) {
        let least = times.iter().copied().fold(f64::INFINITY, f64::min);
        let most = times.iter().copied().fold(0.0, f64::max);
        let (speed, share) = (bytes as f64 / middle / 1e3, copied / middle);
        println!("| {name} | {middle:.1} | {least:.1} to {most:.1} | {speed:.0} | {share:.3} |");
    }
    Ok(())
}

/// The numbers below `count` in a random order (Fisher and Yates), by numbers of an xorshift (Marsaglia, "Xorshift RNGs", 2003).
fn shuffled(count: usize, state: &mut u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    for last in (1..count).rev() {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        order.swap(last, (*state % (last as u64 + 1)) as usize);
    }
    order
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
