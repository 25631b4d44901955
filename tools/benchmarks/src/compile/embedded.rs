//! What an instance embeds in a program: the PTX of each image, and the IR.

use crate::table;
use serde::Serialize;
use triton::metadata::{Image, KernelMetadata, Specialization, Target};

/// Bytes of a configuration of an instance.
#[derive(Serialize)]
pub struct Embedded {
    instance: String,
    /// Of the tile IR as text, which the CPU executes.
    ir: usize,
    /// Of all images.
    ptx: usize,
    images: Vec<ImageBytes>,
}

/// Bytes of the PTX for a target under a specialization.
#[derive(Serialize)]
struct ImageBytes {
    target: &'static str,
    specialization: String,
    bytes: usize,
}

impl Embedded {
    /// Of each configuration of an instance.
    pub fn of(metadata: &KernelMetadata) -> impl Iterator<Item = Embedded> {
        metadata.configs.iter().map(|config| {
            let image = |image: &Image| ImageBytes {
                target: image.target.name(),
                specialization: image.assumptions(),
                bytes: image.ptx.len(),
            };
            let images: Vec<ImageBytes> = config.images.iter().map(image).collect();
            let warps =
                if metadata.configs.len() > 1 { format!(", {} warps", config.num_warps) } else { String::new() };
            Embedded {
                instance: format!("{}{warps}", metadata.instance),
                ir: config.ir.len(),
                ptx: images.iter().map(|image| image.bytes).sum(),
                images,
            }
        })
    }

    fn of_image(&self, target: &str, specialization: &str) -> Option<usize> {
        let image = self.images.iter().find(|image| (image.target, &*image.specialization) == (target, specialization));
        image.map(|image| image.bytes)
    }
}

/// A row for each configuration, a column for each target and specialization that one of them has an image for, best first.
pub fn render(embedded: &[Embedded]) -> String {
    let specializations =
        [Specialization::Divisible16, Specialization::Aligned16, Specialization::UnitStride, Specialization::Generic];
    let columns = Target::ALL.iter().flat_map(|target| specializations.map(|of| (target.name(), of.name())));
    let columns: Vec<(&str, &str)> =
        columns.filter(|&(target, of)| embedded.iter().any(|each| each.of_image(target, of).is_some())).collect();
    let row = |of: &Embedded| {
        let images = columns.iter().map(|&(target, specialization)| of.of_image(target, specialization));
        let images = images.map(|bytes| bytes.map_or(String::new(), |bytes| bytes.to_string()));
        [of.instance.clone(), of.ir.to_string(), of.ptx.to_string()].into_iter().chain(images).collect()
    };
    let rows: Vec<Vec<String>> = embedded.iter().map(row).collect();
    let head: Vec<String> = ["instance", "IR", "PTX"]
        .map(str::to_string)
        .into_iter()
        .chain(columns.iter().map(|(target, specialization)| format!("{target} {specialization}")))
        .collect();
    table::render(&head.iter().map(String::as_str).collect::<Vec<_>>(), 1, &rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::add;
    use crate::products::matmul;
    use triton::prelude::*;

    #[test]
    fn every_image_counts_once() {
        let stream = Device::cpu().stream().expect("a stream");
        let (x, mut out) = (stream.zeros::<bf16>(1).expect("memory"), stream.zeros::<bf16>(1).expect("memory"));
        let view = || x.view([1, 1]).expect("a view");
        let launch = matmul::<bf16, 64, 64, 32>(view(), view(), out.view_mut([1, 1]).expect("a view"));
        let config = &launch.metadata().configs[0];
        let embedded: Vec<Embedded> = Embedded::of(launch.metadata()).collect();
        let sums: Vec<[usize; 3]> = embedded.iter().map(|of| [of.ir, of.ptx, of.images.len()]).collect();
        let ptx = config.images.iter().map(|image| image.ptx.len()).sum();
        assert_eq!(sums, [[config.ir.len(), ptx, config.images.len()]]);
        let text = render(&embedded);
        assert!(text.starts_with("| instance "), "{text}");
        assert!(text.contains("sm_90a aligned16") && text.contains("sm_80 generic"), "{text}");
    }

    #[test]
    fn every_configuration_has_a_row() {
        let stream = Device::cpu().stream().expect("a stream");
        let (x, mut out) = (stream.zeros::<f32>(1).expect("memory"), stream.zeros::<f32>(1).expect("memory"));
        let instances = Embedded::of(add::<f32, 512>(&x, &x, &mut out, 1).metadata()).map(|of| of.instance);
        assert_eq!(instances.collect::<Vec<_>>(), ["add::<f32, 512>, 4 warps", "add::<f32, 512>, 8 warps"]);
    }
}
