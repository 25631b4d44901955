//! What was measured: a table for each kind of device, shipped as data.
//!
//! A table is what a tuner writes (`tuner.store().table().winners()`): a file beside `h200.tsv` and its line in [`TABLES`] are all that a
//! device needs. A device without one has the table of a device of the same compute capability with as many multiprocessors, if there is such: an H100
//! that of the H200. The CPU and the simulator choose as the device that they [stand for](triton::Device::machine).

use std::sync::{Mutex, OnceLock, PoisonError};
use triton::Device;
use triton::selection::{Call, Explained, Selector};
use triton_select::{Members, Selection, Table, device_name};

/// The fastest candidates for some calls, as a tuner or `triton-bench winners` has measured them.
const TABLES: [&str; 1] = [include_str!("h200.tsv")];

/// The tables.
fn tables() -> &'static [Table] {
    static PARSED: OnceLock<Vec<Table>> = OnceLock::new();
    PARSED.get_or_init(|| TABLES.iter().map(|text| Table::embedded(text)).filter(|table| !table.is_empty()).collect())
}

/// A selection that knows the tables.
pub(crate) fn selection(device: &Device) -> Selection {
    with(device, tables())
}

/// The same of some tables.
pub(crate) fn with(device: &Device, tables: &[Table]) -> Selection {
    let (name, machine) = (device_name(device), device.machine());
    let kind = format!(", {}, {} multiprocessors", machine.capability, machine.multiprocessors);
    let own = tables.iter().find(|table| table.is_of(&name));
    let alike = || tables.iter().find(|table| table.device().contains(&kind));
    let selection = match own.or_else(alike) {
        Some(table) => Selection::new(device).as_of(table.device()),
        None => Selection::new(device),
    };
    tables.iter().cloned().fold(selection, Selection::table)
}

/// What is made once for each device of the machine, for as long as the program runs.
pub(crate) struct EachDevice<T: 'static>(Mutex<Vec<(Device, &'static T)>>);

impl<T> EachDevice<T> {
    pub(crate) const fn new() -> EachDevice<T> {
        EachDevice(Mutex::new(Vec::new()))
    }

    pub(crate) fn get(&self, device: &Device, make: impl FnOnce(&Device) -> T) -> &'static T {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, found)) = all.iter().find(|(of, _)| of == device) {
            return found;
        }
        let made: &'static T = Box::leak(Box::new(make(device)));
        all.push((device.clone(), made));
        made
    }
}

/// The selector of operations that have none of the caller's: the fastest member that was measured on the device, if there is a line of it.
pub(crate) struct Measured(&'static Selection);

static SELECTIONS: EachDevice<Selection> = EachDevice::new();

/// The same for a pool; `None` if no table has a line of it.
pub(crate) fn measured(pool: &str, device: &Device) -> Option<Measured> {
    tables().iter().any(|table| table.has(pool)).then(|| Measured(SELECTIONS.get(device, selection)))
}

impl Selector for Measured {
    fn select(&self, call: &mut Call<'_>) -> triton::Result<Option<usize>> {
        let (members, key) = (Members(call), call.key());
        let known = self.0.known(&members);
        Ok(self.0.recorded(&known, &members, key).map(|chosen| chosen.index))
    }

    fn failed(&self, call: &Call<'_>, index: usize, _error: &triton::Error) {
        self.0.fail(&Members(call), call.key(), index);
    }

    fn explain(&self, call: &Call<'_>) -> Option<Explained> {
        self.0.explain(call)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use triton::ComputeCapability;
    use triton::prelude::*;
    use triton::sim::SimOptions;

    #[test]
    fn the_files_are_whole() {
        for text in TABLES {
            let (table, damaged) = Table::parse(text).expect("a table");
            assert_eq!((damaged, table.winners() == table), (0, true), "winners only");
            assert!(text.len() <= 50 << 10, "{} bytes", text.len());
        }
    }

    #[test]
    fn a_device_without_a_table_has_that_of_its_like() {
        let mut h200 = Table::new("NVIDIA H200, 9.0, 132 multiprocessors, driver 13000");
        let mut a100 = Table::new("NVIDIA A100-SXM4-80GB, 8.0, 108 multiprocessors, driver 13000");
        for (table, us) in [(&mut h200, 1.0), (&mut a100, 2.0)] {
            let (op, member) = ("gemm-f32".to_string(), "64x64x32".to_string());
            table.insert(triton_select::Record { op, pool: 0, key: vec![1], member, fingerprint: 0, us });
        }
        let tables = [h200, a100];
        let sim = |major, minor, count| {
            let options = SimOptions::new().with_compute_capability(ComputeCapability::new(major, minor));
            Device::sim_with(options.with_multiprocessors(count))
        };
        let of = |device: &Device| with(device, &tables).name().to_string();
        assert_eq!(of(&Device::cpu()), tables[0].device());
        assert_eq!(of(&sim(9, 0, 132)), tables[0].device());
        assert_eq!(of(&sim(8, 0, 108)), tables[1].device());
        assert_eq!(of(&sim(9, 0, 114)), device_name(&sim(9, 0, 114)));
        assert_eq!(of(&sim(8, 6, 84)), device_name(&sim(8, 6, 84)));
    }

    /// x = 2x
    #[triton::kernel(BLOCK = [64, 256], tune = [BLOCK])]
    fn double<const BLOCK: i32>(x: TensorMut<f32, 1>) {
        let i = program_id(0) * BLOCK;
        x.store([i], x.load([i], [BLOCK]) * 2.0);
    }

    /// Writes down a line of the last member.
    struct Line(Mutex<Table>);

    impl Selector for Line {
        fn select(&self, call: &mut Call<'_>) -> triton::Result<Option<usize>> {
            let (candidates, last) = (Members(call), call.members() - 1);
            let record = Table::record(&candidates, 0, call.key(), last, 4.0);
            self.0.lock().expect("no thread panics").insert(record);
            Ok(None)
        }
    }

    #[test]
    fn a_line_chooses_for_its_key_alone() -> triton::Result<()> {
        let device = Device::cpu();
        let (stream, line) = (device.stream()?, Line(Mutex::new(Table::new(device_name(&device)))));
        let mut x = stream.tensor_zeros::<f32, _>([1000])?;
        let grid = |of: &DoubleChoice| 1000usize.div_ceil(of.BLOCK as usize);
        assert_eq!(double_tuned(&mut x).key([1000]).with(&line).selected(&stream, grid)?.BLOCK, 64);
        let table = line.0.into_inner().expect("no thread panics");
        let measured = Measured(Box::leak(Box::new(with(&device, &[table]))));
        assert_eq!(double_tuned(&mut x).key([1000]).with(&measured).selected(&stream, grid)?.BLOCK, 256);
        assert_eq!(double_tuned(&mut x).key([1001]).with(&measured).selected(&stream, grid)?.BLOCK, 64);
        Ok(())
    }
}
