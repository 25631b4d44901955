//! Which instance computes a product: that of the table, or what was asked for.

#[cfg(feature = "check")]
use super::pools::Precision;
use super::pools::{Form, GemmElement, same};
use crate::error::{Error, Result};
#[cfg(feature = "check")]
use crate::select::Order;
use crate::select::{self, Kernel, Plan, Problem};
use triton::{Element, Stream};

/// What was asked of the selection.
pub(super) struct Wanted {
    pub(super) op: &'static str,
    pub(super) splits: Option<usize>,
    pub(super) instance: Option<String>,
}

/// Every instance of a product that the device of a stream has code of.
pub(super) fn instances<T: GemmElement<C>, C: Element>(
    problem: &Problem,
    form: Form,
    stream: &Stream,
) -> Vec<(Kernel, [usize; 3])> {
    let mut all = Vec::new();
    T::each_product(problem.kind, problem.order, form, &mut |runs_on, kernel, tile| {
        if runs_on(stream) {
            all.push((kernel, tile));
        }
    });
    all
}

/// The names and tiles of all instances.
#[cfg(feature = "check")]
pub fn instances_of<T: GemmElement<C>, C: Element>(
    precision: Precision,
    transposed: [bool; 2],
    form: Form,
) -> Vec<(String, [usize; 3])> {
    let mut all = Vec::new();
    if let Some(kind) = T::kind_of_product(precision) {
        let problem = Problem { kind, order: Order::of(transposed), batch: 1, shape: [1; 3] };
        T::each_product(kind, problem.order, form, &mut |_, kernel, tile| {
            all.push((Plan::new(&problem, kernel, tile, "").instance(), tile));
        });
    }
    all
}

/// The instance of a product, and its form: of a batch, one that takes it whole if there is one.
pub(super) fn choose<T: GemmElement<C>, C: Element>(
    problem: &Problem,
    form: Form,
    wanted: &Wanted,
    stream: &Stream,
) -> Result<(Form, Plan)> {
    // A batch of a split product, or of an instance that was asked for, is one product after another.
    let at_once = problem.batch > 1 && wanted.splits.is_none_or(|splits| splits == 1) && wanted.instance.is_none();
    let forms = [at_once.then_some(Form::Batched), Some(form), Some(Form::Fused)];
    let found = forms.into_iter().flatten().map(|form| (form, instances::<T, C>(problem, form, stream)));
    let Some((form, all)) = found.into_iter().find(|(_, all)| !all.is_empty()) else {
        let (expected, fix) = ("without one", "store it as f32 or bf16, or leave the epilogue out");
        let found = format!("an epilogue of {}", std::any::type_name::<C>());
        return Err(Error::Unsupported { op: wanted.op, found, expected, fix });
    };
    let splits = |plan: Plan| wanted.splits.map_or(plan, |splits| plan.in_splits(problem, splits));
    if let Some(name) = &wanted.instance {
        let plans = all.iter().map(|(kernel, tile)| Plan::new(problem, by_default(*kernel), *tile, "asked for"));
        let plans: Vec<Plan> = plans.collect();
        let named = plans.iter().find(|plan| plan.instance() == *name);
        let plan = named.copied().ok_or_else(|| Error::Instance {
            op: wanted.op,
            found: name.clone(),
            expected: plans.iter().map(Plan::instance).collect(),
        })?;
        return Ok((form, splits(plan)));
    }
    let is_split = |kernel: Kernel| matches!(kernel, Kernel::Split { .. });
    let has = |plan: &Plan| all.iter().any(|(kernel, tile)| same(*kernel, plan.kernel) && *tile == plan.tile);
    if let Some(count) = wanted.splits.filter(|count| *count > 1) {
        let of_table = select::plans(problem).find(|plan| is_split(plan.kernel) && has(plan));
        let any = all.iter().find(|(kernel, tile)| is_split(*kernel) && tile[..2] == [64, 64]);
        let plan =
            of_table.or_else(|| any.map(|(kernel, tile)| Plan::new(problem, by_default(*kernel), *tile, "split")));
        let Some(plan) = plan else {
            let (expected, fix) = ("of f32, f16 and bf16 in full precision", "leave out `.splits(..)`");
            let found = format!("{count} splits of {:?}", problem.kind);
            return Err(Error::Unsupported { op: wanted.op, found, expected, fix });
        };
        return Ok((form, splits(plan)));
    }
    let unsplit = wanted.splits == Some(1);
    let fits = |plan: &Plan| has(plan) && !(unsplit && is_split(plan.kernel));
    let of_table = select::plans(problem).find(fits);
    // An epilogue has fewer tiles: the largest that is not larger than the table's.
    let area = select::plans(problem).map(|plan| plan.tile[0] * plan.tile[1]).next().unwrap_or(0);
    let plan = of_table.or_else(|| {
        let whole = all.iter().filter(|(kernel, _)| *kernel == Kernel::Whole);
        let best = whole.min_by_key(|(_, tile)| (tile[0] * tile[1] > area, (tile[0] * tile[1]).abs_diff(area)));
        best.map(|(kernel, tile)| Plan::new(problem, *kernel, *tile, "the nearest tile with an epilogue"))
    });
    plan.map(|plan| (form, plan)).ok_or_else(|| Error::Unsupported {
        op: wanted.op,
        found: format!("a product of {:?} on {}", problem.kind, stream.device()),
        expected: "compute capability 8.0 and later",
        fix: "use another device",
    })
}

/// A split for as many programs a multiprocessor as the table usually has.
fn by_default(kernel: Kernel) -> Kernel {
    match kernel {
        Kernel::Split { groups, .. } => Kernel::Split { groups, programs: 3 },
        Kernel::Whole | Kernel::Transposed => kernel,
    }
}
