//! Which instance computes a product: what was asked for, else what was chosen before, what was measured, what the model predicts, what the table
//! says.

use super::memory::{Chosen, Key, Memory};
use super::pools::{Form, GemmElement, Precision, Told};
use crate::error::{Error, Result};
use crate::select::{self, Candidates, Instance, Kernel, Kind, Order, Plan, Problem};
use std::borrow::Cow;
use std::marker::PhantomData;
use triton::pool::Runs;
use triton::selection::{self, Machine};
use triton::{Element, Stream};
use triton_select::Candidates as _;

/// What was asked of the selection.
pub(super) struct Wanted<'a> {
    pub(super) op: &'static str,
    pub(super) splits: Option<usize>,
    pub(super) instance: Option<&'a str>,
    /// Whether the operands begin, and their rows, at multiples of 16 bytes.
    pub(super) aligned: bool,
}

/// Whose instances are chosen among: those of a [`Pair`] of element types, or of a product with a function of the user's.
pub(super) trait Source: 'static {
    /// Tells the instances of a form, of which there may be none.
    fn each(problem: &Problem, form: Form, is: Told<'_>);

    /// The type of results, for messages.
    fn results() -> &'static str;

    /// What the operation's name in tables has behind it: times of another form are other times.
    fn suffix(form: Form) -> String;
}

/// The library's own products of `T` that are stored as `C`.
pub(super) struct Pair<T, C>(PhantomData<(T, C)>);

impl<T: GemmElement<C>, C: Element> Source for Pair<T, C> {
    fn each(problem: &Problem, form: Form, is: Told<'_>) {
        T::each_product(problem.kind, problem.order, form, is);
    }

    fn results() -> &'static str {
        std::any::type_name::<C>()
    }

    fn suffix(form: Form) -> String {
        let form = match form {
            Form::Plain => "",
            Form::Fused => " fused",
            Form::Batched => " batched",
        };
        if T::DTYPE == C::DTYPE { form.to_string() } else { format!("{form} to {}", C::DTYPE) }
    }
}

/// The instances of a product that the device of a stream runs: those that it runs by whichever image, if there are such. What has shared memory for images
/// alone that assume nothing of operands is up to three times as slow.
pub(super) fn instances<S: Source>(problem: &Problem, form: Form, stream: &Stream) -> Vec<Instance> {
    let mut all = Vec::new();
    S::each(problem, form, &mut |runs, instance| all.push((runs(stream), instance)));
    let best = all.iter().map(|(runs, _)| *runs).max().filter(|runs| *runs > Runs::Not);
    all.into_iter().filter(|(runs, _)| Some(*runs) == best).map(|(_, instance)| instance).collect()
}

/// The names and tiles of all instances, for tests of each.
pub fn instances_of<T: GemmElement<C>, C: Element>(
    precision: Precision,
    transposed: [bool; 2],
    form: Form,
) -> Vec<(String, [usize; 3])> {
    let mut all = Vec::new();
    if let Some(kind) = T::kind_of_product(precision) {
        let order = Order::of(transposed);
        let problem = Problem { kind, order, batch: 1, shape: [1; 3], machine: Machine::H200 };
        T::each_product(kind, problem.order, form, &mut |_, instance| {
            all.push((Plan::new(&problem, instance.kernel, instance.tile, "").instance(), instance.tile));
        });
    }
    all
}

/// Chooses, or tells what was chosen before, where it is remembered.
pub(super) fn choose<S: Source>(
    problem: &Problem,
    form: Form,
    wanted: &Wanted<'_>,
    stream: &Stream,
) -> Result<Cow<'static, Chosen>> {
    static MEMORY: Memory = Memory::new();
    if wanted.instance.is_some() {
        return chosen::<S>(problem, form, wanted, stream).map(Cow::Owned);
    }
    let key = Key::new::<S>(problem, form, wanted.aligned, wanted.splits, stream.device());
    if let Some(found) = MEMORY.get(&key) {
        return Ok(Cow::Borrowed(found));
    }
    let found = chosen::<S>(problem, form, wanted, stream)?;
    if selection::is_told() {
        tell::<S>(problem, found, wanted.op, stream);
    }
    MEMORY.set(key, found);
    Ok(Cow::Owned(found))
}

/// Tells tools of a choice: each instance with what the model or an estimate says of it.
#[cold]
fn tell<S: Source>(problem: &Problem, Chosen { form, plan }: Chosen, op: &str, stream: &Stream) {
    let candidates = Candidates::new(*problem, instances::<S>(problem, form, stream));
    let times = select::expected(&candidates, stream.device());
    let member = |index: usize| selection::Candidate {
        name: candidates.name(index).into_owned(),
        fits: true,
        estimate: times.as_ref().and_then(|times| times.get(index)).map(|&us| f64::from(us)),
        measured: None,
    };
    let mut members: Vec<selection::Candidate> = (0..candidates.len()).map(member).collect();
    let index = candidates.all().position(|of| of.plan(problem, plan.reason) == plan).unwrap_or(members.len());
    if index == members.len() {
        members.push(selection::Candidate { name: plan.to_string(), fits: true, estimate: None, measured: None });
    }
    let [m, n, k] = problem.shape.map(|extent| extent as i64);
    let key = [problem.batch as i64, m, n, k];
    selection::tell(op, &key, stream, (index, &plan.explain(problem)), || members);
}

