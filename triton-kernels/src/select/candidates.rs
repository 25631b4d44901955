//! What a product is chosen from: the instances of its type and order, each in several numbers of splits.

use super::estimate::estimate;
use super::{Instance, Kernel, Kind, Plan, Problem};
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use triton_select::{Candidate as _, Candidates as _, List, Record};

/// Numbers of splits: all that the rows come to on the shapes that they were made for, or one within a sixteenth.
const SPLITS: [usize; 35] = [
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 18, 20, 22, 24, 26, 28, 30, 36, 40, 44, 48, 56, 72, 80, 96,
    112, 160, 192, 224,
];

/// The same, and shares of the blocks that are resident together, two for each multiprocessor: with powers of two some multiprocessors have fewer.
fn splits(multiprocessors: usize) -> Vec<usize> {
    let shares = [multiprocessors / 4, multiprocessors / 2, multiprocessors, 2 * multiprocessors];
    let mut all: Vec<usize> = SPLITS.into_iter().chain(shares).filter(|splits| *splits > 0).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// The most programs for each multiprocessor of a product that is split in more than two parts.
const PROGRAMS: usize = 8;

/// An instance in a number of splits.
#[derive(Clone, Debug)]
pub struct Candidate {
    instance: Instance,
    splits: usize,
    name: String,
}

impl Candidate {
    fn new(instance: Instance, splits: usize) -> Candidate {
        let Instance { kernel, tile, .. } = instance;
        let name = Plan { kernel, tile, splits, chunk: 0, reason: "" }.to_string();
        Candidate { instance, splits, name }
    }

    /// The instance.
    pub fn instance(&self) -> Instance {
        self.instance
    }

    /// The number of splits that is asked for; 1 of an instance that is not split. K may have fewer parts: see [`Plan::in_splits`].
    pub fn splits(&self) -> usize {
        self.splits
    }

    /// How it computes a product.
    pub fn plan(&self, problem: &Problem, reason: &'static str) -> Plan {
        let Instance { kernel, tile, .. } = self.instance;
        Plan { kernel, tile, splits: 1, chunk: problem.shape[2], reason }.in_splits(problem, self.splits)
    }

    /// The microseconds that it takes by waves, arithmetic and traffic; `None` of types other than those of 16 bits and `f64`.
    pub fn estimate(&self, problem: &Problem) -> Option<f64> {
        estimate(&self.instance, &self.plan(problem, ""), problem)
    }

    /// Whether a plan is of its instance.
    fn is_of(&self, plan: &Plan) -> bool {
        self.instance.kernel.is(plan.kernel) && self.instance.tile == plan.tile
    }

    /// Whether it is another division of K than that of the next smaller number, and not in too many programs.
    fn fits(&self, problem: &Problem, all: &[usize]) -> bool {
        let Kernel::Split { groups, .. } = self.instance.kernel else { return true };
        if self.splits == 1 {
            // One part is what another kernel computes in less time, unless groups of warps share it.
            return groups > 1;
        }
        let plan = self.plan(problem, "");
        let before = all.iter().rev().find(|&&splits| splits < self.splits).copied().unwrap_or(1);
        let few = self.splits == 2 || plan.programs(problem) <= PROGRAMS * problem.multiprocessors();
        few && plan.splits > 1 && plan.splits != plan.in_splits(problem, before).splits
    }
}

impl fmt::Display for Candidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl triton_select::Candidate for Candidate {
    fn name(&self) -> Cow<'_, str> {
        self.name.as_str().into()
    }

    fn feature(&self, name: &str) -> Option<f32> {
        let Instance { kernel, tile: [m, n, k], warps, stages, .. } = self.instance;
        let groups = if let Kernel::Split { groups, .. } = kernel { groups } else { 1 };
        Some(match name {
            "BM" => m as f32,
            "BN" => n as f32,
            "BK" => k as f32,
            "num_warps" => warps as f32,
            "num_stages" => stages as f32,
            "KL" => groups as f32,
            "splits" => self.splits as f32,
            "transposed" => f32::from(kernel == Kernel::Transposed),
            _ => return None,
        })
    }

    /// What its name does not say. A time of the same kernel that was compiled by another version counts: the order of instances changes less often
    /// than their code.
    fn fingerprint(&self) -> u64 {
        u64::from(self.instance.warps) << 32 | u64::from(self.instance.stages)
    }
}

/// The candidates for a product of whole vectors: [`triton_select::Candidates`] with its key.
#[derive(Clone)]
pub struct Candidates {
    problem: Problem,
    list: Arc<Listed>,
}

