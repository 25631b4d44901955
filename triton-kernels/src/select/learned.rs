//! What was measured of products, and a model of what was not.

use super::{Candidates, Plan, Problem};
use crate::tables::{self, EachDevice};
use triton::Device;
use triton::selection::Machine;
use triton_select::model::Model;
use triton_select::{Candidates as _, Known, Predict, Rank, Selection};

/// Models of the candidates' times by the operation. An empty file is none.
const MODELS: [(&str, &[u8]); 2] =
    [("gemm-f32", include_bytes!("gemm-f32.model")), ("gemm-bf16", include_bytes!("gemm-bf16.model"))];

/// The machine that the models were trained on.
const TRAINED: Machine = Machine::H200;

/// A model, and the operation that it is of.
struct Of(&'static str, Model);

impl Rank for Of {
    fn rank(&self, candidates: &dyn triton_select::Candidates) -> Option<Box<dyn Predict>> {
        if candidates.op() == self.0 { self.1.rank(candidates) } else { None }
    }
}

/// What is known for a device.
fn selection(device: &Device) -> &'static Selection {
    static ALL: EachDevice<Selection> = EachDevice::new();
    ALL.get(device, |device| with(tables::selection(device), &MODELS))
}

/// The same with models.
fn with(selection: Selection, models: &[(&'static str, &[u8])]) -> Selection {
    let machine = selection.device().machine();
    let models = models.iter().filter(|(op, _)| is_trained(op, &machine));
    let parsed = models.filter_map(|(op, bytes)| Some(Of(op, Model::parse(bytes).ok()?)));
    parsed.fold(selection, Selection::model)
}

/// Whether a model is of a machine: that of 16 bits is a factor of the estimate, which counts multiprocessors, that of `f32` is a time.
fn is_trained(op: &str, machine: &Machine) -> bool {
    let is_alike = op == "gemm-bf16" || machine.multiprocessors == TRAINED.multiprocessors;
    machine.capability == TRAINED.capability && is_alike
}

/// A model of `f32` is followed where it predicts what the rows choose to take this many times as long as its own choice: it errs by as much, and the
/// rows were made by measuring. `triton-bench judge` compares margins.
const MARGIN: f32 = 1.05;

/// Whether the rows choose better than a model: where the largest tiles fill the multiprocessors over many iterations, differences are smaller than
/// its errors.
fn is_of_rows(problem: &Problem) -> bool {
    problem.tiles([128, 128]) >= problem.multiprocessors() && problem.shape[2] > 1024
}

/// What was measured to be the fastest for a product on a device, or what a model predicts to be faster than what the [`rows`](super::rows) choose;
/// `None` if there is neither.
pub fn learned(candidates: &Candidates, device: &Device) -> Option<Plan> {
    chosen(selection(device), candidates)
}

fn chosen(selection: &Selection, candidates: &Candidates) -> Option<Plan> {
    if candidates.is_empty() {
        return None;
    }
    let (known, key) = (selection.known(candidates), candidates.key());
    let plan = |index: usize, reason| Some(candidates.get(index)?.plan(candidates.problem(), reason));
    if let Some(found) = selection.recorded(&known, candidates, &key) {
        return plan(found.index, "measured");
    }
    // The rows of 16 bits were made before there was an estimate, which tells more of a short last wave than they do.
    let has_estimate = candidates.estimate(0).is_some();
    if !has_estimate && is_of_rows(candidates.problem()) {
        return None;
    }
    let times = predicted(&known, candidates)?;
    let time = |index: usize| times.get(index).copied().filter(|time| time.is_finite()).unwrap_or(f32::INFINITY);
    let (fastest, _) = candidates.fitting().min_by(|a, b| time(a.0).total_cmp(&time(b.0)))?;
    if !has_estimate && candidates.of_rows().is_some_and(|of_rows| time(of_rows) - time(fastest) <= MARGIN.log2()) {
        return None;
    }
    plan(fastest, "by the model")
}

/// The base-2 logarithms of the microseconds of all candidates: what a model predicts, of 16 bits as a factor of their estimates; those without a model.
/// `None` if there is neither.
pub fn predicted(known: &Known, candidates: &Candidates) -> Option<Vec<f32>> {
    let estimates: Option<Vec<f32>> =
        (0..candidates.len()).map(|i| Some(candidates.estimate(i)?.log2() as f32)).collect();
    match (known.predicted(&candidates.key()), estimates) {
        (Some(factors), Some(estimates)) => {
            Some(factors.iter().zip(estimates).map(|(factor, of)| factor + of).collect())
        }
        (times, estimates) => times.or(estimates),
    }
}

/// The microseconds that are expected of each candidate on a device; `None` if nothing is known of them.
pub fn expected(candidates: &Candidates, device: &Device) -> Option<Vec<f32>> {
    let times = predicted(&selection(device).known(candidates), candidates)?;
    Some(times.into_iter().map(f32::exp2).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::select::{Instance, Kernel, Kind, Order};
    use triton_select::{Record, Table};

    fn candidates(shape: [usize; 3]) -> Candidates {
        let problem = Problem { kind: Kind::F32, order: Order::NN, batch: 1, shape, machine: Machine::H200 };
        let of = |kernel, tile| Instance { kernel, tile, warps: 4, stages: 3, cluster: 1 };
        Candidates::new(
            problem,
            [
                of(Kernel::Whole, [64, 64, 32]),
                of(Kernel::Split { groups: 1, programs: 0 }, [64, 16, 32]),
                of(Kernel::Split { groups: 4, programs: 0 }, [32, 32, 64]),
            ],
        )
    }

    /// A table with one line, of the candidate of a name.
    fn table(candidates: &Candidates, name: &str, change: impl Fn(&mut Record)) -> Table {
        let index = (0..candidates.len()).find(|index| candidates.name(*index) == name).expect("a candidate");
        let mut record = candidates.record(index, 8.0);
        change(&mut record);
        let mut table = Table::new("NVIDIA H200, 9.0, 132 multiprocessors");
        table.insert(record);
        // As it is embedded.
        Table::embedded(&table.to_string())
    }

    fn of_cpu(table: Table) -> Selection {
        tables::with(&Device::cpu(), &[table])
    }

    #[test]
    fn a_line_of_the_table_chooses_for_its_product_alone() {
        let known = candidates([2560, 16, 2560]);
        let selection = of_cpu(table(&known, "64x16x32 split in 12", |_| ()));
        let plan = chosen(&selection, &known).expect("it is in the table");
        assert_eq!((plan.to_string().as_str(), plan.reason), ("64x16x32 split in 12", "measured"));
        assert_eq!(chosen(&selection, &known), Some(plan), "the same again");
        assert_eq!(
            chosen(&selection, &candidates([2560, 16, 2568])),
            None,
            "the rows know more than a line of another product"
        );
    }

    #[test]
    fn a_stale_line_is_passed_over() {
        let known = candidates([2560, 16, 2560]);
        let changes: [&dyn Fn(&mut Record); 4] = [
            &|record| record.member = "64x16x64 split in 12".into(),
            // Other stages.
            &|record| record.fingerprint += 1,
            &|record| record.op = "gemm-bf16".into(),
            // A number of splits that this K does not have.
            &|record| record.member = "64x16x32 split in 256".into(),
        ];
        for (i, change) in changes.into_iter().enumerate() {
            let selection = of_cpu(table(&known, "64x16x32 split in 12", change));
            assert_eq!(chosen(&selection, &known), None, "{i}");
        }
    }

    #[test]
    fn without_a_file_the_rows_choose() {
        let all = candidates([1000, 1000, 1000]);
        for models in [&[][..], &[("gemm-f32", &[][..])], &[("gemm-f32", &b"TRITONMD"[..])]] {
            assert_eq!(chosen(&with(tables::with(&Device::cpu(), &[]), models), &all), None);
        }
        assert_eq!(
            learned(&Candidates::new(*all.problem(), []), &Device::cpu()),
            None,
            "there is nothing to choose among"
        );
    }

    #[test]
    fn the_models_are_whole() {
        for (op, bytes) in MODELS {
            assert!(bytes.is_empty() || Model::parse(bytes).is_ok(), "{op}");
        }
    }
}
