//! The sums of matrix instructions are those of a GPU: every recorded result of `mma` and `wgmma`, computed from the rows
//! of A, the columns of B and the elements of C without a run of PTX.
//!
//! No result may differ, whatever its type. The recorded results are those of `triton-chip record`.

use triton_chip::archive::{Archive, Run};
use triton_chip::matrix::Dots;
use triton_chip::matrix::element::{Element, Number};
use triton_chip::{Inputs, programs};
use triton_sim::num::{Accumulate, Float, accumulate_f16, accumulate_f32, accumulate_f64, accumulate_s32, to_f64};

/// The type of elements that are floating-point numbers.
fn float(element: Element) -> Option<Float> {
    match element.name {
        "f16" => Some(Float::F16),
        "bf16" => Some(Float::Bf16),
        "tf32" => Some(Float::Tf32),
        "f32" => Some(Float::F32),
        "f64" => Some(Float::F64),
        "e4m3" => Some(Float::E4m3),
        "e5m2" => Some(Float::E5m2),
        _ => None,
    }
}

/// The values of bits of any type; every one is an `f64`.
fn values(element: Element, bits: &[u64]) -> Vec<f64> {
    let value = |&bits: &u64| match (float(element), element.number) {
        (Some(ty), _) => to_f64(ty, bits),
        (None, Number::Signed) => f64::from(bits as i8),
        (None, Number::Unsigned | Number::Float(_)) => f64::from(bits as u8),
    };
    bits.iter().map(value).collect()
}

/// One element of the result: a chain of instructions along K.
fn sum(form: &str, dots: &Dots, index: usize) -> u64 {
    let ((row, column), case) = (dots.at[index], &dots.case);
    let spec = case.spec;
    let a = values(spec.a, &case.a[row * spec.k..][..spec.k]);
    let b = values(spec.b, &case.b[column * spec.k..][..spec.k]);
    let wgmma = form.starts_with("wgmma");
    let length = if wgmma { 32 / spec.a.bytes } else { spec.k };
    let model = float(spec.a).map(|ty| Accumulate::of(90, ty, wgmma));
    a.chunks(length).zip(b.chunks(length)).fold(case.c[row * spec.n + column], |acc, (a, b)| {
        match (model, spec.c.name) {
            (Some(_), "f64") => accumulate_f64(acc, a, b),
            (Some(model), "f16") => accumulate_f16(acc as u16, a, b, model).into(),
            (Some(model), _) => accumulate_f32(acc as u32, a, b, model).into(),
            (None, _) => {
                let integers = |line: &[f64]| line.iter().map(|&v| v as i32).collect::<Vec<_>>();
                accumulate_s32(acc as u32, &integers(a), &integers(b), form.contains(".satfinite")).into()
            }
        }
    })
}

#[test]
fn sums_are_those_of_the_chip() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/chip/chip.bin");
    let archive = Archive::read(&std::fs::read(file).expect("recorded results")).expect("a record of results");
    let (mut compared, mut problems) = (0, Vec::new());
    for program in programs().expect("the tables") {
        let record = archive.records.iter().find(|r| r.name == program.name && r.hash == program.hash());
        for result in &program.results {
            let Inputs::Dots(dots) = &result.inputs else { continue };
            let Some(Run::Output(output)) = record.map(|r| &r.run) else {
                problems.push(format!("{}: no results of this text and input were recorded", program.name));
                continue;
            };
            for index in 0..result.offsets.len() {
                let (chip, ours) = (result.bits(output, index) as u64, sum(&result.form, dots, index));
                compared += 1;
                if chip != ours {
                    let operands = dots.operands(index);
                    problems.push(format!("{}: {operands} -> {chip:x}, not {ours:x}", result.form));
                }
            }
        }
    }
    println!("{compared} sums on {}", archive.device);
    let first = problems.iter().take(20).cloned().collect::<Vec<_>>().join("\n");
    assert!(problems.is_empty(), "{} of {compared} on {}:\n{first}", problems.len(), archive.device);
    assert!(compared > 100_000, "most programs have no matrices: {compared}");
}
