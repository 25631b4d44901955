//! Blocks of a cluster that share the K of a product, as a configuration asks.

use super::devices;
use triton::metadata::Target;
use triton::prelude::*;

/// out = x · yᵀ.
#[triton::kernel(configs = [(BK = 256), (BK = 256, cluster_k = 2), (BK = 128, cluster_k = 4)], tune = [BK], num_stages = 2)]
fn divided<const BK: i32>(x: Tensor<bf16, 2>, y: Tensor<bf16, 2>, out: TensorMut<f32, 2>) {
    let (m, n) = (program_id(0) * 64, program_id(1) * 32);
    let mut acc = zeros::<f32>([64, 32]);
    for k in (0..x.dim(1)).step_by(BK) {
        acc = dot(x.load([m, k], [64, BK]), y.load([n, k], [32, BK]).transpose(), acc);
    }
    out.store([m, n], acc);
}

#[test]
fn as_many_blocks_share_k_as_a_configuration_asks() -> triton::Result<()> {
    let (m, n, k) = (70, 40, 600);
    let number = |i: usize| bf16::from_f32((i * 7 % 5) as f32 - 2.0);
    let (x, y): (Vec<bf16>, Vec<bf16>) = ((0..m * k).map(number).collect(), (0..n * k).map(number).collect());
    let sum = |i: usize| (0..k).map(|s| x[i / n * k + s].to_f32() * y[i % n * k + s].to_f32()).sum::<f32>();
    let expected: Vec<f32> = (0..m * n).map(sum).collect();
    for device in devices() {
        let stream = device.stream()?;
        let (on_x, on_y) = (stream.upload(&x)?, stream.upload(&y)?);
        for member in 0..3 {
            let mut out = stream.upload(&vec![f32::NAN; m * n])?;
            divided_tuned(on_x.view([m, k])?, on_y.view([n, k])?, out.view_mut([m, n])?)
                .choose(member)
                .launch(&stream, |_| (m.div_ceil(64), n.div_ceil(32)))?;
            assert_eq!(stream.download(&out)?, expected, "{device}, member {member}");
        }
    }
    Ok(())
}

#[test]
fn the_option_is_a_field_of_the_choice_and_in_its_name() {
    let members = divided_pool().members();
    let names: Vec<String> = members.iter().map(|member| member.choice().to_string()).collect();
    assert_eq!(names[0], "BK=256 num_warps=4 num_stages=2");
    assert_eq!(names[1], "BK=256 num_warps=4 num_stages=2 cluster_k=2");
    let asked: Vec<_> = members.iter().map(|member| member.choice().get("cluster_k")).collect();
    assert_eq!(asked, [Some(1), Some(2), Some(4)]);
    assert_eq!(members[2].choice().cluster_k, 4);
}

#[test]
fn targets_without_clusters_and_configurations_without_the_option_have_single_blocks() -> triton::Result<()> {
    let stream = Device::cpu().stream()?;
    let (x, y) = (stream.upload(&[bf16::ZERO; 64])?, stream.upload(&[bf16::ZERO; 64])?);
    let mut out = stream.tensor_zeros::<f32, _>([8, 8])?;
    let launch = divided::<256>(x.view([8, 8])?, y.view([8, 8])?, &mut out);
    for (config, blocks) in launch.metadata().configs.iter().zip([1, 2]) {
        for image in config.images.iter().filter(|image| image.programs == triton::metadata::ProgramMap::Identity) {
            let expected = if image.target == Target::Sm90a { blocks } else { 1 };
            assert_eq!(image.cluster, [expected, 1, 1], "{:?} {}", image.target, image.specialization);
        }
    }
    let explained = launch.config(1).explain()?;
    assert!(
        explained.starts_with("cluster of 2 blocks: each has 128 of 256 elements along K, block [128]\n"),
        "{explained}"
    );
    Ok(())
}
