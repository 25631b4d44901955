//! Allocation of shared memory: buffers with disjoint live ranges share bytes.
//!
//! A buffer lives from one point of the program to another. Two *interfere* if they live at the same time, or belong to
//! different roles, which run at the same time whatever the order of their text. Each buffer is put, in some order, at the
//! lowest aligned offset where nothing that interferes with it lies: *first fit*, known from storage allocation of registers
//! and arrays (Gergov, "Algorithms for compile-time memory optimization", SODA 1999). The order decides, so several are
//! tried, every one when there are few buffers, and the smallest result is taken.

use std::cmp::Reverse;
use std::ops::Range;

/// Buffers up to which every order is tried: 720 of them.
const ALL_ORDERS: usize = 6;

/// A piece of shared memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// Size in bytes.
    pub bytes: u64,
    /// Alignment in bytes; 0 is 1.
    pub align: u64,
    /// When it lives, in any unit of program order, the end excluded. What lives across a loop's back edge lives for the
    /// whole loop.
    pub live: Range<u32>,
    /// The role that uses it, if it is used by one alone.
    pub role: Option<u32>,
}

impl Buffer {
    /// Whether two buffers must not share a byte.
    pub fn interferes(&self, other: &Buffer) -> bool {
        let apart = self.role.zip(other.role).is_some_and(|(a, b)| a != b);
        apart || (self.live.start < other.live.end && other.live.start < self.live.end)
    }
}

/// The allocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// Offset of each buffer, in bytes.
    pub offsets: Vec<u64>,
    /// Bytes needed.
    pub total: u64,
    /// A lower bound: the most bytes that are live at one time.
    pub bound: u64,
}

/// Allocates buffers. The same input gives the same result.
pub fn allocate(buffers: &[Buffer]) -> Allocation {
    let area = |b: &Buffer| b.bytes * u64::from(b.live.end.saturating_sub(b.live.start));
    let mut ids: Vec<usize> = (0..buffers.len()).collect();
    let mut best = None;
    let bound = bound(buffers);
    let mut attempt = |order: &[usize]| {
        let (offsets, total) = first_fit(buffers, order);
        if best.as_ref().is_none_or(|&(_, least)| total < least) {
            best = Some((offsets, total));
        }
        total <= bound
    };
    let key = |i: &usize| &buffers[*i];
    ids.sort_by_key(|i| (Reverse(key(i).align), Reverse(key(i).bytes), key(i).live.start, *i));
    let mut done = attempt(&ids);
    ids.sort_by_key(|i| (Reverse(area(key(i))), *i));
    done = done || attempt(&ids);
    ids.sort_by_key(|i| (key(i).live.start, Reverse(key(i).bytes), *i));
    done = done || attempt(&ids);
    if !done && buffers.len() <= ALL_ORDERS {
        ids.sort_unstable();
        // Heap's algorithm: each order from the one before by one exchange.
        let (mut counts, mut i) = (vec![0; ids.len()], 1);
        while i < ids.len() {
            if counts[i] < i {
                ids.swap(i, if i % 2 == 0 { 0 } else { counts[i] });
                counts[i] += 1;
                i = 1;
                if attempt(&ids) {
                    break;
                }
            } else {
                counts[i] = 0;
                i += 1;
            }
        }
    }
    let (offsets, total) = best.unwrap_or_default();
    Allocation { offsets, total, bound }
}

fn first_fit(buffers: &[Buffer], order: &[usize]) -> (Vec<u64>, u64) {
    let mut offsets = vec![0; buffers.len()];
    let mut total = 0;
    for (n, &id) in order.iter().enumerate() {
        let buffer = &buffers[id];
        let placed = order[..n].iter().filter(|&&other| buffers[other].interferes(buffer));
        let mut taken: Vec<(u64, u64)> = placed.map(|&o| (offsets[o], offsets[o] + buffers[o].bytes)).collect();
        taken.sort_unstable();
        let mut at = 0u64;
        for (start, end) in taken {
            if at + buffer.bytes <= start {
                break;
            }
            at = at.max(end).next_multiple_of(buffer.align.max(1));
        }
        offsets[id] = at;
        total = total.max(at + buffer.bytes);
    }
    (offsets, total)
}

/// The most bytes that are live at one time, or that roles need concurrently.
fn bound(buffers: &[Buffer]) -> u64 {
    let most = |of: &dyn Fn(&Buffer) -> bool| {
        let at = |time: u32| buffers.iter().filter(|b| of(b) && b.live.contains(&time)).map(|b| b.bytes).sum::<u64>();
        buffers.iter().filter(|b| of(b)).map(|b| at(b.live.start)).max().unwrap_or(0)
    };
    let mut roles: Vec<u32> = buffers.iter().filter_map(|b| b.role).collect();
    roles.sort_unstable();
    roles.dedup();
    let beside: u64 = roles.into_iter().map(|role| most(&|b| b.role == Some(role))).sum();
    most(&|_| true).max(beside)
}
