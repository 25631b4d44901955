//! Every operation in a graph: captured at its first use, replayed, and launched in between. The results are those of a launch, to the bit.

mod attention;
mod contractions;
mod convolutions;
mod form;
mod norms;
mod products;
mod rows;
mod sparse;
mod updates;

use crate::harness::{Case, Failure, Family, Form, Outcome, Random};
use triton::Stream;

/// One case for each way to call an operation.
pub const FAMILY: Family = Family::new("graphs", cases);

/// The ways to call each operation.
pub fn forms() -> Vec<Form> {
    let families = [
        rows::forms,
        norms::forms,
        updates::forms,
        products::forms,
        convolutions::forms,
        attention::forms,
        sparse::forms,
        contractions::forms,
    ];
    let subjects = crate::rows::subjects().into_iter().chain(crate::conv::subjects()).flat_map(|subject| subject.forms);
    families.into_iter().flat_map(|forms| forms()).chain(subjects).collect()
}

fn cases() -> Vec<Case> {
    let case =
        |form: Form| Case::new(format!("graph of {}", form.name), move |stream, random| replays(&form, stream, random));
    forms().into_iter().map(case).collect()
}

fn replays(form: &Form, stream: &Stream, random: &mut Random) -> Outcome {
    let mut ready = (form.make)(stream, random)?;
    // Of a stream that has no memory yet, so that all of it is made in the capture.
    let fresh = stream.device().stream()?;
    let graph = fresh.capture(|captured| Ok(ready.launch(captured)?))?;
    ready.reset(stream)?;
    let before = ready.results(stream)?;
    ready.launch(stream)?;
    let expected = ready.results(stream)?;
    if before == expected {
        return Err(Failure("a launch changes nothing".to_string()));
    }
    for round in 0..3 {
        ready.reset(stream)?;
        graph.launch(if round == 1 { stream } else { &fresh })?;
        same(&ready.results(stream)?, &expected, &format!("replay {round}"))?;
        if round < 2 {
            // Memory that the graph has is not lent to others, which would leave other values in it.
            ready.reset(stream)?;
            ready.launch(&fresh)?;
            same(&ready.results(stream)?, &expected, &format!("the launch after replay {round}"))?;
        }
    }
    Ok(())
}

fn same(found: &[u64], expected: &[u64], what: &str) -> Outcome {
    match (0..expected.len()).find(|i| found[*i] != expected[*i]) {
        None => Ok(()),
        Some(i) => Err(Failure(format!(
            "{what}: element {i} of the results is {:#x}, and {:#x} by a launch",
            found[i], expected[i]
        ))),
    }
}
