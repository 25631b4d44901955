//! The maps against the formulas and figures of the PTX ISA, and the tables of what exists.

use super::{Element, Fragment, Mma, Shape, Wgmma};

fn words(opcode: &str) -> Vec<&str> {
    opcode.split('.').collect()
}

fn mma(opcode: &str) -> Mma {
    Mma::from_words(&words(opcode)).unwrap()
}

/// Every element is held exactly once, `holder` finds it, and the number of registers is as told.
fn bijection(name: &str, fragment: Fragment, extent: (u32, u32), registers: u32) {
    assert_eq!((fragment.extent(), fragment.registers()), (extent, registers), "{name}");
    assert_eq!(fragment.registers() * fragment.per_register(), fragment.elements(), "{name}");
    let mut seen = vec![false; (extent.0 * extent.1) as usize];
    for thread in 0..fragment.threads() {
        for i in 0..fragment.elements() {
            let (row, column) = fragment.position(thread, i);
            assert!(row < extent.0 && column < extent.1, "{name}: {thread} {i}");
            assert_eq!(fragment.holder(row, column), (thread, i), "{name}");
            let cell = &mut seen[(row * extent.1 + column) as usize];
            assert!(!*cell, "{name}: ({row}, {column}) twice");
            *cell = true;
        }
    }
    assert!(seen.iter().all(|&cell| cell), "{name}");
}

/// A fragment against formulas of `g = lane / 4`, `t = lane % 4` and the element's number.
fn golden(name: &str, fragment: Fragment, formula: impl Fn(u32, u32, u32) -> (u32, u32)) {
    for thread in 0..fragment.threads() {
        for i in 0..fragment.elements() {
            let (row, column) = formula(thread % 32 / 4, thread % 4, i);
            let expected = (row + thread / 32 * 16, column);
            assert_eq!(fragment.position(thread, i), expected, "{name}: thread {thread}, element {i}");
        }
    }
}

