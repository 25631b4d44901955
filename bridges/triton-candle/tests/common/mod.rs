//! Tensors of all layouts, operations beside candle's own, and how far apart results may be. Seeds are fixed.
#![allow(dead_code, reason = "each test uses a part of it")]

mod device;

use candle_core::{DType, Result, Tensor};
pub use device::device;

/// Numbers from a seed (xorshift64*).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// From −2 to 2.
    pub fn float(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1u64 << 22) as f32 - 2.0
    }

    pub fn below(&mut self, n: u64) -> u64 {
        (self.next() >> 33) % n
    }

    pub fn tensor(&mut self, shape: &[usize], dtype: DType) -> Result<Tensor> {
        let values: Vec<f32> = (0..shape.iter().product()).map(|_| self.float()).collect();
        Tensor::from_vec(values, shape, &device())?.to_dtype(dtype)
    }
}

/// How a tensor of a shape lies in memory.
#[derive(Clone, Debug, PartialEq)]
pub enum Lies {
    Contiguous,
    /// Each axis in this list is a part of a longer one.
    Narrowed(Vec<usize>),
    /// In memory the axes have this order.
    Permuted(Vec<usize>),
    /// Both.
    Both(Vec<usize>),
    /// The axes in this list repeat one element.
    Broadcast(Vec<usize>),
}

fn permutations(rank: usize) -> Vec<Vec<usize>> {
    let mut all = vec![vec![]];
    for _ in 0..rank {
        all = all
            .into_iter()
            .flat_map(|of: Vec<usize>| {
                let rest: Vec<usize> = (0..rank).filter(|axis| !of.contains(axis)).collect();
                rest.into_iter().map(move |axis| [&of[..], &[axis]].concat())
            })
            .collect();
    }
    all
}

/// Every layout of a rank: contiguous, each axis and all of them narrowed, each order of axes, narrowed too, each axis and all of them broadcast.
pub fn layouts(rank: usize) -> Vec<Lies> {
    let all: Vec<usize> = (0..rank).collect();
    let mut layouts = vec![Lies::Contiguous, Lies::Narrowed(all.clone()), Lies::Broadcast(all.clone())];
    layouts.extend(all.iter().map(|axis| Lies::Narrowed(vec![*axis])));
    layouts.extend(all.iter().map(|axis| Lies::Broadcast(vec![*axis])));
    for order in permutations(rank).into_iter().skip(1) {
        layouts.push(Lies::Permuted(order.clone()));
        layouts.push(Lies::Both(order));
    }
    layouts
}

impl Lies {
    /// The shape of the tensor that has the memory.
    pub fn base(&self, shape: &[usize]) -> Vec<usize> {
        let mut base = shape.to_vec();
        match self {
            Lies::Contiguous => {}
            Lies::Narrowed(axes) => axes.iter().for_each(|axis| base[*axis] += 3),
            Lies::Permuted(order) => base = order.iter().map(|axis| shape[*axis]).collect(),
            Lies::Both(order) => base = order.iter().map(|axis| shape[*axis] + 2).collect(),
            Lies::Broadcast(axes) => axes.iter().for_each(|axis| base[*axis] = 1),
        }
        base
    }

    /// The tensor of that shape in it.
    pub fn of(&self, base: &Tensor, shape: &[usize]) -> Result<Tensor> {
        let back = |order: &[usize]| -> Vec<usize> {
            (0..order.len()).map(|axis| order.iter().position(|at| *at == axis).expect("each axis is there")).collect()
        };
        match self {
            Lies::Contiguous => Ok(base.clone()),
            Lies::Narrowed(axes) => axes.iter().try_fold(base.clone(), |x, axis| x.narrow(*axis, 2, shape[*axis])),
            Lies::Permuted(order) => base.permute(back(order)),
            Lies::Both(order) => {
                let x = base.permute(back(order))?;
                (0..shape.len()).try_fold(x, |x, axis| x.narrow(axis, 1, shape[axis]))
            }
            Lies::Broadcast(_) => base.broadcast_as(shape),
        }
    }
}

/// What a result may be off by, for results of size 1.
pub fn tolerance(dtype: DType) -> f32 {
    if dtype == DType::F32 {
        2e-5
    } else if dtype == DType::F16 {
        4e-3
    } else {
        3e-2
    }
}

/// Fails unless shapes are equal and elements near.
pub fn assert_near(what: &str, ours: &Tensor, theirs: &Tensor, tolerance: f32) -> Result<()> {
    assert_eq!(ours.dims(), theirs.dims(), "{what}: shapes");
    let flat = |x: &Tensor| x.to_dtype(DType::F32)?.flatten_all()?.to_vec1::<f32>();
    let (ours, theirs) = (flat(ours)?, flat(theirs)?);
    let most = theirs.iter().fold(1f32, |most, x| most.max(x.abs()));
    for (i, (a, b)) in ours.iter().zip(&theirs).enumerate() {
        assert!((a - b).abs() <= tolerance * most, "{what}: element {i} is {a}, candle has {b}");
    }
    Ok(())
}
