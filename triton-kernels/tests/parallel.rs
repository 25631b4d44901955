//! Layers over ranks of the CPU, beside the same layer on one device.

use triton::prelude::*;
use triton_collective::on_all;
use triton_kernels::embedding::embedding;
use triton_kernels::linear::{GemmElement, gemm, linear_backward};
use triton_kernels::loss::cross_entropy;
use triton_kernels::parallel::{column_linear_backward, row_linear, vocabulary_cross_entropy, vocabulary_embedding};
use triton_kernels::{Error, Result};

/// Small numbers whose sums are not exact.
fn noise(len: usize, seed: u64) -> Vec<f32> {
    let mut random = fastrand::Rng::with_seed(seed);
    (0..len).map(|_| random.f32() * 2.0 - 1.0).collect()
}

/// Columns of a matrix `[rows, columns]`.
fn columns(matrix: &[f32], columns: usize, of: std::ops::Range<usize>) -> Vec<f32> {
    matrix.chunks(columns).flat_map(|row| row[of.clone()].to_vec()).collect()
}

fn near(found: &[f32], expected: &[f32], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (i, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!((a - b).abs() <= 2e-5 * b.abs().max(1.0), "{what}: element {i} is {a}, not {b}");
    }
}

fn cpus(ranks: usize) -> Vec<Device> {
    vec![Device::cpu(); ranks]
}

/// Several parts, none as long as another; no shard as long as another.
const LINEAR: [usize; 3] = [600, 24, 13];

#[test]
fn a_row_parallel_layer_is_the_layer() -> Result<()> {
    let [m, n, k] = LINEAR;
    let (x, w, bias) = (noise(m * k, 1), noise(k * n, 2), noise(n, 3));
    let stream = Device::cpu().stream()?;
    let mut y = stream.tensor_uninit::<f32, _>([m, n])?;
    gemm(&stream.tensor(&x, [m, k])?, &stream.tensor(&w, [k, n])?, &mut y)
        .bias(&stream.tensor(&bias, [n])?)
        .launch(&stream)?;
    let expected = stream.download(&y)?;
    for (ranks, parts) in [(1, 4), (2, 1), (2, 4), (2, 5), (3, 2), (3, 8), (5, 9)] {
        let all = on_all(&cpus(ranks), |communicator| -> Result<Vec<f32>> {
            let (stream, part) = (communicator.device().stream()?, communicator.shard(k));
            let x = stream.tensor(&columns(&x, k, part.clone()), [m, part.len()])?;
            let w = stream.tensor(&w[part.start * n..part.end * n], [part.len(), n])?;
            let (bias, mut y) = (stream.tensor(&bias, [n])?, stream.tensor_uninit::<f32, _>([m, n])?);
            row_linear(communicator, &x, &w, &mut y).bias(&bias).parts(parts).launch(&stream)?;
            let once = stream.download(&y)?;
            // In a graph it is on one stream.
            let graph = stream.capture(|stream| {
                row_linear(communicator, &x, &w, &mut y)
                    .bias(&bias)
                    .parts(parts)
                    .launch(stream)
                    .map_err(triton::Error::other)
            })?;
            graph.launch(&stream)?;
            assert_eq!(stream.download(&y)?, once, "a replay");
            Ok(once)
        })?;
        near(&all[0], &expected, &format!("{ranks} ranks, {parts} parts"));
        assert!(all.iter().all(|one| *one == all[0]), "ranks have other bits");
    }
    Ok(())
}