/// Formulas of the PTX ISA, "Matrix Fragments for mma", shape by shape.
#[test]
fn fragments_of_mma_are_those_of_the_figures() {
    type Formula = fn(u32, u32, u32) -> (u32, u32);
    let accumulator: Formula = |g, t, i| (g + 8 * (i >> 1), 2 * t + (i & 1));
    let cases: [(&str, [u32; 3], Formula, Formula); 15] = [
        (
            "m16n8k16.row.col.f32.f16.f16.f32",
            [4, 2, 4],
            |g, t, i| (g + 8 * ((i >> 1) & 1), 2 * t + (i & 1) + 8 * (i >> 2)),
            |g, t, i| (2 * t + (i & 1) + 8 * (i >> 1), g),
        ),
        (
            "m16n8k16.row.col.f16.f16.f16.f16",
            [4, 2, 2],
            |g, t, i| (g + 8 * ((i >> 1) & 1), 2 * t + (i & 1) + 8 * (i >> 2)),
            |g, t, i| (2 * t + (i & 1) + 8 * (i >> 1), g),
        ),
        (
            "m16n8k16.row.col.f32.bf16.bf16.f32",
            [4, 2, 4],
            |g, t, i| (g + 8 * ((i >> 1) & 1), 2 * t + (i & 1) + 8 * (i >> 2)),
            |g, t, i| (2 * t + (i & 1) + 8 * (i >> 1), g),
        ),
        (
            "m16n8k8.row.col.f16.f16.f16.f16",
            [2, 1, 2],
            |g, t, i| (g + 8 * (i >> 1), 2 * t + (i & 1)),
            |g, t, i| (2 * t + i, g),
        ),
        (
            "m16n8k8.row.col.f32.bf16.bf16.f32",
            [2, 1, 4],
            |g, t, i| (g + 8 * (i >> 1), 2 * t + (i & 1)),
            |g, t, i| (2 * t + i, g),
        ),
        ("m16n8k4.row.col.f32.tf32.tf32.f32", [2, 1, 4], |g, t, i| (g + 8 * i, t), |g, t, _| (t, g)),
        (
            "m16n8k8.row.col.f32.tf32.tf32.f32",
            [4, 2, 4],
            |g, t, i| (g + 8 * (i & 1), t + 4 * (i >> 1)),
            |g, t, i| (t + 4 * i, g),
        ),
        ("m8n8k16.row.col.s32.s8.u8.s32", [1, 1, 2], |g, t, i| (g, 4 * t + i), |g, t, i| (4 * t + i, g)),
        (
            "m16n8k16.row.col.satfinite.s32.u8.s8.s32",
            [2, 1, 4],
            |g, t, i| (g + 8 * (i >> 2), 4 * t + (i & 3)),
            |g, t, i| (4 * t + i, g),
        ),
        (
            "m16n8k32.row.col.s32.s8.s8.s32",
            [4, 2, 4],
            |g, t, i| (g + 8 * ((i >> 2) & 1), 4 * t + (i & 3) + 16 * (i >> 3)),
            |g, t, i| (4 * t + (i & 3) + 16 * (i >> 2), g),
        ),
        (
            "m16n8k16.row.col.f16.e4m3.e5m2.f16",
            [2, 1, 2],
            |g, t, i| (g + 8 * (i >> 2), 4 * t + (i & 3)),
            |g, t, i| (4 * t + i, g),
        ),
        (
            "m16n8k32.row.col.f32.e5m2.e4m3.f32",
            [4, 2, 4],
            |g, t, i| (g + 8 * ((i >> 2) & 1), 4 * t + (i & 3) + 16 * (i >> 3)),
            |g, t, i| (4 * t + (i & 3) + 16 * (i >> 2), g),
        ),
        ("m8n8k4.row.col.f64.f64.f64.f64", [1, 1, 2], |g, t, _| (g, t), |g, t, _| (t, g)),
        (
            "m16n8k8.row.col.f64.f64.f64.f64",
            [4, 2, 4],
            |g, t, i| (g + 8 * (i & 1), t + 4 * (i >> 1)),
            |g, t, i| (t + 4 * i, g),
        ),
        (
            "m16n8k16.row.col.f64.f64.f64.f64",
            [8, 4, 4],
            |g, t, i| (g + 8 * (i & 1), t + 4 * (i >> 1)),
            |g, t, i| (t + 4 * i, g),
        ),
    ];
    for (name, [a, b, d], a_formula, b_formula) in cases {
        let mma = mma(&format!("mma.sync.aligned.{name}"));
        let Shape { m, n, k } = mma.shape;
        bijection(name, mma.a_fragment(), (m, k), a);
        bijection(name, mma.b_fragment(), (k, n), b);
        bijection(name, mma.accumulator(), (m, n), d);
        golden(name, mma.a_fragment(), a_formula);
        golden(name, mma.b_fragment(), b_formula);
        golden(name, mma.accumulator(), accumulator);
    }
}

/// Formulas of the PTX ISA, "Register Fragments for wgmma.mma_async", for every n.
#[test]
fn fragments_of_wgmma_are_those_of_the_figures() {
    for (k, input, d) in
        [(16, "bf16", "f32"), (16, "f16", "f16"), (8, "tf32", "f32"), (32, "e4m3", "f32"), (32, "u8", "s32")]
    {
        for n in (8..=256).step_by(8) {
            let name = format!("wgmma.mma_async.sync.aligned.m64n{n}k{k}.{d}.{input}.{input}");
            let integer = input == "u8";
            let read = Wgmma::from_words(&words(&name));
            assert_eq!(read.is_ok(), !integer || n <= 32 && n % 8 == 0 || n % 16 == 0, "{name}");
            let Ok(wgmma) = read else { continue };
            bijection(&name, wgmma.accumulator(), (64, n), if d == "f16" { n / 4 } else { n / 2 });
            bijection(&name, wgmma.a_fragment(), (64, k), 4);
            golden(&name, wgmma.accumulator(), |g, t, i| (g + 8 * ((i >> 1) & 1), 8 * (i >> 2) + 2 * t + (i & 1)));
            golden(&name, wgmma.a_fragment(), |g, t, i| match k {
                16 => (g + 8 * ((i >> 1) & 1), 2 * t + (i & 1) + 8 * (i >> 2)),
                32 => (g + 8 * ((i >> 2) & 1), 4 * t + (i & 3) + 16 * (i >> 3)),
                _ => (g + 8 * (i & 1), t + 4 * (i >> 1)),
            });
            assert_eq!((wgmma.has_transposes(), wgmma.has_scales()), (k == 16, !integer));
        }
    }
}

