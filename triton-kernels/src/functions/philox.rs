//! Random numbers from counters: of the same counter and key there is always the same number.

use triton::prelude::*;

/// Philox-4x32-10, the random bits of a counter of 128 bits under a key of 64 bits (Salmon, Moraes, Dror and Shaw, "Parallel random numbers:
/// as easy as 1, 2, 3", 2011, section 3.3). Each element has a counter of its own, and gets four words of 32 bits.
///
/// ```
/// use triton::prelude::*;
/// use triton_kernels::functions::philox;
///
/// #[triton::kernel]
/// fn words(out: TensorMut<u32, 1>) {
///     let zero = zeros::<u32>([4]);
///     let (first, _, _, _) = philox(zero, zero, zero, zero, 0u32, 0u32);
///     out.store([0], first);
/// }
///
/// let stream = Device::cpu().stream()?;
/// let mut out = stream.tensor_zeros::<u32, _>([4])?;
/// words(&mut out).launch(&stream, 1)?;
/// assert_eq!(stream.download(&out)?, [0x6627e8d5; 4]);
/// # Ok::<(), triton::Error>(())
/// ```
#[triton::function]
pub fn philox(
    c0: Tile<u32>,
    c1: Tile<u32>,
    c2: Tile<u32>,
    c3: Tile<u32>,
    k0: u32,
    k1: u32,
) -> (Tile<u32>, Tile<u32>, Tile<u32>, Tile<u32>) {
    let (mut a, mut b, mut c, mut d, mut k, mut l) = (c0, c1, c2, c3, k0, k1);
    for _ in unroll(0..10) {
        // The upper and the lower half of a product come from one instruction.
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

/// The words of [`philox`] for counters of 64 bits under a seed.
#[triton::function]
pub fn random_words(seed: u64, counter: Tile<u64>) -> (Tile<u32>, Tile<u32>, Tile<u32>, Tile<u32>) {
    let zero = (counter & 0u64).to::<u32>();
    let (low, high) = (counter.to::<u32>(), (counter >> 32).to::<u32>());
    philox(low, high, zero, zero, seed.to::<u32>(), (seed >> 32).to::<u32>())
}

/// A number from 0 up to, but not including, 1, in steps of 2⁻²⁴: of the upper 24 bits of a word.
#[triton::function]
pub fn uniform(word: Tile<u32>) -> Tile<f32> {
    (word >> 8).to::<f32>() * 5.9604645e-8
}

/// A random number for each counter, uniform in [0, 1).
///
/// ```
/// use triton::prelude::*;
/// use triton_kernels::functions::rand;
///
/// #[triton::kernel]
/// fn noise(out: TensorMut<f32, 1>, seed: u64) {
///     let at = program_id(0) * 256;
///     out.store([at], rand(seed, (at + arange(0, 256)).to::<u64>()));
/// }
///
/// let stream = Device::cpu().stream()?;
/// let mut out = stream.tensor_zeros::<f32, _>([1000])?;
/// noise(&mut out, 42).launch(&stream, 4)?;
/// let mean = stream.download(&out)?.iter().sum::<f32>() / 1000.0;
/// assert!((mean - 0.5).abs() < 0.05);
/// # Ok::<(), triton::Error>(())
/// ```
///
/// One number for a whole program is that of a tile of one element, and its sum. So it is with [`randn`] and [`randint`]:
///
/// ```
/// use triton::prelude::*;
/// use triton_kernels::functions::rand;
///
/// /// Drops each row with this probability (stochastic depth), and scales the others.
/// #[triton::kernel]
/// fn drop_rows(x: TensorMut<f32, 2>, probability: f32, seed: u64) {
///     let row = program_id(0);
///     let chance = sum(rand(seed, full([1], row.to::<u64>())));
///     let scale = if chance < probability { 0.0 } else { 1.0 / (1.0 - probability) };
///     x.store([row, 0], x.load([row, 0], [1, 4]) * scale);
/// }
///
/// let stream = Device::cpu().stream()?;
/// let mut x = stream.upload(&[1.0f32; 400])?;
/// drop_rows(x.view_mut([100, 4])?, 0.5, 7).launch(&stream, 100)?;
/// let x = stream.download(&x)?;
/// assert!(x.chunks(4).all(|row| row == [0.0; 4] || row == [2.0; 4]));
/// assert!((30..70).contains(&x.chunks(4).filter(|row| row[0] == 0.0).count()));
/// # Ok::<(), triton::Error>(())
/// ```
#[triton::function]
pub fn rand(seed: u64, counter: Tile<u64>) -> Tile<f32> {
    let (word, _, _, _) = random_words(seed, counter);
    uniform(word)
}

/// A random number for each counter, of the normal distribution of mean 0 and variance 1 (Box and Muller, "A note on the generation of
/// random normal deviates", 1958).
#[triton::function]
pub fn randn(seed: u64, counter: Tile<u64>) -> Tile<f32> {
    let (first, second, _, _) = random_words(seed, counter);
    // From (0, 1], so that the logarithm is finite.
    let radius = sqrt(log(1.0 - uniform(first)) * -2.0);
    radius * cos(uniform(second) * 6.2831853)
}

/// A random integer for each counter, from 0 up to, but not including, `bound`; of a bound of 0 it is 0.
///
/// It is ⌊w · bound / 2⁶⁴⌋ of a word w of 64 bits: by a multiplication (Lemire, "Fast random integer generation in an interval", 2019, section
/// 4), without a rejection, whose loop would last as long as the unluckiest element of a tile. Each integer comes of ⌊2⁶⁴ / bound⌋ words or one
/// more. So its probability differs from 1 / bound by less than 2⁻⁶⁴, which is less than 2⁻³² of it.
///
/// ```
/// use triton::prelude::*;
/// use triton_kernels::functions::randint;
///
/// #[triton::kernel]
/// fn dice(out: TensorMut<u32, 1>, seed: u64) {
///     let at = program_id(0) * 256;
///     out.store([at], randint(seed, (at + arange(0, 256)).to::<u64>(), 6) + 1);
/// }
///
/// let stream = Device::cpu().stream()?;
/// let mut out = stream.tensor_zeros::<u32, _>([6000])?;
/// dice(&mut out, 42).launch(&stream, 24)?;
/// let dice = stream.download(&out)?;
/// assert!((1..=6).all(|side| (850..1150).contains(&dice.iter().filter(|found| **found == side).count())));
/// # Ok::<(), triton::Error>(())
/// ```
#[triton::function]
pub fn randint(seed: u64, counter: Tile<u64>, bound: u32) -> Tile<u32> {
    let (low, high, _, _) = random_words(seed, counter);
    let bound = bound.to::<u64>();
    // The upper 32 of the product's 96 bits.
    let carried = (low.to::<u64>() * bound) >> 32;
    ((high.to::<u64>() * bound + carried) >> 32).to::<u32>()
}