/// Each part is copied beside the next product. Sums of small integers are exact, so that every number of parts has the same bits; two weights in turns
/// show what an earlier launch has left.
#[test]
fn rows_are_passed_between_gpus_beside_products() -> Result<()> {
    let (Ok(first), Ok(second)) = (Device::cuda(0), Device::cuda(1)) else {
        println!("SKIPPED: there are no two GPUs");
        return Ok(());
    };
    let [m, n, k] = [4096, 4096, 256];
    let values = |len, seed| -> Vec<bf16> {
        let mut random = fastrand::Rng::with_seed(seed);
        (0..len).map(|_| bf16::from_f32(random.i8(-1..=1).into())).collect()
    };
    let (x, bias) = (values(m * k, 1), values(n, 3));
    let all = on_all(&[first, second], |communicator| -> Result<Vec<Vec<bf16>>> {
        let (stream, seed) = (communicator.device().stream()?, 10 + communicator.rank() as u64);
        let x = stream.tensor(&x, [m, k])?;
        let weights = [stream.tensor(&values(k * n, seed), [k, n])?, stream.tensor(&values(k * n, 10 * seed), [k, n])?];
        let (bias, mut y) = (stream.tensor(&bias, [n])?, stream.tensor_uninit::<bf16, _>([m, n])?);
        let mut results = Vec::new();
        // Without a bias there are kernels for products that are added.
        for has_bias in [true, false] {
            for parts in [Some(1), Some(2), Some(4), Some(5), Some(7), None, Some(4)] {
                for launch in 0..20 {
                    let layer = row_linear(communicator, &x, &weights[launch % 2], &mut y);
                    let layer = if has_bias { layer.bias(&bias) } else { layer };
                    if let Some(parts) = parts { layer.parts(parts) } else { layer }.launch(&stream)?;
                }
                results.push(stream.download(&y)?);
            }
        }
        // What follows on the stream comes after the copies of y, too.
        for _ in 0..20 {
            row_linear(communicator, &x, &weights[1], &mut y).parts(4).launch(&stream)?;
            stream.fill(&mut y, bf16::NAN)?;
        }
        row_linear(communicator, &x, &weights[1], &mut y).parts(4).launch(&stream)?;
        results.push(stream.download(&y)?);
        Ok(results)
    })?;
    for rank in &all {
        for (i, found) in rank.iter().enumerate() {
            let expected = if i < 7 { &all[0][0] } else { &all[0][7] };
            let differs = found.iter().zip(expected).position(|(a, b)| a != b);
            assert_eq!(differs, None, "result {i}");
        }
    }
    Ok(())
}

/// A rank that fails before it has sent does not let the other one wait until the time is out.
#[test]
fn a_failure_between_parts_is_the_end_of_both() -> Result<()> {
    let mut worlds = vec![cpus(2)];
    match (Device::cuda(0), Device::cuda(1)) {
        (Ok(first), Ok(second)) => worlds.push(vec![first, second]),
        _ => println!("SKIPPED: there are no two GPUs"),
    }
    for devices in worlds {
        let begun = std::time::Instant::now();
        let all = on_all(&devices, |communicator| -> Result<()> {
            let stream = communicator.device().stream()?;
            let (x, w) = (stream.tensor_zeros::<f32, _>([1024, 8])?, stream.tensor_zeros::<f32, _>([8, 16])?);
            let mut y = stream.tensor_zeros::<f32, _>([1024, 16])?;
            if communicator.rank() == 1 {
                drop(communicator.passage(&stream, &mut y).map_err(triton::Error::from)?);
                return Err(communicator.barrier(&stream).unwrap_err().into());
            }
            row_linear(communicator, &x, &w, &mut y).parts(4).launch(&stream)
        });
        assert!(all.is_err());
        assert!(begun.elapsed().as_secs() < 60, "{:?}", begun.elapsed());
    }
    Ok(())
}