/// The same, not by memory.
fn chosen<S: Source>(problem: &Problem, form: Form, wanted: &Wanted<'_>, stream: &Stream) -> Result<Chosen> {
    // A batch of a split product, or of an instance that was asked for, is one product after another.
    let at_once = problem.batch > 1 && wanted.splits.is_none_or(|splits| splits == 1) && wanted.instance.is_none();
    let forms = [at_once.then_some(Form::Batched), Some(form), Some(Form::Fused)];
    let found = forms.into_iter().flatten().map(|form| (form, instances::<S>(problem, form, stream)));
    let Some((form, all)) = found.into_iter().find(|(_, all)| !all.is_empty()) else {
        let (expected, fix) = ("without one", "store it as f32 or bf16, or leave the epilogue out");
        let found = format!("an epilogue of {}", S::results());
        return Err(Error::Unsupported { op: wanted.op, found, expected, fix });
    };
    let splits = |plan: Plan| wanted.splits.map_or(plan, |splits| plan.in_splits(problem, splits));
    if let Some(name) = wanted.instance {
        let plans = all.iter().map(|of| Plan::new(problem, by_default(of.kernel), of.tile, "asked for"));
        let plans: Vec<Plan> = plans.collect();
        let named = plans.iter().find(|plan| plan.instance() == name);
        let plan = named.copied().ok_or_else(|| Error::Instance {
            op: wanted.op,
            found: name.to_string(),
            expected: plans.iter().map(Plan::instance).collect(),
        })?;
        return Ok(Chosen { form, plan: splits(plan) });
    }
    let is_split = |kernel: Kernel| matches!(kernel, Kernel::Split { .. });
    let has = |plan: &Plan| all.iter().any(|of| of.kernel.is(plan.kernel) && of.tile == plan.tile);
    if let Some(count) = wanted.splits.filter(|count| *count > 1) {
        let of_table = select::plans(problem).find(|plan| is_split(plan.kernel) && has(plan));
        // The most general one, whose tile with an epilogue of `f64` has fewer rows.
        let divided = || all.iter().filter(|of| is_split(of.kernel));
        let any = divided().find(|of| of.tile[..2] == [64, 64]).or_else(|| divided().next());
        let plan = of_table.or_else(|| any.map(|of| Plan::new(problem, by_default(of.kernel), of.tile, "split")));
        let Some(plan) = plan else {
            let (expected, fix) = ("of f32, f16, bf16 and f64 in full precision", "leave out `.splits(..)`");
            let found = format!("{count} splits of {:?}", problem.kind);
            return Err(Error::Unsupported { op: wanted.op, found, expected, fix });
        };
        return Ok(Chosen { form, plan: splits(plan) });
    }
    let learned = || select::learned(&Candidates::new(*problem, all.iter().copied()), stream.device());
    if wanted.splits.is_none()
        && can_be_learned(problem, form, wanted)
        && let Some(plan) = learned()
    {
        return Ok(Chosen { form, plan });
    }
    let unsplit = wanted.splits == Some(1);
    let fits = |plan: &Plan| has(plan) && !(unsplit && is_split(plan.kernel));
    let of_table = select::plans(problem).find(fits);
    // An epilogue has fewer tiles: the largest that is not larger than the table's.
    let area = select::plans(problem).map(|plan| plan.tile[0] * plan.tile[1]).next().unwrap_or(0);
    let plan = of_table.or_else(|| {
        let whole = all.iter().filter(|of| of.kernel == Kernel::Whole);
        let best = whole.min_by_key(|Instance { tile: [m, n, _], .. }| (m * n > area, (m * n).abs_diff(area)));
        best.map(|of| Plan::new(problem, of.kernel, of.tile, "the nearest tile with an epilogue"))
    });
    plan.map(|plan| Chosen { form, plan }).ok_or_else(|| Error::Unsupported {
        op: wanted.op,
        found: format!("a product of {:?} on {}", problem.kind, stream.device()),
        expected: "compute capability 8.0 and later",
        fix: "use another device",
    })
}

/// Whether tables, models and estimates are of such products: one at a time, of whole vectors. An epilogue of 16 bits or `f64` takes as long in every
/// tile, so that the order of its instances is that of products without one.
fn can_be_learned(problem: &Problem, form: Form, wanted: &Wanted<'_>) -> bool {
    let kinds: &[Kind] = match form {
        Form::Plain => &[Kind::F32, Kind::F16, Kind::Bf16, Kind::F64],
        Form::Fused => &[Kind::F16, Kind::Bf16, Kind::F64],
        Form::Batched => &[],
    };
    wanted.aligned && problem.batch == 1 && kinds.contains(&problem.kind)
}

