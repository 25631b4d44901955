//! Pools: every member computes the same, whatever the alignment of its arguments.

use super::devices;
use triton::metadata::Specialization;
use triton::pool::Member;
use triton::prelude::*;

/// parts\[s\] = the sums of rows of x over slice s of its columns, of which there are `slices`; of an x that is transposed, if TX.
#[triton::kernel(T = [f32, bf16], TX = [false, true], configs = [
    (BM = 32, BK = 64, num_warps = 2, targets = ["sm_90a"]),
    (BM = 16, BK = 64, general = true),
    (BM = 32, BK = 32, num_warps = 1),
    (BM = 32, BK = 32, num_warps = 2),
], tune = [BM, BK, slices], slices = [1, 3])]
fn row_sums<T: Float, const TX: bool, const BM: i32, const BK: i32>(
    x: Tensor<T, 2>,
    parts: TensorMut<f32, 2>,
    slices: i32,
) {
    let (m, s) = (program_id(0) * BM, program_id(1));
    let depth = if TX { x.dim(0) } else { x.dim(1) };
    let mut acc = zeros::<f32>([BM]);
    for k in (s * BK..depth).step_by(slices * BK) {
        let tile = if TX { x.load([k, m], [BK, BM]).transpose() } else { x.load([m, k], [BM, BK]) };
        acc += sum_axis(tile.to::<f32>(), 1);
    }
    parts.store([s, m], acc.expand_dims(0));
}

/// x = x · 2^(2 · type) without a generic parameter, by a parameter whose name is a keyword.
#[triton::kernel(tune = [r#type], r#type = [1, 2])]
fn shift(x: TensorMut<i32, 1>, r#type: i32) {
    let mut v = x.load([0], [8]);
    for _ in 0..r#type {
        v *= 4;
    }
    x.store([0], v);
}

#[test]
fn a_parameter_alone_is_chosen() -> triton::Result<()> {
    let stream = Device::cpu().stream()?;
    let mut x = stream.upload(&[1i32; 8])?;
    shift_tuned(x.view_mut([8])?).find(|choice| choice.r#type == 2).launch(&stream, |_| 1)?;
    let values = |name: &str| shift_pool().members().iter().map(|member| member.choice().get(name)).collect::<Vec<_>>();
    assert_eq!(values("type"), [Some(1), Some(2)]);
    assert_eq!((values("num_warps"), values("max_registers")), (vec![Some(4); 2], vec![None; 2]));
    assert_eq!(values("r#type"), [None; 2]);
    assert_eq!(stream.download(&x)?, [16; 8]);
    assert_eq!(shift_pool().members()[0].choice().to_string(), "type=1 num_warps=4 num_stages=3");
    Ok(())
}

/// The same through any listed type: host code that names no instance.
fn sums<T: Float>(
    stream: &Stream,
    x: &[T],
    [m, k]: [usize; 2],
    offset: usize,
    member: impl Fn(&RowSumsChoice) -> bool,
) -> triton::Result<Vec<f32>>
where
    triton::Compiled: RowSumsPool<T, false>,
{
    let padded: Vec<T> = x[..offset].iter().chain(x).copied().collect();
    let x = stream.upload(&padded)?;
    let mut parts = stream.zeros::<f32>(3 * m)?;
    let view = x.slice(offset..offset + m * k)?;
    row_sums_tuned::<T, false>(view.view([m, k])?, parts.view_mut([3, m])?)
        .find(member)
        .launch(stream, |chosen| (m.div_ceil(chosen.BM as usize), chosen.slices as usize))?;
    let parts = stream.download(&parts)?;
    Ok((0..m).map(|row| (0..3).map(|s| parts[s * m + row]).sum()).collect())
}

#[test]
fn every_member_computes_the_same() -> triton::Result<()> {
    let members = row_sums_pool::<bf16, false>().members();
    assert_eq!(members.len(), 4 * 2);
    for device in devices() {
        let stream = device.stream()?;
        for shape in [[64, 128], [37, 129]] {
            let [m, k] = shape;
            let x: Vec<bf16> = (0..m * k).map(|i| bf16::from_f32((i * 7 % 11) as f32 - 5.0)).collect();
            let expected: Vec<f32> = x.chunks(k).map(|row| row.iter().map(|v| v.to_f32()).sum()).collect();
            for member in members {
                // The second begins inside of a vector.
                for offset in [0, 1] {
                    match sums(&stream, &x, shape, offset, |choice| choice == member.choice()) {
                        Ok(found) => assert_eq!(found, expected, "{device}, {member:?}, {shape:?} at {offset}"),
                        // A GPU of another compute capability.
                        Err(error) if error.to_string().contains("compute capability") => {}
                        Err(error) => return Err(error),
                    }
                }
            }
        }
    }
    Ok(())
}

#[test]
fn one_member_has_images_for_any_arguments() {
    let has = |member: &Member<RowSumsChoice>, wanted| {
        let images = &member.metadata().configs[member.config()].images;
        images.iter().any(|image| image.specialization == wanted)
    };
    let members = row_sums_pool::<f32, true>().members();
    let general: Vec<String> = members
        .iter()
        .filter(|member| has(member, Specialization::Generic))
        .map(|member| member.choice().to_string())
        .collect();
    // Its two values of `slices` are members.
    let [first, second] = ["1", "3"].map(|s| format!("BM=16 BK=64 slices={s} num_warps=4 num_stages=3"));
    assert_eq!(general, [first, second]);
    assert!(members.iter().all(|member| has(member, Specialization::Divisible16)));
}

#[test]
fn what_does_not_exist_is_an_error_of_the_launch() -> triton::Result<()> {
    let device = Device::cpu();
    let stream = device.stream()?;
    let x = stream.zeros::<f32>(64)?;
    let mut parts = stream.zeros::<f32>(8)?;
    let mut launch = |index: usize, name: &str| {
        let tuned = row_sums_tuned::<f32, false>(x.view([8, 8])?, parts.view_mut([1, 8])?);
        let tuned = if name.is_empty() { tuned.choose(index) } else { tuned.named(name) };
        tuned.launch(&stream, |_| 1)
    };
    launch(0, "")?;
    launch(0, "BM=16 BK=64 slices=1 num_warps=4 num_stages=3")?;
    for (error, asked) in [(launch(8, ""), "of number 8"), (launch(0, "BM=17"), "called `BM=17`")] {
        let message = error.expect_err("there is no such member").to_string();
        let expected =
            format!("the pool `row_sums::<f32, false>` has no member {asked}; its members: BM=32 BK=64 slices=1");
        assert!(
            message.starts_with(&expected) && message.ends_with("BM=32 BK=32 slices=3 num_warps=2 num_stages=3"),
            "{message}"
        );
    }
    Ok(())
}

#[test]
fn without_a_choice_the_first_member_runs_that_the_device_has_code_of() -> triton::Result<()> {
    for device in devices() {
        let stream = device.stream()?;
        let x = stream.upload(&[1.0f32; 64])?;
        let mut parts = stream.zeros::<f32>(8)?;
        let mut chosen = None;
        let grid = |choice: &RowSumsChoice| {
            chosen = Some(*choice);
            1
        };
        row_sums_tuned::<f32, false>(x.view([8, 8])?, parts.view_mut([1, 8])?).launch(&stream, grid)?;
        assert_eq!(stream.download(&parts)?, [8.0; 8], "{device}");
        let first = chosen.map(|choice| [choice.BM, choice.BK]).expect("the grid is asked for");
        assert!(first == [32, 64] || first == [16, 64], "{device}: {first:?}");
    }
    Ok(())
}