#[test]
fn a_column_parallel_layer_has_the_gradients_of_the_layer() -> Result<()> {
    let [m, k, n] = LINEAR;
    let (x, w, dy) = (noise(m * k, 4), noise(k * n, 5), noise(m * n, 6));
    let stream = Device::cpu().stream()?;
    let [mut dx, mut dw] = [stream.tensor_uninit::<f32, _>([m, k])?, stream.tensor_uninit([k, n])?];
    let mut db = stream.tensor_uninit::<f32, _>([n])?;
    linear_backward(&stream.tensor(&x, [m, k])?, &stream.tensor(&w, [k, n])?, &stream.tensor(&dy, [m, n])?)
        .dx(&mut dx)
        .dw(&mut dw)
        .db(&mut db)
        .launch(&stream)?;
    let [dx, dw] = [stream.download(&dx)?, stream.download(&dw)?];
    let db = stream.download(&db)?;
    for ranks in 1..=3 {
        on_all(&cpus(ranks), |communicator| -> Result<()> {
            let (stream, part) = (communicator.device().stream()?, communicator.shard(n));
            let all = stream.tensor(&x, [m, k])?;
            let w = stream.tensor(&columns(&w, n, part.clone()), [k, part.len()])?;
            let dy = stream.tensor(&columns(&dy, n, part.clone()), [m, part.len()])?;
            let (mut own_dx, mut own_dw) =
                (stream.tensor_uninit([m, k])?, stream.tensor_uninit::<f32, _>([k, part.len()])?);
            let mut own_db = stream.tensor_uninit::<f32, _>([part.len()])?;
            let gradients = column_linear_backward(communicator, &all, &w, &dy, &mut own_dx).parts(2);
            gradients.dw(&mut own_dw).db(&mut own_db).launch(&stream)?;
            near(&stream.download(&own_dx)?, &dx, "dx");
            near(&stream.download(&own_dw)?, &columns(&dw, n, part.clone()), "dw");
            near(&stream.download(&own_db)?, &db[part], "db");
            // Each alone.
            column_linear_backward(communicator, &all, &w, &dy, &mut own_dx).launch(&stream)?;
            column_linear_backward(communicator, &all, &w, &dy, &mut own_dx).db(&mut own_db).launch(&stream)?;
            near(&stream.download(&own_dx)?, &dx, "dx alone");
            Ok(())
        })?;
    }
    Ok(())
}

#[test]
fn a_split_table_is_the_table() -> Result<()> {
    let (entries, width) = (11, 7);
    let (table, ids) = (noise(entries * width, 7), [3, 10, 0, -1, 11, i64::MIN, i64::MAX, 5, 5]);
    let stream = Device::cpu().stream()?;
    let mut out = stream.tensor_uninit::<f32, _>([ids.len(), width])?;
    embedding(&stream.tensor(&table, [entries, width])?, &stream.tensor(&ids, [ids.len()])?, &mut out)
        .launch(&stream)?;
    let expected = stream.download(&out)?;
    for ranks in [1, 2, 3, 5] {
        let all = on_all(&cpus(ranks), |communicator| -> Result<Vec<f32>> {
            let (stream, part) = (communicator.device().stream()?, communicator.shard(entries));
            let own = stream.tensor(&table[part.start * width..part.end * width], [part.len(), width])?;
            let (ids, mut out) = (stream.tensor(&ids, [ids.len()])?, stream.tensor_uninit([ids.len(), width])?);
            vocabulary_embedding(communicator, entries, &own, &ids, &mut out).launch(&stream)?;
            Ok(stream.download(&out)?)
        })?;
        assert!(all.iter().all(|one| *one == expected), "{ranks} ranks");
    }
    Ok(())
}

#[test]
fn split_classes_have_the_loss_of_all() -> Result<()> {
    let (rows, classes) = (9, 150);
    let (logits, labels) = (noise(rows * classes, 8), [0, 149, 75, 74, -1, 150, 30, 50, 7]);
    let stream = Device::cpu().stream()?;
    let mut all = stream.tensor(&logits, [rows, classes])?;
    let (of, mut loss) = (stream.tensor(&labels, [rows])?, stream.tensor_uninit::<f32, _>([rows])?);
    cross_entropy(&mut all, &of, &mut loss).gradient_in_place().gradient_scale(0.5).ignore(7).launch(&stream)?;
    let (loss, gradient) = (stream.download(&loss)?, stream.download(&all)?);
    let same = |found: &[f32], expected: &[f32], what: &str| {
        let zeroed = |values: &[f32]| values.iter().map(|v| if v.is_nan() { 0.0 } else { *v }).collect::<Vec<_>>();
        let nan = |values: &[f32]| values.iter().map(|v| v.is_nan()).collect::<Vec<_>>();
        assert_eq!(nan(found), nan(expected), "{what}");
        near(&zeroed(found), &zeroed(expected), what);
    };
    for ranks in [1, 2, 3, 5] {
        let losses = on_all(&cpus(ranks), |communicator| -> Result<Vec<f32>> {
            let (stream, part) = (communicator.device().stream()?, communicator.shard(classes));
            let mut own = stream.tensor(&columns(&logits, classes, part.clone()), [rows, part.len()])?;
            let (labels, mut found) = (stream.tensor(&labels, [rows])?, stream.tensor_uninit::<f32, _>([rows])?);
            let launch = vocabulary_cross_entropy(communicator, classes, &mut own, &labels, &mut found);
            launch.gradient_in_place().gradient_scale(0.5).ignore(7).launch(&stream)?;
            same(&stream.download(&found)?, &loss, "losses");
            same(&stream.download(&own)?, &columns(&gradient, classes, part), "gradients");
            Ok(stream.download(&found)?)
        })?;
        let bits = |values: &[f32]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        assert!(losses.iter().all(|one| bits(one) == bits(&losses[0])), "ranks have other bits");
    }
    Ok(())
}

