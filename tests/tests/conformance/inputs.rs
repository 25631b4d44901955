//! Inputs: everything at the ends of a type's range, and random numbers.

use crate::float::{Float, Format, power};
use crate::value::{from_f64, integer, mask, range, wrap};
use triton_core::hash::fnv1a;
use triton_core::types::{Class, DType};
use triton_tests::numbers::Random;

/// The element type of each operand of an elementwise operation; for those that it lacks, `bool`.
pub type Operands = [DType; 3];

/// Bits that tell elements apart.
fn bits(dtype: DType) -> u32 {
    if dtype == DType::Bool { 1 } else { dtype.bits() }
}

/// The numbers at which something changes: the ends of the range, powers of two, zeros, subnormals, ∞, NaN.
pub fn edges(dtype: DType) -> Vec<u64> {
    let mut edges: Vec<u64> = match dtype.class() {
        Class::Bool => vec![0, 1],
        Class::Signed | Class::Unsigned => {
            let (least, most) = range(dtype);
            let width = i128::from(dtype.bits());
            let near = [
                0,
                1,
                2,
                3,
                5,
                7,
                10,
                -1,
                -2,
                -3,
                -7,
                width - 1,
                width,
                width + 1,
                255,
                1 << (width / 2),
                -1 << (width / 2),
            ];
            let ends =
                [least, least + 1, least + 2, most, most - 1, most - 2, most / 2, most / 2 + 1, most / 3, least / 2];
            near.into_iter().chain(ends).map(|n| wrap(dtype, n)).collect()
        }
        Class::Float => {
            let numbers = [
                0.0,
                0.25,
                0.49999997,
                0.5,
                1.0,
                1.5,
                2.0,
                2.5,
                3.0,
                10.0,
                126.5,
                127.5,
                255.5,
                65504.0,
                65519.0,
                65520.0,
                1e-7,
                88.7,
                2147483648.0,
                9223372036854775808.0,
            ];
            let format = Format::of(dtype).unwrap_or(Format { fraction: 1, exponent: 2 });
            let normal = 1 << format.fraction;
            let one = from_f64(dtype, 1.0);
            // The least subnormals, the largest, the least normal number, those beside 1, the largest, ∞, NaN.
            let bits = [
                1,
                2,
                normal - 1,
                normal,
                normal + 1,
                one - 1,
                one + 1,
                format.infinity() - 1,
                format.infinity(),
                format.infinity() | normal >> 1,
            ];
            let magnitudes = numbers.into_iter().map(|x| from_f64(dtype, x)).chain(bits);
            magnitudes.flat_map(|bits| [bits, bits | format.sign()]).collect()
        }
    };
    edges.sort_unstable();
    edges.dedup();
    edges
}

/// A random element: of all bits alike, or of a moderate size; floats also of any size below 16, and as close to 1.
pub fn random(dtype: DType, random: &mut Random) -> u64 {
    let any = random.bits();
    let moderate = |random: &mut Random| random.within(1 << 40) as f64 * power(-36);
    match (dtype.class(), any >> 62) {
        (Class::Bool, _) => any & 1,
        (_, 0 | 1) => any & mask(dtype),
        (Class::Signed | Class::Unsigned, _) => wrap(dtype, random.within(100).into()),
        (Class::Float, 2) => from_f64(dtype, moderate(random)),
        (Class::Float, _) => {
            let small = moderate(random) * power(-(random.below(40) as i32));
            from_f64(dtype, if random.below(2) == 0 { small } else { 1.0 + small })
        }
    }
}

/// Random operands. Of three floats, every other a · b is about half of the last place of c: rounding before the sum, or a sum
/// that is rounded twice, shows there.
fn row(operands: Operands, generator: &mut Random) -> [u64; 3] {
    let [a, b, c] = operands.map(|dtype| random(dtype, generator));
    let [_, _, Some(format)] = operands.map(Format::of) else { return [a, b, c] };
    let (x, y) = (Float::decode(format, a), Float::decode(format, c));
    match y.half_unit(format) {
        Some(half) if generator.below(2) == 0 => [a, (half / x).round(format), c],
        _ => [a, b, c],
    }
}

