//! The code of every image as a file, for those who want to read or compare it: `TRITON_DSL_DUMP_DIR` names the folder.
//!
//! A file's name is instance, config, target, specialization and a hash of the code. The hash leaves source locations out, so that
//! code which only moved in its file keeps its name.

use crate::environment::DUMP_FOLDER;
use crate::read::instances::Instance;
use std::path::PathBuf;
use triton_core::Compiled;
use triton_core::metadata::code_lines;

/// Writes what was compiled, if the folder is named. Nothing depends on it, so a folder that cannot be written to is not an error
/// of the kernel.
pub(crate) fn write(instances: &[Instance], compiled: &[Vec<Compiled>], spelling: impl Fn(&Instance) -> String) {
    let Some(folder) = std::env::var_os(DUMP_FOLDER).map(PathBuf::from) else { return };
    let _ = std::fs::create_dir_all(&folder);
    for (instance, configs) in instances.iter().zip(compiled) {
        let spelling = spelling(instance).replace("::<", "_").replace(", ", "_").replace('>', "");
        for (number, config) in configs.iter().enumerate() {
            for image in config.config.images.iter() {
                let code = image.text();
                let text = format!(
                    "// {} threads, {} bytes of shared memory, clusters of {:?}, {}\n{code}",
                    image.threads,
                    image.shared_bytes,
                    image.cluster,
                    if image.has_assert_buffer { "an assert buffer" } else { "no assert buffer" },
                );
                let hash = triton_core::hash::fnv1a(code_lines(&text).flat_map(str::bytes));
                let (target, specialization) = (image.target.name(), image.assumptions());
                let name = format!("{spelling}.{number}.{target}.{specialization}.{hash:016x}.ptx");
                let _ = std::fs::write(folder.join(name), text);
            }
        }
    }
}
