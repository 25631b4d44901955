//! Weights from files: what is found, and what is refused.

use crate::support::Folder;
use half::bf16;
use triton_ir::types::DType;
use triton_runtime::{Device, Error, Tensor, Weights, WeightsError};

/// A file with this header and these bytes after it.
fn file(header: &str, data: &[u8]) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), data].concat()
}

/// `norm`, three `f32`, and `layer.w`, two rows of three `bf16`; the header as an encoder with spaces leaves it.
fn sample() -> Vec<u8> {
    let header = r#"{"__metadata__":{"format":"pt"},
        "norm":{"dtype":"F32","shape":[3],"data_offsets":[0,12]},
        "layer.w":{"dtype":"BF16","shape":[2,3],"data_offsets":[12,24]}}  "#;
    let norm = [0.5f32, -1.0, f32::NAN].map(f32::to_le_bytes).concat();
    let w = [1.0f32, 2.0, 3.0, -4.0, 5.5, 6.0].map(|x| bf16::from_f32(x).to_le_bytes()).concat();
    file(header, &[norm, w].concat())
}

#[test]
#[allow(unsafe_code, reason = "what is tested")]
fn files_are_read_and_mapped() -> Result<(), Box<dyn std::error::Error>> {
    let (folder, stream) = (Folder::new(), Device::cpu().stream()?);
    let path = folder.0.join("model.safetensors");
    std::fs::write(&path, sample())?;
    // SAFETY: nothing changes the file.
    let mapped = unsafe { Weights::map(&path)? };
    for weights in [Weights::read(&path)?, mapped, Weights::from_bytes(sample())?] {
        assert_eq!(weights.names(), ["norm", "layer.w"]);
        assert_eq!((weights.shape("layer.w")?, weights.bytes("norm")?.len()), (&[2, 3][..], 12));
        let w: Tensor<bf16, 2> = weights.tensor_of(&stream, "layer.w", [2, 3])?;
        assert_eq!(
            stream.download(&w)?.iter().map(|x| x.to_f32()).collect::<Vec<_>>(),
            [1.0, 2.0, 3.0, -4.0, 5.5, 6.0]
        );
        let norm: Tensor<f32, 1> = weights.tensor(&stream, "norm")?;
        let norm = stream.download(&norm)?;
        assert!(norm[..2] == [0.5, -1.0] && norm[2].is_nan());
    }
    Ok(())
}

#[test]
fn what_is_not_there_is_refused() -> Result<(), Box<dyn std::error::Error>> {
    let (weights, stream) = (Weights::from_bytes(sample())?, Device::cpu().stream()?);
    let error = weights.tensor::<bf16, 2>(&stream, "layer.weight").unwrap_err();
    assert!(matches!(&error, WeightsError::Name { known, .. } if known.len() == 2), "{error:?}");
    assert_eq!(error.to_string(), "the weights has no tensor `layer.weight`; it has norm; layer.w");
    let error = weights.tensor::<f32, 2>(&stream, "layer.w").unwrap_err();
    assert!(matches!(error, WeightsError::Type { expected: DType::F32, .. }), "{error:?}");
    let error = weights.tensor::<bf16, 1>(&stream, "layer.w").unwrap_err();
    assert_eq!(error.to_string(), "`layer.w` has the shape [2, 3], but one axis is expected");
    let error = weights.tensor_of::<bf16, 2>(&stream, "layer.w", [3, 2]).unwrap_err();
    assert_eq!(error.to_string(), "`layer.w` has the shape [2, 3], but [3, 2] is expected");
    // In a function of the runtime's errors it comes back as it was.
    let error = Error::from(error);
    assert!(matches!(&error, Error::Other(other) if other.downcast_ref::<WeightsError>().is_some()), "{error:?}");
    Ok(())
}

#[test]
fn damaged_files_are_refused() {
    let sample = sample();
    // Each length that is too short, and one that is too long.
    for bytes in (0..sample.len()).map(|len| sample[..len].to_vec()).chain([[&sample[..], &[0]].concat()]) {
        let len = bytes.len();
        let error = Weights::from_bytes(bytes).map(drop).unwrap_err();
        assert!(matches!(error, WeightsError::Format { .. }), "{len}: {error:?}");
    }
    // A length of the header in the other order of bytes, and one that is past every file.
    for length in [(sample.len() as u64).to_be_bytes(), u64::MAX.to_le_bytes()] {
        let mut bytes = sample.clone();
        bytes[..8].copy_from_slice(&length);
        assert!(matches!(Weights::from_bytes(bytes).map(drop), Err(WeightsError::Format { .. })));
    }
    // Extents that the elements do not have, and offsets that overlap or do not fit.
    for header in [
        r#"{"w":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}}"#,
        r#"{"w":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,8]}}"#,
        r#"{"w":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}}"#,
        r#"{"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"v":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}"#,
        r#"{"w":{"dtype":"F31","shape":[2],"data_offsets":[0,8]}}"#,
        "[]",
    ] {
        let found = Weights::from_bytes(file(header, &[0; 8])).map(drop);
        assert!(matches!(found, Err(WeightsError::Format { .. })), "{header}: {found:?}");
    }
    let error = Weights::read("absent.safetensors").unwrap_err();
    assert!(matches!(&error, WeightsError::Open { file, .. } if file == "absent.safetensors"), "{error:?}");
}

/// Types that kernels do not have are named.
#[test]
fn other_types_are_named() -> Result<(), Box<dyn std::error::Error>> {
    let header = r#"{"w":{"dtype":"F8_E4M3","shape":[4],"data_offsets":[0,4]}}"#;
    let weights = Weights::from_bytes(file(header, &[0; 4]))?;
    let error = weights.tensor::<f32, 1>(&Device::cpu().stream()?, "w").unwrap_err();
    assert_eq!(error.to_string(), "`w` has elements of F8_E4M3, but f32 is expected");
    assert_eq!(weights.bytes("w")?.len(), 4);
    Ok(())
}