/// Two accumulators of `m16n8` beside each other are one A of `m16n8k16`: what attention relies on.
#[test]
fn accumulators_chain_into_operands() {
    let (a, c) = {
        let mma = mma("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32");
        (mma.a_fragment(), mma.accumulator())
    };
    for lane in 0..32 {
        for i in 0..8 {
            let (row, column) = c.position(lane, i % 4);
            assert_eq!(a.position(lane, i), (row, column + 8 * (i / 4)));
        }
    }
}

#[test]
fn a_message_says_what_is_possible() {
    let mma = |opcode: &str| Mma::from_words(&words(opcode)).unwrap_err();
    let wgmma = |opcode: &str| Wgmma::from_words(&words(opcode)).unwrap_err();
    let cases = [
        (mma("mma.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32"), "possible: m16n8k8, m16n8k16"),
        (mma("mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32"), "possible: f16"),
        (
            mma("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f16"),
            "D of f32 and C of f16 do not go with f16; possible for both: f16, f32",
        ),
        (mma("mma.sync.aligned.m16n8k16.row.col.f16.bf16.bf16.f16"), "possible for both: f32"),
        (
            mma("mma.sync.aligned.m16n8k16.row.col.f32.f32.f32.f32"),
            "possible: f16, bf16, tf32, e4m3, e5m2, s8, u8, f64",
        ),
        (mma("mma.sync.aligned.m16n8k32.row.col.s32.s4.s4.s32"), "no matrix has elements of type s4"),
        (mma("mma.sync.aligned.m16n8k8.row.col.satfinite.f32.tf32.tf32.f32"), "satfinite is for integers"),
        (mma("mma.sync.aligned.m16n8k8.col.row.f32.tf32.tf32.f32"), "expected mma.sync.aligned"),
        (wgmma("wgmma.mma_async.sync.aligned.m64n128k8.f32.bf16.bf16"), "possible: m64n..k16"),
        (wgmma("wgmma.mma_async.sync.aligned.m32n128k16.f32.bf16.bf16"), "possible: m64n..k16"),
        (wgmma("wgmma.mma_async.sync.aligned.m64n12k16.f32.bf16.bf16"), "multiples of 8, at most 256"),
        (wgmma("wgmma.mma_async.sync.aligned.m64n264k16.f32.bf16.bf16"), "n is 264"),
        (wgmma("wgmma.mma_async.sync.aligned.m64n0k16.f32.bf16.bf16"), "n is 0"),
        (wgmma("wgmma.mma_async.sync.aligned.m64n40k32.s32.s8.u8"), "8, 16, 24, 32, 48, 64"),
        (wgmma("wgmma.mma_async.sync.aligned.m64n64k16.f16.bf16.bf16"), "possible: f32"),
        (wgmma("wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.f16"), "possible: bf16"),
        (wgmma("wgmma.mma_async.sync.aligned.m64n64k4.f64.f64.f64"), "possible: f16, bf16, tf32, e4m3, e5m2, s8, u8"),
        (wgmma("wgmma.mma_async.sync.aligned.big.f32.bf16.bf16"), "expected a shape"),
        (wgmma("wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16.satfinite"), "satfinite is for integers"),
        (wgmma("wgmma.fence.sync.aligned"), "expected wgmma.mma_async"),
    ];
    for (message, part) in cases {
        assert!(message.contains(part), "{message:?} has no {part:?}");
    }
}

#[test]
fn words_are_kept() {
    let read = Wgmma::from_words(&words("wgmma.mma_async.sync.aligned.m64n96k32.s32.s8.u8.satfinite"));
    let expected = Wgmma {
        shape: Shape { m: 64, n: 96, k: 32 },
        d: Element::S32,
        a: Element::S8,
        b: Element::U8,
        satfinite: true,
    };
    assert_eq!(read, Ok(expected));
    let read = mma("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32");
    assert_eq!((read.d, read.a, read.b, read.c), (Element::F32, Element::E4m3, Element::E5m2, Element::F32));
    assert!(!read.satfinite);
}
