//! How many files of the compiler name an operation of a ring: as many does the next one touch. What a pass asks about such an operation is
//! answered in `ops/acts.rs`, and a match that does the same for all of them names their group, `ring_ops!()`.

use super::tidy::{report, sources};

/// The most files of triton-core that name an operation of a ring.
const MOST: usize = 12;

/// What `ring.drain` alone brought: its name, its step, the ring that it is of, and its helpers.
const OF_DRAIN: &[&str] = &["RingDrain", "RingStep::Drain", "Fill::Drained", "bulk_drain", "drained_by"];

/// Operations that passes of many kinds make, move and look for. What is new is not one of them.
const OF_ALL_PASSES: &[&str] = &["RingFill", "RingWait", "RingSlot", "RingRelease"];

/// Files with an arm for each operation of a ring.
const OF_EACH: &[&str] = &["interp/rings.rs", "ops/acts.rs", "ops/infer.rs", "ops/mod.rs", "ptx/memory/ring.rs"];

/// The files of triton-core/ir/src and triton-core/src, from there on, with their code: comments are left out.
fn core() -> Vec<(String, String)> {
    let code = |text: &str| {
        let lines = text.lines().map(|line| line.find("//").map_or(line, |at| &line[..at]));
        lines.collect::<Vec<_>>().join("\n")
    };
    let files = sources().into_iter();
    let inside = |path: &str| {
        let rest = path.strip_prefix("triton-core/")?;
        rest.strip_prefix("ir/").unwrap_or(rest).strip_prefix("src/").map(str::to_owned)
    };
    files.filter_map(|(path, text)| Some((inside(&path)?, code(&text)))).collect()
}

/// Whether code names this, and not only something longer.
fn names(code: &str, word: &str) -> bool {
    let inside = |c: char| c.is_alphanumeric() || c == '_';
    let alone = |at: usize| !code[..at].ends_with(inside) && !code[at + word.len()..].starts_with(inside);
    code.match_indices(word).any(|(at, _)| alone(at))
}

/// The operations of a ring, by the names of their variants.
fn operations(core: &[(String, String)]) -> Vec<String> {
    let (_, table) = core.iter().find(|(path, _)| path == "ops/mod.rs").expect("the table of operations");
    let rows = table.lines().filter_map(|line| line.trim().split_once(" = \"ring."));
    rows.map(|(name, _)| name.to_owned()).collect()
}

#[test]
fn an_operation_of_a_ring_is_named_in_few_files() {
    let core = core();
    let operations = operations(&core);
    let mut failures = Vec::new();
    // A word that was given another name would hide files.
    let lost = OF_ALL_PASSES.iter().filter(|name| !operations.iter().any(|of| of == *name));
    let lost = lost.chain(OF_DRAIN.iter().filter(|word| !core.iter().any(|(_, code)| names(code, word))));
    failures.extend(lost.map(|word| format!("triton-core does not name `{word}`: write here what it is now")));
    for operation in operations.iter().filter(|name| !OF_ALL_PASSES.contains(&name.as_str())) {
        let words = if operation == "RingDrain" { OF_DRAIN } else { &[operation.as_str()] };
        let named = core.iter().filter(|(_, code)| words.iter().any(|word| names(code, word)));
        let files: Vec<&str> = named.map(|(path, _)| path.as_str()).collect();
        if files.len() > MOST {
            let list = files.join(", ");
            failures.push(format!(
                "`{operation}` is named in {} files of triton-core; the most is {MOST}: ask `Op::ring`, or name `ring_ops!()`: {list}",
                files.len()
            ));
        }
    }
    report(failures);
}

#[test]
fn few_files_have_an_arm_for_each_operation_of_a_ring() {
    let core = core();
    let operations = operations(&core);
    assert!(operations.len() >= 5, "only {operations:?} were found");
    let of_each = core.iter().filter(|(_, code)| operations.iter().all(|name| names(code, name)));
    let of_each: Vec<&str> = of_each.map(|(path, _)| path.as_str()).collect();
    assert_eq!(of_each, OF_EACH, "the files that name every operation of a ring: others name `ring_ops!()`");
}
