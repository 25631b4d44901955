//! Products of tiles: most of the arithmetic that the interpreter does.

use super::Machine;
use crate::ir::{InstData, Stage, Value, in_flight};
use crate::ops::kinds::UnaryKind;
use crate::ops::{DotKind, Op, eval};
use crate::types::DType;

impl Machine<'_> {
    /// `acc + a · b` of operands in registers or in shared memory.
    pub(super) fn run_product(&mut self, inst: &InstData, [a, b, acc]: [Value; 3]) -> Result<Vec<u64>, String> {
        let in_flight = self.func.stage == Stage::Synchronized && in_flight::is_product(&inst.op);
        if in_flight {
            self.threads.begin_product(inst.results.first());
        }
        let mut loaded = [None, None];
        for (operand, layout) in self.func.shared_operands(&inst.op) {
            loaded[usize::from(operand == b)] = Some(self.operand(operand, &layout, in_flight)?);
        }
        let Op::Dot { kind, .. } = inst.op else { return Err("no product".into()) };
        let dtype = self.func.ty(a).elem.num().filter(|&dtype| kind.rounds(dtype));
        let [mut x, mut y] = [a, b].map(|operand| self.value(operand).to_vec());
        for (values, loaded) in [&mut x, &mut y].into_iter().zip(loaded) {
            let in_memory = loaded.is_some();
            if let Some(loaded) = loaded {
                *values = loaded;
            }
            let Some(dtype) = dtype else { continue };
            let rounded = eval::unary(UnaryKind::Tf32, dtype, values);
            // From shared memory `wgmma` takes the bits that it needs, whatever the others are.
            if in_memory && kind == DotKind::Wgmma && rounded != *values {
                return Err("an operand in shared memory that is not rounded to tf32".into());
            }
            *values = rounded;
        }
        self.product([a, b, acc], &x, &y)
    }

    /// `acc + a · b`, along K upwards; every product is added without being rounded first.
    fn product(&self, [a, b, acc]: [Value; 3], x: &[u64], y: &[u64]) -> Result<Vec<u64>, String> {
        let matrices = |v: Value| self.func.ty(v).shape.matrices().ok_or("a product of no matrices");
        let ((_, [m, k]), (_, [_, n])) = (matrices(a)?, matrices(b)?);
        let extents = [m, k, n].map(|extent| extent as usize);
        let (from, to) = (self.func.ty(a).elem.num(), self.func.ty(acc).elem.num());
        let (Some(from), Some(to)) = (from, to) else { return Err("a product of pointers".into()) };
        let (x, y) = (eval::cast(from, to, x), eval::cast(from, to, y));
        let mut sums = self.value(acc).to_vec();
        if to == DType::F32 {
            // The type of nearly all sums: what `multiply_add` does for it, without asking for the type at every step.
            let floats = |bits: Vec<u64>| bits.into_iter().map(|bits| f32::from_bits(bits as u32)).collect::<Vec<_>>();
            let mut sums = floats(sums);
            accumulate(&floats(x), &floats(y), extents, &mut sums, |x, y, sum| x.mul_add(y, sum));
            return Ok(sums.into_iter().map(|sum| sum.to_bits().into()).collect());
        }
        accumulate(&x, &y, extents, &mut sums, |x, y, sum| eval::multiply_add(to, x, y, sum));
        Ok(sums)
    }
}

/// Matrix after matrix, all rows of the left one by the same right one.
fn accumulate<T: Copy>(x: &[T], y: &[T], [m, k, n]: [usize; 3], sums: &mut [T], multiply_add: impl Fn(T, T, T) -> T) {
    for ((x, y), sums) in x.chunks(m * k).zip(y.chunks(k * n)).zip(sums.chunks_mut(m * n)) {
        for (x, sums) in x.chunks(k).zip(sums.chunks_mut(n)) {
            for (&x, y) in x.iter().zip(y.chunks(n)) {
                for (sum, &y) in sums.iter_mut().zip(y) {
                    *sum = multiply_add(x, y, *sum);
                }
            }
        }
    }
}
