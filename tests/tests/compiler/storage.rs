//! Shared memory: buffers that interfere lie apart, and no more is used than needed.

use triton_core::analysis::storage::{Allocation, Buffer, allocate};
use triton_tests::numbers::Random;

const K: u64 = 1024;

fn buffer(bytes: u64, align: u64, start: u32, end: u32) -> Buffer {
    Buffer { bytes, align, live: start..end, role: None }
}

fn in_role(role: u32, buffer: Buffer) -> Buffer {
    Buffer { role: Some(role), ..buffer }
}

fn check(buffers: &[Buffer]) -> Allocation {
    let a = allocate(buffers);
    assert_eq!(a, allocate(buffers), "the same input gives the same result");
    assert!(a.total >= a.bound, "{a:?}");
    for (i, (x, &at)) in buffers.iter().zip(&a.offsets).enumerate() {
        assert_eq!(at % x.align, 0, "{a:?} {buffers:?}");
        assert!(at + x.bytes <= a.total, "{a:?}");
        for (y, &other) in buffers[..i].iter().zip(&a.offsets) {
            let apart = at + x.bytes <= other || other + y.bytes <= at;
            assert!(apart || !x.interferes(y), "{a:?} {buffers:?}");
        }
    }
    a
}

#[test]
fn known_cases() {
    let cases: [(&str, Vec<Buffer>, u64, u64); 7] = [
        ("nothing", vec![], 0, 0),
        ("one", vec![buffer(100, 16, 0, 1)], 100, 100),
        (
            "a chain: the largest two neighbours",
            vec![
                buffer(16 * K, 128, 0, 4),
                buffer(32 * K, 128, 2, 8),
                buffer(16 * K, 128, 5, 9),
                buffer(48 * K, 128, 9, 12),
            ],
            48 * K,
            48 * K,
        ),
        (
            "the epilogue after the loop lies in the ring",
            vec![
                buffer(4 * 48 * K, 1024, 0, 10),
                buffer(64 * K, 1024, 10, 14),
                buffer(2 * K, 128, 10, 12),
                buffer(128, 8, 0, 14),
            ],
            4 * 48 * K + 128,
            4 * 48 * K + 128,
        ),
        (
            "a persistent kernel has both at once",
            vec![buffer(3 * 48 * K, 1024, 0, 20), in_role(1, buffer(64 * K, 1024, 0, 20)), buffer(128, 8, 0, 20)],
            208 * K + 128,
            208 * K + 128,
        ),
        (
            "roles run at the same time",
            vec![in_role(0, buffer(8 * K, 128, 3, 5)), in_role(1, buffer(8 * K, 128, 7, 9))],
            16 * K,
            16 * K,
        ),
        (
            "a role's own times share",
            vec![in_role(0, buffer(8 * K, 128, 3, 5)), in_role(0, buffer(8 * K, 128, 7, 9))],
            8 * K,
            8 * K,
        ),
    ];
    for (name, buffers, total, bound) in cases {
        let a = check(&buffers);
        assert_eq!((a.total, a.bound), (total, bound), "{name}");
    }
    // Barriers go after the ring, which begins at 0.
    let a = check(&[buffer(128, 8, 0, 14), buffer(96 * K, 1024, 0, 10)]);
    assert_eq!(a.offsets, [96 * K, 0]);
}

#[test]
fn random_buffers() {
    let mut random = Random::new(1);
    let mut below = |n: usize| random.below(n) as u64;
    let (mut cases, mut tight) = (0, 0);
    for _ in 0..1500 {
        let count = 1 + below(14);
        let buffers: Vec<Buffer> = (0..count)
            .map(|_| {
                let start = below(12) as u32;
                let align = 1 << (3 + below(8));
                let size = align * (1 + below(6));
                let own = buffer(size, align, start, start + 1 + below(6) as u32);
                if below(5) == 0 { in_role(below(3) as u32, own) } else { own }
            })
            .collect();
        let a = check(&buffers);
        cases += 1;
        tight += usize::from(a.total == a.bound);
        assert!(a.total <= 3 * a.bound, "{a:?} {buffers:?}");
    }
    assert!(tight * 2 > cases, "{tight} of {cases} meet the bound");
}
