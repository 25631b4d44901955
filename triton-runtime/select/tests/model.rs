//! Models: their files, whole and damaged, and predictions beside plain sums.

use triton_select::Error;
use triton_select::model::{Feature, Layer, Model, Scratch, Target, Transform};

/// Numbers of [−1, 1), the same in each run.
fn numbers(count: usize, seed: u32) -> Vec<f32> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

fn feature(name: &str, transform: Transform) -> Feature {
    Feature { name: name.into(), transform, mean: 0.5, scale: 2.0 }
}

/// A model of three features of the context, two of the choice, and these hidden layers.
fn model(hidden: &[usize]) -> Model {
    let context = vec![
        feature("m", Transform::Log2),
        feature("transposed", Transform::Raw),
        feature("split", Transform::Log2PlusOne),
    ];
    let choice = vec![feature("BM", Transform::Log2), feature("BN", Transform::Log2)];
    let mut layers = Vec::new();
    let mut inputs = 5;
    for (seed, &outputs) in (1..).zip(hidden.iter().chain(&[1])) {
        let (weights, bias) = (numbers(inputs * outputs, seed), numbers(outputs, seed + 100));
        layers.push(Layer { inputs, outputs, weights, bias });
        inputs = outputs;
    }
    Model::new(context, choice, layers, Target { mean: 6.0, scale: 3.0 }).expect("the parts fit together")
}

/// What a model predicts, by plain sums in `f64`.
fn reference(model: &Model, context: &[f32], choice: &[f32]) -> f64 {
    let features = model.context().iter().zip(context).chain(model.choice().iter().zip(choice));
    let mut values: Vec<f64> = features.map(|(feature, value)| f64::from(feature.apply(*value))).collect();
    for (index, layer) in model.layers().iter().enumerate() {
        let unit = |o: usize| {
            let products = values.iter().enumerate().map(|(i, v)| v * f64::from(layer.weights[i * layer.outputs + o]));
            f64::from(layer.bias[o]) + products.sum::<f64>()
        };
        let last = index + 1 == model.layers().len();
        values = (0..layer.outputs).map(unit).map(|sum| if last { sum } else { sum.max(0.0) }).collect();
    }
    f64::from(model.target().mean) + f64::from(model.target().scale) * values[0]
}

#[test]
fn predictions_agree_with_plain_sums() {
    for hidden in [&[] as &[usize], &[1], &[7], &[64], &[32, 64, 32], &[5, 3, 9, 4]] {
        let model = model(hidden);
        // Not a multiple of the candidates that are computed together.
        let choices: Vec<[f32; 2]> = (0..21).map(|index| [(1 << (index % 5)) as f32, (index * 16) as f32]).collect();
        let ranking = model.ranking(&choices).expect("two values each");
        let (mut scratch, mut times) = (Scratch::default(), vec![0.0; choices.len()]);
        for context in [[1024.0, 1.0, 0.0], [3.0, 0.0, 17.0], [0.0, 1.0, 1.0]] {
            let best = ranking.best(&context, &mut scratch, &mut times).expect("the lengths fit").expect("one is best");
            for (index, (choice, time)) in choices.iter().zip(&times).enumerate() {
                let expected = reference(&model, &context, choice);
                assert!(
                    (f64::from(*time) - expected).abs() <= 1e-4 * expected.abs().max(1.0),
                    "{hidden:?}, candidate {index}: {time}, expected {expected}"
                );
                assert!(times[best] <= *time, "{hidden:?}: {best} is not the first of {times:?}");
            }
        }
    }
}

#[test]
fn files_are_read_as_they_were_written() {
    for hidden in [&[] as &[usize], &[64], &[64, 128, 64]] {
        let model = model(hidden);
        let bytes = model.to_bytes();
        assert_eq!(Model::parse(&bytes).as_ref(), Ok(&model));
        assert!(bytes.len() <= 100_000, "{} bytes of {} weights", bytes.len(), model.weights());
    }
}

#[test]
fn damaged_files_are_errors() {
    let whole = model(&[4]).to_bytes();
    for length in 0..whole.len() {
        assert!(Model::parse(&whole[..length]).is_err(), "{length} of {} bytes", whole.len());
    }
    for at in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 1;
        assert!(Model::parse(&damaged).is_err(), "byte {at} of {}", whole.len());
    }
    assert_eq!(Model::parse(b"a text"), Err(Error::NotAModel));
    let mut newer = whole.clone();
    newer[8] = 9;
    let message = Model::parse(&newer).expect_err("another version").to_string();
    assert_eq!(message, "the model has version `9`, but 1 is expected; train again, or update triton-select");
    let mut longer = whole;
    longer.push(0);
    assert!(matches!(Model::parse(&longer), Err(Error::Checksum { .. })));
}

#[test]
fn parts_that_do_not_fit_are_errors() {
    let one = || vec![feature("m", Transform::Log2)];
    let layer = |inputs: usize, outputs: usize| Layer {
        inputs,
        outputs,
        weights: vec![0.0; inputs * outputs],
        bias: vec![0.0; outputs],
    };
    let target = Target { mean: 0.0, scale: 1.0 };
    let bm = || vec![feature("BM", Transform::Log2)];
    let nan = Layer { weights: vec![f32::NAN, 0.0], ..layer(2, 1) };
    let short = Layer { bias: vec![], ..layer(2, 1) };
    let scale = Target { mean: 0.0, scale: 0.0 };
    for (what, result) in [
        ("no layer", Model::new(one(), bm(), vec![], target)),
        ("another number of features", Model::new(one(), bm(), vec![layer(3, 1)], target)),
        ("layers that do not fit", Model::new(one(), bm(), vec![layer(2, 4), layer(5, 1)], target)),
        ("two outputs", Model::new(one(), bm(), vec![layer(2, 2)], target)),
        ("not finite", Model::new(one(), bm(), vec![nan], target)),
        ("no bias", Model::new(one(), bm(), vec![short], target)),
        ("a scale of zero", Model::new(one(), bm(), vec![layer(2, 1)], scale)),
        ("a name that repeats", Model::new(one(), one(), vec![layer(2, 1)], target)),
    ] {
        assert!(matches!(result, Err(Error::Invalid { .. })), "{what}: {result:?}");
    }
    let model = model(&[4]);
    let names: [&str; 3] = ["m", "transposed", "split"];
    assert_eq!(model.check_features(&names, &["BM", "BN"]), Ok(()));
    let other = model.check_features(&names, &["BM", "BK"]).expect_err("other features").to_string();
    assert_eq!(
        other,
        "the model's features of the choice are BM, BN, but the kernel has BM, BK; train it for this kernel"
    );
    assert!(matches!(model.ranking(&[[1.0]]), Err(Error::Length { .. })));
    let ranking = model.ranking(&[[16.0, 16.0]]).expect("two values");
    let mut scratch = Scratch::default();
    assert!(matches!(ranking.times(&[1.0], &mut scratch, &mut [0.0]), Err(Error::Length { .. })));
    assert!(matches!(ranking.times(&[1.0; 3], &mut scratch, &mut []), Err(Error::Length { .. })));
    let none = model.ranking::<[f32; 2]>(&[]).expect("no candidate is wrong");
    assert_eq!(none.best(&[1.0; 3], &mut scratch, &mut []), Ok(None));
}
