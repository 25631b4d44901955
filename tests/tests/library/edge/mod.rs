//! Values and extents at the edge: what each operation guarantees of them, and right values of calls that were once wrong.

mod attention;
mod convolutions;
mod extents;
mod large;
mod norms;
mod products;
mod recurrent;
mod reductions;
mod reported;
mod rows;
mod sparse;
mod subject;
mod sums;

use crate::harness::{Case, Family};

/// Values.
pub const EDGE: Family = Family::new("edge", cases);

/// Extents, whose programs are many: seconds on a GPU, minutes on a CPU.
pub const EXTENTS: Family = Family::new("extents", extents::cases);

/// Operands of gigabytes, which a GPU alone computes in a second.
pub const LARGE: Family = Family { needs_gpu: true, ..Family::new("large", large::cases) };

/// Cases that fail, with the reason. One that passes is an error, so that the list stays true.
const KNOWN: &[(&str, &str)] =
    &[("known: ", "the sums over the keys of a tile have terms 0 · v of keys that a query does not see")];

fn cases() -> Vec<Case> {
    let mut cases = reported::cases();
    for of in [
        rows::cases,
        norms::cases,
        sums::cases,
        reductions::cases,
        recurrent::cases,
        products::cases,
        convolutions::cases,
        attention::cases,
        sparse::cases,
    ] {
        cases.extend(of());
    }
    for (prefix, why) in KNOWN {
        for case in cases.iter_mut().filter(|case| case.name().starts_with(prefix)) {
            case.is_known_to_fail(why);
        }
    }
    cases
}
