//! What the compiler made of kernels, kept in a folder that `TRITON_DSL_BUILD_CACHE` names.
//!
//! A kernel's code is a function of its tree, its instances and the compiler; whether there are warnings depends on what was asked for, too. So an
//! attribute whose kernel is found there, by the hash of these, runs no compiler. Everything else is compiled as if there were no folder: a
//! kernel that changed, one that another compiler made, and a file that is damaged.

mod record;

use crate::environment;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use triton_core::Compiled;
use triton_core::ast::{GenericArg, Kernel, Options};
use triton_core::hash::{Fnv1a, fnv1a};

/// Bytes of the checksum behind a record.
const CHECKSUM: usize = 8;

/// The file that a kernel is found in.
pub(crate) struct Entry(PathBuf);

impl Entry {
    /// That of a kernel with these instances, each with its configs, and what is said of warnings; `None` if no folder is named.
    pub(crate) fn new<'a>(
        kernel: &Kernel,
        warnings: Option<bool>,
        instances: impl IntoIterator<Item = (&'a [GenericArg], &'a [Options])>,
    ) -> Option<Entry> {
        let folder = std::env::var_os(environment::BUILD_CACHE).filter(|folder| !folder.is_empty())?;
        Some(Entry::of(Path::new(&folder), environment::compiler()?, (kernel, warnings), instances))
    }

    fn of<'a>(
        folder: &Path,
        compiler: u64,
        kernel: (&Kernel, Option<bool>),
        instances: impl IntoIterator<Item = (&'a [GenericArg], &'a [Options])>,
    ) -> Entry {
        let mut hash = Fnv1a::default();
        // A hash takes any text. What derives `Debug` prints all that it holds.
        let _ = write!(hash, "{kernel:?}");
        for instance in instances {
            let _ = write!(hash, "{instance:?}");
        }
        Entry(folder.join(format!("{compiler:016x}-{:016x}", hash.finish())))
    }

    /// What the compiler made of the configs of each instance.
    pub(crate) fn find(&self) -> Option<Vec<Vec<Compiled>>> {
        let bytes = std::fs::read(&self.0).ok()?;
        let (record, checksum) = bytes.split_last_chunk::<CHECKSUM>()?;
        if fnv1a(record.iter().copied()) != u64::from_le_bytes(*checksum) {
            return None;
        }
        let mut compiled = record::read(record)?;
        if environment::only_checks() {
            compiled.iter_mut().flatten().for_each(|compiled| compiled.config.images = Vec::new().into());
        }
        Some(compiled)
    }

    /// Keeps what was compiled, of which nothing was to be warned. A folder that cannot be written to is not an error of the kernel.
    pub(crate) fn keep(&self, compiled: &[Vec<Compiled>]) {
        let Some(mut bytes) = record::write(compiled) else { return };
        bytes.extend(fnv1a(bytes.iter().copied()).to_le_bytes());
        let Some(folder) = self.0.parent() else { return };
        // Others may read it, or write it, at the same time.
        let own = self.0.with_extension(std::process::id().to_string());
        let written = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&own, bytes));
        if written.and_then(|()| std::fs::rename(&own, &self.0)).is_err() {
            let _ = std::fs::remove_file(&own);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{CHECKSUM, Entry, record};
    use crate::Source;
    use crate::deflate::deflate;
    use crate::environment::compiler;
    use std::path::Path;
    use triton_core::Compiled;
    use triton_core::ast::{GenericArg, Instance, Kernel, Options};
    use triton_core::types::DType;

    /// A kernel that adds a number to each element: of two types, one with two configs.
    fn kernel(number: u32) -> (Kernel, Vec<Vec<Instance>>) {
        let text = format!(
            "#[triton::kernel] fn add<T: Num>(x: TensorMut<T, 1>, #[multiple_of(4)] n: i32) {{
                let i = program_id(0) * n;
                x.store([i], x.load([i], [64]) + {number}.to::<T>());
            }}"
        );
        let source = Source::parse(&[&text]).expect("it is a text of kernels");
        let instance = |dtype, num_warps| Instance {
            args: vec![GenericArg::Type(dtype)],
            options: Options { num_warps, ..Options::default() },
        };
        let instances = vec![vec![instance(DType::F32, 4), instance(DType::F32, 1)], vec![instance(DType::I64, 2)]];
        (source.kernel("add").expect("it is in the text").clone(), instances)
    }

    fn entry(folder: &Path, compiler: u64, kernel: &Kernel, instances: &[Vec<Instance>]) -> Entry {
        let configs: Vec<Vec<Options>> =
            instances.iter().map(|configs| configs.iter().map(|instance| instance.options).collect()).collect();
        Entry::of(
            folder,
            compiler,
            (kernel, None),
            instances.iter().zip(&configs).map(|(of, to)| (&*of[0].args, &**to)),
        )
    }

    fn compiled(kernel: &Kernel, instances: &[Vec<Instance>]) -> Vec<Vec<Compiled>> {
        let one = |instance| {
            let mut compiled = triton_core::compile(kernel, instance).expect("it compiles");
            deflate(&mut compiled);
            compiled
        };
        instances.iter().map(|configs| configs.iter().map(one).collect()).collect()
    }

    fn folder(name: &str) -> std::path::PathBuf {
        let folder = std::env::temp_dir().join(format!("triton-dsl-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        folder
    }

    #[test]
    fn a_kernel_is_found_as_it_was_compiled() {
        let (folder, (one, instances)) = (folder("found"), kernel(1));
        let (entry_of_one, all) = (entry(&folder, 7, &one, &instances), compiled(&one, &instances));
        assert_eq!(entry_of_one.find(), None, "there is no folder");
        entry_of_one.keep(&all);
        assert_eq!(entry(&folder, 7, &one, &instances).find().as_ref(), Some(&all));
        assert!(all[0][0].config.images.len() > 1 && all[1][0].config.images[0].text().contains("add.s64"));
        assert_eq!(std::fs::read_dir(&folder).expect("it was made").count(), 1);
        // What changed is another kernel.
        assert_eq!(entry(&folder, 7, &kernel(2).0, &instances).find(), None, "another number");
        assert_eq!(entry(&folder, 7, &one, &instances[..1]).find(), None, "an instance less");
        assert_eq!(entry(&folder, 8, &one, &instances).find(), None, "another compiler");
        let mut other = instances.clone();
        other[1][0].options.num_stages += 1;
        assert_eq!(entry(&folder, 7, &one, &other).find(), None, "another option");
        std::fs::remove_dir_all(&folder).expect("it was made");
    }

    #[test]
    fn a_damaged_file_is_none() {
        let (folder, (kernel, instances)) = (folder("damaged"), kernel(1));
        let (entry, compiled) = (entry(&folder, 7, &kernel, &instances), compiled(&kernel, &instances));
        entry.keep(&compiled);
        let file = std::fs::read(&entry.0).expect("it was written");
        let found = |bytes: &[u8]| {
            std::fs::write(&entry.0, bytes).expect("it is a file");
            entry.find()
        };
        for at in (0..file.len()).step_by(97).chain(0..80) {
            let mut damaged = file.clone();
            damaged[at] ^= 0x15;
            assert_eq!(found(&damaged), None, "byte {at}");
            assert_eq!(found(&file[..at]), None, "{at} bytes");
        }
        // What its checksum does not tell is read to its end, and no further.
        let bytes = &file[..file.len() - CHECKSUM];
        for at in 0..bytes.len().min(400) {
            let mut damaged = bytes.to_vec();
            damaged[at] = 0xff;
            let _ = record::read(&damaged);
            assert_eq!(record::read(&bytes[..at]), None, "{at} bytes");
        }
        std::fs::remove_dir_all(&folder).expect("it was made");
    }

    #[test]
    fn a_folder_that_cannot_be_is_no_error() {
        let (kernel, instances) = kernel(1);
        let entry = entry(Path::new("/dev/null/kernels"), 7, &kernel, &instances);
        entry.keep(&compiled(&kernel, &instances));
        assert_eq!(entry.find(), None);
    }

    #[test]
    fn the_compiler_is_known_by_its_sources() {
        assert!(compiler().is_some());
    }
}