/// What is the same for all products of a type and order on a machine.
struct Listed {
    op: &'static str,
    id: u64,
    splits: Vec<usize>,
    all: Vec<Candidate>,
}

impl Candidates {
    /// Those of some instances.
    pub fn new(problem: Problem, instances: impl IntoIterator<Item = Instance>) -> Candidates {
        let (mut all, splits) = (Vec::new(), splits(problem.multiprocessors()));
        for instance in instances {
            let counts = if matches!(instance.kernel, Kernel::Split { .. }) { &splits[..] } else { &[1] };
            all.extend(counts.iter().map(|&count| Candidate::new(instance, count)));
        }
        let op = match problem.kind {
            Kind::F32 => "gemm-f32",
            // Their instructions take as long.
            Kind::F16 | Kind::Bf16 => "gemm-bf16",
            Kind::Tf32 => "gemm-tf32",
            Kind::F64 => "gemm-f64",
            Kind::I8 => "gemm-i8",
        };
        let id = List::new(op, &all).id();
        Candidates { problem, list: Arc::new(Listed { op, id, splits, all }) }
    }

    /// The same for another product of the type, the order and the machine: nothing is allocated.
    pub fn of(&self, problem: Problem) -> Candidates {
        Candidates { problem, list: self.list.clone() }
    }

    /// The numbers that tables and models know the product by: M, N, K, whether a and b are transposed, and 1, for operands whose rows begin at
    /// multiples of 16 bytes.
    pub fn key(&self) -> [i64; 6] {
        let [m, n, k] = self.problem.shape.map(|side| i64::try_from(side).unwrap_or(i64::MAX));
        let [a, b] = self.problem.order.transposed().map(i64::from);
        [m, n, k, a, b, 1]
    }

    /// The product.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// A candidate of a number.
    pub fn get(&self, index: usize) -> Option<&Candidate> {
        self.list.all.get(index)
    }

    /// All of them, in the order of their numbers.
    pub fn all(&self) -> impl Iterator<Item = &Candidate> {
        self.list.all.iter()
    }

    /// [`Candidate::estimate`] of the candidate of a number.
    pub fn estimate(&self, index: usize) -> Option<f64> {
        self.get(index)?.estimate(&self.problem)
    }

    /// The instances, each once.
    pub fn instances(&self) -> Vec<Instance> {
        let mut all: Vec<Instance> = self.list.all.iter().map(Candidate::instance).collect();
        all.dedup();
        all
    }

    /// What the rows of the table choose among the instances.
    pub fn row(&self) -> Option<Plan> {
        super::plans(&self.problem).find(|row| self.list.all.iter().any(|candidate| candidate.is_of(row)))
    }

    /// The number of the candidate that is [`row`](Candidates::row), or the one in the nearest number of splits.
    pub fn of_rows(&self) -> Option<usize> {
        let row = self.row()?;
        let of_row = self.fitting().filter(|(_, candidate)| candidate.is_of(&row));
        let distance = |candidate: &Candidate| candidate.plan(&self.problem, "").splits.abs_diff(row.splits);
        of_row.min_by_key(|(_, candidate)| distance(candidate)).map(|(index, _)| index)
    }

    /// Those that fit the product, with their numbers.
    pub fn fitting(&self) -> impl Iterator<Item = (usize, &Candidate)> {
        self.list.all.iter().enumerate().filter(|(_, candidate)| candidate.fits(&self.problem, &self.list.splits))
    }

    /// A line of a table: the time of a candidate that was measured.
    pub fn record(&self, index: usize, us: f64) -> Record {
        triton_select::Table::record(self, self.list.id, &self.key(), index, us)
    }
}

impl triton_select::Candidates for Candidates {
    fn op(&self) -> Cow<'_, str> {
        self.list.op.into()
    }

    fn id(&self) -> u64 {
        self.list.id
    }

    fn len(&self) -> usize {
        self.list.all.len()
    }

    fn name(&self, index: usize) -> Cow<'_, str> {
        self.list.all.get(index).map(Candidate::name).unwrap_or_default()
    }

    fn feature(&self, index: usize, name: &str) -> Option<f32> {
        self.list.all.get(index)?.feature(name)
    }

    fn fingerprint(&self, index: usize) -> u64 {
        self.list.all.get(index).map_or(0, Candidate::fingerprint)
    }

    fn fits(&self, index: usize) -> bool {
        self.list.all.get(index).is_some_and(|candidate| candidate.fits(&self.problem, &self.list.splits))
    }
}

impl fmt::Debug for Candidates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Candidates({} {:?}, {} of them)", self.list.op, self.key(), self.list.all.len())
    }
}