/// A split for as many programs a multiprocessor as the table usually has.
fn by_default(kernel: Kernel) -> Kernel {
    match kernel {
        Kernel::Split { groups, .. } => Kernel::Split { groups, programs: 3 },
        Kernel::Whole | Kernel::Transposed => kernel,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::select::{GRANULE, Order};
    use triton::{Device, bf16, f16};

    /// What is chosen of all instances, whatever devices there are.
    fn learned<T: GemmElement<T> + Element>(problem: Problem, form: Form) -> (Candidates, Option<Plan>) {
        let mut all = Vec::new();
        T::each_product(problem.kind, problem.order, form, &mut |_, instance| all.push(instance));
        let candidates = Candidates::new(problem, all);
        let plan = select::learned(&candidates, &Device::cpu());
        (candidates, plan)
    }

    #[test]
    fn what_is_learned_covers_k_and_is_the_same_again() {
        let sides = [1, 16, 64, 1000, 4096];
        for order in [Order::NN, Order::NT, Order::TN, Order::TT] {
            for (m, n, k) in sides.iter().flat_map(|m| sides.iter().flat_map(move |n| sides.map(|k| (*m, *n, k)))) {
                let of = |kind| Problem { kind, order, batch: 1, shape: [m, n, k], machine: Machine::H200 };
                let found = [
                    learned::<f32>(of(Kind::F32), Form::Plain),
                    learned::<bf16>(of(Kind::Bf16), Form::Plain),
                    learned::<f16>(of(Kind::F16), Form::Plain),
                    learned::<bf16>(of(Kind::Bf16), Form::Fused),
                    learned::<f16>(of(Kind::F16), Form::Fused),
                    #[cfg(feature = "f64")]
                    learned::<f64>(of(Kind::F64), Form::Plain),
                    #[cfg(feature = "f64")]
                    learned::<f64>(of(Kind::F64), Form::Fused),
                ];
                for (candidates, plan) in &found {
                    let Some(plan) = plan else { continue };
                    let problem = candidates.problem();
                    let covers = (plan.splits - 1) * plan.chunk < k && plan.splits * plan.chunk >= k;
                    let whole = plan.splits == 1 || plan.chunk.is_multiple_of(GRANULE.max(plan.tile[2]));
                    assert!(covers && whole, "{problem:?} {plan:?}");
                    assert!(candidates.instances().iter().any(|of| of.kernel.is(plan.kernel) && of.tile == plan.tile));
                    assert_eq!(select::learned(candidates, &Device::cpu()), Some(*plan), "{problem:?}");
                }
                let [_, bf16, f16, fused_bf16, fused_f16, ..] = found.map(|(_, plan)| plan);
                assert_eq!((bf16, fused_bf16), (f16, fused_f16), "instructions of both types take as long");
            }
        }
    }

    #[cfg(feature = "f64")]
    #[test]
    fn few_tiles_of_f64_fill_the_multiprocessors() {
        let few = [[512, 512, 512], [2560, 16, 2560], [2560, 128, 2560], [32, 32, 60000], [256, 256, 60000]];
        for order in [Order::NN, Order::NT, Order::TN, Order::TT] {
            for (shape, form) in few.into_iter().flat_map(|shape| [(shape, Form::Plain), (shape, Form::Fused)]) {
                let problem = Problem { kind: Kind::F64, order, batch: 1, shape, machine: Machine::H200 };
                let (_, plan) = learned::<f64>(problem, form);
                let plan = plan.expect("there is an estimate of every instance");
                assert!(plan.programs(&problem) >= 100, "{problem:?} {form:?} {plan}");
            }
        }
    }

    #[test]
    fn a_choice_is_remembered_for_its_call_alone() {
        let device = Device::cpu();
        let problem = |k| {
            let (kind, order, machine) = (Kind::F32, Order::NN, Machine::H200);
            Problem { kind, order, batch: 1, shape: [256, 64, k], machine }
        };
        let key = |k, form, aligned| Key::new::<Pair<f32, f32>>(&problem(k), form, aligned, None, &device);
        let (memory, plan) = (Memory::new(), select::plans(&problem(256)).next().expect("a row"));
        let chosen = Chosen { form: Form::Plain, plan };
        memory.set(key(256, Form::Plain, true), chosen);
        assert_eq!(memory.get(&key(256, Form::Plain, true)), Some(&chosen));
        let smaller = Machine { multiprocessors: 84, ..Machine::H200 };
        let others = [
            key(257, Form::Plain, true),
            key(256, Form::Fused, true),
            key(256, Form::Plain, false),
            Key::new::<Pair<f32, f32>>(&problem(256), Form::Plain, true, Some(1), &device),
            Key::new::<Pair<bf16, f32>>(&problem(256), Form::Plain, true, None, &device),
            Key::new::<Pair<f32, f32>>(&Problem { batch: 2, ..problem(256) }, Form::Plain, true, None, &device),
            Key::new::<Pair<f32, f32>>(&Problem { machine: smaller, ..problem(256) }, Form::Plain, true, None, &device),
        ];
        for (i, other) in others.iter().enumerate() {
            assert_eq!(memory.get(other), None, "{i}");
        }
    }
}