/// `count` operands, as columns: of the first `arity` types all that there are, if their bits are 18 at most; else half of them with edges alone, as
/// far as there are that many, and random ones. Those that are not valid are left out.
pub fn columns(
    operands: Operands,
    arity: usize,
    count: usize,
    seed: u64,
    valid: fn(Operands, [u64; 3]) -> bool,
) -> [Vec<u64>; 3] {
    let mut generator = Random::new(seed);
    let few = operands.into_iter().take(arity).map(bits).sum::<u32>() <= 18;
    let of = |dtype| if few { (0..=mask(dtype)).collect() } else { edges(dtype) };
    let values: [Vec<u64>; 3] = std::array::from_fn(|k| if k < arity { of(operands[k]) } else { vec![0] });
    let [first, second, third] = values.each_ref().map(Vec::as_slice);
    let product = first.len() * second.len() * third.len();
    let at = |index: usize| {
        let (rest, of_first) = (index / first.len(), first[index % first.len()]);
        [of_first, second[rest % second.len()], third[rest / second.len()]]
    };
    let mut rows: Vec<[u64; 3]> = Vec::with_capacity(count);
    if few || product <= count / 2 {
        // The start of a random order.
        let mut order: Vec<usize> = (0..product).collect();
        for next in 0..product {
            if rows.len() == count {
                break;
            }
            order.swap(next, next + generator.below(product - next));
            let row = at(order[next]);
            if valid(operands, row) {
                rows.push(row);
            }
        }
    } else {
        let edges = (0..count / 2).map(|_| at(generator.below(product)));
        rows.extend(edges.filter(|&row| valid(operands, row)));
    }
    while rows.len() < count {
        let row = row(operands, &mut generator);
        if valid(operands, row) {
            rows.push(row);
        }
    }
    std::array::from_fn(|k| rows.iter().map(|row| row[k]).collect())
}

/// Elements of one type at which a conversion to another one changes: beside the middle between two floats, beside an integer.
pub fn turning_points(from: DType, to: DType, count: usize, seed: u64) -> Vec<u64> {
    let mut generator = Random::new(seed);
    let near = |_| {
        let target = if generator.below(4) == 0 {
            edges(to)[generator.below(edges(to).len())]
        } else {
            random(to, &mut generator)
        };
        let point = match Format::of(to) {
            Some(format) => {
                let x = Float::decode(format, target);
                x.half_unit(format).map_or(x, |half| x + half)
            }
            None => Float::integer(integer(to, target)),
        };
        let bits = match Format::of(from) {
            Some(format) => point.round(format),
            None => wrap(from, point.truncate().unwrap_or(0)),
        };
        // The neighbours of a float are those of its bits.
        (bits as i64).wrapping_add(generator.within(1)) as u64 & mask(from)
    };
    (0..count).map(near).collect()
}

/// Every operand is valid.
pub fn all(_: Operands, _: [u64; 3]) -> bool {
    true
}

/// The second operand divides the first, both integers.
pub fn divides(operands: Operands, [a, b, _]: [u64; 3]) -> bool {
    let least = wrap(operands[0], range(operands[0]).0);
    b != 0 && !(operands[0].is_signed() && a == least && b == mask(operands[0]))
}

/// As many elements as asked for: the edges first, then random ones.
pub fn elements(dtype: DType, count: usize, seed: u64) -> Vec<u64> {
    let mut generator = Random::new(seed);
    let mut elements = edges(dtype);
    generator.shuffle(&mut elements);
    while elements.len() < count {
        elements.push(random(dtype, &mut generator));
    }
    elements.truncate(count);
    elements
}

/// A seed for a case: a hash of its name.
pub fn seed(name: &str) -> u64 {
    fnv1a(name.bytes())
}
