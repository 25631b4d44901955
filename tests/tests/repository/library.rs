//! Each operation of the library has cases against a reference, a row among the declared ones, its gradient, and a row in the book.

use super::tidy::{report, sources};
use std::collections::BTreeSet;

/// Operations whose builders are written by hand: their operands are not views of one type. They check their extents themselves.
const BY_HAND: &[&str] = &["gemm", "gemm_batched", "gemv", "linear_backward", "contract"];

/// Operations that promise no gradient of their own, and why.
const WITHOUT_GRADIENT: &[(&str, &str)] = &[
    ("gemm", "`linear_backward`, or products with transposed operands"),
    ("gemm_batched", "products with transposed operands"),
    ("gemm_grouped", "products with transposed operands"),
    ("gemv", "a product is one of matrices"),
    ("contract", "a gradient of a contraction is a contraction"),
    ("column_sums", "a broadcast"),
    ("batch_norm_eval", "training takes `batch_norm`"),
    ("softmax_in_place", "that of `softmax`"),
    ("log_softmax_in_place", "that of `log_softmax`"),
    ("cross_entropy", "`gradient_in_place`"),
    ("mse", "`dx`"),
    ("kl_div", "`dx`"),
    ("dropout", "the same operation of the gradient"),
    ("sgd", "a step of an optimiser"),
    ("adamw", "a step of an optimiser"),
    ("clip_by_norm", "it is of gradients"),
    ("shift_conv", "a shift-convolution by the opposite shifts"),
    ("sddmm", "`spmm`"),
    ("spmm", "`sddmm` and `spmm`"),
    ("block_sparse_attention", "the launches that store scores"),
    ("conv2d", "`conv2d_backward_input`, `conv2d_backward_weight`"),
];

/// The public functions of the library that return builders, by the attribute or by hand.
fn operations() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (path, text) in sources() {
        let Some(file) = path.strip_prefix("triton-kernels/src/") else { continue };
        if ["functions/", "operation/", "select/"].iter().any(|of| file.starts_with(of)) || !text.contains("operation(")
        {
            continue;
        }
        for after in text.split("\npub fn ").skip(1) {
            let name: String = after.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            let head = after.split('{').next().unwrap_or_default();
            if head.contains("call: Call") || head.contains("impl IntoView") {
                names.insert(name);
            }
        }
    }
    names.extend(BY_HAND.iter().map(ToString::to_string));
    names
}

/// Whether a text calls a function of this name.
fn calls(text: &str, name: &str) -> bool {
    let before = |at: usize| !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
    text.match_indices(name).any(|(at, _)| before(at) && text[at + name.len()..].starts_with(['(', ':']))
}

#[test]
fn every_operation_of_the_library_has_its_tests_and_its_row() {
    let all = sources();
    let cases = || all.iter().filter_map(|(path, text)| Some((path.strip_prefix("tests/tests/library/")?, text)));
    let text_of =
        |file: &str| cases().find(|(path, _)| *path == file).map(|(_, text)| text.as_str()).unwrap_or_default();
    let declared = text_of("declared.rs");
    let book = include_str!("../../../docs/src/library.md");
    let operations = operations();
    let mut failures = Vec::new();
    if operations.len() < 40 {
        failures.push(format!("{} operations are found: the test looks in the wrong place", operations.len()));
    }
    for name in &operations {
        let against = cases().any(|(path, text)| {
            !["declared.rs", "graphs/"].iter().any(|of| path.starts_with(of))
                && calls(text, name)
                && text.contains("reference")
        });
        if !against {
            failures.push(format!("`{name}` has no case against a reference in tests/tests/library"));
        }
        if !BY_HAND.contains(&name.as_str()) && !declared.contains(&format!("\"{name}\"")) {
            failures.push(format!("`{name}` has no row in tests/tests/library/declared.rs"));
        }
        if !cases().any(|(path, text)| path.starts_with("graphs/") && calls(text, name)) {
            failures.push(format!("`{name}` has no form in tests/tests/library/graphs"));
        }
        if !book.contains(&format!("`{name}`")) {
            failures.push(format!("`{name}` has no row in docs/src/library.md"));
        }
        let gradient = operations.contains(&format!("{name}_backward"));
        let is_gradient = name.contains("_backward");
        let excused = WITHOUT_GRADIENT.iter().any(|(of, _)| of == name);
        if !is_gradient && gradient == excused {
            failures
                .push(format!("`{name}` has no `{name}_backward`, and no reason in `WITHOUT_GRADIENT`, or has both"));
        }
    }
    for (name, _) in WITHOUT_GRADIENT {
        if !operations.contains(*name) {
            failures.push(format!("`{name}` of `WITHOUT_GRADIENT` is not among the operations"));
        }
    }
    report(failures);
}