#[test]
fn what_does_not_fit_is_refused() -> Result<()> {
    let communicator = triton_collective::Communicator::alone(&Device::cpu()).map_err(triton::Error::from)?;
    let stream = communicator.device().stream()?;
    let (x, w) = (stream.tensor_zeros::<f32, _>([4, 3])?, stream.tensor_zeros::<f32, _>([2, 5])?);
    let mut y = stream.tensor_zeros::<f32, _>([4, 5])?;
    let error = row_linear(&communicator, &x, &w, &mut y).launch(&stream).unwrap_err();
    let text = "`row_linear`: `w` has extent 2 along axis 0, but 3 is expected; x is [m, k], w is [k, n], y is [m, n], bias is [n]";
    assert_eq!(error.to_string(), text);
    let ids = stream.tensor(&[0], [1])?;
    let mut out = stream.tensor_zeros::<f32, _>([1, 3])?;
    let error = vocabulary_embedding(&communicator, 5, &x, &ids, &mut out).launch(&stream).unwrap_err();
    assert!(matches!(error, Error::Shape { op: "vocabulary_embedding", found: 4, expected: 5, .. }), "{error}");
    let mut loss = stream.tensor_zeros::<f32, _>([1])?;
    let error = vocabulary_cross_entropy(&communicator, 5, &mut y, &ids, &mut loss).launch(&stream).unwrap_err();
    assert!(matches!(error, Error::Shape { operand: "labels", found: 1, expected: 4, .. }), "{error}");
    // Gaps are found before anything is enqueued.
    let all = on_all(&cpus(2), |communicator| -> Result<()> {
        let stream = communicator.device().stream()?;
        let (x, w) = (stream.tensor_zeros::<f32, _>([4, 3])?, stream.tensor_zeros::<f32, _>([3, 5])?);
        let mut wide = stream.tensor_zeros::<f32, _>([4, 8])?;
        row_linear(communicator, &x, &w, wide.narrow_mut(1, ..5)?).launch(&stream)
    });
    assert!(all.unwrap_err().to_string().contains("is not contiguous"));
    Ok(())
}

/// Products that are added to what is there, by the kernel of the tensor-parallel layer, beside those of `beta`.
fn adds<T: GemmElement<T> + Element>(of: impl Fn(f32) -> T) -> Result<()> {
    let stream = Device::cpu().stream()?;
    // Neither is a whole number of tiles.
    let [m, n, k] = [136, 264, 72];
    let values = |len: usize| -> Vec<T> { (0..len).map(|i| of((i * 7 % 13) as f32 / 4.0 - 1.5)).collect() };
    let (a, b) = (stream.tensor(&values(m * k), [m, k])?, stream.tensor(&values(k * n), [k, n])?);
    let transposed = stream.tensor(&values(k * n), [n, k])?;
    for b in [b.as_view(), transposed.transpose()] {
        let [mut c, mut expected] = [stream.tensor(&values(m * n), [m, n])?, stream.tensor(&values(m * n), [m, n])?];
        gemm(&a, b, &mut expected).beta(1.0).launch(&stream)?;
        if !triton_kernels::__private::added(&stream, [a.as_view(), b], c.as_view_mut())? {
            println!("SKIPPED: the device has no kernel that adds a product");
            continue;
        }
        assert!(stream.download(&c)? == stream.download(&expected)?);
    }
    Ok(())
}

#[test]
fn a_product_is_added_to_what_is_there() -> Result<()> {
    adds(bf16::from_f32)?;
    adds(f16::from_f32)
}
